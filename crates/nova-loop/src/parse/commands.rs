//! The parser of commands: a table of their forms.

use super::Parser;
use crate::ir::{Command, Destination, Gather, HostAccess, Stays, drop_commands};
use nova_core::SumId;
use nova_core::forms::read::FormReader;
use nova_diag::deep;
use nova_syntax::DatumId;

/// Reads the items of a form.
type Rule = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<Command>;

/// Every form of a command.
const COMMANDS: &[(&str, Rule)] = &[
    ("declare", |p, at, items| p.declaration(at, items)),
    ("set", |p, at, items| {
        let [variable, value] = p.exactly(at, items)?;
        Some(Command::Assign {
            variable: p.variable(variable)?,
            value: p.expression(value)?,
        })
    }),
    ("local", |p, at, mut items| {
        let pointer = p.binding(at, &mut items)?;
        let [count] = p.exactly(at, items)?;
        Some(Command::Local {
            pointer,
            count: p.index(count)?,
        })
    }),
    ("shared", |p, at, mut items| {
        let pointer = p.binding(at, &mut items)?;
        let [count] = p.exactly(at, items)?;
        Some(Command::Shared {
            pointer,
            count: p.expression(count)?,
        })
    }),
    ("spare", |p, at, mut items| {
        let pointer = p.binding(at, &mut items)?;
        let [places, count, apart] = p.exactly(at, items)?;
        Some(Command::Spare {
            pointer,
            places: p.expression(places)?,
            count: p.expression(count)?,
            apart: p.arguments(apart)?,
        })
    }),
    ("store", |p, at, items| {
        let [pointer, index, value] = p.exactly(at, items)?;
        Some(Command::Store {
            pointer: p.variable(pointer)?,
            index: p.expression(index)?,
            value: p.expression(value)?,
        })
    }),
    ("contend_any", |p, at, items| {
        p.contend(at, items, Stays::Any)
    }),
    ("contend_greatest", |p, at, items| {
        p.contend(at, items, Stays::Greatest)
    }),
    ("allocate", |p, at, items| {
        let ([block, pointer, element, count], place) = p.placed(at, items)?;
        Some(Command::Allocate {
            block: p.variable(block)?,
            pointer: p.variable(pointer)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
            destination: None,
            place,
        })
    }),
    ("allocate_result", |p, at, items| {
        let ([block, pointer, element, count, component, stride], place) = p.placed(at, items)?;
        Some(Command::Allocate {
            block: p.variable(block)?,
            pointer: p.variable(pointer)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
            destination: Some(Destination {
                component: p.index(component)?,
                stride: p.index(stride)?,
            }),
            place,
        })
    }),
    ("reserve", |p, at, items| {
        let ([block, pointer, element, used, count], place) = p.placed(at, items)?;
        Some(Command::Reserve {
            block: p.variable(block)?,
            pointer: p.variable(pointer)?,
            element: p.scalar(element)?,
            used: p.expression(used)?,
            count: p.expression(count)?,
            place,
        })
    }),
    ("unique", |p, at, items| {
        let ([block, pointer, element, count], place) = p.placed(at, items)?;
        Some(Command::Unique {
            block: p.variable(block)?,
            pointer: p.variable(pointer)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
            place,
        })
    }),
    ("may_split", |p, at, items| {
        let [splits] = p.exactly(at, items)?;
        let splits = p.variable(splits)?;
        Some(Command::MaySplit { splits })
    }),
    ("result_buffers", |p, at, items| {
        let ([pieces, count], place) = p.placed(at, items)?;
        Some(Command::ResultBuffers {
            pieces: p.variable(pieces)?,
            count: p.expression(count)?,
            place,
        })
    }),
    ("store_buffer", |p, at, items| {
        let ([pieces, index, block, pointer, element, count], place) = p.placed(at, items)?;
        Some(Command::StoreBuffer {
            pieces: p.variable(pieces)?,
            index: p.expression(index)?,
            block: p.expression(block)?,
            pointer: p.expression(pointer)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
            place,
        })
    }),
    ("buffer", |p, at, items| {
        let [pointer, pieces, element, index] = p.exactly(at, items)?;
        Some(Command::Buffer {
            pointer: p.variable(pointer)?,
            pieces: p.variable(pieces)?,
            element: p.scalar(element)?,
            index: p.expression(index)?,
        })
    }),
    ("drop_buffers", |p, at, items| {
        let [pieces, count] = p.exactly(at, items)?;
        Some(Command::DropBuffers {
            pieces: p.variable(pieces)?,
            count: p.expression(count)?,
        })
    }),
    ("copy", |p, at, items| {
        let [to, from, element, count] = p.exactly(at, items)?;
        Some(Command::Copy {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
        })
    }),
    ("plan_non_temporal", |p, at, items| {
        let [shift, fields, start, count, total, width] = p.exactly(at, items)?;
        Some(Command::PlanNonTemporal {
            shift: p.variable(shift)?,
            fields: p.variables(fields)?,
            start: p.expression(start)?,
            count: p.expression(count)?,
            total: p.expression(total)?,
            width: p.index(width)?,
        })
    }),
    ("non_temporal_store", |p, at, items| {
        let [fields, start, from, count] = p.exactly(at, items)?;
        Some(Command::NonTemporalStore {
            fields: p.variables(fields)?,
            start: p.expression(start)?,
            from: p.expression(from)?,
            count: p.expression(count)?,
            lines: false,
        })
    }),
    ("non_temporal_store_lines", |p, at, items| {
        let [fields, start, from, count] = p.exactly(at, items)?;
        Some(Command::NonTemporalStore {
            fields: p.variables(fields)?,
            start: p.expression(start)?,
            from: p.expression(from)?,
            count: p.expression(count)?,
            lines: true,
        })
    }),
    ("begin_ordered", |p, at, items| {
        let [index] = p.exactly(at, items)?;
        Some(Command::BeginOrdered(p.variable(index)?))
    }),
    ("end_ordered", |p, at, items| {
        let [index] = p.exactly(at, items)?;
        Some(Command::EndOrdered(p.variable(index)?))
    }),
    ("store_fence", |p, at, items| {
        let [] = p.exactly(at, items)?;
        Some(Command::StoreFence)
    }),
    ("on_host", |p, at, items| {
        let [pointer, access] = p.exactly(at, items)?;
        Some(Command::OnHost {
            pointer: p.variable(pointer)?,
            access: match p.writes(access)? {
                true => HostAccess::Writes,
                false => HostAccess::Reads,
            },
        })
    }),
    ("on_host_element", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Command::OnHost {
            pointer: p.variable(pointer)?,
            access: HostAccess::ReadsElement(p.expression(index)?),
        })
    }),
    ("wrote_element", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Command::OnHost {
            pointer: p.variable(pointer)?,
            access: HostAccess::WroteElement(p.expression(index)?),
        })
    }),
    ("padded_copy", |p, at, items| {
        let [to, from, element, count, pad] = p.exactly(at, items)?;
        Some(Command::PaddedCopy {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            count: p.expression(count)?,
            pad: p.expression(pad)?,
        })
    }),
    ("plan_rows", |p, at, items| {
        let [joins] = p.exactly(at, items)?;
        let joins = p.variable(joins)?;
        Some(Command::PlanRows { joins })
    }),
    ("lane_reduce", |p, at, items| {
        let [to, from, element, operation, count] = p.exactly(at, items)?;
        Some(Command::LaneReduce {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            operation: p.operation(operation)?,
            count: p.expression(count)?,
        })
    }),
    ("tree_reduce", |p, at, items| {
        let [pointer, element, operation, into] = p.exactly(at, items)?;
        Some(Command::TreeReduce {
            pointer: p.variable(pointer)?,
            element: p.scalar(element)?,
            operation: p.operation(operation)?,
            into: p.combined(into)?,
        })
    }),
    ("prefix_scan", |p, at, items| {
        let [to, from, element, operation, which, last] = p.exactly(at, items)?;
        Some(Command::PrefixScan {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            operation: p.operation(operation)?,
            exclusive: p.exclusive(which)?,
            last: p.variable(last)?,
        })
    }),
    ("gather_strided", |p, at, items| {
        let [to, from, element, stride] = p.exactly(at, items)?;
        Some(Command::Gather(Gather::Strided {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            stride: p.index(stride)?,
        }))
    }),
    ("gather_precheck", |p, at, items| {
        let [outside, limit, indices, index, stride] = p.exactly(at, items)?;
        Some(Command::Gather(Gather::Precheck {
            outside: p.variable(outside)?,
            limit: p.expression(limit)?,
            indices: p.expression(indices)?,
            index: p.scalar(index)?,
            stride: p.index(stride)?,
        }))
    }),
    ("gather_indexed", |p, at, items| {
        let [to, from, element, indices, index, stride] = p.exactly(at, items)?;
        Some(Command::Gather(Gather::Indexed {
            to: p.expression(to)?,
            from: p.expression(from)?,
            element: p.scalar(element)?,
            indices: p.expression(indices)?,
            index: p.scalar(index)?,
            stride: p.index(stride)?,
        }))
    }),
    ("retain", |p, at, items| {
        let [variable] = p.exactly(at, items)?;
        p.variable(variable).map(Command::Retain)
    }),
    ("release", |p, at, items| {
        let [variable] = p.exactly(at, items)?;
        p.variable(variable).map(Command::Release)
    }),
    ("if", |p, at, items| p.conditional(at, items)),
    ("switch", |p, at, items| {
        let Some((scrutinee, cases)) = items.split_first() else {
            return p.error(at, "a switch has a scrutinee");
        };
        Some(Command::Switch {
            scrutinee: p.expression(*scrutinee)?,
            cases: cases
                .iter()
                .map(|case| p.list(*case))
                .collect::<Option<_>>()?,
        })
    }),
    ("for", |p, at, items| p.counted(at, items)),
    ("loop", |p, _, items| {
        let (place, body) = match items {
            [first, rest @ ..] if p.data.as_text(*first).is_some() => (Some(*first), rest),
            items => (None, items),
        };
        Some(Command::Loop {
            place: p.place(place)?,
            body: p.commands(body)?,
        })
    }),
    ("break", |p, at, items| {
        let [] = p.exactly(at, items)?;
        Some(Command::Break)
    }),
    ("continue", |p, at, items| {
        let [] = p.exactly(at, items)?;
        Some(Command::Continue)
    }),
    ("return", |p, at, items| {
        let [] = p.exactly(at, items)?;
        Some(Command::Return)
    }),
    ("call", |p, at, items| {
        let [function, arguments, results] = p.exactly(at, items)?;
        Some(Command::Call {
            function: p.function_id(function)?,
            arguments: p.arguments(arguments)?,
            results: p.variables(results)?,
        })
    }),
    ("foreign", |p, at, items| {
        let ([foreign, arguments, results], place) = p.placed(at, items)?;
        Some(Command::Foreign {
            foreign: p.index(foreign)?,
            arguments: p.arguments(arguments)?,
            results: p.variables(results)?,
            place,
        })
    }),
    ("check", |p, at, items| {
        let ([condition, error, arguments], place) = p.placed(at, items)?;
        Some(Command::Check {
            condition: p.expression(condition)?,
            error: p.error_kind(error)?,
            arguments: p.arguments(arguments)?,
            place,
        })
    }),
    ("fail", |p, at, items| {
        let ([error, arguments], place) = p.placed(at, items)?;
        Some(Command::Fail {
            error: p.error_kind(error)?,
            arguments: p.arguments(arguments)?,
            place,
        })
    }),
    ("new", |p, at, items| {
        let ([sum, constructor, payload, link], place) = p.placed(at, items)?;
        Some(Command::NodeNew {
            sum: SumId(p.index(sum)?),
            constructor: p.index(constructor)?,
            payload: p.arguments(payload)?,
            link: p.variable(link)?,
            place,
        })
    }),
    ("payload", |p, at, items| {
        let [sum, constructor, link, results] = p.exactly(at, items)?;
        Some(Command::NodePayload {
            sum: SumId(p.index(sum)?),
            constructor: p.index(constructor)?,
            link: p.expression(link)?,
            results: p.variables(results)?,
        })
    }),
    ("trace", |p, at, items| {
        let [text, ty, components] = p.exactly(at, items)?;
        Some(Command::Trace {
            text: p.bytes(text)?,
            ty: p.core_type(ty)?,
            components: p.arguments(components)?,
        })
    }),
    ("barrier", |p, at, items| {
        let [level] = p.exactly(at, items)?;
        p.level(level).map(Command::Barrier)
    }),
    ("prefetch", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Command::Prefetch {
            pointer: p.variable(pointer)?,
            index: p.expression(index)?,
            only_linear: false,
        })
    }),
    ("prefetch_stream", |p, at, items| {
        let [pointer, index] = p.exactly(at, items)?;
        Some(Command::Prefetch {
            pointer: p.variable(pointer)?,
            index: p.expression(index)?,
            only_linear: true,
        })
    }),
    ("comment", |p, at, items| {
        let [text] = p.exactly(at, items)?;
        p.string(text).map(Command::Comment)
    }),
];

