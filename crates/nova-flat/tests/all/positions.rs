//! Tests of the reads of an array that an operation also stores a block of, and of those that are in
//! conflict.

use nova_diag::SourceMap;
use nova_flat::ir::{Expression, Output, Positions};
use nova_flat::parse::parse;
use nova_flat::positions::{Block, Sums};
use nova_flat::visit::each_statement;

/// A loop that stores a block from `(s, t)` on, and reads the array at two indices.
const FRAME: &str = "(program
  (entry \"f\" [(\"M\" (array 2 f32)) (\"b\" int32) (\"c\" int32)] (array 2 f32) \"f\")
  (function \"f\" [n:i64 m:i64 x:[n][m]f32 b:i32 c:i32] [n2:i64 m2:i64 r:[n2][m2]f32] (do
    (let [s:i64] (convert.i64 i32 b))
    (let [s2:i64] (convert.i64 i32 b))
    (let [t:i64] (add i64 s 2))
    (let [e:i64] (convert.i64 i32 c))
    (let [y:[n][m]f32] (operation [e 3] [i:i64 j:i64] [] (do
      (let [u:i64] (add i64 i s2))
      (let [v:i64] (add i64 t j))
      (let [w:i64] (sub i64 v 2))
      (let [near:i64] (add i64 v 2))
      (let [far:i64] (add i64 v 3))
      (let [a:f32] (index x [FIRST SECOND]))
      (in a)) (scatter_block [s t] [x])))
    (in n m y))))";

/// Tests whether the read is the element that is stored, and whether it lies outside of the block.
fn read_at(first: &str, second: &str) -> (bool, bool) {
    let text = FRAME.replace("FIRST", first).replace("SECOND", second);
    let text = text.replace("int32", "i32");
    let mut sources = SourceMap::new();
    let file = sources.add("case", &*text);
    let program = parse(&text, file).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let program_sums = Sums::of_program(&program);
    let mut found = None;
    each_statement(&program.functions[0].body, &mut |statement| {
        let Expression::Operation(operation) = &statement.expression else {
            return;
        };
        let Output::Scatter {
            positions: Positions::Block(starts),
            ..
        } = &operation.outputs[0]
        else {
            return;
        };
        let block = Block {
            starts,
            indices: &operation.indices,
            extents: &operation.shape,
        };
        let sums = program_sums.within(&operation.body);
        each_statement(&operation.body, &mut |statement| {
            if let Expression::Index { indices, .. } = &statement.expression {
                found = Some((sums.is_at(indices, &block), sums.is_apart(indices, &block)));
            }
        });
    });
    found.expect("a read")
}

#[test]
fn reads_are_told_apart() {
    let (at, apart, unknown) = ((true, false), (false, true), (false, false));
    let cases = [
        // The element that is stored, however that is expressed.
        ("u", "v", at),
        // In the row of another iteration, or in another column.
        ("i", "v", unknown),
        ("u", "j", unknown),
        ("u", "w", unknown),
        ("j", "i", unknown),
        // Before the columns of the block, and after its three columns.
        ("u", "s", apart),
        ("u", "1", unknown),
        ("s", "s2", apart),
        // After the columns of the block in every iteration, and in only some.
        ("i", "far", apart),
        ("i", "near", unknown),
        // In the block, or perhaps.
        ("s", "t", unknown),
        ("e", "t", unknown),
    ];
    for (first, second, expected) in cases {
        assert_eq!(read_at(first, second), expected, "{first} {second}");
    }
}
