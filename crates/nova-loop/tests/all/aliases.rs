//! Tests of the alias analysis: whatever a pointer leads to in a run of a random program, the analysis
//! says that it may.

use nova_core::Scalar;
use nova_diag::Place;
use nova_loop::aliases::{Holders, Made, PointsTo};
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The number of pointers of a program. The first two are parameters, the last is the result.
const POINTERS: u64 = 7;

/// A source of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pointer(&mut self) -> Variable {
        Variable(self.below(POINTERS) as u32)
    }

    /// An address made from pointers.
    fn address(&mut self) -> Expression {
        match self.below(6) {
            0 => Expression::part(self.pointer(), Expression::index(1), Expression::index(1)),
            1 => Expression::Select {
                condition: Box::new(Expression::load(self.pointer(), Expression::index(0))),
                then: Box::new(Expression::Variable(self.pointer())),
                otherwise: Box::new(Expression::NullPointer(Scalar::I64)),
            },
            // The pointer of a load in an index is not the base of the address.
            2 => Expression::Offset {
                pointer: Box::new(Expression::Variable(self.pointer())),
                index: Box::new(Expression::load(self.pointer(), Expression::index(0))),
                extent: None,
            },
            _ => Expression::Variable(self.pointer()),
        }
    }

    fn commands(&mut self, depth: u64) -> Vec<Command> {
        (0..self.below(5)).map(|_| self.command(depth)).collect()
    }

    fn command(&mut self, depth: u64) -> Command {
        let pointer = self.pointer();
        match self.below(if depth == 0 { 6 } else { 8 }) {
            // A parameter is declared already.
            0 => Command::Local {
                pointer: Variable(2 + self.below(POINTERS - 2) as u32),
                count: 4,
            },
            1 => Command::Allocate {
                block: Variable(POINTERS as u32),
                pointer,
                element: Scalar::I64,
                count: Expression::index(4),
                destination: None,
                place: Place::new("f", 1, 1),
            },
            2 => Command::Store {
                pointer,
                index: Expression::index(0),
                value: Expression::load(self.pointer(), Expression::index(0)),
            },
            3..6 => Command::Assign {
                variable: pointer,
                value: self.address(),
            },
            6 => Command::If {
                condition: Expression::load(pointer, Expression::index(0)),
                then: self.commands(depth - 1),
                otherwise: self.commands(depth - 1),
            },
            _ => Command::For {
                variable: Variable(POINTERS as u32 + 1),
                count: Expression::index(3),
                level: Level::Sequential,
                body: self.commands(depth - 1),
                place: Place::new("f", 1, 1),
            },
        }
    }
}

/// An array of a run: the pointer that names it, and a number if the program makes it. Those of local
/// arrays are odd.
type Array = (Variable, u32);

/// The array that stands for the null pointer.
const NOWHERE: Array = (Variable(POINTERS as u32), 0);

/// A run of a program in which chance decides conditions.
struct Run<'a> {
    random: &'a mut Random,
    /// The array that each pointer leads to, if it has a value.
    now: BTreeMap<Variable, Array>,
    /// All that each pointer led to.
    seen: BTreeMap<Variable, BTreeSet<Array>>,
    arrays: u32,
}

impl Run<'_> {
    fn set(&mut self, pointer: Variable, array: Option<Array>) {
        self.now.remove(&pointer);
        if let Some(array) = array {
            self.now.insert(pointer, array);
            self.seen.entry(pointer).or_default().insert(array);
        }
    }

    fn value(&mut self, address: &Expression) -> Option<Array> {
        match address {
            Expression::Variable(pointer) => self.now.get(pointer).copied(),
            Expression::Offset { pointer, .. } => self.value(pointer),
            Expression::Select {
                then, otherwise, ..
            } => match self.random.below(2) {
                0 => self.value(then),
                _ => self.value(otherwise),
            },
            _null => Some(NOWHERE),
        }
    }

    fn list(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::Local { pointer, .. } => {
                    self.arrays += 2;
                    self.set(*pointer, Some((*pointer, self.arrays + 1)));
                }
                Command::Allocate { pointer, .. } => {
                    self.arrays += 2;
                    self.set(*pointer, Some((*pointer, self.arrays)));
                }
                Command::Assign { variable, value } => {
                    let array = self.value(value);
                    self.set(*variable, array);
                }
                Command::If {
                    then, otherwise, ..
                } => match self.random.below(2) {
                    0 => self.list(then),
                    _ => self.list(otherwise),
                },
                Command::For { body, .. } => (0..3).for_each(|_| self.list(body)),
                _others => {}
            }
        }
    }
}

