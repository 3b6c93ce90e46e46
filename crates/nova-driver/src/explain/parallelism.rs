//! The part of the report on parallelisation: for each operation and each sort how it is parallelised,
//! or why it is not. What `parallelise` wrote in place of one is not examined; its second branch has
//! the operation as it was.

use super::{PARALLELISE, Report};
use crate::code::Code;
use crate::compiler::Compiler;
use crate::pipeline::{PASSES, is_enabled};
use nova_flat::ir::{Atom, Body, Expression, Statement};
use nova_flat::visit::{bodies, each_statement};
use nova_opt::flatten_regular::Irregular;
use nova_schedule::{
    self, Chunking, Fate, Freedom, LANES, LOCAL_ELEMENTS, NESTED_PARALLELISM, Note, Notes,
    Parallelised, Reason, Step,
};

impl Compiler {
    /// Runs the pass on a program that stands before it, and returns its notes, if the pass is switched
    /// on.
    pub(super) fn notes(&self, flat: &mut Code) -> Option<Notes> {
        let options = self.options();
        let runs =
            |pass: &&crate::pipeline::Pass| pass.name == PARALLELISE && is_enabled(pass, options);
        let (Code::Flat(program), Some(parallelism)) = (flat, options.parallelism()) else {
            return None;
        };
        let pass = PASSES.iter().find(runs);
        let (alone, plan) = (&options.alone, &options.plan);
        pass.and_then(|_| nova_schedule::notes(program, parallelism, alone, plan))
    }
}

/// Returns the body that has the operation as it was, in what `parallelise` wrote in place of it.
pub(super) fn whole<'a>(notes: Option<&Notes>, statement: &'a Statement) -> Option<&'a Body> {
    let note = notes?.of(&statement.pattern)?;
    match (&note.fate, &statement.expression) {
        (Fate::Parallelised(_), Expression::If { otherwise, .. }) => Some(otherwise),
        (Fate::Parallelised(_) | Fate::Whole(_), _other_statement) => None,
    }
}

/// Calls `visit` on every statement below a body, as it was before operations were parallelised.
pub(super) fn each_unparallelised<'a>(
    notes: Option<&Notes>,
    body: &'a Body,
    visit: &mut dyn FnMut(&'a Statement),
) {
    for statement in &body.statements {
        if let Some(whole) = whole(notes, statement) {
            nova_diag::deep(|| each_unparallelised(notes, whole, &mut *visit));
            continue;
        }
        visit(statement);
        bodies(&statement.expression, &mut |inner| {
            nova_diag::deep(|| each_unparallelised(notes, inner, &mut *visit));
        });
    }
}

