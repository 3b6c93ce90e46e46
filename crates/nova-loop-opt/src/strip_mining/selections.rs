//! Folds that select: each iteration keeps the values that are passed on, or replaces them by values of its own
//! where these are better, as in the search for a least element by several numbers. C compilers keep such a loop
//! in order. The better the values are, the rarer is a replacement, so that most strips have none. Vector
//! instructions tell whether a strip has one, by the values from before it, and only such a strip is run.
//!
//! Skipping changes no value: until the first replacement in a strip, the values are those from before it.

use super::Strips;
use super::linear::Definitions;
use crate::index_set_splitting::expression_size;
use crate::limits::NODES_OF_A_SELECTION;
use crate::masks::{MASK, number, on_masks, total_flag};
use crate::strip_mining::non_temporal::when;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_machine::PROCESSOR;
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// The effect of a body where none of its conditions holds.
struct Selection<'a> {
    program: &'a Program,
    /// The values of the body's variables, by what is known before the iteration.
    kept: BTreeMap<Variable, Expression>,
    declared: BTreeSet<Variable>,
    /// The variables that are passed on.
    carried: BTreeSet<Variable>,
    /// The conditions under which some are replaced, by what is known before the iteration.
    conditions: Vec<Expression>,
    /// The values that replace them.
    chosen: Vec<Expression>,
}

impl Strips<'_> {
    /// Returns the loop over strips that replaces a loop, if it is such a fold.
    pub(super) fn selection(&mut self, command: &Command) -> Option<Vec<Command>> {
        let Command::For {
            variable: index,
            count,
            level: Level::Sequential,
            body,
            place,
        } = command
        else {
            return None;
        };
        let selection = Selection::of(self.program, body)?;
        if !selection.is_rare(*index) {
            return None;
        }
        let conditions = selection.conditions;
        let usual = PROCESSOR.selection_strip;
        let length = self.program.plan.choose(place, Choice::Selection, usual);
        if length == 0 || count.as_index().is_some_and(|count| count <= length) {
            return None;
        }
        let mut made = Vec::new();
        let count = self.simple("count", count.clone(), &mut made);
        let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
        let size = Expression::index(length);
        let first = Expression::Variable(begin);
        let mut inside = vec![Command::declare(
            begin,
            Expression::Variable(strip).times(size.clone()),
        )];
        let left = count.clone().minus(first.clone());
        let left = left.compare(ScalarOperation::Minimum, size.clone());
        let left = self.simple("length", left, &mut inside);

        let any = self.program.add_variable("any", Type::Scalar(MASK));
        let is_first = first
            .clone()
            .compare(ScalarOperation::Equal, Expression::index(0));
        inside.push(Command::declare(any, total_flag(is_first.clone())));
        let (k, own) = (self.add_index("k"), self.add_index("i"));
        let mut found = Expression::Variable(any);
        let names = BTreeMap::from([(*index, own)]);
        for mut condition in conditions {
            condition.rename(&names);
            found = on_masks(ScalarOperation::BitOr, found, total_flag(condition));
        }
        let look = vec![
            Command::declare(own, first.clone().plus(Expression::Variable(k))),
            Command::Assign {
                variable: any,
                value: found,
            },
        ];
        // The first strip certainly replaces something.
        let look = Command::sequential(k, left.clone(), look, place);
        inside.push(when(is_first.negated(), vec![look]));

        let (k, own) = (self.add_index("k"), self.add_index("i"));
        let mut run = vec![Command::declare(own, first.plus(Expression::Variable(k)))];
        let mut names = BTreeMap::from([(*index, own)]);
        run.extend(copies::copy(self.program, body, &mut names));
        let run = Command::sequential(k, left, run, place);
        let has_some = on_masks(
            ScalarOperation::NotEqual,
            Expression::Variable(any),
            number(0),
        );
        inside.push(when(has_some, vec![run]));

        let strips = count.plus(Expression::index(length - 1));
        let strips = strips.compare(ScalarOperation::Divide, size);
        made.push(Command::sequential(strip, strips, inside, place));
        Some(made)
    }
}

impl<'a> Selection<'a> {
    /// Returns what a body does, if it only replaces what is passed on under conditions.
    fn of(program: &'a Program, body: &[Command]) -> Option<Selection<'a>> {
        let mut selection = Selection {
            program,
            kept: BTreeMap::new(),
            declared: BTreeSet::new(),
            carried: BTreeSet::new(),
            conditions: Vec::new(),
            chosen: Vec::new(),
        };
        body.iter()
            .try_for_each(|command| selection.command(command))?;
        Some(selection)
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Comment(_) => {}
            Command::Declare { variable, value } => {
                self.declared.insert(*variable);
                if let Some(value) = value {
                    let value = self.value(value)?;
                    self.kept.insert(*variable, value);
                }
            }
            Command::Assign { variable, value } => {
                let value = self.value(value)?;
                if self.declared.contains(variable) {
                    self.kept.insert(*variable, value);
                } else {
                    self.carried.insert(*variable);
                    if !matches!(value, Expression::Variable(same) if same == *variable) {
                        return None;
                    }
                }
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.value(condition)?;
                if self.join(&condition, then, otherwise).is_some() {
                    return Some(());
                }
                self.conditions.push(condition);
                self.replaced(then)?;
                for command in otherwise {
                    let Command::Assign { .. } = command else {
                        return None;
                    };
                    self.command(command)?;
                }
            }
            _others => return None,
        }
        Some(())
    }

