//! The text of expressions without bodies.

use super::{Printer, print_atom, print_variable};
use crate::ir::{Atom, Destination, Expression, Sorted, Variable, View};
use crate::{array_expressions, control_expressions};
use nova_core::forms::write::{bracketed, print_members, print_type};
use nova_syntax::datum::write_text;
use std::fmt::Write;

impl Printer<'_> {
    /// Returns the text of expressions that read or make arrays, and of all others without bodies.
    pub(super) fn on_arrays(&self, expression: &Expression) -> String {
        let atom = |a: &Atom| print_atom(self.program, *a);
        let name = |v: &Variable| print_variable(self.program, *v);
        match expression {
            Expression::Index { array, indices } => {
                format!("index {} {}", name(array), self.atoms(indices))
            }
            Expression::View { array, view } => self.view(*array, view),
            Expression::Literal { element, elements } => {
                format!("literal {} {}", element.info().short, self.atoms(elements))
            }
            Expression::Bytes(bytes) => format!("bytes {}", write_text(bytes)),
            Expression::Iota { count, start, step } => {
                format!("iota {} {} {}", atom(count), atom(start), atom(step))
            }
            Expression::Replicate { shape, value } => {
                format!("replicate {} {}", self.atoms(shape), atom(value))
            }
            Expression::Copy(array) => format!("copy {}", name(array)),
            Expression::Concat { arrays, count } => {
                format!("concat {} {}", atom(count), self.arrays(arrays))
            }
            Expression::SortKeys {
                count,
                first,
                keys,
                low,
                gives,
            } => format!(
                "sort_keys {} {} {} {low} {}",
                atom(count),
                atom(first),
                print_variable(self.program, *keys),
                bracketed(gives, |sorted: &Sorted| sorted.word().to_string())
            ),
            Expression::Update {
                array,
                indices,
                value,
            } => {
                format!(
                    "update {} {} {}",
                    name(array),
                    self.atoms(indices),
                    atom(value)
                )
            }
            Expression::Unique(array) => format!("unique {}", name(array)),
            Expression::Allocate {
                element,
                count,
                destination,
            } => {
                let (element, count) = (element.info().short, atom(count));
                match destination {
                    None => format!("allocate {element} {count}"),
                    Some(Destination { component, stride }) => {
                        format!("allocate_result {element} {count} {component} {stride}")
                    }
                }
            }
            other => self.on_scalars(other),
        }
    }

    /// Returns the text of expressions on scalars, calls, and nodes.
    fn on_scalars(&self, expression: &Expression) -> String {
        let atom = |a: &Atom| print_atom(self.program, *a);
        match expression {
            Expression::Atom(a) => format!("atom {}", atom(a)),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let mut out = format!("{} {}", operation.short(), operand.info().short);
                arguments.iter().for_each(|a| out.extend([" ", &atom(a)]));
                out
            }
            Expression::Check {
                condition,
                error,
                arguments,
            } => {
                let word = error.info().word;
                format!("check {} {word} {}", atom(condition), self.atoms(arguments))
            }
            Expression::Fail { error, arguments } => {
                format!("fail {} {}", error.info().word, self.atoms(arguments))
            }
            Expression::Call {
                function,
                arguments,
                tail,
            } => {
                let word = if *tail { "tail" } else { "call" };
                let function = write_text(self.function_name(function.0).as_bytes());
                format!("{word} {function} {}", self.atoms(arguments))
            }
            Expression::Foreign { foreign, arguments } => {
                format!("foreign {foreign} {}", self.atoms(arguments))
            }
            Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                format!("new {} {constructor} {}", sum.0, self.atoms(payload))
            }
            Expression::MaySplit => "may_split".to_string(),
            Expression::NodeTag { sum, link } => format!("tag {} {}", sum.0, atom(link)),
            Expression::NodePayload {
                sum,
                constructor,
                link,
            } => {
                format!("payload {} {constructor} {}", sum.0, atom(link))
            }
            Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. }
            | Expression::NodesReached { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodeStore { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. } => self.on_tables(expression),
            Expression::Trace {
                text,
                ty,
                components,
            } => {
                let (text, ty) = (write_text(text), print_type(ty));
                format!("trace {text} {ty} {}", self.atoms(components))
            }
            // These are written by the callers.
            Expression::Index { .. }
            | Expression::SortKeys { .. }
            | Expression::View { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_)
            | Expression::Sort { .. }
            | Expression::Operation(_)
            | array_expressions!()
            | control_expressions!() => String::new(),
        }
    }

    /// Returns the text of expressions that number, reserve and fill nodes.
    fn on_tables(&self, expression: &Expression) -> String {
        let atom = |a: &Atom| print_atom(self.program, *a);
        match expression {
            Expression::NodesReached { members, link } => {
                format!("reached {} {}", print_members(members), atom(link))
            }
            Expression::TableOpen {
                exact,
                members,
                link,
            } => {
                let word = if *exact { "open" } else { "loose_open" };
                format!("{word} {} {}", print_members(members), atom(link))
            }
            Expression::TableClose {
                checked,
                members,
                root,
                tables,
            } => {
                let word = if *checked { "checked_close" } else { "close" };
                let (root, tables) = (atom(root), self.atoms(tables));
                format!("{word} {} {root} {tables}", print_members(members))
            }
            Expression::TableShrink { members, tables } => {
                format!("shrink {} {}", print_members(members), self.atoms(tables))
            }
            Expression::NodesReserve { sum, count } => {
                format!("reserve {} {}", sum.0, atom(count))
            }
            Expression::NodeStore {
                sum,
                constructor,
                link,
                payload,
            } => {
                let (link, payload) = (atom(link), self.atoms(payload));
                format!("store {} {constructor} {link} {payload}", sum.0)
            }
            Expression::NodesSeal { sum, link } => format!("seal {} {}", sum.0, atom(link)),
            Expression::NodesAcyclic {
                members,
                first,
                counts,
            } => {
                let (first, counts) = (self.atoms(first), self.atoms(counts));
                format!("acyclic {} {first} {counts}", print_members(members))
            }
            // These are written by the caller.
            _ => String::new(),
        }
    }

    fn view(&self, array: Variable, view: &View) -> String {
        let array = print_variable(self.program, array);
        match view {
            View::Slice(dimensions) => {
                let mut out = format!("slice {array}");
                for d in dimensions {
                    let _ = write!(out, " {}", self.atoms(&[d.start, d.step, d.count]));
                }
                out
            }
            View::Transpose(permutation) => {
                format!(
                    "transpose {array} {}",
                    bracketed(permutation, u32::to_string)
                )
            }
            View::Reshape(shape) => format!("reshape {array} {}", self.atoms(shape)),
            View::Row(indices) => format!("row {array} {}", self.atoms(indices)),
        }
    }
}
