//! The outermost level of a parameter or result: a vector is spread over several C parameters, other
//! values are passed by value.

use crate::context::ctype::CTypes;
use crate::context::writer::Writer;
use crate::ffi::input::read_value;
use crate::ffi::lifted::{keep_apart, read_lifted};
use crate::ffi::nested::write_nested;
use crate::ffi::output::{Parts, Purpose, Sink, fill_elements, new_array, write_value};
use crate::ffi::parts::Part;
use crate::ffi::source::{Source, check_data, checked_count, lend};
use crate::ffi::walk::Step;
use crate::scalar::memory_type;
use crate::syntax::{context, int64, literal, null, offset, parameter, product};
use nova_c_ast::ast::{Binary, Expression, Name, Parameter, Statement, Type};
use nova_core::{Scalar, Type as CoreType};
use nova_flat::representation::{components, input_fields};

/// The way in which a value is spread over parameters.
#[derive(Clone, Debug)]
pub enum Form {
    /// No parameter.
    Nothing,
    /// One parameter of this type.
    Value(Type),
    /// A vector of vectors … of `element`: a length, the offsets of each level but the last, and data.
    Nested {
        levels: usize,
        element: CoreType,
        data: Option<Type>,
    },
    /// A `vector#rank`: extents and data.
    Array {
        rank: u32,
        element: CoreType,
        data: Option<Type>,
    },
}

impl Form {
    /// Returns the form of a type.
    pub fn of(types: &mut CTypes, ty: &CoreType) -> Form {
        match ty {
            CoreType::Scalar(Scalar::Bool) => Form::Value(Type::name("int")),
            CoreType::Vector(element) => {
                let (mut levels, mut element) = (1, &**element);
                while let CoreType::Vector(inner) = element {
                    levels += 1;
                    element = inner;
                }
                Form::Nested {
                    levels,
                    data: types.value(element, &[]),
                    element: element.clone(),
                }
            }
            CoreType::Array(rank, element) => Form::Array {
                rank: *rank,
                data: types.value(element, &[]),
                element: (**element).clone(),
            },
            CoreType::Scalar(_)
            | CoreType::Unit
            | CoreType::Tuple(_)
            | CoreType::Function(..)
            | CoreType::Sum(_) => types.value(ty, &[]).map_or(Form::Nothing, Form::Value),
        }
    }

    /// Returns the parameters of an argument called `name`. Sizes have names such as `name_len`.
    pub fn parameters(&self, name: &str) -> Vec<Parameter> {
        let mut list: Vec<Parameter> = self
            .sizes()
            .iter()
            .map(|suffix| parameter(int64(), format!("{name}_{suffix}")))
            .collect();
        match self {
            Form::Nothing => {}
            Form::Value(ty) => list.push(parameter(ty.clone(), name.to_string())),
            Form::Nested { levels, data, .. } => {
                for level in 1..*levels {
                    let ty = int64().constant().pointer();
                    list.push(parameter(ty, format!("{name}_seg{level}")));
                }
                list.extend(
                    data.iter()
                        .map(|ty| parameter(ty.clone().constant().pointer(), name.to_string())),
                );
            }
            Form::Array { data, .. } => list.extend(
                data.iter()
                    .map(|ty| parameter(ty.clone().constant().pointer(), name.to_string())),
            ),
        }
        list
    }

    /// Returns the parameters of a result.
    pub fn results(&self, name: &str) -> Vec<Parameter> {
        self.parameters(name)
            .into_iter()
            .map(|Parameter { ty, name }| {
                let ty = match ty {
                    Type::Pointer(inner) => match &*inner {
                        Type::Const(element) => (**element).clone().pointer(),
                        Type::Name(_) | Type::Struct(_) | Type::Pointer(_) | Type::Array(..) => {
                            Type::Pointer(inner)
                        }
                    },
                    other
                    @ (Type::Name(_) | Type::Struct(_) | Type::Const(_) | Type::Array(..)) => other,
                };
                parameter(ty.pointer(), name)
            })
            .collect()
    }

    /// Returns the suffixes of the sizes.
    fn sizes(&self) -> Vec<String> {
        match self {
            Form::Nothing | Form::Value(_) => Vec::new(),
            Form::Nested { .. } => vec!["len".into()],
            Form::Array { rank, .. } => (0..*rank).map(|k| format!("dim{k}")).collect(),
        }
    }
}

