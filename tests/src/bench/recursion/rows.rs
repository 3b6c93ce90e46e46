//! What is measured of recursive data, and what is wanted. A row is a family of programs with groups
//! of kinds and sizes of data, and the figures that are made of each.

use Quantity::{Bounded, Growth, Ratio, Scaling, Time, Value};

/// A program of `tests/recursion`, or of `nova-examples/benchmarks` with its opponents, and the data
/// that it runs on.
#[derive(Debug)]
pub struct Family {
    /// The name of the program and of its host.
    pub name: &'static str,
    /// The description of what is measured.
    pub what: &'static str,
    /// The opponents beside a benchmark program.
    pub peers: &'static [&'static str],
    /// True if it is also compiled for pthreads.
    pub threads: bool,
    /// The data.
    pub groups: &'static [Group],
}

/// Data of some kinds and sizes, with the figures that are wanted of them.
#[derive(Debug)]
pub struct Group {
    /// The kinds, as the host knows them.
    pub kinds: &'static [&'static str],
    /// The numbers of nodes, from small to large.
    pub sizes: &'static [usize],
    /// True if sides are timed in turn, false if the process prints values of one run.
    pub is_timed: bool,
    /// The figures.
    pub wanted: &'static [Wanted],
}

/// A figure, and the largest value that is wanted of it.
#[derive(Debug)]
pub struct Wanted {
    /// Its name.
    pub name: &'static str,
    /// How it is made.
    pub quantity: Quantity,
    /// The bound, if there is one.
    pub most: Option<f64>,
}

