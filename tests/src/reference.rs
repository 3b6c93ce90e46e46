//! Independent references of the benchmark programs, in double precision or exact.
//!
//! A [`Case`] is one run: inputs, and for each number of the result what it must be and how far it
//! may be off. Bounds follow `c·log₂ n·ε·Σ|x|` with ε of `float` and Σ|x| the sum of the magnitudes
//! that were added; [`C`] is the constant.

use crate::random::Random;
use nova_core::{Elements, ScalarValue, Value};
use std::sync::Arc;

/// The constant of the bound on rounding errors.
pub const C: f64 = 4.0;

/// One number of a result.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The reference's value.
    pub value: f64,
    /// The largest absolute difference allowed.
    pub tolerance: f64,
}

/// One run of a benchmark program.
pub struct Case {
    /// What is special about it.
    pub what: String,
    /// The inputs in order.
    pub inputs: Vec<Value>,
    /// The numbers of the result, in the order in which they are written.
    pub expected: Vec<Expected>,
}

/// A benchmark program and the cases to run it on.
pub struct Benchmark {
    /// The program's name.
    pub name: &'static str,
    /// Draws its cases.
    pub cases: fn(&mut Random) -> Vec<Case>,
}

/// All sixteen array programs.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "bbox",
        cases: bbox,
    },
    Benchmark {
        name: "dot3",
        cases: dot3,
    },
    Benchmark {
        name: "norm",
        cases: norm,
    },
    Benchmark {
        name: "gridred",
        cases: gridred,
    },
    Benchmark {
        name: "sumstats",
        cases: sumstats,
    },
    Benchmark {
        name: "sumrows",
        cases: sumrows,
    },
    Benchmark {
        name: "wordcount",
        cases: wordcount,
    },
    Benchmark {
        name: "blackscholes",
        cases: blackscholes,
    },
    Benchmark {
        name: "nbody",
        cases: nbody,
    },
    Benchmark {
        name: "spmv",
        cases: spmv,
    },
    Benchmark {
        name: "box3x3",
        cases: box3x3,
    },
    Benchmark {
        name: "scal",
        cases: scal,
    },
    Benchmark {
        name: "asum",
        cases: asum,
    },
    Benchmark {
        name: "dot",
        cases: dot,
    },
    Benchmark {
        name: "gemv",
        cases: gemv,
    },
    Benchmark {
        name: "spmv_csr",
        cases: spmv_csr,
    },
];

const EPSILON: f64 = f32::EPSILON as f64;

/// The bound for a sum of `n` terms whose magnitudes add up to `magnitude`, plus the rounding of
/// the result to the smallest denormal.
fn bound(n: usize, magnitude: f64) -> f64 {
    C * (n.max(2) as f64).log2() * EPSILON * magnitude + f32::from_bits(1) as f64
}

fn exact(value: f64) -> Expected {
    Expected {
        value,
        tolerance: 0.0,
    }
}

fn near(value: f64, n: usize, magnitude: f64) -> Expected {
    // Beyond the range of floats the result is infinite.
    let value = if value.abs() > f32::MAX as f64 {
        value * f64::INFINITY
    } else {
        value
    };
    Expected {
        value,
        tolerance: bound(n, magnitude),
    }
}

/// The sum of terms in double precision, as a float is expected to give it.
fn sum(terms: &[f64]) -> Expected {
    near(
        terms.iter().sum(),
        terms.len(),
        terms.iter().map(|t| t.abs()).sum(),
    )
}

/// A float's value from a double, beyond the range infinite.
fn floats(v: &[f32]) -> Value {
    Value::Vector(Elements::F32(Arc::new(v.to_vec())))
}

fn bytes(v: &[u8]) -> Value {
    Value::Vector(Elements::U8(Arc::new(v.to_vec())))
}

fn values(v: Vec<Value>) -> Value {
    Value::Vector(Elements::Values(Arc::new(v)))
}

fn matrix(rows: usize, columns: usize, v: &[f32]) -> Value {
    Value::Array([rows, columns].into(), Elements::F32(Arc::new(v.to_vec())))
}

fn float(v: f32) -> Value {
    Value::Scalar(ScalarValue::F32(v))
}

fn tuple_of_floats(v: &[f32]) -> Value {
    Value::Tuple(v.iter().map(|&x| float(x)).collect())
}

fn draw(random: &mut Random, n: usize) -> Vec<f32> {
    (0..n)
        .map(|_| (random.below(2_000_001) as f32 - 1_000_000.0) / 250_000.0)
        .collect()
}

