//! Random values of random types, also recursive ones, on the way from text to the memory of an argument,
//! and from the memory of a result to text. An argument by value has the form of a result.

use super::{Results, Returned};
use crate::building::read_argument;
use crate::layout::Passing;
use crate::marshal::Argument;
use nova_core::text::{print_value, read_value};
use nova_core::{Constructor, Scalar, SumId, SumType, Type};

/// The sums before the random group: `Maybe` and a list of bytes.
const GIVEN: usize = 2;

/// Random types and values.
struct Random {
    seed: u64,
    sums: Vec<SumType>,
}

const SCALARS: [(Scalar, &[&str]); 11] = [
    (Scalar::I8, &["-128", "127"]),
    (Scalar::I16, &["-32768", "32767"]),
    (Scalar::I32, &["-2147483648", "7", "2147483647"]),
    (
        Scalar::I64,
        &["-9223372036854775808", "9223372036854775807"],
    ),
    (Scalar::U8, &["0", "255"]),
    (Scalar::U16, &["65535"]),
    (Scalar::U32, &["4294967295"]),
    (Scalar::U64, &["18446744073709551615"]),
    (Scalar::F32, &["nan", "-0.0", "inf", "-inf", "0.1", "1e-7"]),
    (Scalar::F64, &["nan", "-0.0", "inf", "-inf", "1e300", "2.5"]),
    (Scalar::Bool, &["true", "false"]),
];

impl Random {
    /// Makes a random group of one to three recursive types.
    fn new(seed: u64) -> Random {
        let list = Type::tuple(vec![Type::Scalar(Scalar::U8), sum(1)]);
        let mut random = Random {
            seed,
            sums: vec![
                declared(0, vec![Type::Unit, Type::Scalar(Scalar::F64)], &[]),
                declared(1, vec![Type::Unit, list], &[1]),
            ],
        };
        let members = 1 + random.pick(3);
        let group: Vec<usize> = (GIVEN..GIVEN + members).collect();
        for member in 0..members {
            let next = sum(GIVEN + (member + 1) % members);
            let first = Type::tuple(vec![random.ty(5, members), next]);
            let payloads = vec![Type::Unit, first, random.ty(7, members)];
            random.sums.push(declared(GIVEN + member, payloads, &group));
        }
        random
    }

    fn pick(&mut self, n: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % n
    }

    /// Returns a type, which may contain the members of the group.
    fn ty(&mut self, size: usize, members: usize) -> Type {
        match self.pick(if size == 0 { 6 } else { 10 }) {
            0 => Type::Unit,
            1 => sum(0),
            2 => sum(1),
            3 => sum(GIVEN + self.pick(members)),
            4 | 5 => Type::Scalar(SCALARS[self.pick(SCALARS.len())].0),
            6 => Type::array(2 + self.pick(2) as u32, self.ty(size / 2, members)),
            7 => Type::vector(self.ty(size / 2, members)),
            _ => {
                let count = 2 + self.pick(3);
                Type::tuple((0..count).map(|_| self.ty(size / 2, members)).collect())
            }
        }
    }

    /// Returns the text of a value, which is deeper the larger `size` is.
    fn text(&mut self, ty: &Type, size: usize) -> String {
        match ty {
            Type::Unit => "nil".to_string(),
            Type::Scalar(scalar) => {
                let (_, texts) = SCALARS
                    .iter()
                    .find(|(s, _)| s == scalar)
                    .expect("it is there");
                texts[self.pick(texts.len())].to_string()
            }
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.text(ty, size / 2));
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            }
            Type::Vector(element) => {
                let count = self.pick(4);
                self.row(element, count, size / 2)
            }
            Type::Array(rank, element) => {
                let extents: Vec<usize> = (0..*rank).map(|_| self.pick(3)).collect();
                let row = self.row(element, extents.iter().product(), size / 2);
                let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
                format!("(reshape ({}) {row})", extents.join(", "))
            }
            Type::Sum(id) => {
                let sum = self.sums[id.index()].clone();
                let tag = match size {
                    0 => 0,
                    _ => self.pick(sum.constructors.len()),
                };
                let Constructor { name, payload } = &sum.constructors[tag];
                format!("({name} {})", self.text(payload, size - size.min(1)))
            }
            Type::Function(..) => unreachable!("no function is made"),
        }
    }

    fn row(&mut self, element: &Type, count: usize, size: usize) -> String {
        let elements = (0..count).map(|_| self.text(element, size));
        format!("[{}]", elements.collect::<Vec<_>>().join(" "))
    }
}

fn sum(index: usize) -> Type {
    Type::Sum(SumId(index as u32))
}

