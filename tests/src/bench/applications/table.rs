//! The applications, the sizes that are timed, and the data of each. Sizes and distributions are those of the
//! collections that the programs come from, where one thread needs no longer than a second or so.

use super::compare::Tolerance;
use super::data::{
    Graph, colours, directions, disc, double, double_array, double_tuples, doubles, float,
    float_array, float_tuple, int, int_array, ints, letters, links, permutation, random_doubles,
    random_floats, random_ints, rows, sparse_matrix, tuples, uint64, uniform,
};
use crate::bench::build::folder_of;
use crate::random::Random;
use nova_core::{Elements, Value};
use std::sync::Arc;

/// A program with its sizes and data. `peers/NAME.c` beside it is its opponent.
pub struct Application {
    /// Its name.
    pub name: &'static str,
    /// The sizes that are timed: one that stays in a cache if there is such a one, and a large one.
    pub sizes: &'static [usize],
    /// The meaning of a size.
    pub unit: &'static str,
    /// Draws the inputs of a size.
    pub draw: fn(&mut Random, usize) -> Vec<Value>,
    /// The difference between two results that is allowed.
    pub tolerance: Tolerance,
}

impl Application {
    /// True if there is C by hand.
    pub fn has_peer(&self) -> bool {
        let peer = format!("peers/{}.c", self.name);
        folder_of(self.name).join(peer).exists()
    }
}

/// The difference between two orders of sums of floats.
const FLOATS: Tolerance = Tolerance::within(1e-4);
/// The difference between two orders of sums of doubles.
const DOUBLES: Tolerance = Tolerance::within(1e-9);

const fn application(
    name: &'static str,
    (sizes, unit): (&'static [usize], &'static str),
    draw: fn(&mut Random, usize) -> Vec<Value>,
    tolerance: Tolerance,
) -> Application {
    Application {
        name,
        sizes,
        unit,
        draw,
        tolerance,
    }
}

/// All applications, by name.
pub const APPLICATIONS: &[Application] = &[
    application(
        "attention",
        (&[512, 2048], "queries of 64"),
        attention,
        FLOATS,
    ),
    application("backprop", (&[65_536, 1 << 20], "inputs"), backprop, FLOATS),
    application("bfs", (&[65_536, 1 << 20], "nodes"), bfs, DOUBLES),
    application(
        "cg",
        (&[1_400, 14_000], "unknowns"),
        cg,
        Tolerance::within(1e-6),
    ),
    application(
        "convolution",
        (&[1, 8], "pictures of 64 × 56 × 56"),
        convolution,
        FLOATS,
    ),
    application(
        "covariance",
        (&[240, 1_200], "columns"),
        covariance,
        DOUBLES,
    ),
    application("ep", (&[1 << 18, 1 << 22], "pairs"), ep, DOUBLES),
    application(
        "floyd_warshall",
        (&[256, 1_024], "nodes"),
        floyd_warshall,
        DOUBLES,
    ),
    application("gemver", (&[400, 4_000], "rows"), gemver, DOUBLES),
    application(
        "histogram",
        (&[1 << 20, 1 << 24], "pixels"),
        histogram,
        DOUBLES,
    ),
    application("hotspot", (&[512, 2_048], "rows"), hotspot, FLOATS),
    application(
        "independent_set",
        (&[65_536, 1 << 20], "nodes"),
        independent_set,
        DOUBLES,
    ),
    application("jacobi_2d", (&[250, 1_300], "rows"), jacobi_2d, DOUBLES),
    application(
        "kmeans",
        (&[10_000, 100_000], "points of 34"),
        kmeans,
        DECISIONS,
    ),
    application("lava", (&[3, 8], "boxes along an edge"), lava, DOUBLES),
    application("leapfrog", (&[1_000, 8_000], "bodies"), leapfrog, DOUBLES),
    application(
        "local_volatility",
        (&[2, 16], "strikes"),
        local_volatility,
        DOUBLES,
    ),
    application("lu", (&[256, 1_024], "rows"), lu, Tolerance::within(1e-3)),
    application("mandelbrot", (&[256, 1_024], "rows"), mandelbrot, EDGES),
    application(
        "mri_q",
        (&[4_096, 32_768], "voxels"),
        mri_q,
        Tolerance::within(1e-3),
    ),
    application(
        "multigrid",
        (&[32, 128], "points along an edge"),
        multigrid,
        DOUBLES,
    ),
    application(
        "nearest_records",
        (&[42_764, 1 << 20], "records"),
        nearest_records,
        FLOATS,
    ),
    application(
        "needleman_wunsch",
        (&[1_024, 8_192], "letters"),
        needleman_wunsch,
        DOUBLES,
    ),
    application(
        "pagerank",
        (&[1 << 14, 1 << 18], "pages"),
        pagerank,
        DOUBLES,
    ),
    application(
        "pathfinder",
        (&[20_000, 1_000_000], "columns"),
        pathfinder,
        DOUBLES,
    ),
    application(
        "quickhull",
        (&[1 << 17, 1 << 20], "points"),
        quickhull,
        DOUBLES,
    ),
    application(
        "remove_duplicates",
        (&[1 << 17, 1 << 21], "numbers"),
        remove_duplicates,
        DOUBLES,
    ),
    application("spheres", (&[256, 1_024], "rows"), spheres, EDGES),
    application(
        "srad",
        (&[512, 2_048], "rows"),
        srad,
        Tolerance::within(1e-3),
    ),
    application(
        "tpacf",
        (&[1_000, 6_000], "galaxies of each set"),
        tpacf,
        EDGES,
    ),
];

