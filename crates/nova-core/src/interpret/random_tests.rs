//! Random programs: moving values out of variables at their last use must not change results.

use super::*;
use crate::ir::Program;
use crate::{parse, print, verify};
use std::fmt::Write;

/// Writes random well-typed expressions of `int`, `vector int` and a pair of both.
struct Writer {
    seed: u64,
    next: usize,
    /// Variables in scope with their types.
    scope: Vec<(String, Kind)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Vector,
    Pair,
    Function,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Int => "i32",
            Kind::Vector => "(vector i32)",
            Kind::Pair => "(tuple (vector i32) i32)",
            Kind::Function => "(-> i32 (vector i32))",
        }
    }
}

impl Writer {
    fn pick(&mut self, n: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % n
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v_{}", self.next)
    }

    fn kind(&mut self) -> Kind {
        [Kind::Int, Kind::Vector, Kind::Pair, Kind::Function][self.pick(4)]
    }

    /// Writes an expression in the scope of new variables.
    fn under(&mut self, bound: &[(String, Kind)], kind: Kind, size: usize) -> String {
        let depth = self.scope.len();
        self.scope.extend_from_slice(bound);
        let text = self.expression(kind, size);
        self.scope.truncate(depth);
        text
    }

    fn lambda(&mut self, parameters: &[Kind], kind: Kind, size: usize) -> String {
        let bound: Vec<_> = parameters.iter().map(|k| (self.fresh(), *k)).collect();
        let mut text = String::from("(lambda [");
        for (name, kind) in &bound {
            let _ = write!(text, "{name}:{} ", kind.text());
        }
        let body = self.under(&bound, kind, size);
        format!("{text}] {body})")
    }

    fn leaf(&mut self, kind: Kind) -> String {
        let fitting = self.scope.iter().filter(|(_, k)| *k == kind);
        let names: Vec<String> = fitting.map(|(name, _)| name.clone()).collect();
        if !names.is_empty() && self.pick(4) > 0 {
            let choice = self.pick(names.len());
            return names[choice].clone();
        }
        let number = self.pick(3);
        match kind {
            Kind::Int => format!("{number}i32"),
            Kind::Vector => format!("(vector i32 {number}i32 5i32 6i32 7i32)"),
            Kind::Pair => format!("(tuple {} {number}i32)", self.leaf(Kind::Vector)),
            Kind::Function => self.lambda(&[Kind::Int], Kind::Vector, 0),
        }
    }

    fn expression(&mut self, kind: Kind, size: usize) -> String {
        if size == 0 {
            return self.leaf(kind);
        }
        let size = size - 1;
        match self.pick(5) {
            0 => {
                let (value_kind, name) = (self.kind(), self.fresh());
                let value = self.expression(value_kind, size);
                let body = self.under(&[(name.clone(), value_kind)], kind, size);
                format!("(let [{name} {value}] {body})")
            }
            1 => {
                let (a, b) = (self.leaf(Kind::Int), self.leaf(Kind::Int));
                let (then, otherwise) = (self.expression(kind, size), self.expression(kind, size));
                format!("(if (le {a} {b}) {then} {otherwise})")
            }
            2 if kind != Kind::Function => {
                let body = self.lambda(&[kind], kind, size);
                let start = self.expression(kind, size);
                format!("(iterate {}i32 {body} {start})", self.pick(4))
            }
            _ => self.operation(kind, size),
        }
    }

    fn operation(&mut self, kind: Kind, size: usize) -> String {
        match (kind, self.pick(4)) {
            (Kind::Int, 0) => format!("(project 1 {})", self.expression(Kind::Pair, size)),
            (Kind::Int, 1) => format!("(length {})", self.expression(Kind::Vector, size)),
            (Kind::Int, 2) => {
                let (f, z) = (
                    self.lambda(&[Kind::Int, Kind::Int], Kind::Int, size),
                    self.leaf(Kind::Int),
                );
                format!("(foldl {f} {z} {})", self.expression(Kind::Vector, size))
            }
            (Kind::Int, _) => {
                let (a, b) = (
                    self.expression(Kind::Int, size),
                    self.expression(Kind::Int, size),
                );
                format!("(rem (add {a} {b}) 1000i32)")
            }
            (Kind::Vector, 0) => {
                let v = self.expression(Kind::Vector, size);
                let (i, x) = (self.pick(4), self.expression(Kind::Int, size));
                format!("(update {v} {i}i32 {x})")
            }
            (Kind::Vector, 1) => format!("(project 0 {})", self.expression(Kind::Pair, size)),
            (Kind::Vector, 2) => {
                let f = self.lambda(&[Kind::Int], Kind::Int, size);
                format!("(map {f} {})", self.expression(Kind::Vector, size))
            }
            (Kind::Vector, _) => {
                let f = self.expression(Kind::Function, size);
                format!("(apply {f} {})", self.expression(Kind::Int, size))
            }
            (Kind::Pair, _) => {
                let v = self.expression(Kind::Vector, size);
                format!("(tuple {v} {})", self.expression(Kind::Int, size))
            }
            (Kind::Function, _) => self.lambda(&[Kind::Int], Kind::Vector, size),
        }
    }
}

fn value_of(program: &Program, last: Vec<bool>) -> Result<Value, crate::error::Failure> {
    let entry = &program.entries[0];
    let code = compile::compile(program, &entry.inputs, entry.body, last);
    machine::Machine::new(program, &code, &Options::default()).run(&[])
}

#[test]
fn last_uses_change_nothing() {
    for seed in 0..2000 {
        let mut writer = Writer {
            seed,
            next: 0,
            scope: Vec::new(),
        };
        let body = writer.expression(Kind::Pair, 5);
        let text = format!("(program (entry \"main\" [] {body}))");
        let mut sources = nova_diag::SourceMap::new();
        let file = sources.add("test", text.as_str());
        let program =
            parse::parse(&text, file).unwrap_or_else(|d| panic!("{}: {text}", d[0].message));
        verify::verify(&program).unwrap_or_else(|error| panic!("{error}: {text}"));
        let printed = print::print(&program);
        let again =
            parse::parse(&printed, file).unwrap_or_else(|d| panic!("{}: {printed}", d[0].message));
        assert_eq!(print::print(&again), printed);
        let entry = &program.entries[0];
        let moved = value_of(
            &program,
            uses::last_uses(&program, entry.body, &entry.inputs),
        );
        let shared = value_of(&program, vec![false; program.arena.len()]);
        match (moved, shared) {
            (Ok(a), Ok(b)) => assert!(a.same(&b), "{a:?}, not {b:?}: {text}"),
            (a, b) => assert_eq!(a.err(), b.err(), "{text}"),
        }
    }
}