/// Vectors that are hard in one way each, then random ones of several lengths.
fn vectors(random: &mut Random) -> Vec<(String, Vec<f32>)> {
    let mut list: Vec<(String, Vec<f32>)> = vec![
        ("empty".into(), vec![]),
        ("one element".into(), vec![-2.5]),
        ("all equal".into(), vec![0.1; 4097]),
        ("huge".into(), vec![1e18; 3000]),
        ("a nan".into(), vec![1.0, f32::NAN, -3.0]),
        ("denormal".into(), vec![1e-41; 1030]),
        (
            "sorted".into(),
            (0..5000).map(|k| k as f32 * 0.37).collect(),
        ),
        (
            "alternating".into(),
            (0..2049)
                .map(|k| if k % 2 == 0 { 1e6 } else { -1e6 })
                .collect(),
        ),
    ];
    for n in [2, 31, 32, 33, 1023, 1024, 1025, 2048, 100_000] {
        list.push((format!("{n} random"), draw(random, n)));
    }
    list
}

fn case(what: &str, inputs: Vec<Value>, expected: Vec<Expected>) -> Case {
    Case {
        what: what.into(),
        inputs,
        expected,
    }
}

fn minimum(v: impl Iterator<Item = f32>) -> Expected {
    exact(v.fold(f32::INFINITY, f32::min) as f64)
}

fn maximum(v: impl Iterator<Item = f32>) -> Expected {
    exact(v.fold(f32::NEG_INFINITY, f32::max) as f64)
}

fn bbox(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let y: Vec<f32> = x.iter().rev().map(|v| v * 0.5).collect();
        let points = x
            .iter()
            .zip(&y)
            .map(|(&a, &b)| tuple_of_floats(&[a, b]))
            .collect();
        let expected = vec![
            minimum(x.iter().copied()),
            minimum(y.iter().copied()),
            maximum(x.iter().copied()),
            maximum(y.iter().copied()),
        ];
        case(&what, vec![values(points)], expected)
    };
    vectors(random).into_iter().map(of).collect()
}

fn dot3(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let at = |k: usize| x[k % x.len()];
        let a: Vec<[f32; 3]> = (0..x.len())
            .map(|k| [at(k), at(k + 1), at(k + 2)])
            .collect();
        let b: Vec<[f32; 3]> = (0..x.len()).map(|k| [at(k + 3), at(k * 2), 1.5]).collect();
        let expected = a
            .iter()
            .zip(&b)
            .map(|(a, b)| sum(&[0, 1, 2].map(|k| a[k] as f64 * b[k] as f64)))
            .collect();
        let tuples = |v: &[[f32; 3]]| values(v.iter().map(|t| tuple_of_floats(t)).collect());
        case(&what, vec![tuples(&a), tuples(&b)], expected)
    };
    vectors(random).into_iter().map(of).collect()
}

fn norm(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let squares: f64 = x.iter().map(|&v| v as f64 * v as f64).sum();
        let overflows = squares > f32::MAX as f64;
        let underflows = squares < 1e-30 && squares > 0.0;
        let value = if overflows {
            f64::INFINITY
        } else {
            squares.sqrt()
        };
        // Squares are floats: too large ones are infinite, too small ones lose their digits.
        let tolerance = if underflows {
            value
        } else {
            bound(x.len(), value)
        };
        case(&what, vec![floats(&x)], vec![Expected { value, tolerance }])
    };
    vectors(random).into_iter().map(of).collect()
}

fn gridred(random: &mut Random) -> Vec<Case> {
    [
        (0, 0, 0),
        (1, 1, 1),
        (3, 5, 0),
        (7, 9, 4),
        (40, 60, 60),
        (300, 300, 290),
    ]
    .into_iter()
    .map(|(rows, columns, width)| {
        let mut grid = draw(random, rows * columns);
        if let Some(first) = grid.first_mut() {
            *first = f32::NAN;
        }
        let used = || {
            (0..rows)
                .flat_map(|r| (0..width).map(move |c| r * columns + c))
                .map(|k| grid[k])
        };
        let expected = vec![minimum(used()), maximum(used())];
        let width = Value::Scalar(ScalarValue::I32(width as i32));
        let what = format!("{rows} x {columns}");
        case(&what, vec![matrix(rows, columns, &grid), width], expected)
    })
    .collect()
}

