//! Tests with functions written by hand after abi §2: every kind of type, as argument and as
//! result.

use nova_core::text::{print_value, read_value};
use nova_core::{Constructor, Scalar, SumId, SumType, Type};
use nova_exec::CallError;
use nova_exec::library::{EntryInterface, Generated, Library};
use nova_exec::toolchain::CompilerOptions;

const PRELUDE: &str = r#"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static const char *prog_error(void) { return "prog.nova:3:4: index 5 is out of range for length 3"; }
typedef struct { float e0; struct { int32_t e0; uint8_t e1; } e1; } tuple;
typedef struct { int64_t len; double *data; } vector_double;
typedef struct { int8_t e0; vector_double e1; } holder;
typedef struct { int32_t tag; union { double Some; } u; } maybe;
typedef struct { int64_t dim0, dim1; int16_t *data; } matrix;
typedef struct { uint8_t e0; matrix e1; } boxed;
typedef struct { int32_t tag; union { struct { int32_t e0; int64_t e1; } Cons; } u; } list_node;
typedef struct { int64_t root, len; list_node *nodes; } list;
typedef struct { int32_t tag; union { int16_t Leaf; int64_t Node; } u; } tree_node;
typedef struct { int64_t len; int64_t *data; } vector_link;
typedef struct { int32_t tag; union { vector_link Many; } u; } forest_node;
typedef struct { int64_t root, len_t; tree_node *t; int64_t len_f; forest_node *f; } tree;
static void *copy(const void *from, size_t bytes)
{
    return bytes ? memcpy(malloc(bytes), from, bytes) : NULL;
}
static vector_double copy_vector(vector_double v)
{
    vector_double result = {v.len, (double *)copy(v.data, (size_t)v.len * sizeof(double))};
    return result;
}
"#;

/// Returns `Maybe double`, `List int`, and the mutually recursive `Tree` and `Forest`.
fn sums() -> Vec<SumType> {
    let sum = |name: &str, constructors: &[(&str, Type)], group: &[u32]| SumType {
        name: name.into(),
        arguments: vec![],
        constructors: constructors
            .iter()
            .map(|(name, payload)| Constructor {
                name: (*name).into(),
                payload: payload.clone(),
            })
            .collect(),
        group: group.iter().map(|id| SumId(*id)).collect(),
        node_of: None,
    };
    let of = |id| Type::Sum(SumId(id));
    let cell = Type::tuple(vec![Type::INT, of(1)]);
    let (short, trees) = (Type::Scalar(Scalar::I16), Type::vector(of(2)));
    vec![
        sum(
            "Maybe",
            &[("None", Type::Unit), ("Some", Type::Scalar(Scalar::F64))],
            &[],
        ),
        sum("List", &[("Nil", Type::Unit), ("Cons", cell)], &[1]),
        sum("Tree", &[("Leaf", short), ("Node", of(3))], &[2, 3]),
        sum("Forest", &[("Many", trees)], &[2, 3]),
    ]
}

/// A function `int prog(results, parameters) { body }` that returns the value it is applied to.
struct Identity {
    ty: Type,
    parameters: &'static [&'static str],
    results: &'static [&'static str],
    /// The parameters are `p0` …, the results `r0` ….
    body: &'static str,
}

impl Identity {
    fn load(&self) -> Library {
        let list = |types: &[&str], name: &str, pointer: &str| -> Vec<String> {
            let each = types.iter().enumerate();
            each.map(|(k, ty)| format!("{ty} {pointer}{name}{k}"))
                .collect()
        };
        let mut parameters = list(self.results, "r", "*");
        parameters.extend(list(self.parameters, "p", ""));
        let header = format!(
            "{PRELUDE}\nstatic int prog({})\n{{\n{}\nreturn 0;\n}}\n",
            parameters.join(", "),
            self.body
        );
        let generated = Generated {
            name: "prog",
            header: &header,
            source: "typedef int nothing;",
            entries: vec![EntryInterface {
                name: "prog".into(),
                symbol: "prog".into(),
                error: "prog_error".into(),
                inputs: vec![("x".into(), self.ty.clone())],
                result: self.ty.clone(),
            }],
            foreigns: Vec::new(),
            sums: &sums(),
        };
        let options = CompilerOptions {
            optimization: 0,
            strict: false,
            libraries: &[],
            device: None,
        };
        Library::load_with(&generated, options, &[], None).unwrap_or_else(|e| panic!("{e}"))
    }

