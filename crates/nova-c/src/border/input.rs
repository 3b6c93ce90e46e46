//! C values as components: arguments of entries, results of foreign functions, nodes of arguments.
//!
//! An array of scalars is used where it lies. An array of anything else is taken apart into an
//! array per component, level by level: one loop counts and fills what lies at a level, and the
//! next level's arrays have room for the sum of what it counted.

use super::{Part, block_type, int64, null, product};
use crate::ast::{Binary, Block, Expression, Name, Statement};
use crate::border::ctype::field_name;
use crate::command::context;
use crate::expression::empty;
use crate::function::FunctionEmitter;
use crate::scalar::{memory_type, variable_type};
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_diag::deep;

/// What is known of the value being read.
#[derive(Clone)]
pub struct Source {
    /// What error messages call it.
    pub name: Expression,
    /// What variables are named after.
    pub hint: String,
    /// Whether arrays of scalars must be copied: they are freed before the components are.
    pub copy: bool,
    /// Inside of the nodes of a group: for each of its sums the number that is added to a link.
    pub group: Vec<(SumId, Expression)>,
}

impl Source {
    /// An argument of this name, used where it lies.
    pub fn argument(name: &str) -> Source {
        Source {
            name: Expression::text(name),
            hint: name.to_string(),
            copy: false,
            group: Vec::new(),
        }
    }

    fn sums(&self) -> Vec<SumId> {
        self.group.iter().map(|(id, _)| *id).collect()
    }
}

/// A step from a C value to values inside of it.
#[derive(Clone)]
pub enum Step {
    /// All elements of an array that lies here.
    Array { data: Expression, count: Expression },
    /// All elements of the vector that the value is; of this rank, 1 for a `vector`.
    Elements(u32),
    /// A field.
    Field(Name),
    /// The payload with this tag, only of values that have it; `None` if it takes no memory.
    Payload(usize, Option<Name>),
}

/// Where the elements of one level are: steps from nothing.
pub type Walk = Vec<Step>;

/// A new array and its block.
struct NewArray {
    pointer: Name,
    block: Name,
}

impl NewArray {
    fn part(self) -> Part {
        Part::Array {
            pointer: Expression::Name(self.pointer),
            block: Expression::Name(self.block),
        }
    }

    fn place(&self, k: &Expression) -> Expression {
        Expression::Name(self.pointer.clone()).index(k.clone())
    }
}

/// The arrays of one level.
enum Leaf {
    Scalar(NewArray, Scalar),
    Tuple(Vec<(Name, Leaf)>),
    Sum {
        tags: NewArray,
        payloads: Vec<(Option<Name>, Leaf)>,
    },
    Vector {
        starts: NewArray,
        ends: NewArray,
        total: Name,
        element: CoreType,
    },
    Array {
        extents: Vec<NewArray>,
        starts: NewArray,
        total: Name,
        element: CoreType,
    },
    Link(NewArray, SumId),
    Nothing,
}

/// The extents of a vector of this rank, as fields of a value.
pub fn extents_of(value: &Expression, rank: u32) -> Vec<Expression> {
    if rank == 1 {
        return vec![value.clone().member("len")];
    }
    (0..rank)
        .map(|k| value.clone().member(format!("dim{k}")))
        .collect()
}

/// A scalar read from memory.
fn loaded(value: Expression, scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::binary(Binary::NotEqual, value, Expression::literal("0")),
        _ => value,
    }
}

impl FunctionEmitter<'_, '_> {
    /// The components of the C value `value`.
    pub fn read_value(
        &mut self,
        ty: &CoreType,
        value: Expression,
        source: &Source,
        parts: &mut Vec<Part>,
    ) {
        deep(|| match ty {
            CoreType::Unit | CoreType::Function(..) => {}
            CoreType::Scalar(scalar) => parts.push(Part::Scalar(loaded(value, *scalar))),
            CoreType::Tuple(elements) => {
                for (k, element) in elements.iter().enumerate() {
                    let field = value.clone().member(format!("e{k}"));
                    self.read_value(element, field, source, parts);
                }
            }
            CoreType::Vector(element) => self.read_vector(1, element, value, source, parts),
            CoreType::Array(rank, element) => {
                self.read_vector(*rank, element, value, source, parts)
            }
            CoreType::Sum(id) => match source.group.iter().find(|(member, _)| member == id) {
                Some((_, base)) => {
                    let link = Expression::binary(Binary::Add, base.clone(), value);
                    parts.push(Part::Scalar(link));
                }
                None if self.unit.types.sum(*id).is_recursive() => {
                    parts.push(Part::Scalar(self.imported(*id, value, source)));
                }
                None => self.read_sum(*id, value, source, parts),
            },
        })
    }

