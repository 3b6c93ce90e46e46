//! Programs of one `map` over floats with a straight body. They test the optimisations of loops
//! that write a result. Among programs that are drawn freely they are rare.

use super::{Program, Random, types, values};
use types::{FLOATS, Ty};

/// Operations of floats that are defined everywhere, with their numbers of operands.
const OPERATIONS: &[(&str, usize)] = &[
    ("+", 2),
    ("-", 2),
    ("*", 2),
    ("/", 2),
    ("min", 2),
    ("max", 2),
    ("abs", 1),
    ("neg", 1),
    ("sqrt", 1),
    ("exp", 1),
    ("log", 1),
    ("sin", 1),
];

/// True if the program of a seed is one of these.
pub(super) fn has(seed: u64) -> bool {
    seed % 32 == 5
}

/// Draws the program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let scalar = Ty::Scalar(FLOATS[random.below(FLOATS.len())]);
    let (element, parts) = fields(&mut random, &scalar, "x");
    let mut names = parts;
    names.push("in1".to_string());
    let steps = 1 + random.below(24);
    let mut body = String::new();
    for step in 0..steps {
        let (operation, arity) = *random.pick(OPERATIONS);
        // Mostly a chain, with earlier names now and then.
        let mut operands = vec![names[names.len() - 1].clone()];
        if arity > 1 {
            operands.push(random.pick(&names).clone());
        }
        if random.chance(50) {
            operands.reverse();
        }
        let name = format!("c{step}");
        body += &format!("({name} ({operation} {}))\n      ", operands.join(" "));
        names.push(name);
    }
    let last = names[names.len() - 1].clone();
    let value = match 1 + random.below(3) {
        1 => last,
        count => {
            let others = (1..count).map(|_| random.pick(&names).clone());
            let all: Vec<String> = std::iter::once(last).chain(others).collect();
            format!("({})", all.join(", "))
        }
    };
    let inputs = [element.vector(), scalar];
    let name = format!("random{seed}");
    let entry = format!(
        "(entry {name} ((in0 : {}) (in1 : {}))\n  (map (lambda (x) (let\n      {body}in {value})) in0))\n",
        inputs[0], inputs[1]
    );
    let inputs = (0..3)
        .map(|run| {
            let of = |ty: &Ty| values::value(&mut random, ty, run);
            inputs.iter().map(of).collect()
        })
        .collect();
    Program {
        name,
        entry,
        inputs,
        nodes: steps,
        nesting: 1,
        used: [("map", 1)].into(),
    }
}

/// Draws the type of an element, a float or several, and the names of its parts.
fn fields(random: &mut Random, scalar: &Ty, name: &str) -> (Ty, Vec<String>) {
    match 1 + random.below(3) {
        1 => (scalar.clone(), vec![name.to_string()]),
        count => (
            Ty::Tuple(vec![scalar.clone(); count]),
            (0..count).map(|k| format!("{name}.{k}")).collect(),
        ),
    }
}
