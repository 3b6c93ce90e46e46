//! Long rows, for devices: rows of a nested vector that have many times as many elements as others
//! would keep their lanes at work when all others have ended. They are found first, and a group reduces
//! each of them. When the other rows are finished, the results of the long rows are looked up.

use super::{Lanes, RowMap, some_lanes, sums_of_lanes};
use crate::group::{SOME, THREADS, arrays_like, fold, neutrals};
use crate::rows::Rows;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Level, Output, Variable};
use nova_machine::figures;

/// Long rows have this many times the mean number of elements. They also have at least the second
/// number of times as many as operations are worth a thread: enough to keep a group at work for a
/// while.
pub(super) const LONG_TIMES: i64 = figures::SEGMENTS.long_times;
const GROUP_WORK: i64 = figures::SEGMENTS.group_work;
/// Long rows are looked for in at least this many times as many elements as operations are worth a
/// thread.
const SEARCH_WORK: i64 = figures::SEGMENTS.search_work;

/// The long rows of a map that reduces rows.
pub(super) struct LongRows {
    /// A row with more elements is long.
    most: Atom,
    /// The number of long rows, these rows in order, and the results of their elements.
    count: Atom,
    rows: Variable,
    values: Vec<Variable>,
}

/// Returns the lanes of a row that has all threads of a group.
fn whole_group() -> Lanes {
    let some = Atom::index(SOME);
    let some_shift = Atom::index(i64::from(SOME.trailing_zeros()));
    Lanes {
        shift: Atom::index(i64::from(THREADS.trailing_zeros())),
        count: Atom::index(THREADS),
        rows: Atom::index(1),
        some_shift,
        some,
        left_shift: some_shift,
        left: some,
    }
}

impl LongRows {
    /// True if a row with this many elements is long.
    pub(super) fn has(&self, code: &mut Writer, length: Atom) -> Atom {
        code.compare(ScalarOperation::Greater, length, self.most)
    }

    /// Returns the results of the elements of a long row, for each component.
    pub(super) fn values_of(&self, code: &mut Writer, row: Atom) -> Vec<Atom> {
        let place = place_in_order(code, self.rows, self.count, row);
        let values = self.values.iter();
        values.map(|array| code.element(*array, place)).collect()
    }
}

/// True if long rows are worth looking for among rows with this many elements.
pub(super) fn are_many_elements(code: &mut Writer, elements: Atom) -> Atom {
    let many = Atom::index(code.parallelism.grain.saturating_mul(SEARCH_WORK));
    code.compare(ScalarOperation::GreaterEqual, elements, many)
}

/// Writes the kernels that find and reduce the long ones of `n` rows with this mean number of
/// elements, if they are to be looked for.
pub(super) fn long_rows(
    code: &mut Writer,
    map: &RowMap,
    (n, rows): (Atom, &Rows),
    (mean, many): (Atom, Atom),
) -> LongRows {
    let examined = code.choose_one(many, Scalar::I64, |_| n, |_| Atom::index(0));
    let least = code.scalar(ScalarOperation::Multiply, mean, Atom::index(LONG_TIMES));
    let enough = Atom::index(code.parallelism.grain.saturating_mul(GROUP_WORK));
    let least = code.scalar(ScalarOperation::Maximum, least, enough);
    let none = Atom::index(i64::MAX);
    let most = code.choose_one(many, Scalar::I64, |_| least, |_| none);
    let (count, rows) = find_long(code, rows, examined, most);
    let values = reduce_long(code, map, count, rows);
    LongRows {
        most,
        count,
        rows,
        values,
    }
}

/// Finds those of the first rows that have more than `most` elements. Returns their number, and the
/// rows.
fn find_long(code: &mut Writer, rows: &Rows, examined: Atom, most: Atom) -> (Atom, Variable) {
    let index = code.fresh("row", Scalar::I64);
    let body = code.body(|code| {
        let row = Atom::Variable(index);
        let start = code.element(rows.starts, row);
        let end = code.element(rows.ends, row);
        let length = code.scalar(ScalarOperation::Subtract, end, start);
        vec![code.compare(ScalarOperation::Greater, length, most), row]
    });
    let count = code.fresh("long", Scalar::I64);
    let long = code.fresh_array("long", Scalar::I64, Atom::Variable(count));
    let filter = vec![Output::Filter { values: 1 }];
    let pattern = vec![count, long];
    code.operation(pattern, examined, index, Level::Sequential, body, filter);
    code.to_parallelise.insert(count);
    (Atom::Variable(count), long)
}

/// Reduces the elements of long rows. Returns the results for each component.
fn reduce_long(code: &mut Writer, map: &RowMap, count: Atom, rows: Variable) -> Vec<Variable> {
    let lanes = whole_group();
    let group = code.fresh("group", Scalar::I64);
    let mut values = Vec::new();
    let body = code.body(|code| {
        let row = code.element(rows, Atom::Variable(group));
        let bounds = (row, Atom::index(1));
        let (scans, sums) = sums_of_lanes(code, map, &lanes, bounds, None);
        let sums = some_lanes(code, &scans, &sums, &lanes);
        values = arrays_like(code, &scans, count);
        let all = (Atom::index(0), lanes.left);
        fold(code, &scans, &sums, all, neutrals(&scans))
    });
    let outputs = values.iter().map(|_| Output::Map).collect();
    code.map_groups(values.clone(), (count, group), Vec::new(), body, outputs);
    values
}

/// Returns the position of a number in a sorted array that contains it.
fn place_in_order(code: &mut Writer, array: Variable, count: Atom, number: Atom) -> Atom {
    code.bisect((Atom::index(0), count), |code, [low, high]| {
        let sum = code.scalar(ScalarOperation::Add, low, high);
        let middle = code.scalar(ScalarOperation::ShiftRight, sum, Atom::index(1));
        let there = code.element(array, middle);
        let before = code.compare(ScalarOperation::Less, there, number);
        let next = code.scalar(ScalarOperation::Add, middle, Atom::index(1));
        let low = code.choose_one(before, Scalar::I64, |_| next, |_| low);
        let high = code.choose_one(before, Scalar::I64, |_| high, |_| middle);
        [low, high]
    })
}
