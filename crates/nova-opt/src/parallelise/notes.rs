//! What became of each operation and each sort of a program, and why, for those who ask. The pass
//! records it by the variables that these bind, so that it can be found again in the program that the
//! pass leaves: there an operation that was divided is a conditional, whose second branch runs it as
//! it was.

use super::Parallelism;
use super::chunking::{FEW, FEW_THREADS, ROUND, wants_idle};
use super::code::Code;
use super::cost::Cost;
use super::grid::makes_apart;
use super::histogram::ELEMENTS;
use super::keys::Key;
use super::lanes::alone;
use super::ordered::{Alignment, Freedom, alignment, freedom, is_free};
use super::privatised_histogram::{known_bins, most_local_bins};
use super::radix::least;
use super::segmented_reduction::{Segments, few_rows};
use super::tiles::{is_filter, takes_turns, tile_size};
use crate::flatten_regular::Irregular;
use nova_core::order::BLOCK;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::each_statement;
use std::collections::HashMap;

/// What is recorded of a program.
#[derive(Clone, Debug)]
pub struct Notes {
    /// How operations are divided.
    pub parallelism: Parallelism,
    of: HashMap<Variable, Note>,
}

/// What is recorded of an operation or a sort.
#[derive(Clone, Debug)]
pub struct Note {
    /// What became of it.
    pub fate: Fate,
    /// True if it stands inside of an operation that is divided: then it is divided only where that
    /// has few indices, or one of them a long row.
    pub nested: bool,
    /// Why the rows that it makes are not those of a matrix, if it makes rows.
    pub irregular: Option<Irregular>,
}

/// What became of an operation or a sort.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It is divided where it is large enough.
    Parallelised(Parallelised),
    /// One thread does it, for this reason.
    Whole(Reason),
}

/// How an operation or a sort is divided.
#[derive(Clone, Debug)]
pub struct Parallelised {
    /// How indices are cut into parts.
    pub cut: Chunking,
    /// What is done apart from the parts, or inside of these, each once.
    pub steps: Vec<Step>,
    /// True if it is divided only if a thread has nothing to do when it begins, since the whole is
    /// less to do.
    pub idle: bool,
    /// With fewer indices than this the operations in its body are divided, where these are worth it.
    pub inside: Option<i64>,
}

/// How indices are cut into parts.
#[derive(Clone, Debug)]
pub enum Chunking {
    /// An index each, for a thread of a kernel.
    Each,
    /// Into parts of as many indices.
    Even {
        /// From how many indices on it is divided, and how many each part has at least, if it is
        /// known what an index costs.
        sizes: Option<(i64, i64)>,
        /// What an index costs, in cheap scalar operations.
        cost: i64,
        /// What it costs besides: for each index of a space of these extents so much.
        loops: Vec<(Vec<Atom>, i64)>,
    },
    /// Into blocks of which [`super::LANES`] threads of a kernel take the indices in turn, so that
    /// neighbouring threads have neighbouring ones.
    Lanes {
        /// From how many indices on it is divided.
        from: i64,
        /// How many each thread has at least, where there are so many.
        least: i64,
        /// What an index costs, in cheap scalar operations.
        cost: i64,
    },
    /// Into tiles, each for a work-group whose threads take neighbouring indices.
    Tiles {
        /// From how many indices on it is divided.
        from: i64,
        /// The number of indices a tile has.
        size: i64,
        /// What an index costs, in cheap scalar operations.
        cost: i64,
    },
    /// Into parts for work-groups whose threads have bins and take neighbouring indices.
    Bins {
        /// From how many indices on it is divided.
        from: i64,
        /// What an index costs, in cheap scalar operations.
        cost: i64,
    },
    /// Into parts of about as many elements of rows.
    Elements {
        /// What a row costs.
        row: i64,
        /// What each of its elements costs.
        element: i64,
    },
    /// Nothing says what an index costs, since it calls recursive functions: into parts of which some
    /// are for each thread, if a thread has nothing to do when the operation begins.
    Asked,
    /// Into runs of a power of two of elements.
    Runs,
    /// Into parts that store into the same arrays.
    Stores,
    /// An index each, for a thread of a kernel that stores into the same arrays as others.
    Arrays {
        /// From how many elements of an array on.
        from: i64,
    },
    /// Into tiles, which kernels sort by a key, digit by digit.
    Digits {
        /// From how many elements on.
        from: i64,
    },
}

