//! Measures the times of the sides of a benchmark alternately, after the result of each side was
//! checked.

use super::build::Side;
use super::limits::{Clock, Limits, Rates};
use super::memory::Pages;
use super::workload::{Arguments, Output, Work, Workload};
use crate::reference::Summation;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// One side, with its name.
pub struct Contender {
    /// Its name.
    pub name: String,
    /// Its function.
    pub side: Side,
    /// The number of threads of NOVA's pool. A program's own pool is created by its first region.
    pub threads: Option<usize>,
    /// The order of additions by which its sums are checked.
    pub summation: Summation,
}

impl Contender {
    /// Creates a program of NOVA's that decides its number of threads itself.
    pub fn nova(name: &str, side: Side) -> Contender {
        Contender {
            name: name.to_string(),
            side,
            threads: None,
            summation: Summation::Tree,
        }
    }

    /// Creates an opponent.
    pub fn opponent(name: &str, side: Side) -> Contender {
        Contender {
            summation: Summation::Recursive,
            ..Contender::nova(name, side)
        }
    }

    /// Sets the number of threads of its pool, if it creates one now.
    fn say_threads(&self) {
        if let Some(threads) = self.threads {
            // SAFETY: no other thread of this process reads the environment meanwhile. The threads
            // of existing pools have read it, and the benchmarks have no threads of their own.
            unsafe { std::env::set_var("NOVA_NUM_THREADS", threads.to_string()) };
        }
    }
}

/// The way in which sides are timed.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The number of rounds. In each of them every side runs once.
    pub rounds: usize,
    /// The shortest time that is measured at once, in seconds. Short calls are repeated.
    pub shortest: f64,
    /// The time for which a side runs before it is timed. Threads that still spin for another side's work
    /// fall asleep meanwhile, and processors that have rested become as fast as they are.
    pub warm_up: Option<Duration>,
    /// True if data stay in the cache that they fit into.
    pub cached: bool,
    /// The pages that data and results lie on.
    pub pages: Pages,
}

impl Way {
    /// Returns the way for programs with one thread.
    pub fn sequential(rounds: usize, pages: Pages) -> Way {
        Way {
            rounds,
            shortest: 0.01,
            warm_up: None,
            cached: false,
            pages,
        }
    }
}

/// The result of one round.
#[derive(Clone, Debug)]
pub struct Round {
    /// Seconds for a call, of each side.
    pub seconds: Vec<f64>,
    /// The machine's limits.
    pub rates: Rates,
    /// The rates of arithmetic with each requested number of threads.
    pub peaks: Vec<f64>,
}

/// All rounds of one program on data of one size.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The program.
    pub name: String,
    /// The size of its data, in words.
    pub size: String,
    /// The names of the sides.
    pub sides: Vec<String>,
    /// The work of a call.
    pub work: Work,
    /// The number of copies of the data that the calls take alternately.
    pub copies: usize,
    /// The pages that they and the results lie on.
    pub pages: Pages,
    /// The results of the rounds.
    pub rounds: Vec<Round>,
}

/// The median and the quartiles.
#[derive(Clone, Copy, Debug)]
pub struct Quartiles {
    /// A quarter of the values is below it.
    pub lower: f64,
    /// Half of the values are below it.
    pub median: f64,
    /// A quarter of the values is above it.
    pub upper: f64,
}

impl Quartiles {
    /// Returns the quartiles of some values, which are nan if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Quartiles {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * sorted.len().saturating_sub(1) as f64;
            let value = |k: f64| sorted.get(k as usize).copied().unwrap_or(f64::NAN);
            let (below, above) = (value(place.floor()), value(place.ceil()));
            below + (above - below) * place.fract()
        };
        Quartiles {
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
        }
    }
}

impl Measurement {
    /// Returns the seconds for a call of a side.
    pub fn seconds(&self, side: usize) -> Quartiles {
        Quartiles::of(self.rounds.iter().map(|round| round.seconds[side]))
    }

    /// Returns the fastest of the sides after the first one, with which the first is compared.
    pub fn opponent(&self) -> usize {
        let median = |side: &usize| self.seconds(*side).median;
        let others = 1..self.sides.len();
        others
            .min_by(|a, b| median(a).total_cmp(&median(b)))
            .unwrap_or(0)
    }

    /// Returns the time of one side over that of another, round by round. Above 1, the other is
    /// faster.
    pub fn ratio(&self, side: usize, other: usize) -> Quartiles {
        let ratio = |round: &Round| round.seconds[side] / round.seconds[other];
        Quartiles::of(self.rounds.iter().map(ratio))
    }

    /// Returns the least time that the machine needs over the time of a side.
    pub fn part_of_limit(&self, side: usize) -> Quartiles {
        let part = |round: &Round| round.rates.least_seconds(&self.work) / round.seconds[side];
        Quartiles::of(self.rounds.iter().map(part))
    }
}

/// Returns the size of the last cache, in bytes.
pub fn last_cache() -> usize {
    let sizes = (0..8).filter_map(|k| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{k}/size");
        let text = std::fs::read_to_string(path).ok()?;
        let kilobytes: usize = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kilobytes << 10)
    });
    sizes.max().unwrap_or(32 << 20)
}

