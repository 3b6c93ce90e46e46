//! The text of commands, which follows from their table.

use super::Printer;
use crate::ir::{Command, Operand, operands};

impl Printer<'_> {
    pub(super) fn command(&mut self, command: &Command) {
        self.out.text("(");
        self.out.indent += 1;
        let word = operands(command, &mut |_| {});
        self.out.text(word);
        operands(command, &mut |operand| self.operand(operand));
        self.out.indent -= 1;
        self.out.text(")");
    }

    fn operand(&mut self, operand: Operand) {
        match operand {
            Operand::Declared(variable) => {
                let binding = self.binding(*variable);
                self.out.text(&format!(" {binding}"));
            }
            Operand::Counter(variable) | Operand::Variable(variable, _) => self.variable(*variable),
            Operand::Variables(variables, _) => self.variables(variables),
            Operand::Expression(expression, _) | Operand::Address(expression, ..) => {
                self.argument(expression);
            }
            Operand::Optional(expression) => expression.iter().for_each(|e| self.argument(e)),
            Operand::Expressions(expressions) => self.arguments(expressions),
            Operand::Attribute(attribute) => {
                let text = attribute.text(self.program);
                self.out.text(&format!(" {text}"));
            }
            Operand::Place(place) => self.place(place),
            Operand::List(commands) => self.list(commands),
            Operand::Else([]) => {}
            Operand::Else(commands) => self.list(commands),
            Operand::Lists(lists) => lists.iter().for_each(|list| self.list(list)),
            Operand::Body(commands) => self.lines(commands),
        }
    }
}
