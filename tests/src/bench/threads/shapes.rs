//! Sums and sparse products of rows of every shape. They show whether the time of an element
//! depends on the distribution of the elements over rows. The opponents are OpenMP by hand that
//! distributes rows by their elements, and OpenMP with dynamic scheduling of rows.

use super::matrices;
use super::opponents::Opponent;
use super::programs::{compile, with_threads};
use super::{Bench, Found};
use crate::bench::measure::{Contender, Measurement, Session};
use crate::bench::run::results;
use crate::bench::workload::Workload;
use crate::bench::workloads::floats;
use crate::bench::workloads::linear_algebra::{power_law, product, spmv_csr_of};
use crate::bench::workloads::reductions::sumrows_of;
use crate::random::Random;
use nova_driver::Target;
use std::path::Path;

/// Rows of the usual shapes, and elements of each on average.
const ROWS: usize = 1 << 18;
const MEAN: usize = 64;

/// A distribution of elements over rows.
struct Shape {
    words: &'static str,
    /// The lengths of the rows, for the usual number of rows.
    lengths: fn(&mut Random, usize) -> Vec<usize>,
}

/// Each shape has about as many elements. The words name the other rows: rows cost time too, and
/// without any elements there would be no time of an element.
const SHAPES: [Shape; 5] = [
    Shape {
        words: "equal rows of 64",
        lengths: |_, rows| vec![MEAN; rows],
    },
    Shape {
        words: "power law, 64 on average",
        lengths: |random, rows| power_law(random, rows, MEAN as f64 / 16.0),
    },
    Shape {
        words: "one row of 90 %, equal rows beside it",
        lengths: |_, rows| {
            let all = rows * MEAN;
            let each = all / 10 / rows;
            let long = |row| if row == rows / 3 { all * 9 / 10 } else { each };
            (0..rows).map(long).collect()
        },
    },
    Shape {
        words: "four empty rows for each of 64, all before them",
        lengths: |_, rows| [vec![0; 4 * rows], vec![MEAN; rows]].concat(),
    },
    Shape {
        words: "one row",
        lengths: |_, rows| vec![rows * MEAN],
    },
];

/// A function that draws the data of a program from the lengths of rows and the number of columns.
/// The programs follow.
type Draw = fn(&mut Random, Vec<usize>, usize) -> Workload;
const PROGRAMS: [(&str, Draw); 2] = [
    ("sumrows", |random, lengths, _| sumrows_of(random, lengths)),
    ("spmv_csr", spmv_csr_of),
];

/// A program on rows of one shape.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// The program.
    pub program: String,
    /// The shape in words, or the matrix.
    pub shape: String,
    /// True if it is one of the shapes that are compared with each other.
    pub compared: bool,
    /// The number of elements.
    pub elements: usize,
    /// The number of rows.
    pub rows: usize,
    /// The opponents, in the order of their sides, which follow NOVA's.
    pub opponents: Vec<Opponent>,
    /// The times of NOVA and the opponents.
    pub measurement: Measurement,
}

impl Shaped {
    /// Returns the seconds of a side for an element.
    pub fn per_element(&self, side: usize) -> f64 {
        self.measurement.seconds(side).median / self.elements.max(1) as f64
    }

    /// Returns the time of NOVA over that of an opponent.
    pub fn ratio(&self, opponent: Opponent) -> Option<f64> {
        let place = self.opponents.iter().position(|&other| other == opponent)?;
        Some(self.measurement.ratio(0, 1 + place).median)
    }
}

/// A shape or a matrix, with its data.
struct Subject {
    shape: String,
    compared: bool,
    elements: usize,
    rows: usize,
    workload: Workload,
}

