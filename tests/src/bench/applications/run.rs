//! Builds both sides of each application, compares their results, and times them in turn.

use super::compare::compare;
use super::table::{APPLICATIONS, Application};
use crate::bench::build::{self, C, OPENMP};
use crate::bench::measure::Quartiles;
use crate::bench::peer_library::{load, load_peer, shared};
use crate::bench::run::bar;
use crate::random::Random;
use indicatif::ProgressBar;
use nova_core::Value;
use nova_driver::{Compiler, Options, Source, Target, interfaces};
use nova_exec::library::{Generated, Library, PreparedCall};
use std::time::{Duration, Instant};

/// The shortest time that is measured at once. Shorter calls are repeated.
const SHORTEST: Duration = Duration::from_millis(10);

/// The time for which a side with threads runs before it is timed: longer than OpenMP's threads wait awake,
/// and than processors that have rested are slow.
const WARM_UP: Duration = Duration::from_millis(50);

/// The plan of the measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the applications. Without names, all are run.
    pub names: Vec<String>,
    /// The divisor of the sizes of the data.
    pub shrink: usize,
    /// The number of rounds. In each of them every side runs once.
    pub rounds: usize,
    /// The number of threads of pthreads and OpenMP; without it, one thread each.
    pub threads: Option<usize>,
}

/// The times of an application with data of one size.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// The size of its data, in words.
    pub size: String,
    /// Milliseconds of NOVA, in each round.
    pub nova: Vec<f64>,
    /// Milliseconds of the C written by hand, in each round.
    pub c: Vec<f64>,
}

impl Measured {
    /// Returns the time of NOVA over that of the C, round by round.
    pub fn ratio(&self) -> Quartiles {
        let pairs = self.nova.iter().zip(&self.c);
        Quartiles::of(pairs.map(|(nova, c)| nova / c))
    }
}

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The number of threads, if it is not one.
    pub threads: Option<usize>,
    /// The measurements.
    pub measured: Vec<Measured>,
    /// What failed, with the reasons.
    pub failures: Vec<String>,
    /// The applications that have no C by hand.
    pub skipped: Vec<String>,
}

impl Plan {
    /// Returns the applications of the plan.
    pub fn applications(&self) -> Result<Vec<&'static Application>, String> {
        let known = |name: &String| APPLICATIONS.iter().any(|one| one.name == *name);
        if let Some(name) = self.names.iter().find(|name| !known(name)) {
            let names: Vec<&str> = APPLICATIONS.iter().map(|one| one.name).collect();
            return Err(format!(
                "no application {name}; there are {}",
                names.join(", ")
            ));
        }
        let wanted = |one: &&Application| {
            self.names.is_empty() || self.names.iter().any(|name| name == one.name)
        };
        Ok(APPLICATIONS.iter().filter(wanted).collect())
    }

    /// Runs all measurements.
    pub fn run(&self) -> Result<Found, String> {
        let applications = self.applications()?;
        keep_memory();
        if let Some(threads) = self.threads {
            say_threads(threads);
        }
        let sizes: usize = applications.iter().map(|one| one.sizes.len()).sum();
        let bar = bar(sizes * self.rounds)?;
        let mut found = Found {
            threads: self.threads,
            ..Found::default()
        };
        for application in applications {
            if !application.has_peer() {
                let skipped = format!("{}: there is no C by hand", application.name);
                found.skipped.push(skipped);
                continue;
            }
            if let Err(why) = self.measure(application, &bar, &mut found) {
                let failure = format!("{}: {why}", application.name);
                found.failures.push(failure);
            }
        }
        bar.finish_and_clear();
        Ok(found)
    }

    fn measure(
        &self,
        application: &'static Application,
        bar: &ProgressBar,
        found: &mut Found,
    ) -> Result<(), String> {
        let name = application.name;
        bar.set_message(format!("{name}: compiling"));
        let sides = Sides::build(name, self.threads.is_some())?;
        for &size in application.sizes {
            let size = (size / self.shrink.max(1)).max(1);
            bar.set_message(format!("{name}: {size}"));
            let inputs = (application.draw)(&mut Random::new(1), size);
            let calls = [prepare(&sides.nova, &inputs)?, prepare(&sides.c, &inputs)?];
            agree(&calls, application).map_err(|why| format!("{size}: {why}"))?;
            let [nova, c] = self.times(&calls, bar)?;
            found.measured.push(Measured {
                name,
                size: format!("{size} {}", application.unit),
                nova,
                c,
            });
        }
        Ok(())
    }

    /// Times both sides in turn, in milliseconds.
    fn times(
        &self,
        calls: &[PreparedCall<'_>; 2],
        bar: &ProgressBar,
    ) -> Result<[Vec<f64>; 2], String> {
        let mut slowest = Duration::from_nanos(1);
        for call in calls {
            slowest = slowest.max(time(call, 1)?);
        }
        let count = SHORTEST
            .as_nanos()
            .div_ceil(slowest.as_nanos())
            .clamp(1, 1_000) as u32;
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..self.rounds {
            for turn in 0..2 {
                let side = (round + turn) % 2;
                if self.threads.is_some() {
                    warm_up(&calls[side], WARM_UP / self.shrink.clamp(1, 50) as u32)?;
                }
                let each = time(&calls[side], count)? / count;
                times[side].push(each.as_secs_f64() * 1e3);
            }
            bar.inc(1);
        }
        Ok(times)
    }
}

