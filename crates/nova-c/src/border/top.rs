//! What stands at the top of a parameter or result: vectors spread over several C parameters, other
//! values by value.

use super::input::{Source, Step};
use super::output::{Parts, Purpose, Sink};
use super::{Part, int64, null, product};
use crate::ast::{Binary, Block, Expression, Name, Parameter, Statement, Type};
use crate::border::ctype::CTypes;
use crate::command::context;
use crate::function::FunctionEmitter;
use nova_core::{Scalar, Type as CoreType};

/// How a value is spread over parameters.
#[derive(Clone, Debug)]
pub enum Form {
    /// There is nothing to pass.
    Nothing,
    /// One parameter of this type.
    Value(Type),
    /// A vector of vectors … of `element`: a length, offsets for each level but the last, and data.
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
    /// The form of a type.
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

    /// The parameters of an argument called `name`; alone, sizes are `len`, not `name_len`.
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

    /// The parameters of a result.
    pub fn results(&self, name: &str) -> Vec<Parameter> {
        self.parameters(name)
            .into_iter()
            .map(|Parameter { ty, name }| {
                let ty = match ty {
                    Type::Pointer(inner) => match &*inner {
                        Type::Const(element) => (**element).clone().pointer(),
                        Type::Name(_) | Type::Struct(_) | Type::Pointer(_) => Type::Pointer(inner),
                    },
                    other => other,
                };
                Parameter {
                    ty: ty.pointer(),
                    name,
                }
            })
            .collect()
    }

    /// The suffixes of the sizes.
    fn sizes(&self) -> Vec<String> {
        match self {
            Form::Nothing | Form::Value(_) => Vec::new(),
            Form::Nested { .. } => vec!["len".into()],
            Form::Array { rank, .. } => (0..*rank).map(|k| format!("dim{k}")).collect(),
        }
    }
}

fn parameter(ty: Type, name: String) -> Parameter {
    Parameter {
        ty,
        name: name.into(),
    }
}

