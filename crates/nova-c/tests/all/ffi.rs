//! Values across the FFI boundary: every kind of type, in and out again. The hosts and their expected
//! output are files of the folder `ffi`.

use crate::support::*;
use nova_core::{Constructor, Scalar, SumId, SumType, Type as CoreType};
use nova_loop::ir::Program;
use std::fs;
use std::path::Path;

fn tuple(elements: &[CoreType]) -> CoreType {
    CoreType::tuple(elements.to_vec())
}

fn float() -> CoreType {
    scalar(Scalar::F32)
}

fn sum_type(name: &str, arguments: &[CoreType], constructors: &[(&str, CoreType)]) -> SumType {
    SumType {
        name: name.into(),
        arguments: arguments.to_vec(),
        constructors: constructors
            .iter()
            .map(|(name, payload)| Constructor {
                name: (*name).into(),
                payload: payload.clone(),
            })
            .collect(),
        group: Vec::new(),
        node_of: None,
    }
}

/// A program with an identity function for each type.
fn identities(sums: Vec<SumType>, types: &[(&str, CoreType)]) -> Program {
    let mut program = Program {
        sums,
        ..Program::default()
    };
    for (name, ty) in types {
        identity(&mut program, name, ty.clone());
    }
    program
}

/// Checks that the host `ffi/NAME.c` with a program prints `ffi/NAME.txt`.
fn check(name: &str, program: &Program) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ffi");
    let read = |ending: &str| {
        let path = folder.join(name).with_extension(ending);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let files = emit(program, name);
    compiles(&files, name);
    prints(&[(name, &files)], &read("c"), &read("txt"));
}

#[test]
fn tuples_and_scalars() {
    let int = CoreType::INT;
    let program = identities(
        vec![],
        &[
            (
                "pair",
                tuple(&[float(), tuple(&[int.clone(), CoreType::BOOL])]),
            ),
            ("truth", CoreType::BOOL),
            ("nothing", CoreType::Unit),
            ("half", tuple(&[CoreType::Unit, int.clone()])),
            ("pairs", CoreType::vector(tuple(&[int.clone(), float()]))),
            ("units", CoreType::vector(CoreType::Unit)),
            ("small", scalar(Scalar::I8)),
        ],
    );
    check("tuples", &program);
}

#[test]
fn vectors_of_all_kinds() {
    let int = CoreType::INT;
    let vector = CoreType::vector;
    let program = identities(
        vec![],
        &[
            ("rows", vector(vector(int.clone()))),
            ("deep", vector(vector(vector(float())))),
            ("pairs", vector(vector(tuple(&[int.clone(), float()])))),
            ("matrix", CoreType::array(2, float())),
            (
                "inside",
                tuple(&[vector(int.clone()), vector(vector(int.clone()))]),
            ),
            (
                "ragged",
                vector(tuple(&[int.clone(), vector(CoreType::BOOL)])),
            ),
            ("blocks", vector(CoreType::array(2, int.clone()))),
            ("grid", CoreType::array(2, vector(int.clone()))),
            (
                "held",
                tuple(&[CoreType::array(3, int.clone()), CoreType::Unit]),
            ),
        ],
    );
    check("vectors", &program);
}

#[test]
fn sums() {
    let int = CoreType::INT;
    let maybe = sum_type(
        "Maybe",
        std::slice::from_ref(&int),
        &[("None", CoreType::Unit), ("Some", int.clone())],
    );
    let shape = sum_type(
        "Shape",
        &[],
        &[
            ("Point", CoreType::Unit),
            ("Circle", float()),
            ("Path", CoreType::vector(tuple(&[float(), float()]))),
            (
                "Named",
                tuple(&[
                    CoreType::vector(scalar(Scalar::U8)),
                    CoreType::Sum(SumId(0)),
                ]),
            ),
        ],
    );
    let color = sum_type(
        "Color",
        &[],
        &[("red", CoreType::Unit), ("int", CoreType::Unit)],
    );
    let program = identities(
        vec![maybe, shape, color],
        &[
            ("maybe", CoreType::Sum(SumId(0))),
            ("shape", CoreType::Sum(SumId(1))),
            ("shapes", CoreType::vector(CoreType::Sum(SumId(1)))),
            ("colors", CoreType::vector(CoreType::Sum(SumId(2)))),
        ],
    );
    check("sums", &program);
}

