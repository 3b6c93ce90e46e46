//! Programs as text that the parser or the verifier rejects.

use super::verify;
use crate::ir::{ExpressionKind, Program, Variable};
use crate::{Scalar, ScalarValue, Type, parse, print};
use nova_diag::SourceMap;

/// Parses a program and verifies it.
pub(crate) fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("test", text);
    let program = parse::parse(text, file).unwrap_or_else(|diagnostics| {
        let range = sources.byte_range(diagnostics[0].primary.span);
        panic!("{} at {}", diagnostics[0].message, &text[range.start..])
    });
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    program
}

#[test]
fn wrong_types_and_scopes_are_refused() {
    let refuse = |change: fn(&mut Program), message: &str| {
        let mut program =
            read("(program (entry \"main\" [n_0:i32] (let [a_1 (add n_0 1i32)] a_1)))");
        change(&mut program);
        match verify(&program) {
            Ok(()) => panic!("accepted: {message}"),
            Err(error) => assert!(error.message.contains(message), "{error}"),
        }
    };
    refuse(
        |p| p.arena[0].kind = ExpressionKind::Variable(Variable(1)),
        "not in scope",
    );
    refuse(
        |p| p.arena[1].kind = ExpressionKind::Literal(ScalarValue::I64(1)),
        "has type i64, not i32",
    );
    refuse(|p| p.arena[2].ty = Type::BOOL, "has type i32, not bool");
    refuse(
        |p| p.variables[1].ty = Type::Scalar(Scalar::F32),
        "has type f32, not i32",
    );
    refuse(|p| p.entries[0].inputs.push(Variable(1)), "bound twice");
    refuse(
        |p| p.variables[0].ty = Type::function(&[Type::INT], Type::INT),
        "a function in",
    );
    refuse(|p| p.entries.push(p.entries[0].clone()), "this name");
}