    /// The link that recursive data given by a caller becomes.
    fn imported(&mut self, id: SumId, value: Expression, source: &Source) -> Expression {
        let import = self.unit.import_function(id);
        let arguments = vec![context(), source.name.clone(), value.address()];
        Expression::call(import, arguments)
    }

    fn read_vector(
        &mut self,
        rank: u32,
        element: &CoreType,
        value: Expression,
        source: &Source,
        parts: &mut Vec<Part>,
    ) {
        let extents = extents_of(&value, rank);
        let count = self.checked_count(&extents, source);
        let data = value.member("data");
        self.check_data(element, &data, &count, source);
        parts.extend(extents.into_iter().map(Part::Scalar));
        let walk = vec![Step::Array {
            data,
            count: count.clone(),
        }];
        self.read_lifted(element, &walk, count, source, parts);
    }

    /// The number of elements of a vector with these extents, which are checked.
    pub fn checked_count(&mut self, extents: &[Expression], source: &Source) -> Expression {
        if let [length] = extents {
            return length.clone();
        }
        let one = Expression::literal("1");
        let count = self.variable(int64(), &format!("{}_count", source.hint), one);
        for extent in extents {
            let arguments = vec![
                context(),
                source.name.clone(),
                count.clone(),
                extent.clone(),
            ];
            let product = Expression::call("nova_times_extent", arguments);
            self.push(Statement::assign(count.clone(), product));
        }
        count
    }

    /// Checks length and pointer of an array in C.
    pub fn check_data(
        &mut self,
        element: &CoreType,
        data: &Expression,
        count: &Expression,
        source: &Source,
    ) {
        let mut arguments = vec![context(), source.name.clone(), count.clone()];
        let check = match self.unit.types.value(element, &source.sums()) {
            Some(ty) => {
                arguments.extend([data.clone(), Expression::SizeOf(ty)]);
                "nova_check_array"
            }
            None => "nova_check_length",
        };
        self.push(Statement::call(check, arguments));
    }

    fn read_sum(&mut self, id: SumId, value: Expression, source: &Source, parts: &mut Vec<Part>) {
        let sum = self.unit.types.sum(id);
        let tag = value.clone().member("tag");
        self.check_tag(&tag, sum.constructors.len(), source);
        parts.push(Part::Scalar(tag.clone()));
        let mut cases = Vec::new();
        for constructor in &sum.constructors {
            let variables = self.zero_parts(&constructor.payload, source);
            parts.extend(variables.iter().cloned());
            let payload = value
                .clone()
                .member("u")
                .member(field_name(&constructor.name));
            let (statements, ()) = self.apart(|emitter| {
                let mut read = Vec::new();
                emitter.read_value(&constructor.payload, payload, source, &mut read);
                let targets = variables.into_iter().flat_map(Part::expressions);
                let values = read.into_iter().flat_map(Part::expressions);
                for (target, value) in targets.zip(values) {
                    emitter.push(Statement::assign(target, value));
                }
            });
            cases.push(Block(statements));
        }
        self.push_switch(tag, cases);
    }

    /// A `switch`, unless all cases are empty.
    pub fn push_switch(&mut self, value: Expression, cases: Vec<Block>) {
        if cases.iter().any(|case| !case.0.is_empty()) {
            self.push(Statement::Switch { value, cases });
        }
    }

    pub fn check_tag(&mut self, tag: &Expression, count: usize, source: &Source) {
        let count = Expression::literal(count.to_string());
        let arguments = vec![context(), source.name.clone(), tag.clone(), count];
        self.push(Statement::call("nova_check_tag", arguments));
    }

    /// Variables for the components of a payload that is not there: zeros and empty arrays.
    fn zero_parts(&mut self, ty: &CoreType, source: &Source) -> Vec<Part> {
        let mut parts = Vec::new();
        for component in self.components(ty) {
            let name = format!("{}_{}", source.hint, component.name);
            if component.shape.is_empty() {
                let zero = zero(component.scalar);
                let ty = variable_type(component.scalar);
                parts.push(Part::Scalar(self.variable(ty, &name, zero)));
            } else {
                let ty = memory_type(component.scalar).pointer();
                let pointer = self.variable(ty, &name, empty(component.scalar));
                let block = self.variable(block_type(), &format!("{name}_block"), null());
                parts.push(Part::Array { pointer, block });
            }
        }
        parts
    }