/// What is done apart from the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Indices claim the elements where they store: the last of them wins.
    Claims,
    /// What the parts reduce to is reduced.
    Reduce(Freedom),
    /// What the lanes reduce to is reduced by kernels while there are more values than this, then by the
    /// host.
    Lanes(i64),
    /// The number of elements each tile keeps comes first, then the elements.
    Kept,
    /// Each tile hands on how many elements are kept so far, in its turn, and writes its own behind those.
    KeptInTurns,
    /// What each tile reduces to comes first, then the running results of these, then of the tiles.
    Tiles,
    /// Each tile hands on what it comes to, in its turn, and goes on with what it has been given.
    Turns,
    /// Where there are many indices, groups of threads take blocks of so many of each dimension, and bring
    /// tiles of so many of the loop inside to their memory.
    Blocks {
        /// The number of threads a group has.
        threads: i64,
        /// The indices of a block in each dimension; 1 where there is no second one.
        block: [i64; 2],
        /// The rounds of a tile.
        tile: i64,
    },
    /// Where there are many indices, groups of threads take stretches of so many neighbouring ones, and bring
    /// what these read of so many arrays to their memory.
    Neighbours {
        /// The indices of a stretch.
        stretch: i64,
        /// The number of arrays they read neighbours of.
        arrays: usize,
    },
    /// Rows of so many elements or more on average have lanes each, up to so many, whose values are combined
    /// in memory of work-groups.
    Segments {
        /// The elements of a row that are worth it.
        worth: i64,
        /// The most lanes of a row.
        threads: i64,
        /// Rows of a nested vector with so many times the mean have a group each.
        times: i64,
    },
    /// What each part, or block, reduces to comes first, then the running results.
    Scan(Freedom),
    /// The same for state that is a running result.
    State,
    /// The number of elements each part keeps comes first, then the elements.
    Count,
    /// What each part keeps is copied behind each other.
    Keep,
    /// The rows that each part makes are copied behind each other.
    Rows,
    /// Each part has bins of its own, which are combined.
    Bins,
    /// Up to so many bins, threads of work-groups have bins of their own in local memory, which are
    /// combined there, then those of the groups.
    LocalBins(i64),
    /// Sorted parts are merged.
    Merge,
    /// The same where a key has no order.
    MergeDisordered,
}

/// Why one thread does an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It only checks.
    Nothing,
    /// Its effects can be seen from outside.
    Observable,
    /// It calls foreign functions that the device does not have.
    Foreign,
    /// It appends nodes to the tables of recursive data, which threads cannot.
    Nodes,
    /// Its elements go to places that are computed.
    Scatter,
    /// Its values are combined in an order that parts cannot keep.
    Order,
    /// Its parts would start with a value that changes nothing, and none is known.
    Operator,
    /// It is known to cost less than two parts.
    Small,
    /// It passes on state that is no running result of an operator that no order changes.
    State,
    /// What recursive functions cost is not known, and how parts are cut would change the result.
    Recursion,
    /// Parts of scans compute the body twice, which is dear here.
    Dear,
    /// Too many divided operations are around it.
    Deep,
    /// The program says who runs it.
    Strategy,
    /// An operation inside of it is shared among threads, because the program says so.
    Inside,
    /// Nothing shows that its iterations do not meet.
    Unproved,
}

impl Notes {
    pub(super) fn new(parallelism: Parallelism) -> Notes {
        let of = HashMap::new();
        Notes { parallelism, of }
    }

    /// What is recorded of what binds one of these variables.
    pub fn of(&self, pattern: &[Variable]) -> Option<&Note> {
        pattern.iter().find_map(|variable| self.of.get(variable))
    }

    /// Records something of what binds a variable.
    pub(super) fn insert(&mut self, variable: Variable, note: Note) {
        self.of.insert(variable, note);
    }

    /// Records that what binds a variable, of which something is recorded, is divided.
    pub(super) fn divide(&mut self, variable: Variable, divided: Parallelised) {
        if let Some(note) = self.of.get_mut(&variable) {
            note.fate = Fate::Parallelised(divided);
        }
    }

