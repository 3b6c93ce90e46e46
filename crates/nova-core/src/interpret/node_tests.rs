//! Tables of nodes: their order and their errors, and random data of random types with sharing.

use super::nodes::{Group, datum, table};
use super::tests::{evaluate_text, evaluate_value};
use crate::nodes::{Member, check};
use crate::value::Link;
use crate::{Constructor, Elements, ScalarValue, SumId, SumType, Type, Value, verify};
use std::sync::Arc;

/// Lists of `int` and their nodes.
const LISTS: &str = r#"
    (sum "List" [i32] [0] ("Nil" unit) ("Cons" (tuple i32 (sum 0))))
    (sum "List*" [i32 i32] [] (node_of 0) ("Nil*" unit) ("Cons*" (tuple i32 i32)))"#;

/// Rose trees with a list of trees, and their nodes.
const ROSES: &str = r#"
    (sum "Rose" [i32] [0 1] ("Rose" (tuple i32 (sum 1))))
    (sum "List" [(sum 0)] [0 1] ("Nil" unit) ("Cons" (tuple (sum 0) (sum 1))))
    (sum "Rose*" [i32 i32] [] (node_of 0) ("Rose*" (tuple i32 (sum 3))))
    (sum "List" [i32] [3] ("Nil" unit) ("Cons" (tuple i32 (sum 3))))"#;

/// Trees with a vector of trees in a group with their forests.
const FORESTS: &str = r#"
    (sum "Tree" [] [0 1] ("Tree" (tuple i32 (sum 1))))
    (sum "Forest" [] [0 1] ("Forest" (vector (sum 0))))
    (sum "Tree*" [i32 i32] [] (node_of 0) ("Tree*" (tuple i32 i32)))
    (sum "Forest*" [i32 i32] [] (node_of 1) ("Forest*" (vector i32)))"#;

#[track_caller]
fn check_body(sections: &str, ty: &str, argument: &str, body: &str, expected: &str) {
    let input = format!("x_0:{ty}");
    assert_eq!(
        evaluate_text(sections, &input, &[argument], body),
        expected,
        "{body}"
    );
}

#[test]
fn a_table_has_the_nodes_breadth_first() {
    let body = "(table (vector (sum 1)) x_0)";
    let list = "(Cons (7, (Cons (8, Nil))))";
    let expected = "[(Cons* (7, 1)) (Cons* (8, 2)) Nil*]";
    check_body(LISTS, "(sum 0)", list, body, expected);
    check_body(LISTS, "(sum 0)", "Nil", body, "[Nil*]");
    check_body(
        ROSES,
        "(sum 0)",
        "(Rose (1, (Cons ((Rose (2, (Cons ((Rose (4, Nil)), Nil)))), (Cons ((Rose (3, Nil)), Nil))))))",
        "(table (vector (sum 2)) x_0)",
        "[(Rose* (1, (Cons (1, (Cons (2, Nil)))))) (Rose* (2, (Cons (3, Nil)))) (Rose* (3, Nil)) (Rose* (4, Nil))]",
    );
    check_body(
        FORESTS,
        "(sum 0)",
        "(Tree (1, (Forest [(Tree (2, (Forest []))) (Tree (3, (Forest [])))])))",
        "(table (tuple (vector (sum 2)) (vector (sum 3))) x_0)",
        "([(Tree* (1, 0)) (Tree* (2, 1)) (Tree* (3, 2))], [(Forest* [1 2]) (Forest* []) (Forest* [])])",
    );
    check_body(
        FORESTS,
        "(sum 1)",
        "(Forest [])",
        "(table (tuple (vector (sum 3)) (vector (sum 2))) x_0)",
        "([(Forest* [])], [])",
    );
}

#[test]
fn a_shared_node_has_one_number() {
    let body = r#"(let [t (construct (sum 1) "Cons" (tuple x_0 (construct (sum 1) "Cons"
        (tuple x_0 (construct (sum 1) "Nil" nil)))))]
        (table (vector (sum 2)) (construct (sum 0) "Rose" (tuple 5i32 t))))"#;
    let expected = "[(Rose* (5, (Cons (1, (Cons (1, Nil)))))) (Rose* (2, Nil))]";
    check_body(ROSES, "(sum 0)", "(Rose (2, Nil))", body, expected);
}

