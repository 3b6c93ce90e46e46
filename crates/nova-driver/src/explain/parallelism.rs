//! The part of the report on the division among threads: for each operation and each sort how it is
//! divided, or why it is not. What `parallelise` wrote in place of one is not looked into; its second
//! branch has the operation as it was.

use super::{PARALLELISE, Report};
use crate::code::Code;
use crate::compiler::Compiler;
use crate::pipeline::{PASSES, is_enabled};
use nova_flat::ir::{Atom, Body, Expression, Statement};
use nova_flat::visit::{bodies, each_statement};
use nova_opt::flatten_regular::Irregular;
use nova_opt::parallelise::{
    self, Chunking, DEEPEST, ELEMENTS, Fate, Freedom, LANES, LOCAL_ELEMENTS, Note, Notes,
    Parallelised, Reason, Step,
};

impl Compiler {
    /// What the pass does with each operation of a program that stands before it, where it runs.
    pub(super) fn notes(&self, flat: &mut Code) -> Option<Notes> {
        let options = self.options();
        let runs =
            |pass: &&crate::pipeline::Pass| pass.name == PARALLELISE && is_enabled(pass, options);
        let (Code::Flat(program), Some(parallelism)) = (flat, options.parallelism()) else {
            return None;
        };
        let pass = PASSES.iter().find(runs);
        pass.and_then(|_| parallelise::notes(program, parallelism, &options.alone))
    }
}

/// Of what `parallelise` wrote in place of an operation, the body that has the operation as it was.
pub(super) fn whole<'a>(notes: Option<&Notes>, statement: &'a Statement) -> Option<&'a Body> {
    let note = notes?.of(&statement.pattern)?;
    match (&note.fate, &statement.expression) {
        (Fate::Parallelised(_), Expression::If { otherwise, .. }) => Some(otherwise),
        (Fate::Parallelised(_) | Fate::Whole(_), _other_statement) => None,
    }
}

/// Calls `visit` on every statement below a body, as it was before operations were divided.
pub(super) fn each_undivided<'a>(
    notes: Option<&Notes>,
    body: &'a Body,
    visit: &mut dyn FnMut(&'a Statement),
) {
    for statement in &body.statements {
        if let Some(whole) = whole(notes, statement) {
            nova_diag::deep(|| each_undivided(notes, whole, &mut *visit));
            continue;
        }
        visit(statement);
        bodies(&statement.expression, &mut |inner| {
            nova_diag::deep(|| each_undivided(notes, inner, &mut *visit));
        });
    }
}

