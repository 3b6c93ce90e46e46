//! Exponentials, logarithms, powers and hyperbolic functions.

use super::double::{
    Double, Scaled, add, dd, divide, multiply, nearest, polynomial, power_of_2, quick_sum, two_sum,
    with_sign,
};

const LN_2: Double = dd(0.6931471805599453, 2.3190468138462996e-17);

/// 1/3!, 1/4!, …
const EXP_SERIES: [f64; 12] = [
    0.16666666666666666,
    0.041666666666666664,
    0.008333333333333333,
    0.001388888888888889,
    0.0001984126984126984,
    2.48015873015873e-05,
    2.7557319223985893e-06,
    2.755731922398589e-07,
    2.505210838544172e-08,
    2.08767569878681e-09,
    1.6059043836821613e-10,
    1.1470745597729725e-11,
];

/// Returns e^r for |r| < 0.36.
fn exp_small(r: Double) -> Double {
    let square = multiply(r, r);
    let tail = r.hi * square.hi * polynomial(&EXP_SERIES, r.hi);
    let sum = add(dd(1.0, 0.0), r);
    let sum = add(sum, dd(0.5 * square.hi, 0.5 * square.lo));
    add(sum, dd(tail, 0.0))
}

/// Returns e^x for |x| < 750. Here x = exponent · ln 2 + r, with ln 2 split into words of 32 bits and a
/// rest.
fn exp_scaled(x: Double) -> Scaled {
    let exponent = nearest(x.hi * 1.4426950408889634);
    let k = f64::from(exponent);
    let a = x.hi - k * 0.6931471803691238;
    let r = two_sum(a, -(k * 1.9082149288430703e-10));
    let r = add(r, dd(x.lo - k * 4.275175589747649e-20, 0.0));
    Scaled {
        value: exp_small(r),
        exponent,
    }
}

/// Returns e^x.
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 710.0 {
        return f64::INFINITY;
    }
    if x < -746.0 {
        return 0.0;
    }
    exp_scaled(dd(x, 0.0)).round()
}

/// Returns 2^x.
pub fn exp2(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x >= 1024.0 {
        return f64::INFINITY;
    }
    if x < -1076.0 {
        return 0.0;
    }
    let exponent = nearest(x);
    let rest = dd(x - f64::from(exponent), 0.0);
    let value = exp_small(multiply(rest, LN_2));
    Scaled { value, exponent }.round()
}

/// 1/7, 1/9, …
const LOG_SERIES: [f64; 11] = [
    0.14285714285714285,
    0.1111111111111111,
    0.09090909090909091,
    0.07692307692307693,
    0.06666666666666667,
    0.058823529411764705,
    0.05263157894736842,
    0.047619047619047616,
    0.043478260869565216,
    0.04,
    0.037037037037037035,
];

/// Splits a positive finite x = 2^exponent · m, with m between √(1/2) and √2. The value is ln m = 2
/// artanh s for s = (m - 1) / (m + 1).
fn log_split(mut x: f64) -> Scaled {
    let mut shift = 0;
    if x < power_of_2(-1022) {
        x *= power_of_2(54);
        shift = -54;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023 + shift;
    let fraction = bits & 0x000f_ffff_ffff_ffff;
    let mut m = f64::from_bits(fraction | 0x3ff0_0000_0000_0000);
    if m > 1.4142135623730951 {
        m *= 0.5;
        exponent += 1;
    }
    let s = divide(dd(m - 1.0, 0.0), two_sum(m, 1.0));
    let z = multiply(s, s);
    let tail = z.hi * polynomial(&LOG_SERIES, z.hi);
    let w = add(dd(0.2, -1.1102230246251566e-17), dd(tail, 0.0));
    let w = multiply(z, w);
    let w = add(dd(0.3333333333333333, 1.850371707708594e-17), w);
    let w = multiply(multiply(s, z), w);
    let w = add(s, w);
    Scaled {
        value: dd(2.0 * w.hi, 2.0 * w.lo),
        exponent,
    }
}

/// Returns exponent · unit + value · factor for a split x.
fn log_join(x: Scaled, unit: Double, factor: Double) -> Double {
    let high = multiply(dd(f64::from(x.exponent), 0.0), unit);
    add(high, multiply(x.value, factor))
}

fn log_double(x: f64) -> Double {
    log_join(log_split(x), LN_2, dd(1.0, 0.0))
}

/// Returns logarithms of numbers that are not positive and finite.
fn log_special(x: f64) -> Option<f64> {
    if x.is_nan() || x < 0.0 {
        Some(f64::NAN)
    } else if x == 0.0 {
        Some(-f64::INFINITY)
    } else {
        (x == f64::INFINITY).then_some(x)
    }
}

/// Returns the natural logarithm.
pub fn log(x: f64) -> f64 {
    log_special(x).unwrap_or_else(|| log_double(x).hi)
}

/// Returns the logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    let factor = dd(1.4426950408889634, 2.0355273740931033e-17);
    log_special(x).unwrap_or_else(|| log_join(log_split(x), dd(1.0, 0.0), factor).hi)
}