#[test]
fn a_datum_is_made_of_a_table() {
    let body = "(datum 1i32 x_0)";
    let ty = "(vector (sum 1))";
    let nodes = "[Nil* (Cons* (8, 2)) (Cons* (7, 0))]";
    check_body(LISTS, ty, nodes, body, "(Cons (8, (Cons (7, Nil))))");
    check_body(LISTS, ty, nodes, "(node_at x_0 2i32)", "(Cons* (7, 0))");
    check_body(
        LISTS,
        ty,
        nodes,
        r#"(unchecked_datum 0i32 (map (lambda [n_1:(sum 1)] (case n_1
            ("Nil*" (construct (sum 1) "Cons*" (tuple 1i32 1i32))) ("Cons*" (construct (sum 1) "Nil*" nil)))) x_0))"#,
        "(Cons (1, Nil))",
    );
    let both = "(tuple (vector (sum 2)) (vector (sum 3)))";
    let tables = "([(Tree* (1, 0)) (Tree* (2, 1))], [(Forest* [1 1]) (Forest* [])])";
    check_body(
        FORESTS,
        both,
        tables,
        "(datum 0i32 x_0)",
        "(Tree (1, (Forest [(Tree (2, (Forest []))) (Tree (2, (Forest [])))])))",
    );
}

#[test]
fn wrong_tables_are_errors() {
    let list = |nodes: &str, expected: &str| {
        let body = "(datum 0i32 x_0 \"a:1:2\")";
        check_body(LISTS, "(vector (sum 1))", nodes, body, expected);
    };
    list("[]", "a:1:2: link 0 is out of range for 0 nodes");
    list(
        "[Nil* (Cons* (1, 2))]",
        "a:1:2: link 2 is out of range for 2 nodes",
    );
    list(
        "[Nil* (Cons* (1, -1)) (Cons* (1, 9))]",
        "a:1:2: link -1 is out of range for 3 nodes",
    );
    list("[(Cons* (1, 0))]", "a:1:2: a node contains itself");
    list(
        "[Nil* (Cons* (1, 2)) (Cons* (1, 1))]",
        "a:1:2: a node contains itself",
    );
    let tables = "([(Tree* (1, 0))], [(Forest* [0])])";
    check_body(
        FORESTS,
        "(tuple (vector (sum 2)) (vector (sum 3)))",
        tables,
        "(datum 0i32 x_0 \"a:1:2\")",
        "a:1:2: a node contains itself",
    );
    check_body(
        ROSES,
        "(vector (sum 2))",
        "[(Rose* (1, (Cons (0, Nil))))]",
        "(datum 0i32 x_0 \"a:1:2\")",
        "a:1:2: a node contains itself",
    );
    check_body(
        ROSES,
        "(vector (sum 2))",
        "[(Rose* (1, Nil)) (Rose* (1, (Cons (1, (Cons (2, Nil))))))]",
        "(datum 1i32 x_0 \"a:1:2\")",
        "a:1:2: link 2 is out of range for 2 nodes",
    );
}

#[test]
fn long_and_shared_data_take_one_step_for_each_node() {
    let count = 1_000_000;
    let cons = r#"(lambda [l_1:(sum 0) k_2:i32] (construct (sum 0) "Cons" (tuple k_2 l_1)))"#;
    let long =
        format!("(foldl {cons} (construct (sum 0) \"Nil\" nil) (range 0i32 1i32 {count}i32))");
    let body =
        format!("(length (table (vector (sum 1)) (datum 0i32 (table (vector (sum 1)) {long}))))");
    assert_eq!(
        evaluate_text(LISTS, "", &[], &body),
        (count + 1).to_string()
    );
    let roses = r#"(let [l (foldl (lambda [l_1:(sum 1) k_2:i32] (construct (sum 1) "Cons" (tuple x_0 l_1)))
        (construct (sum 1) "Nil" nil) (range 0i32 1i32 1000000i32))]
        (length (table (vector (sum 2)) (datum 0i32 (table (vector (sum 2)) (construct (sum 0) "Rose" (tuple 5i32 l)))))))"#;
    check_body(ROSES, "(sum 0)", "(Rose (2, Nil))", roses, "2");
    let trees = r#"
        (sum "Tree" [] [0] ("Leaf" unit) ("Node" (tuple (sum 0) (sum 0))))
        (sum "Tree*" [i32] [] (node_of 0) ("Leaf*" unit) ("Node*" (tuple i32 i32)))"#;
    let doubled = r#"(iterate 200i32 (lambda [t_1:(sum 0)] (construct (sum 0) "Node" (tuple t_1 t_1)))
        (construct (sum 0) "Leaf" nil))"#;
    let body = format!("(datum 0i32 (table (vector (sum 1)) {doubled}))");
    let value = evaluate_value(trees, &body);
    let again = format!("(length (table (vector (sum 1)) {body}))");
    assert_eq!(evaluate_text(trees, "", &[], &again), "201");
    assert!(value.same(&evaluate_value(trees, doubled)));
}

