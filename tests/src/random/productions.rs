//! The productions of random expressions: one table, a row for each built-in and form.

use super::expression::Draw;
use super::types::{self, BOOL, BYTE, FLOATS, INT, INT64, INTEGERS, Ty};

/// A way to make an expression.
pub struct Production {
    /// The built-in or form it draws; what coverage is counted by.
    pub name: &'static str,
    /// How often it is drawn among those that apply.
    pub weight: usize,
    /// Whether it can give this type.
    pub gives: fn(&Ty) -> bool,
    /// Draws an expression of that type; the fuel is what its parts may use.
    pub draw: fn(&mut Draw, &Ty, usize) -> String,
}

const fn row(
    name: &'static str,
    weight: usize,
    gives: fn(&Ty) -> bool,
    draw: fn(&mut Draw, &Ty, usize) -> String,
) -> Production {
    Production {
        name,
        weight,
        gives,
        draw,
    }
}

fn always(_: &Ty) -> bool {
    true
}
fn is_vector(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(_))
}
fn is_nested(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if matches!(**e, Ty::Vector(_)))
}
fn is_matrix(ty: &Ty) -> bool {
    matches!(ty, Ty::Matrix(_))
}
fn is_list(ty: &Ty) -> bool {
    matches!(ty, Ty::List(_))
}
fn is_number(ty: &Ty) -> bool {
    ty.is_number()
}
fn is_integer(ty: &Ty) -> bool {
    ty.is_integer()
}
fn is_float(ty: &Ty) -> bool {
    ty.is_float()
}
fn is_bool(ty: &Ty) -> bool {
    *ty == BOOL
}
fn is_int(ty: &Ty) -> bool {
    *ty == INT
}
fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(_))
}
fn is_tuple(ty: &Ty) -> bool {
    matches!(ty, Ty::Tuple(_))
}
fn is_vector_of_integers(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if e.is_integer())
}
fn is_vector_of_int(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if **e == INT)
}
fn is_vector_of_pairs(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if matches!(&**e, Ty::Tuple(t) if t.len() == 2))
}
fn is_pair_of_vectors(ty: &Ty) -> bool {
    matches!(ty, Ty::Tuple(t) if t.len() == 2 && is_vector(&t[0]) && is_vector(&t[1]))
}
fn is_pair_of_equal_vectors(ty: &Ty) -> bool {
    is_pair_of_vectors(ty) && matches!(ty, Ty::Tuple(t) if t[0] == t[1])
}
fn is_maybe(ty: &Ty) -> bool {
    matches!(ty, Ty::Maybe(_))
}
fn is_tree(ty: &Ty) -> bool {
    matches!(ty, Ty::Tree(_))
}
fn is_shape(ty: &Ty) -> bool {
    *ty == Ty::Shape
}

/// The element type of a vector, matrix, list, tree or Maybe.
fn element(ty: &Ty) -> Ty {
    match ty {
        Ty::Vector(e) | Ty::Matrix(e) | Ty::List(e) | Ty::Tree(e) | Ty::Maybe(e) => (**e).clone(),
        other => other.clone(),
    }
}

macro_rules! prefix {
    ($op:literal, $arity:literal) => {
        |d, t, f| {
            let arguments: Vec<String> = (0..$arity).map(|_| d.expression(t, f)).collect();
            format!("({} {})", $op, arguments.join(" "))
        }
    };
}
macro_rules! compare {
    ($op:literal) => {
        |d, _, f| {
            let ty = types::number(&mut d.random);
            let (a, b) = (d.expression(&ty, f), d.expression(&ty, f));
            format!("({} {a} {b})", $op)
        }
    };
}
macro_rules! shift {
    ($op:literal) => {
        |d, t, f| {
            let a = d.expression(t, f);
            let b = if d.random.chance(85) {
                format!("({} : {t})", d.random.below(8))
            } else {
                d.expression(t, f)
            };
            format!("({} {a} {b})", $op)
        }
    };
}