impl Report<'_> {
    fn note(&self, statement: &Statement) -> Option<&Note> {
        match &statement.expression {
            Expression::Operation(_) | Expression::Sort { .. } | Expression::SortKeys { .. } => {
                self.notes.as_ref()?.of(&statement.pattern)
            }
            _nothing_to_parallelise => None,
        }
    }

    /// True if threads share an operation or a sort that does not stand inside of a parallelised
    /// operation.
    pub(super) fn is_parallelised(&self, statement: &Statement) -> bool {
        let note = self.note(statement);
        note.is_some_and(|note| !note.nested && matches!(note.fate, Fate::Parallelised(_)))
    }

    /// Returns the lines on the parallelisation of an operation or a sort.
    pub(super) fn parallelism(&self, statement: &Statement) -> Vec<String> {
        let Some(note) = self.note(statement) else {
            return Vec::new();
        };
        let mut lines: Vec<String> = self.nest(statement, note).into_iter().collect();
        match &note.fate {
            Fate::Whole(Reason::Strategy) => {}
            Fate::Whole(reason) => {
                lines.push(format!("not parallelised: {}", reason_text(*reason)))
            }
            Fate::Parallelised(parallelised) => {
                let where_parallelised = match note.nested {
                    true => {
                        "parallelised where the enclosing loop has few iterations or a long row: "
                    }
                    false => "",
                };
                lines.push(format!(
                    "{where_parallelised}{}",
                    self.chunking_text(&parallelised.chunking, parallelised.grain)
                ));
                let steps = parallelised.steps.iter().map(|step| step_text(*step));
                lines.extend(steps);
                if parallelised.idle {
                    let text = "only if a thread has nothing to do when it begins: the whole is \
                                less to do, and gives the same";
                    lines.push(text.to_string());
                }
                lines.extend(scattered_text(&parallelised.chunking).map(str::to_string));
                lines.extend(inside_text(parallelised));
            }
        }
        lines
    }

    /// Describes the outcome of a nest.
    fn nest(&self, statement: &Statement, note: &Note) -> Option<String> {
        let Expression::Operation(operation) = &statement.expression else {
            return None;
        };
        if operation.shape.len() > 1 {
            return Some("a regular nest: one operation of several dimensions".to_string());
        }
        let mut has_loops = false;
        each_statement(&operation.body, &mut |inner| {
            has_loops |= matches!(inner.expression, Expression::Operation(_));
        });
        let kind = match &note.fate {
            Fate::Parallelised(parallelised) => match parallelised.chunking.is_by_elements() {
                true => "an irregular nest: a balanced outer loop",
                false => "a nest: an outer loop",
            },
            Fate::Whole(_) => "a nest: a loop in a loop",
        };
        let why = note.irregular.map_or(String::new(), |why| {
            format!("; no matrix, since {}", irregular_text(why))
        });
        has_loops.then(|| format!("{kind}{why}"))
    }

    /// Describes the chunking of indices, and from where on it applies.
    fn chunking_text(&self, chunking: &Chunking, grain: i64) -> String {
        let twice = 2 * grain;
        match chunking {
            Chunking::Even {
                sizes: Some((from, least)),
                cost,
                ..
            } => format!(
                "from {from} iterations on, into even chunks of {least} or more; an iteration counts as {}",
                operations(*cost)
            ),
            Chunking::Even {
                sizes: None,
                cost,
                loops,
            } => format!(
                "from {twice} operations on, into even chunks of {grain} or more; an iteration counts \
                 as {}",
                self.sum(*cost, loops)
            ),
            Chunking::Lanes { from, least, cost } => format!(
                "from {from} iterations on, as a kernel in blocks of {LANES} lanes: neighbouring \
                 threads take neighbouring iterations, each {least} or more in steps of {LANES}; an \
                 iteration counts as {}",
                operations(*cost)
            ),
            Chunking::Tiles { from, size, cost } => format!(
                "from {from} iterations on, as kernels of work-groups: each takes a tile of {size} \
                 iterations, in which neighbouring threads take neighbouring iterations; an iteration counts as {}",
                operations(*cost)
            ),
            Chunking::Bins { from, cost } => format!(
                "from {from} iterations on, as kernels of work-groups, of which neighbouring threads take \
                 neighbouring iterations; an iteration counts as {}",
                operations(*cost)
            ),
            Chunking::Elements { row, element } => format!(
                "from {twice} operations on, into chunks of {grain} or more, with about as many \
                 elements, not rows; a row counts as {}, each of its elements as {element}",
                operations(*row)
            ),
            Chunking::Each => {
                format!("from {twice} operations on, as a kernel with a thread for each iteration")
            }
            Chunking::Asked => "if a thread has nothing to do when it begins, since nothing says \
                               how much recursive calls have to do"
                .to_string(),
            Chunking::Stores => {
                format!("from {twice} operations on, into chunks that store into the same array")
            }
            Chunking::Arrays { from } => format!(
                "where the array has {from} elements or more, or as many are stored, as a kernel \
                 with a thread for each iteration"
            ),
            Chunking::Rows => {
                "where there are few columns: each iteration reduces some rows of all columns"
                    .to_string()
            }
            Chunking::Runs => "into runs of a power of two of elements".to_string(),
            Chunking::Keys { from } => format!("from {from} elements on, into even chunks"),
            Chunking::Radix { from } => format!(
                "from {from} elements on, by the digits of a key, the last one first: kernels sort \
                 tiles by a digit and take from these what comes next; digits in which no keys \
                 differ are left out"
            ),
        }
    }

    /// Describes a cost that depends on extents.
    fn sum(&self, fixed: i64, loops: &[(Vec<Atom>, i64)]) -> String {
        let product = |(extents, each): &(Vec<Atom>, i64)| {
            let extents = extents.iter().map(|extent| self.atom(*extent));
            let factors: Vec<String> = extents.chain([each.to_string()]).collect();
            factors.join(" x ")
        };
        let fixed = (fixed > 0).then(|| fixed.to_string());
        let terms: Vec<String> = fixed.into_iter().chain(loops.iter().map(product)).collect();
        format!("{} operations", terms.join(" + "))
    }
}

