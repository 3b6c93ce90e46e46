//! The types that a production gives.

use crate::random::expression::Draw;
use crate::random::types::{BOOL, INT, Ty};

pub fn always(_: &Ty) -> bool {
    true
}
pub fn is_vector(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(_))
}
pub fn is_nested(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if matches!(**e, Ty::Vector(_)))
}
pub fn is_matrix(ty: &Ty) -> bool {
    matches!(ty, Ty::Matrix(_))
}
pub fn is_list(ty: &Ty) -> bool {
    matches!(ty, Ty::List(_))
}
pub fn is_number(ty: &Ty) -> bool {
    ty.is_number()
}
pub fn is_integer(ty: &Ty) -> bool {
    ty.is_integer()
}
pub fn is_float(ty: &Ty) -> bool {
    ty.is_float()
}
pub fn is_bool(ty: &Ty) -> bool {
    *ty == BOOL
}
pub fn is_int(ty: &Ty) -> bool {
    *ty == INT
}
pub fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(_))
}
pub fn is_tuple(ty: &Ty) -> bool {
    matches!(ty, Ty::Tuple(_))
}
pub fn is_vector_of_integers(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if e.is_integer())
}
pub fn is_vector_of_numbers(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if e.is_number())
}
pub fn is_vector_of_vectors_of_numbers(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if is_vector_of_numbers(e))
}
pub fn is_vector_of_int(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if **e == INT)
}
pub fn is_vector_of_floats(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if e.is_float())
}
pub fn is_vector_of_pairs(ty: &Ty) -> bool {
    matches!(ty, Ty::Vector(e) if matches!(&**e, Ty::Tuple(t) if t.len() == 2))
}
pub fn is_pair_of_vectors(ty: &Ty) -> bool {
    matches!(ty, Ty::Tuple(t) if t.len() == 2 && is_vector(&t[0]) && is_vector(&t[1]))
}
pub fn is_pair_of_equal_vectors(ty: &Ty) -> bool {
    is_pair_of_vectors(ty) && matches!(ty, Ty::Tuple(t) if t[0] == t[1])
}
pub fn is_maybe(ty: &Ty) -> bool {
    matches!(ty, Ty::Maybe(_))
}
pub fn is_tree(ty: &Ty) -> bool {
    matches!(ty, Ty::Tree(_))
}
pub fn is_declared(ty: &Ty) -> bool {
    matches!(ty, Ty::Declared(_))
}
pub fn is_recursive(ty: &Ty) -> bool {
    ty.recursive().is_some()
}
pub fn is_shape(ty: &Ty) -> bool {
    *ty == Ty::Shape
}

/// Returns the element type of a vector, matrix, list, tree or Maybe.
pub fn element(ty: &Ty) -> Ty {
    match ty {
        Ty::Vector(e) | Ty::Matrix(e) | Ty::List(e) | Ty::Tree(e) | Ty::Maybe(e) => (**e).clone(),
        other => other.clone(),
    }
}

/// Draws a condition under which a map changes an element, on its index and two other numbers.
pub fn change_condition(d: &mut Draw, index: &str, first: &str, last: &str) -> String {
    let plain = |d: &mut Draw, number: &str| {
        let comparison = *d.random.pick(&["=", "~=", "<", "<=", ">", ">="]);
        format!("({comparison} {index} {number})")
    };
    let (one, other) = (plain(d, first), plain(d, last));
    match d.random.below(6) {
        0 => format!("(and {one} {other})"),
        1 => format!("(or {one} {other})"),
        2 => format!("(not {one})"),
        3 => format!("(and (> {index} 0) {other})"),
        4 => format!("(~= {index} 0)"),
        _ => one,
    }
}