fn prepare<'a>(side: &'a Library, inputs: &[Value]) -> Result<PreparedCall<'a>, String> {
    side.prepare(0, inputs).map_err(|error| error.to_string())
}

/// Calls until so much time has passed.
fn warm_up(call: &PreparedCall<'_>, least: Duration) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < least {
        time(call, 1)?;
    }
    Ok(())
}

/// Returns the time of so many calls.
fn time(call: &PreparedCall<'_>, count: u32) -> Result<Duration, String> {
    let mut sum = Duration::ZERO;
    for _ in 0..count {
        let (_, time) = call.run().map_err(|error| error.to_string())?;
        sum += time;
    }
    Ok(sum)
}

/// Compares the results of NOVA and of the C.
fn agree(calls: &[PreparedCall<'_>; 2], application: &Application) -> Result<(), String> {
    let value = |call: &PreparedCall<'_>| call.call().map_err(|error| error.to_string());
    let ((nova, _), (c, _)) = (value(&calls[0])?, value(&calls[1])?);
    compare(&nova, &c, application.tolerance).map_err(|why| format!("NOVA and C differ: {why}"))
}

/// Makes this process keep memory that is freed. Each call allocates its result, and new pages of the system
/// would cost more than many a computation, on both sides.
fn keep_memory() {
    // SAFETY: the settings are those of the C library's allocator, and the values are valid.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
}

/// Sets the number of threads of both sides, which read it when their first parallel region starts.
fn say_threads(threads: usize) {
    for variable in ["NOVA_NUM_THREADS", "OMP_NUM_THREADS"] {
        // SAFETY: no other thread of this process reads the environment meanwhile.
        unsafe { std::env::set_var(variable, threads.to_string()) };
    }
}

/// Both sides, loaded.
pub struct Sides {
    /// The program.
    pub nova: Library,
    /// The C written by hand.
    pub c: Library,
}

impl Sides {
    /// Compiles and loads both sides: sequential ones, or pthreads and OpenMP.
    pub fn build(name: &str, has_threads: bool) -> Result<Sides, String> {
        let (target, toolchain) = match has_threads {
            true => (Target::Pthreads, OPENMP),
            false => (Target::Sequential, C),
        };
        let compiler = Compiler::new(Options {
            target,
            ..Options::default()
        });
        let path = build::folder_of(name).join(format!("{name}.nova"));
        let mut checked = compiler
            .check(Source::File(path))
            .map_err(|failure| failure.to_string())?;
        let generated = compiler
            .compile(&mut checked)
            .map_err(|failure| failure.to_string())?;
        let program = Generated {
            name,
            header: &generated.files.header,
            source: &generated.files.source,
            entries: interfaces(&generated.program, ""),
            foreigns: Vec::new(),
            sums: &generated.program.sums,
        };
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let library = shared(&program, folder.path(), toolchain, &["-w"])?;
        Ok(Sides {
            nova: load(&program, 3, &[])?,
            c: load_peer(&program, name, library)?,
        })
    }
}
