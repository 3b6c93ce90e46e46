//! Walks over recursive data: functions that make a number of all nodes and all data.

use super::declared::sum_constructors;
use super::types::{Constructor, Declared, Group, Part, Ty};
use std::rc::Rc;

/// What makes names.
type Names<'a> = &'a mut dyn FnMut() -> String;

/// Writes the definitions of the walks of a group: a function for each sum, which takes a function
/// for each parameter and the datum.
pub fn definitions(names: Names, group: &Rc<Group>) -> String {
    let parameters: Vec<String> = (0..group.parameters).map(|k| format!("p{k}")).collect();
    let mut text = String::new();
    for sum in &group.sums {
        let walk = Walk {
            group,
            parameters: &parameters,
        };
        let arms: String = sum
            .constructors
            .iter()
            .enumerate()
            .map(|(k, (name, payload))| match payload {
                None => format!(" ({name} {})", 3 * k + 1),
                Some(part) => {
                    let bound = names();
                    let value = walk.part(names, part, &bound);
                    format!("\n      ({name} {bound} (+ {k} (* 31 {value})))")
                }
            })
            .collect();
        let arguments = [&parameters[..], &["t".to_string()]].concat().join(" ");
        text += &format!(
            "  ({} (lambda ({arguments}) (case t{arms})))\n",
            name(&sum.name)
        );
    }
    text
}

fn name(sum: &str) -> String {
    format!("walk_{sum}")
}

/// Writes the walk over a value of a type.
pub fn walk(names: Names, ty: &Ty, value: &str) -> String {
    match ty {
        Ty::Scalar("int") => value.to_string(),
        Ty::Scalar("bool") => format!("(if {value} 1 0)"),
        Ty::Scalar("float") => format!("(if (< {value} 0.5) 1 (if (>= {value} 0.5) 2 3))"),
        Ty::Scalar("double") => format!("(if (< {value} 0.5L) 1 (if (>= {value} 0.5L) 2 3))"),
        Ty::Scalar(_) => format!("(wrap_int {value})"),
        Ty::Unit | Ty::Function(..) => "1".into(),
        Ty::Tuple(parts) => {
            let bound: Vec<String> = parts.iter().map(|_| names()).collect();
            let parts = parts.iter().zip(&bound);
            let parts: Vec<String> = parts.map(|(ty, name)| walk(names, ty, name)).collect();
            let sum = mixed(&parts);
            format!("(let (({}) {value}) in {sum})", bound.join(", "))
        }
        Ty::Vector(element) => {
            let one = names();
            let inner = walk(names, element, &one);
            over_vector(names, &one, &inner, value)
        }
        Ty::Matrix(element) => {
            let flat = format!("(flatten {value})");
            walk(names, &Ty::Vector(element.clone()), &flat)
        }
        Ty::Shape => format!(
            "(case {value} (Circle 1) (Square (p, q) (- p q)) (Text v (length v)) (Empty 5))"
        ),
        Ty::Maybe(element) => {
            let one = names();
            let inner = walk(names, element, &one);
            format!("(case {value} (None 7) (Some {one} (+ 1 {inner})))")
        }
        Ty::List(element) => {
            let one = names();
            let inner = walk(names, element, &one);
            over_list(names, &one, &inner, value)
        }
        Ty::Tree(element) => {
            let one = names();
            let inner = walk(names, element, &one);
            over_tree(&one, &inner, value)
        }
        Ty::Declared(declared) => of_declared(names, declared, value),
    }
}

fn over_vector(names: Names, one: &str, inner: &str, value: &str) -> String {
    let sum = names();
    format!("(foldl (lambda ({sum} {one}) (+ (* 31 {sum}) {inner})) 7 {value})")
}

fn over_list(names: Names, one: &str, inner: &str, value: &str) -> String {
    let sum = names();
    format!("(list_fold (lambda ({sum} {one}) (+ (* 31 {sum}) {inner})) 5 {value})")
}

fn over_tree(one: &str, inner: &str, value: &str) -> String {
    format!("(tree_fold (lambda ({one}) {inner}) (lambda (p q) (+ (* 31 p) q)) {value})")
}