fn declared(index: usize, payloads: Vec<Type>, group: &[usize]) -> SumType {
    let constructors = payloads.into_iter().enumerate();
    let constructors = constructors.map(|(k, payload)| Constructor {
        name: format!("C{index}_{k}").into(),
        payload,
    });
    SumType {
        name: format!("T{index}").into(),
        arguments: Vec::new(),
        constructors: constructors.collect(),
        group: group.iter().map(|k| SumId(*k as u32)).collect(),
        node_of: None,
    }
}

/// Returns the memory of an argument as if a call had returned it. It stays the argument's.
fn as_result<'a>(argument: &Argument, passing: &'a Passing) -> Returned<'a> {
    let mut results = Results::new(passing);
    for (place, given) in results.pointers().into_iter().zip(argument.pointers()) {
        let words = match passing {
            Passing::Value(layout) => layout.size.div_ceil(8),
            Passing::Nothing(_) | Passing::Bool => 1,
            Passing::Vector { .. } | Passing::Array { .. } => 1,
        };
        // SAFETY: both have a place for the same C type.
        unsafe { std::ptr::copy_nonoverlapping(given, place, words) };
    }
    // SAFETY: arguments and results have one form.
    let returned = unsafe { results.returned(passing) };
    let mut returned = returned.unwrap_or_else(|broken| panic!("{broken}"));
    returned.pointers.clear();
    returned
}

#[test]
fn values_pass_through_the_memory_of_calls() {
    let mut longest = 0;
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let members = random.sums.len() - GIVEN;
        let ty = match random.pick(3) {
            0 => random.ty(9, members),
            1 => Type::vector(Type::vector(random.ty(6, members))),
            _ => sum(GIVEN),
        };
        let text = random.text(&ty, 24);
        let sums = &random.sums;
        let passing = Passing::of(&ty, sums).expect("values that can be passed");
        let value = read_value(&text, &ty, sums).unwrap_or_else(|e| panic!("{text}: {e}"));
        let printed = print_value(&value, &ty, sums);
        longest = longest.max(printed.len());
        let read = read_argument(&text, &ty, &passing, sums);
        let read = read.unwrap_or_else(|e| panic!("{text}: {e}"));
        let converted = Argument::of_value(&passing, &value).expect("a value of the type");
        for argument in [read, converted] {
            let returned = as_result(&argument, &passing);
            let mut out = Vec::new();
            returned
                .write(&mut out, &ty, sums, nova_core::text::Style::Numbers)
                .expect("memory");
            assert_eq!(String::from_utf8_lossy(&out), printed, "seed {seed}");
            let back = returned.value().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(back.same(&value), "seed {seed}: {text}");
        }
    }
    assert!(longest > 500, "{longest}");
}

/// The text is read in the same way, whatever is made of it.
#[test]
fn damaged_texts_have_one_error() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let ty = sum(GIVEN);
        let mut text = random.text(&ty, 12).into_bytes();
        let at = random.pick(text.len());
        match random.pick(3) {
            0 => text.truncate(at),
            1 => text[at] = b"()[],;\" 1x"[random.pick(10)],
            _ => drop(text.remove(at)),
        }
        let text = String::from_utf8(text).expect("these are ASCII");
        let passing = Passing::of(&ty, &random.sums).expect("values that can be passed");
        let value = read_value(&text, &ty, &random.sums).map(drop);
        let argument = read_argument(&text, &ty, &passing, &random.sums).map(drop);
        assert_eq!(value, argument, "{text}");
    }
}

/// Broken results are refused before anything is printed.
#[test]
fn broken_tables_are_refused() {
    let random = Random::new(0);
    let passing = Passing::of(&sum(1), &random.sums).expect("values that can be passed");
    // Nodes are a constructor, a byte and a link: 24 bytes.
    let refuse = |root: u64, nodes: &[[u64; 3]], message: &str| {
        let pointer = nodes.as_ptr().expose_provenance() as u64;
        let mut results = Results::new(&passing);
        let words = [root, nodes.len() as u64, pointer];
        // SAFETY: the place has three words.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), results.pointers()[0], 3) };
        // SAFETY: the memory is readable. The check refuses it, so that nothing is released.
        let broken = unsafe { results.returned(&passing) }.map(drop);
        assert_eq!(broken, Err(message.to_string()));
    };
    refuse(1, &[[0; 3]], "a link to node 1");
    refuse(0, &[[1, 5, 1], [1, 5, 0]], "a node that contains itself");
    refuse(0, &[[1, 5, 0]], "a node that contains itself");
    refuse(
        0,
        &[[1, 5, 2], [0; 3]],
        "a link to node 2 that is not there",
    );
    refuse(0, &[[9, 0, 0]], "a constructor numbered 9");
}
