//! Large values and long runs, which must take neither stack nor quadratic work.

use nova_core::interpret::Options;
use nova_core::text::read_value;
use nova_core::value::Link;
use nova_core::{Constructor, ScalarValue, SumId, SumType, Type, Value};
use nova_diag::SourceMap;
use nova_flat::interpret::evaluate;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::values::{Fault, FlatValue, Layouts, Node, Tables, from_components};
use std::cell::Cell;

fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("large", text);
    parse(text, file).unwrap()
}

fn int(value: i32) -> Value {
    Value::Scalar(ScalarValue::I32(value))
}

#[test]
fn a_list_of_a_million() {
    let program = read(include_str!("../programs/nodes.flat"));
    let mut list = Value::Sum(0, Link::new(Value::Unit));
    for _ in 0..1_000_000 {
        list = Value::Sum(1, Link::new(Value::tuple(vec![int(1), list])));
    }
    let options = Options {
        depth_limit: 2_000_000,
        ..Options::default()
    };
    let result = evaluate(&program, 0, &[list], &options).unwrap();
    let Value::Tuple(components) = &result else {
        panic!("no tuple")
    };
    assert!(components[0].same(&int(1_000_000)));
    let Value::Sum(1, cell) = &components[1] else {
        panic!("no list")
    };
    let Value::Tuple(cell) = cell.get() else {
        panic!("no cell")
    };
    assert!(cell[0].same(&int(2)));
}

#[test]
fn shared_data_stay_shared() {
    // Nodes 0 … k, both children of each being the node before: 2^60 leaves, 61 nodes.
    let text = "(program
        (sum \"Tree\" [] [0] (\"Leaf\" unit) (\"Node\" (tuple (sum 0) (sum 0))))
        (entry \"tree\" [(\"T\" (sum 0))] (sum 0) \"tree\")
        (function \"tree\" [t:i64] [r:i64] (do (let [u:i64] (new 0 1 [t t])) (in u))))";
    let program = read(text);
    let mut tree = Value::Sum(0, Link::new(Value::Unit));
    for _ in 0..60 {
        tree = Value::Sum(1, Link::new(Value::tuple(vec![tree.clone(), tree])));
    }
    assert!(evaluate(&program, 0, &[tree], &Options::default()).is_ok());
}

#[test]
fn updates_in_loops_are_in_place() {
    let program = read(include_str!("../programs/carries.flat"));
    let n = 200_000;
    let ones = read_value(
        &format!("[{}]", "1 ".repeat(n)),
        &program.entries[0].inputs[0].1,
        &[],
    );
    let result = evaluate(&program, 0, &[ones.unwrap()], &Options::default()).unwrap();
    let Value::Tuple(components) = &result else {
        panic!("no tuple")
    };
    assert!(components[0].same(&int(n as i32)));
}

#[test]
fn strict_sums_are_bracketed() {
    let text = "(program
        (entry \"sum\" [(\"n\" i64)] f32 \"sum\")
        (function \"sum\" [n:i64] [r:f32] (do
          (let [s:f32]
            (operation [n] [i:i64] []
              (do (let [a:f32] (convert.f32 i64 i)) (let [b:f32] (mul f32 a 0.1f)) (in b))
              (reduce [0.0f] (lambda [x:f32 y:f32] (do (let [z:f32] (add f32 x y)) (in z))))))
          (in s))))";
    let program = read(text);
    let n = Value::Scalar(ScalarValue::I64(5000));
    let sum = |strict| {
        let options = Options {
            strict,
            ..Options::default()
        };
        match evaluate(&program, 0, std::slice::from_ref(&n), &options) {
            Ok(Value::Scalar(ScalarValue::F32(sum))) => sum,
            other => panic!("{other:?}"),
        }
    };
    let element = |k: usize| k as f32 * 0.1;
    assert_eq!(sum(false), (0..5000).map(element).fold(0.0, |a, b| a + b));
    let order = nova_core::order::Order {
        commutes: false,
        strict: true,
        scalars_only: true,
    };
    let expected = nova_core::order::reduce(
        5000,
        order,
        0.0f32,
        |k| Ok::<_, ()>(element(k)),
        |a, b| Ok(a + b),
    );
    assert_eq!(Ok(sum(true)), expected);
}

/// A node that is reached early, and again from a later node, is made before both.
#[test]
fn a_shared_input_is_the_same_as_a_result() {
    let program = read(
        r#"(program
            (sum "Tree" [] [0] ("Leaf" i32) ("Node" (tuple (sum 0) (sum 0))))
            (entry "same" [("T" (sum 0))] (sum 0) "same")
            (function "same" [l:i64] [r:i64] (do (in l))))"#,
    );
    let node =
        |a: &Value, b: &Value| Value::Sum(1, Link::new(Value::tuple(vec![a.clone(), b.clone()])));
    let leaf = |k| Value::Sum(0, Link::new(int(k)));
    let (shared, other) = (leaf(1), leaf(2));
    let late = node(&node(&other, &shared), &other);
    let tree = node(&shared, &node(&late, &shared));
    let made = evaluate(
        &program,
        0,
        std::slice::from_ref(&tree),
        &Options::default(),
    )
    .unwrap();
    assert!(made.same(&tree));
}

/// The list that begins at the last node, where each node is that of the link in `next` and node 0 the
/// end. Each node that is read is counted.
fn list_of_links(next: &[i64], reads: &Cell<usize>) -> Result<Value, Fault> {
    let (list, unit) = (SumId(0), Type::Unit);
    let constructor = |name: &str, payload: Type| Constructor {
        name: name.into(),
        payload,
    };
    let sums = [SumType {
        name: "List".into(),
        arguments: Vec::new(),
        constructors: vec![
            constructor("End", unit),
            constructor("Next", Type::Sum(list)),
        ],
        group: vec![list],
        node_of: None,
    }];
    let mut tables = Tables::default();
    for (k, next) in next.iter().enumerate() {
        let node = Node {
            constructor: u32::from(k > 0),
            payload: match k {
                0 => Vec::new(),
                _link => vec![FlatValue::Scalar(ScalarValue::I64(*next))],
            },
        };
        tables.add(list, node);
    }
    let last = next.len().saturating_sub(1);
    let node = |sum, link| {
        reads.set(reads.get() + 1);
        tables.read(sum, link)
    };
    from_components(
        &[FlatValue::index(last)],
        &Type::Sum(list),
        &Layouts::new(&sums),
        &node,
    )
}

#[test]
fn nodes_in_a_circle_are_a_fault() {
    let reads = Cell::default();
    assert!(list_of_links(&[0, 0, 1, 2], &reads).is_ok());
    for circle in [&[0, 1][..], &[0, 2, 1], &[0, 3, 1, 2], &[0, 0, 3, 2, 3]] {
        let fault = list_of_links(circle, &reads).map(|_| ()).unwrap_err();
        assert!(matches!(fault, Fault::Internal(_)), "{circle:?}: {fault:?}");
    }
}

/// The conversion of a value takes the time of the value, not that of all nodes that the program has made.
#[test]
fn only_the_nodes_of_a_value_are_read() {
    let reads = Cell::default();
    let mut next: Vec<i64> = (-1..10_000).collect();
    next.push(1);
    assert!(list_of_links(&next, &reads).is_ok());
    assert!(reads.get() <= 6, "{} reads of three nodes", reads.get());
}