impl<'a> Parser<'a> {
    /// Reads a sequence of commands.
    pub(super) fn commands(&mut self, items: &'a [DatumId]) -> Option<Vec<Command>> {
        let mut commands = Vec::with_capacity(items.len());
        for item in items {
            match deep(|| self.command(*item)) {
                Some(command) => commands.push(command),
                None => {
                    drop_commands(commands);
                    return None;
                }
            }
        }
        Some(commands)
    }

    fn command(&mut self, id: DatumId) -> Option<Command> {
        let Some((word, items)) = self.data.form(id) else {
            return self.error(id, "a command is expected here");
        };
        match COMMANDS.iter().find(|c| c.0 == word) {
            Some((_, rule)) => rule(self, id, items),
            None => self.error(id, "there is no such command"),
        }
    }

    /// `(do COMMAND …)`.
    fn list(&mut self, id: DatumId) -> Option<Vec<Command>> {
        match self.data.form(id) {
            Some(("do", items)) => self.commands(items),
            Some(_) | None => self.error(id, "`(do …)` is expected here"),
        }
    }

    /// `(declare x:f32)`, `(declare x:f32 VALUE)`.
    fn declaration(&mut self, at: DatumId, mut items: &'a [DatumId]) -> Option<Command> {
        // The value is read first: it cannot name the variable.
        let value = match items {
            [_, _, _, value] => Some(self.expression(*value)?),
            _ => None,
        };
        let variable = self.binding(at, &mut items)?;
        if items.len() > 1 {
            return self.error(at, "a declaration has at most one value");
        }
        Some(Command::Declare { variable, value })
    }

