//! Numbers as unevaluated sums of two doubles, and functions that take doubles apart.

/// `hi + lo`, where `lo` is at most half a unit in the last place of `hi`.
#[derive(Clone, Copy, Debug)]
pub struct Double {
    pub hi: f64,
    pub lo: f64,
}

/// `value · 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    pub value: Double,
    pub exponent: i32,
}

pub const fn dd(hi: f64, lo: f64) -> Double {
    Double { hi, lo }
}

/// Returns the magnitude of x with the sign of y.
pub fn with_sign(x: f64, y: f64) -> f64 {
    x.copysign(y)
}

/// Returns 2^k for k from -1022 to 1023.
pub fn power_of_2(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// Returns the nearest integer, for |x| < 2^31.
pub fn nearest(x: f64) -> i32 {
    (if x < 0.0 { x - 0.5 } else { x + 0.5 }) as i32
}

/// Returns a + b exactly, for |a| ≥ |b|.
pub fn quick_sum(a: f64, b: f64) -> Double {
    let s = a + b;
    dd(s, b - (s - a))
}

/// Returns a + b exactly.
pub fn two_sum(a: f64, b: f64) -> Double {
    let s = a + b;
    let t = s - a;
    dd(s, (a - (s - t)) + (b - t))
}

/// Returns a · b exactly, barring overflow and underflow (Dekker).
pub fn two_product(a: f64, b: f64) -> Double {
    let p = a * b;
    let s = a * 134217729.0;
    let a1 = s - (s - a);
    let a2 = a - a1;
    let t = b * 134217729.0;
    let b1 = t - (t - b);
    let b2 = b - b1;
    dd(p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2)
}

pub fn add(a: Double, b: Double) -> Double {
    let s = two_sum(a.hi, b.hi);
    quick_sum(s.hi, s.lo + (a.lo + b.lo))
}

pub fn negate(a: Double) -> Double {
    dd(-a.hi, -a.lo)
}

pub fn multiply(a: Double, b: Double) -> Double {
    let p = two_product(a.hi, b.hi);
    quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi))
}

pub fn divide(a: Double, b: Double) -> Double {
    let q = a.hi / b.hi;
    let p = two_product(q, b.hi);
    let rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    quick_sum(q, rest / b.hi)
}

/// Returns the square root of a number that is not negative.
pub fn sqrt(a: Double) -> Double {
    let s = a.hi.sqrt();
    if s == 0.0 {
        return dd(0.0, 0.0);
    }
    let p = two_product(s, s);
    quick_sum(s, (((a.hi - p.hi) - p.lo) + a.lo) / (2.0 * s))
}

/// Returns `c[0] + c[1] x + … + c[n-1] x^(n-1)`.
pub fn polynomial(c: &[f64], x: f64) -> f64 {
    let Some((last, others)) = c.split_last() else {
        return 0.0;
    };
    others.iter().rev().fold(*last, |sum, c| sum * x + c)
}

impl Scaled {
    /// Rounds once, for values near 1 and exponents within -1100 to 1100.
    pub fn round(self) -> f64 {
        let (hi, exponent) = (self.value.hi, self.exponent);
        if exponent > 1000 {
            return hi * power_of_2(1000) * power_of_2(exponent - 1000);
        }
        if exponent < -1000 {
            return hi * power_of_2(exponent + 1000) * power_of_2(-1000);
        }
        hi * power_of_2(exponent)
    }

    /// Returns the number, for exponents that keep both summands normal.
    pub fn apply(self) -> Double {
        let scale = power_of_2(self.exponent);
        dd(self.value.hi * scale, self.value.lo * scale)
    }
}