    /// Records of the first variables what is recorded of the second.
    pub(super) fn copy(&mut self, pairs: &[(Variable, Variable)]) {
        for (to, from) in pairs {
            if let Some(note) = self.of.get(from).cloned() {
                self.of.insert(*to, note);
            }
        }
    }
}

/// The variable by which something is recorded of a statement.
pub(super) fn key(statement: &Statement) -> Option<Variable> {
    match &statement.expression {
        Expression::Operation(_) | Expression::Sort { .. } => statement.pattern.first().copied(),
        _nothing_to_divide => None,
    }
}

/// The operations and sorts in two bodies of which one is a copy of the other, by the variables by
/// which something is recorded of them.
pub(super) fn pairs(one: &Body, other: &Body) -> Vec<(Variable, Variable)> {
    let keys = |body: &Body| {
        let mut keys = Vec::new();
        each_statement(body, &mut |statement| keys.extend(key(statement)));
        keys
    };
    keys(one).into_iter().zip(keys(other)).collect()
}

impl Parallelised {
    /// An operation that stores into arrays from around, whose values threads claim places for if they
    /// differ.
    pub(super) fn storing(parallelism: Parallelism, claims: bool) -> Parallelised {
        Parallelised {
            cut: match parallelism.kernels {
                true => Chunking::Arrays {
                    from: 2 * parallelism.grain,
                },
                false => Chunking::Stores,
            },
            steps: claims.then_some(Step::Claims).into_iter().collect(),
            idle: false,
            inside: None,
        }
    }

    /// How a sort is divided, by a key if there is one.
    pub(super) fn sort(key: Option<&Key>, parallelism: Parallelism) -> Parallelised {
        let (cut, steps) = match key {
            Some(key) => {
                let from = least(parallelism).saturating_add(1);
                let merges = key.scalar.is_float().then_some(Step::MergeDisordered);
                (Chunking::Digits { from }, merges.into_iter().collect())
            }
            None => (Chunking::Runs, vec![Step::Merge]),
        };
        Parallelised {
            cut,
            steps,
            idle: false,
            inside: None,
        }
    }
}

impl Code<'_> {
    /// How an operation is divided; `inside` and `twice` as in [`super::grid::Way`].
    pub(super) fn divided(
        &self,
        operation: &ArrayOperation,
        (inside, twice): (bool, bool),
        parallelism: Parallelism,
    ) -> Parallelised {
        let (cost, rows) = self.cost_by_row(operation);
        let cost_unknown = cost.unknown;
        let local = self.has_local_bins(operation, parallelism);
        let known = known_bins(operation).filter(|_| local);
        let cut = match (rows, known) {
            _ if parallelism.kernels && makes_apart(operation) => Chunking::Each,
            _ if self.has_lanes(operation, parallelism) => lanes(&cost, parallelism),
            _ if self.has_tiles(operation, parallelism) => {
                let cost = cost.fixed.max(1);
                Chunking::Tiles {
                    from: quotient_up(2 * parallelism.grain, cost),
                    size: tile_size(self.program, operation),
                    cost,
                }
            }
            _ if cost_unknown => Chunking::Asked,
            (_, Some(bins)) => in_groups(bins, &cost, parallelism),
            (Some(_), None) => Chunking::Elements {
                row: cost.fixed.max(1),
                element: cost.element,
            },
            (None, None) => self.even(operation, cost, parallelism),
        };
        let turns = takes_turns(operation, parallelism);
        let mut steps = Vec::new();
        let blocks = self.cut_into_blocks(operation, parallelism);
        let segments = match &blocks {
            Some(_) => None,
            None => self.segments(operation, parallelism),
        };
        steps.extend(segments.iter().map(|_| Segments::step()));
        let few = match (&segments, parallelism.kernels) {
            (Some(_), _) => few_rows(parallelism),
            (None, true) => FEW_THREADS,
            (None, false) => FEW,
        };
        steps.extend(blocks.map(|blocks| blocks.step()));
        if !operation.carries.is_empty() && !matches!(cut, Chunking::Tiles { .. }) {
            steps.push(Step::State);
        }
        if local {
            steps.push(Step::LocalBins(most_local_bins(self.program, operation)));
        }
        for output in &operation.outputs {
            let step = match cut {
                Chunking::Lanes { .. } => Some(Step::Lanes(alone(parallelism))),
                Chunking::Tiles { .. } if is_filter(operation) && turns => Some(Step::KeptInTurns),
                Chunking::Tiles { .. } if is_filter(operation) => Some(Step::Kept),
                Chunking::Tiles { .. } if turns => Some(Step::Turns),
                Chunking::Tiles { .. } => Some(Step::Tiles),
                Chunking::Bins { .. } => None,
                Chunking::Each
                | Chunking::Even { .. }
                | Chunking::Elements { .. }
                | Chunking::Asked
                | Chunking::Stores
                | Chunking::Arrays { .. }
                | Chunking::Digits { .. }
                | Chunking::Runs => step(output, twice, self.strict),
            };
            if let Some(step) = step
                && !steps.contains(&step)
            {
                steps.push(step);
            }
        }
        Parallelised {
            cut,
            steps,
            idle: !cost_unknown && wants_idle(operation, parallelism),
            inside: inside.then_some(few),
        }
    }

    fn even(&self, operation: &ArrayOperation, cost: Cost, parallelism: Parallelism) -> Chunking {
        let Cost { fixed, loops, .. } = cost;
        let inner = operation.shape.get(1..).unwrap_or_default();
        let grain = parallelism.grain;
        let each = fixed.max(1);
        let sizes = (loops.is_empty() && inner.is_empty()).then(|| {
            let least = even_size(grain, each, alignment(operation, self.strict));
            let worth = quotient_up(2 * grain, each);
            match is_free(operation, self.strict) {
                true => (worth, least),
                false => (worth.max(least + 1), least),
            }
        });
        match inner.is_empty() {
            true => Chunking::Even {
                sizes,
                cost: each,
                loops,
            },
            // All is done for each index of the inner dimensions.
            false => {
                let of_all = |(extents, each): (Vec<Atom>, i64)| ([inner, &extents].concat(), each);
                let own = (inner.to_vec(), each);
                let loops = loops.into_iter().map(of_all);
                Chunking::Even {
                    sizes,
                    cost: 0,
                    loops: std::iter::once(own).chain(loops).collect(),
                }
            }
        }
    }
}