    /// The components of all values of a walk, `total` in number, lifted.
    pub fn read_lifted(
        &mut self,
        ty: &CoreType,
        walk: &[Step],
        total: Expression,
        source: &Source,
        parts: &mut Vec<Part>,
    ) {
        if let (CoreType::Scalar(scalar), [Step::Array { data, .. }]) = (ty, walk) {
            let part = self.scalar_array(*scalar, data.clone(), total, source);
            parts.push(part);
            return;
        }
        let leaf = self.make_leaf(ty, &total, &source.hint);
        if !matches!(leaf, Leaf::Nothing) {
            self.walk(walk, &mut |emitter, value, k| {
                emitter.fill(&leaf, value, k, source)
            });
        }
        self.finish_leaf(leaf, walk, source, parts);
    }

    /// An array of scalars, where it lies or copied.
    fn scalar_array(
        &mut self,
        scalar: Scalar,
        data: Expression,
        count: Expression,
        source: &Source,
    ) -> Part {
        if source.copy {
            let copy = self.array(scalar, &format!("{}_data", source.hint), &count);
            let size = Expression::SizeOf(memory_type(scalar));
            let arguments = vec![Expression::Name(copy.pointer.clone()), data, count, size];
            self.push(Statement::call("nova_copy", arguments));
            return copy.part();
        }
        let data = Expression::pure("nova_elements", vec![data]);
        Part::Array {
            pointer: data.cast(memory_type(scalar).pointer()),
            block: null(),
        }
    }

    /// A new array.
    fn array(&mut self, scalar: Scalar, hint: &str, count: &Expression) -> NewArray {
        let name = self.fresh(hint);
        let block = self.fresh(&format!("{name}_block"));
        self.push(Statement::Declare {
            ty: block_type(),
            name: block.clone(),
            value: None,
        });
        let arguments = vec![
            context(),
            Expression::Name(block.clone()).address(),
            count.clone(),
            Expression::SizeOf(memory_type(scalar)),
            null(),
        ];
        let ty = memory_type(scalar).pointer();
        let data = Expression::call("nova_allocate", arguments).cast(ty.clone());
        self.push(Statement::declare(ty, name.clone(), data));
        NewArray {
            pointer: name,
            block,
        }
    }

    /// Makes the arrays of one level.
    fn make_leaf(&mut self, ty: &CoreType, count: &Expression, hint: &str) -> Leaf {
        let named = |suffix: &str| format!("{hint}_{suffix}");
        deep(|| match ty {
            CoreType::Unit | CoreType::Function(..) => Leaf::Nothing,
            CoreType::Scalar(scalar) => Leaf::Scalar(self.array(*scalar, hint, count), *scalar),
            CoreType::Tuple(_) if self.unit.types.is_nothing(ty) => Leaf::Nothing,
            CoreType::Tuple(elements) => {
                let elements = elements.iter().enumerate().map(|(k, element)| {
                    let field = format!("e{k}");
                    let leaf = self.make_leaf(element, count, &named(&field));
                    (field.into(), leaf)
                });
                Leaf::Tuple(elements.collect())
            }
            CoreType::Vector(element) => Leaf::Vector {
                starts: self.array(Scalar::I64, &named("starts"), count),
                ends: self.array(Scalar::I64, &named("ends"), count),
                total: self.total(&named("total")),
                element: (**element).clone(),
            },
            CoreType::Array(rank, element) => Leaf::Array {
                extents: (0..*rank)
                    .map(|k| self.array(Scalar::I64, &named(&format!("dim{k}")), count))
                    .collect(),
                starts: self.array(Scalar::I64, &named("starts"), count),
                total: self.total(&named("total")),
                element: (**element).clone(),
            },
            CoreType::Sum(id) => {
                let sum = self.unit.types.sum(*id);
                if sum.is_recursive() {
                    return Leaf::Link(self.array(Scalar::I64, &named("link"), count), *id);
                }
                let tags = self.array(Scalar::I32, &named("tag"), count);
                let payloads = sum.constructors.iter().map(|constructor| {
                    let nothing = self.unit.types.is_nothing(&constructor.payload);
                    let field = (!nothing).then(|| field_name(&constructor.name));
                    let name = named(&constructor.name);
                    (field, self.make_leaf(&constructor.payload, count, &name))
                });
                let payloads = payloads.collect();
                Leaf::Sum { tags, payloads }
            }
        })
    }

