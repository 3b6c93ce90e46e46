//! Random groups of recursive types with their node types, and random values and tables of them.

use nova_core::ir::{Entry, ExpressionKind, Program, Variable};
use nova_core::nodes::check;
use nova_core::value::Link;
use nova_core::{
    Builtin, Constructor, Elements, Member, Scalar, ScalarValue, SumId, SumType, Type, Value,
    verify,
};
use nova_diag::Place;
use std::sync::Arc;

/// A part of a payload of a random type.
pub enum Shape {
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
    /// A binary tree with these leaves.
    Bin(Box<Shape>),
}

/// A group of recursive types. Each has a constructor without payload and two others.
pub struct Random {
    seed: u64,
    pub sums: Vec<SumType>,
    /// The payloads of the second and third constructor of each member.
    shapes: Vec<[Shape; 2]>,
}

const DOUBLE: Type = Type::Scalar(Scalar::F64);

impl Random {
    /// Makes a random group of one to three types.
    pub fn new(seed: u64) -> Random {
        let mut random = Random {
            seed,
            sums: Vec::new(),
            shapes: Vec::new(),
        };
        let members = 1 + random.pick(3);
        for member in 0..members {
            let next = Shape::Link((member + 1) % members);
            let first = Shape::Tuple(vec![next, random.shape(6, members)]);
            let second = random.shape(6, members);
            random.shapes.push([first, second]);
        }
        random.declare();
        random
    }

    /// Returns a number below `n`.
    pub fn pick(&mut self, n: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % n
    }

    pub fn members(&self) -> Vec<Member> {
        let count = self.shapes.len();
        let member = |k| Member {
            data: SumId(k as u32),
            node: SumId((count + k) as u32),
        };
        (0..count).map(member).collect()
    }

    /// Returns the type of the tables.
    pub fn tables_type(&self) -> Type {
        let members = self.members();
        let tables = members.iter().map(|m| Type::vector(Type::Sum(m.node)));
        Type::tuple(tables.collect())
    }

    fn shape(&mut self, size: usize, members: usize) -> Shape {
        let inner = |random: &mut Self| Box::new(random.shape(size / 2, members));
        match self.pick(if size == 0 { 5 } else { 12 }) {
            0 => Shape::Int,
            1 => Shape::Double,
            2 => Shape::Data,
            3 | 4 => Shape::Link(self.pick(members)),
            5 => Shape::Vector(inner(self)),
            6 => Shape::Array(inner(self)),
            7 => Shape::Maybe(inner(self)),
            8 => Shape::List(inner(self)),
            9 => Shape::Bin(inner(self)),
            _ => {
                let count = 2 + self.pick(2);
                let parts = (0..count).map(|_| self.shape(size / 2, members));
                Shape::Tuple(parts.collect())
            }
        }
    }

    /// Adds the sums of the members, then their node types, then all that these contain.
    fn declare(&mut self) {
        let members = self.shapes.len();
        for k in 0..2 * members {
            let node_of = k.checked_sub(members).map(|data| SumId(data as u32));
            self.add(&format!("T{k}"), &[], node_of);
        }
        let shapes = std::mem::take(&mut self.shapes);
        for k in 0..2 * members {
            let mut payloads = vec![Type::Unit];
            for shape in &shapes[k % members] {
                payloads.push(self.ty(shape, k >= members));
            }
            self.sums[k].constructors = constructors(payloads);
        }
        self.shapes = shapes;
        let count = self.sums.len();
        let reached: Vec<Vec<bool>> = (0..count).map(|k| self.reached(k)).collect();
        for (k, sum) in self.sums.iter_mut().enumerate() {
            let group = (0..count).filter(|j| reached[k][*j] && reached[*j][k]);
            sum.group = group.map(|j| SumId(j as u32)).collect();
        }
    }

    fn add(&mut self, name: &str, arguments: &[Type], node_of: Option<SumId>) -> usize {
        self.sums.push(SumType {
            name: name.into(),
            arguments: arguments.to_vec(),
            constructors: Vec::new(),
            group: Vec::new(),
            node_of,
        });
        self.sums.len() - 1
    }

    /// Returns the type of a shape, in the data or in the nodes.
    fn ty(&mut self, shape: &Shape, in_nodes: bool) -> Type {
        let mut instance = |name: &str, inner: &Shape| {
            let inner = self.ty(inner, in_nodes);
            self.instance(name, inner)
        };
        match shape {
            Shape::Int => Type::INT,
            Shape::Double => DOUBLE,
            Shape::Data => instance("List", &Shape::Int),
            Shape::Link(_) if in_nodes => Type::INT,
            Shape::Link(member) => Type::Sum(SumId(*member as u32)),
            Shape::Tuple(parts) => {
                let types: Vec<Type> = parts.iter().map(|part| self.ty(part, in_nodes)).collect();
                Type::Tuple(types.into())
            }
            Shape::Vector(inner) => Type::vector(self.ty(inner, in_nodes)),
            Shape::Array(inner) => Type::array(2, self.ty(inner, in_nodes)),
            Shape::Maybe(inner) => instance("Maybe", inner),
            Shape::List(inner) => instance("List", inner),
            Shape::Bin(inner) => instance("Bin", inner),
        }
    }