/// Measures the shapes.
pub(super) fn run(bench: &mut Bench<'_>, found: &mut Found) {
    for (name, draw) in PROGRAMS {
        let mut subjects = shapes(draw, (ROWS / bench.plan.shrink).max(16));
        if name == "spmv_csr" {
            subjects.extend(real(bench.plan.matrices.as_deref(), found));
        }
        let shaped = measure(bench, name, subjects);
        let shaped = found.keep(name, shaped).unwrap_or_default();
        found.shapes.extend(shaped);
    }
}

/// Returns all shapes, with random data.
fn shapes(draw: Draw, rows: usize) -> Vec<Subject> {
    let subject = |shape: &Shape| {
        let mut random = Random::new(1);
        let lengths = (shape.lengths)(&mut random, rows);
        Subject {
            shape: shape.words.to_string(),
            compared: true,
            elements: lengths.iter().sum(),
            rows: lengths.len(),
            workload: draw(&mut random, lengths, rows),
        }
    };
    SHAPES.iter().map(subject).collect()
}

/// Returns the matrices of a folder.
fn real(folder: Option<&Path>, found: &mut Found) -> Vec<Subject> {
    let Some(folder) = folder else {
        found
            .skipped
            .push("sparse matrices: no folder of them is given".to_string());
        return Vec::new();
    };
    let files = matrices::files(folder).unwrap_or_else(|why| {
        found.skipped.push(format!("sparse matrices: {why}"));
        Vec::new()
    });
    let mut subjects = Vec::new();
    for path in files {
        let matrix = matrices::read(&path);
        let Some(matrix) = found.keep("sparse matrices", matrix) else {
            continue;
        };
        let x = floats(&mut Random::new(1), matrix.columns);
        let name = path.file_stem().unwrap_or_default();
        subjects.push(Subject {
            shape: name.to_string_lossy().into_owned(),
            compared: false,
            elements: matrix.entries.len(),
            rows: matrix.offsets.len() - 1,
            workload: product(matrix.offsets, matrix.entries, x),
        });
    }
    subjects
}

/// Measures a program on all subjects, all of them in each round.
fn measure(
    bench: &mut Bench<'_>,
    name: &str,
    subjects: Vec<Subject>,
) -> Result<Vec<Shaped>, String> {
    bench.bar.set_message(format!("{name}: shapes of rows"));
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let results = subjects
        .first()
        .map_or(1, |subject| results(&subject.workload));
    let (sides, opponents) = sides(bench, name, results, folder.path())?;
    let way = bench.way();
    let mut sessions = Vec::new();
    for subject in &subjects {
        let workload = &subject.workload;
        let session = Session::new(name, &sides, workload, &bench.limits, way)
            .map_err(|why| format!("{}: {why}", subject.shape))?;
        sessions.push(session);
    }
    for _ in 0..way.rounds {
        for session in &mut sessions {
            session.round(&mut bench.limits)?;
        }
    }
    let shaped = |(subject, session): (Subject, Session<'_>)| Shaped {
        program: name.to_string(),
        shape: subject.shape,
        compared: subject.compared,
        elements: subject.elements,
        rows: subject.rows,
        opponents: opponents.clone(),
        measurement: session.finish(),
    };
    Ok(subjects.into_iter().zip(sessions).map(shaped).collect())
}

/// Returns NOVA with threads, and both kinds of OpenMP.
fn sides(
    bench: &Bench<'_>,
    name: &str,
    results: usize,
    folder: &Path,
) -> Result<(Vec<Contender>, Vec<Opponent>), String> {
    let threads = bench.plan.threads;
    let program = compile(name, Target::Pthreads)?;
    let mut sides = with_threads(&program, &[threads], results, folder)?;
    let mut present = Vec::new();
    for opponent in [Opponent::OpenMp, Opponent::Dynamic] {
        if !bench.opponents.contains(&opponent) {
            continue;
        }
        if let Some(side) = opponent.side(&program, threads, results, folder)? {
            sides.push(Contender::opponent(opponent.name(), side));
            present.push(opponent);
        }
    }
    Ok((sides, present))
}