    fn total(&mut self, hint: &str) -> Name {
        let name = self.fresh(hint);
        let zero = Expression::literal("0");
        self.push(Statement::declare(int64(), name.clone(), zero));
        name
    }

    /// Fills place `k` of a level's arrays from a value.
    fn fill(&mut self, leaf: &Leaf, value: Expression, k: &Expression, source: &Source) {
        let place = |array: &NewArray| array.place(k);
        deep(|| match leaf {
            Leaf::Nothing => {}
            Leaf::Scalar(array, scalar) => {
                self.push(Statement::assign(place(array), loaded(value, *scalar)));
            }
            Leaf::Tuple(elements) => {
                for (field, leaf) in elements {
                    self.fill(leaf, value.clone().member(field.clone()), k, source);
                }
            }
            Leaf::Link(array, id) => {
                let base = source.group.iter().find(|(member, _)| member == id);
                let link = match base {
                    Some((_, base)) => Expression::binary(Binary::Add, base.clone(), value),
                    None => self.imported(*id, value, source),
                };
                self.push(Statement::assign(place(array), link));
            }
            Leaf::Sum { tags, payloads } => {
                let tag = value.clone().member("tag");
                self.check_tag(&tag, payloads.len(), source);
                self.push(Statement::assign(place(tags), tag.clone()));
                let mut cases = Vec::new();
                for (field, leaf) in payloads {
                    self.clear(leaf, k);
                    let (statements, ()) = self.apart(|emitter| {
                        if let Some(field) = field {
                            let payload = value.clone().member("u").member(field.clone());
                            emitter.fill(leaf, payload, k, source);
                        }
                    });
                    cases.push(Block(statements));
                }
                self.push_switch(tag, cases);
            }
            Leaf::Vector {
                starts,
                ends,
                total,
                element,
            } => {
                let count = value.clone().member("len");
                self.check_data(element, &value.member("data"), &count, source);
                self.push(Statement::assign(
                    place(starts),
                    Expression::Name(total.clone()),
                ));
                self.add_total(total, count, source);
                self.push(Statement::assign(
                    place(ends),
                    Expression::Name(total.clone()),
                ));
            }
            Leaf::Array {
                extents,
                starts,
                total,
                element,
            } => {
                let given = extents_of(&value, extents.len() as u32);
                let count = self.checked_count(&given, source);
                self.check_data(element, &value.member("data"), &count, source);
                for (extent, given) in extents.iter().zip(given) {
                    self.push(Statement::assign(place(extent), given));
                }
                self.push(Statement::assign(
                    place(starts),
                    Expression::Name(total.clone()),
                ));
                self.add_total(total, count, source);
            }
        })
    }

    fn add_total(&mut self, total: &Name, count: Expression, source: &Source) {
        let total = Expression::Name(total.clone());
        let arguments = vec![context(), source.name.clone(), total.clone(), count];
        let sum = Expression::call("nova_add_length", arguments);
        self.push(Statement::assign(total, sum));
    }

    /// Fills place `k` of a level's arrays for a payload that is not there.
    fn clear(&mut self, leaf: &Leaf, k: &Expression) {
        let mut clear = |array: &NewArray, scalar: Scalar| {
            self.push(Statement::assign(array.place(k), zero(scalar)));
        };
        match leaf {
            Leaf::Nothing => {}
            Leaf::Scalar(array, scalar) => clear(array, *scalar),
            Leaf::Link(array, _) => clear(array, Scalar::I64),
            Leaf::Vector { starts, ends, .. } => {
                clear(starts, Scalar::I64);
                clear(ends, Scalar::I64);
            }
            Leaf::Array {
                extents, starts, ..
            } => {
                extents.iter().for_each(|e| clear(e, Scalar::I64));
                clear(starts, Scalar::I64);
            }
            Leaf::Tuple(elements) => {
                elements
                    .iter()
                    .for_each(|(_, leaf)| deep(|| self.clear(leaf, k)));
            }
            Leaf::Sum { tags, payloads } => {
                clear(tags, Scalar::I32);
                payloads
                    .iter()
                    .for_each(|(_, leaf)| deep(|| self.clear(leaf, k)));
            }
        }
    }