    /// `(if CONDITION (do …))`, optionally with another `(do …)`.
    fn conditional(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<Command> {
        let (condition, then, otherwise) = match items {
            [condition, then] => (condition, then, None),
            [condition, then, otherwise] => (condition, then, Some(*otherwise)),
            _ => return self.error(at, "a conditional has a condition and one or two lists"),
        };
        Some(Command::If {
            condition: self.expression(*condition)?,
            then: self.list(*then)?,
            otherwise: match otherwise {
                Some(list) => self.list(list)?,
                None => Vec::new(),
            },
        })
    }

    /// Reads a store that several iterations may execute on one element.
    fn contend(&mut self, at: DatumId, items: &[DatumId], stays: Stays) -> Option<Command> {
        let [pointer, index, value] = self.exactly(at, items)?;
        Some(Command::Contend {
            pointer: self.variable(pointer)?,
            index: self.expression(index)?,
            value: self.expression(value)?,
            stays,
        })
    }

    /// `(for i COUNT LEVEL "place" COMMAND …)`.
    fn counted(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<Command> {
        let [variable, count, level, rest @ ..] = items else {
            return self.error(at, "a loop has a variable, a count and a level");
        };
        let (place, body) = match rest {
            [first, rest @ ..] if self.data.as_text(*first).is_some() => (Some(*first), rest),
            rest => (None, rest),
        };
        Some(Command::For {
            count: self.expression(*count)?,
            variable: self.declare(
                *variable,
                crate::ir::Type::Scalar(nova_core::Scalar::I64),
                None,
            )?,
            level: self.level(*level)?,
            place: self.place(place)?,
            body: self.commands(body)?,
        })
    }
}