/// What depends on the nearest of several centres.
const DECISIONS: Tolerance = Tolerance {
    relative: 1e-3,
    outliers: 1e-3,
};
/// What depends on the side of an edge, where each rounding decides for few elements.
const EDGES: Tolerance = Tolerance {
    relative: 1e-3,
    outliers: 0.02,
};

fn attention(random: &mut Random, n: usize) -> Vec<Value> {
    let mut matrix = || float_array(random, &[n, 64], -1.0, 1.0);
    vec![matrix(), matrix(), matrix()]
}

fn backprop(random: &mut Random, n: usize) -> Vec<Value> {
    const HIDDEN: usize = 16;
    let first = [n + 1, HIDDEN];
    let second = [HIDDEN + 1, 1];
    vec![
        float(0.3),
        float(0.3),
        random_floats(random, n, 0.0, 1.0),
        random_floats(random, 1, 0.0, 1.0),
        float_array(random, &first, -0.01, 0.01),
        float_array(random, &second, -1.0, 1.0),
        float_array(random, &first, 0.0, 0.01),
        float_array(random, &second, 0.0, 0.01),
    ]
}

fn bfs(random: &mut Random, n: usize) -> Vec<Value> {
    let graph = Graph::draw(random, n, 6);
    vec![int(0), ints(graph.starts), ints(graph.neighbours)]
}

fn cg(random: &mut Random, n: usize) -> Vec<Value> {
    let [starts, columns, values] = sparse_matrix(random, n, 130);
    let b = random_doubles(random, n, 0.0, 1.0);
    vec![int(25), starts, columns, values, b]
}

fn convolution(random: &mut Random, n: usize) -> Vec<Value> {
    vec![
        float_array(random, &[n, 64, 56, 56], -1.0, 1.0),
        float_array(random, &[64, 64, 3, 3], -0.1, 0.1),
        random_floats(random, 64, -1.0, 1.0),
    ]
}

fn covariance(random: &mut Random, n: usize) -> Vec<Value> {
    vec![double_array(random, &[n + n / 6, n], 0.0, 1.0)]
}

fn ep(_: &mut Random, n: usize) -> Vec<Value> {
    let streams = (n >> 12).max(1);
    vec![int(streams), int(n / streams), uint64(271_828_183)]
}

fn floyd_warshall(random: &mut Random, n: usize) -> Vec<Value> {
    vec![int_array(random, &[n, n], 1_000)]
}

