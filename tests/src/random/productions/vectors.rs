//! The functions of vectors.

use super::kinds::{
    always, change_condition, element, is_float, is_int, is_nested, is_number,
    is_pair_of_equal_vectors, is_pair_of_vectors, is_scalar, is_vector, is_vector_of_int,
    is_vector_of_integers, is_vector_of_pairs,
};
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::{self, BOOL, INT, INT64, Ty};

/// Productions that return vectors, and those that take them.
pub const VECTORS: &[Production] = &[
    row("vector", 3, is_vector, |d, t, f| {
        let count = 1 + d.random.below(3);
        let items: Vec<String> = (0..count).map(|_| d.expression(&element(t), f)).collect();
        format!("[{}]", items.join(" "))
    }),
    row("map", 6, is_vector, map),
    row("imap", 3, is_vector, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(&[INT], &element(t), f);
        let v = d.expression(&from.vector(), f);
        format!("(imap {g} {v})")
    }),
    row("reduce", 3, always, |d, t, f| {
        let g = operator(d, t, f);
        let (z, v) = (d.expression(t, f), d.expression(&t.clone().vector(), f));
        format!("(reduce {g} {z} {v})")
    }),
    row("reduce_comm", 2, is_scalar, |d, t, f| {
        let g = operator(d, t, f);
        let (z, v) = (d.expression(t, f), d.expression(&t.clone().vector(), f));
        format!("(reduce_comm {g} {z} {v})")
    }),
    row("scan", 3, is_vector, |d, t, f| {
        let g = operator(d, &element(t), f);
        let (z, v) = (d.expression(&element(t), f), d.expression(t, f));
        format!("(scan {g} {z} {v})")
    }),
    row("exscan", 2, is_vector, |d, t, f| {
        let g = operator(d, &element(t), f);
        let (z, v) = (d.expression(&element(t), f), d.expression(t, f));
        format!("(exscan {g} {z} {v})")
    }),
    row("foldl", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(&[t.clone(), from.clone()], t, f);
        let (z, v) = (d.expression(t, f), d.expression(&from.vector(), f));
        format!("(foldl {g} {z} {v})")
    }),
    row("foldl of choices", 3, is_number, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let [p, q] = [(); 2].map(|()| d.function(std::slice::from_ref(&from), &BOOL, f.min(3)));
        let [g, h] = [(); 2].map(|()| d.function(std::slice::from_ref(&from), t, f.min(3)));
        let (z, v) = (d.expression(t, f.min(2)), d.expression(&from.vector(), f));
        let [s, n, x] = [(); 3].map(|()| d.name());
        format!(
            "(foldl (lambda (({s}, {n}) {x}) (if ({p} {x}) ((+ {s} ({g} {x})), (+ {n} 1)) \
             (if ({q} {x}) ((- {s} ({h} {x})), {n}) ({s}, {n})))) ({z}, 0) {v}).0"
        )
    }),
    row("permute", 2, is_vector, |d, t, f| {
        let v = d.expression(t, f);
        let name = d.name();
        let indices = match d.random.below(10) {
            0 => d.expression(&INT.vector(), f),
            1..=4 => format!("(reverse (range (length {name})))"),
            _ => format!("(rotate 1 (range (length {name})))"),
        };
        format!("(let ({name} {v}) in (permute {indices} {name}))")
    }),
    row("gather", 3, is_vector, |d, t, f| {
        let v = d.expression(t, f);
        if d.random.chance(15) {
            let indices = d.expression(&INT.vector(), f);
            return format!("(gather {indices} {v})");
        }
        let indices = d.expression(&INT64.vector(), f);
        let name = d.name();
        format!(
            "(let ({name} {v}) in (if (= 0 (length {name})) {name} \
             (gather (map (lambda (i) (% (& i 0xffff) (length {name}))) {indices}) {name})))"
        )
    }),
    row("slice", 3, is_vector, |d, t, f| {
        let v = d.expression(t, f);
        let name = d.name();
        match d.random.below(6) {
            0 => {
                let (b, s, e) = (d.leaf(&INT), d.leaf(&INT), d.leaf(&INT));
                format!("(slice {b} {s} {e} {v})")
            }
            1..=2 => format!("(let ({name} {v}) in (slice (- (length {name}) 1) -1 -1 {name}))"),
            3 => format!("(let ({name} {v}) in (slice 0 2 (length {name}) {name}))"),
            _ => format!(
                "(let ({name} {v}) in (slice (min 1 (length {name})) 1 (length {name}) {name}))"
            ),
        }
    }),
    row("range", 4, is_vector_of_integers, |d, t, _| {
        let e = element(t);
        let (b, s, n) = (d.random.below(5), 1 + d.random.below(3), d.random.below(9));
        match d.random.below(4) {
            0 => format!("(range ({n} : {e}))"),
            1 => format!("(range ({b} : {e}) {n})"),
            2 => format!("(range ({b} : {e}) {s} {n})"),
            _ if e == INT => format!("(range {n} -{s} {b})"),
            _ => format!("(range ({n} : {e}))"),
        }
    }),
    row("length", 4, is_int, |d, _, f| {
        let v = types::any(&mut d.random, 1).vector();
        format!("(length {})", d.expression(&v, f))
    }),
    row("filter", 4, is_vector, |d, t, f| {
        let p = d.function(&[element(t)], &BOOL, f);
        let v = d.expression(t, f);
        format!("(filter {p} {v})")
    }),
    row("!", 4, always, |d, t, f| {
        let v = d.expression(&t.clone().vector(), f);
        if d.random.chance(12) {
            let i = d.expression(&INT, f);
            return format!("({v} ! {i})");
        }
        let name = d.name();
        let (i, z) = (d.random.below(4), d.leaf(t));
        format!("(let ({name} {v}) in (if (> (length {name}) {i}) ({name} ! {i}) {z}))")
    }),
    row("! 2-D", 2, always, |d, t, f| {
        let m = d.expression(&Ty::Matrix(Box::new(t.clone())), f);
        if d.random.chance(12) {
            return format!("({m} ! (0, 1))");
        }
        let (name, z) = (d.name(), d.leaf(t));
        format!(
            "(let ({name} {m}) ((r, c) (shape {name})) in \
             (if (and (> r 0) (> c 0)) ({name} ! ((- r 1), 0)) {z}))"
        )
    }),
    row("scatter", 2, is_vector, |d, t, f| {
        let v = d.expression(t, f);
        let x = d.expression(t, f);
        let name = d.name();
        if d.random.chance(15) {
            let indices = d.expression(&INT.vector(), f);
            return format!("(scatter {v} {indices} {x})");
        }
        format!("(let ({name} {x}) in (scatter {v} (map (* 2) (range (length {name}))) {name}))")
    }),
    row("tabulate of changed elements", 3, is_vector, |d, t, f| {
        let (v, a, b) = (
            d.expression(t, f),
            d.expression(&INT, 1),
            d.expression(&INT, 1),
        );
        let g = d.function(&[element(t), INT], &element(t), f.min(3));
        let [vector, state, i, first, last] = [(); 5].map(|()| d.name());
        let changed = change_condition(d, &i, &first, &last);
        let (own, other) = (format!("({state} ! {i})"), format!("({state} ! 0)"));
        let read = if d.random.chance(30) { &other } else { &own };
        format!(
            "(let ({vector} {v}) ({first} {a}) ({last} {b}) in (iterate 2 (lambda ({state}) \
             (tabulate (length {state}) (lambda ({i}) (if {changed} ({g} {read} {i}) {own})))) {vector}))"
        )
    }),
    row("histogram", 4, is_vector, |d, t, f| {
        let e = element(t);
        let g = operator(d, &e, f);
        let (z, x) = (d.expression(&e, f), d.expression(t, f));
        let (name, bins) = (d.name(), (d.random.below(12) + 1) % 7);
        // Bins that get several values, none, or one. Some indices belong to no bin, on either
        // side.
        let bin = *d
            .random
            .pick(&["(% (* i 3) 5)", "(% i 2)", "(- 1 (% i 3))", "0"]);
        format!(
            "(let ({name} {x}) in (histogram {g} {z} {bins} \
             (map (lambda (i) {bin}) (range (length {name}))) {name}))"
        )
    }),
    // Operators that combine vectors element by element: in bins, and of all values.
    row("histogram of rows", 3, is_nested, |d, t, f| {
        let (rows, start) = combined_rows(d, &element(t), f);
        let operator = elementwise(d, &element(t));
        let (name, bins) = (d.name(), (d.random.below(12) + 1) % 7);
        let bin = *d.random.pick(&["(% (* i 3) 5)", "(- 1 (% i 3))", "0"]);
        format!(
            "(let ({name} {rows}) in (histogram {operator} {start} {bins} \
             (map (lambda (i) {bin}) (range (length {name}))) {name}))"
        )
    }),
    row("reduce of rows", 3, is_vector, |d, t, f| {
        let (rows, start) = combined_rows(d, t, f);
        format!("(reduce {} {start} {rows})", elementwise(d, t))
    }),
    row("sort", 3, is_vector, |d, t, f| {
        let e = element(t);
        let v = d.expression(t, f);
        if e.is_number() {
            let le = if d.random.chance(40) {
                "<="
            } else if e.is_float() {
                "(lambda (a b) (<= (floor (/ a 4.0)) (floor (/ b 4.0))))"
            } else {
                "(lambda (a b) (<= (/ a 4) (/ b 4)))"
            };
            return format!("(sort {le} {v})");
        }
        if let Ty::Vector(_) = e {
            return format!("(sort (lambda (a b) (<= (length a) (length b))) {v})");
        }
        if let Some(le) = by_components(d, &e) {
            return format!("(sort {le} {v})");
        }
        let le = d.function(&[e.clone(), e], &BOOL, f.min(2));
        format!("(sort {le} {v})")
    }),
    row("first sorted", 2, is_vector, |d, t, f| {
        let e = element(t);
        let (v, name) = (d.expression(t, f), d.name());
        let le = match by_components(d, &e) {
            Some(le) => le,
            None if e.is_number() => d.random.pick(&["<=", ">=", "<"]).to_string(),
            None => d.function(&[e.clone(), e], &BOOL, f.min(2)),
        };
        let count = d.random.below(9);
        format!(
            "(let ({name} (sort {le} {v})) in (slice 0 1 (min {count} (length {name})) {name}))"
        )
    }),
    row("zip", 8, is_vector_of_pairs, |d, t, f| {
        let Ty::Tuple(parts) = element(t) else {
            return d.leaf(t);
        };
        let a = d.expression(&parts[0].clone().vector(), f);
        if parts[0] == parts[1] && d.random.chance(80) {
            let name = d.name();
            return format!("(let ({name} {a}) in (zip {name} (reverse {name})))");
        }
        let (name, z) = (d.name(), d.expression(&parts[1], f));
        format!("(let ({name} {a}) in (zip {name} (replicate (length {name}) {z})))")
    }),
    row("unzip", 20, is_pair_of_vectors, |d, t, f| {
        let Ty::Tuple(parts) = t else {
            return d.leaf(t);
        };
        let pairs = Ty::Tuple(vec![element(&parts[0]), element(&parts[1])]).vector();
        format!("(unzip {})", d.expression(&pairs, f))
    }),
    row("partition", 40, is_pair_of_equal_vectors, |d, t, f| {
        let Ty::Tuple(parts) = t else {
            return d.leaf(t);
        };
        let p = d.function(&[element(&parts[0])], &BOOL, f);
        format!("(partition {p} {})", d.expression(&parts[0], f))
    }),
    row("partition .0", 2, is_vector, |d, t, f| {
        let p = d.function(&[element(t)], &BOOL, f);
        let v = d.expression(t, f);
        format!("(partition {p} {v}).{}", d.random.below(2))
    }),
    row("unzip .1", 1, is_vector, |d, t, f| {
        let pairs = Ty::Tuple(vec![types::scalar(&mut d.random), element(t)]).vector();
        let v = d.expression(&pairs, f);
        format!("(unzip ({v} : {pairs})).1")
    }),
    row("concat", 3, is_vector, prefix!("concat", 2)),
    row("reverse", 2, is_vector, prefix!("reverse", 1)),
    row("replicate", 2, is_vector, |d, t, f| {
        let n = if d.random.chance(95) {
            d.random.below(5).to_string()
        } else {
            d.leaf(&INT)
        };
        let v = d.expression(&element(t), f);
        format!("(replicate (min 9 {n}) {v})")
    }),
    row("rotate", 2, is_vector, |d, t, f| {
        let (k, v) = (d.expression(&INT, f.min(2)), d.expression(t, f));
        format!("(rotate {k} {v})")
    }),
    row("update", 2, is_vector, |d, t, f| {
        let v = d.expression(t, f);
        let x = d.expression(&element(t), f);
        if d.random.chance(20) {
            return format!("(update {v} 1 {x})");
        }
        let name = d.name();
        format!("(let ({name} {v}) in (if (> (length {name}) 0) (update {name} 0 {x}) {name}))")
    }),
    row("update_slice", 2, is_vector, |d, t, f| {
        let (v, b) = (d.expression(t, f), d.expression(t, f));
        if d.random.chance(20) {
            return format!("(update_slice {v} 1 {b})");
        }
        let (whole, n) = (d.name(), d.name());
        format!(
            "(let ({whole} {v}) ({n} (/ (length {whole}) 2)) in \
             (update_slice {whole} {n} (slice 0 1 {n} (concat {whole} {b}))))"
        )
    }),
    row("scanl", 3, is_vector, |d, t, f| {
        let (other, state) = (types::any(&mut d.random, 1), element(t));
        let g = d.function(&[state.clone(), other.clone()], &state, f);
        let (z, v) = (d.expression(&state, f), d.expression(&other.vector(), f));
        format!("(scanl {g} {z} {v})")
    }),
    row("count", 2, is_vector_of_int, |d, _, f| {
        let v = d.expression(&INT.vector(), f);
        format!("(count {} {v})", d.random.below(5))
    }),
    row("tabulate", 3, is_vector, |d, t, f| {
        let n = d.random.below(5);
        let g = d.function(&[INT], &element(t), f);
        format!("(tabulate {n} {g})")
    }),
    // Long enough for rows of lanes, with the loops distributed around these.
    row("reduce roots", 8, is_float, |d, t, f| {
        let (g, z) = (
            d.function(std::slice::from_ref(t), t, f),
            d.expression(t, f),
        );
        let (name, n) = (d.name(), 60 + d.random.below(20));
        format!(
            "(reduce + {z} (map {g} (map (lambda ({name}) (rsqrt (to_{t} {name}))) (range {n}))))"
        )
    }),
    // Rows whose lengths are known before the rows are made. Some are negative.
    row("flatten of lengths", 2, is_vector, |d, t, f| {
        let lengths = d.expression(&INT.vector(), f);
        let k = d.name();
        let length = match d.random.below(4) {
            0 => format!("(- (% {k} 6) 1)"),
            _ => format!("(max 0 (% {k} 5))"),
        };
        let row = match d.random.chance(50) {
            true => format!("(replicate {length} {})", d.expression(&element(t), f)),
            false => format!("(tabulate {length} {})", d.function(&[INT], &element(t), f)),
        };
        format!("(flatten (map (lambda ({k}) {row}) {lengths}))")
    }),
];