impl Report<'_> {
    fn note(&self, statement: &Statement) -> Option<&Note> {
        match &statement.expression {
            Expression::Operation(_) | Expression::Sort { .. } => {
                self.notes.as_ref()?.of(&statement.pattern)
            }
            _nothing_to_divide => None,
        }
    }

    /// True if threads share an operation or a sort, whatever is around it.
    pub(super) fn is_divided(&self, statement: &Statement) -> bool {
        let note = self.note(statement);
        note.is_some_and(|note| !note.nested && matches!(note.fate, Fate::Parallelised(_)))
    }

    /// The lines on the division of an operation or a sort.
    pub(super) fn parallelism(&self, statement: &Statement) -> Vec<String> {
        let (Some(notes), Some(note)) = (&self.notes, self.note(statement)) else {
            return Vec::new();
        };
        let grain = notes.parallelism.grain;
        let mut lines: Vec<String> = self.nest(statement, note).into_iter().collect();
        match &note.fate {
            Fate::Whole(Reason::Strategy) => {}
            Fate::Whole(reason) => lines.push(format!("not divided: {}", reason_text(*reason))),
            Fate::Parallelised(divided) => {
                let where_divided = match note.nested {
                    true => "divided where the loop around it has few rounds or a long row: ",
                    false => "",
                };
                lines.push(format!(
                    "{where_divided}{}",
                    self.cutting(&divided.cut, grain)
                ));
                let steps = divided.steps.iter().map(|step| step_text(*step));
                lines.extend(steps);
                if divided.idle {
                    let text = "only if a thread has nothing to do when it begins: the whole is \
                                less to do, and gives the same";
                    lines.push(text.to_string());
                }
                lines.extend(scattered_text(&divided.cut).map(str::to_string));
                lines.extend(inside_text(divided));
            }
        }
        lines
    }

    /// What became of a nest.
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
            Fate::Parallelised(divided) => match divided.cut {
                Chunking::Elements { .. } => "an irregular nest: a balanced outer loop",
                Chunking::Each
                | Chunking::Even { .. }
                | Chunking::Lanes { .. }
                | Chunking::Tiles { .. }
                | Chunking::Bins { .. }
                | Chunking::Asked
                | Chunking::Runs
                | Chunking::Stores
                | Chunking::Arrays { .. }
                | Chunking::Digits { .. } => "a nest: an outer loop",
            },
            Fate::Whole(_) => "a nest: a loop in a loop",
        };
        let why = note.irregular.map_or(String::new(), |why| {
            format!("; no matrix, since {}", irregular_text(why))
        });
        has_loops.then(|| format!("{kind}{why}"))
    }

    /// How indices are cut, and from where on.
    fn cutting(&self, cut: &Chunking, grain: i64) -> String {
        let twice = 2 * grain;
        match cut {
            Chunking::Even {
                sizes: Some((from, least)),
                cost,
                ..
            } => format!(
                "from {from} rounds on, into even parts of {least} or more; a round counts as {}",
                operations(*cost)
            ),
            Chunking::Even {
                sizes: None,
                cost,
                loops,
            } => format!(
                "from {twice} operations on, into even parts of {grain} or more; a round counts \
                 as {}",
                self.sum(*cost, loops)
            ),
            Chunking::Lanes { from, least, cost } => format!(
                "from {from} rounds on, as a kernel in blocks of {LANES} lanes: neighbouring \
                 threads take neighbouring rounds, each {least} or more in steps of {LANES}; a \
                 round counts as {}",
                operations(*cost)
            ),
            Chunking::Tiles { from, size, cost } => format!(
                "from {from} rounds on, as kernels of work-groups: each takes a tile of {size} \
                 rounds, in which neighbouring threads take neighbouring rounds; a round counts as {}",
                operations(*cost)
            ),
            Chunking::Bins { from, cost } => format!(
                "from {from} rounds on, as kernels of work-groups, of which neighbouring threads take \
                 neighbouring rounds; a round counts as {}",
                operations(*cost)
            ),
            Chunking::Elements { row, element } => format!(
                "from {twice} operations on, into parts of {grain} or more, with about as many \
                 elements, not rows; a row counts as {}, each of its elements as {element}",
                operations(*row)
            ),
            Chunking::Each => {
                format!("from {twice} operations on, as a kernel with a thread for each round")
            }
            Chunking::Asked => "if a thread has nothing to do when it begins, since nothing says \
                               how much recursive calls have to do"
                .to_string(),
            Chunking::Stores => {
                format!("from {twice} operations on, into parts that store into the same array")
            }
            Chunking::Arrays { from } => format!(
                "where the array has {from} elements or more, or as many are stored, as a kernel \
                 with a thread for each round"
            ),
            Chunking::Runs => "into runs of a power of two of elements".to_string(),
            Chunking::Digits { from } => format!(
                "from {from} elements on, by the digits of a key, the last one first: kernels sort \
                 tiles by a digit and take from these what comes next; digits in which no keys \
                 differ are left out"
            ),
        }
    }

    /// A cost that depends on extents.
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

/// How rows that are reduced are shared by threads ([`Step::Segments`]).
fn segments_text(worth: i64, threads: i64, times: i64) -> String {
    format!(
        "where rows have {worth} elements or more on average, in work-groups of {threads} threads, \
         which share each row as so many lanes as have two elements, and combine their values in \
         local memory; rows {times} times as long have a group each"
    )
}

/// What threads share of a nest ([`Step::Blocks`]).
fn blocks_text(threads: i64, [rows, columns]: [i64; 2], tile: i64) -> String {
    let block = match columns {
        1 => format!("{rows}"),
        _ => format!("{rows} x {columns}"),
    };
    format!(
        "where there are many rounds, in work-groups of {threads} threads for {block} of them, \
         which bring what {tile} rounds of the loop inside read to local memory at a time, each \
         element once"
    )
}

/// What threads share of a stencil ([`Step::Neighbours`]).
fn neighbours_text(stretch: i64, arrays: usize) -> String {
    let of = match arrays {
        1 => "an array".to_string(),
        _ => format!("{arrays} arrays"),
    };
    format!(
        "where there are many rounds, in work-groups for stretches of {stretch} of them, which \
         bring the neighbours that these read in {of} to local memory"
    )
}

