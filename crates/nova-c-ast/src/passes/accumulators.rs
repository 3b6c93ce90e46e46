//! Declares accumulators of wrapping arithmetic in the unsigned type of their width.
//!
//! `v = (uint32_t)v + x` in a loop is defined for an `int32_t v`. But where gcc (seen with 12.2) adds
//! in lanes of vectors, it adds the value from before the loop to the sum of the lanes in `int32_t`. It
//! concludes after the loop that nothing wraps: `4 >= v` is true of every `v` that began as `INT32_MIN
//! + 3`. An accumulator of the unsigned type leaves no other type to add in.
//!
//! The elements of a local array are accumulators as well, as those of `a[l] = (uint32_t)a[l] * x` in a
//! loop over lanes: gcc combines such lanes in `int32_t` where it runs several iterations at a time.
//! The array then has elements of the unsigned type.

use crate::ast::{Binary, Block, Expression, Function, Name, Program, Statement, Type, Unary};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// The signed types of variables, each with the unsigned type of its width.
const UNSIGNED: [(&str, &str); 4] = [
    ("int8_t", "uint8_t"),
    ("int16_t", "uint16_t"),
    ("int32_t", "uint32_t"),
    ("int64_t", "uint64_t"),
];

/// Declares the accumulators of all functions in unsigned types.
pub fn run(program: &mut Program) {
    program.functions_mut().for_each(declare_unsigned);
}

/// Declares the accumulators of a function in unsigned types.
fn declare_unsigned(function: &mut Function) {
    // The parameters of other functions keep their types: hosts call some, and launches pass the
    // arguments of kernels as bytes.
    let mut words = function.prefix.iter().flat_map(|p| p.split(' '));
    let is_own = words.any(|word| word == "static") && !words.any(|word| word == "__global__");
    let Some(body) = &mut function.body else {
        return;
    };
    let mut search = Search::default();
    // Calls convert the arguments of the program's own functions.
    for parameter in function.parameters.iter().filter(|_| is_own) {
        if let Some(types) = unsigned(&parameter.ty) {
            let declared = Declared {
                loops: 0,
                types,
                is_array: false,
            };
            search.declared.insert(parameter.name.clone(), declared);
        }
    }
    search.block(body, 0);
    let Search {
        declared,
        assigned,
        combined,
    } = search;
    let accumulators: HashMap<Name, Declared> = declared
        .into_iter()
        .filter(|(name, _)| assigned.contains(name) && combined.contains(name))
        .collect();
    for parameter in &mut function.parameters {
        if let Some(declared) = accumulators.get(&parameter.name) {
            parameter.ty = Type::name(declared.types.1);
        }
    }
    if !accumulators.is_empty() {
        change(body, &accumulators);
    }
}

/// A signed type and the unsigned one.
type Unsigned = (&'static str, &'static str);

fn unsigned(ty: &Type) -> Option<Unsigned> {
    let Type::Name(name) = ty else {
        return None;
    };
    UNSIGNED.into_iter().find(|(signed, _)| **signed == **name)
}

/// A declaration that may become unsigned.
#[derive(Clone, Copy)]
struct Declared {
    /// The number of loops that enclose it.
    loops: usize,
    /// The type of the variable, or of the elements of the array.
    types: Unsigned,
    /// True for a local array.
    is_array: bool,
}

impl Declared {
    fn of(ty: &Type, loops: usize) -> Option<Declared> {
        let (element, is_array) = match ty {
            Type::Array(element, _) => (&**element, true),
            ty => (ty, false),
        };
        let types = unsigned(element)?;
        Some(Declared {
            loops,
            types,
            is_array,
        })
    }
}

/// Returns the name of a variable, or of the array of an element, and whether it is an array's.
fn place(expression: &Expression) -> Option<(&Name, bool)> {
    match expression {
        Expression::Name(name) => Some((name, false)),
        Expression::Index(array, _) => match &**array {
            Expression::Name(name) => Some((name, true)),
            _others => None,
        },
        _others => None,
    }
}

#[derive(Default)]
struct Search {
    /// The variables, arrays and parameters of signed types.
    declared: HashMap<Name, Declared>,
    /// The names with an assignment, to the variable or to an element, in a loop that does not enclose
    /// the declaration.
    assigned: HashSet<Name>,
    /// The names with an addition, multiplication or shift in such a loop.
    combined: HashSet<Name>,
}

impl Search {
    fn block(&mut self, block: &Block, loops: usize) {
        for statement in &block.0 {
            if let Statement::Declare { ty, name, .. } = statement
                && let Some(declared) = Declared::of(ty, loops)
            {
                self.declared.insert(name.clone(), declared);
            }
            let is_loop = matches!(
                statement,
                Statement::For { .. } | Statement::Lanes { .. } | Statement::While { .. }
            );
            let inside = loops + usize::from(is_loop);
            if let Statement::Assign { target, .. } = statement
                && let Some(name) = self.declared_place(target)
                && self.is_from_before(name, loops)
            {
                self.assigned.insert(name.clone());
            }
            for expression in statement.expressions() {
                self.expression(expression, inside);
            }
            for inner in statement.blocks() {
                deep(|| self.block(inner, inside));
            }
        }
    }