/// The commands of a random program, and what its pointers lead to in a run.
fn random_run(seed: u64) -> (Vec<Command>, BTreeMap<Variable, BTreeSet<Array>>) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut commands: Vec<Command> = (2..POINTERS)
        .map(|k| Command::Declare {
            variable: Variable(k as u32),
            value: None,
        })
        .collect();
    commands.extend((0..6).map(|_| random.command(2)));
    let mut run = Run {
        random: &mut random,
        now: BTreeMap::new(),
        seen: BTreeMap::new(),
        arrays: 0,
    };
    for k in 0..2 {
        run.set(Variable(k), Some((Variable(k), 0)));
    }
    run.list(&commands);
    let seen = run.seen;
    (commands, seen)
}

fn is_pointer(variable: Variable) -> bool {
    u64::from(variable.0) < POINTERS
}

#[test]
fn the_arrays_of_every_run_are_among_those_found() {
    let mut led = 0;
    for seed in 1..4_000 {
        let (commands, seen) = random_run(seed);
        let points_to = PointsTo::of(&is_pointer, &commands);
        for (pointer, arrays) in &seen {
            let found = points_to.bases(&Expression::Variable(*pointer));
            for (name, _) in arrays.iter().filter(|array| **array != NOWHERE) {
                assert!(found.contains(name), "seed {seed}: {pointer:?} to {name:?}");
                led += 1;
            }
        }
    }
    assert!(led > 10_000, "{led}");
}

#[test]
fn pointers_to_local_arrays_lead_to_nothing_else() {
    let mut only = 0;
    for seed in 1..4_000 {
        let (commands, seen) = random_run(seed);
        let points_to = PointsTo::of(&is_pointer, &commands);
        let Some(own) = points_to.only_to(Made::Local, &commands) else {
            continue;
        };
        for (pointer, arrays) in &seen {
            let agree = arrays
                .iter()
                .all(|(_, number)| (number % 2 == 1) == own.contains(pointer));
            assert!(agree, "seed {seed}: {pointer:?}");
            only += u32::from(own.contains(pointer));
        }
    }
    assert!(only > 500, "{only}");
}

#[test]
fn no_other_pointer_leads_to_the_array_of_a_sole_holder() {
    let mut sole = 0;
    for seed in 1..4_000 {
        let (commands, seen) = random_run(seed);
        let holders = Holders::of(&Function {
            name: "f".into(),
            parameters: vec![Variable(0), Variable(1)],
            results: vec![Variable(POINTERS as u32 - 1)],
            body: commands,
            recursive: false,
            takes: false,
            place: Place::new("f", 1, 1),
        });
        let is_sole = |v: &Variable| !holders.is_taken(*v) && !holders.is_returned(*v);
        for holder in holders.all_made_once().filter(is_sole) {
            for (pointer, arrays) in seen.iter().filter(|(pointer, _)| **pointer != holder) {
                let shared = arrays
                    .iter()
                    .any(|(name, number)| *name == holder && *number > 0);
                assert!(
                    !shared,
                    "seed {seed}: {pointer:?} to the array of {holder:?}"
                );
            }
            sole += 1;
        }
    }
    assert!(sole > 500, "{sole}");
}

#[test]
fn what_a_pointer_is_given_by_a_call_may_be_an_argument() {
    let call = Command::Call {
        function: nova_loop::ir::FunctionId(0),
        arguments: vec![Expression::Variable(Variable(0))],
        results: vec![Variable(2)],
    };
    let points_to = PointsTo::of(&is_pointer, std::slice::from_ref(&call));
    let found = points_to.bases(&Expression::Variable(Variable(2)));
    assert_eq!(found, BTreeSet::from([Variable(0), Variable(2)]));
    let local = Command::Local {
        pointer: Variable(0),
        count: 1,
    };
    let commands = [local, call];
    let points_to = PointsTo::of(&is_pointer, &commands);
    assert_eq!(points_to.only_to(Made::Local, &commands), None);
}

#[test]
fn arrays_read_in_an_index_are_not_written() {
    let mut program = Program::default();
    for name in ["p", "q", "r"] {
        program.add_variable(name, Type::Pointer(Scalar::I64));
    }
    let index = program.add_variable("i", Type::Scalar(Scalar::I64));
    let [p, q, r] = [0, 1, 2].map(Variable);
    let body = [
        Command::declare(
            r,
            Expression::Offset {
                pointer: Box::new(Expression::Variable(p)),
                index: Box::new(Expression::load(q, Expression::index(0))),
                extent: None,
            },
        ),
        Command::Store {
            pointer: r,
            index: Expression::index(0),
            value: Expression::index(1),
        },
    ];
    let written = nova_loop::kernels::written(&program, index, &body);
    assert_eq!(written, BTreeSet::from([p]));
}