/// The ways to make a figure of what a process printed.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    /// The median, over the rounds, of the time of a side over that of the fastest of others.
    Ratio(&'static str, &'static [&'static str]),
    /// The same of a side with two threads over one with one thread. The bound is that wanted, or the ratio of
    /// the same in C and a tenth more, whichever is greater. `peer` has two threads in C, `over` one.
    Scaling {
        side: &'static str,
        one: &'static str,
        peer: &'static str,
        over: &'static [&'static str],
    },
    /// The median time of a side.
    Time(&'static str),
    /// A value that the process printed.
    Value(&'static str),
    /// All values of a name, each of which has a bound of its own.
    Bounded(&'static str),
    /// The exponent of the growth of a side's time from the first size to the one given.
    Growth(&'static str, usize),
}

impl Family {
    /// Returns the number of its processes.
    pub fn runs(&self) -> usize {
        let runs = |group: &Group| group.kinds.len() * group.sizes.len();
        self.groups.iter().map(runs).sum()
    }
}

/// Returns a figure with a bound.
const fn at_most(name: &'static str, quantity: Quantity, most: f64) -> Wanted {
    Wanted {
        name,
        quantity,
        most: Some(most),
    }
}

/// Returns a figure without a bound.
const fn shown(name: &'static str, quantity: Quantity) -> Wanted {
    Wanted {
        name,
        quantity,
        most: None,
    }
}

/// Returns data on which sides are timed.
const fn timed(
    kinds: &'static [&'static str],
    sizes: &'static [usize],
    wanted: &'static [Wanted],
) -> Group {
    Group {
        kinds,
        sizes,
        is_timed: true,
        wanted,
    }
}

/// Returns data on which values are measured in one run.
const fn once(
    kinds: &'static [&'static str],
    sizes: &'static [usize],
    wanted: &'static [Wanted],
) -> Group {
    Group {
        kinds,
        sizes,
        is_timed: false,
        wanted,
    }
}

const NOVA: &str = "NOVA";
const THREADS: &str = "NOVA, 2 threads";
const OVER_ONE_THREAD: &str = "2 threads over 1";
/// Every layout of a list with two links.
const LAYOUTS: &[&str] = &["C, structures", "C, arrays", "C, arrays shared", "C, pairs"];
/// The layouts without that of pairs.
const PLAIN_LAYOUTS: &[&str] = &["C, structures", "C, arrays", "C, arrays shared"];
/// Maps over the values alone.
const VALUES: &[&str] = &["C, two arrays", "C, in place"];
/// The shapes of trees.
pub const SHAPES: &[&str] = &[
    "balanced",
    "random",
    "caterpillar",
    "zigzag",
    "Fibonacci",
    "comb",
];

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "squaring",
        what: "a squaring of a list with two links",
        peers: &[],
        threads: true,
        groups: &[
            timed(
                &["ordered", "shuffled"],
                &[1 << 20, 1 << 24],
                &[
                    at_most("over the best layout in C", Ratio(NOVA, PLAIN_LAYOUTS), 1.1),
                    shown("over C, with pairs as a layout", Ratio(NOVA, LAYOUTS)),
                    at_most(OVER_ONE_THREAD, Ratio(THREADS, &[NOVA]), 0.65),
                    shown(
                        "ns per node, call with one squaring",
                        Value("call with one squaring"),
                    ),
                ],
            ),
            once(
                &["squarings, ordered", "squarings, shuffled"],
                &[1 << 24],
                &[shown("squarings for 2¹⁰, 2¹², …", Bounded("squarings"))],
            ),
        ],
    },
    Family {
        name: "maps",
        what: "a map in table form",
        peers: &[],
        threads: true,
        groups: &[timed(
            &["list", "tree"],
            &[1 << 20, 1 << 24],
            &[
                at_most("over C on the values", Ratio(NOVA, VALUES), 1.1),
                at_most(
                    OVER_ONE_THREAD,
                    Scaling {
                        side: THREADS,
                        one: NOVA,
                        peer: "C, in place, 2 threads",
                        over: &["C, in place"],
                    },
                    0.65,
                ),
                shown(
                    "2 threads over 1 in C",
                    Ratio("C, in place, 2 threads", &["C, in place"]),
                ),
            ],
        )],
    },
    Family {
        name: "ranking",
        what: "ranking of a list",
        peers: &[],
        threads: false,
        groups: &[timed(
            &["shuffled"],
            &[1 << 24],
            &[
                at_most("over the chase", Ratio("NOVA, sublists", &["chase"]), 1.0),
                at_most(
                    "over sublists in C",
                    Ratio("NOVA, sublists", &["C, sublists"]),
                    1.5,
                ),
                shown(
                    "walks over sublists in C",
                    Ratio("NOVA, walks", &["C, sublists"]),
                ),
            ],
        )],
    },
    Family {
        name: "tree_sum",
        what: "the sum of a tree by rake and compress",
        peers: &["tree_sum"],
        threads: false,
        groups: &[timed(
            SHAPES,
            &[100_000, 1_000_000, 10_000_000, 1 << 24],
            &[
                shown("ns per node", Time(NOVA)),
                shown("over depth-first search in C", Ratio(NOVA, &["C, stack"])),
                shown("exponent of the time", Growth(NOVA, 10_000_000)),
            ],
        )],
    },
    Family {
        name: "suffix_sum",
        what: "suffix sums of a list by pointer jumping",
        peers: &["suffix_sum", "suffix_sum_sublists"],
        threads: true,
        groups: &[
            timed(
                &["ordered", "shuffled"],
                &[1 << 24],
                &[
                    shown("ns per node", Time(NOVA)),
                    shown("over the best C", Ratio(NOVA, &["C, chase", "C, sublists"])),
                    shown(OVER_ONE_THREAD, Ratio(THREADS, &[NOVA])),
                ],
            ),
            once(
                &["memory"],
                &[1 << 24],
                &[
                    at_most(
                        "tables beside argument and result",
                        Value("tables of 16 bytes a node"),
                        2.5,
                    ),
                    shown("peak in MB", Value("peak in MB")),
                ],
            ),
        ],
    },
    Family {
        name: "reversing",
        what: "a list of 1,000 nodes reversed 10⁵ times",
        peers: &[],
        threads: true,
        groups: &[once(
            &["1 thread", "2 threads"],
            &[100_000],
            &[
                at_most("peak in MB", Value("peak in MB"), 40.0),
                shown("ns per node", Value("ns per node")),
            ],
        )],
    },
    Family {
        name: "vectors",
        what: "a list from a vector, and back",
        peers: &[],
        threads: false,
        groups: &[
            timed(
                &["times"],
                &[10_000_000],
                &[
                    at_most(
                        "ns per node, list of a vector",
                        Time("NOVA, list of a vector"),
                        5.0,
                    ),
                    at_most(
                        "ns per node, vector of a list",
                        Time("NOVA, vector of a list"),
                        10.0,
                    ),
                    shown("ns per node, there and back", Time("NOVA, there and back")),
                ],
            ),
            once(
                &["memory"],
                &[10_000_000],
                &[
                    at_most(
                        "bytes per node beside argument and result",
                        Value("bytes per node"),
                        24.0,
                    ),
                    shown(
                        "bytes per node beside the argument",
                        Value("bytes per node with the result"),
                    ),
                ],
            ),
        ],
    },
    Family {
        name: "building",
        what: "a list by constructors",
        peers: &[],
        threads: false,
        groups: &[timed(
            &["iterate"],
            &[10_000_000],
            &[at_most(
                "over an index table in C",
                Ratio(NOVA, &["C, index table"]),
                1.5,
            )],
        )],
    },
    Family {
        name: "tables",
        what: "a table of C as an argument",
        peers: &[],
        threads: false,
        groups: &[
            timed(
                &["ordered"],
                &[1_000_000],
                &[at_most("ns per node", Time(NOVA), 10.0)],
            ),
            timed(
                &["shuffled"],
                &[1_000_000],
                &[
                    shown("ns per node", Time(NOVA)),
                    shown("over a walk in C", Ratio(NOVA, &["C, walk"])),
                ],
            ),
        ],
    },
    Family {
        name: "dividing",
        what: "a tree built by divide and conquer",
        peers: &[],
        threads: true,
        groups: &[timed(
            &["balanced"],
            &[1 << 24],
            &[
                at_most(OVER_ONE_THREAD, Ratio(THREADS, &[NOVA]), 0.65),
                shown("over recursion in C", Ratio(NOVA, &["C, recursion"])),
            ],
        )],
    },
    Family {
        name: "inserts",
        what: "inserts into a balanced tree",
        peers: &[],
        threads: false,
        groups: &[
            timed(
                &["times"],
                &[10_000, 100_000, 1_000_000],
                &[
                    shown("ns per insert", Time(NOVA)),
                    shown("over C in place", Ratio(NOVA, &["C, in place"])),
                    at_most("exponent of growth", Growth(NOVA, 1_000_000), 1.3),
                ],
            ),
            once(
                &["memory"],
                &[1_000_000],
                &[at_most("bytes per key", Value("bytes per key"), 120.0)],
            ),
        ],
    },
    Family {
        name: "pebbles",
        what: "moves of the pebble game",
        peers: &[],
        threads: false,
        groups: &[once(
            SHAPES,
            &[1 << 24],
            &[shown("moves for 2¹⁰, 2¹², … nodes", Bounded("moves"))],
        )],
    },
];