/// Draws an operator of a type. It is associative or, as strict floating point fixes the
/// bracketing, not. Its shape varies: a name, a lambda, by component.
fn operator(d: &mut Draw, t: &Ty, f: usize) -> String {
    const COMMUTES: &[&str] = &["+", "*", "min", "max", "(lambda (a b) (+ a b))"];
    const BITS: &[&str] = &["&", "|", "^"];
    const ORDERED: &[&str] = &["-", "-", "(lambda (a b) b)", "(lambda (a b) (- b a))"];
    if d.random.chance(25) {
        return d.function(&[t.clone(), t.clone()], t, f.min(3));
    }
    match t {
        Ty::Scalar("bool") => (*d.random.pick(&["and", "or", "=", "(lambda (a b) b)"])).into(),
        Ty::Scalar(_) if d.random.chance(45) => (*d.random.pick(ORDERED)).into(),
        Ty::Scalar(_) if t.is_integer() && d.random.chance(30) => (*d.random.pick(BITS)).into(),
        Ty::Scalar(_) => (*d.random.pick(COMMUTES)).into(),
        // Associative. No fold can double a vector until memory is exhausted.
        Ty::Vector(_) => "(lambda (a b) (let (both (concat a b)) in \
                          (if (< (length both) 200) both (slice 0 1 200 both))))"
            .into(),
        Ty::Tuple(parts) => {
            let parts: Vec<String> = (0..parts.len())
                .map(|k| {
                    let part = operator(d, &parts[k].clone(), 1);
                    format!("({part} a.{k} b.{k})")
                })
                .collect();
            format!("(lambda ((a : {t}) (b : {t})) ({}))", parts.join(", "))
        }
        _ => d.function(&[t.clone(), t.clone()], t, f.min(3)),
    }
}

