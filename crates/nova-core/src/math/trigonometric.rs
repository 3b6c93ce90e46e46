//! Sine, cosine and tangent, with an exact reduction of huge arguments (Payne and Hanek).

use super::double::{
    Double, dd, divide, multiply, negate, polynomial, power_of_2, quick_sum, two_product, two_sum,
};

/// 2/π in words of 32 bits, the first of weight 2^-32.
const TWO_OVER_PI: [u32; 40] = [
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
];

/// An angle of turn · π/2 + rest.
struct Angle {
    turn: u32,
    rest: Double,
}

/// Returns the product of the integer m and the seven words from `first` of 2/π, in nine words, the
/// least significant first.
fn multiply_words(m: u64, first: usize) -> [u32; 9] {
    let (low, high) = (m & 0xffff_ffff, m >> 32);
    let mut product = [0u32; 9];
    let mut carry = 0u64;
    for k in 0..7 {
        let sum = low * u64::from(TWO_OVER_PI[first + 6 - k]) + carry;
        product[k] = sum as u32;
        carry = sum >> 32;
    }
    product[7] = carry as u32;
    carry = 0;
    for k in 0..7 {
        let word = u64::from(TWO_OVER_PI[first + 6 - k]);
        let sum = high * word + u64::from(product[k + 1]) + carry;
        product[k + 1] = sum as u32;
        carry = sum >> 32;
    }
    product[8] = carry as u32;
    product
}

/// Returns a word of nine, or 0 outside of them.
fn word(words: &[u32; 9], k: i32) -> u64 {
    let word = usize::try_from(k).ok().and_then(|k| words.get(k));
    word.map_or(0, |w| u64::from(*w))
}

/// Returns the 64 bits of nine words that start at bit `position` ≥ -288, counted from the least
/// significant. Bits outside are 0.
fn extract(words: &[u32; 9], position: i32) -> u64 {
    let (at, bit) = ((position + 288) / 32 - 9, (position + 288) % 32);
    let low = word(words, at) | word(words, at + 1) << 32;
    if bit == 0 {
        return low;
    }
    low >> bit | word(words, at + 2) << (64 - bit)
}

/// Returns fraction · π/2, for a fraction of 128 bits (of weight 2^-64 and 2^-128) and 64 bits more.
fn fraction_angle(mut first: u64, mut second: u64, mut third: u64) -> Double {
    let mut shift = 0;
    if first | second == 0 {
        return dd(0.0, 0.0);
    }
    while first >> 63 == 0 {
        first = first << 1 | second >> 63;
        second = second << 1 | third >> 63;
        third <<= 1;
        shift += 1;
    }
    let scale = power_of_2(-shift);
    let hi = (first >> 11) as f64 * power_of_2(-53);
    let rest = (first & 0x7ff) << 42 | second >> 22;
    let lo = rest as f64 * power_of_2(-106);
    let fraction = quick_sum(hi * scale, lo * scale);
    multiply(fraction, dd(1.5707963267948966, 6.123233995736766e-17))
}

/// Returns a finite magnitude as turn · π/2 + rest with |rest| ≤ π/4, exact to 2^-70 of the rest. Here
/// x = m · 2^e, times the words of 2/π that determine the quarter turn and the fraction.
fn reduce(x: f64) -> Angle {
    if x <= 0.7853981633974483 {
        return Angle {
            turn: 0,
            rest: dd(x, 0.0),
        };
    }
    let bits = x.to_bits();
    let m = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    let e = (bits >> 52) as i32 - 1075;
    let first = if e > 2 { (e - 2) / 32 } else { 0 };
    let product = multiply_words(m, first as usize);
    let point = 32 * (first + 7) - e;
    let a = extract(&product, point - 64);
    let b = extract(&product, point - 128);
    let c = extract(&product, point - 192);
    let turn = (extract(&product, point) & 3) as u32;
    if a >> 63 == 0 {
        let rest = fraction_angle(a, b, c);
        return Angle { turn, rest };
    }
    // Above one half: one turn more, less the rest to the next.
    let c = (!c).wrapping_add(1);
    let b = (!b).wrapping_add(u64::from(c == 0));
    let a = (!a).wrapping_add(u64::from(b == 0 && c == 0));
    Angle {
        turn: (turn + 1) & 3,
        rest: negate(fraction_angle(a, b, c)),
    }
}

/// -1/3!, 1/5!, …
const SIN_SERIES: [f64; 9] = [
    -0.16666666666666666,
    0.008333333333333333,
    -0.0001984126984126984,
    2.7557319223985893e-06,
    -2.505210838544172e-08,
    1.6059043836821613e-10,
    -7.647163731819816e-13,
    2.8114572543455206e-15,
    -8.22063524662433e-18,
];

/// 1/4!, -1/6!, …
const COS_SERIES: [f64; 8] = [
    0.041666666666666664,
    -0.001388888888888889,
    2.48015873015873e-05,
    -2.755731922398589e-07,
    2.08767569878681e-09,
    -1.1470745597729725e-11,
    4.779477332387385e-14,
    -1.5619206968586225e-16,
];

/// Returns sin r for |r| ≤ π/4.
fn sin_small(r: Double) -> Double {
    let z = r.hi * r.hi;
    let tail = r.hi * z * polynomial(&SIN_SERIES, z);
    quick_sum(r.hi, tail + r.lo * (1.0 - 0.5 * z))
}

/// Returns cos r for |r| ≤ π/4.
fn cos_small(r: Double) -> Double {
    let z = two_product(r.hi, r.hi);
    let low = z.lo + 2.0 * (r.hi * r.lo);
    let w = two_sum(1.0, -0.5 * z.hi);
    let tail = z.hi * z.hi * polynomial(&COS_SERIES, z.hi);
    quick_sum(w.hi, (w.lo - 0.5 * low) + tail)
}

/// Returns the sine.
pub fn sin(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude == f64::INFINITY {
        return f64::NAN;
    }
    if magnitude < 7.450580596923828e-09 {
        return x;
    }
    let Angle { turn, rest } = reduce(magnitude);
    let r = match turn & 1 {
        0 => sin_small(rest).hi,
        _ => cos_small(rest).hi,
    };
    if (turn & 2 != 0) != (x < 0.0) { -r } else { r }
}

/// Returns the cosine.
pub fn cos(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude == f64::INFINITY {
        return f64::NAN;
    }
    let Angle { turn, rest } = reduce(magnitude);
    let r = match turn & 1 {
        0 => cos_small(rest).hi,
        _ => sin_small(rest).hi,
    };
    if turn == 1 || turn == 2 { -r } else { r }
}

/// Returns the tangent.
pub fn tan(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude == f64::INFINITY {
        return f64::NAN;
    }
    if magnitude < 7.450580596923828e-09 {
        return x;
    }
    let Angle { turn, rest } = reduce(magnitude);
    let (s, c) = (sin_small(rest), cos_small(rest));
    let r = match turn & 1 {
        0 => divide(s, c).hi,
        _ => -divide(c, s).hi,
    };
    if x < 0.0 { -r } else { r }
}