/// Sides, and data for their calls.
struct Runner<'a> {
    sides: &'a [Contender],
    clock: Clock,
    way: Way,
    /// The pointers to the arguments, of each copy of the data.
    pointers: Vec<Vec<*const c_void>>,
    // Keeps the data of the pointers alive.
    _arguments: Vec<Arguments>,
    results: Vec<*mut c_void>,
    output: Output,
}

impl<'a> Runner<'a> {
    fn new(sides: &'a [Contender], workload: &Workload, clock: Clock, way: Way) -> Self {
        let copies = (0..copies(workload, &way)).map(|_| workload.duplicate(way.pages));
        let arguments: Vec<Arguments> = copies.collect();
        let mut output = Output::new(&workload.result, way.pages);
        Runner {
            sides,
            clock,
            way,
            pointers: arguments.iter().map(Arguments::pointers).collect(),
            _arguments: arguments,
            results: output.pointers(),
            output,
        }
    }

    fn call(&mut self, side: usize, copy: usize) -> Result<(), String> {
        self.output.reset();
        let arguments = &self.pointers[copy % self.pointers.len()];
        let contender = &self.sides[side];
        // SAFETY: the workload's arguments and result are those of the program's types.
        match unsafe { contender.side.call(arguments, &self.results) } {
            0 => Ok(()),
            code => Err(format!("{} gives error {code}", contender.name)),
        }
    }

    /// Returns the seconds for a call, from several calls on alternating copies of the data.
    fn time(&mut self, side: usize, first: usize, calls: usize) -> Result<f64, String> {
        let start = (self.clock)();
        for k in 0..calls {
            self.call(side, first + k)?;
        }
        Ok(((self.clock)() - start) / calls as f64)
    }

    /// Does the work of [`Runner::time`] after warming up, if that is to be done.
    fn time_warm(&mut self, side: usize, first: usize, calls: usize) -> Result<f64, String> {
        if let Some(least) = self.way.warm_up {
            let begin = Instant::now();
            let mut next = first + calls;
            while begin.elapsed() < least {
                self.call(side, next)?;
                next += 1;
            }
        }
        self.time(side, first, calls)
    }

    fn check(&mut self, side: usize, workload: &Workload) -> Result<(), String> {
        self.output.clear();
        self.sides[side].say_threads();
        self.call(side, 0)?;
        let verdict = match self.output.is_filled() {
            true => (workload.check)(&self.output, self.sides[side].summation),
            false => Err("a result of another length or elsewhere".to_string()),
        };
        verdict.map_err(|difference| format!("{} is wrong: {difference}", self.sides[side].name))
    }

    /// Returns the number of calls of the slowest side that last long enough to be timed.
    fn calls(&mut self) -> Result<usize, String> {
        let mut slowest = 1e-9;
        for side in 0..self.sides.len() {
            slowest = f64::max(slowest, self.time(side, 0, 1)?);
        }
        Ok(((self.way.shortest / slowest).ceil() as usize).clamp(1, 10_000))
    }
}

/// Returns the number of copies of the data that the calls take alternately.
fn copies(workload: &Workload, way: &Way) -> usize {
    match workload.work.read {
        // Data that fit into a cache may stay there.
        0 => 1,
        _ if way.cached => 1,
        _ => (4 * last_cache())
            .div_ceil(workload.bytes().max(1))
            .clamp(1, 64),
    }
}

/// Sides whose results were checked, and the measured rounds.
pub struct Session<'a> {
    runner: Runner<'a>,
    calls: usize,
    found: Measurement,
}

impl<'a> Session<'a> {
    /// Checks all sides.
    pub fn new(
        name: &str,
        sides: &'a [Contender],
        workload: &Workload,
        limits: &Limits,
        way: Way,
    ) -> Result<Self, String> {
        let mut runner = Runner::new(sides, workload, limits.clock(), way);
        for side in 0..sides.len() {
            runner.check(side, workload)?;
        }
        Ok(Session {
            calls: runner.calls()?,
            found: Measurement {
                name: name.to_string(),
                size: workload.size.clone(),
                sides: sides.iter().map(|side| side.name.clone()).collect(),
                work: workload.work,
                copies: runner.pointers.len(),
                pages: way.pages,
                rounds: Vec::new(),
            },
            runner,
        })
    }

    /// Times all sides once.
    pub fn round(&mut self, limits: &mut Limits) -> Result<(), String> {
        // Spinning threads would take time from the limits, too.
        self.runner
            .way
            .warm_up
            .into_iter()
            .for_each(std::thread::sleep);
        let (rates, peaks) = limits.measure(self.runner.way.pages)?;
        let sides = self.runner.sides.len();
        let round = self.found.rounds.len();
        let mut seconds = vec![0.0; sides];
        for turn in 0..sides {
            let side = (round + turn) % sides;
            let first = round * self.calls;
            seconds[side] = self.runner.time_warm(side, first, self.calls)?;
        }
        self.found.rounds.push(Round {
            seconds,
            rates,
            peaks,
        });
        Ok(())
    }

    /// Returns the measurement.
    pub fn finish(self) -> Measurement {
        self.found
    }
}

/// Checks and times all sides. `tick` is called after every round.
pub fn measure(
    name: &str,
    sides: &[Contender],
    workload: &Workload,
    limits: &mut Limits,
    way: Way,
    tick: &mut dyn FnMut(),
) -> Result<Measurement, String> {
    let mut session = Session::new(name, sides, workload, limits, way)?;
    for _ in 0..way.rounds {
        session.round(limits)?;
        tick();
    }
    Ok(session.finish())
}