    /// The components of a level, in order, with those of the levels below it.
    fn finish_leaf(&mut self, leaf: Leaf, walk: &[Step], source: &Source, parts: &mut Vec<Part>) {
        let longer = |steps: &[Step]| [walk, steps].concat();
        deep(|| match leaf {
            Leaf::Nothing => {}
            Leaf::Scalar(array, _) | Leaf::Link(array, _) => parts.push(array.part()),
            Leaf::Tuple(elements) => {
                for (field, leaf) in elements {
                    self.finish_leaf(leaf, &longer(&[Step::Field(field)]), source, parts);
                }
            }
            Leaf::Sum { tags, payloads } => {
                parts.push(tags.part());
                for (tag, (field, leaf)) in payloads.into_iter().enumerate() {
                    let walk = longer(&[Step::Payload(tag, field)]);
                    self.finish_leaf(leaf, &walk, source, parts);
                }
            }
            Leaf::Vector {
                starts,
                ends,
                total,
                element,
            } => {
                parts.extend([starts, ends].map(NewArray::part));
                let total = Expression::Name(total);
                parts.push(Part::Scalar(total.clone()));
                self.read_lifted(
                    &element,
                    &longer(&[Step::Elements(1)]),
                    total,
                    source,
                    parts,
                );
            }
            Leaf::Array {
                extents,
                starts,
                total,
                element,
            } => {
                let rank = extents.len() as u32;
                parts.extend(extents.into_iter().map(NewArray::part));
                parts.push(starts.part());
                let total = Expression::Name(total);
                parts.push(Part::Scalar(total.clone()));
                let walk = longer(&[Step::Elements(rank)]);
                self.read_lifted(&element, &walk, total, source, parts);
            }
        })
    }

    /// Loops over the values of a walk; `body` gets each and its number.
    pub fn walk(
        &mut self,
        walk: &[Step],
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let single = match walk {
            [Step::Array { .. }, rest @ ..] => {
                rest.iter().all(|step| matches!(step, Step::Field(_)))
            }
            _ => false,
        };
        let nothing = Expression::literal("0");
        if single {
            self.steps(walk, nothing, None, body);
        } else {
            let k = self.variable(int64(), "k", nothing.clone());
            self.steps(walk, nothing, Some(&k), body);
        }
    }

    /// Counts in `k`, if that is given, else numbers are those of the only loop.
    fn steps(
        &mut self,
        walk: &[Step],
        value: Expression,
        k: Option<&Expression>,
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let Some((step, rest)) = walk.split_first() else {
            if let Some(k) = k {
                body(self, value, k);
                let one = Expression::literal("1");
                let next = Expression::binary(Binary::Add, k.clone(), one);
                self.push(Statement::assign(k.clone(), next));
            }
            return;
        };
        match step {
            Step::Field(field) => self.steps(rest, value.member(field.clone()), k, body),
            Step::Payload(tag, field) => {
                let tag = Expression::literal(tag.to_string());
                let has = Expression::binary(Binary::Equal, value.clone().member("tag"), tag);
                let payload = match field {
                    Some(field) => value.member("u").member(field.clone()),
                    None => value,
                };
                let (inside, ()) = self.apart(|emitter| emitter.steps(rest, payload, k, body));
                self.push(Statement::when(has, inside));
            }
            Step::Array { data, count } => {
                self.each(data.clone(), count.clone(), rest, k, body);
            }
            Step::Elements(rank) => {
                let count = product(extents_of(&value, *rank));
                self.each(value.member("data"), count, rest, k, body);
            }
        }
    }

    fn each(
        &mut self,
        data: Expression,
        count: Expression,
        rest: &[Step],
        k: Option<&Expression>,
        body: &mut dyn FnMut(&mut Self, Expression, &Expression),
    ) {
        let index = self.fresh("i");
        let i = Expression::Name(index.clone());
        let element = data.index(i.clone());
        let (inside, ()) = self.apart(|emitter| {
            if k.is_none() && rest.iter().all(|step| matches!(step, Step::Field(_))) {
                let fields = rest.iter().fold(element, |value, step| match step {
                    Step::Field(field) => value.member(field.clone()),
                    Step::Array { .. } | Step::Elements(_) | Step::Payload(..) => value,
                });
                body(emitter, fields, &i);
            } else {
                emitter.steps(rest, element, k, body);
            }
        });
        self.push(Statement::For {
            ty: int64(),
            variable: index,
            count,
            body: inside.into(),
        });
    }
}

/// The zero of a scalar.
pub fn zero(scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::name("false"),
        Scalar::F32 => Expression::literal("0.0f"),
        Scalar::F64 => Expression::literal("0.0"),
        _ => Expression::literal("0"),
    }
}