#[test]
fn wrong_groups_are_refused() {
    let refuse = |sums: &str, message: &str| {
        let text = format!("(program {sums} (entry \"main\" [] 1i32))");
        let mut sources = SourceMap::new();
        let file = sources.add("test", text.as_str());
        let program = parse::parse(&text, file).unwrap();
        match verify(&program) {
            Ok(()) => panic!("accepted: {sums}"),
            Err(error) => assert!(error.message.contains(message), "{error}"),
        }
    };
    refuse(
        r#"(sum "A" [] [] ("A" (vector (sum 0))))"#,
        "outside of its group",
    );
    refuse(
        r#"(sum "A" [] [] ("A" (sum 1))) (sum "B" [] [] ("B" (sum 0)) ("C" (sum 0)))"#,
        "outside of its group",
    );
    refuse(
        r#"(sum "A" [] [1] ("A" unit)) (sum "B" [] [1] ("B" unit))"#,
        "the group",
    );
    refuse(
        r#"(sum "A" [] [0 1] ("A" unit)) (sum "B" [] [1] ("B" unit))"#,
        "other groups",
    );
    refuse(r#"(sum "A" [] [] ("A" (-> i32 i32)))"#, "a function in");
    refuse(r#"(sum "A" [] [] ("A" (sum 7)))"#, "an unknown sum");
    let list = r#"(sum "L" [] [0] ("N" unit) ("C" (tuple i32 (sum 0))))"#;
    refuse(r#"(sum "A" [] [] (node_of 1) ("A" unit))"#, "unknown sum");
    refuse(
        &format!(r#"{list} (sum "N" [] [] (node_of 0) ("N" unit))"#),
        "other constructors",
    );
    refuse(
        r#"(sum "A" [] [] ("A" unit)) (sum "N" [] [] (node_of 0) ("N" unit))"#,
        "is not recursive, and its sum is",
    );
    read(
        r#"(program (sum "A" [] [0 1] ("A" (vector (sum 1))) ("N" (sum 2))) (sum "B" [] [0 1] ("B" (sum 0)))
            (sum "C" [] [] ("C" i32)) (entry "main" [] 1i32))"#,
    );
}

#[test]
fn tables_of_other_types_are_refused() {
    let refuse = |sums: &str, body: &str, message: &str| {
        let list = r#"(sum "L" [] [0] ("N" unit) ("C" (tuple i32 (sum 0))))"#;
        let text = format!("(program {list} {sums} (entry \"main\" [x_0:(sum 0)] {body}))");
        let mut sources = SourceMap::new();
        let file = sources.add("test", text.as_str());
        match parse::parse(&text, file) {
            Ok(_) => panic!("accepted: {text}"),
            Err(errors) => assert!(errors[0].message.contains(message), "{}", errors[0].message),
        }
    };
    let node = |node: &str| format!(r#"(sum "N" [] [] (node_of 0) ("N" unit) ("C" {node}))"#);
    let table = "(table (vector (sum 1)) x_0)";
    let unfit = "does not correspond";
    refuse(&node("(tuple i32 i64)"), table, unfit);
    refuse(&node("(tuple i64 i32)"), table, unfit);
    refuse(&node("(tuple i32 i32 i32)"), table, unfit);
    refuse(&node("(vector i32)"), table, unfit);
    let node = node("(tuple i32 i32)");
    refuse(&node, "(table (vector (sum 0)) x_0)", "no nodes");
    refuse(&node, "(table (vector (sum 1)) 1i32)", "has type i32");
    refuse(&node, "(table x_0)", "unknown nodes");
    refuse(
        &node,
        "(table (tuple (vector (sum 1)) (vector (sum 1))) x_0)",
        "two tables of L",
    );
    refuse(&node, "(datum 0i32 (vector i32))", "no nodes");
    refuse(
        &node,
        "(datum true (table (vector (sum 1)) x_0))",
        "is no integer",
    );
    refuse(&node, "(node_at (vector i32) 1)", "has type i64");
    for root in ["0i32", "0u8", "0u64", "0"] {
        read(&format!(
            r#"(program (sum "L" [] [0] ("N" unit) ("C" (tuple i32 (sum 0)))) {node}
                (entry "main" [x_0:(sum 0)] (datum {root} {table})))"#
        ));
    }
}

/// Texts with bytes changed, left out or doubled are accepted or rejected without a crash.
#[test]
fn damaged_programs_are_refused() {
    let text = r#"(program (sum "List" [i32] [0] ("Nil" unit) ("Cons" (tuple i32 (sum 0))))
        (foreign "f" [f32] (vector i32))
        (entry "main" [x_0:(vector i32) n_1:(array 2 u8)]
          (let [y_2:i32 (index x_0 1i32 "a.nova:1:2")] [z_3 (length i64 x_0)]
            (letrec [g_4:(-> i32 i32) (lambda [k_5:i32] (apply g_4 (add k_5 -1i32)))]
              (case (construct (sum 0) "Cons" (tuple y_2 (construct (sum 0) "Nil" nil)))
                ("Cons" p_6:(tuple i32 (sum 0)) (project 0 p_6))
                (else (apply g_4 (reduce (lambda [a_7:i32 b_8:i32] (if true a_7 b_8)) 0i32 x_0))))))))"#;
    read(text);
    let mut seed = 1u64;
    let mut pick = |n: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..20_000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + pick(3) {
            let at = pick(bytes.len() - 8);
            match pick(3) {
                0 => bytes[at] = b"()[]0189 iuf_:.-\"sxbv"[pick(21)],
                1 => drop(bytes.drain(at..at + 1 + pick(8))),
                _ => {
                    let piece = bytes[at..at + 1 + pick(8)].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut sources = SourceMap::new();
        let file = sources.add("test", text.as_str());
        if let Ok(program) = parse::parse(&text, file) {
            let _ = verify(&program);
            print::print(&program);
        }
    }
}
