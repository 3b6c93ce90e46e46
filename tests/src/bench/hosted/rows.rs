//! The rows of a collection: what is measured and what is wanted. A row is a family of programs with groups
//! of kinds and sizes of data, and the figures that are made of each.

/// Families whose programs and hosts lie in one folder, and the words of their report.
#[derive(Debug)]
pub struct Collection {
    /// The name of its option and of the files that are written.
    pub name: &'static str,
    /// The folder in `tests` that holds programs and hosts.
    pub folder: &'static str,
    /// The description of its programs in messages.
    pub what: &'static str,
    /// What a size counts and what times are of: one and several.
    pub units: [&'static str; 2],
    /// The smallest size that data are shrunk to.
    pub least_size: usize,
    /// The rows.
    pub families: &'static [Family],
}

/// A program of the collection's folder, or of `nova-examples/benchmarks` with its opponents, and the data
/// that it runs on.
#[derive(Debug)]
pub struct Family {
    /// The name of the program and of its host.
    pub name: &'static str,
    /// The description of what is measured.
    pub what: &'static str,
    /// The opponents beside a benchmark program.
    pub peers: &'static [&'static str],
    /// The C++ beside its host, by the names of the files.
    pub sources: &'static [&'static str],
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
    /// The numbers of nodes or elements, from small to large.
    pub sizes: &'static [usize],
    /// The least number of rounds, of data that are not shrunk.
    pub least_rounds: usize,
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
    /// The least time of a side over the least one of others.
    Best(&'static str, &'static [&'static str]),
    /// The median time of a side.
    Time(&'static str),
    /// The median number of units that a side does in a nanosecond.
    Rate(&'static str),
    /// The greatest number of units that one of some sides does in a nanosecond.
    BestRate(&'static [&'static str]),
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
pub const fn at_most(name: &'static str, quantity: Quantity, most: f64) -> Wanted {
    Wanted {
        name,
        quantity,
        most: Some(most),
    }
}

/// Returns a figure without a bound.
pub const fn shown(name: &'static str, quantity: Quantity) -> Wanted {
    Wanted {
        name,
        quantity,
        most: None,
    }
}

/// Returns data on which sides are timed.
pub const fn timed(
    kinds: &'static [&'static str],
    sizes: &'static [usize],
    wanted: &'static [Wanted],
) -> Group {
    Group {
        kinds,
        sizes,
        least_rounds: 1,
        is_timed: true,
        wanted,
    }
}

/// Returns data on which values are measured in one run.
pub const fn once(
    kinds: &'static [&'static str],
    sizes: &'static [usize],
    wanted: &'static [Wanted],
) -> Group {
    Group {
        kinds,
        sizes,
        least_rounds: 1,
        is_timed: false,
        wanted,
    }
}
