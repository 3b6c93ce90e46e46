//! Code for devices.
//!
//! [`kernels`] emits kernels, [`launch`] their launches, [`work_groups`] the threads of a group, [`vectors`]
//! loads and stores of neighbouring elements, [`ordered_regions`] the propagation of prefixes.
//! [`functions`] calls foreign functions of the device, and [`nodes`] reads tables of recursive data.
//! [`opencl`] and [`cuda`] assemble what the file contains for the device, with [`common`].

pub(crate) mod common;
pub mod cuda;
mod functions;
pub mod kernels;
mod launch;
pub(crate) mod nodes;
pub mod opencl;
pub(crate) mod ordered_regions;
pub(crate) mod vectors;
pub(crate) mod work_groups;
