//! Rewrites maps over positions as maps over rows and columns.

use super::code::{Code, like, scalar_of, sum};
use super::find::{self, is_map};
use super::form::{Form, Sum};
use super::state::{Access, Nest};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::bodies_mut;

impl Nest<'_> {
    /// Rewrites the statements of a body, and all below.
    pub(super) fn body(&mut self, body: &mut Body) {
        for statement in std::mem::take(&mut body.statements) {
            self.statement(statement, &mut body.statements);
        }
    }

    fn statement(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let place = statement.place.clone();
        match &mut statement.expression {
            Expression::Scalar { .. } => {
                if let [variable] = statement.pattern[..] {
                    let rewritten = self.scalar(variable, &statement.expression, &place, out);
                    if let Some(rewritten) = rewritten {
                        statement.expression = rewritten;
                    }
                    self.definitions.note_statement(&statement);
                }
            }
            Expression::Index { array, indices } => {
                let is_vector = self.program.ty(*array).shape() == [self.matrix.count];
                if let ([variable], [index], true) =
                    (&statement.pattern[..], &indices[..], is_vector)
                {
                    self.access(*variable, *index, &place, out);
                }
            }
            Expression::If {
                then, otherwise, ..
            } => {
                deep(|| self.body(then));
                deep(|| self.body(otherwise));
                self.choice(&mut statement);
            }
            Expression::Operation(operation) if self.is_split(operation) => {
                return self.split(statement, out);
            }
            other => bodies_mut(other, &mut |body| deep(|| self.body(body))),
        }
        out.push(statement);
    }

    /// True if a map is over the positions of the matrix, and computes rows or columns of them.
    fn is_split(&self, operation: &ArrayOperation) -> bool {
        let matrix = self.matrix;
        match matrix.inner {
            Some(inner) => {
                operation.shape == [matrix.count, inner]
                    && self.found.nests.contains(&operation.indices)
            }
            None => {
                let mut extents = Vec::new();
                if is_map(operation) {
                    find::of_map(operation, self.definitions, &mut extents);
                }
                extents.contains(&matrix.extents)
            }
        }
    }

    /// Replaces one dimension of a map by two.
    fn split(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let place = statement.place.clone();
        let matrix = self.matrix;
        let Expression::Operation(operation) = &mut statement.expression else {
            return out.push(statement);
        };
        let Some(position) = operation.indices.first().copied() else {
            return out.push(statement);
        };
        let index = |program: &mut Program, name: &str| {
            program.add_variable(name, Type::Scalar(Scalar::I64))
        };
        let (row, column) = (index(self.program, "i"), index(self.program, "j"));
        operation.shape.splice(0..1, [matrix.rows, matrix.width]);
        operation.indices.splice(0..1, [row, column]);
        self.found.nests.insert(operation.indices.clone());
        let shape = operation.shape.clone();
        let before: Vec<Atom> = std::iter::once(matrix.count).chain(matrix.inner).collect();
        self.columns.insert(row, column);
        let form = Form {
            row: Sum::variable(row),
            column: Sum::variable(column),
            narrow: false,
        };
        self.forms.insert(position, form);
        let mut body = std::mem::take(&mut operation.body);
        let mut code = Code::new(self.program, self.definitions, &place);
        let first = code.scalar(
            ScalarOperation::Multiply,
            [Atom::Variable(row), matrix.width],
        );
        code.push(
            vec![position],
            scalar_of(
                ScalarOperation::Add,
                Scalar::I64,
                &[first, Atom::Variable(column)],
            ),
        );
        body.statements.splice(0..0, std::mem::take(&mut code.out));
        if matrix.inner.is_none() {
            self.factor(&mut body);
        }
        deep(|| self.body(&mut body));
        operation.body = body;
        let vectors = statement.pattern.clone();
        let matrices: Vec<Variable> = (vectors.iter())
            .map(|v| like(self.program, *v, shape.clone()))
            .collect();
        statement.pattern = matrices.clone();
        out.push(statement);
        for (vector, made) in vectors.into_iter().zip(matrices) {
            if matrix.inner.is_none() {
                self.found.matrices.insert(vector, made);
            }
            let view = View::Reshape(before.clone());
            let expression = Expression::View { array: made, view };
            out.push(Statement::binding(vector, expression, place.clone()));
        }
    }

    /// Returns what a scalar operation becomes, if it becomes another one.
    fn scalar(
        &mut self,
        variable: Variable,
        expression: &Expression,
        place: &nova_diag::Place,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = expression
        else {
            return None;
        };
        if let Some(result) = self.found.tests.get(&variable).copied() {
            self.tests_of_blocks(variable, result, arguments, place, out);
            return None;
        }
        match (operation, &arguments[..]) {
            (ScalarOperation::Divide | ScalarOperation::Remainder, [number, width])
                if *width == self.matrix.extents.width
                    && *operand == self.matrix.extents.scalar =>
            {
                self.quotient(*operation, *number, *operand, place, out)
            }
            (ScalarOperation::Less, [index, count]) if *operand == Scalar::U64 => {
                let index = self.wrapped(*index)?;
                if self.wrapped(*count)? == self.matrix.count {
                    self.access(variable, index, place, out);
                }
                None
            }
            (_, [one, other]) if super::definitions::is_index(*operand) => {
                self.comparison(*operation, *one, *other, place, out)
            }
            _ => None,
        }
    }

    /// Returns the `i64` that a `u64` was wrapped from.
    fn wrapped(&self, atom: Atom) -> Option<Atom> {
        let definition = self.definitions.of(atom)?;
        match (definition.operation, &definition.arguments[..]) {
            (
                ScalarOperation::Wrap(Scalar::U64) | ScalarOperation::Convert(Scalar::U64),
                [from],
            ) if definition.operand == Scalar::I64 => Some(*from),
            _ => None,
        }
    }

    /// Notes an access at an index, and writes the comparisons that say whether it is in range.
    fn access(
        &mut self,
        result: Variable,
        index: Atom,
        place: &nova_diag::Place,
        out: &mut Vec<Statement>,
    ) {
        let Some(form) = self.form(index).filter(|f| !f.is_in_first_row()) else {
            return;
        };
        let narrow = (self.definitions.of(index)).is_some_and(|d| {
            d.operation == ScalarOperation::Convert(Scalar::I64) && d.operand == Scalar::I32
        });
        if form.narrow && !narrow {
            return;
        }
        let matrix = self.matrix;
        let mut code = Code::new(self.program, self.definitions, place);
        let row = sum(&mut code, &form.row);
        let column = sum(&mut code, &form.column);
        let zero = Atom::index(0);
        let tests = [
            code.test(ScalarOperation::LessEqual, [zero, row]),
            code.test(ScalarOperation::Less, [row, matrix.rows]),
            code.test(ScalarOperation::LessEqual, [zero, column]),
            code.test(ScalarOperation::Less, [column, matrix.width]),
        ];
        out.append(&mut code.out);
        for test in tests {
            self.found.tests.insert(test, result);
        }
        let access = Access {
            tests: tests.to_vec(),
            row,
            column,
            narrow,
            shape: [matrix.rows, matrix.width],
        };
        self.found.accesses.insert(result, access);
    }

    /// Replaces a test whether a row is in range by tests of both parts of it.
    fn tests_of_blocks(
        &mut self,
        test: Variable,
        result: Variable,
        arguments: &[Atom],
        place: &nova_diag::Place,
        out: &mut Vec<Statement>,
    ) {
        let [one, other] = arguments[..] else {
            return;
        };
        let matrix = self.matrix;
        let is_lower = one == Atom::index(0);
        let row = if is_lower { other } else { one };
        if !is_lower && other != matrix.count {
            return;
        }
        let form = self.form(row).filter(|f| !f.is_in_first_row());
        let (Some(form), Some(access)) = (form, self.found.accesses.get_mut(&result)) else {
            return;
        };
        let is_same = access.shape[0] == matrix.count && Some(access.shape[1]) == matrix.inner;
        if !is_same || (form.narrow && !access.narrow) {
            return;
        }
        let mut code = Code::new(self.program, self.definitions, place);
        access.tests.retain(|one| *one != test);
        let mut parts = Vec::new();
        for (part, extent) in [(&form.row, matrix.rows), (&form.column, matrix.width)] {
            let part = sum(&mut code, part);
            parts.push(part);
            access.tests.push(match is_lower {
                true => code.test(ScalarOperation::LessEqual, [Atom::index(0), part]),
                false => code.test(ScalarOperation::Less, [part, extent]),
            });
        }
        if let [block, row] = parts[..] {
            // The row may have wrapped, but not if both parts are in range.
            let first = code.scalar(ScalarOperation::Multiply, [block, matrix.width]);
            access.row = code.scalar(ScalarOperation::Add, [first, row]);
        }
        out.append(&mut code.out);
    }

    /// Divides by the number of columns first where the divisor is a product of it. The products do not wrap, since
    /// there are elements.
    fn factor(&mut self, body: &mut Body) {
        for statement in std::mem::take(&mut body.statements) {
            let mut statement = statement;
            bodies_mut(&mut statement.expression, &mut |inner| {
                deep(|| self.factor(inner))
            });
            let factored = (self.factored(&statement, &mut body.statements))
                .or_else(|| self.reassociated(&statement, &mut body.statements));
            if let Some(factored) = factored {
                statement.expression = factored;
                self.definitions.note_statement(&statement);
            }
            body.statements.push(statement);
        }
    }

    /// Returns a quotient or remainder in two steps.
    fn factored(&mut self, statement: &Statement, out: &mut Vec<Statement>) -> Option<Expression> {
        let (number, product, scalar) = find::division(&statement.expression)?;
        let is_quotient = matches!(
            statement.expression,
            Expression::Scalar {
                operation: ScalarOperation::Divide,
                ..
            }
        );
        let width = self.matrix.extents.width;
        let rows = match find::factors(self.definitions, product)? {
            [one, other] if other == width => one,
            [one, other] if one == width => other,
            _ => return None,
        };
        if !self.blocks.contains(&rows) || scalar != self.matrix.extents.scalar {
            return None;
        }
        let mut code = Code::new(self.program, self.definitions, &statement.place);
        let both = |operation, one, other| scalar_of(operation, scalar, &[one, other]);
        let row = code.bind("row", scalar, both(ScalarOperation::Divide, number, width));
        let row = Atom::Variable(row);
        let result = match is_quotient {
            true => both(ScalarOperation::Divide, row, rows),
            false => {
                let rest = code.bind("row", scalar, both(ScalarOperation::Remainder, row, rows));
                let first = both(ScalarOperation::Multiply, Atom::Variable(rest), width);
                let first = code.bind("row", scalar, first);
                let column = both(ScalarOperation::Remainder, number, width);
                let column = code.bind("row", scalar, column);
                both(
                    ScalarOperation::Add,
                    Atom::Variable(first),
                    Atom::Variable(column),
                )
            }
        };
        out.append(&mut code.out);
        Some(result)
    }

    /// Multiplies by the number of columns last where a factor is a product of it.
    fn reassociated(
        &mut self,
        statement: &Statement,
        out: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let Expression::Scalar {
            operation: ScalarOperation::Multiply,
            operand,
            arguments,
        } = &statement.expression
        else {
            return None;
        };
        let [one, other] = arguments[..] else {
            return None;
        };
        let width = self.matrix.extents.width;
        let rows = |product: Atom| match find::factors(self.definitions, product)? {
            [one, other] if other == width && self.blocks.contains(&one) => Some(one),
            [one, other] if one == width && self.blocks.contains(&other) => Some(other),
            _ => None,
        };
        let (rows, factor) = match (rows(one), rows(other)) {
            (Some(rows), _) => (rows, other),
            (None, Some(rows)) => (rows, one),
            (None, None) => return None,
        };
        if *operand != self.matrix.extents.scalar {
            return None;
        }
        let mut code = Code::new(self.program, self.definitions, &statement.place);
        let both = |one, other| scalar_of(ScalarOperation::Multiply, *operand, &[one, other]);
        let row = code.bind("row", *operand, both(factor, rows));
        out.append(&mut code.out);
        Some(both(Atom::Variable(row), width))
    }

    /// Lets a conditional between positions give their rows and columns as well.
    fn choice(&mut self, statement: &mut Statement) {
        let Expression::If {
            then, otherwise, ..
        } = &mut statement.expression
        else {
            return;
        };
        let ([variable], [one], [other]) = (
            &statement.pattern[..],
            &then.results[..],
            &otherwise.results[..],
        ) else {
            return;
        };
        let (variable, one, other) = (*variable, *one, *other);
        let (Some(one), Some(other)) = (self.form(one), self.form(other)) else {
            return;
        };
        let in_first_row = one.is_in_first_row() && other.is_in_first_row();
        if in_first_row || one.narrow || other.narrow {
            return;
        }
        let place = statement.place.clone();
        let mut sums = Vec::new();
        for (a, b) in [(&one.row, &other.row), (&one.column, &other.column)] {
            if a == b {
                sums.push(a.clone());
                continue;
            }
            for (branch, value) in [(&mut *then, a), (&mut *otherwise, b)] {
                let mut code = Code::new(self.program, self.definitions, &place);
                let value = sum(&mut code, value);
                branch.statements.append(&mut code.out);
                branch.results.push(value);
            }
            let chosen = self.program.add_variable("row", Type::Scalar(Scalar::I64));
            statement.pattern.push(chosen);
            sums.push(Sum::variable(chosen));
        }
        if let [row, column] = &sums[..] {
            let form = Form {
                row: row.clone(),
                column: column.clone(),
                narrow: false,
            };
            self.forms.insert(variable, form);
        }
    }
}
