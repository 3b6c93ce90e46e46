//! Programs of work-groups whose threads make arrays in loops: maps of a group to local and global
//! memory, in `foldl`, `iterate` and `while`. Pairs of arrays are states that may swap or share.
//! There are several maps in an iteration, and conditions that all threads of a group decide alike.
//! Programs that are drawn freely have hardly any.

use super::{Program, Random};
use std::collections::BTreeMap;

/// The spaces of the arrays of a program. The host makes arrays that swap with arrays of other
/// memory.
const SPACES: [&[&str]; 5] = [
    &["to_local"],
    &["to_local"],
    &["to_local"],
    &["to_global", ""],
    &["to_local", "to_global", ""],
];

/// Draws the program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed ^ 0x6772_6f75_7073);
    let size = *random.pick(&[4, 8, 8, 16, 33]);
    let spaces = *random.pick(&SPACES);
    let mut draw = Draw {
        random,
        size,
        spaces,
        names: 0,
        left: 26,
        loops: 0,
        used: BTreeMap::new(),
    };
    let (first, rows) = match spaces.len() {
        1 => {
            let copy = "((to_local (map_local (lambda (x) x))) z)";
            (format!("(c {copy}) "), vec!["c".to_string()])
        }
        _ => (String::new(), vec!["z".to_string()]),
    };
    let array = draw.array(&rows, 3);
    let result = match draw.random.below(3) {
        0 => format!("(+ (r ! {}) (* 7 (reduce_seq + 0 r)))", size - 1),
        1 => "(map_local (lambda (x) (+ x 1)) r)".to_string(),
        _ => {
            let element = draw.element(&["z".to_string(), "r".to_string()], "i", 2);
            format!("(map_local (lambda (i) (% {element} 1009)) (range {size}))")
        }
    };
    let name = format!("groups{seed}");
    let entry = format!(
        "(entry {name} ((xs : vector int))\n  (map_workgroup (lambda (z) (let {first}(r {array})\n    in \
         {result}))\n    (split {size} xs)))\n"
    );
    let inputs = [1, 5, if seed.is_multiple_of(4) { 0 } else { 3 }].map(|groups| {
        let numbers: Vec<String> = (0..groups * size)
            .map(|_| (draw.random.below(40) as i64 - 12).to_string())
            .collect();
        vec![format!("[{}]", numbers.join(" "))]
    });
    Program {
        name,
        entry,
        inputs: inputs.into(),
        nodes: draw.names,
        nesting: 0,
        used: draw.used,
    }
}

struct Draw {
    random: Random,
    /// The number of elements of arrays.
    size: usize,
    /// The spaces that arrays may have.
    spaces: &'static [&'static str],
    names: usize,
    /// The number of maps that may still be drawn.
    left: usize,
    /// The number of loops around.
    loops: usize,
    used: BTreeMap<&'static str, usize>,
}

impl Draw {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn note(&mut self, what: &'static str) {
        *self.used.entry(what).or_default() += 1;
    }

    /// Draws an array of the group. `arrays` are the existing ones.
    fn array(&mut self, arrays: &[String], depth: usize) -> String {
        if depth == 0 || self.left == 0 {
            return match self.random.chance(25) {
                true => self.random.pick(arrays).clone(),
                false => self.map(arrays),
            };
        }
        match self.random.below(13) {
            0..=2 => self.map(arrays),
            3 => self.random.pick(arrays).clone(),
            4 | 5 => self.several(arrays, depth),
            6 => self.choice(arrays, depth),
            7 | 8 => self.foldl(arrays, depth),
            9 => self.iterate(arrays, depth),
            10 => self.repeat(arrays, depth),
            _ => self.pair(arrays, depth),
        }
    }

    /// Draws a map of the group's threads.
    fn map(&mut self, arrays: &[String]) -> String {
        self.left = self.left.saturating_sub(1);
        self.note("map_local");
        let space = *self.random.pick(self.spaces);
        let index = self.name();
        let (from, element) = match self.random.chance(70) {
            true => {
                let element = self.element(arrays, &index, 3);
                (format!("(range {})", self.size), element)
            }
            false => {
                let from = self.random.pick(arrays).clone();
                let at = self.random.below(self.size);
                let other = self.random.pick(arrays).clone();
                (from, format!("(+ {index} (* 3 ({other} ! {at})))"))
            }
        };
        let map = format!("map_local (lambda ({index}) (% {element} 1009))");
        match space {
            "" => format!("({map} {from})"),
            space => {
                self.note(space);
                format!("(({space} ({map})) {from})")
            }
        }
    }

