//! The inverse trigonometric functions, all computed from one arctangent of a quotient.

use super::double::{
    Double, add, dd, divide, multiply, nearest, negate, polynomial, power_of_2, sqrt, two_sum,
    with_sign,
};

const QUARTER: Double = dd(1.5707963267948966, 6.123233995736766e-17);
const HALF: Double = dd(3.141592653589793, 1.2246467991473532e-16);

/// arctan(k/8).
const ATAN_TABLE: [Double; 9] = [
    dd(0.0, 0.0),
    dd(0.12435499454676144, -3.1253241424539383e-18),
    dd(0.24497866312686414, 1.0698755618734451e-17),
    dd(0.35877067027057225, -2.4623815582638635e-17),
    dd(0.4636476090008061, 2.2698777452961687e-17),
    dd(0.5585993153435624, -5.4556305485916264e-18),
    dd(0.6435011087932844, 1.5834785051444286e-17),
    dd(0.7188299996216245, -2.1478388444456983e-17),
    dd(0.7853981633974483, 3.061616997868383e-17),
];

/// -1/3, 1/5, …
const ATAN_SERIES: [f64; 8] = [
    -0.3333333333333333,
    0.2,
    -0.14285714285714285,
    0.1111111111111111,
    -0.09090909090909091,
    0.07692307692307693,
    -0.06666666666666667,
    0.058823529411764705,
];

/// Returns arctan(n/d) for 0 ≤ n, 0 ≤ d, not both 0. The quotient q ≤ 1 of the smaller and the larger
/// is near c = k/8, and arctan q = arctan c + arctan((q - c) / (1 + q c)).
fn atan_quotient(n: Double, d: Double) -> Double {
    let swap = n.hi > d.hi;
    let (n, d) = if swap { (d, n) } else { (n, d) };
    let k = nearest(8.0 * (n.hi / d.hi));
    let c = dd(0.125 * f64::from(k), 0.0);
    let above = add(n, negate(multiply(c, d)));
    let below = add(d, multiply(c, n));
    let t = divide(above, below);
    let z = t.hi * t.hi;
    let tail = t.hi * z * polynomial(&ATAN_SERIES, z);
    let base = ATAN_TABLE[k.clamp(0, 8) as usize];
    let angle = add(base, add(t, dd(tail, 0.0)));
    if swap {
        add(QUARTER, negate(angle))
    } else {
        angle
    }
}

/// Returns π less an angle.
fn supplement(angle: Double) -> Double {
    add(HALF, negate(angle))
}

/// Returns the inverse tangent.
pub fn atan(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < 7.450580596923828e-09 {
        return x;
    }
    if magnitude > 1e17 {
        return with_sign(1.5707963267948966, x);
    }
    let angle = atan_quotient(dd(magnitude, 0.0), dd(1.0, 0.0));
    with_sign(angle.hi, x)
}

/// Returns the angle of (x, y) for magnitudes not both 0, finite.
fn atan_magnitudes(y: f64, x: f64) -> Double {
    if y < x * 9.094947017729282e-13 {
        return dd(y / x, 0.0);
    }
    let larger = if y > x { y } else { x };
    let mut scale = 1.0;
    if larger > power_of_2(500) {
        scale = power_of_2(-600);
    }
    if larger < power_of_2(-500) {
        scale = power_of_2(600);
    }
    atan_quotient(dd(y * scale, 0.0), dd(x * scale, 0.0))
}

/// Returns the angle of the point (x, y).
pub fn atan2(y: f64, x: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let (v, h) = (y.abs(), x.abs());
    let mut angle = if v == f64::INFINITY && h == f64::INFINITY {
        dd(0.7853981633974483, 3.061616997868383e-17)
    } else if v == 0.0 || h == f64::INFINITY {
        dd(0.0, 0.0)
    } else if h == 0.0 || v == f64::INFINITY {
        QUARTER
    } else {
        atan_magnitudes(v, h)
    };
    if x.is_sign_negative() {
        angle = supplement(angle);
    }
    with_sign(angle.hi, y)
}

/// Returns the square root of 1 - x² for 0 ≤ x ≤ 1.
fn cathetus(x: f64) -> Double {
    sqrt(multiply(two_sum(1.0, -x), two_sum(1.0, x)))
}

/// Returns the inverse sine.
pub fn asin(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 7.450580596923828e-09 {
        return x;
    }
    if magnitude.is_nan() || magnitude > 1.0 {
        return f64::NAN;
    }
    let angle = atan_quotient(dd(magnitude, 0.0), cathetus(magnitude));
    with_sign(angle.hi, x)
}

/// Returns the inverse cosine.
pub fn acos(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude.is_nan() || magnitude > 1.0 {
        return f64::NAN;
    }
    let angle = atan_quotient(cathetus(magnitude), dd(magnitude, 0.0));
    if x < 0.0 {
        supplement(angle).hi
    } else {
        angle.hi
    }
}