/// A part of a payload of a random type.
enum Shape {
    Int,
    Double,
    /// A list of `int`, which is no member.
    Data,
    Link(usize),
    Tuple(Vec<Shape>),
    Vector(Box<Shape>),
    Array(Box<Shape>),
    Maybe(Box<Shape>),
    List(Box<Shape>),
}

/// Random recursive types with their node types, and values of them.
struct Random {
    seed: u64,
    sums: Vec<SumType>,
    members: usize,
}

const DOUBLE: Type = Type::Scalar(crate::Scalar::F64);

impl Random {
    fn pick(&mut self, n: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % n
    }

    fn shape(&mut self, size: usize) -> Shape {
        let inner = |random: &mut Self| Box::new(random.shape(size / 2));
        match self.pick(if size == 0 { 5 } else { 11 }) {
            0 => Shape::Int,
            1 => Shape::Double,
            2 => Shape::Data,
            3 | 4 => Shape::Link(self.pick(self.members)),
            5 => Shape::Vector(inner(self)),
            6 => Shape::Array(inner(self)),
            7 => Shape::Maybe(inner(self)),
            8 => Shape::List(inner(self)),
            _ => {
                let count = 2 + self.pick(2);
                Shape::Tuple((0..count).map(|_| self.shape(size / 2)).collect())
            }
        }
    }

    /// Returns the type of a shape, in the data or in the nodes.
    fn ty(&mut self, shape: &Shape, in_nodes: bool) -> Type {
        match shape {
            Shape::Int => Type::INT,
            Shape::Double => DOUBLE,
            Shape::Data => self.list(Type::INT),
            Shape::Link(_) if in_nodes => Type::INT,
            Shape::Link(member) => Type::Sum(SumId(*member as u32)),
            Shape::Tuple(parts) => {
                let types: Vec<Type> = parts.iter().map(|part| self.ty(part, in_nodes)).collect();
                Type::Tuple(types.into())
            }
            Shape::Vector(inner) => Type::vector(self.ty(inner, in_nodes)),
            Shape::Array(inner) => Type::array(2, self.ty(inner, in_nodes)),
            Shape::Maybe(inner) => {
                let inner = self.ty(inner, in_nodes);
                self.instance("Maybe", &inner, |_| inner.clone())
            }
            Shape::List(inner) => {
                let inner = self.ty(inner, in_nodes);
                self.list(inner)
            }
        }
    }

    fn list(&mut self, element: Type) -> Type {
        self.instance("List", &element, |list| {
            Type::tuple(vec![element.clone(), list])
        })
    }

    /// Returns the sum of this name and argument: an empty constructor, and one with a payload.
    fn instance(
        &mut self,
        name: &str,
        argument: &Type,
        payload: impl FnOnce(Type) -> Type,
    ) -> Type {
        let argument = std::slice::from_ref(argument);
        let mut sums = self.sums.iter();
        if let Some(k) = sums.position(|s| &*s.name == name && s.arguments == argument) {
            return Type::Sum(SumId(k as u32));
        }
        let ty = Type::Sum(SumId(self.sums.len() as u32));
        let payload = payload(ty.clone());
        self.sums.push(SumType {
            name: name.into(),
            arguments: argument.to_vec(),
            constructors: constructors(vec![Type::Unit, payload]),
            group: Vec::new(),
            node_of: None,
        });
        ty
    }