    fn is_from_before(&self, name: &Name, loops: usize) -> bool {
        self.declared
            .get(name)
            .is_some_and(|declared| declared.loops < loops)
    }

    /// Returns the name of a declared variable, or of the declared array of an element.
    fn declared_place<'e>(&self, expression: &'e Expression) -> Option<&'e Name> {
        let (name, is_element) = place(expression)?;
        let declared = self.declared.get(name)?;
        (declared.is_array == is_element).then_some(name)
    }

    fn expression(&mut self, expression: &Expression, loops: usize) {
        // A shift to the left is a product.
        let sides = match expression {
            Expression::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, a, b) => {
                vec![(a, b), (b, a)]
            }
            Expression::Binary(Binary::ShiftLeft, a, b) => vec![(a, b)],
            _others => Vec::new(),
        };
        for (side, other) in sides {
            let name = self.wrapping(side, other);
            self.combined
                .extend(name.filter(|n| self.is_from_before(n, loops)));
        }
        for operand in expression.operands() {
            deep(|| self.expression(operand, loops));
        }
    }

    /// Returns the variable that is an operand of wrapping arithmetic. It is cast to its unsigned type,
    /// stands beside an unsigned operand, or is so narrow that C computes on it in `int`.
    fn wrapping(&self, side: &Expression, other: &Expression) -> Option<Name> {
        let (read, cast) = match side {
            Expression::Cast(ty, of) => (&**of, Some(ty)),
            side => (side, None),
        };
        let name = self.declared_place(read)?;
        let (signed, unsigned) = self.declared.get(name)?.types;
        let wraps = match cast {
            Some(ty) => *ty == Type::name(unsigned),
            None => matches!(signed, "int8_t" | "int16_t") || is_unsigned(other),
        };
        wraps.then(|| name.clone())
    }
}

/// True if arithmetic with an expression is unsigned, whatever the other operand is.
fn is_unsigned(expression: &Expression) -> bool {
    match expression {
        Expression::Cast(ty, _) => ["uint32_t", "uint64_t"].map(Type::name).contains(ty),
        // A shift has the type of its left side.
        Expression::Binary(Binary::ShiftLeft | Binary::ShiftRight, a, _)
        | Expression::Unary(Unary::Minus | Unary::Complement, a) => deep(|| is_unsigned(a)),
        Expression::Binary(
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor,
            a,
            b,
        ) => [a, b].into_iter().any(|side| deep(|| is_unsigned(side))),
        _others => false,
    }
}

/// Changes the declarations of the accumulators, and the expressions that read them.
fn change(block: &mut Block, accumulators: &HashMap<Name, Declared>) {
    for statement in &mut block.0 {
        if let Statement::Declare { ty, name, .. } = statement
            && let Some(declared) = accumulators.get(name)
        {
            let unsigned = Type::name(declared.types.1);
            *ty = match &*ty {
                Type::Array(_, count) => Type::Array(unsigned.into(), *count),
                _scalar => unsigned,
            };
        }
        if let Statement::Assign { target, value } = statement {
            change_reads(value, accumulators);
            match (place(target).is_some(), &mut *target) {
                // The target keeps the type that it is declared with.
                (true, Expression::Index(_, index)) => change_reads(index, accumulators),
                (true, _variable) => {}
                (false, target) => change_reads(target, accumulators),
            }
        } else {
            for expression in statement.expressions_mut() {
                change_reads(expression, accumulators);
            }
        }
        for inner in statement.blocks_mut() {
            deep(|| change(inner, accumulators));
        }
    }
}

/// Changes the reads of accumulators in an expression.
fn change_reads(expression: &mut Expression, accumulators: &HashMap<Name, Declared>) {
    let types_of = |expression: &Expression| {
        let (name, is_element) = place(expression)?;
        let declared = accumulators.get(name)?;
        (declared.is_array == is_element).then_some(declared.types)
    };
    if let Expression::Cast(ty, of) = expression
        && let Some((_, unsigned)) = types_of(of)
        && *ty == Type::name(unsigned)
    {
        let mut read = (**of).clone();
        change_index(&mut read, accumulators);
        *expression = read;
    } else if let Expression::Unary(Unary::AddressOf, of) = expression
        && let Some((signed, _)) = types_of(of)
    {
        // C allows access to an integer through a pointer to the other type of its width.
        change_index(of, accumulators);
        *expression = expression.clone().cast(Type::name(signed).pointer());
    } else if let Some((signed, _)) = types_of(expression) {
        let mut read = expression.clone();
        change_index(&mut read, accumulators);
        *expression = read.cast(Type::name(signed));
    } else if let Expression::Name(name) = expression
        && let Some(declared) = accumulators.get(name)
    {
        // An array where a pointer to its elements is meant.
        let pointer = Type::name(declared.types.0).pointer();
        *expression = expression.clone().cast(pointer);
    } else {
        for operand in expression.operands_mut() {
            deep(|| change_reads(operand, accumulators));
        }
    }
}