/// Draws an operator that combines two vectors of a type element by element, written in one of several ways.
fn elementwise(d: &mut Draw, t: &Ty) -> String {
    let operator = operator(d, &element(t), 1);
    match d.random.below(4) {
        0 => format!("(lambda (x y) (map {operator} x y))"),
        1 => format!("(lambda (x y) (map (lambda ((a, b)) ({operator} a b)) (zip x y)))"),
        _ => format!("(map {operator})"),
    }
}

/// Draws a vector of vectors of a type, nearly always of one length, and a vector of that length.
fn combined_rows(d: &mut Draw, t: &Ty, f: usize) -> (String, String) {
    let e = element(t);
    let (n, m) = (*d.random.pick(&[0, 1, 5, 9, 150]), d.random.below(6));
    let g = d.function(&[INT, INT], &e, f.min(3));
    let length = match d.random.chance(20) {
        true => format!("(+ {m} (/ i 8))"),
        false => m.to_string(),
    };
    let rows = format!("(tabulate {n} (lambda (i) (map (lambda (j) ({g} i j)) (range {length}))))");
    let start = match d.random.chance(75) {
        true => format!("(replicate {m} {})", d.expression(&e, f.min(2))),
        false => format!("(tabulate {m} {})", d.function(&[INT], &e, f.min(2))),
    };
    (rows, start)
}

