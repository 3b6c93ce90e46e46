//! Cases that reduce vectors, rows of vectors and texts to a few numbers.

use super::cases::{
    bound, bytes, case, draw, exact, floats, matrix, maximum, minimum, recursive_bound,
    row_lengths, sum, tuple_of_floats, values, vectors,
};
use super::{Case, Expected};
use crate::random::Random;
use nova_core::{ScalarValue, Value};

pub fn bbox(random: &mut Random) -> Vec<Case> {
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

pub fn dot3(random: &mut Random) -> Vec<Case> {
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

/// Returns the Euclidean norm.
pub fn length(x: &[f32]) -> Expected {
    let squares: f64 = x.iter().map(|&v| v as f64 * v as f64).sum();
    let overflows = squares > f32::MAX as f64;
    let underflows = squares < 1e-30 && squares > 0.0;
    let value = if overflows {
        f64::INFINITY
    } else {
        squares.sqrt()
    };
    // Squares are floats. Too large ones are infinite, too small ones lose digits.
    if underflows {
        return Expected::within(value, value);
    }
    Expected {
        value,
        tolerance: bound(x.len(), value),
        recursive: recursive_bound(x.len(), value),
    }
}

pub fn norm(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| case(&what, vec![floats(&x)], vec![length(&x)]);
    vectors(random).into_iter().map(of).collect()
}

pub fn gridred(random: &mut Random) -> Vec<Case> {
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

/// Returns minimum, maximum, mean, variance, skewness and kurtosis.
pub fn statistics(x: &[f32]) -> Vec<Expected> {
    let n = x.len() as f64;
    let mean = x.iter().map(|&v| v as f64).sum::<f64>() / n;
    let moment = |p: i32| x.iter().map(|&v| (v as f64 - mean).powi(p)).sum::<f64>();
    let (m2, m3, m4) = (moment(2), moment(3), moment(4));
    let spread: f64 = x.iter().map(|&v| (v as f64 - mean).abs().powi(3)).sum();
    let relative = |value: f64, scale: f64| Expected::within(value, 1e-9 * scale.abs());
    // If all are equal, the moments are rounding errors of the mean, and their ratios arbitrary.
    let flat = m2 <= 1e-20 * mean * mean * n;
    let ratio = |value: f64, scale: f64| {
        if flat && n > 0.0 {
            Expected::within(value, f64::INFINITY)
        } else {
            relative(value, scale)
        }
    };
    vec![
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
    ]
}

pub fn sumstats(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| case(&what, vec![floats(&x)], statistics(&x));
    vectors(random).into_iter().map(of).collect()
}

pub fn sumrows(random: &mut Random) -> Vec<Case> {
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

/// Returns the number of words of a text.
pub fn words(text: &[u8]) -> usize {
    text.split(|b| !b.is_ascii_alphabetic())
        .filter(|w| !w.is_empty())
        .count()
}

pub fn wordcount(random: &mut Random) -> Vec<Case> {
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
        .map(|(what, text)| case(what, vec![bytes(&text)], vec![exact(words(&text) as f64)]))
        .collect()
}
