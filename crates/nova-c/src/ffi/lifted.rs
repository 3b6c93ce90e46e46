//! Takes arrays of C structures apart into an array per component, level by level. One loop counts and
//! fills the elements of a level; the arrays of the next level have room for the sum of these counts.

use crate::context::ctype::field_name;
use crate::context::expressions::{block_type, context, int64, null};
use crate::context::function::FunctionEmitter;
use crate::ffi::input::{Source, loaded, zero};
use crate::ffi::parts::Part;
use crate::ffi::walk::{Step, extents_of};
use crate::scalar::memory_type;
use nova_c_ast::ast::{Binary, Block, Expression, Name, Statement, Type};
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_diag::deep;

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

impl FunctionEmitter<'_, '_> {
    /// Reads the lifted components of all values of a walk, `total` in number.
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

    /// Returns an array of scalars, where it lies or as a copy.
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
        self.keep_apart(&data, &count, Some(memory_type(scalar)), source);
        let data = Expression::pure("nova_elements", vec![data]);
        Part::Array {
            pointer: data.cast(memory_type(scalar).pointer()),
            block: null(),
        }
    }

    /// Makes the result avoid an argument that is used where it lies.
    pub fn keep_apart(
        &mut self,
        data: &Expression,
        count: &Expression,
        element: Option<Type>,
        source: &Source,
    ) {
        if let (Some(result), Some(element)) = (&source.result, element) {
            let arguments = vec![
                context(),
                Expression::SizeOf(result.clone()),
                data.clone(),
                count.clone(),
                Expression::SizeOf(element),
            ];
            self.push(Statement::call("nova_keep_apart", arguments));
        }
    }

    /// Allocates a new array.
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

    /// Allocates the arrays of one level.
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

    /// Fills element `k` of a level's arrays from a value.
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
            Leaf::Sum { tags, payloads } => self.fill_sum(tags, payloads, value, k, source),
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

    fn fill_sum(
        &mut self,
        tags: &NewArray,
        payloads: &[(Option<Name>, Leaf)],
        value: Expression,
        k: &Expression,
        source: &Source,
    ) {
        let tag = value.clone().member("tag");
        self.check_tag(&tag, payloads.len(), source);
        self.push(Statement::assign(tags.place(k), tag.clone()));
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

    fn add_total(&mut self, total: &Name, count: Expression, source: &Source) {
        let total = Expression::Name(total.clone());
        let arguments = vec![context(), source.name.clone(), total.clone(), count];
        let sum = Expression::call("nova_add_length", arguments);
        self.push(Statement::assign(total, sum));
    }

    /// Fills element `k` of a level's arrays for a payload that is absent.
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

    /// Reads the components of a level, in order, and of the levels below it.
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
}