fn sumstats(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let n = x.len() as f64;
        let mean = x.iter().map(|&v| v as f64).sum::<f64>() / n;
        let moment = |p: i32| x.iter().map(|&v| (v as f64 - mean).powi(p)).sum::<f64>();
        let (m2, m3, m4) = (moment(2), moment(3), moment(4));
        let spread: f64 = x.iter().map(|&v| (v as f64 - mean).abs().powi(3)).sum();
        let relative = |value: f64, scale: f64| Expected {
            value,
            tolerance: 1e-9 * scale.abs(),
        };
        // All equal: the moments are rounding errors of the mean, and their ratios arbitrary.
        let flat = m2 <= 1e-20 * mean * mean * n;
        let ratio = |value: f64, scale: f64| {
            if flat && n > 0.0 {
                Expected {
                    value,
                    tolerance: f64::INFINITY,
                }
            } else {
                relative(value, scale)
            }
        };
        let expected = vec![
            minimum(x.iter().copied()),
            maximum(x.iter().copied()),
            relative(
                mean,
                x.iter().map(|&v| v.abs() as f64).sum::<f64>() / n.max(1.0),
            ),
            relative(m2 / (n - 1.0), m2 / (n - 1.0) + mean * mean * 1e-12),
            ratio(
                n.sqrt() * m3 / m2.powf(1.5),
                n.sqrt() * spread / m2.powf(1.5),
            ),
            ratio(n * m4 / (m2 * m2), n * m4 / (m2 * m2)),
        ];
        case(&what, vec![floats(&x)], expected)
    };
    vectors(random).into_iter().map(of).collect()
}

/// Row lengths that are hard in one way each.
fn row_lengths(random: &mut Random) -> Vec<(String, Vec<usize>)> {
    vec![
        ("no rows".into(), vec![]),
        ("empty rows".into(), vec![0; 1000]),
        ("one row".into(), vec![5000]),
        ("equal rows".into(), vec![17; 300]),
        (
            "many empty".into(),
            (0..2000)
                .map(|k| if k % 50 == 0 { 40 } else { 0 })
                .collect(),
        ),
        (
            "irregular".into(),
            (0..1000).map(|_| random.below(64)).collect(),
        ),
        (
            "one long".into(),
            (0..100)
                .map(|k| if k == 60 { 20_000 } else { k % 3 })
                .collect(),
        ),
    ]
}

fn sumrows(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, lengths) in row_lengths(random) {
        let rows: Vec<Vec<f32>> = lengths.iter().map(|&n| draw(random, n)).collect();
        let expected = rows
            .iter()
            .map(|row| sum(&row.iter().map(|&v| v as f64).collect::<Vec<_>>()))
            .collect();
        cases.push(case(
            &what,
            vec![values(rows.iter().map(|r| floats(r)).collect())],
            expected,
        ));
    }
    cases
}

fn wordcount(random: &mut Random) -> Vec<Case> {
    let random_bytes: Vec<u8> = (0..100_000).map(|_| random.below(256) as u8).collect();
    let texts: Vec<(&str, Vec<u8>)> = vec![
        ("empty", vec![]),
        ("one letter", b"x".to_vec()),
        ("edges of the letters", b"@A Z[ `a z{".to_vec()),
        ("no letters", vec![b'7'; 3000]),
        ("one word", vec![b'q'; 3000]),
        (
            "prose",
            b"It was the best of times, it was the worst of times; ".repeat(50),
        ),
        ("random bytes", random_bytes),
    ];
    texts
        .into_iter()
        .map(|(what, text)| {
            let words = text
                .split(|b| !b.is_ascii_alphabetic())
                .filter(|w| !w.is_empty())
                .count();
            case(what, vec![bytes(&text)], vec![exact(words as f64)])
        })
        .collect()
}

/// The normal distribution's integral, by the complementary error function's continued fraction or
/// series: independent of the polynomial that the program uses.
fn normal(d: f64) -> f64 {
    let x = d.abs() / std::f64::consts::SQRT_2;
    let tail = if x < 3.0 {
        let (mut term, mut total, mut k) = (x, x, 0.0);
        while term.abs() > 1e-18 * total.abs() {
            k += 1.0;
            term *= -x * x / k;
            total += term / (2.0 * k + 1.0);
            if k > 200.0 {
                break;
            }
        }
        0.5 * (1.0 - 2.0 / std::f64::consts::PI.sqrt() * total)
    } else {
        let fraction = (1..=60).rev().fold(x, |f, k| x + k as f64 / 2.0 / f);
        0.5 * (-x * x).exp() / (std::f64::consts::PI.sqrt() * fraction)
    };
    if d > 0.0 { 1.0 - tail } else { tail }
}

