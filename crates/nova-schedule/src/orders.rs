//! Orders that comparisons have. Most comparisons of sorts compare one or several numbers of both
//! elements, one after the other. Such a comparison is a function of how these numbers relate: less, equal
//! or greater, or one of them is nan. All relations are tried, so the order is found however the
//! comparison is written.

mod relations;

pub(crate) use self::relations::Nans;
use self::relations::Relation;
use crate::limits::{NUMBERS_OF_A_COMPARISON, OPERATIONS_OF_A_COMPARISON};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Lambda, Statement, Variable};
use nova_flat::visit::each_statement;
use std::collections::{HashMap, HashSet};

/// The order that a comparison has.
pub(crate) struct Order {
    /// The numbers that are compared one after the other, the most significant one first. At least one.
    pub(crate) numbers: Vec<Number>,
    pub(crate) nans: Nans,
    /// True if of elements whose numbers are equal the later one comes first. Comparisons that do not
    /// hold of equal elements ask for that: a merge then takes the right one.
    pub(crate) reverses: bool,
}

/// A number that a comparison compares.
pub(crate) struct Number {
    /// The function from the index of an element to the number.
    pub(crate) lambda: Lambda,
    pub(crate) scalar: Scalar,
    /// True if larger numbers come first.
    pub(crate) descends: bool,
}

impl Number {
    /// Returns the array whose elements the numbers are, if they are those of one.
    pub(crate) fn array(&self) -> Option<Variable> {
        let [
            Statement {
                pattern,
                expression: Expression::Index { array, indices },
                ..
            },
        ] = &self.lambda.body.statements[..]
        else {
            return None;
        };
        let element = pattern.first().map(|v| Atom::Variable(*v));
        let index = self.lambda.parameters.first().map(|v| Atom::Variable(*v));
        let is_read = indices.len() == 1
            && index == indices.first().copied()
            && element == self.lambda.body.results.first().copied();
        is_read.then_some(*array)
    }
}

/// A number that is compared.
struct Compared {
    /// The number of the first element.
    of_left: Atom,
    scalar: Scalar,
    /// True if it is the index of the element, so that no two are equal.
    is_index: bool,
}

impl Compared {
    /// Returns the relations that its numbers may have if none is nan.
    fn relations(&self) -> &'static [Relation] {
        match self.is_index {
            true => &Relation::DIFFERENT,
            false => &Relation::ORDERED,
        }
    }
}

/// A question that a comparison of scalars asks.
#[derive(Clone, Copy)]
struct Question {
    /// The compared number.
    number: usize,
    about: About,
    operation: ScalarOperation,
}

#[derive(Clone, Copy)]
enum About {
    /// The relation of the numbers of both elements.
    Both {
        swapped: bool,
    },
    /// The relation of the number of one element to itself.
    Left,
    Right,
}

/// The parameters on which a value depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Neither,
    Left,
    Right,
    /// On both, or it is not known.
    Both,
}

impl Side {
    fn and(self, other: Side) -> Side {
        match (self, other) {
            (Side::Neither, side) | (side, Side::Neither) => side,
            (one, other) if one == other => one,
            _differ => Side::Both,
        }
    }
}

/// A comparison that is examined.
struct Comparison<'a> {
    parameters: [Variable; 2],
    /// The statements that bind variables, with the places in their patterns.
    made: HashMap<Variable, (&'a Statement, usize)>,
    sides: HashMap<Variable, Side>,
    numbers: Vec<Compared>,
    questions: HashMap<Variable, Question>,
    /// The vectors whose elements are their own indices.
    places: &'a HashSet<Variable>,
    /// The number of steps that are left.
    left: usize,
}

