//! The machines that programs run on. The passes that choose between forms of code read the figures from
//! here: [`PROCESSOR`] and [`DEVICE`] describe the two kinds of machines, [`cost`] is the table of the costs of
//! scalar operations and accesses, and [`figures`] has the sizes and thresholds of single algorithms.
//!
//! The processor or device on which a program will run is not known when it is compiled. So a figure is
//! that of a usual machine, or the one with which programs lose least. Each says where it is from. A limit
//! that only bounds the size of code is in the file `limits.rs` of its crate.

pub mod cost;
mod device;
pub mod figures;
mod processor;

pub use device::{DEVICE, Device};
pub use processor::{PROCESSOR, Processor};

/// The kind of machine that runs the loops of a program. Different loops are fast on each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// Processors with vectors and caches.
    #[default]
    Processor,
    /// A device with many threads, each of which runs one iteration of a loop at the level of a grid.
    Device,
}

impl Machine {
    /// Returns the minimum number of elements of a literal that becomes constant data.
    pub fn literal_elements(self) -> usize {
        match self {
            Machine::Processor => PROCESSOR.literal_elements,
            Machine::Device => DEVICE.literal_elements,
        }
    }
}
