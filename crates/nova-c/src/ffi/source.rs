//! The source of a value that is read, and the checks of what a caller passes.

use crate::context::writer::Writer;
use crate::syntax::{context, int64, literal};
use nova_c_ast::ast::{Binary, Block, Expression, Statement, Type};
use nova_core::{Scalar, SumId, Type as CoreType};

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
        Scalar::Bool => Expression::binary(Binary::NotEqual, value, literal(0)),
        _number => value,
    }
}

/// Returns the link of recursive data that a caller passes.
pub(crate) fn imported(
    code: &mut Writer,
    id: SumId,
    value: Expression,
    source: &Source,
) -> Expression {
    let import = code.unit.import_function(id);
    let arguments = vec![context(), source.name.clone(), value.address()];
    Expression::call(import, arguments)
}

/// Returns the number of elements of a vector with these extents. Checks the extents.
pub(crate) fn checked_count(
    code: &mut Writer,
    extents: &[Expression],
    source: &Source,
) -> Expression {
    if let [length] = extents {
        return length.clone();
    }
    let one = literal(1);
    let count = code.variable(int64(), &format!("{}_count", source.hint), one);
    for extent in extents {
        let arguments = vec![
            context(),
            source.name.clone(),
            count.clone(),
            extent.clone(),
        ];
        let product = Expression::call("nova_times_extent", arguments);
        code.push(Statement::assign(count.clone(), product));
    }
    count
}

/// Checks the length and the pointer of an array in C.
pub(crate) fn check_data(
    code: &mut Writer,
    element: &CoreType,
    data: &Expression,
    count: &Expression,
    source: &Source,
) {
    let mut arguments = vec![context(), source.name.clone(), count.clone()];
    let ty = code.unit.types.value(element, &source.sums());
    let check = match &ty {
        Some(ty) => {
            arguments.extend([data.clone(), Expression::SizeOf(ty.clone())]);
            "nova_check_array"
        }
        None => "nova_check_length",
    };
    code.push(Statement::call(check, arguments));
    if let Some(ty) = ty {
        lend(code, data.clone(), count.clone(), ty);
    }
}

/// On devices, lets kernels read an array of the caller.
pub(crate) fn lend(code: &mut Writer, data: Expression, count: Expression, element: Type) {
    if code.unit.has_kernels {
        let arguments = vec![context(), data, count, Expression::SizeOf(element)];
        code.push(Statement::call("nova_lend", arguments));
    }
}

/// Emits a `switch`, unless all cases are empty.
pub(crate) fn push_switch(code: &mut Writer, value: Expression, cases: Vec<Block>) {
    if cases.iter().any(|case| !case.0.is_empty()) {
        code.push(Statement::Switch { value, cases });
    }
}

/// Checks the tag of a sum with so many constructors.
pub(crate) fn check_tag(code: &mut Writer, tag: &Expression, count: usize, source: &Source) {
    let count = literal(count);
    let arguments = vec![context(), source.name.clone(), tag.clone(), count];
    code.push(Statement::call("nova_check_tag", arguments));
}