/// The table.
pub const PRODUCTIONS: &[Production] = &[
    row("+", 6, is_number, prefix!("+", 2)),
    row("-", 4, is_number, prefix!("-", 2)),
    row("*", 4, is_number, prefix!("*", 2)),
    row("/", 2, is_number, divide),
    row("%", 2, is_integer, |d, t, f| {
        let a = d.expression(t, f);
        let b = if d.random.chance(85) {
            format!("({} : {t})", 1 + d.random.below(9))
        } else {
            d.leaf(t)
        };
        format!("(% {a} {b})")
    }),
    row("min", 2, is_number, prefix!("min", 2)),
    row("max", 2, is_number, prefix!("max", 2)),
    row("neg", 1, is_number, prefix!("neg", 1)),
    row("abs", 1, is_number, prefix!("abs", 1)),
    row("sqrt", 2, is_float, prefix!("sqrt", 1)),
    row("rsqrt", 2, is_float, prefix!("rsqrt", 1)),
    row("recip", 2, is_float, prefix!("recip", 1)),
    row("exp", 2, is_float, prefix!("exp", 1)),
    row("exp2", 2, is_float, prefix!("exp2", 1)),
    row("log", 2, is_float, prefix!("log", 1)),
    row("log2", 2, is_float, prefix!("log2", 1)),
    row("log10", 2, is_float, prefix!("log10", 1)),
    row("sin", 2, is_float, prefix!("sin", 1)),
    row("cos", 2, is_float, prefix!("cos", 1)),
    row("tan", 2, is_float, prefix!("tan", 1)),
    row("asin", 2, is_float, prefix!("asin", 1)),
    row("acos", 2, is_float, prefix!("acos", 1)),
    row("atan", 2, is_float, prefix!("atan", 1)),
    row("sinh", 2, is_float, prefix!("sinh", 1)),
    row("cosh", 2, is_float, prefix!("cosh", 1)),
    row("tanh", 2, is_float, prefix!("tanh", 1)),
    row("pow", 2, is_float, prefix!("pow", 2)),
    row("atan2", 2, is_float, prefix!("atan2", 2)),
    row("floor", 2, is_float, prefix!("floor", 1)),
    row("ceil", 2, is_float, prefix!("ceil", 1)),
    row("round", 2, is_float, prefix!("round", 1)),
    row("trunc", 2, is_float, prefix!("trunc", 1)),
    row("erf", 2, is_float, prefix!("erf", 1)),
    row("=", 3, is_bool, compare!("=")),
    row("~=", 2, is_bool, compare!("~=")),
    row("<", 4, is_bool, compare!("<")),
    row("<=", 2, is_bool, compare!("<=")),
    row(">", 2, is_bool, compare!(">")),
    row(">=", 2, is_bool, compare!(">=")),
    row("and", 3, is_bool, prefix!("and", 2)),
    row("or", 3, is_bool, prefix!("or", 2)),
    row("not", 2, is_bool, prefix!("not", 1)),
    row("&", 2, is_integer, prefix!("&", 2)),
    row("|", 2, is_integer, prefix!("|", 2)),
    row("^", 2, is_integer, prefix!("^", 2)),
    row("~", 1, is_integer, prefix!("~", 1)),
    row("<<", 2, is_integer, shift!("<<")),
    row(">>", 2, is_integer, shift!(">>")),
    row("to_T", 3, is_number, convert),
    row("from_T", 2, is_number, convert_from),
    row("wrap_T", 2, is_integer, |d, t, f| {
        let from = types::number(&mut d.random);
        let value = d.expression(&from, f);
        format!("(wrap_{t} {value})")
    }),
    row("if", 3, always, |d, t, f| {
        let c = d.expression(&BOOL, f);
        let (a, b) = (d.expression(t, f), d.expression(t, f));
        format!("(if {c} then {a} else {b})")
    }),
    row("let", 3, always, |d, t, f| {
        let (name, ty, value) = d.binding(f);
        d.scope.push((name.clone(), ty));
        let body = d.expression(t, f);
        d.scope.pop();
        format!("(let ({name} {value}) in {body})")
    }),
    row("call", 6, always, call),
    row("closure", 1, always, closure),
    row("mu", 1, always, recursion),
    row("case", 2, always, case),
    row("project", 2, always, |d, t, f| {
        let other = types::any(&mut d.random, 1);
        let pair = Ty::Tuple(vec![t.clone(), other]);
        let value = d.expression(&pair, f);
        format!("({value} : {pair}).0")
    }),
    row("tuple", 8, is_tuple, |d, t, f| {
        let Ty::Tuple(elements) = t else {
            return d.leaf(t);
        };
        let items: Vec<String> = elements.iter().map(|e| d.expression(e, f)).collect();
        format!("({})", items.join(", "))
    }),
    row("Some", 8, is_maybe, |d, t, f| {
        let value = d.expression(&element(t), f);
        format!("(Some {value})")
    }),
    row("Leaf", 4, is_tree, |d, t, f| {
        let value = d.expression(&element(t), f);
        format!("(Leaf {value})")
    }),
    row("Node", 4, is_tree, |d, t, f| {
        let (l, r) = (d.expression(t, f), d.expression(t, f));
        format!("(Node ({l}, {r}))")
    }),
    row("Cons", 5, is_list, |d, t, f| {
        let head = d.expression(&element(t), f);
        let tail = d.expression(t, f);
        format!("(Cons ({head}, {tail}))")
    }),
    row("from_vector", 3, is_list, |d, t, f| {
        let v = d.expression(&element(t).vector(), f);
        format!("(from_vector {v})")
    }),
    row("Shape", 4, is_shape, |d, _, f| match d.random.below(3) {
        0 => format!("(Circle {})", d.expression(&Ty::Scalar("float"), f)),
        1 => format!(
            "(Square ({}, {}))",
            d.expression(&INT, f),
            d.expression(&INT, f)
        ),
        _ => format!("(Text {})", d.expression(&BYTE.vector(), f)),
    }),
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
    row("histogram", 2, is_vector, |d, t, f| {
        let e = element(t);
        let g = operator(d, &e, f);
        let (z, x) = (d.expression(&e, f), d.expression(t, f));
        let (name, n) = (d.name(), d.random.below(5));
        format!(
            "(let ({name} {x}) in (histogram {g} {z} {n} \
             (map (lambda (i) (% (* i 3) 5)) (range (length {name}))) {name}))"
        )
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
        let le = d.function(&[e.clone(), e], &BOOL, f.min(2));
        format!("(sort {le} {v})")
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
    row("tabulate", 3, is_vector, |d, t, f| {
        let n = d.random.below(5);
        let g = d.function(&[INT], &element(t), f);
        format!("(tabulate {n} {g})")
    }),
    row("tabulate 2-D", 5, is_matrix, |d, t, f| {
        let (n, m) = (d.random.below(4), d.random.below(4));
        let g = d.function(&[Ty::Tuple(vec![INT, INT])], &element(t), f);
        format!("(tabulate ({n}, {m}) {g})")
    }),
    row("reshape", 3, is_matrix, |d, t, f| {
        let (n, m) = (1 + d.random.below(2), d.random.below(3));
        if d.random.chance(10) {
            let v = d.expression(&element(t).vector(), f);
            return format!("(reshape ({n}, {m}) {v})");
        }
        let g = d.function(&[INT], &element(t), f);
        format!("(reshape ({n}, {m}) (tabulate {} {g}))", n * m)
    }),
    row("reshape 1-D", 1, is_vector, |d, t, f| {
        let m = d.expression(&Ty::Matrix(Box::new(element(t))), f);
        let name = d.name();
        format!("(let ({name} {m}) ((r, c) (shape {name})) in (flatten (reshape (c, r) {name})))")
    }),
    row("transpose", 4, is_matrix, prefix!("transpose", 1)),
    row("unrows", 3, is_matrix, |d, t, f| {
        if d.random.chance(15) {
            return format!(
                "(unrows {})",
                d.expression(&element(t).vector().vector(), f)
            );
        }
        let m = d.expression(t, f);
        format!("(unrows (reverse (rows {m})))")
    }),
    row("rows", 4, is_nested, |d, t, f| {
        let m = d.expression(&Ty::Matrix(Box::new(element(&element(t)))), f);
        format!("(rows {m})")
    }),
    row("unflatten", 4, is_nested, |d, t, f| {
        let v = d.expression(&element(t), f);
        if d.random.chance(12) {
            return format!("(unflatten [1 0 2] {v})");
        }
        let name = d.name();
        format!("(let ({name} {v}) in (unflatten [0 (length {name}) 0] {name}))")
    }),
    row("flatten", 2, is_vector, |d, t, f| {
        if d.random.chance(30) {
            let m = d.expression(&Ty::Matrix(Box::new(element(t))), f);
            return format!("(flatten {m})");
        }
        format!("(flatten {})", d.expression(&t.clone().vector(), f))
    }),
    row("segments", 4, is_vector_of_int, |d, _, f| {
        let v = types::scalar(&mut d.random).vector().vector();
        format!("(segments {})", d.expression(&v, f))
    }),
    row("shape", 2, is_int, |d, _, f| {
        let m = Ty::Matrix(Box::new(types::any(&mut d.random, 1)));
        let v = d.expression(&m, f);
        format!("(shape {v}).{}", d.random.below(2))
    }),
    row("iterate", 2, always, |d, t, f| {
        let g = d.function(std::slice::from_ref(t), t, f.min(3));
        let z = d.expression(t, f);
        format!("(iterate {} {g} {z})", d.random.below(4))
    }),
    row("while", 2, always, |d, t, f| {
        let state = Ty::Tuple(vec![INT, t.clone()]);
        let name = d.name();
        let depth = d.scope.len();
        d.scope.push((name.clone(), state.clone()));
        let next = d.expression(t, f.min(3));
        d.scope.truncate(depth);
        let z = d.expression(t, f);
        let n = d.random.below(4);
        format!(
            "(while (lambda (s : {state}) (< s.0 {n})) \
             (lambda ({name} : {state}) ((+ 1 {name}.0), {next})) (0, {z})).1"
        )
    }),
    row("list_fold", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let g = d.function(&[t.clone(), from.clone()], t, f.min(3));
        let z = d.expression(t, f);
        let l = d.expression(&Ty::List(Box::new(from)), f);
        format!("(list_fold {g} {z} {l})")
    }),
    row("tree_fold", 2, always, |d, t, f| {
        let from = types::any(&mut d.random, 1);
        let leaf = d.function(std::slice::from_ref(&from), t, f.min(3));
        let node = d.function(&[t.clone(), t.clone()], t, f.min(2));
        let tree = d.expression(&Ty::Tree(Box::new(from)), f);
        format!("(tree_fold {leaf} {node} {tree})")
    }),
    row("list_length", 1, is_int, |d, _, f| {
        let l = Ty::List(Box::new(types::any(&mut d.random, 1)));
        format!("(list_length {})", d.expression(&l, f))
    }),
    row("first", 1, always, |d, t, f| {
        let (z, v) = (d.leaf(t), d.expression(&t.clone().vector(), f));
        format!("(first {z} {v})")
    }),
    row("or_else", 1, always, |d, t, f| {
        let (z, m) = (d.leaf(t), d.expression(&Ty::Maybe(Box::new(t.clone())), f));
        format!("(or_else {z} {m})")
    }),
    row("trace", 1, always, |d, t, f| {
        let v = d.expression(t, f);
        format!("(trace \"seen\" {v})")
    }),
];

fn divide(d: &mut Draw, t: &Ty, f: usize) -> String {
    let a = d.expression(t, f);
    let b = if t.is_integer() && d.random.chance(85) {
        format!("({} : {t})", 1 + d.random.below(9))
    } else {
        d.expression(t, f)
    };
    format!("(/ {a} {b})")
}

/// A conversion that fits, mostly: from a smaller type, or of a remainder.
fn convert(d: &mut Draw, t: &Ty, f: usize) -> String {
    if t.is_float() {
        let from = types::number(&mut d.random);
        return format!("(to_{t} {})", d.expression(&from, f));
    }
    if d.random.chance(12) {
        let from = types::number(&mut d.random);
        return format!("(to_{t} {})", d.expression(&from, f));
    }
    if d.random.chance(30) {
        let name = *d.random.pick(&FLOATS);
        let value = d.expression(&Ty::Scalar(name), f);
        return format!("(to_{t} (max 0.0 (min 99.0 {value})))");
    }
    let from = Ty::Scalar(d.random.pick::<&str>(&INTEGERS));
    let value = d.expression(&from, f);
    format!("(to_{t} (& {value} 0x7f))")
}

fn convert_from(d: &mut Draw, t: &Ty, f: usize) -> String {
    let from = Ty::Scalar(d.random.pick::<&str>(&INTEGERS));
    let value = d.expression(&from, f);
    format!("((from_{from} (& {value} 0x3f)) : {t})")
}

/// An operator of a type: associative or, as strict floating point fixes the bracketing, not; its
/// shape varies: a name, a lambda, by component.
fn operator(d: &mut Draw, t: &Ty, f: usize) -> String {
    const INTEGER: &[&str] = &[
        "+",
        "*",
        "min",
        "max",
        "&",
        "|",
        "^",
        "(lambda (a b) (+ a b))",
        "-",
        "-",
        "-",
        "-",
    ];
    const FLOATING: &[&str] = &["+", "*", "min", "max", "(lambda (a b) b)", "-", "-", "-"];
    if d.random.chance(25) {
        return d.function(&[t.clone(), t.clone()], t, f.min(3));
    }
    match t {
        Ty::Scalar("bool") => (*d.random.pick(&["and", "or", "=", "(lambda (a b) b)"])).into(),
        Ty::Scalar(_) if t.is_integer() => (*d.random.pick(INTEGER)).into(),
        Ty::Scalar(_) => (*d.random.pick(FLOATING)).into(),
        Ty::Vector(_) => "concat".into(),
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

/// `map` over one to three vectors of equal length, or (rarely) of any.
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

/// A call of a function in scope that gives the type, if there is one.
fn call(d: &mut Draw, t: &Ty, f: usize) -> String {
    let functions: Vec<(String, Vec<Ty>)> = d
        .scope
        .iter()
        .filter_map(|(n, ty)| match ty {
            Ty::Function(parameters, result) if **result == *t => {
                Some((n.clone(), parameters.clone()))
            }
            _ => None,
        })
        .collect();
    if functions.is_empty() {
        return d.leaf(t);
    }
    let (name, parameters) = functions[d.random.below(functions.len())].clone();
    let arguments: Vec<String> = parameters.iter().map(|p| d.expression(p, f)).collect();
    format!("({name} {})", arguments.join(" "))
}

/// A function value chosen at run time, composed or partially applied, then applied.
fn closure(d: &mut Draw, t: &Ty, f: usize) -> String {
    let from = types::any(&mut d.random, 1);
    let parameters = std::slice::from_ref(&from);
    let (g, h) = (d.function(parameters, t, f), d.function(parameters, t, f));
    let argument = d.expression(&from, f);
    match d.random.below(3) {
        0 => format!(
            "((if {} then {g} else {h}) {argument})",
            d.expression(&BOOL, f)
        ),
        1 => {
            let inner = d.function(parameters, &from, f.min(2));
            format!("((compose {g} {inner}) {argument})")
        }
        _ => {
            let p = d.name();
            format!("(((lambda ({p} : {from}) {g}) {argument}) {argument})")
        }
    }
}

/// Recursion by `mu` with a counter: in tail position or not.
fn recursion(d: &mut Draw, t: &Ty, f: usize) -> String {
    let (function, state) = (d.name(), d.name());
    let depth = d.scope.len();
    d.scope.push((state.clone(), t.clone()));
    let step = d.expression(t, f.min(3));
    d.scope.truncate(depth);
    let start = d.expression(t, f);
    let n = d.random.below(4);
    let body = if d.random.chance(50) {
        format!("({function} (- n 1) {step})")
    } else {
        format!("(let ({state} ({function} (- n 1) {state})) in {step})")
    };
    format!(
        "((mu ({function} : int -> {t} -> {t}) (lambda (n : int) ({state} : {t}) : {t} \
         (if (<= n 0) {state} {body}))) {n} {start})"
    )
    .replace(
        &format!("-> {t} -> {t})"),
        &format!("-> {} -> {})", paren(t), paren(t)),
    )
}

fn paren(t: &Ty) -> String {
    if matches!(t, Ty::Vector(_) | Ty::Matrix(_)) {
        format!("({t})")
    } else {
        t.to_string()
    }
}

/// A match on a sum of any kind.
fn case(d: &mut Draw, t: &Ty, f: usize) -> String {
    let inner = types::any(&mut d.random, 1);
    let (a, b) = (d.name(), d.name());
    let arm = |d: &mut Draw, bound: &[(String, Ty)]| {
        let depth = d.scope.len();
        d.scope.extend(bound.iter().cloned());
        let body = d.expression(t, f);
        d.scope.truncate(depth);
        body
    };
    match d.random.below(4) {
        0 => {
            let m = Ty::Maybe(Box::new(inner.clone()));
            let s = d.expression(&m, f);
            let (none, some) = (arm(d, &[]), arm(d, &[(a.clone(), inner)]));
            format!("(case ({s} : {m}) (None {none}) (Some {a} {some}))")
        }
        1 => {
            let s = d.expression(&Ty::Shape, f);
            let circle = arm(d, &[(a.clone(), Ty::Scalar("float"))]);
            let square = arm(d, &[(a.clone(), INT), (b.clone(), INT)]);
            let rest = arm(d, &[]);
            format!("(case {s} (Circle {a} {circle}) (Square ({a}, {b}) {square}) (_ {rest}))")
        }
        2 => {
            let l = Ty::List(Box::new(inner.clone()));
            let s = d.expression(&l, f);
            let nil = arm(d, &[]);
            let cons = arm(d, &[(a.clone(), inner), (b.clone(), l.clone())]);
            format!("(case ({s} : {l}) (Nil {nil}) (Cons ({a}, {b}) {cons}))")
        }
        _ => {
            let tr = Ty::Tree(Box::new(inner.clone()));
            let s = d.expression(&tr, f);
            let leaf = arm(d, &[(a.clone(), inner)]);
            let node = arm(d, &[(a.clone(), tr.clone()), (b.clone(), tr.clone())]);
            format!("(case ({s} : {tr}) (Leaf {a} {leaf}) (Node ({a}, {b}) {node}))")
        }
    }
}