fn blackscholes(random: &mut Random) -> Vec<Case> {
    let (r, v) = (0.02f32, 0.3f32);
    let mut between = |n: usize, low: f32, high: f32| -> Vec<f32> {
        (0..n)
            .map(|_| low + (high - low) * random.below(1_000_000) as f32 / 1e6)
            .collect()
    };
    let sets = [
        ("empty", [vec![], vec![], vec![]]),
        ("one option", [vec![42.0], vec![40.0], vec![0.5]]),
        (
            "deep in and out of the money",
            [vec![5.0, 300.0], vec![300.0, 5.0], vec![0.25, 0.25]],
        ),
        (
            "random",
            [
                between(5000, 5.0, 30.0),
                between(5000, 1.0, 100.0),
                between(5000, 0.25, 10.0),
            ],
        ),
    ];
    let of = |(what, [s, x, t]): (&str, [Vec<f32>; 3])| {
        let mut expected = Vec::new();
        for k in 0..s.len() {
            let (s, x, t) = (s[k] as f64, x[k] as f64, t[k] as f64);
            let (r, v) = (r as f64, v as f64);
            let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
            let d2 = d1 - v * t.sqrt();
            let discounted = x * (-r * t).exp();
            // The polynomial is good to 7.5e-8; the rest is rounding of a dozen operations.
            let tolerance = (s + x) * (1.5e-7 + 24.0 * EPSILON);
            let call = s * normal(d1) - discounted * normal(d2);
            let put = discounted * normal(-d2) - s * normal(-d1);
            expected.extend([
                Expected {
                    value: call,
                    tolerance,
                },
                Expected {
                    value: put,
                    tolerance,
                },
            ]);
        }
        let inputs = vec![floats(&s), floats(&x), floats(&t), float(r), float(v)];
        case(what, inputs, expected)
    };
    sets.into_iter().map(of).collect()
}

fn nbody(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, n, eps2) in [
        ("none", 0, 0.1),
        ("one", 1, 0.1),
        ("random", 300, 0.01),
        ("spread", 1100, 1e-6),
    ] {
        let bodies: Vec<[f32; 4]> = (0..n)
            .map(|_| {
                let v = draw(random, 4);
                [v[0], v[1], v[2], v[3].abs()]
            })
            .collect();
        let mut expected = Vec::new();
        for p in &bodies {
            let mut terms = [Vec::new(), Vec::new(), Vec::new()];
            for q in &bodies {
                let d: [f64; 3] = [0, 1, 2].map(|k| q[k] as f64 - p[k] as f64);
                let square = d.iter().map(|x| x * x).sum::<f64>() + f64::from(eps2);
                for k in 0..3 {
                    terms[k].push(d[k] * q[3] as f64 / (square * square.sqrt()));
                }
            }
            // Each term carries some ten rounding errors of its own.
            expected.extend(terms.iter().map(|t| {
                let e = sum(t);
                Expected {
                    value: e.value,
                    tolerance: 3.0 * e.tolerance + 1e-6 * e.tolerance,
                }
            }));
        }
        let bodies = values(bodies.iter().map(|b| tuple_of_floats(b)).collect());
        cases.push(case(what, vec![bodies, float(eps2)], expected));
    }
    cases
}

fn spmv(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, width, n) in [(0, 0, 0), (1, 1, 1), (500, 16, 700), (100, 1500, 50)] {
        let mut v = draw(random, rows * width);
        let mut columns: Vec<i32> = (0..rows * width).map(|_| random.below(n) as i32).collect();
        for k in (0..v.len()).step_by(3) {
            (v[k], columns[k]) = (0.0, 0);
        }
        let x = draw(random, n);
        let expected = (0..rows)
            .map(|r| {
                let row = r * width..(r + 1) * width;
                sum(&row
                    .map(|k| v[k] as f64 * x[columns[k] as usize] as f64)
                    .collect::<Vec<_>>())
            })
            .collect();
        let columns = Value::Array([rows, width].into(), Elements::I32(Arc::new(columns)));
        let what = format!("{rows} rows of {width}");
        cases.push(case(
            &what,
            vec![matrix(rows, width, &v), columns, floats(&x)],
            expected,
        ));
    }
    cases
}

fn box3x3(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (h, w) in [(0, 0), (0, 5), (1, 1), (1, 7), (2, 2), (90, 110)] {
        let img = draw(random, h * w);
        let at = |i: i64, j: i64| {
            let (i, j) = (i.clamp(0, h as i64 - 1), j.clamp(0, w as i64 - 1));
            img[i as usize * w + j as usize] as f64 / 9.0
        };
        let expected = (0..h as i64)
            .flat_map(|i| (0..w as i64).map(move |j| (i, j)))
            .map(|(i, j)| {
                let around = (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b)));
                sum(&around.map(|(a, b)| at(i + a, j + b)).collect::<Vec<_>>())
            })
            .collect();
        cases.push(case(
            &format!("{h} x {w}"),
            vec![matrix(h, w, &img)],
            expected,
        ));
    }
    cases
}

