//! Cases of finance, physics and image processing.

use super::cases::{
    EPSILON, Sum, case, draw, float, floats, matrix, sum_of, tuple_of_floats, values,
};
use super::{Case, Expected};
use crate::random::Random;

/// Returns the normal distribution's integral, by the continued fraction or series of the
/// complementary error function. It is independent of the polynomial that the program uses.
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

/// Returns the prices of a call and a put option: stock price, strike and years; riskless rate,
/// volatility.
pub fn prices(option: [f32; 3], rate: f32, volatility: f32) -> [Expected; 2] {
    let [s, x, t] = option.map(f64::from);
    let (r, v) = (f64::from(rate), f64::from(volatility));
    let d1 = ((s / x).ln() + (r + 0.5 * v * v) * t) / (v * t.sqrt());
    let d2 = d1 - v * t.sqrt();
    let discounted = x * (-r * t).exp();
    // The polynomial has an error of at most 7.5e-8. The rest is rounding of a dozen operations.
    let tolerance = (s + x) * (1.5e-7 + 24.0 * EPSILON);
    let call = s * normal(d1) - discounted * normal(d2);
    let put = discounted * normal(-d2) - s * normal(-d1);
    [call, put].map(|value| Expected::within(value, tolerance))
}

pub fn blackscholes(random: &mut Random) -> Vec<Case> {
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
            expected.extend(prices([s[k], x[k], t[k]], r, v));
        }
        let inputs = vec![floats(&s), floats(&x), floats(&t), float(r), float(v)];
        case(what, inputs, expected)
    };
    sets.into_iter().map(of).collect()
}

/// Returns the acceleration of a body by all bodies.
pub fn acceleration(p: &[f32; 4], bodies: &[[f32; 4]], eps2: f32) -> [Expected; 3] {
    let mut sums = [Sum::default(); 3];
    for q in bodies {
        let d: [f64; 3] = [0, 1, 2].map(|k| q[k] as f64 - p[k] as f64);
        let square = d.iter().map(|x| x * x).sum::<f64>() + f64::from(eps2);
        let scale = q[3] as f64 / (square * square.sqrt());
        for (sum, d) in sums.iter_mut().zip(d) {
            sum.add(d * scale);
        }
    }
    // Each term has some ten rounding errors of its own.
    sums.map(|sum| {
        let expected = sum.expected();
        let more = |tolerance: f64| 3.0 * tolerance + 1e-6 * tolerance;
        Expected {
            value: expected.value,
            tolerance: more(expected.tolerance),
            recursive: more(expected.recursive),
        }
    })
}

pub fn nbody(random: &mut Random) -> Vec<Case> {
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
            expected.extend(acceleration(p, &bodies, eps2));
        }
        let bodies = values(bodies.iter().map(|b| tuple_of_floats(b)).collect());
        cases.push(case(what, vec![bodies, float(eps2)], expected));
    }
    cases
}

/// Returns the mean of the 3x3 neighbourhood of a pixel, with clamped edges.
pub fn mean_around(
    img: &[f32],
    (height, width): (usize, usize),
    (i, j): (usize, usize),
) -> Expected {
    let near = |k: usize, n: usize| [k.saturating_sub(1), k, (k + 1).min(n - 1)];
    let pixels = near(i, height)
        .into_iter()
        .flat_map(|i| near(j, width).map(|j| img[i * width + j] as f64 / 9.0));
    sum_of(pixels)
}

pub fn box3x3(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (h, w) in [(0, 0), (0, 5), (1, 1), (1, 7), (2, 2), (90, 110)] {
        let img = draw(random, h * w);
        let expected = (0..h)
            .flat_map(|i| (0..w).map(move |j| (i, j)))
            .map(|(i, j)| mean_around(&img, (h, w), (i, j)))
            .collect();
        cases.push(case(
            &format!("{h} x {w}"),
            vec![matrix(h, w, &img)],
            expected,
        ));
    }
    cases
}
