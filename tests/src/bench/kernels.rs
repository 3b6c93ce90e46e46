//! What is measured of kernels that libraries have, too: sorts, products of matrices, and the five of
//! BabelStream. What is wanted of each stands beside it.

use super::hosted::rows::Quantity::{Best, BestRate, Rate, Ratio};
use super::hosted::rows::{Collection, Family, Group, Wanted, at_most, shown, timed};

/// Kernels against libraries and against C and C++ by hand.
pub const KERNELS: Collection = Collection {
    name: "kernels",
    folder: "kernels",
    what: "of kernels",
    units: ["unit", "size"],
    least_size: 64,
    families: FAMILIES,
};

const NOVA: &str = "NOVA";
const THREADS: &str = "NOVA, 2 threads";

/// The time over that of a library that is wanted: nine tenths of its speed.
const SPEED_OF_LIBRARY: f64 = 1.0 / 0.9;
/// The repetitions of BabelStream, of which the first one is not counted.
const REPETITIONS: usize = 99;
/// The sorts with one thread.
const SORTS: &[&str] = &[
    "std",
    "radix, 8 bits",
    "radix, 11 bits",
    "radix, most significant first",
];
/// The sorts with two threads.
const PARALLEL_SORTS: &[&str] = &[
    "parallel std",
    "radix, 8 bits, 2 threads",
    "radix, 11 bits, 2 threads",
    "radix, most significant first, 2 threads",
];
/// The figures of a sort.
const OF_SORT: &[Wanted] = &[
    at_most("over the best sort", Ratio(NOVA, SORTS), 1.15),
    at_most(
        "with 2 threads over the best sort",
        Ratio(THREADS, PARALLEL_SORTS),
        1.15,
    ),
    shown("over std", Ratio(NOVA, &["std"])),
    shown("2 threads over 1", Ratio(THREADS, &[NOVA])),
];

/// The figures of kernels of BabelStream, by their names. Rates are gigabytes a second.
macro_rules! of_stream {
    ($($kernel:literal)*) => { &[$(
        at_most(
            concat!($kernel, " over the best in C"),
            Best(
                concat!($kernel, ": NOVA"),
                &[concat!($kernel, ": C"), concat!($kernel, ": C, non-temporal")],
            ),
            1.1,
        ),
        shown(concat!($kernel, ", GB/s"), BestRate(&[concat!($kernel, ": NOVA")])),
        shown(
            concat!($kernel, " in C, GB/s"),
            BestRate(&[concat!($kernel, ": C"), concat!($kernel, ": C, non-temporal")]),
        ),
        at_most(
            concat!($kernel, " with 2 threads over the best with OpenMP"),
            Best(
                concat!($kernel, ": NOVA, 2 threads"),
                &[concat!($kernel, ": OpenMP"), concat!($kernel, ": OpenMP, non-temporal")],
            ),
            1.1,
        ),
        shown(
            concat!($kernel, " with 2 threads, GB/s"),
            BestRate(&[concat!($kernel, ": NOVA, 2 threads")]),
        ),
        shown(
            concat!($kernel, " with OpenMP, GB/s"),
            BestRate(&[concat!($kernel, ": OpenMP"), concat!($kernel, ": OpenMP, non-temporal")]),
        ),
    )*] };
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "sort",
        what: "sorts of 4 types of elements. The unit is an element",
        peers: &[],
        sources: &["sort_peers"],
        threads: true,
        groups: &[timed(
            &[
                "int random",
                "uint64 random",
                "float random",
                "pair random",
                "int sorted",
                "uint64 sorted",
                "float sorted",
                "pair sorted",
                "int few",
                "uint64 few",
                "float few",
                "pair few",
            ],
            &[10_000_000],
            OF_SORT,
        )],
    },
    Family {
        name: "gemm",
        what: "products of square matrices. The unit is a multiplication or an addition",
        peers: &[],
        sources: &[],
        threads: true,
        groups: &[timed(
            &["float", "double"],
            &[1024, 2048],
            &[
                at_most(
                    "time over OpenBLAS",
                    Ratio(NOVA, &["OpenBLAS"]),
                    SPEED_OF_LIBRARY,
                ),
                at_most(
                    "time over OpenBLAS, 2 threads",
                    Ratio(THREADS, &["OpenBLAS, 2 threads"]),
                    SPEED_OF_LIBRARY,
                ),
                shown("GFLOP/s", Rate(NOVA)),
                shown("GFLOP/s of OpenBLAS", Rate("OpenBLAS")),
                shown("GFLOP/s, 2 threads", Rate(THREADS)),
                shown(
                    "GFLOP/s of OpenBLAS, 2 threads",
                    Rate("OpenBLAS, 2 threads"),
                ),
            ],
        )],
    },
    Family {
        name: "stream",
        what: "the kernels of BabelStream. The unit is a byte as it counts them",
        peers: &[],
        sources: &[],
        threads: true,
        groups: &[Group {
            least_rounds: REPETITIONS,
            ..timed(
                &["double"],
                &[1 << 25],
                of_stream!("copy" "mul" "add" "triad" "dot"),
            )
        }],
    },
];
