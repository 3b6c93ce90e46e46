//! The inner loops of several rows as one body, with what rows share computed once. Loads whose
//! address depends on the row read from the beginning of a row, which a variable holds. Rows that
//! are guessed to be the same one have one variable, and a condition that holds if they are.

use super::atom::{Polynomial, mentions};
use super::forms::Forms;
use super::{Nest, ROWS};
use crate::strip_mining::Strips;
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_loop::copies::copy_of;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::uses::drop_unused;
use nova_machine::figures;
use std::collections::{BTreeMap, BTreeSet};

/// The number of distinct elements that rows together read, as a percentage of what they read one
/// by one, at most.
const DISTINCT_PERCENT: usize = figures::ROWS.distinct_percent;

/// Rows that are computed together.
pub(super) struct Together {
    /// The declarations that the rows need from the outer loop's body.
    pub(super) outer: Vec<Command>,
    /// The index of the inner loop.
    pub(super) index: Variable,
    /// The commands of an iteration.
    pub(super) body: Vec<Command>,
    /// The values that an iteration writes, one for each row.
    pub(super) values: Vec<Expression>,
    /// The rows that are read.
    rows: Vec<Source>,
}

/// A row that is read, which several rows that are written share.
struct Source {
    guess: Polynomial,
    /// The variable that holds the start of the row.
    variable: Variable,
    /// The expressions found for the start, with their exact forms.
    values: Vec<(Option<Polynomial>, Expression)>,
}

impl Together {
    /// Returns the declarations of the starts of rows.
    pub(super) fn declarations(&self) -> impl Iterator<Item = Command> {
        self.rows.iter().filter_map(|row| {
            let (_, value) = row.values.first()?;
            Some(Command::declare(row.variable, value.clone()))
        })
    }

    /// Returns the conditions under which rows that were guessed to be the same are the same.
    pub(super) fn conditions(&self) -> Vec<Expression> {
        let mut conditions = Vec::new();
        for row in &self.rows {
            for (_, value) in row.values.iter().skip(1) {
                let known = Expression::Variable(row.variable);
                conditions.push(known.compare(ScalarOperation::Equal, value.clone()));
            }
        }
        conditions
    }
}

/// The state while the rows are copied one after the other.
struct Copies<'n, 'c, 's, 'p> {
    strips: &'s mut Strips<'p>,
    nest: &'n Nest<'c>,
    /// The number of the row relative to the first one, and the variable that holds its index.
    row: (i64, Variable),
    /// The variables of the copy, by those of the nest.
    renamed: BTreeMap<Variable, Variable>,
    /// The variables that hold computed values, by the text of these values.
    known: BTreeMap<String, Variable>,
    /// The elements that are read: pointer, row, factor and constant of the index.
    places: BTreeSet<(Variable, usize, i64, i64)>,
    together: Together,
}

/// Returns the rows of a nest from that of the index on, taken together, if they share enough.
pub(super) fn together(strips: &mut Strips, nest: &Nest) -> Option<Together> {
    let index = copy_of(strips.program, nest.inner.index);
    let mut copies = Copies {
        strips,
        nest,
        row: (0, nest.row),
        renamed: BTreeMap::new(),
        known: BTreeMap::new(),
        places: BTreeSet::new(),
        together: Together {
            outer: Vec::new(),
            index,
            body: Vec::new(),
            values: Vec::new(),
            rows: Vec::new(),
        },
    };
    let mut of_one = 0;
    for row in 0..ROWS {
        copies.copy(row);
        if row == 0 {
            of_one = copies.places.len();
        }
    }
    let all = of_one * ROWS as usize;
    let is_worth_it = copies.places.len() * 100 <= all * DISTINCT_PERCENT;
    (of_one > 0 && is_worth_it).then(|| copies.finished())
}