fn operations(count: i64) -> String {
    match count {
        1 => "1 operation".to_string(),
        _ => format!("{count} operations"),
    }
}

/// Describes how threads share rows that are reduced ([`Step::SegmentedReduction`]).
fn segmented_reduction_text(worth: i64, threads: i64, times: i64) -> String {
    format!(
        "where rows have {worth} elements or more on average, in work-groups of {threads} threads, \
         which share each row as so many lanes as have two elements, and combine their values in \
         local memory; rows {times} times as long have a group each"
    )
}

/// Describes what threads share of a nest ([`Step::Blocks`]).
fn blocks_text(threads: i64, [rows, columns]: [i64; 2], tile: i64) -> String {
    let block = match columns {
        1 => format!("{rows}"),
        _ => format!("{rows} x {columns}"),
    };
    format!(
        "where there are many iterations, in work-groups of {threads} threads for {block} of them, \
         which bring what {tile} iterations of the loop inside read to local memory at a time, each \
         element once"
    )
}

/// Describes what threads share of a stencil ([`Step::Neighbours`]).
fn neighbours_text(tile: i64, arrays: usize) -> String {
    let of = match arrays {
        1 => "an array".to_string(),
        _ => format!("{arrays} arrays"),
    };
    format!(
        "where there are many iterations, in work-groups for tiles of {tile} of them, which \
         bring the neighbours that these read in {of} to local memory"
    )
}

/// Describes a step apart from the chunks.
fn step_text(step: Step) -> String {
    let text = match step {
        Step::Reduce(Freedom::Neutral) => "the results of the chunks are reduced",
        Step::Reduce(Freedom::Any) => {
            "the results of the chunks are reduced; a chunk starts with its first element, since no value \
             is known that changes nothing"
        }
        Step::Reduce(Freedom::Strict { .. }) => {
            "the results of the chunks are reduced; chunks are subtrees of the strict order, which is kept"
        }
        Step::Lanes(alone) => {
            return format!(
                "the results of the lanes are reduced: by a kernel in lanes as long as there are more than \
                 {alone} values, then by the host"
            );
        }
        Step::Tiles => {
            "in three steps: what each tile reduces to, what each begins with, then the running \
             results, in memory of the work-group"
        }
        Step::Claims => {
            "of several iterations that store one element the last wins: two kernels find out which, \
             each with a thread for each iteration"
        }
        Step::Compaction => {
            "in three steps: how many elements each tile keeps, where these begin, then the \
             elements, found in memory of the work-group"
        }
        Step::OrderedCompaction => {
            "in one pass: each tile propagates, in order, the number of survivors so far, then \
             writes its own, found in memory of the work-group"
        }
        Step::OrderedTiles => {
            "in one pass: each tile propagates, in order, the prefix up to its end, then has \
             the running results, in memory of the work-group"
        }
        Step::SegmentedReduction {
            worth,
            threads,
            times,
        } => return segmented_reduction_text(worth, threads, times),
        Step::Blocks {
            threads,
            block,
            tile,
        } => return blocks_text(threads, block, tile),
        Step::Neighbours { tile, arrays } => return neighbours_text(tile, arrays),
        Step::Scan(Freedom::Neutral | Freedom::Any) => {
            "in two steps: what each chunk reduces to, then the running results"
        }
        Step::Scan(Freedom::Strict { .. }) => {
            "in two steps: what each block of the strict order reduces to, then the running results"
        }
        Step::State => "in two steps: what each chunk adds to the state, then the chunks",
        Step::Count => "in two steps: how many elements each chunk keeps, then the elements",
        Step::Survivors => "the survivors of the chunks are copied one after the other",
        Step::Rows => "the rows of the chunks are copied one after the other",
        Step::FewRows(few) => {
            return format!(
                "with fewer than {few} iterations of the outermost dimension, and rows that are worth \
                 chunks, each row is in chunks of its own"
            );
        }
        Step::Bins(elements) => {
            return format!(
                "one set of bins for each chunk, which are combined; a chunk has {elements} elements \
                 or more for each of its bins"
            );
        }
        Step::LocalBins(most) => return local_bins_text(most),
        Step::Merge => "runs are sorted, then merged in pieces of their size",
        Step::Pieces => {
            "chunks are sorted, then each piece of the result takes its part of every chunk and is \
             sorted; where few are wanted, each chunk gives its first elements"
        }
    };
    text.to_string()
}

