//! What is measured of recursive data, lists, trees and `foreach`, and what is wanted.

use super::hosted::rows::Quantity::{Bounded, Growth, Ratio, Scaling, Time, Value};
use super::hosted::rows::{Collection, Family, at_most, once, shown, timed};

/// Programs on recursive data.
pub const RECURSION: Collection = Collection {
    name: "recursion",
    folder: "recursion",
    what: "of recursive data",
    units: ["node", "nodes"],
    least_size: 1 << 10,
    families: FAMILIES,
};

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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
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
        sources: &[],
        threads: false,
        groups: &[once(
            SHAPES,
            &[1 << 24],
            &[shown("moves for 2¹⁰, 2¹², … nodes", Bounded("moves"))],
        )],
    },
];