fn gemver(random: &mut Random, n: usize) -> Vec<Value> {
    let mut inputs = vec![
        double(1.5),
        double(1.2),
        double_array(random, &[n, n], 0.0, 1.0),
    ];
    inputs.extend((0..6).map(|_| random_doubles(random, n, 0.0, 1.0)));
    inputs
}

fn histogram(random: &mut Random, n: usize) -> Vec<Value> {
    const BINS: usize = 1 << 16;
    vec![int(BINS), colours(random, n, BINS)]
}

fn hotspot(random: &mut Random, n: usize) -> Vec<Value> {
    let steps = (60 * 512 * 512 / (n * n)).max(2);
    vec![
        int(steps),
        float(0.2),
        float(0.1),
        float(0.05),
        float(0.3),
        float_array(random, &[n, n], 0.0, 1.0),
        float_array(random, &[n, n], 70.0, 90.0),
    ]
}

fn independent_set(random: &mut Random, n: usize) -> Vec<Value> {
    let graph = Graph::draw(random, n, 10);
    let order = permutation(random, n);
    vec![order, ints(graph.starts), ints(graph.neighbours)]
}

fn jacobi_2d(random: &mut Random, n: usize) -> Vec<Value> {
    vec![int(40), double_array(random, &[n, n], 0.0, 1.0)]
}

fn kmeans(random: &mut Random, n: usize) -> Vec<Value> {
    const FEATURES: usize = 34;
    let centres: Vec<Vec<f32>> = (0..5)
        .map(|_| (0..FEATURES).map(|_| random.below(10) as f32).collect())
        .collect();
    // Clusters apart from each other, so that few points lie between two centres.
    let mut around = |count: usize| -> Value {
        let points = (0..count).flat_map(|k| centres.get(k % 5).into_iter().flatten());
        let points = points.map(|x| x + uniform(random, -1.0, 1.0) as f32);
        let elements = Elements::F32(Arc::new(points.collect()));
        Value::Array(Arc::new(vec![count, FEATURES]), elements)
    };
    vec![int(10), around(n), around(5)]
}

fn lava(random: &mut Random, n: usize) -> Vec<Value> {
    const EACH: usize = 100;
    let boxes = n * n * n;
    let places = double_tuples::<3>(random, boxes * EACH, 0.1, 1.0);
    let places = places
        .into_iter()
        .map(|place| Value::Tuple(place.map(double).into()));
    let charge = |_| {
        let row = (0..EACH).map(|_| uniform(random, 0.1, 1.0)).collect();
        Value::Vector(Elements::F64(Arc::new(row)))
    };
    let charges = (0..boxes).map(charge).collect();
    vec![
        int(n),
        double(0.5),
        rows(places.collect(), EACH),
        Value::Vector(Elements::Values(Arc::new(charges))),
    ]
}

fn leapfrog(random: &mut Random, n: usize) -> Vec<Value> {
    vec![
        int((8_000_000 / (n * n)).max(1)),
        double(0.001),
        random_doubles(random, n, 0.1, 1.0),
        tuples(double_tuples::<3>(random, n, -1.0, 1.0), double),
        tuples(double_tuples::<3>(random, n, -0.1, 0.1), double),
    ]
}

fn local_volatility(_: &mut Random, n: usize) -> Vec<Value> {
    let evenly = |count: usize, low: f64, high: f64| -> Value {
        let step = (high - low) / (count - 1) as f64;
        doubles((0..count).map(|k| low + step * k as f64).collect())
    };
    vec![
        evenly(256, 0.001, 0.1),
        evenly(32, -3.0, 0.5),
        evenly(64, 0.0, 5.0),
        double(0.4),
        double(0.5),
        doubles((0..n).map(|k| 0.001 * k as f64).collect()),
    ]
}