    /// Returns a value of a shape whose links are values made before.
    fn value(&mut self, shape: &Shape, pool: &[Vec<Value>]) -> Value {
        match shape {
            Shape::Int => Value::Scalar(ScalarValue::I32(self.pick(100) as i32)),
            Shape::Double => Value::Scalar(ScalarValue::F64(self.pick(100) as f64)),
            Shape::Data => self.chain(&Shape::Int, pool),
            Shape::Link(member) => pool[*member][self.pick(pool[*member].len())].clone(),
            Shape::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.value(part, pool)).collect();
                Value::Tuple(parts.into())
            }
            Shape::Vector(inner) => {
                let count = self.pick(4);
                Value::Vector(self.elements(inner, count, pool))
            }
            Shape::Array(inner) => {
                let extents = [self.pick(3), self.pick(3)];
                let elements = self.elements(inner, extents[0] * extents[1], pool);
                Value::Array(Arc::new(extents), elements)
            }
            Shape::Maybe(_) if self.pick(2) == 0 => Value::Sum(0, Link::new(Value::Unit)),
            Shape::Maybe(inner) => Value::Sum(1, Link::new(self.value(inner, pool))),
            Shape::List(inner) => self.chain(inner, pool),
        }
    }

    fn chain(&mut self, element: &Shape, pool: &[Vec<Value>]) -> Value {
        let empty = Value::Sum(0, Link::new(Value::Unit));
        (0..self.pick(4)).fold(empty, |list, _| {
            let cell = Value::Tuple([self.value(element, pool), list].into());
            Value::Sum(1, Link::new(cell))
        })
    }

    fn elements(&mut self, inner: &Shape, count: usize, pool: &[Vec<Value>]) -> Elements {
        let mut elements = Elements::new(&self.ty(inner, false));
        for _ in 0..count {
            elements.push(self.value(inner, pool)).unwrap();
        }
        elements
    }

    /// Fills in the recursive groups.
    fn groups(&mut self) {
        let count = self.sums.len();
        let reached: Vec<Vec<bool>> = (0..count).map(|k| self.reached(k)).collect();
        for (k, sum) in self.sums.iter_mut().enumerate() {
            let group = (0..count).filter(|j| reached[k][*j] && reached[*j][k]);
            sum.group = group.map(|j| SumId(j as u32)).collect();
        }
    }

    /// Returns the sums that values of a sum contain.
    fn reached(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.sums.len()];
        let mut work = vec![start];
        while let Some(k) = work.pop() {
            let mut inner = Vec::new();
            for constructor in &self.sums[k].constructors {
                verify::sums_within(&constructor.payload, &mut inner);
            }
            for id in inner {
                if !std::mem::replace(&mut reached[id.index()], true) {
                    work.push(id.index());
                }
            }
        }
        reached
    }
}

fn constructors(payloads: Vec<Type>) -> Vec<Constructor> {
    let named = payloads.into_iter().enumerate();
    let constructor = |(k, payload)| Constructor {
        name: format!("C{k}").into(),
        payload,
    };
    named.map(constructor).collect()
}

/// Makes a random group of types. Each has a constructor without payload, and two others. Returns their
/// shapes.
fn types(random: &mut Random) -> Vec<Vec<Shape>> {
    random.members = 1 + random.pick(3);
    let members = random.members;
    let mut shapes = Vec::new();
    for member in 0..members {
        let next = Shape::Link((member + 1) % members);
        let shape = Shape::Tuple(vec![next, random.shape(6)]);
        shapes.push(vec![shape, random.shape(6)]);
    }
    for k in 0..2 * members {
        let node_of = k.checked_sub(members).map(|data| SumId(data as u32));
        random.sums.push(SumType {
            name: format!("T{k}").into(),
            arguments: Vec::new(),
            constructors: Vec::new(),
            group: Vec::new(),
            node_of,
        });
    }
    for k in 0..2 * members {
        let mut payloads = vec![Type::Unit];
        for shape in &shapes[k % members] {
            payloads.push(random.ty(shape, k >= members));
        }
        random.sums[k].constructors = constructors(payloads);
    }
    random.groups();
    shapes
}

#[test]
fn the_datum_of_a_table_is_the_same() {
    for seed in 0..500 {
        let mut random = Random {
            seed,
            sums: Vec::new(),
            members: 0,
        };
        let shapes = types(&mut random);
        let member = |k| Member {
            data: SumId(k as u32),
            node: SumId((shapes.len() + k) as u32),
        };
        let members: Vec<Member> = (0..shapes.len()).map(member).collect();
        check(&random.sums, &members).unwrap_or_else(|error| panic!("{error}, seed {seed}"));
        let empty = Value::Sum(0, Link::new(Value::Unit));
        let mut pool = vec![vec![empty]; shapes.len()];
        for _ in 0..40 {
            let member = random.pick(shapes.len());
            let constructor = random.pick(2);
            let payload = random.value(&shapes[member][constructor], &pool);
            pool[member].push(Value::Sum(constructor as u32 + 1, Link::new(payload)));
        }
        let root = pool[0].pop().unwrap();
        let group = Group {
            sums: &random.sums,
            members: &members,
        };
        assert!(root.conforms(&Type::Sum(SumId(0)), group.sums));
        let tables = table(root.clone(), group).unwrap();
        let vectors = members.iter().map(|m| Type::vector(Type::Sum(m.node)));
        let ty = Type::tuple(vectors.collect());
        assert!(tables.conforms(&ty, group.sums), "seed {seed}");
        let made = datum(0, tables.clone(), group).unwrap();
        assert!(made.same(&root), "seed {seed}");
        assert!(made.conforms(&Type::Sum(SumId(0)), group.sums));
        let again = table(made, group).unwrap();
        assert!(again.same(&tables), "seed {seed}");
    }
}
