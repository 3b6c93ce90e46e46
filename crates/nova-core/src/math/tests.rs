//! Tests of the accuracy against the host's functions, of special values, and of the bits of the C
//! text.

use crate::ScalarOperation as O;
use crate::math;
use std::io::Write;
use std::process::Command;

/// A generator of pseudo-random bits.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let x = self.0 ^ (self.0 >> 33);
        x.wrapping_mul(0xff51afd7ed558ccd) ^ (x >> 29)
    }

    /// Returns a number between -1 and 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Returns a number of one of several kinds: any bits, small, moderate, around 1, near multiples of
    /// π/2.
    fn number(&mut self) -> f64 {
        match self.bits() % 8 {
            0 => f64::from_bits(self.bits()),
            1 => self.unit(),
            2 => self.unit() * 10.0,
            3 => self.unit() * 800.0,
            4 => 1.0 + self.unit() * 1e-6,
            5 => (self.bits() % 1_000_000) as f64 * std::f64::consts::FRAC_PI_2,
            6 => self.unit() * 1e-3,
            _ => (self.unit() * 50.0).exp2().copysign(self.unit()),
        }
    }
}

const SPECIAL: [f64; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -0.5,
    3.0,
    -3.0,
    1.5,
    10.0,
    1000.0,
    1e22,
    1e300,
    -1e300,
    1e-300,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    709.782712893384,
    -745.1332191019411,
    9007199254740993.0,
];

const FUNCTIONS: [(O, &str); 17] = [
    (O::Exp, "exp"),
    (O::Exp2, "exp2"),
    (O::Log, "log"),
    (O::Log2, "log2"),
    (O::Log10, "log10"),
    (O::Sin, "sin"),
    (O::Cos, "cos"),
    (O::Tan, "tan"),
    (O::Asin, "asin"),
    (O::Acos, "acos"),
    (O::Atan, "atan"),
    (O::Sinh, "sinh"),
    (O::Cosh, "cosh"),
    (O::Tanh, "tanh"),
    (O::Pow, "pow"),
    (O::Atan2, "atan2"),
    (O::Erf, "erf"),
];

/// Returns the inputs of a function: every pair of special values, then random ones.
fn inputs(count: usize) -> Vec<(f64, f64)> {
    let mut random = Random(7);
    let pairs = SPECIAL.iter().flat_map(|a| SPECIAL.map(|b| (*a, b)));
    let mut inputs: Vec<(f64, f64)> = pairs.collect();
    inputs.extend((0..count).map(|_| (random.number(), random.number())));
    inputs
}

fn host(operation: O, a: f64, b: f64) -> f64 {
    match operation {
        O::Exp => a.exp(),
        O::Exp2 => a.exp2(),
        O::Log => a.ln(),
        O::Log2 => a.log2(),
        O::Log10 => a.log10(),
        O::Sin => a.sin(),
        O::Cos => a.cos(),
        O::Tan => a.tan(),
        O::Asin => a.asin(),
        O::Acos => a.acos(),
        O::Atan => a.atan(),
        O::Sinh => a.sinh(),
        O::Cosh => a.cosh(),
        O::Tanh => a.tanh(),
        O::Pow => a.powf(b),
        _ => a.atan2(b),
    }
}

/// Returns the number of doubles between two.
fn distance(a: f64, b: f64) -> u64 {
    let rank = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    rank(a).abs_diff(rank(b))
}

#[test]
fn close_to_the_host() {
    for (operation, name) in FUNCTIONS {
        if operation == O::Erf {
            continue;
        }
        for (a, b) in inputs(20_000) {
            let (ours, hosts) = (math::evaluate(operation, a, b), host(operation, a, b));
            let close = ours.is_nan() && hosts.is_nan()
                || ours.to_bits() == hosts.to_bits()
                // The host's are within 2 ulp too. Its pow and its subnormals perhaps are not.
                || ours != 0.0 && distance(ours, hosts) <= 3
                || ours.abs() < 1e-307 && (ours - hosts).abs() <= 1e-323;
            assert!(
                close,
                "{name} {a:?} {b:?}: {ours:?}, the host says {hosts:?}"
            );
        }
    }
}