    /// Returns the sum of this name and argument.
    fn instance(&mut self, name: &str, argument: Type) -> Type {
        let arguments = std::slice::from_ref(&argument);
        let mut sums = self.sums.iter();
        if let Some(k) = sums.position(|s| &*s.name == name && s.arguments == arguments) {
            return Type::Sum(SumId(k as u32));
        }
        let number = self.add(name, arguments, None);
        let ty = Type::Sum(SumId(number as u32));
        let payloads = match name {
            "Maybe" => vec![Type::Unit, argument],
            "List" => vec![Type::Unit, Type::tuple(vec![argument, ty.clone()])],
            _ => vec![argument, Type::tuple(vec![ty.clone(), ty.clone()])],
        };
        self.sums[number].constructors = constructors(payloads);
        ty
    }

    /// Returns the sums that values of a sum contain.
    fn reached(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.sums.len()];
        let constructors = |sum: usize| self.sums[sum].constructors.iter();
        let mut work: Vec<&Type> = constructors(start).map(|c| &c.payload).collect();
        while let Some(ty) = work.pop() {
            match ty {
                Type::Sum(id) if !std::mem::replace(&mut reached[id.index()], true) => {
                    work.extend(constructors(id.index()).map(|c| &c.payload));
                }
                Type::Tuple(types) => work.extend(types.iter()),
                Type::Vector(element) | Type::Array(_, element) => work.push(element),
                Type::Sum(_) | Type::Scalar(_) | Type::Unit | Type::Function(..) => {}
            }
        }
        reached
    }

    /// Returns a value of the first type with up to `count` nodes, some of which are shared.
    pub fn root(&mut self, count: usize) -> Value {
        let shapes = std::mem::take(&mut self.shapes);
        let empty = Value::Sum(0, Link::new(Value::Unit));
        let mut pool = vec![vec![empty]; shapes.len()];
        for _ in 0..count {
            let member = self.pick(shapes.len());
            let constructor = self.pick(2);
            let payload = self.value(&shapes[member][constructor], &mut |random, member| {
                let nodes = &pool[member];
                nodes[random.pick(nodes.len())].clone()
            });
            pool[member].push(Value::Sum(constructor as u32 + 1, Link::new(payload)));
        }
        self.shapes = shapes;
        pool[0].pop().unwrap_or(Value::Unit)
    }

    /// Returns tables whose links are in range, mostly to later nodes, with some exceptions.
    pub fn tables(&mut self, wrong: usize) -> Value {
        let shapes = std::mem::take(&mut self.shapes);
        let counts: Vec<usize> = shapes.iter().map(|_| 1 + self.pick(8)).collect();
        let mut tables = Vec::new();
        for (member, shapes) in shapes.iter().enumerate() {
            let mut nodes = Vec::new();
            for k in 0..counts[member] {
                let constructor = match k + 1 == counts[member] {
                    true => 0,
                    false => self.pick(3),
                };
                let payload = match constructor {
                    0 => Value::Unit,
                    k_th => self.value(&shapes[k_th - 1], &mut |random, to| {
                        let count = counts[to] as i32;
                        let link = match random.pick(100) < wrong {
                            true => random.pick(counts[to] + 2) as i32 - 1,
                            false => (k as i32 + 1).min(count - 1),
                        };
                        Value::Scalar(ScalarValue::I32(link))
                    }),
                };
                nodes.push(Value::Sum(constructor as u32, Link::new(payload)));
            }
            tables.push(Value::Vector(Elements::Values(Arc::new(nodes))));
        }
        self.shapes = shapes;
        Value::tuple(tables)
    }

    /// Returns a value of a shape with links that `link` gives for a member.
    fn value(&mut self, shape: &Shape, link: &mut dyn FnMut(&mut Self, usize) -> Value) -> Value {
        match shape {
            Shape::Int => Value::Scalar(ScalarValue::I32(self.pick(100) as i32)),
            Shape::Double => Value::Scalar(ScalarValue::F64(self.pick(100) as f64)),
            Shape::Data => self.chain(&Shape::Int, link),
            Shape::Link(member) => link(self, *member),
            Shape::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.value(part, link)).collect();
                Value::Tuple(parts.into())
            }
            Shape::Vector(inner) => {
                let count = self.pick(4);
                Value::Vector(self.elements(inner, count, link))
            }
            Shape::Array(inner) => {
                let extents = [self.pick(3), self.pick(3)];
                let elements = self.elements(inner, extents[0] * extents[1], link);
                Value::Array(Arc::new(extents.to_vec()), elements)
            }
            Shape::Maybe(_) if self.pick(2) == 0 => Value::Sum(0, Link::new(Value::Unit)),
            Shape::Maybe(inner) => Value::Sum(1, Link::new(self.value(inner, link))),
            Shape::List(inner) => self.chain(inner, link),
            Shape::Bin(inner) => {
                let mut tree = Value::Sum(0, Link::new(self.value(inner, link)));
                for _ in 0..self.pick(4) {
                    let other = match self.pick(2) {
                        0 => tree.clone(),
                        _ => Value::Sum(0, Link::new(self.value(inner, link))),
                    };
                    tree = Value::Sum(1, Link::new(Value::Tuple([tree, other].into())));
                }
                tree
            }
        }
    }

    fn chain(&mut self, element: &Shape, link: &mut dyn FnMut(&mut Self, usize) -> Value) -> Value {
        let empty = Value::Sum(0, Link::new(Value::Unit));
        (0..self.pick(4)).fold(empty, |list, _| {
            let cell = Value::Tuple([self.value(element, link), list].into());
            Value::Sum(1, Link::new(cell))
        })
    }

    fn elements(
        &mut self,
        inner: &Shape,
        count: usize,
        link: &mut dyn FnMut(&mut Self, usize) -> Value,
    ) -> Elements {
        let values: Vec<Value> = (0..count).map(|_| self.value(inner, link)).collect();
        // Links are scalars in nodes, and values of sums in data.
        let scalar = match values.first() {
            Some(Value::Scalar(value)) => Type::Scalar(value.scalar()),
            Some(_) => Type::Unit,
            None => match inner {
                Shape::Int => Type::INT,
                Shape::Double => DOUBLE,
                Shape::Link(member) => match link(self, *member) {
                    Value::Scalar(_) => Type::INT,
                    _ => Type::Unit,
                },
                _ => Type::Unit,
            },
        };
        match Value::from_elements(&scalar, values) {
            Value::Vector(elements) => elements,
            _ => Elements::Values(Arc::default()),
        }
    }

    /// Returns a program with three entries: the table of a datum, the datum of a root and tables, and
    /// the datum of the table of a datum.
    pub fn program(&self) -> Program {
        let mut program = Program {
            sums: self.sums.clone(),
            ..Program::default()
        };
        check(&self.sums, &self.members()).unwrap_or_else(|error| panic!("{error}"));
        let (data, tables) = (Type::Sum(SumId(0)), self.tables_type());
        let call = |program: &mut Program, builtin, arguments, ty: &Type| {
            let kind = ExpressionKind::Builtin { builtin, arguments };
            program.add(kind, ty.clone(), Place::new("test.nova", 1, 1))
        };
        let load = |program: &mut Program, variable: Variable| {
            let ty = program.variable(variable).ty.clone();
            program.add(ExpressionKind::Variable(variable), ty, Place::new("", 0, 0))
        };
        let checked = Builtin::Datum { checked: true };
        let x = program.add_variable("x", data.clone());
        let argument = load(&mut program, x);
        let body = call(
            &mut program,
            Builtin::Table { exact: true },
            vec![argument],
            &tables,
        );
        program.entries.push(entry("table", vec![x], body));
        let r = program.add_variable("r", Type::INT);
        let v = program.add_variable("v", tables.clone());
        let arguments = [r, v].map(|variable| load(&mut program, variable));
        let body = call(&mut program, checked, arguments.to_vec(), &data);
        program.entries.push(entry("datum", vec![r, v], body));
        let y = program.add_variable("y", data.clone());
        let zero = ExpressionKind::Literal(ScalarValue::I32(0));
        let zero = program.add(zero, Type::INT, Place::new("", 0, 0));
        let argument = load(&mut program, y);
        let inner = call(
            &mut program,
            Builtin::Table { exact: true },
            vec![argument],
            &tables,
        );
        let unchecked = Builtin::Datum { checked: false };
        let body = call(&mut program, unchecked, vec![zero, inner], &data);
        program.entries.push(entry("both", vec![y], body));
        verify::verify(&program).unwrap_or_else(|error| panic!("{error}"));
        program
    }
}

fn entry(name: &str, inputs: Vec<Variable>, body: nova_core::ir::ExpressionId) -> Entry {
    Entry {
        name: name.into(),
        inputs,
        body,
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
