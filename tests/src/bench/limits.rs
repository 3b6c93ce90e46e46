//! The machine's limits for some threads, measured by C of its own. They are the bandwidth of
//! reading and of copying in the fastest of several orders, on huge and on small pages, and the
//! rate of arithmetic on vectors of sixteen floats.

use super::build::{OPENMP, gcc, load};
use super::memory::{Array, Pages};
use super::workload::Work;
use std::ffi::c_int;
use std::hint::black_box;
use std::path::Path;

type Read = unsafe extern "C" fn(c_int, *const f32, i64, c_int) -> f32;
type CopyFloats = unsafe extern "C" fn(c_int, *mut f32, *const f32, i64, c_int);
type Compute = unsafe extern "C" fn(f32, f32, i64, c_int) -> f32;
type SetThreads = unsafe extern "C" fn(c_int);
/// A clock in seconds. For one thread it counts the processor time of the thread, so that the time
/// of other programs is not counted. Otherwise it is the wall clock.
pub type Clock = extern "C" fn() -> f64;

/// The orders of access, by their numbers in limits.c.
pub const ORDERS: [&str; 3] = ["eight interleaved pages", "linear, with prefetch", "linear"];

/// Data on pages of one kind.
struct Data {
    pages: Pages,
    from: Array<f32>,
    to: Array<f32>,
}

/// The measuring functions, with their data.
pub struct Limits {
    read: Read,
    copy: CopyFloats,
    compute: Compute,
    clock: Clock,
    data: Vec<Data>,
    /// The numbers of threads. The limits are those of the last.
    threads: Vec<usize>,
    /// The number of measurements of each. With threads, which may start late, there are more.
    times: usize,
}

/// The rates measured in one round.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Bytes read in a second, in the fastest order.
    pub read: f64,
    /// Bytes read and written in a second of copying, in the fastest order.
    pub copy: f64,
    /// The fastest orders of reading and of copying, as indices of [`ORDERS`].
    pub orders: [usize; 2],
    /// Operations on vectors of sixteen floats in a second.
    pub operations: f64,
}

impl Rates {
    /// Returns the least time for some work. Written data cost as much as copying them, and the
    /// rest of the data read as much as reading. The time is that of the arithmetic, if that is
    /// longer.
    pub fn least_seconds(&self, work: &Work) -> f64 {
        let copied = work.written.min(work.read);
        let read = (work.read - copied) as f64 / self.read;
        let copied = (work.written + copied) as f64 / self.copy;
        (read + copied).max(work.operations as f64 / self.operations)
    }
}

impl Limits {
    /// Builds the functions in a folder. They read arrays of `bytes` bytes. The limits are those of
    /// the last number of threads. For the others only the rate of arithmetic is measured. OpenMP
    /// programs that this thread calls have as many threads as the last number.
    pub fn new(
        folder: &Path,
        bytes: usize,
        threads: &[usize],
        pages: &[Pages],
    ) -> Result<Limits, String> {
        let path = build(folder)?;
        let most = threads.last().copied().unwrap_or(1);
        let length = bytes / size_of::<f32>() / 128 * 128;
        let mut bits = 1u32;
        let mut element = || {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (bits >> 8) as f32
        };
        let mut data = |pages| {
            let mut from = Array::zeros(length, pages);
            from.iter_mut().for_each(|number| *number = element());
            let to = Array::zeros(length / 2, pages);
            Data { pages, from, to }
        };
        // SAFETY: limits.c declares the functions with these types.
        unsafe {
            let (read, library) = load::<Read>(&path, "limits_read")?;
            // OpenMP's threads never end, so its code must stay loaded.
            std::mem::forget(library);
            let (copy, _) = load::<CopyFloats>(&path, "limits_copy")?;
            let (compute, _) = load::<Compute>(&path, "limits_compute")?;
            let (set_threads, _) = load::<SetThreads>(&path, "limits_set_threads")?;
            let clock = match most {
                1 => "limits_seconds",
                _ => "limits_seconds_passed",
            };
            let (clock, _) = load::<Clock>(&path, clock)?;
            set_threads(most as c_int);
            Ok(Limits {
                read,
                copy,
                compute,
                clock,
                data: pages.iter().map(|&pages| data(pages)).collect(),
                threads: threads.to_vec(),
                times: if most == 1 { 2 } else { 4 },
            })
        }
    }

    /// Returns the clock of all measurements.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Measures once: the limits on pages of a kind that there are data on, and the rates of
    /// arithmetic with each number of threads.
    pub fn measure(&mut self, pages: Pages) -> Result<(Rates, Vec<f64>), String> {
        let most = self.threads.last().copied().unwrap_or(1) as c_int;
        let (clock, times, read, copy) = (self.clock, self.times, self.read, self.copy);
        let data = self.data.iter_mut().find(|data| data.pages == pages);
        let Data { from, to, .. } = data.ok_or("the limits have no data on these pages")?;
        let (length, half) = (from.len(), to.len());
        let (read, read_order) = fastest(|order| {
            // SAFETY: the arrays have these lengths.
            seconds(clock, times, || unsafe {
                black_box(read(order, from.as_ptr(), length as i64, most));
            })
        });
        let (copy, copy_order) = fastest(|order| {
            // SAFETY: as above.
            seconds(clock, times, || unsafe {
                copy(order, to.as_mut_ptr(), from.as_ptr(), half as i64, most);
            })
        });
        let peaks: Vec<f64> = self.threads.iter().map(|&n| self.operations(n)).collect();
        let rates = Rates {
            read: (length * size_of::<f32>()) as f64 / read,
            copy: (2 * half * size_of::<f32>()) as f64 / copy,
            orders: [read_order, copy_order],
            operations: peaks.last().copied().unwrap_or(f64::NAN),
        };
        Ok((rates, peaks))
    }

    /// Returns the rate of arithmetic of some threads.
    fn operations(&self, threads: usize) -> f64 {
        const ROUNDS: i64 = 200_000;
        // SAFETY: a function of numbers.
        let seconds = seconds(self.clock, self.times, || unsafe {
            let (a, b) = (black_box(0.5), black_box(0.25));
            black_box((self.compute)(a, b, ROUNDS, threads as c_int));
        });
        (12 * ROUNDS) as f64 * threads as f64 / seconds
    }
}

/// Returns the least time of all orders, and the order that has it.
fn fastest(mut time: impl FnMut(c_int) -> f64) -> (f64, usize) {
    let times = (0..ORDERS.len()).map(|order| (time(order as c_int), order));
    times
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f64::NAN, 0))
}

/// Compiles the functions.
fn build(folder: &Path) -> Result<std::path::PathBuf, String> {
    let source = folder.join("limits.c");
    std::fs::write(&source, include_str!("limits.c")).map_err(|error| error.to_string())?;
    gcc(
        folder,
        &[OPENMP.flags, &["-fPIC", "-c"]],
        &[&source],
        "limits.o",
    )?;
    // Linked without -Ofast, with which the whole process would flush denormals to zero.
    let flags = [&["-shared"], OPENMP.link];
    gcc(folder, &flags, &[Path::new("limits.o")], "limits.so")?;
    Ok(folder.join("limits.so"))
}

/// Returns the time of some work. It is the shortest of several times, since a limit is the best
/// possible time.
fn seconds(clock: Clock, times: usize, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = clock();
        work();
        clock() - start
    };
    (0..times).map(|_| once()).fold(f64::INFINITY, f64::min)
}