    fn check(&self, values: &[&str]) {
        let library = self.load();
        for text in values {
            let value = read_value(text, &self.ty, &sums()).expect("a value");
            let result = library.call(0, &[value]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(print_value(&result, &self.ty, &sums()), *text);
        }
    }
}

fn scalar(scalar: Scalar) -> Type {
    Type::Scalar(scalar)
}

#[test]
fn scalars() {
    let simple = |ty, name: &'static [&'static str], values: &[&str]| {
        let body = "*r0 = p0;";
        let identity = Identity {
            ty,
            parameters: name,
            results: name,
            body,
        };
        identity.check(values);
    };
    simple(scalar(Scalar::Bool), &["int"], &["true", "false"]);
    simple(scalar(Scalar::I8), &["int8_t"], &["-128", "127"]);
    simple(
        scalar(Scalar::U64),
        &["uint64_t"],
        &["18446744073709551615"],
    );
    simple(
        scalar(Scalar::F32),
        &["float"],
        &["1.5", "-0.0", "inf", "nan"],
    );
    let unit = Identity {
        ty: Type::Unit,
        parameters: &[],
        results: &[],
        body: "",
    };
    unit.check(&["nil"]);
    let units = Type::tuple(vec![Type::Unit, Type::tuple(vec![Type::Unit, Type::Unit])]);
    Identity { ty: units, ..unit }.check(&["(nil, (nil, nil))"]);
}

#[test]
fn tuples_and_sums() {
    let inner = Type::tuple(vec![Type::INT, Type::BOOL]);
    Identity {
        ty: Type::tuple(vec![scalar(Scalar::F32), inner]),
        parameters: &["tuple"],
        results: &["tuple"],
        body: "*r0 = p0;",
    }
    .check(&["(1.5, (-7, true))"]);
    Identity {
        ty: Type::Sum(SumId(0)),
        parameters: &["maybe"],
        results: &["maybe"],
        body: "*r0 = p0;",
    }
    .check(&["None", "(Some 2.5)"]);
}