/// The components of an argument given by the values of its parameters.
pub(crate) fn read_top(
    code: &mut Writer,
    ty: &CoreType,
    form: &Form,
    values: &[Expression],
    source: &Source,
    parts: &mut Vec<Part>,
) {
    match (form, values) {
        (Form::Value(_), [value]) => read_value(code, ty, value.clone(), source, parts),
        (
            Form::Nested {
                levels, element, ..
            },
            [length, rest @ ..],
        ) => {
            parts.push(Part::Scalar(length.clone()));
            let (offsets, data) = rest.split_at(levels - 1);
            let mut count = length.clone();
            for (level, offsets) in offsets.iter().enumerate() {
                count = read_offsets(code, level + 1, offsets, count, source, parts);
            }
            read_data(code, ty, element, data, count, source, parts);
        }
        (Form::Array { rank, element, .. }, values) => {
            let (extents, data) = values.split_at((*rank as usize).min(values.len()));
            let count = checked_count(code, extents, source);
            parts.extend(extents.iter().cloned().map(Part::Scalar));
            read_data(code, ty, element, data, count, source, parts);
        }
        (Form::Nothing | Form::Value(_) | Form::Nested { .. }, _) => {}
    }
}

/// Reads the elements of an argument of type `ty`: fields of structures where they lie, others
/// lifted.
fn read_data(
    code: &mut Writer,
    ty: &CoreType,
    element: &CoreType,
    data: &[Expression],
    count: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) {
    let data = data.first().cloned().unwrap_or_else(null);
    check_data(code, element, &data, &count, source);
    let sums = &code.program().sums;
    let fields: Vec<_> = components(ty, sums)
        .into_iter()
        .zip(input_fields(ty, sums))
        .filter_map(|(component, field)| Some((component.scalar, field?)))
        .collect();
    if let (Some(c_type), Some((scalar, first))) =
        (code.unit.types.value(element, &[]), fields.first())
    {
        let bytes = first.stride * usize::from(scalar.info().bytes);
        check_size(code, &c_type, bytes);
        keep_apart(code, &data, &count, Some(c_type), source);
        let data = Expression::pure("nova_elements", vec![data]);
        parts.extend(fields.into_iter().map(|(scalar, field)| {
            let pointer = data.clone().cast(memory_type(scalar).pointer());
            Part::Array {
                pointer: offset(pointer, field.offset),
                block: null(),
            }
        }));
        return;
    }
    let walk = [Step::Array {
        data,
        count: count.clone(),
    }];
    read_lifted(code, element, &walk, count, source, parts);
}

/// Asserts the size of a structure whose fields are accessed by their distances.
pub(crate) fn check_size(code: &mut Writer, structure: &Type, bytes: usize) {
    if let Type::Name(name) = structure {
        let bytes = literal(bytes);
        let arguments = vec![Expression::Name(name.clone()), bytes];
        code.push(Statement::call("NOVA_CHECK_SIZE", arguments));
    }
}

/// Checks a level of offsets. Returns the last offset.
pub(crate) fn checked_offsets(
    code: &mut Writer,
    level: usize,
    offsets: Expression,
    count: Expression,
    source: &Source,
) -> Expression {
    let name = offsets_name(source, level);
    let mut arguments = vec![context(), Expression::text(&name), count, offsets];
    let check = match source.on_device {
        true => {
            arguments.insert(1, code.unit.offsets_kernel());
            "nova_check_offsets"
        }
        false => "nova_check_segments",
    };
    let total = Expression::call(check, arguments);
    code.variable(int64(), &format!("{name}_total"), total)
}

/// Reads one level of offsets, of which starts and ends are views. Returns the size of the level
/// below.
fn read_offsets(
    code: &mut Writer,
    level: usize,
    offsets: &Expression,
    count: Expression,
    source: &Source,
    parts: &mut Vec<Part>,
) -> Expression {
    let total = checked_offsets(code, level, offsets.clone(), count.clone(), source);
    let name = offsets_name(source, level);
    let last = Expression::binary(Binary::Add, count.clone(), literal(1));
    lend(code, offsets.clone(), last.clone(), int64());
    keep_apart(code, offsets, &last, Some(int64()), source);
    offset_parts(code, &name, offsets, null(), &total, parts);
    total
}

/// Adds the parts of a level of offsets: the starts and the ends of its rows, and the number of elements
/// below them.
pub(crate) fn offset_parts(
    code: &mut Writer,
    name: &str,
    offsets: &Expression,
    block: Expression,
    total: &Expression,
    parts: &mut Vec<Part>,
) {
    let pointer = int64().pointer();
    let elements = Expression::pure("nova_elements", vec![offsets.clone()]);
    let starts = code.variable(pointer.clone(), name, elements.cast(pointer));
    let ends = Expression::binary(Binary::Add, starts.clone(), literal(1));
    for pointer in [starts, ends] {
        let block = block.clone();
        parts.push(Part::Array { pointer, block });
    }
    parts.push(Part::Scalar(total.clone()));
}

