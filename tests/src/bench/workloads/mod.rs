//! Data for every benchmark program, of the timed sizes, and the checks of the results.

pub mod curves;
pub mod linear_algebra;
mod loops;
mod models;
pub mod reductions;

use super::memory::{Array, Plain};
use super::workload::{Argument, Check, Output, Shape, Work, Workload};
use crate::random::Random;
use crate::reference::{Expected, compare_numbers};
use std::rc::Rc;

/// A benchmark program and its sizes.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// The numbers of elements (rows, options, bodies) that are timed.
    pub sizes: &'static [usize],
    /// Draws data of a size.
    pub draw: fn(&mut Random, usize) -> Workload,
    /// Its opponent: `peers/PEER.c`.
    pub peer: &'static str,
    /// A library that the peer loads.
    pub library: Option<&'static str>,
}

const fn program(
    name: &'static str,
    sizes: &'static [usize],
    draw: fn(&mut Random, usize) -> Workload,
) -> Program {
    Program {
        name,
        sizes,
        draw,
        peer: name,
        library: None,
    }
}

impl Program {
    /// Returns the library that its peer needs and this machine lacks, in words.
    pub fn missing(&self) -> Option<String> {
        let library = self.library?;
        // SAFETY: the library is a common one, which runs only its own initialisation.
        let loaded = unsafe { libloading::Library::new(library) };
        loaded
            .is_err()
            .then(|| format!("{library} is not installed"))
    }
}

/// The sixteen array programs, those whose loops change a state, and a product of matrices, against
/// three loops and against a library.
pub const PROGRAMS: &[Program] = &[
    program("bbox", &[1 << 24], reductions::bbox),
    program("dot3", &[1 << 23], reductions::dot3),
    program("norm", &[1 << 25], reductions::norm),
    program("gridred", &[1 << 24], reductions::gridred),
    program("sumstats", &[1 << 24], reductions::sumstats),
    program("sumrows", &[1 << 20], reductions::sumrows),
    program("wordcount", &[64 << 20], reductions::wordcount),
    program("blackscholes", &[1 << 22], models::blackscholes),
    program("nbody", &[1 << 14], models::nbody),
    program("spmv", &[1 << 20], linear_algebra::spmv),
    program("box3x3", &[1 << 24], models::box3x3),
    program("scal", &[1 << 24, 1 << 27], linear_algebra::scal),
    program("asum", &[1 << 24, 1 << 27], linear_algebra::asum),
    program("dot", &[1 << 24, 1 << 27], linear_algebra::dot),
    program("gemv", &[1 << 24, 1 << 26], linear_algebra::gemv),
    program("spmv_csr", &[1 << 20], linear_algebra::spmv_csr),
    program("updates", &[1_000_000], loops::updates),
    program("sieve", &[10_000_000], loops::sieve),
    program("life", &[1 << 20], loops::life),
    program("matmul", &[1 << 20], linear_algebra::matmul),
    Program {
        peer: "matmul_openblas",
        library: Some("libopenblas.so.0"),
        ..program("matmul", &[1 << 20], linear_algebra::matmul_library)
    },
];

/// The size of a float.
const FLOAT: usize = size_of::<f32>();

/// Returns a random float between -4 and 4.
fn draw(random: &mut Random) -> f32 {
    (random.bits() >> 40) as f32 * (8.0 / (1 << 24) as f32) - 4.0
}

/// Returns an array of random floats.
pub fn floats(random: &mut Random, length: usize) -> Rc<Array<f32>> {
    Rc::new(Array::from_fn(length, || draw(random)))
}

/// Returns the two C parameters of a vector.
fn vector<T: Plain>(array: &Rc<Array<T>>) -> [Argument; 2] {
    [
        Argument::Length(array.len()),
        Argument::Array(array.clone()),
    ]
}

/// Returns the three C parameters of a matrix.
fn matrix<T: Plain>(rows: usize, columns: usize, array: &Rc<Array<T>>) -> [Argument; 3] {
    [
        Argument::Length(rows),
        Argument::Length(columns),
        Argument::Array(array.clone()),
    ]
}

/// Returns the three C parameters of a vector of vectors.
fn rows<T: Plain>(offsets: &Rc<Array<i64>>, array: &Rc<Array<T>>) -> [Argument; 3] {
    [
        Argument::Length(offsets.len() - 1),
        Argument::Array(offsets.clone()),
        Argument::Array(array.clone()),
    ]
}

/// Returns the offsets of rows of these lengths.
fn offsets(lengths: impl IntoIterator<Item = usize>) -> Rc<Array<i64>> {
    let mut offsets = vec![0i64];
    let mut end = 0;
    for length in lengths {
        end += length as i64;
        offsets.push(end);
    }
    Rc::new(Array::from_slice(&offsets))
}

/// Returns the part of an array that is row r.
fn row<'a, T: Plain>(offsets: &[i64], array: &'a [T], r: usize) -> &'a [T] {
    &array[offsets[r] as usize..offsets[r + 1] as usize]
}

/// Returns the data moved when a vector of floats is computed from this many bytes.
fn moved(read: usize, written: usize) -> Work {
    Work {
        read,
        written,
        operations: 0,
    }
}

/// Returns the check that a vector of floats has the values of a function of the index.
fn every_float(length: usize, expected: impl Fn(usize) -> Expected + 'static) -> Check {
    Box::new(move |output: &Output, summation| {
        let found = output.elements::<f32>().iter().map(|&x| f64::from(x));
        compare_numbers(found, (0..length).map(&expected), summation)
    })
}

/// Returns the check that tuples of floats have the values of a function of the index.
fn every_tuple<const N: usize>(
    length: usize,
    expected: impl Fn(usize) -> [Expected; N] + 'static,
) -> Check {
    Box::new(move |output: &Output, summation| {
        let found = output.elements::<[f32; N]>();
        if found.len() != length {
            return Err(format!("{} tuples instead of {length}", found.len()));
        }
        for (k, found) in found.iter().enumerate() {
            compare_numbers(found.map(f64::from), expected(k), summation)
                .map_err(|difference| format!("tuple {k}: {difference}"))?;
        }
        Ok(())
    })
}

/// Returns the shape of a vector of n results of some floats each.
fn vector_of_floats(n: usize, floats: usize) -> Shape {
    Shape::Elements(vec![n], floats * FLOAT)
}

/// Returns the side of a square of n elements.
fn side(n: usize) -> usize {
    n.isqrt()
}