/// Describes bins in local memory ([`Step::LocalBins`]).
fn local_bins_text(most: i64) -> String {
    format!(
        "up to {most} bins: each thread of a work-group has bins of its own in local memory, \
         {LOCAL_ELEMENTS} elements or more for each of them; those of a group are combined there, \
         then those of the groups"
    )
}

/// Describes the treatment of rows that are not dense.
fn scattered_text(chunking: &Chunking) -> Option<&'static str> {
    chunking
        .is_by_elements()
        .then_some("rows that do not follow each other in memory are chunked by number")
}

/// Describes when the operations inside are parallelised.
fn inside_text(parallelised: &Parallelised) -> Option<String> {
    let long = match parallelised.chunking.is_by_elements() {
        true => ", or in a chunk with a row longer than two chunks,",
        false => "",
    };
    let few = parallelised.inside?;
    Some(format!(
        "with fewer than {few} iterations{long} loops inside are parallelised"
    ))
}

/// Describes why one thread runs an operation.
fn reason_text(reason: Reason) -> String {
    let text = match reason {
        Reason::Nothing => "it only checks",
        Reason::Observable => {
            "it writes traces or calls foreign functions with effects, which keep their order"
        }
        Reason::Foreign => {
            "it calls foreign functions of the host; those of the device are declared with `device`"
        }
        Reason::Nodes => {
            "it makes nodes that hold arrays, takes arrays from nodes or needs whole tables of nodes, which only one thread may"
        }
        Reason::Scatter => {
            "chunks would have to agree on which of several elements for one place is the last"
        }
        Reason::Order => "its values are combined in an order that chunks cannot keep",
        Reason::Operator => {
            "its chunks would start with a value that changes nothing, and the operator has none \
             that is known"
        }
        Reason::Small => "it is known to cost less than two chunks",
        Reason::State => {
            "each iteration needs what the one before gave, and that is no running result of an \
             operator that no order changes"
        }
        Reason::Recursion => {
            "nothing says how much recursive calls have to do, and the result depends on how it is chunked"
        }
        Reason::Expensive => "the body would be computed twice, which costs too much",
        Reason::Strategy => "the program says which threads run it",
        Reason::Inside => "a loop inside is shared among threads, because the program says so",
        Reason::Unproved => {
            "it could not be proved that its iterations do not meet, which is a limit of the compiler"
        }
        Reason::Plan => "the plan gives it to one thread",
        Reason::Deep => return format!("{NESTED_PARALLELISM} parallelised loops enclose it"),
    };
    text.to_string()
}

/// Describes why rows are not those of a matrix.
fn irregular_text(why: Irregular) -> &'static str {
    match why {
        Irregular::NotAlone => "it gives rows along with other results",
        Irregular::NoMap => "a row is not what one map gives",
        Irregular::Strategy => "the program says which threads run its iterations, or those inside",
        Irregular::Length => "how long a row is is known only inside",
        Irregular::Expensive => {
            "what stands before the inner map would be computed again for each element"
        }
    }
}
