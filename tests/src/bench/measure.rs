//! Times both sides of a benchmark in turn, after each side's result was found right.

use super::build::Side;
use super::limits::{Clock, Limits, Rates};
use super::workload::{Arguments, Output, Work, Workload};
use std::ffi::c_void;

/// The shortest time that is measured at once, in seconds; short calls are repeated.
const SHORTEST: f64 = 0.01;
/// What one round found.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Seconds for a call, of each side.
    pub seconds: [f64; 2],
    /// The machine's limits.
    pub rates: Rates,
}

/// All rounds of one program on data of one size.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The program.
    pub name: String,
    /// The size of its data, in words.
    pub size: String,
    /// What must be done in a call.
    pub work: Work,
    /// How many copies of the data the calls took in turn.
    pub copies: usize,
    /// What the rounds found.
    pub rounds: Vec<Round>,
}

/// The value in the middle and those at the quarters.
#[derive(Clone, Copy, Debug)]
pub struct Quartiles {
    /// A quarter lies below.
    pub lower: f64,
    /// Half lies below.
    pub median: f64,
    /// A quarter lies above.
    pub upper: f64,
}

impl Quartiles {
    /// Of some values; nan if there are none.
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
    /// Seconds for a call of a side.
    pub fn seconds(&self, side: usize) -> Quartiles {
        Quartiles::of(self.rounds.iter().map(|round| round.seconds[side]))
    }

    /// The time of the second side over that of the first, round by round: above 1, the first is
    /// faster.
    pub fn ratio(&self) -> Quartiles {
        let ratio = |round: &Round| round.seconds[1] / round.seconds[0];
        Quartiles::of(self.rounds.iter().map(ratio))
    }

    /// The least time that the machine needs over the time of a side.
    pub fn part_of_limit(&self, side: usize) -> Quartiles {
        let part = |round: &Round| round.rates.least_seconds(&self.work) / round.seconds[side];
        Quartiles::of(self.rounds.iter().map(part))
    }
}

/// The size of the last cache, in bytes.
pub fn last_cache() -> usize {
    let sizes = (0..8).filter_map(|k| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{k}/size");
        let text = std::fs::read_to_string(path).ok()?;
        let kilobytes: usize = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kilobytes << 10)
    });
    sizes.max().unwrap_or(32 << 20)
}

/// A side with data to call it on.
struct Runner<'a> {
    sides: &'a [(&'a str, Side); 2],
    clock: Clock,
    /// The pointers to the arguments, of each copy of the data.
    arguments: Vec<Vec<*const c_void>>,
    results: Vec<*mut c_void>,
    output: Output,
}

impl Runner<'_> {
    fn call(&mut self, side: usize, copy: usize) -> Result<(), String> {
        self.output.reset();
        let arguments = &self.arguments[copy % self.arguments.len()];
        let (name, side) = &self.sides[side];
        // SAFETY: the workload's arguments and result are those of the program's types.
        match unsafe { side.call(arguments, &self.results) } {
            0 => Ok(()),
            code => Err(format!("{name} gives error {code}")),
        }
    }

    /// Seconds for a call, from several on copies of the data in turn.
    fn time(&mut self, side: usize, first: usize, calls: usize) -> Result<f64, String> {
        let start = (self.clock)();
        for k in 0..calls {
            self.call(side, first + k)?;
        }
        Ok(((self.clock)() - start) / calls as f64)
    }

    fn check(&mut self, side: usize, workload: &Workload) -> Result<(), String> {
        self.output.clear();
        self.call(side, 0)?;
        let verdict = match self.output.is_filled() {
            true => (workload.check)(&self.output),
            false => Err("a result of another length or elsewhere".to_string()),
        };
        verdict.map_err(|difference| format!("{} is wrong: {difference}", self.sides[side].0))
    }
}

/// Checks and times both sides, which have names; `tick` is called after every round.
pub fn measure(
    name: &str,
    sides: &[(&str, Side); 2],
    workload: &Workload,
    limits: &mut Limits,
    rounds: usize,
    tick: &mut dyn FnMut(),
) -> Result<Measurement, String> {
    let copies = match workload.work.read {
        // Data that stay in a cache belong there.
        0 => 1,
        _ => (4 * last_cache())
            .div_ceil(workload.bytes().max(1))
            .clamp(1, 64),
    };
    let mut arguments = vec![Arguments::new(workload.arguments.clone())];
    arguments.extend((1..copies).map(|_| workload.duplicate()));
    let mut output = Output::new(&workload.result);
    let mut runner = Runner {
        sides,
        clock: limits.clock(),
        arguments: arguments.iter().map(Arguments::pointers).collect(),
        results: output.pointers(),
        output,
    };
    for side in 0..sides.len() {
        runner.check(side, workload)?;
    }
    let slower = f64::max(runner.time(0, 0, 1)?, runner.time(1, 0, 1)?);
    let calls = ((SHORTEST / slower.max(1e-9)).ceil() as usize).clamp(1, 10_000);
    let mut found = Vec::new();
    for round in 0..rounds {
        let rates = limits.measure();
        let mut seconds = [0.0; 2];
        for turn in 0..sides.len() {
            let side = (round + turn) % sides.len();
            seconds[side] = runner.time(side, round * calls, calls)?;
        }
        found.push(Round { seconds, rates });
        tick();
    }
    Ok(Measurement {
        name: name.to_string(),
        size: workload.size.clone(),
        work: workload.work,
        copies,
        rounds: found,
    })
}