/// Returns the order of a comparison of two indices, if it is known to have one. The comparison must
/// have no effects. Elements of `places` are their own indices.
pub(crate) fn order_of(compare: &Lambda, places: &HashSet<Variable>) -> Option<Order> {
    let (&[left, right], &[result]) = (&compare.parameters[..], &compare.body.results[..]) else {
        return None;
    };
    let mut comparison = Comparison {
        parameters: [left, right],
        made: HashMap::new(),
        sides: HashMap::from([(left, Side::Left), (right, Side::Right)]),
        numbers: Vec::new(),
        questions: HashMap::new(),
        places,
        left: OPERATIONS_OF_A_COMPARISON,
    };
    each_statement(&compare.body, &mut |statement| {
        for (k, variable) in statement.pattern.iter().enumerate() {
            comparison.made.insert(*variable, (statement, k));
        }
    });
    each_statement(&compare.body, &mut |statement| comparison.ask(statement));
    if comparison.left == 0 || comparison.numbers.len() > NUMBERS_OF_A_COMPARISON {
        return None;
    }
    let mut relations = vec![Relation::Equal; comparison.numbers.len()];
    let free = (0..relations.len()).collect();
    let (mut chosen, holds_of_equals) = comparison.lexicographic(result, &mut relations, free)?;
    let nans = comparison.nans(result, &chosen)?;
    // No two elements have one index: numbers behind it are never compared.
    let is_index = |number: &(usize, bool)| comparison.numbers[number.0].is_index;
    let mut reverses = !holds_of_equals;
    if let Some(last) = chosen.iter().position(is_index) {
        reverses = chosen.get(last).is_some_and(|(_, descends)| *descends);
        chosen.truncate(last);
    }
    let number = |(k, descends): &(usize, bool)| Number {
        lambda: comparison.lambda(comparison.numbers[*k].of_left),
        scalar: comparison.numbers[*k].scalar,
        descends: *descends,
    };
    let numbers: Vec<Number> = chosen.iter().map(number).collect();
    (!numbers.is_empty()).then_some(Order {
        numbers,
        nans,
        reverses,
    })
}