/// Changes the reads in the index of an element.
fn change_index(place: &mut Expression, accumulators: &HashMap<Name, Declared>) {
    if let Expression::Index(_, index) = place {
        deep(|| change_reads(index, accumulators));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Item;
    use crate::ast::Parameter;

    /// A function whose only statement is a loop, after declarations.
    fn with_loop(
        declarations: Vec<Statement>,
        body: Vec<Statement>,
        rest: Vec<Statement>,
    ) -> String {
        let mut statements = declarations;
        statements.push(Statement::For {
            ty: Type::name("int64_t"),
            variable: "i".into(),
            count: Expression::literal("8"),
            body: body.into(),
        });
        statements.extend(rest);
        let mut function = Function {
            prefix: vec!["static".into()],
            result: Type::name("int32_t"),
            name: "f".into(),
            parameters: Vec::new(),
            body: Some(Block(statements)),
        };
        declare_unsigned(&mut function);
        crate::print::print(&[Item::Function(function)])
    }

    #[test]
    fn elements_of_local_arrays_that_a_loop_multiplies_are_unsigned() {
        let name = |n: &str| Expression::name(n);
        let element = |n: &str| name(n).index(name("i"));
        let product = |n: &str| {
            let read = element(n).cast(Type::name("uint32_t"));
            Expression::binary(Binary::Multiply, read, name("x"))
        };
        let array = |n: &str| Statement::Declare {
            ty: Type::Array(Type::name("int32_t").into(), 4),
            name: n.into(),
            value: None,
        };
        let printed = with_loop(
            vec![array("lanes"), array("indices"), array("copied")],
            vec![
                Statement::assign(element("lanes"), product("lanes")),
                Statement::assign(element("copied"), element("indices")),
                Statement::assign(name("last"), name("lanes").index(element("indices"))),
            ],
            vec![Statement::call(
                "show",
                vec![name("lanes"), element("lanes").address()],
            )],
        );
        let lines = [
            "    uint32_t lanes[4];",
            "    int32_t indices[4];",
            "    int32_t copied[4];",
            "        lanes[i] *= x;",
            "        copied[i] = indices[i];",
            "        last = (int32_t)lanes[indices[i]];",
            "    show((int32_t *)lanes, (int32_t *)&lanes[i]);",
        ];
        for line in lines {
            assert!(printed.contains(line), "{line}\n{printed}");
        }
    }

    #[test]
    fn what_a_loop_adds_to_is_unsigned() {
        let name = |n: &str| Expression::name(n);
        let wide = |n: &str| name(n).cast(Type::name("uint32_t"));
        let add = |a, b| Expression::binary(Binary::Add, a, b);
        let declare = |n: &str, value| Statement::declare(Type::name("int32_t"), n, value);
        let three = Expression::literal("3");
        let shifted = Expression::binary(Binary::ShiftLeft, wide("other"), three);
        let body = vec![
            declare("t", add(wide("sum"), wide("other"))),
            Statement::assign(name("sum"), add(wide("sum"), name("t"))),
            Statement::assign(name("more"), add(name("more"), wide("other"))),
            Statement::assign(name("count"), add(name("count"), Expression::literal("1"))),
            Statement::assign(name("last"), name("sum")),
            Statement::assign(name("left"), add(wide("left"), wide("given"))),
            Statement::assign(name("far"), add(name("far"), shifted)),
        ];
        let parameter = |n: &str| Parameter {
            ty: Type::name("int32_t"),
            name: n.into(),
        };
        let mut function = Function {
            prefix: vec!["static".into()],
            result: Type::name("int32_t"),
            name: "f".into(),
            parameters: ["given", "left"].map(parameter).into(),
            body: Some(Block(vec![
                declare("other", Expression::literal("1")),
                declare("last", Expression::literal("2")),
                declare("sum", Expression::name("INT32_MIN")),
                declare("more", Expression::literal("3")),
                declare("far", Expression::literal("4")),
                declare("count", Expression::literal("0")),
                Statement::For {
                    ty: Type::name("int64_t"),
                    variable: "i".into(),
                    count: Expression::literal("8"),
                    body: body.into(),
                },
                Statement::call("show", vec![name("sum").address()]),
                Statement::Return(Some(add(wide("sum"), name("last")))),
            ])),
        };
        declare_unsigned(&mut function);
        let printed = crate::print::print(&[Item::Function(function)]);
        let lines = [
            "static int32_t f(int32_t given, uint32_t left)",
            "        left += (uint32_t)given;",
            "    int32_t other = 1;",
            "    int32_t last = 2;",
            "    uint32_t sum = INT32_MIN;",
            "    uint32_t more = 3;",
            "    uint32_t far = 4;",
            "    int32_t count = 0;",
            "        int32_t t = sum + (uint32_t)other;",
            "        sum += t;",
            "        more = (int32_t)more + (uint32_t)other;",
            "        last = (int32_t)sum;",
            "    show((int32_t *)&sum);",
            "    return sum + last;",
        ];
        for line in lines {
            assert!(printed.contains(line), "{line}\n{printed}");
        }
    }
}