/// How an operation of which an index costs so much is cut into lanes.
fn lanes(cost: &Cost, parallelism: Parallelism) -> Chunking {
    let cost = cost.fixed.max(1);
    Chunking::Lanes {
        from: quotient_up(2 * parallelism.grain, cost),
        least: quotient_up(parallelism.grain, cost),
        cost,
    }
}

/// How a histogram is cut of which it is known that its bins fit the memory of groups.
fn in_groups(bins: i64, cost: &Cost, parallelism: Parallelism) -> Chunking {
    let each = cost.fixed.max(1);
    let least = even_size(parallelism.grain, each, Alignment::Free);
    let worth = quotient_up(2 * parallelism.grain, each).max(least + 1);
    Chunking::Bins {
        from: worth.max(bins.saturating_mul(2 * ELEMENTS)),
        cost: each,
    }
}

/// `⌈a / b⌉` for `a` from 0 on and `b` from 1 on.
fn quotient_up(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a % b > 0)
}

/// The number of indices an even part has at least, of which each costs so much.
fn even_size(grain: i64, cost: i64, alignment: Alignment) -> i64 {
    let block = BLOCK as i64;
    let up = |size: i64, to: i64| (size + to - 1) / to * to;
    let size = up(grain, cost) / cost;
    let size = match size < ROUND {
        true => size,
        false => up(size, ROUND),
    };
    match alignment {
        Alignment::Free => size,
        Alignment::Block => up(size, block),
        Alignment::Subtree => {
            let size = size.max(block).unsigned_abs();
            size.next_power_of_two() as i64
        }
    }
}

/// What an output asks for apart from the parts.
fn step(output: &Output, twice: bool, strict: bool) -> Option<Step> {
    match output {
        Output::Map | Output::Scatter { .. } | Output::Join { .. } => None,
        Output::Reduce { lambda, .. } => Some(Step::Reduce(freedom(lambda, strict))),
        Output::Scan { lambda, .. } => Some(Step::Scan(freedom(lambda, strict))),
        Output::Filter { .. } if twice => Some(Step::Count),
        Output::Filter { .. } => Some(Step::Keep),
        Output::Histogram { .. } => Some(Step::Bins),
        Output::Collect { .. } => Some(Step::Rows),
    }
}
