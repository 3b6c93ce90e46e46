//! Nodes of recursive data that functions make and read.

use crate::context::expressions::context;
use crate::context::function::FunctionEmitter;
use nova_c_ast::ast::{Expression, Name, Statement, Type};
use nova_core::SumId;
use nova_diag::Place;
use nova_loop::ir::{self, Variable};

impl FunctionEmitter<'_, '_> {
    pub fn new_node(
        &mut self,
        sum: SumId,
        constructor: u32,
        payload: &[ir::Expression],
        link: Variable,
        place: &Place,
    ) {
        // The payload is evaluated before the table may move.
        let values: Vec<Expression> = payload.iter().map(|p| self.assigned(p)).collect();
        let value = self.appended(sum, constructor, place);
        // The payload may read the old value of the link.
        let again = payload.iter().any(|p| mentions(p, link));
        let name = match again {
            true => self.fresh("node"),
            false => self.name(link),
        };
        if again {
            let ty = Type::name("int64_t");
            self.push(Statement::declare(ty, name.clone(), value));
        } else {
            self.assign(link, value);
        }
        let new = Expression::Name(name);
        if self.is_on_device() {
            self.leave_if_failed();
            let tag = self.unit.node(sum, new.clone()).member("tag");
            let constructor = Expression::literal(constructor.to_string());
            self.push(Statement::assign(tag, constructor));
        }
        let fields = self.unit.payload_fields(sum, constructor);
        for ((field, value), source) in fields.into_iter().zip(values).zip(payload) {
            let target = fields_of(self.unit.node(sum, new.clone()), &field);
            self.push(Statement::assign(target, value.clone()));
            if let ir::Expression::Variable(variable) = source
                && self.program().variable(*variable).ty == ir::Type::Block
            {
                self.push(Statement::call("nova_retain", vec![value]));
            }
        }
        if again {
            self.assign(link, new);
        }
    }

    /// Returns the call that appends a node and gives its link. In kernels the node has no tag yet.
    fn appended(&mut self, sum: SumId, constructor: u32, place: &Place) -> Expression {
        if self.is_on_device() {
            let growth = self.unit.node_table(sum).member("growth").address();
            return Expression::call("nova_new_node_on_device", vec![context(), growth]);
        }
        let add = self.unit.add_function(sum);
        let arguments = vec![
            context(),
            Expression::literal(constructor.to_string()),
            Expression::text(place.to_string()),
        ];
        Expression::call(add, arguments)
    }

    pub fn node_payload(
        &mut self,
        sum: SumId,
        constructor: u32,
        link: &ir::Expression,
        results: &[Variable],
    ) {
        let fields = self.unit.payload_fields(sum, constructor);
        let link = match link {
            ir::Expression::Variable(variable) if !results.contains(variable) => {
                Expression::Name(self.name(*variable))
            }
            other @ (ir::Expression::Constant(_)
            | ir::Expression::Bytes(_)
            | ir::Expression::Data(..)
            | ir::Expression::Variable(_)
            | ir::Expression::Scalar { .. }
            | ir::Expression::Select { .. }
            | ir::Expression::Load { .. }
            | ir::Expression::Offset { .. }
            | ir::Expression::NullPointer(_)
            | ir::Expression::NullBlock
            | ir::Expression::NodeTag { .. }) => {
                let value = self.assigned(other);
                let name = self.fresh("link");
                let ty = Type::name("int64_t");
                self.push(Statement::declare(ty, name.clone(), value));
                Expression::Name(name)
            }
        };
        for (field, result) in fields.into_iter().zip(results) {
            let value = fields_of(self.unit.node(sum, link.clone()), &field);
            match self.is_on_device() {
                true => self.component_on_device(sum, value, *result),
                false => self.assign(*result, value),
            }
        }
    }
}

/// True if an expression mentions a variable.
fn mentions(expression: &ir::Expression, variable: Variable) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= v == variable);
    found
}

/// Returns a field within fields.
fn fields_of(node: Expression, path: &[Name]) -> Expression {
    path.iter().fold(node, |e, field| e.member(field.clone()))
}