    /// Draws a number computed by one thread with this index.
    fn element(&mut self, arrays: &[String], index: &str, depth: usize) -> String {
        let all = if depth == 0 { 5 } else { 12 };
        match self.random.below(all) {
            0 => index.to_string(),
            1 => self.random.below(9).to_string(),
            2..=4 => {
                let array = self.random.pick(arrays).clone();
                let at = self.index(index);
                format!("({array} ! {at})")
            }
            5..=8 => {
                let operation = *self.random.pick(&["+", "-", "+", "min", "max"]);
                let (a, b) = self.two(arrays, index, depth);
                format!("({operation} {a} {b})")
            }
            9 | 10 => {
                let comparison = *self.random.pick(&["<", ">=", "~="]);
                let (a, b) = self.two(arrays, index, depth);
                let (c, d) = self.two(arrays, index, depth);
                format!("(if ({comparison} {a} {b}) {c} {d})")
            }
            _ => self.private(arrays),
        }
    }

    fn two(&mut self, arrays: &[String], index: &str, depth: usize) -> (String, String) {
        let a = self.element(arrays, index, depth - 1);
        (a, self.element(arrays, index, depth - 1))
    }

    /// Draws the index at which a thread reads.
    fn index(&mut self, index: &str) -> String {
        let last = self.size - 1;
        match self.random.below(6) {
            0 => index.to_string(),
            1 => format!("(- {last} {index})"),
            2 | 3 => format!("(% (+ {index} {}) {})", 1 + self.random.below(5), self.size),
            4 => format!("(max 0 (- {index} {}))", 1 + self.random.below(3)),
            _ => format!("(min {last} (+ {index} {}))", 1 + self.random.below(3)),
        }
    }

    /// Draws a number that a thread computes from arrays of its own.
    fn private(&mut self, arrays: &[String]) -> String {
        self.note("to_private");
        let array = self.random.pick(arrays).clone();
        let (w, j, size) = (self.name(), self.name(), self.size);
        let map = format!(
            "((to_private (map_seq (lambda ({j}) (% (+ ({w} ! {j}) ({w} ! (% (+ {j} 1) {size}))) \
             101)))) (range {size}))"
        );
        let iterations = self.random.below(4);
        format!("(reduce_seq + 0 (iterate {iterations} (lambda ({w}) {map}) {array}))")
    }

    /// Draws named arrays, and an array from these.
    fn several(&mut self, arrays: &[String], depth: usize) -> String {
        let mut known = arrays.to_vec();
        let mut text = String::from("(let");
        for _ in 0..1 + self.random.below(2) {
            let array = self.array(&known, depth - 1);
            let name = self.name();
            text += &format!(" ({name} {array})");
            known.push(name);
        }
        let last = self.array(&known, depth - 1);
        text + &format!(" in {last})")
    }

    /// Draws a condition that all threads decide alike.
    fn condition(&mut self, arrays: &[String]) -> String {
        let array = self.random.pick(arrays).clone();
        let at = self.random.below(self.size);
        let comparison = *self.random.pick(&["<", ">=", "~="]);
        format!("({comparison} ({array} ! {at}) {})", self.random.below(30))
    }

    fn choice(&mut self, arrays: &[String], depth: usize) -> String {
        self.note("if");
        let condition = self.condition(arrays);
        let before = self.maps();
        let one = self.array(arrays, depth - 1);
        let other = self.array(arrays, depth - 1);
        if self.maps() > before {
            self.note("conditions around maps");
        }
        format!("(if {condition} {one} {other})")
    }

    /// Draws the number of iterations of a loop: a constant, or a number that the group reads.
    fn iterations(&mut self, arrays: &[String]) -> String {
        match self.random.chance(60) {
            true => self.random.below(5).to_string(),
            false => {
                let array = self.random.pick(arrays).clone();
                format!("(abs (% ({array} ! {}) 4))", self.random.below(self.size))
            }
        }
    }

    fn with(arrays: &[String], more: &[&String]) -> Vec<String> {
        let mut all = arrays.to_vec();
        all.extend(more.iter().map(|name| (*name).clone()));
        all
    }

    /// Draws the body of an iteration of a loop.
    fn iteration<R>(&mut self, draw: impl FnOnce(&mut Self) -> R) -> R {
        if self.loops > 0 {
            self.note("loops in loops");
        }
        self.loops += 1;
        let before = self.maps();
        let drawn = draw(self);
        self.loops -= 1;
        if self.maps() > before + 1 {
            self.note("rounds of several maps");
        }
        drawn
    }

    /// Returns the number of maps of threads.
    fn maps(&self) -> usize {
        self.used.get("map_local").copied().unwrap_or_default()
    }

    /// Draws the next value of a state in an iteration. A condition that all threads decide alike
    /// may leave the state unchanged.
    fn step(&mut self, arrays: &[String], state: &String, depth: usize) -> String {
        let known = Self::with(arrays, &[state, state]);
        self.iteration(|draw| match draw.random.chance(15) {
            true => {
                draw.note("states kept or replaced");
                let condition = draw.condition(&known);
                let next = draw.array(&known, depth - 1);
                format!("(if {condition} {state} {next})")
            }
            false => draw.array(&known, depth - 1),
        })
    }