impl FunctionEmitter<'_, '_> {
    /// The components of an argument given by the values of its parameters.
    pub fn read_top(
        &mut self,
        ty: &CoreType,
        form: &Form,
        values: &[Expression],
        source: &Source,
        parts: &mut Vec<Part>,
    ) {
        match (form, values) {
            (Form::Value(_), [value]) => self.read_value(ty, value.clone(), source, parts),
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
                    count = self.read_offsets(level + 1, offsets, count, source, parts);
                }
                self.read_data(element, data, count, source, parts);
            }
            (Form::Array { rank, element, .. }, values) => {
                let (extents, data) = values.split_at((*rank as usize).min(values.len()));
                let count = self.checked_count(extents, source);
                parts.extend(extents.iter().cloned().map(Part::Scalar));
                self.read_data(element, data, count, source, parts);
            }
            (Form::Nothing | Form::Value(_) | Form::Nested { .. }, _) => {}
        }
    }

    fn read_data(
        &mut self,
        element: &CoreType,
        data: &[Expression],
        count: Expression,
        source: &Source,
        parts: &mut Vec<Part>,
    ) {
        let data = data.first().cloned().unwrap_or_else(null);
        self.check_data(element, &data, &count, source);
        let walk = [Step::Array {
            data,
            count: count.clone(),
        }];
        self.read_lifted(element, &walk, count, source, parts);
    }

    /// One level of offsets: starts and ends are views of them. Gives the size of the level below.
    fn read_offsets(
        &mut self,
        level: usize,
        offsets: &Expression,
        count: Expression,
        source: &Source,
        parts: &mut Vec<Part>,
    ) -> Expression {
        let name = format!("{}_seg{level}", source.hint);
        let arguments = vec![context(), Expression::text(&name), count, offsets.clone()];
        let total = Expression::call("nova_check_segments", arguments);
        let total = self.variable(int64(), &format!("{name}_total"), total);
        let pointer = int64().pointer();
        let elements = Expression::pure("nova_elements", vec![offsets.clone()]);
        let starts = self.variable(pointer.clone(), &name, elements.cast(pointer));
        let one = Expression::literal("1");
        let ends = Expression::binary(Binary::Add, starts.clone(), one);
        for pointer in [starts, ends] {
            parts.push(Part::Array {
                pointer,
                block: null(),
            });
        }
        parts.push(Part::Scalar(total.clone()));
        total
    }

    /// A value for a parameter of this form that is not spread.
    pub fn write_single(
        &mut self,
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
        let value = self.unset(c_type.clone(), hint);
        // Parts of a union that are not there are zeros.
        let clear = vec![
            value.clone().address(),
            Expression::literal("0"),
            Expression::SizeOf(c_type.clone()),
        ];
        self.push(Statement::call("memset", clear));
        let sink = Sink {
            purpose,
            group: Vec::new(),
        };
        self.write_value(ty, value.clone(), None, parts, &sink);
        value
    }

    /// Offsets and data of a nested vector, dense: for each level but the last its offsets, then the
    /// data if it takes memory.
    pub fn write_nested(
        &mut self,
        levels: usize,
        element: &CoreType,
        data_type: Option<&Type>,
        parts: &mut Parts,
        purpose: Purpose,
    ) -> Vec<Expression> {
        let length = match parts.next() {
            Some(Part::Scalar(length)) => length.clone(),
            Some(Part::Array { .. }) | None => Expression::literal("0"),
        };
        let mut rows: Vec<(Expression, Expression)> = Vec::new();
        let mut results = Vec::new();
        let mut dense: Option<Expression> = None;
        let mut total = length.clone();
        for level in 1..levels {
            let (starts, ends) = (pointer_of(parts.next()), pointer_of(parts.next()));
            parts.next();
            let more = Expression::binary(Binary::Add, total, Expression::literal("1"));
            let offsets = self.new_array(&int64(), more, purpose);
            let offsets = self.variable(int64().pointer(), &format!("seg{level}"), offsets);
            let first = offsets.clone().index(Expression::literal("0"));
            self.push(Statement::assign(first, Expression::literal("0")));
            let flag = match &dense {
                Some(flag) => flag.clone(),
                None => {
                    let yes = Expression::name("true");
                    self.variable(Type::name("bool"), "dense", yes)
                }
            };
            dense = Some(flag.clone());
            rows.push((starts, ends));
            total = self.count_rows(&length, &rows, &offsets, &flag);
            results.push(offsets);
        }
        let Some(data_type) = data_type else {
            return results;
        };
        let data = self.write_rows(
            element, data_type, &length, &rows, dense, total, parts, purpose,
        );
        results.push(data);
        results
    }

    /// Loops over the rows of the last level; `body` gets the number of each among them all and its
    /// index.
    fn each_row(
        &mut self,
        length: &Expression,
        rows: &[(Expression, Expression)],
        body: &mut dyn FnMut(&mut Self, Expression, Expression),
    ) {
        let counter =
            (rows.len() > 1).then(|| self.variable(int64(), "k", Expression::literal("0")));
        self.row_loops(None, length.clone(), rows, counter.as_ref(), body);
    }

    fn row_loops(
        &mut self,
        begin: Option<Expression>,
        count: Expression,
        rows: &[(Expression, Expression)],
        counter: Option<&Expression>,
        body: &mut dyn FnMut(&mut Self, Expression, Expression),
    ) {
        let i = self.fresh("i");
        let read = Expression::Name(i.clone());
        let (inside, ()) = self.apart(|emitter| {
            let row = match begin {
                None => read,
                Some(begin) => {
                    let sum = Expression::binary(Binary::Add, begin, read);
                    emitter.variable(int64(), "row", sum)
                }
            };
            match rows {
                [(starts, ends), below @ ..] if !below.is_empty() => {
                    let start = starts.clone().index(row.clone());
                    let end = ends.clone().index(row);
                    let count = Expression::binary(Binary::Subtract, end, start.clone());
                    emitter.row_loops(Some(start), count, below, counter, body);
                }
                _ => {
                    let number = counter.cloned().unwrap_or_else(|| row.clone());
                    body(emitter, number, row);
                    if let Some(counter) = counter {
                        let one = Expression::literal("1");
                        let next = Expression::binary(Binary::Add, counter.clone(), one);
                        emitter.push(Statement::assign(counter.clone(), next));
                    }
                }
            }
        });
        self.push(Statement::For {
            ty: int64(),
            variable: i,
            count,
            body: inside.into(),
        });
    }

    /// Fills the offsets of the last level of `rows` and gives their last one; the flag becomes false
    /// when its rows do not follow each other from 0.
    fn count_rows(
        &mut self,
        length: &Expression,
        rows: &[(Expression, Expression)],
        offsets: &Expression,
        flag: &Expression,
    ) -> Expression {
        let total = self.variable(int64(), "total", Expression::literal("0"));
        let Some((starts, ends)) = rows.last().cloned() else {
            return total;
        };
        self.each_row(length, rows, &mut |emitter, number, row| {
            let start = starts.clone().index(row.clone());
            let here = Expression::binary(Binary::Equal, start.clone(), total.clone());
            let still = Expression::binary(Binary::And, flag.clone(), here);
            emitter.push(Statement::assign(flag.clone(), still));
            let end = ends.clone().index(row);
            let count = Expression::binary(Binary::Subtract, end, start);
            let sum = Expression::binary(Binary::Add, total.clone(), count);
            emitter.push(Statement::assign(total.clone(), sum));
            let next = Expression::binary(Binary::Add, number, Expression::literal("1"));
            emitter.push(Statement::assign(
                offsets.clone().index(next),
                total.clone(),
            ));
        });
        total
    }

    /// The data of a nested vector: where it is when it is dense, else copied row by row.
    #[allow(clippy::too_many_arguments)]
    fn write_rows(
        &mut self,
        element: &CoreType,
        data_type: &Type,
        length: &Expression,
        rows: &[(Expression, Expression)],
        dense: Option<Expression>,
        total: Expression,
        parts: &mut Parts,
        purpose: Purpose,
    ) -> Expression {
        let data = self.unset(data_type.clone().pointer(), "data");
        let new = self.new_array(data_type, total.clone(), purpose);
        let mut copy = vec![Statement::assign(data.clone(), new)];
        let position = self.fresh("position");
        let at = Expression::Name(position.clone());
        copy.push(Statement::declare(
            int64(),
            position,
            Expression::literal("0"),
        ));
        let scalar = element.as_scalar().is_some();
        let own_parts = parts.clone();
        let (loops, ()) = self.apart(|emitter| {
            emitter.each_row(length, rows, &mut |emitter, _, row| {
                let Some((starts, ends)) = rows.last() else {
                    return;
                };
                let start = starts.clone().index(row.clone());
                let end = ends.clone().index(row);
                let count = Expression::binary(Binary::Subtract, end, start.clone());
                let count = emitter.variable(int64(), "count", count);
                let place = Expression::binary(Binary::Add, data.clone(), at.clone());
                let mut parts = own_parts.clone();
                if scalar {
                    let from = pointer_of(parts.next());
                    let from = Expression::binary(Binary::Add, from, start);
                    let size = Expression::SizeOf(data_type.clone());
                    let arguments = vec![place, from, count.clone(), size];
                    emitter.push(Statement::call("nova_copy", arguments));
                } else {
                    let sink = Sink {
                        purpose,
                        group: Vec::new(),
                    };
                    let target = data_type.clone().pointer();
                    let target = emitter.variable(target, "row_data", place);
                    let begin = Some(start);
                    emitter.fill_elements(element, target, begin, count.clone(), &mut parts, &sink);
                }
                let next = Expression::binary(Binary::Add, at.clone(), count);
                emitter.push(Statement::assign(at.clone(), next));
            });
        });
        copy.extend(loops);
        match (dense, scalar, parts.clone().next()) {
            (Some(dense), true, Some(Part::Array { pointer, block })) => {
                let as_is = match purpose {
                    Purpose::Lend => pointer.clone(),
                    Purpose::Give | Purpose::Copy => {
                        let size = Expression::SizeOf(data_type.clone());
                        let arguments =
                            vec![context(), pointer.clone(), block.clone(), total, size];
                        Expression::call("nova_give", arguments).cast(data_type.clone().pointer())
                    }
                };
                self.push(Statement::If {
                    condition: dense,
                    then: vec![Statement::assign(data.clone(), as_is)].into(),
                    otherwise: copy.into(),
                });
            }
            _ => self.push(Statement::Block(Block(copy))),
        }
        data
    }

    /// The data of a vector or array of `count` elements, without offsets.
    pub fn write_flat(
        &mut self,
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
        let new = self.new_array(data_type, count.clone(), purpose);
        let Some(buffer) = buffer else {
            let data = self.variable(pointer_type, "data", new);
            self.fill_elements(element, data.clone(), None, count, parts, &sink);
            return data;
        };
        // Elements that may fail to be made do not go into the caller's buffer at once.
        let direct = !self.unit.types.allocates(element);
        let empty = Expression::binary(Binary::Equal, buffer.clone(), null());
        let other = match direct {
            true => buffer.clone(),
            false => self.new_array(data_type, count.clone(), Purpose::Lend),
        };
        let place = Expression::conditional(empty, new, other);
        let data = self.variable(pointer_type.clone(), "data", place);
        self.fill_elements(element, data.clone(), None, count.clone(), parts, &sink);
        if direct {
            return data;
        }
        let size = Expression::SizeOf(data_type.clone());
        let arguments = vec![buffer, data, count, size];
        Expression::call("nova_put_structures", arguments).cast(pointer_type)
    }

    /// A foreign function's arguments for a value with these components.
    pub fn lend_top(
        &mut self,
        ty: &CoreType,
        form: &Form,
        parts: &mut Parts,
        hint: &str,
    ) -> Vec<Expression> {
        let purpose = Purpose::Lend;
        match form {
            Form::Nothing => Vec::new(),
            Form::Value(c_type) => vec![self.write_single(ty, c_type, parts, purpose, hint)],
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
                    let rest = self.write_nested(*levels, element, data.as_ref(), parts, purpose);
                    return [length, rest].concat();
                }
                parts.next();
                self.lend_flat(element, data.as_ref(), length, parts)
            }
            Form::Array {
                rank,
                element,
                data,
            } => {
                let extents = parts.by_ref().take(*rank as usize).cloned();
                let extents = extents.flat_map(Part::expressions).collect();
                self.lend_flat(element, data.as_ref(), extents, parts)
            }
        }
    }

    fn lend_flat(
        &mut self,
        element: &CoreType,
        data: Option<&Type>,
        mut extents: Vec<Expression>,
        parts: &mut Parts,
    ) -> Vec<Expression> {
        if let Some(data) = data {
            let count = product(extents.clone());
            let value = self.write_flat(element, data, count, parts, None, Purpose::Lend);
            extents.push(value);
        }
        extents
    }
}

fn pointer_of(part: Option<&Part>) -> Expression {
    match part {
        Some(Part::Array { pointer, .. }) => pointer.clone(),
        Some(Part::Scalar(value)) => value.clone(),
        None => null(),
    }
}

/// The name of a parameter as an expression.
pub fn read(parameter: &Parameter) -> Expression {
    Expression::Name(Name::clone(&parameter.name))
}