#[test]
fn error_function() {
    let known = [
        (0.0, 0.0),
        (1e-300, 1.1283791670955126e-300),
        (0.1, 0.1124629160182849),
        (0.5, 0.5204998778130465),
        (0.99, 0.8385080695553698),
        (1.0, 0.8427007929497149),
        (1.7, 0.9837904585907745),
        (2.5, 0.999593047982555),
        (4.5, 0.9999999998033839),
        (5.9, 0.9999999999999999),
        (7.0, 1.0),
    ];
    for (x, expected) in known {
        assert!(
            distance(math::erf(x), expected) <= 2,
            "{x}: {:?}",
            math::erf(x)
        );
        assert_eq!(math::erf(-x).to_bits(), (-math::erf(x)).to_bits());
    }
    assert!(math::erf(f64::NAN).is_nan());
    assert_eq!(math::erf(f64::NEG_INFINITY), -1.0);
}

#[test]
fn exact_results() {
    for k in -1074..1024 {
        let power = math::exp2(f64::from(k));
        assert_eq!(math::log2(power), f64::from(k));
        assert_eq!(math::pow(2.0, f64::from(k)), power);
    }
    for k in 0..23 {
        let power = 10f64.powi(k);
        assert_eq!(
            (math::log10(power), math::pow(10.0, f64::from(k))),
            (f64::from(k), power)
        );
    }
    assert_eq!(math::sin(1e22), -0.8522008497671888);
    assert_eq!(
        math::cos(6381956970095103.0 * 2f64.powi(797)),
        -4.68716592425462761112e-19
    );
    assert_eq!(math::pow(-3.0, 3.0), -27.0);
}

/// Compiles the C text with a program that writes the bits of its results, and compares.
#[test]
fn same_bits_as_the_c_text() {
    let header = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../runtime-c/common/nova_math.h"
    );
    let folder = std::env::temp_dir().join(format!("nova-math-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("check.c"), folder.join("check"));
    let mut text = format!("#include \"{header}\"\n#include <stdio.h>\n");
    text += "int main(void)\n{\n    double x[2], y[17];\n";
    text += "    while (fread(x, sizeof x, 1, stdin) == 1) {\n";
    for (k, (operation, name)) in FUNCTIONS.iter().enumerate() {
        let second = if operation.arity() == 2 { ", x[1]" } else { "" };
        text += &format!("        y[{k}] = nova_{name}(x[0]{second});\n");
    }
    text += "        fwrite(y, sizeof y, 1, stdout);\n    }\n    return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let flags = [
        "-O2",
        "-std=c11",
        "-ffp-contract=off",
        "-Wall",
        "-Wextra",
        "-Werror",
    ];
    let status = Command::new(compiler)
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .status();
    assert!(status.unwrap().success());
    let inputs = inputs(100_000);
    let bytes = inputs
        .iter()
        .flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat());
    let file = folder.join("inputs");
    let all: Vec<u8> = bytes.collect();
    std::fs::File::create(&file)
        .unwrap()
        .write_all(&all)
        .unwrap();
    let stdin = std::fs::File::open(&file).unwrap();
    let output = Command::new(&program).stdin(stdin).output().unwrap().stdout;
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(output.len(), inputs.len() * 17 * 8);
    for (row, (a, b)) in output.chunks(17 * 8).zip(&inputs) {
        for (bytes, (operation, name)) in row.chunks(8).zip(FUNCTIONS) {
            let theirs = f64::from_le_bytes(bytes.try_into().unwrap());
            let ours = math::evaluate(operation, *a, *b);
            let same = ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same, "{name} {a:?} {b:?}: {ours:?}, C says {theirs:?}");
        }
    }
}