fn lu(random: &mut Random, n: usize) -> Vec<Value> {
    let mut values: Vec<f32> = (0..n * n)
        .map(|_| uniform(random, -1.0, 1.0) as f32)
        .collect();
    // Without pivots, the diagonal has to be large.
    (0..n).for_each(|k| values[k * n + k] += n as f32);
    let elements = Elements::F32(Arc::new(values));
    vec![Value::Array(Arc::new(vec![n, n]), elements)]
}

fn mandelbrot(_: &mut Random, n: usize) -> Vec<Value> {
    vec![
        int(n),
        int(n),
        int(256),
        float(-2.2),
        float(1.5),
        float(3.0 / n as f32),
    ]
}

fn mri_q(random: &mut Random, n: usize) -> Vec<Value> {
    const SAMPLES: usize = 2_048;
    let samples: Vec<Value> = (0..5)
        .map(|_| random_floats(random, SAMPLES, -0.5, 0.5))
        .collect();
    let voxels = (0..3).map(|_| random_floats(random, n, -1.0, 1.0));
    samples.into_iter().chain(voxels).collect()
}

fn multigrid(random: &mut Random, n: usize) -> Vec<Value> {
    vec![double_array(random, &[n, n, n], -1.0, 1.0)]
}

fn nearest_records(random: &mut Random, n: usize) -> Vec<Value> {
    let one = |_| {
        let latitude = uniform(random, 0.0, 90.0) as f32;
        [latitude, uniform(random, 0.0, 180.0) as f32]
    };
    let records = tuples((0..n).map(one), float);
    vec![int(10), float(30.0), float(90.0), records]
}

fn needleman_wunsch(random: &mut Random, n: usize) -> Vec<Value> {
    const LETTERS: usize = 24;
    let mut scores = vec![0i32; LETTERS * LETTERS];
    for a in 0..LETTERS {
        for b in 0..=a {
            let score = match a == b {
                true => 4 + random.below(8) as i32,
                false => random.below(5) as i32 - 4,
            };
            scores[a * LETTERS + b] = score;
            scores[b * LETTERS + a] = score;
        }
    }
    let extents = Arc::new(vec![LETTERS, LETTERS]);
    vec![
        int(10),
        Value::Array(extents, Elements::I32(Arc::new(scores))),
        letters(random, n, LETTERS),
        letters(random, n, LETTERS),
    ]
}

fn pagerank(random: &mut Random, n: usize) -> Vec<Value> {
    vec![int(10), int(n), links(random, n, 16 * n)]
}

fn pathfinder(random: &mut Random, n: usize) -> Vec<Value> {
    vec![int_array(random, &[100, n], 10)]
}

fn quickhull(random: &mut Random, n: usize) -> Vec<Value> {
    vec![disc(random, n)]
}

fn remove_duplicates(random: &mut Random, n: usize) -> Vec<Value> {
    vec![random_ints(random, n, n)]
}

fn spheres(random: &mut Random, n: usize) -> Vec<Value> {
    let one = |_| {
        let mut draw = |low, high| uniform(random, low, high) as f32;
        [
            draw(-3.0, 3.0),
            draw(-3.0, 3.0),
            draw(4.0, 12.0),
            draw(0.1, 0.6),
        ]
    };
    let spheres = tuples((0..64).map(one), float);
    vec![int(n), int(n), spheres, float_tuple(&[5.0, 8.0, -2.0])]
}

fn srad(random: &mut Random, n: usize) -> Vec<Value> {
    let steps = (20 * 512 * 512 / (n * n)).max(2);
    vec![
        int(steps),
        float(0.5),
        float_array(random, &[n, n], 1.0, 2.7),
    ]
}

fn tpacf(random: &mut Random, n: usize) -> Vec<Value> {
    // Five bins for each power of ten, from a hundredth of an arc minute to 100 degrees.
    let bin = |k: i32| {
        (10f64.powf(-2.0 + f64::from(k) / 5.0) / 60.0)
            .to_radians()
            .cos()
    };
    let cosines = doubles((0..20).map(bin).collect());
    vec![cosines, directions(random, n), directions(random, n)]
}
