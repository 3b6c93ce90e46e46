//! Software prefetch. Loops that read arrays from front to back prefetch the elements that they will read
//! some thousand bytes later. Processors do that by themselves only for long arrays that are read without
//! gaps.

use crate::env::Env;
use crate::loops::wrap;
use crate::writer::{INDEX, Writer};
use nova_diag::Place;
use nova_loop::first_fields::FirstFields;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::streams::{Stream, UNROLLED_LINES, streams};
use nova_machine::{Machine, PROCESSOR};

/// The elements that a loop prefetches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// The number of elements of each array.
    pub(crate) elements: i64,
    /// The maximum number of lines of an array.
    pub(crate) most_lines: i64,
}

impl Ahead {
    /// Returns the prefetch of all lines of so many elements.
    pub(crate) fn of(elements: i64) -> Self {
        Ahead {
            elements,
            most_lines: i64::MAX,
        }
    }
}

/// Prefetches the elements that the next rows will read. `row` is the body of a loop in which `index`
/// runs over elements from `start` on.
pub(crate) fn prefetch_row(
    env: &mut Env<'_>,
    row: &[Command],
    index: Variable,
    start: &Expression,
    ahead: Ahead,
    place: &Place,
) {
    if env.machine == Machine::Device {
        return;
    }
    let mut found = streams(row, index);
    if env.loops > 0 {
        // Elements that every iteration of the enclosing loop reads stay in a cache.
        found.retain(|stream| stream.before.is_some());
    }
    join_fields(&env.structures, &mut found);
    if ahead.elements < PROCESSOR.line_bytes / 4 || found.len() > PROCESSOR.prefetched_arrays {
        return;
    }
    let arrays = found.len();
    for stream in &found {
        prefetch_array(env, stream, start, ahead, stream.bytes(arrays), place);
    }
}

/// Keeps one of the fields of the same structures, since they have the same lines.
fn join_fields(structures: &FirstFields, streams: &mut Vec<Stream>) {
    let mut joined: Vec<Stream> = Vec::with_capacity(streams.len());
    for mut stream in streams.drain(..) {
        if let Some(first) = structures.get(&stream.pointer) {
            stream.pointer = *first;
        }
        if joined.iter().all(|known| known.pointer != stream.pointer) {
            joined.push(stream);
        }
    }
    *streams = joined;
}

/// Prefetches the elements of one array, `bytes` bytes ahead.
fn prefetch_array(
    out: &mut Writer,
    stream: &Stream,
    start: &Expression,
    ahead: Ahead,
    bytes: i64,
    place: &Place,
) {
    let Some(size) = stream.element_size(&out.program) else {
        return;
    };
    let prefetch = |line: Expression| stream.ahead(start, line, size, bytes);
    let lines = stream.lines(ahead.elements, size).min(ahead.most_lines);
    if lines <= UNROLLED_LINES {
        for line in 0..lines {
            out.emit(prefetch(Expression::index(line)));
        }
        return;
    }
    let line = out.add_variable("line", INDEX);
    let body = vec![prefetch(Expression::Variable(line))];
    wrap(out, &[Expression::index(lines)], &[line], body, place);
}