    /// Notes the bools that both branches of a conditional assign, if they do nothing else: part of a condition,
    /// which may be computed as a whole.
    fn join(
        &mut self,
        condition: &Expression,
        then: &[Command],
        otherwise: &[Command],
    ) -> Option<()> {
        let before = self.kept.clone();
        let branches = [then, otherwise].map(|branch| {
            let assigned = self.assigned(branch);
            self.kept.clone_from(&before);
            assigned
        });
        let [Some(first), Some(second)] = branches else {
            return None;
        };
        if first.keys().ne(second.keys()) {
            return None;
        }
        for ((variable, first), second) in first.into_iter().zip(second.into_values()) {
            let value = Expression::Select {
                condition: Box::new(condition.clone()),
                then: Box::new(first),
                otherwise: Box::new(second),
            };
            (expression_size(&value) <= NODES_OF_A_SELECTION).then_some(())?;
            self.kept.insert(variable, value);
        }
        Some(())
    }

    /// Returns the bools from before a branch that it assigns, if it has no other effect.
    fn assigned(&mut self, branch: &[Command]) -> Option<BTreeMap<Variable, Expression>> {
        let mut assigned = BTreeMap::new();
        let mut own = BTreeSet::new();
        for command in branch {
            match command {
                Command::Comment(_) => {}
                Command::Declare { variable, value } => {
                    own.insert(*variable);
                    self.declared.insert(*variable);
                    if let Some(value) = value {
                        let value = self.value(value)?;
                        self.kept.insert(*variable, value);
                    }
                }
                Command::Assign { variable, value } => {
                    let is_bool = self.program.variable(*variable).ty == Type::Scalar(Scalar::Bool);
                    (is_bool && self.declared.contains(variable)).then_some(())?;
                    let value = self.value(value)?;
                    if !own.contains(variable) {
                        assigned.insert(*variable, value.clone());
                    }
                    self.kept.insert(*variable, value);
                }
                Command::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.value(condition)?;
                    let before = self.kept.clone();
                    deep(|| self.join(&condition, then, otherwise))?;
                    for (variable, value) in &self.kept {
                        if !own.contains(variable) && before.get(variable) != Some(value) {
                            assigned.insert(*variable, value.clone());
                        }
                    }
                }
                _others => return None,
            }
        }
        Some(assigned)
    }

    /// Notes the values that are chosen where a condition holds.
    fn replaced(&mut self, commands: &[Command]) -> Option<()> {
        for command in commands {
            let Command::Assign { variable, value } = command else {
                return None;
            };
            if !self.declared.contains(variable) {
                self.carried.insert(*variable);
            }
            let value = self.value(value)?;
            self.chosen.push(value);
        }
        Some(())
    }

    /// Returns an expression by what is known before the iteration. Returns none if it has something that may
    /// only be computed where a condition holds, or that is not known.
    fn value(&self, expression: &Expression) -> Option<Expression> {
        is_safe(expression, true).then_some(())?;
        let mut value = expression.clone();
        self.substitute(&mut value)?;
        (expression_size(&value) <= NODES_OF_A_SELECTION).then_some(value)
    }

    fn substitute(&self, expression: &mut Expression) -> Option<()> {
        if let Expression::Variable(variable) = expression {
            match self.kept.get(variable) {
                Some(value) => *expression = value.clone(),
                None if self.declared.contains(variable) => return None,
                None => {}
            }
            return Some(());
        }
        let mut children = expression.children_mut().into_iter();
        children.try_for_each(|child| deep(|| self.substitute(child)))
    }

    /// True if replacements become rarer: all conditions depend on what is passed on, and what replaces it does
    /// not. Vector instructions must be able to tell the conditions.
    fn is_rare(&self, index: Variable) -> bool {
        let reads = |expression: &Expression| {
            let mut found = false;
            expression.each_variable(&mut |v| found |= self.carried.contains(&v));
            found
        };
        let definitions = Definitions::new(index);
        !self.conditions.is_empty()
            && self.conditions.iter().all(reads)
            && !self.chosen.iter().any(reads)
            && self.conditions.iter().all(|c| has_vectors(&definitions, c))
    }
}

/// True if an expression may be computed whatever its conditions are. Elements are read where that is so only.
fn is_safe(expression: &Expression, reads: bool) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Variable(_) => true,
        Expression::Load { pointer, index } => {
            reads && matches!(**pointer, Expression::Variable(_)) && deep(|| is_safe(index, reads))
        }
        Expression::Scalar {
            operation,
            operand,
            arguments,
        } => operation.is_total(*operand) && arguments.iter().all(|e| deep(|| is_safe(e, reads))),
        Expression::Select {
            condition,
            then,
            otherwise,
        } => {
            let inside = [then, otherwise]
                .into_iter()
                .all(|e| deep(|| is_safe(e, false)));
            inside && deep(|| is_safe(condition, reads))
        }
        _others => false,
    }
}

/// True if all elements that an expression reads lie side by side for neighbouring iterations.
fn has_vectors(definitions: &Definitions, expression: &Expression) -> bool {
    match expression {
        Expression::Load { index, .. } => definitions.linear(index).is_some(),
        other => {
            let mut children = other.children().into_iter();
            children.all(|e| deep(|| has_vectors(definitions, e)))
        }
    }
}
