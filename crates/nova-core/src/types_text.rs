//! Types as the language writes them.

use crate::{SumType, Type};
use nova_diag::deep;

/// The place where a type is written, by how tightly it binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// After a colon.
    Free,
    /// Left of an arrow.
    Argument,
    /// After `vector`, or among the arguments of a type.
    Item,
}

/// Returns a type as programs write it: `vector (float, int)`.
pub fn type_text(ty: &Type, sums: &[SumType]) -> String {
    write(ty, sums, Place::Free)
}

/// Returns the type of a function of these inputs. Without inputs it is the type of the function's
/// value.
pub fn function_text(inputs: &[Type], result: &Type, sums: &[SumType]) -> String {
    let inputs = inputs
        .iter()
        .map(|ty| write(ty, sums, Place::Argument) + " -> ");
    inputs.collect::<String>() + &type_text(result, sums)
}

fn write(ty: &Type, sums: &[SumType], place: Place) -> String {
    deep(|| {
        let (text, bare) = match ty {
            Type::Scalar(scalar) => (scalar.to_string(), Place::Item),
            Type::Unit => ("unit".to_string(), Place::Item),
            Type::Tuple(elements) => {
                let elements = elements.iter().map(|e| write(e, sums, Place::Free));
                (
                    format!("({})", elements.collect::<Vec<_>>().join(", ")),
                    Place::Item,
                )
            }
            Type::Vector(element) => (
                format!("vector {}", write(element, sums, Place::Item)),
                Place::Argument,
            ),
            Type::Array(rank, element) => (
                format!("vector#{rank} {}", write(element, sums, Place::Item)),
                Place::Argument,
            ),
            Type::Function(from, to) => {
                let from = write(from, sums, Place::Argument);
                (
                    format!("{from} -> {}", write(to, sums, Place::Free)),
                    Place::Free,
                )
            }
            Type::Sum(id) => match sums.get(id.0 as usize) {
                Some(sum) if sum.is_anonymous() => {
                    let constructors = sum.constructors.iter();
                    let each = constructors
                        .map(|c| format!(" ({} : {})", c.name, type_text(&c.payload, sums)));
                    (format!("(+{})", each.collect::<String>()), Place::Item)
                }
                Some(sum) if sum.arguments.is_empty() => (sum.name.to_string(), Place::Item),
                Some(sum) => {
                    let arguments = sum.arguments.iter();
                    let arguments =
                        arguments.map(|a| " ".to_string() + &write(a, sums, Place::Item));
                    (
                        format!("({}{})", sum.name, arguments.collect::<String>()),
                        Place::Item,
                    )
                }
                None => (format!("sum#{}", id.0), Place::Item),
            },
        };
        match bare >= place {
            true => text,
            false => format!("({text})"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn parentheses_only_where_needed() {
        let float = Type::Scalar(Scalar::F32);
        let rows = Type::vector(Type::vector(float.clone()));
        assert_eq!(type_text(&rows, &[]), "vector (vector float)");
        let apply = Type::function(&[Type::function(&[Type::INT], float.clone())], rows.clone());
        assert_eq!(
            type_text(&apply, &[]),
            "(int -> float) -> vector (vector float)"
        );
        let pair = Type::tuple(vec![Type::BOOL, Type::array(2, float)]);
        assert_eq!(
            function_text(&[pair, rows], &Type::INT, &[]),
            "(bool, vector#2 float) -> vector (vector float) -> int"
        );
    }
}
