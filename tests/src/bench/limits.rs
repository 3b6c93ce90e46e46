//! The machine's limits for one thread: the bandwidth of reading and of copying, and the rate of
//! arithmetic on vectors of sixteen floats, measured by C of its own.

use super::build::{PEER_FLAGS, gcc, load};
use super::memory::Array;
use super::workload::Work;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

type Read = unsafe extern "C" fn(*const f32, i64) -> f32;
type Copy = unsafe extern "C" fn(*mut f32, *const f32, i64);
/// How long this thread has had a processor, in seconds: what other programs take from it is not
/// counted.
pub type Clock = extern "C" fn() -> f64;
type Compute = unsafe extern "C" fn(f32, f32, i64) -> f32;

/// The measuring functions, with their data.
pub struct Limits {
    read: Read,
    copy: Copy,
    compute: Compute,
    clock: Clock,
    from: Array<f32>,
    to: Array<f32>,
    _library: Arc<libloading::Library>,
}

/// What was measured in one round.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Bytes read in a second.
    pub read: f64,
    /// Bytes read and written in a second of copying.
    pub copy: f64,
    /// Operations on vectors of sixteen floats in a second.
    pub operations: f64,
}

impl Rates {
    /// The least time for some work: what is written costs as much as copying it, the rest of what
    /// is read as much as reading, or the arithmetic, if that takes longer.
    pub fn least_seconds(&self, work: &Work) -> f64 {
        let copied = work.written.min(work.read);
        let read = (work.read - copied) as f64 / self.read;
        let copied = (work.written + copied) as f64 / self.copy;
        (read + copied).max(work.operations as f64 / self.operations)
    }
}

impl Limits {
    /// Builds the functions in a folder; reads arrays of so many bytes.
    pub fn new(folder: &Path, bytes: usize) -> Result<Limits, String> {
        let source = folder.join("limits.c");
        std::fs::write(&source, include_str!("limits.c")).map_err(|error| error.to_string())?;
        let flags = [PEER_FLAGS, &["-fPIC", "-c"]];
        gcc(folder, &flags, &[&source], "limits.o")?;
        gcc(
            folder,
            &[&["-shared"]],
            &[Path::new("limits.o")],
            "limits.so",
        )?;
        let path = folder.join("limits.so");
        let length = bytes / size_of::<f32>() / 128 * 128;
        let mut bits = 1u32;
        let element = || {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (bits >> 8) as f32
        };
        // SAFETY: the functions are declared so in limits.c.
        unsafe {
            let (read, library) = load::<Read>(&path, "limits_read")?;
            let (copy, _) = load::<Copy>(&path, "limits_copy")?;
            let (compute, _) = load::<Compute>(&path, "limits_compute")?;
            let (clock, _) = load::<Clock>(&path, "limits_seconds")?;
            Ok(Limits {
                read,
                copy,
                compute,
                clock,
                from: Array::from_fn(length, element),
                to: Array::zeros(length / 2),
                _library: library,
            })
        }
    }

    /// The clock for all that is measured.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Measures once.
    pub fn measure(&mut self) -> Rates {
        const ROUNDS: i64 = 200_000;
        let (length, half) = (self.from.len(), self.to.len());
        // SAFETY: the arrays have these lengths, multiples of 64.
        let read = seconds(self.clock, || unsafe {
            black_box((self.read)(self.from.as_ptr(), length as i64));
        });
        // SAFETY: as above.
        let copy = seconds(self.clock, || unsafe {
            (self.copy)(self.to.as_mut_ptr(), self.from.as_ptr(), half as i64);
        });
        // SAFETY: a function of numbers.
        let compute = seconds(self.clock, || unsafe {
            black_box((self.compute)(black_box(0.5), black_box(0.25), ROUNDS));
        });
        Rates {
            read: (length * size_of::<f32>()) as f64 / read,
            copy: (2 * half * size_of::<f32>()) as f64 / copy,
            operations: (12 * ROUNDS) as f64 / compute,
        }
    }
}

/// How long something takes: the shorter of two times, since a limit is what is possible.
fn seconds(clock: Clock, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = clock();
        work();
        clock() - start
    };
    once().min(once())
}