#[test]
fn vectors() {
    Identity {
        ty: Type::vector(scalar(Scalar::F64)),
        parameters: &["int64_t", "const double *"],
        results: &["int64_t", "double *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)p0 * sizeof(double));",
    }
    .check(&["[1.0 2.0 3.5]", "[]"]);
    Identity {
        ty: Type::vector(Type::Sum(SumId(0))),
        parameters: &["int64_t", "const maybe *"],
        results: &["int64_t", "maybe *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)p0 * sizeof(maybe));",
    }
    .check(&["[None (Some 1.0)]"]);
    Identity {
        ty: Type::array(2, scalar(Scalar::I16)),
        parameters: &["int64_t", "int64_t", "const int16_t *"],
        results: &["int64_t", "int64_t", "int16_t *"],
        body: "*r0 = p0; *r1 = p1; *r2 = copy(p2, (size_t)(p0 * p1) * 2);",
    }
    .check(&["[[1 2 3] [4 5 6]]"]);
    Identity {
        ty: Type::vector(Type::Unit),
        parameters: &["int64_t"],
        results: &["int64_t"],
        body: "*r0 = p0;",
    }
    .check(&["[nil nil]"]);
}

#[test]
fn nested_vectors() {
    let row = Type::vector(scalar(Scalar::U8));
    Identity {
        ty: Type::vector(Type::vector(Type::vector(Type::INT))),
        parameters: &[
            "int64_t",
            "const int64_t *",
            "const int64_t *",
            "const int32_t *",
        ],
        results: &["int64_t", "int64_t *", "int64_t *", "int32_t *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)(p0 + 1) * 8);
               *r2 = copy(p2, (size_t)(p1[p0] + 1) * 8);
               *r3 = copy(p3, (size_t)p2[p1[p0]] * 4);",
    }
    .check(&["[[[1 2] []] [] [[3]]]", "[]", "[[] []]"]);
    Identity {
        ty: Type::vector(row),
        parameters: &["int64_t", "const int64_t *", "const uint8_t *"],
        results: &["int64_t", "int64_t *", "uint8_t *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)(p0 + 1) * 8); *r2 = copy(p2, (size_t)p1[p0]);",
    }
    .check(&["[[1 2] [] [255]]"]);
}

#[test]
fn vectors_inside() {
    let holder = Type::tuple(vec![scalar(Scalar::I8), Type::vector(scalar(Scalar::F64))]);
    Identity {
        ty: holder.clone(),
        parameters: &["holder"],
        results: &["holder"],
        body: "*r0 = p0; r0->e1 = copy_vector(p0.e1);",
    }
    .check(&["(-1, [1.0 2.0])", "(3, [])"]);
    Identity {
        ty: Type::vector(holder),
        parameters: &["int64_t", "const holder *"],
        results: &["int64_t", "holder *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)p0 * sizeof(holder));
               for (int64_t k = 0; k < p0; k++) (*r1)[k].e1 = copy_vector(p1[k].e1);",
    }
    .check(&["[(-1, [1.0 2.0]) (2, []) (3, [4.0])]"]);
    Identity {
        ty: Type::tuple(vec![Type::BOOL, Type::array(2, scalar(Scalar::I16))]),
        parameters: &["boxed"],
        results: &["boxed"],
        body: "*r0 = p0;
               r0->e1.data = copy(p0.e1.data, (size_t)(p0.e1.dim0 * p0.e1.dim1) * 2);",
    }
    .check(&["(true, [[1 2] [3 4]])"]);
}

#[test]
fn recursive_data() {
    let list = Identity {
        ty: Type::Sum(SumId(1)),
        parameters: &["list"],
        results: &["list"],
        body: "*r0 = p0; r0->nodes = copy(p0.nodes, (size_t)p0.len * sizeof(list_node));",
    };
    list.check(&["Nil", "(Cons (1, (Cons (2, Nil))))"]);
    let library = list.load();
    let long = "(Cons (1, ".repeat(100_000) + "Nil" + &"))".repeat(100_000);
    let value = read_value(&long, &list.ty, &sums()).expect("a value");
    let result = library.call(0, &[value]).unwrap_or_else(|e| panic!("{e}"));
    assert!(print_value(&result, &list.ty, &sums()) == long);
    Identity {
        ty: Type::vector(Type::Sum(SumId(1))),
        parameters: &["int64_t", "const list *"],
        results: &["int64_t", "list *"],
        body: "*r0 = p0; *r1 = copy(p1, (size_t)p0 * sizeof(list));
               for (int64_t k = 0; k < p0; k++)
                   (*r1)[k].nodes = copy(p1[k].nodes, (size_t)p1[k].len * sizeof(list_node));",
    }
    .check(&["[Nil (Cons (1, Nil))]"]);
    Identity {
        ty: Type::Sum(SumId(2)),
        parameters: &["tree"],
        results: &["tree"],
        body: "*r0 = p0; r0->t = copy(p0.t, (size_t)p0.len_t * sizeof(tree_node));
               r0->f = copy(p0.f, (size_t)p0.len_f * sizeof(forest_node));
               for (int64_t k = 0; k < p0.len_f; k++) {
                   vector_link links = p0.f[k].u.Many;
                   r0->f[k].u.Many.data = copy(links.data, (size_t)links.len * 8);
               }",
    }
    .check(&[
        "(Leaf 7)",
        "(Node (Many [(Leaf 1) (Node (Many [])) (Leaf 3)]))",
    ]);
}

#[test]
fn shared_nodes_are_passed_once() {
    let mut value = read_value("(Leaf 1)", &Type::Sum(SumId(2)), &sums()).expect("a value");
    for _ in 0..10 {
        let twice = nova_core::Elements::Values(vec![value.clone(), value].into());
        let forest =
            nova_core::Value::Sum(0, nova_core::Link::new(nova_core::Value::Vector(twice)));
        value = nova_core::Value::Sum(1, nova_core::Link::new(forest));
    }
    let count = Identity {
        ty: Type::Sum(SumId(2)),
        parameters: &["tree"],
        results: &["tree"],
        body: "tree_node leaf = {0, {(int16_t)(p0.len_t + p0.len_f)}}; *r0 = p0; r0->root = 0;
               r0->len_t = 1; r0->t = copy(&leaf, sizeof leaf); r0->len_f = 0; r0->f = NULL;",
    };
    let result = count
        .load()
        .call(0, &[value])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print_value(&result, &count.ty, &sums()), "(Leaf 21)");
}

#[test]
fn errors_have_their_message() {
    let library = Identity {
        ty: Type::INT,
        parameters: &["int32_t"],
        results: &["int32_t"],
        body: "(void)r0; (void)p0; return 1;",
    }
    .load();
    let value = read_value("1", &Type::INT, &[]).expect("a value");
    let Err(error) = library.call(0, &[value]) else {
        panic!("it fails");
    };
    assert!(matches!(error, CallError::Failed { code: 1, .. }));
    let kind = nova_exec::error::error_kind(&error).map(|kind| kind.info().word);
    assert_eq!(kind, Some("index"));
    let wrong = read_value("1.0", &scalar(Scalar::F32), &[]).expect("a value");
    assert!(matches!(
        library.call(0, &[wrong]),
        Err(CallError::Arguments(_))
    ));
    assert!(matches!(library.call(0, &[]), Err(CallError::Arguments(_))));
}