fn of_declared(names: Names, declared: &Declared, value: &str) -> String {
    let sum = &declared.group.sums[declared.at];
    if !declared.group.is_recursive() {
        let parts: Vec<Part> = declared.arguments.iter().cloned().map(Part::Data).collect();
        let walk = Walk {
            group: &declared.group,
            parameters: &[],
        };
        return walk.case(
            names,
            &sum_constructors(&declared.group, declared.at, &parts),
            value,
        );
    }
    let arguments: String = declared
        .arguments
        .iter()
        .map(|ty| {
            let one = names();
            let inner = walk(names, ty, &one);
            format!(" (lambda (({one} : {ty})) {inner})")
        })
        .collect();
    format!("({}{arguments} {value})", name(&sum.name))
}

/// The walk over the payloads of a group.
struct Walk<'a> {
    group: &'a Rc<Group>,
    /// The functions for the parameters.
    parameters: &'a [String],
}

impl Walk<'_> {
    fn part(&self, names: Names, part: &Part, value: &str) -> String {
        match part {
            Part::Data(ty) => walk(names, ty, value),
            Part::Parameter(k) => format!("({} {value})", self.parameters[*k]),
            Part::Link(k) => {
                let walk = name(&self.group.sums[*k].name);
                let arguments = self.parameters.iter().map(|p| format!(" {p}"));
                format!("({walk}{} {value})", arguments.collect::<String>())
            }
            Part::Tuple(parts) => {
                let bound: Vec<String> = parts.iter().map(|_| names()).collect();
                let parts = parts.iter().zip(&bound);
                let parts: Vec<String> = parts
                    .map(|(part, name)| self.part(names, part, name))
                    .collect();
                let sum = mixed(&parts);
                format!("(let (({}) {value}) in {sum})", bound.join(", "))
            }
            Part::Vector(element) => {
                let one = names();
                let inner = self.part(names, element, &one);
                over_vector(names, &one, &inner, value)
            }
            Part::Matrix(element) => {
                let one = names();
                let inner = self.part(names, element, &one);
                over_vector(names, &one, &inner, &format!("(flatten {value})"))
            }
            Part::Sum(group, at, arguments) => self.sum(names, (group, *at), arguments, value),
        }
    }

    /// Writes the walk over a sum between nodes.
    fn sum(
        &self,
        names: Names,
        (group, at): (&Rc<Group>, usize),
        arguments: &[Part],
        value: &str,
    ) -> String {
        if !group.is_recursive() {
            return self.case(names, &sum_constructors(group, at, arguments), value);
        }
        let functions: Vec<(String, String)> = arguments
            .iter()
            .map(|part| {
                let one = names();
                let inner = self.part(names, part, &one);
                (one, inner)
            })
            .collect();
        match (group.sums[at].name.as_str(), &functions[..]) {
            ("List", [(one, inner)]) => over_list(names, one, inner, value),
            ("Tree", [(one, inner)]) => over_tree(one, inner, value),
            (sum, functions) => {
                let functions: String = functions
                    .iter()
                    .map(|(one, inner)| format!(" (lambda ({one}) {inner})"))
                    .collect();
                format!("({}{functions} {value})", name(sum))
            }
        }
    }

    fn case(&self, names: Names, constructors: &[Constructor], value: &str) -> String {
        let arms: String = constructors
            .iter()
            .enumerate()
            .map(|(k, (name, payload))| match payload {
                None => format!(" ({name} {})", 2 * k + 1),
                Some(part) => {
                    let bound = names();
                    let inner = self.part(names, part, &bound);
                    format!(" ({name} {bound} (+ {k} {inner}))")
                }
            })
            .collect();
        format!("(case {value}{arms})")
    }
}

/// Writes a number that depends on the order of its parts.
fn mixed(parts: &[String]) -> String {
    let parts = parts.iter().cloned();
    parts
        .reduce(|a, b| format!("(+ (* 31 {a}) {b})"))
        .unwrap_or_else(|| "1".into())
}