fn scal(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let expected = x
            .iter()
            .map(|&v| sum(&[v as f64 * -1.7f32 as f64]))
            .collect();
        case(&what, vec![float(-1.7), floats(&x)], expected)
    };
    vectors(random).into_iter().map(of).collect()
}

fn asum(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let terms: Vec<f64> = x.iter().map(|v| v.abs() as f64).collect();
        case(&what, vec![floats(&x)], vec![sum(&terms)])
    };
    vectors(random).into_iter().map(of).collect()
}

fn dot(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let y: Vec<f32> = x.iter().rev().copied().collect();
        let terms: Vec<f64> = x
            .iter()
            .zip(&y)
            .map(|(&a, &b)| a as f64 * b as f64)
            .collect();
        case(&what, vec![floats(&x), floats(&y)], vec![sum(&terms)])
    };
    vectors(random).into_iter().map(of).collect()
}

fn gemv(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, columns) in [(0, 0), (1, 1), (4, 0), (60, 70), (3, 4000)] {
        let (a, x, y) = (
            draw(random, rows * columns),
            draw(random, columns),
            draw(random, rows),
        );
        let (alpha, beta) = (1.25f32, -0.5f32);
        let expected = (0..rows)
            .map(|r| {
                let mut terms: Vec<f64> = (0..columns)
                    .map(|c| alpha as f64 * a[r * columns + c] as f64 * x[c] as f64)
                    .collect();
                terms.push(beta as f64 * y[r] as f64);
                sum(&terms)
            })
            .collect();
        let inputs = vec![
            matrix(rows, columns, &a),
            floats(&x),
            floats(&y),
            float(alpha),
            float(beta),
        ];
        cases.push(case(&format!("{rows} x {columns}"), inputs, expected));
    }
    cases
}

fn spmv_csr(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, lengths) in row_lengths(random) {
        let x = draw(random, 500);
        let mut expected = Vec::new();
        let mut rows = Vec::new();
        for n in lengths {
            let v = draw(random, n);
            let columns: Vec<usize> = (0..n).map(|_| random.below(x.len())).collect();
            let products = v
                .iter()
                .zip(&columns)
                .map(|(&a, &c)| a as f64 * x[c] as f64);
            expected.push(sum(&products.collect::<Vec<_>>()));
            let entry = |(&a, &c): (&f32, &usize)| {
                Value::Tuple([Value::Scalar(ScalarValue::I32(c as i32)), float(a)].into())
            };
            rows.push(values(v.iter().zip(&columns).map(entry).collect()));
        }
        cases.push(case(&what, vec![values(rows), floats(&x)], expected));
    }
    cases
}

/// The numbers of a value in the order in which they are written.
pub fn numbers(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Scalar(scalar) => out.push(match scalar {
            ScalarValue::F32(v) => *v as f64,
            ScalarValue::F64(v) => *v,
            ScalarValue::Bool(v) => *v as u8 as f64,
            other => other.as_integer().unwrap_or(0) as f64,
        }),
        Value::Unit | Value::Function(_) => {}
        Value::Tuple(elements) => elements.iter().for_each(|e| numbers(e, out)),
        Value::Vector(elements) | Value::Array(_, elements) => {
            elements.iter().for_each(|e| numbers(&e, out))
        }
        Value::Sum(tag, payload) => {
            out.push(*tag as f64);
            numbers(payload.get(), out);
        }
    }
}

/// Compares a result with what is expected; the first difference as text.
pub fn compare(result: &Value, expected: &[Expected]) -> Result<(), String> {
    let mut found = Vec::new();
    numbers(result, &mut found);
    if found.len() != expected.len() {
        return Err(format!(
            "{} numbers instead of {}",
            found.len(),
            expected.len()
        ));
    }
    for (k, (&found, wanted)) in found.iter().zip(expected).enumerate() {
        let equal = found == wanted.value
            || (found.is_nan() && wanted.value.is_nan())
            || (found - wanted.value).abs() <= wanted.tolerance
            || wanted.tolerance.is_infinite();
        if !equal {
            let Expected { value, tolerance } = wanted;
            return Err(format!(
                "number {k} is {found:e}, not {value:e} (± {tolerance:e})"
            ));
        }
    }
    Ok(())
}