    /// Draws a loop of one state. `text` makes the loop from its start. The start may be used again
    /// after the loop.
    fn looped(
        &mut self,
        arrays: &[String],
        depth: usize,
        text: impl FnOnce(&mut Self, String) -> String,
    ) -> String {
        let start = self.array(arrays, depth - 1);
        if !self.random.chance(20) {
            return text(self, start);
        }
        self.note("beginnings used behind loops");
        let (begin, end) = (self.name(), self.name());
        let text = text(self, begin.clone());
        let last = self.map(&[begin.clone(), end.clone()]);
        format!("(let ({begin} {start}) ({end} {text}) in {last})")
    }

    fn foldl(&mut self, arrays: &[String], depth: usize) -> String {
        self.note("foldl");
        let (v, d) = (self.name(), self.name());
        let over = *self
            .random
            .pick(&["[1 2 4]", "(range 0)", "[3]", "[5 1 2 3]"]);
        self.looped(arrays, depth, |draw, start| {
            let step = draw.step(arrays, &v, depth);
            format!("(foldl (lambda ({v} {d}) (let ({d}d {d}) in {step})) {start} {over})")
        })
    }

    fn iterate(&mut self, arrays: &[String], depth: usize) -> String {
        self.note("iterate");
        let v = self.name();
        let iterations = self.iterations(arrays);
        self.looped(arrays, depth, |draw, start| {
            let step = draw.step(arrays, &v, depth);
            format!("(iterate {iterations} (lambda ({v}) {step}) {start})")
        })
    }

    /// Draws a `while`, whose condition may read the state.
    fn repeat(&mut self, arrays: &[String], depth: usize) -> String {
        self.note("while");
        let (s, k, v) = (self.name(), self.name(), self.name());
        let condition = match self.random.chance(50) {
            true => self.condition(std::slice::from_ref(&v)),
            false => "true".to_string(),
        };
        let most = 1 + self.random.below(4);
        self.looped(arrays, depth, |draw, start| {
            let step = draw.step(arrays, &v, depth);
            format!(
                "(let (({k}, {v}) (while (lambda ({s}) (let (({k}, {v}) {s}) in (if (< {k} {most}) \
                 {condition} false))) (lambda ({s}) (let (({k}, {v}) {s}) in ((+ {k} 1), {step}))) \
                 (0, {start}))) in {v})"
            )
        })
    }

    /// Draws a loop whose state is two arrays, which may be swapped, shared or replaced.
    fn pair(&mut self, arrays: &[String], depth: usize) -> String {
        self.note("pairs");
        let first = self.array(arrays, depth - 1);
        let (s, a, b, t) = (self.name(), self.name(), self.name(), self.name());
        let second = match self.random.chance(30) {
            true => first.clone(),
            false => self.array(arrays, depth - 1),
        };
        let known = Self::with(arrays, &[&a, &b]);
        let [new, x, y] = self.iteration(|draw| draw.both(&known, [&a, &b, &t], depth));
        let next = format!("(let (({a}, {b}) {s}) ({t} {new}) in ({x}, {y}))");
        let text = match self.random.chance(50) {
            true => {
                let iterations = self.iterations(arrays);
                format!("(iterate {iterations} (lambda ({s}) {next}) ({first}, {second}))")
            }
            false => {
                let d = self.name();
                format!("(foldl (lambda ({s} {d}) {next}) ({first}, {second}) [1 2 4])")
            }
        };
        let last = self.array(&known, depth - 1);
        format!("(let (({a}, {b}) {text}) in {last})")
    }

    /// Draws an iteration of two states, `a` and `b`. Returns a new array, which is named `t`, and
    /// the next values of the states.
    fn both(&mut self, known: &[String], [a, b, t]: [&String; 3], depth: usize) -> [String; 3] {
        let new = self.array(known, depth - 1);
        let (what, x, y) = match self.random.below(7) {
            0 => ("pairs rotated", b.clone(), t.clone()),
            1 => ("pairs rotated", t.clone(), a.clone()),
            2 => ("pairs that become one array", t.clone(), t.clone()),
            3 => ("pairs of which one is kept", a.clone(), t.clone()),
            4 => ("pairs swapped", b.clone(), a.clone()),
            5 => {
                let other = self.array(&Self::with(known, &[t]), depth - 1);
                ("pairs replaced", t.clone(), other)
            }
            _ => {
                let condition = self.condition(known);
                let chosen = format!("(if {condition} {a} {t})");
                ("pairs kept or replaced", chosen, b.clone())
            }
        };
        self.note(what);
        [new, x, y]
    }
}
