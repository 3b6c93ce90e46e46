//! The verifier of C: what passes rely on, and may break, besides what every C compiler checks.
//!
//! The name of a local variable is unique in its function, and stands only in the scope of its declaration.
//! Calls of functions of the same list have an argument for each parameter.

use crate::ast::{Block, Expression, Function, Functions, Name, Program, Statement};
use nova_diag::deep;
use std::collections::HashMap;

/// Checks the functions of host and device. The error states the first violation.
pub fn verify(program: &Program) -> Result<(), String> {
    verify_functions(&program.host)?;
    verify_functions(&program.device)
}

fn verify_functions(functions: &Functions) -> Result<(), String> {
    let parameters = |f: &Function| (f.name.clone(), f.parameters.len());
    let arity: HashMap<Name, usize> = functions.list.iter().map(parameters).collect();
    for function in &functions.list {
        let mut verifier = Verifier {
            arity: &arity,
            visible: HashMap::new(),
        };
        verifier
            .function(function)
            .map_err(|error| format!("{}: {error}", function.name))?;
    }
    Ok(())
}

/// The verifier of one function.
struct Verifier<'a> {
    /// The number of parameters of each function.
    arity: &'a HashMap<Name, usize>,
    /// The variables declared so far; `true` in their scope.
    visible: HashMap<Name, bool>,
}

impl Verifier<'_> {
    fn function(&mut self, function: &Function) -> Result<(), String> {
        for parameter in &function.parameters {
            self.declare(&parameter.name)?;
        }
        match &function.body {
            Some(body) => self.block(body, None),
            None => Ok(()),
        }
    }

    fn declare(&mut self, name: &Name) -> Result<(), String> {
        match self.visible.insert(name.clone(), true) {
            Some(_) => Err(format!("`{name}` is declared twice")),
            None => Ok(()),
        }
    }

    /// Checks a block, with the variable of its loop.
    fn block(&mut self, block: &Block, variable: Option<&Name>) -> Result<(), String> {
        let mut declared: Vec<&Name> = variable.into_iter().collect();
        if let Some(variable) = variable {
            self.declare(variable)?;
        }
        for statement in &block.0 {
            for expression in statement.expressions() {
                self.expression(expression)?;
            }
            if let Statement::Declare { name, .. } = statement {
                self.declare(name)?;
                declared.push(name);
            }
            let variable = match statement {
                Statement::For { variable, .. } | Statement::Lanes { variable, .. } => {
                    Some(variable)
                }
                _others => None,
            };
            for inner in statement.blocks() {
                deep(|| self.block(inner, variable))?;
            }
        }
        for name in declared {
            self.visible.insert(name.clone(), false);
        }
        Ok(())
    }

    fn expression(&self, expression: &Expression) -> Result<(), String> {
        if let Expression::Name(name) = expression
            && self.visible.get(name) == Some(&false)
        {
            return Err(format!("`{name}` stands outside of its scope"));
        }
        if let Expression::Call(name, arguments) = expression
            && let Some(count) = self.arity.get(name)
            && *count != arguments.len()
        {
            return Err(format!(
                "a call of `{name}` with {} arguments",
                arguments.len()
            ));
        }
        for operand in expression.operands() {
            deep(|| self.expression(operand))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Type;

    fn verified(body: Vec<Statement>) -> Result<(), String> {
        let function = Function {
            prefix: Vec::new(),
            result: Type::name("void"),
            name: "f".into(),
            parameters: Vec::new(),
            body: Some(body.into()),
        };
        let mut program = Program::default();
        program.host.list.push(function);
        verify(&program)
    }

    #[test]
    fn scopes_and_arguments_are_checked() {
        let declare = || Statement::declare(Type::name("int"), "a", Expression::literal("1"));
        let use_a = || Statement::call("g", vec![Expression::name("a")]);
        let call_f = |arguments| Statement::call("f", arguments);
        let inner = |list: Vec<Statement>| Statement::Block(list.into());
        assert_eq!(
            verified(vec![declare(), inner(vec![use_a()]), call_f(vec![])]),
            Ok(())
        );
        assert!(verified(vec![declare(), inner(vec![declare()])]).is_err());
        assert!(verified(vec![inner(vec![declare()]), use_a()]).is_err());
        assert!(verified(vec![call_f(vec![Expression::literal("1")])]).is_err());
    }
}