impl Copies<'_, '_, '_, '_> {
    /// Adds a row.
    fn copy(&mut self, row: i64) {
        let nest = self.nest;
        self.renamed = BTreeMap::from([(nest.inner.index, self.together.index)]);
        self.row = (row, nest.row);
        if row > 0 {
            let number = copy_of(self.strips.program, nest.row);
            let value = Expression::Variable(nest.row).plus(Expression::index(row));
            self.together.outer.push(Command::declare(number, value));
            self.renamed.insert(nest.row, number);
            self.row = (row, number);
        }
        for command in &nest.body[..nest.at] {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
            {
                let value = self.of_row(value);
                let new = match row {
                    0 => *variable,
                    _ => copy_of(self.strips.program, *variable),
                };
                if self.shared(*variable, new, &value) && row > 0 {
                    self.together.outer.push(Command::declare(new, value));
                }
            }
        }
        for command in nest.inner.body {
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                } => {
                    let value = self.of_row(value);
                    let new = copy_of(self.strips.program, *variable);
                    if self.shared(*variable, new, &value) {
                        self.together.body.push(Command::declare(new, value));
                    }
                }
                Command::Store { value, .. } => {
                    let value = self.of_row(value);
                    self.together.values.push(value);
                }
                _ => {}
            }
        }
    }

    /// Replaces a variable of the nest by the one that holds the same value already, or else by the
    /// new one. Returns true in the second case.
    fn shared(&mut self, variable: Variable, new: Variable, value: &Expression) -> bool {
        let ty = self.strips.program.variable(variable).ty;
        let known = self.known.entry(format!("{ty:?} {value:?}"));
        let holder = *known.or_insert(new);
        self.renamed.insert(variable, holder);
        holder == new
    }

    /// Returns an expression of the nest for this row.
    fn of_row(&mut self, expression: &Expression) -> Expression {
        let mut made = expression.clone();
        self.change(&mut made);
        made
    }

    fn change(&mut self, expression: &mut Expression) {
        match expression {
            Expression::Variable(_) => expression.rename(&self.renamed),
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                // Elements that only a branch reads need not exist.
                deep(|| self.change(condition));
                then.rename(&self.renamed);
                otherwise.rename(&self.renamed);
            }
            Expression::Load { pointer, index } => {
                let place = match **pointer {
                    Expression::Variable(pointer) => self.place(pointer, index),
                    _ => None,
                };
                match place {
                    Some(place) => **index = place,
                    None => deep(|| self.change(index)),
                }
            }
            _ => {
                for child in expression.children_mut() {
                    deep(|| self.change(child));
                }
            }
        }
    }

    /// Returns the index of an element relative to the start of a row that is read, if the index
    /// depends on the row that is written.
    fn place(&mut self, pointer: Variable, index: &Expression) -> Option<Expression> {
        let address = self.nest.definitions.linear(index)?;
        let symbols = address.symbols.filter(|_| address.factor != 0)?;
        let (row, number) = self.row;
        let form = |guess| {
            let forms = Forms {
                definitions: &self.nest.definitions,
                given: BTreeMap::from([(self.nest.row, self.nest.row_after(row))]),
                guess,
            };
            forms.of(&symbols)
        };
        let guess = form(Some(self.nest.row))?;
        if !mentions(&guess, self.nest.row) {
            return None;
        }
        // Rows that differ only in a constant are the same row.
        let distance = guess.number();
        let fixed = Polynomial::constant(distance);
        let exact = form(None).map(|exact| exact.minus(&fixed));
        let mut value = symbols;
        value.rename(&BTreeMap::from([(self.nest.row, number)]));
        let value = value.minus(Expression::index(distance));
        let source = self.source(guess.minus(&fixed), exact, value);
        let constant = address.constant.wrapping_add(distance);
        self.places
            .insert((pointer, source, address.factor, constant));
        let begin = Expression::Variable(self.together.rows[source].variable);
        let column =
            Expression::Variable(self.together.index).times(Expression::index(address.factor));
        Some(begin.plus(column.plus(Expression::index(constant))))
    }

    /// Returns the number of the row that begins there; adds it if it is new.
    fn source(&mut self, guess: Polynomial, exact: Option<Polynomial>, value: Expression) -> usize {
        let rows = &mut self.together.rows;
        let found = rows.iter().position(|row| row.guess == guess);
        if let Some(found) = found {
            let values = &mut rows[found].values;
            if exact.is_none() || values.iter().all(|(known, _)| *known != exact) {
                values.push((exact, value));
            }
            return found;
        }
        rows.push(Source {
            guess,
            variable: self.strips.add_index("row"),
            values: vec![(exact, value)],
        });
        rows.len() - 1
    }

    /// Returns the rows without unused declarations.
    fn finished(self) -> Together {
        let mut together = self.together;
        let mut used = BTreeSet::new();
        let values = together.values.iter();
        let values = values.chain(
            together
                .rows
                .iter()
                .flat_map(|r| r.values.iter().map(|v| &v.1)),
        );
        for value in values {
            value.each_variable(&mut |variable| {
                used.insert(variable);
            });
        }
        for commands in [&mut together.body, &mut together.outer] {
            drop_unused(commands, &mut used);
        }
        together
    }
}