/// What is done apart from the parts.
fn step_text(step: Step) -> String {
    let text = match step {
        Step::Reduce(Freedom::Neutral) => "what the parts give is reduced",
        Step::Reduce(Freedom::Any) => {
            "what the parts give is reduced; a part starts with its first element, since no value \
             is known that changes nothing"
        }
        Step::Reduce(Freedom::Strict { .. }) => {
            "what the parts give is reduced; parts are subtrees of the strict order, which is kept"
        }
        Step::Lanes(alone) => {
            return format!(
                "what the lanes give is reduced: by a kernel in lanes as long as it is more than \
                 {alone} values, then by the host"
            );
        }
        Step::Tiles => {
            "in three steps: what each tile reduces to, what each begins with, then the running \
             results, in memory of the work-group"
        }
        Step::Claims => {
            "of several rounds that store one element the last wins: two kernels find out which, \
             each with a thread for each round"
        }
        Step::Kept => {
            "in three steps: how many elements each tile keeps, where these begin, then the \
             elements, found in memory of the work-group"
        }
        Step::KeptInTurns => {
            "in one pass: each tile hands on, in its turn, how many elements are kept so far, then \
             writes its own, found in memory of the work-group"
        }
        Step::Turns => {
            "in one pass: each tile hands on, in its turn, what all up to its end come to, then has \
             the running results, in memory of the work-group"
        }
        Step::Segments {
            worth,
            threads,
            times,
        } => return segments_text(worth, threads, times),
        Step::Blocks {
            threads,
            block,
            tile,
        } => return blocks_text(threads, block, tile),
        Step::Neighbours { stretch, arrays } => return neighbours_text(stretch, arrays),
        Step::Scan(Freedom::Neutral | Freedom::Any) => {
            "in two steps: what each part reduces to, then the running results"
        }
        Step::Scan(Freedom::Strict { .. }) => {
            "in two steps: what each block of the strict order reduces to, then the running results"
        }
        Step::State => "in two steps: what each part adds to the state, then the parts",
        Step::Count => "in two steps: how many elements each part keeps, then the elements",
        Step::Keep => "what the parts keep is copied behind each other",
        Step::Rows => "the rows of the parts are copied behind each other",
        Step::Bins => {
            return format!(
                "one set of bins for each part, which are combined; a part has {ELEMENTS} elements \
                 or more for each of its bins"
            );
        }
        Step::LocalBins(most) => {
            return format!(
                "up to {most} bins: each thread of a work-group has bins of its own in local memory, \
                 {LOCAL_ELEMENTS} elements or more for each of them; those of a group are combined there, \
                 then those of the groups"
            );
        }
        Step::Merge => "runs are sorted, then merged in pieces of their size",
        Step::MergeDisordered => {
            "where a key is nan, runs are sorted, then merged in pieces of their size"
        }
    };
    text.to_string()
}

/// What is done with rows that are not dense.
fn scattered_text(cut: &Chunking) -> Option<&'static str> {
    match cut {
        Chunking::Elements { .. } => {
            Some("rows that do not follow each other in memory are cut by number")
        }
        Chunking::Each
        | Chunking::Even { .. }
        | Chunking::Lanes { .. }
        | Chunking::Tiles { .. }
        | Chunking::Bins { .. }
        | Chunking::Asked
        | Chunking::Runs
        | Chunking::Stores
        | Chunking::Arrays { .. }
        | Chunking::Digits { .. } => None,
    }
}

/// When the operations inside are divided.
fn inside_text(divided: &Parallelised) -> Option<String> {
    let long = match &divided.cut {
        Chunking::Elements { .. } => ", or in a part with a row longer than two parts,",
        Chunking::Each
        | Chunking::Even { .. }
        | Chunking::Lanes { .. }
        | Chunking::Tiles { .. }
        | Chunking::Bins { .. }
        | Chunking::Asked
        | Chunking::Runs
        | Chunking::Stores
        | Chunking::Arrays { .. }
        | Chunking::Digits { .. } => "",
    };
    let few = divided.inside?;
    Some(format!(
        "with fewer than {few} rounds{long} loops inside are divided"
    ))
}

/// Why one thread does an operation.
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
            "it makes nodes of recursive data, whose table only one thread may append to"
        }
        Reason::Scatter => {
            "parts would have to agree on which of several elements for one place is the last"
        }
        Reason::Order => "its values are combined in an order that parts cannot keep",
        Reason::Operator => {
            "its parts would start with a value that changes nothing, and the operator has none \
             that is known"
        }
        Reason::Small => "it is known to cost less than two parts",
        Reason::State => {
            "each round needs what the one before gave, and that is no running result of an \
             operator that no order changes"
        }
        Reason::Recursion => {
            "nothing says how much recursive calls have to do, and the result depends on how parts \
             are cut"
        }
        Reason::Dear => "the body would be computed twice, which costs too much",
        Reason::Strategy => "the program says who runs it",
        Reason::Inside => "a loop inside is shared among threads, because the program says so",
        Reason::Unproved => {
            "it could not be proved that its rounds do not meet, which is a limit of the compiler"
        }
        Reason::Deep => return format!("{DEEPEST} divided loops are around it"),
    };
    text.to_string()
}

/// Why rows are not those of a matrix.
fn irregular_text(why: Irregular) -> &'static str {
    match why {
        Irregular::NotAlone => "it gives rows along with other results",
        Irregular::NoMap => "a row is not what one map gives",
        Irregular::Strategy => "the program says who runs its rounds, or those inside",
        Irregular::Length => "how long a row is is known only inside",
        Irregular::Dear => {
            "what stands before the inner map would be computed again for each element"
        }
    }
}