/// Returns the logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    let unit = dd(0.3010299956639812, -2.8037281277851704e-18);
    let factor = dd(0.4342944819032518, 1.098319650216765e-17);
    log_special(x).unwrap_or_else(|| log_join(log_split(x), unit, factor).hi)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parity {
    NoInteger,
    Odd,
    Even,
}

fn parity(y: f64) -> Parity {
    let magnitude = y.abs();
    if magnitude >= 9007199254740992.0 {
        return Parity::Even;
    }
    let whole = magnitude as i64;
    if whole as f64 != magnitude {
        Parity::NoInteger
    } else if whole & 1 != 0 {
        Parity::Odd
    } else {
        Parity::Even
    }
}

/// Returns x^y for 0 < x finite, x not 1, y finite and not 0.
fn pow_positive(x: f64, y: f64) -> f64 {
    let magnitude = y.abs();
    let limit = if (x > 1.0) == (y > 0.0) {
        f64::INFINITY
    } else {
        0.0
    };
    if magnitude > 36893488147419103232.0 {
        return limit;
    }
    if magnitude < 2.710505431213761e-20 {
        return 1.0;
    }
    let exponent = multiply(log_double(x), dd(y, 0.0));
    if exponent.hi > 710.0 {
        return f64::INFINITY;
    }
    if exponent.hi < -746.0 {
        return 0.0;
    }
    exp_scaled(exponent).round()
}

/// Returns x^y, with the special cases of C's annex F.
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let magnitude = x.abs();
    let parity = parity(y);
    let negative = x.is_sign_negative() && parity == Parity::Odd;
    let choose = |infinite: bool| if infinite { f64::INFINITY } else { 0.0 };
    let result = if y.abs() == f64::INFINITY {
        if magnitude == 1.0 {
            return 1.0;
        }
        choose((magnitude > 1.0) == (y > 0.0))
    } else if magnitude == 0.0 || magnitude == f64::INFINITY {
        choose((magnitude == 0.0) == (y < 0.0))
    } else if x < 0.0 && parity == Parity::NoInteger {
        return f64::NAN;
    } else if magnitude == 1.0 {
        1.0
    } else {
        pow_positive(magnitude, y)
    };
    if negative { -result } else { result }
}

/// 1/3!, 1/5!, …
const SINH_SERIES: [f64; 9] = [
    0.16666666666666666,
    0.008333333333333333,
    0.0001984126984126984,
    2.7557319223985893e-06,
    2.505210838544172e-08,
    1.6059043836821613e-10,
    7.647163731819816e-13,
    2.8114572543455206e-15,
    8.22063524662433e-18,
];

/// Returns sinh x for |x| < 1.
fn sinh_small(x: f64) -> Double {
    let z = x * x;
    quick_sum(x, x * z * polynomial(&SINH_SERIES, z))
}

/// Returns (e^x + sign · e^-x) / 2 for 0 ≤ x < 40.
fn hyperbolic(x: f64, sign: f64) -> Double {
    let up = exp_scaled(dd(x, 0.0)).apply();
    let down = exp_scaled(dd(-x, 0.0)).apply();
    let sum = add(up, dd(sign * down.hi, sign * down.lo));
    dd(0.5 * sum.hi, 0.5 * sum.lo)
}

/// Returns e^x / 2 for x ≥ 40.
fn half_exp(x: f64) -> f64 {
    if x > 711.0 {
        return f64::INFINITY;
    }
    let mut power = exp_scaled(dd(x, 0.0));
    power.exponent -= 1;
    power.round()
}

/// Returns the hyperbolic sine.
pub fn sinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < 7.450580596923828e-09 {
        return x;
    }
    let r = if magnitude < 1.0 {
        sinh_small(magnitude).hi
    } else if magnitude < 40.0 {
        hyperbolic(magnitude, -1.0).hi
    } else {
        half_exp(magnitude)
    };
    with_sign(r, x)
}

/// Returns the hyperbolic cosine.
pub fn cosh(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() {
        return x;
    }
    if magnitude < 40.0 {
        hyperbolic(magnitude, 1.0).hi
    } else {
        half_exp(magnitude)
    }
}

/// Returns the hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < 7.450580596923828e-09 {
        return x;
    }
    if magnitude > 22.0 {
        return with_sign(1.0, x);
    }
    let s = if magnitude < 1.0 {
        sinh_small(magnitude)
    } else {
        hyperbolic(magnitude, -1.0)
    };
    with_sign(divide(s, hyperbolic(magnitude, 1.0)).hi, x)
}