#[test]
fn recursive_data() {
    let int = CoreType::INT;
    let list = CoreType::Sum(SumId(0));
    let mut list_type = sum_type(
        "List",
        std::slice::from_ref(&int),
        &[
            ("Nil", CoreType::Unit),
            ("Cons", tuple(&[int.clone(), list.clone()])),
        ],
    );
    list_type.group = vec![SumId(0)];
    let tree = CoreType::Sum(SumId(1));
    let mut tree_type = sum_type(
        "Tree",
        &[],
        &[(
            "Node",
            tuple(&[
                CoreType::vector(scalar(Scalar::U8)),
                list.clone(),
                CoreType::vector(tree.clone()),
            ]),
        )],
    );
    tree_type.group = vec![SumId(1)];
    let (even, odd) = (CoreType::Sum(SumId(2)), CoreType::Sum(SumId(3)));
    let group = vec![SumId(2), SumId(3)];
    let mut even_type = sum_type(
        "Even",
        &[],
        &[("Zero", CoreType::Unit), ("Next", odd.clone())],
    );
    let mut odd_type = sum_type(
        "Odd",
        &[],
        &[("After", tuple(&[int.clone(), even.clone()]))],
    );
    even_type.group = group.clone();
    odd_type.group = group;
    let program = identities(
        vec![list_type, tree_type, even_type, odd_type],
        &[
            ("list", list.clone()),
            ("lists", CoreType::vector(list.clone())),
            ("tree", tree.clone()),
            ("odd", odd),
            ("both", tuple(&[even, list])),
        ],
    );
    check("data", &program);
}

#[test]
fn programs_linked_together() {
    let list = CoreType::Sum(SumId(0));
    let pair = tuple(&[CoreType::INT, float()]);
    let program = |entry: &str| {
        let mut list_type = sum_type(
            "List",
            &[],
            &[
                ("Nil", CoreType::Unit),
                (
                    "Cons",
                    tuple(&[CoreType::vector(CoreType::INT), list.clone()]),
                ),
            ],
        );
        list_type.group = vec![SumId(0)];
        let names = [format!("{entry}_list"), format!("{entry}_pair")];
        let types = [
            (&*names[0], list.clone()),
            (&*names[1], CoreType::vector(pair.clone())),
        ];
        identities(vec![list_type], &types)
    };
    let (one, two) = (emit(&program("one"), "one"), emit(&program("two"), "two"));
    let host = include_str!("../ffi/linked.c");
    prints(&[("one", &one), ("two", &two)], host, "0 1\n0 1\n");
    let symbols = global_symbols(&one, "one");
    let expected = [
        "nova_data_List_free",
        "one_list",
        "one_list_error",
        "one_list_free_result",
        "one_pair",
        "one_pair_error",
    ];
    assert_eq!(symbols, expected);
}

#[test]
fn names_of_inputs() {
    let int = CoreType::INT;
    let mut program = Program::default();
    let variables: Vec<_> = (0..7).map(|_| program.add_variable("x", I32)).collect();
    let r = program.add_variable("r", I32);
    let add = |a, b| binary(nova_core::ScalarOperation::Add, Scalar::I32, a, b);
    let sum = variables
        .iter()
        .map(|v| var(*v))
        .reduce(add)
        .expect("inputs");
    let f = function(&mut program, "f", variables, vec![r], vec![assign(r, sum)]);
    let names = ["int", "x'", "result", "errno", "call", "class", "a-b"];
    let inputs = names.into_iter().map(|n| (n, int.clone())).collect();
    entry(&mut program, "sqrt", inputs, int, f);
    check("names", &program);
    let header = emit(&program, "names").header;
    let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
    let prototype = "int sqrt_(int32_t *result, int32_t int_, int32_t x_u27_, int32_t result_, \
                     int32_t errno_, int32_t call, int32_t class_, int32_t a_u2D_b);";
    assert!(header.contains(prototype), "{header}");
}
