//! Reads C values as components: arguments of entries, results of foreign functions, nodes of
//! arguments.
//!
//! An array of scalars is used where it lies. An array of anything else is taken apart into an array
//! per component, level by level. One loop counts and fills the elements of a level; the arrays of the
//! next level have room for the sum of these counts.

use crate::context::ctype::field_name;
use crate::context::expressions::{block_type, context, empty, int64, null};
use crate::context::function::FunctionEmitter;
use crate::ffi::parts::Part;
use crate::ffi::walk::{Step, extents_of};
use crate::scalar::{memory_type, variable_type};
use nova_c_ast::ast::{Binary, Block, Expression, Statement, Type};
use nova_core::{Scalar, SumId, Type as CoreType};
use nova_diag::deep;

/// Facts about the value that is read.
#[derive(Clone)]
pub struct Source {
    /// The name of the value in error messages.
    pub name: Expression,
    /// The prefix of the names of variables.
    pub hint: String,
    /// True if arrays of scalars must be copied, since they are freed before the components.
    pub copy: bool,
    /// True if the caller may have arrays on a device.
    pub on_device: bool,
    /// The type of the result's elements. The result must not overlap arrays that are used where they
    /// lie.
    pub result: Option<Type>,
    /// The sums of a group, inside of its nodes, each with the number that is added to its links.
    pub group: Vec<(SumId, Expression)>,
}

impl Source {
    /// Returns an argument of this name, used where it lies.
    pub fn argument(name: &str) -> Source {
        Source {
            name: Expression::text(name),
            hint: name.to_string(),
            copy: false,
            on_device: false,
            result: None,
            group: Vec::new(),
        }
    }

    fn sums(&self) -> Vec<SumId> {
        self.group.iter().map(|(id, _)| *id).collect()
    }
}

/// Returns a scalar read from memory.
pub fn loaded(value: Expression, scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::binary(Binary::NotEqual, value, Expression::literal("0")),
        Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::F32
        | Scalar::F64 => value,
    }
}

impl FunctionEmitter<'_, '_> {
    /// Reads the components of the C value `value`.
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

    /// Returns the link of recursive data that a caller passes.
    pub fn imported(&mut self, id: SumId, value: Expression, source: &Source) -> Expression {
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

    /// Returns the number of elements of a vector with these extents. Checks the extents.
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

    /// Checks the length and the pointer of an array in C.
    pub fn check_data(
        &mut self,
        element: &CoreType,
        data: &Expression,
        count: &Expression,
        source: &Source,
    ) {
        let mut arguments = vec![context(), source.name.clone(), count.clone()];
        let ty = self.unit.types.value(element, &source.sums());
        let check = match &ty {
            Some(ty) => {
                arguments.extend([data.clone(), Expression::SizeOf(ty.clone())]);
                "nova_check_array"
            }
            None => "nova_check_length",
        };
        self.push(Statement::call(check, arguments));
        if let Some(ty) = ty {
            self.lend(data.clone(), count.clone(), ty);
        }
    }

    /// On devices, lets kernels read an array of the caller.
    pub fn lend(&mut self, data: Expression, count: Expression, element: Type) {
        if self.unit.has_kernels {
            let arguments = vec![context(), data, count, Expression::SizeOf(element)];
            self.push(Statement::call("nova_lend", arguments));
        }
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

    /// Emits a `switch`, unless all cases are empty.
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

    /// Declares variables for the components of a payload that is absent: zeros and empty arrays.
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
}

/// Returns the zero of a scalar.
pub fn zero(scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::name("false"),
        Scalar::F32 => Expression::literal("0.0f"),
        Scalar::F64 => Expression::literal("0.0"),
        Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64 => Expression::literal("0"),
    }
}