/// Returns a value for a parameter that is not spread.
pub(crate) fn write_single(
    code: &mut Writer,
    ty: &CoreType,
    c_type: &Type,
    parts: &mut Parts,
    purpose: Purpose,
    hint: &str,
) -> Expression {
    if let (Some(_), Some(Part::Scalar(value))) = (ty.as_scalar(), parts.clone().next()) {
        parts.next();
        return value.clone();
    }
    let value = code.unset(c_type.clone(), hint);
    // Absent members of a union are zeros.
    let clear = vec![
        value.clone().address(),
        literal(0),
        Expression::SizeOf(c_type.clone()),
    ];
    code.push(Statement::call("memset", clear));
    let sink = Sink {
        purpose,
        group: Vec::new(),
    };
    write_value(code, ty, value.clone(), None, parts, &sink);
    value
}

/// Returns the data of a vector or array of `count` elements, without offsets.
pub(crate) fn write_flat(
    code: &mut Writer,
    element: &CoreType,
    data_type: &Type,
    count: Expression,
    parts: &mut Parts,
    buffer: Option<Expression>,
    purpose: Purpose,
) -> Expression {
    let pointer_type = data_type.clone().pointer();
    if let (Some(_), Some(Part::Array { pointer, block })) =
        (element.as_scalar(), parts.clone().next())
    {
        parts.next();
        let Some(buffer) = buffer else {
            return pointer.clone();
        };
        let size = Expression::SizeOf(data_type.clone());
        let arguments = vec![
            context(),
            buffer,
            pointer.clone(),
            block.clone(),
            count,
            size,
        ];
        return Expression::call("nova_put", arguments).cast(pointer_type);
    }
    let sink = Sink {
        purpose,
        group: Vec::new(),
    };
    let new = new_array(data_type, count.clone(), purpose);
    let Some(buffer) = buffer else {
        let data = code.variable(pointer_type, "data", new);
        fill_elements(code, element, data.clone(), None, count, parts, &sink);
        return data;
    };
    // Elements whose construction may fail do not go into the caller's buffer at once.
    let direct = !code.unit.types.allocates(element);
    let empty = Expression::binary(Binary::Equal, buffer.clone(), null());
    let other = match direct {
        true => buffer.clone(),
        false => new_array(data_type, count.clone(), Purpose::Lend),
    };
    let place = Expression::conditional(empty, new, other);
    let data = code.variable(pointer_type.clone(), "data", place);
    fill_elements(
        code,
        element,
        data.clone(),
        None,
        count.clone(),
        parts,
        &sink,
    );
    if direct {
        return data;
    }
    let size = Expression::SizeOf(data_type.clone());
    let arguments = vec![buffer, data, count, size];
    Expression::call("nova_put_structures", arguments).cast(pointer_type)
}

/// Returns a foreign function's arguments for a value with these components.
pub(crate) fn lend_top(
    code: &mut Writer,
    ty: &CoreType,
    form: &Form,
    parts: &mut Parts,
    hint: &str,
) -> Vec<Expression> {
    let purpose = Purpose::Lend;
    match form {
        Form::Nothing => Vec::new(),
        Form::Value(c_type) => vec![write_single(code, ty, c_type, parts, purpose, hint)],
        Form::Nested {
            levels,
            element,
            data,
        } => {
            let length: Vec<Expression> = parts
                .clone()
                .next()
                .into_iter()
                .cloned()
                .flat_map(Part::expressions)
                .collect();
            if *levels > 1 {
                let rest = write_nested(code, *levels, element, data.as_ref(), parts, purpose);
                return [length, rest].concat();
            }
            parts.next();
            lend_flat(code, element, data.as_ref(), length, parts)
        }
        Form::Array {
            rank,
            element,
            data,
        } => {
            let extents = parts.by_ref().take(*rank as usize).cloned();
            let extents = extents.flat_map(Part::expressions).collect();
            lend_flat(code, element, data.as_ref(), extents, parts)
        }
    }
}

fn lend_flat(
    code: &mut Writer,
    element: &CoreType,
    data: Option<&Type>,
    mut extents: Vec<Expression>,
    parts: &mut Parts,
) -> Vec<Expression> {
    if let Some(data) = data {
        let count = product(extents.clone());
        let value = write_flat(code, element, data, count, parts, None, Purpose::Lend);
        extents.push(value);
    }
    extents
}

/// Returns the name of a level of offsets.
fn offsets_name(source: &Source, level: usize) -> String {
    format!("{}_seg{level}", source.hint)
}

/// Returns the name of a parameter as an expression.
pub fn read(parameter: &Parameter) -> Expression {
    Expression::Name(Name::clone(&parameter.name))
}