/// Draws a `map` over one to three vectors of equal length, or (rarely) of any.
fn map(d: &mut Draw, t: &Ty, f: usize) -> String {
    let to = element(t);
    let count = 1 + d.random.below(3);
    let from: Vec<Ty> = (0..count).map(|_| types::any(&mut d.random, 1)).collect();
    let g = d.function(&from, &to, f);
    let first = d.expression(&from[0].clone().vector(), f);
    if count == 1 {
        return format!("(map {g} {first})");
    }
    if d.random.chance(10) {
        let rest: Vec<String> = from[1..]
            .iter()
            .map(|t| d.expression(&t.clone().vector(), f.min(2)))
            .collect();
        return format!("(map {g} {first} {})", rest.join(" "));
    }
    let name = d.name();
    let rest: Vec<String> = from[1..]
        .iter()
        .map(|t| {
            if *t == from[0] {
                name.clone()
            } else {
                format!("(replicate (length {name}) {})", d.leaf(t))
            }
        })
        .collect();
    format!(
        "(let ({name} {first}) in (map {g} {name} {}))",
        rest.join(" ")
    )
}

/// Returns a comparison of tuples by the numbers in them, one after the other, in one of the ways in which it
/// may be written.
fn by_components(d: &mut Draw, e: &Ty) -> Option<String> {
    let Ty::Tuple(parts) = e else {
        return None;
    };
    let numbers: Vec<usize> = (0..parts.len()).filter(|k| parts[*k].is_number()).collect();
    let first = *numbers.first()?;
    let last = *d.random.pick(&numbers);
    let name = |side: &str, wanted: [(usize, &str); 2]| {
        let names = (0..parts.len()).map(|k| match wanted.iter().find(|(at, _)| *at == k) {
            Some((_, name)) => name.to_string(),
            None => format!("_{side}{k}"),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    if first == last {
        let (a, b) = (name("l", [(first, "a"); 2]), name("r", [(first, "b"); 2]));
        let compare = d.random.pick(&[
            "(<= a b)",
            "(< a b)",
            "(not (< a b))",
            "(or (<= a b) (~= b b))",
        ]);
        return Some(format!("(lambda (({a}) ({b})) {compare})"));
    }
    let a = name("l", [(first, "a"), (last, "c")]);
    let b = name("r", [(first, "b"), (last, "d")]);
    let compare = d.random.pick(&[
        "(if (= a b) (<= c d) (< a b))",
        "(or (> a b) (and (= a b) (<= c d)))",
        "(not (or (< a b) (and (= b a) (>= c d))))",
        "(if (~= c d) (< c d) (if (~= a b) (> a b) false))",
    ]);
    Some(format!("(lambda (({a}) ({b})) {compare})"))
}