impl<'a> Comparison<'a> {
    fn expression(&self, atom: Atom) -> Option<&'a Expression> {
        match atom {
            Atom::Variable(variable) => self.made.get(&variable).map(|(s, _)| &s.expression),
            Atom::Constant(_) => None,
        }
    }

    /// Returns the parameters on which a value depends.
    fn side(&mut self, atom: Atom) -> Side {
        let Atom::Variable(variable) = atom else {
            return Side::Neither;
        };
        if let Some(known) = self.sides.get(&variable) {
            return *known;
        }
        let mut side = Side::Neither;
        match self.expression(atom) {
            None => {}
            Some(Expression::Atom(of)) => side = deep(|| self.side(*of)),
            Some(Expression::Scalar { arguments, .. }) => {
                for argument in arguments {
                    side = side.and(deep(|| self.side(*argument)));
                }
            }
            Some(Expression::Index { array, indices }) if !self.made.contains_key(array) => {
                for index in indices {
                    side = side.and(deep(|| self.side(*index)));
                }
            }
            Some(_others) => side = Side::Both,
        }
        self.sides.insert(variable, side);
        side
    }

    /// Notes the question that a statement asks.
    fn ask(&mut self, statement: &Statement) {
        let (
            &[variable],
            Expression::Scalar {
                operation,
                operand,
                arguments,
            },
        ) = (&statement.pattern[..], &statement.expression)
        else {
            return;
        };
        let &[a, b] = &arguments[..] else {
            return;
        };
        if Relation::Equal.answer(*operation).is_none() {
            return;
        }
        let (of_left, about) = match (self.side(a), self.side(b)) {
            (Side::Left, Side::Right) if self.same(a, b, true) => {
                (a, About::Both { swapped: false })
            }
            (Side::Right, Side::Left) if self.same(b, a, true) => {
                (b, About::Both { swapped: true })
            }
            (Side::Left, Side::Left) if self.same(a, b, false) => (a, About::Left),
            (Side::Right, Side::Right) if self.same(a, b, false) => {
                // The number of the first element stands elsewhere in the comparison.
                let found =
                    (0..self.numbers.len()).find(|k| self.same(self.numbers[*k].of_left, a, true));
                match found {
                    Some(k) => (self.numbers[k].of_left, About::Right),
                    None => return,
                }
            }
            _others => return,
        };
        let known =
            (0..self.numbers.len()).find(|k| self.same(self.numbers[*k].of_left, of_left, false));
        let number = known.unwrap_or_else(|| {
            self.numbers.push(Compared {
                of_left,
                scalar: *operand,
                is_index: self.is_index(of_left),
            });
            self.numbers.len() - 1
        });
        let question = Question {
            number,
            about,
            operation: *operation,
        };
        self.questions.insert(variable, question);
    }

    /// True if a value is the index of the first element, perhaps in another type.
    fn is_index(&self, atom: Atom) -> bool {
        match self.expression(atom) {
            None => atom == Atom::Variable(self.parameters[0]),
            Some(Expression::Atom(of)) => self.is_index(*of),
            Some(Expression::Scalar {
                operation: ScalarOperation::Convert(to),
                arguments,
                ..
            }) if to.is_integer() => arguments.iter().all(|of| self.is_index(*of)),
            Some(Expression::Index { array, indices }) if self.places.contains(array) => {
                indices.iter().all(|of| self.is_index(*of))
            }
            Some(_others) => false,
        }
    }

    /// True if two values are the same function of the same parameter, or with `mirrored` of the other
    /// one.
    fn same(&mut self, one: Atom, other: Atom, mirrored: bool) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let place = |v: Variable| self.parameters.iter().position(|p| *p == v);
        match (one, other) {
            (Atom::Constant(a), Atom::Constant(b)) => a.same(b),
            (Atom::Variable(a), Atom::Variable(b)) => match (place(a), place(b)) {
                (Some(a), Some(b)) => (a != b) == mirrored,
                (Some(_), None) | (None, Some(_)) => false,
                (None, None) => match (self.expression(one), self.expression(other)) {
                    (Some(one), Some(other)) => deep(|| self.same_step(one, other, mirrored)),
                    (None, None) => a == b,
                    (Some(_), None) | (None, Some(_)) => false,
                },
            },
            (Atom::Constant(_), Atom::Variable(_)) | (Atom::Variable(_), Atom::Constant(_)) => {
                false
            }
        }
    }

    fn same_step(&mut self, one: &Expression, other: &Expression, mirrored: bool) -> bool {
        match (one, other) {
            (Expression::Atom(a), Expression::Atom(b)) => self.same(*a, *b, mirrored),
            (
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                },
                Expression::Scalar {
                    operation: second,
                    operand: of,
                    arguments: others,
                },
            ) => operation == second && operand == of && self.all_same(arguments, others, mirrored),
            (
                Expression::Index { array, indices },
                Expression::Index {
                    array: second,
                    indices: others,
                },
            ) => array == second && self.all_same(indices, others, mirrored),
            _others => false,
        }
    }

    fn all_same(&mut self, some: &[Atom], others: &[Atom], mirrored: bool) -> bool {
        let mut both = some.iter().zip(others);
        some.len() == others.len() && both.all(|(a, b)| self.same(*a, *b, mirrored))
    }

    /// Returns the value of a bool of the comparison where its numbers relate so, if it is known.
    fn value(&self, atom: Atom, relations: &[Relation]) -> Option<bool> {
        let variable = match atom {
            Atom::Constant(ScalarValue::Bool(value)) => return Some(value),
            Atom::Constant(_) => return None,
            Atom::Variable(variable) => variable,
        };
        if let Some(question) = self.questions.get(&variable) {
            return answer(*question, relations[question.number]);
        }
        let (statement, place) = self.made.get(&variable)?;
        match &statement.expression {
            Expression::Atom(of) => deep(|| self.value(*of, relations)),
            Expression::Scalar {
                operation: ScalarOperation::Not,
                arguments,
                ..
            } => {
                let value = deep(|| self.value(*arguments.first()?, relations))?;
                Some(!value)
            }
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let taken = match deep(|| self.value(*condition, relations))? {
                    true => then,
                    false => otherwise,
                };
                deep(|| self.value(*taken.results.get(*place)?, relations))
            }
            _others => None,
        }
    }

    /// Returns whether the comparison holds for some relations of the free numbers, and whether it does
    /// not for some.
    fn answers(
        &self,
        result: Atom,
        relations: &mut Vec<Relation>,
        free: &[usize],
    ) -> Option<[bool; 2]> {
        let Some((first, rest)) = free.split_first() else {
            let value = self.value(result, relations)?;
            return Some([value, !value]);
        };
        let before = relations[*first];
        let mut found = [false; 2];
        for relation in self.numbers[*first].relations() {
            relations[*first] = *relation;
            let [yes, no] = self.answers(result, relations, rest)?;
            found = [found[0] | yes, found[1] | no];
        }
        relations[*first] = before;
        Some(found)
    }

    /// Returns the numbers that decide the comparison one after the other, each with whether it
    /// descends, and the answer where all of them are equal.
    fn lexicographic(
        &self,
        result: Atom,
        relations: &mut Vec<Relation>,
        free: Vec<usize>,
    ) -> Option<(Vec<(usize, bool)>, bool)> {
        match self.answers(result, relations, &free)? {
            [true, true] => {}
            [yes, _no] => return Some((Vec::new(), yes)),
        }
        for number in &free {
            let others: Vec<usize> = free.iter().copied().filter(|k| k != number).collect();
            let mut decided = [None; 2];
            for (side, decided) in Relation::DIFFERENT.into_iter().zip(&mut decided) {
                relations[*number] = side;
                *decided = match self.answers(result, relations, &others)? {
                    [true, true] => None,
                    [yes, _no] => Some(yes),
                };
            }
            relations[*number] = Relation::Equal;
            let [Some(less), Some(greater)] = decided else {
                continue;
            };
            if less == greater {
                continue;
            }
            let descends = greater;
            if self.numbers[*number].is_index {
                return Some((vec![(*number, descends)], less));
            }
            let (behind, of_equals) = self.lexicographic(result, relations, others)?;
            let mut found = vec![(*number, descends)];
            found.extend(behind);
            return Some((found, of_equals));
        }
        None
    }

    /// Returns the place of nan with which the comparison has the order that these numbers give. `None`
    /// if the comparison asks for nan elsewhere.
    fn nans(&self, result: Atom, chosen: &[(usize, bool)]) -> Option<Nans> {
        let is_float = |k: &usize| self.numbers[*k].scalar.is_float();
        let mut floats = (0..self.numbers.len()).filter(is_float);
        let fits = |nans: &Nans| self.fits(result, &mut Vec::new(), *nans);
        match [Nans::Greatest, Nans::Least].into_iter().find(fits) {
            Some(nans) => Some(nans),
            None => floats
                .all(|k| chosen.iter().any(|(number, _)| *number == k))
                .then_some(Nans::Unordered),
        }
    }

    /// True if the comparison gives the same for all relations that begin so, and for those in which nan
    /// is a number at this place.
    fn fits(&self, result: Atom, relations: &mut Vec<Relation>, nans: Nans) -> bool {
        let Some(next) = self.numbers.get(relations.len()) else {
            let ordered: Vec<Relation> = relations.iter().map(|r| r.with(nans)).collect();
            let (found, expected) = (self.value(result, relations), self.value(result, &ordered));
            return found.is_some() && found == expected;
        };
        let all = match next.scalar.is_float() {
            true => &Relation::ALL[..],
            false => next.relations(),
        };
        all.iter().all(|relation| {
            relations.push(*relation);
            let fits = self.fits(result, relations, nans);
            relations.pop();
            fits
        })
    }

    /// Returns the function from an index to a number of the first element.
    fn lambda(&self, value: Atom) -> Lambda {
        let mut statements = Vec::new();
        self.needed(value, &mut HashSet::new(), &mut statements);
        Lambda {
            parameters: vec![self.parameters[0]],
            body: Body {
                statements,
                results: vec![value],
            },
        }
    }

    /// Adds the statements that a value needs.
    fn needed(&self, value: Atom, done: &mut HashSet<Variable>, found: &mut Vec<Statement>) {
        let Atom::Variable(variable) = value else {
            return;
        };
        let Some((statement, _)) = self.made.get(&variable).filter(|_| done.insert(variable))
        else {
            return;
        };
        let of = match &statement.expression {
            Expression::Atom(atom) => std::slice::from_ref(atom),
            Expression::Scalar { arguments, .. } => arguments,
            Expression::Index { indices, .. } => indices,
            _others => &[],
        };
        of.iter()
            .for_each(|atom| deep(|| self.needed(*atom, done, found)));
        found.push((*statement).clone());
    }
}

fn answer(question: Question, relation: Relation) -> Option<bool> {
    let relation = match (question.about, relation) {
        (About::Both { swapped: false }, relation) => relation,
        (About::Both { swapped: true }, relation) => relation.swapped(),
        // Only nan is not equal to itself.
        (About::Left, Relation::LeftNan | Relation::BothNan)
        | (About::Right, Relation::RightNan | Relation::BothNan) => Relation::BothNan,
        (About::Left | About::Right, _ordered) => Relation::Equal,
    };
    relation.answer(question.operation)
}
