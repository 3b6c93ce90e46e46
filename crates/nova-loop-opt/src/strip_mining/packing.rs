//! Packing of filters. A filter stores survivors at the places that counters give, one after the other. Such a loop
//! works in strips: vector instructions compute which elements of a strip survive, and how many. Where they are few,
//! a loop over their numbers does the rest. Where they are many, each array is packed by a loop of its own. The emitter
//! of C writes both kinds of loops as calls ([`nova_loop::idioms`]).
//!
//! ```text
//! for k in strip { kept[k] = c(begin + k) }
//! for k in strip { number = number + kept[k] }
//! if 8 number > length {
//!   for k in strip { values[k] = x(begin + k) }
//!   for k in strip { array[count] = values[k]; count = count + kept[k] }
//! } else if number != 0 {
//!   for k in strip { places[found] = k; found = found + kept[k] }
//!   for k in found { array[count] = x(begin + places[k]); count = count + 1 }
//! }
//! ```
//!
//! The packed array may have anything behind the survivors. So nothing else may write it: then nothing can have been
//! there that somebody needs.

use super::operations::vector_form;
use super::{Map, Strips, at_most};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::cost::work;
use nova_loop::ir::{Command, Expression, Function, Type, Variable};
use nova_loop::{copies, uses, walk};
use nova_machine::{PROCESSOR, figures};
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of a strip.
const STRIP: u32 = figures::STRIPS.packed;
/// Elements of a strip are few where it has more than so many times as many.
const FEW: i64 = figures::STRIPS.packed_share;
/// Values of no more work are computed again for strips with survivors.
const AGAIN_WORK: u32 = figures::STRIPS.packed_work;

/// The arrays that are written at one index only, with this index.
pub(super) fn places(function: &Function) -> BTreeMap<Variable, Expression> {
    let mut found: BTreeMap<Variable, Option<Expression>> = BTreeMap::new();
    walk::each_command(&function.body, |command| {
        if let Command::Store { pointer, index, .. } = command {
            let known = found.entry(*pointer).or_insert_with(|| Some(index.clone()));
            if known.as_ref() != Some(index) {
                *known = None;
            }
            return;
        }
        for address in uses::written(command) {
            address.each_variable(&mut |pointer| {
                found.insert(pointer, None);
            });
        }
    });
    let found = found.into_iter();
    found.filter_map(|(v, index)| Some((v, index?))).collect()
}

/// The stores of a loop at the places that a counter gives.
struct Filter<'a> {
    count: Variable,
    /// The test whether the elements of an iteration survive.
    condition: &'a Expression,
    stores: Vec<Stored<'a>>,
}

struct Stored<'a> {
    array: Variable,
    index: &'a Expression,
    value: &'a Expression,
}

/// A strip of the loop of filters.
#[derive(Clone)]
struct Strip<'a> {
    begin: Variable,
    length: Expression,
    /// The local arrays of values.
    values: Vec<(&'a Expression, Variable)>,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop of which all that iterations pass on are the places of survivors.
    pub(super) fn pack_filters(&mut self, map: &Map) -> Option<Vec<Command>> {
        let width = i64::from(STRIP);
        let constant = map.count.as_index();
        if map.in_place || constant.is_some_and(|count| count <= width) {
            return None;
        }
        let filters = self.filters(map)?;
        if !self.program.plan.allows(map.place, Choice::Packing) {
            return None;
        }
        let (mut all, mut inside) = (Vec::new(), Vec::new());
        let count = self.simple("count", map.count.clone(), &mut all);
        let [strip, begin] = ["strip", "begin"].map(|name| self.add_index(name));
        let first = Expression::Variable(strip).times(Expression::index(width));
        inside.push(Command::declare(begin, first));
        let left = count.clone().minus(Expression::Variable(begin));
        let length = at_most(left, Expression::index(width));
        let mut over = Strip {
            begin,
            length: self.simple("length", length, &mut inside),
            values: Vec::new(),
        };
        let flags = self.flags(map, &filters, &mut over, &mut inside);
        for (filter, kept) in filters.iter().zip(flags) {
            self.keep(map, (filter, kept), &over, &mut inside);
        }
        let strips = count.clone().plus(Expression::index(width - 1));
        let strips = strips.compare(ScalarOperation::Divide, Expression::index(width));
        let stripped = map.counted(strip, strips, inside);
        let least = Expression::index(PROCESSOR.decoupled_iterations);
        all.push(match constant {
            Some(_) => stripped,
            None => Command::If {
                condition: count.clone().compare(ScalarOperation::GreaterEqual, least),
                then: vec![stripped],
                otherwise: vec![map.counted(map.index, count, map.body.to_vec())],
            },
        });
        Some(all)
    }

    /// Returns the filters of a loop, if it has nothing else and there are vector instructions for their conditions.
    fn filters<'m>(&self, map: &'m Map) -> Option<Vec<Filter<'m>>> {
        let mut open: BTreeMap<Variable, Vec<Stored>> = BTreeMap::new();
        let mut filters = Vec::new();
        for command in map.body {
            match command {
                Command::Store {
                    pointer,
                    index,
                    value,
                } => {
                    let Type::Pointer(element) = self.program.variable(*pointer).ty else {
                        return None;
                    };
                    let is_alone = self.places.get(pointer) == Some(index);
                    if !is_alone || !matches!(element.bits(), 32 | 64) {
                        return None;
                    }
                    open.entry(place_of(map, index)?).or_default().push(Stored {
                        array: *pointer,
                        index,
                        value,
                    });
                }
                Command::Assign { variable, value } => filters.push(Filter {
                    count: *variable,
                    condition: condition_of(map, *variable, value)?,
                    stores: open.remove(variable)?,
                }),
                _others => {}
            }
        }
        let counts: BTreeSet<Variable> = filters.iter().map(|filter| filter.count).collect();
        let reads_count = |command: &Command| match command {
            Command::Declare {
                value: Some(value), ..
            }
            | Command::Store { value, .. } => {
                let mut reads = false;
                value.each_variable(&mut |v| reads |= counts.contains(&v));
                reads
            }
            _others => false,
        };
        let needed = needed(map, filters.iter().map(|filter| filter.condition));
        let has_vectors = |value: &Expression| vector_form(&map.definitions, value).is_some();
        let vectors = filters.iter().all(|filter| has_vectors(filter.condition))
            && needed
                .iter()
                .all(|command| values_of(command).all(has_vectors));
        let whole = open.is_empty() && !map.body.iter().any(reads_count);
        (vectors && whole && counts.len() == filters.len()).then_some(filters)
    }

    /// Adds the loop that computes which elements of a strip survive, and the values that are costly or that several
    /// filters have. Returns the arrays of flags.
    fn flags<'m>(
        &mut self,
        map: &Map,
        filters: &[Filter<'m>],
        strip: &mut Strip<'m>,
        made: &mut Vec<Command>,
    ) -> Vec<Variable> {
        let mut flags = Vec::new();
        let mut values: Vec<(Expression, Variable)> = Vec::new();
        let mut roots = Vec::new();
        for filter in filters {
            let kept = self.local("kept", Scalar::U8, made);
            flags.push(kept);
            let flag = convert(Scalar::Bool, Scalar::U8, filter.condition.clone());
            values.push((flag, kept));
            roots.push(filter.condition);
            for stored in &filter.stores {
                let slice = needed(map, [stored.value].into_iter());
                let again: u32 = slice.iter().flat_map(|c| values_of(c)).map(work).sum();
                let has = |f: &&Filter| f.stores.iter().any(|s| s.value == stored.value);
                let is_shared = filters.iter().filter(has).count() > 1;
                let is_costly = again > AGAIN_WORK || is_shared;
                if is_costly && neighbours(map, stored.value).is_none() {
                    self.array_of(strip, stored, made);
                }
            }
        }
        for (value, array) in &strip.values {
            roots.push(*value);
            values.push(((*value).clone(), *array));
        }
        let commands = needed(map, roots.into_iter());
        made.push(self.over_iterations(map, strip, &commands, values));
        flags
    }

    /// Adds the loops that store the survivors of a strip.
    fn keep<'m>(
        &mut self,
        map: &Map,
        (filter, kept): (&Filter<'m>, Variable),
        strip: &Strip<'m>,
        made: &mut Vec<Command>,
    ) {
        let number = self
            .program
            .add_variable("number", Type::Scalar(Scalar::U8));
        let k = self.add_index("k");
        let zero = || Expression::Constant(ScalarValue::U8(0));
        let on_flags = |operation, one, other| Expression::Scalar {
            operation,
            operand: Scalar::U8,
            arguments: vec![one, other],
        };
        let flag = Expression::load(kept, Expression::Variable(k));
        let count = vec![Command::Assign {
            variable: number,
            value: on_flags(ScalarOperation::Add, Expression::Variable(number), flag),
        }];
        made.push(Command::declare(number, zero()));
        made.push(map.counted(k, strip.length.clone(), count));
        let (mut dense, mut sparse) = (Vec::new(), Vec::new());
        self.pack_arrays(map, (filter, kept), strip.clone(), &mut dense);
        self.pick(map, (filter, kept), strip, &mut sparse);
        let number = Expression::Variable(number);
        let most = convert(Scalar::U8, Scalar::I64, number.clone()).times(Expression::index(FEW));
        made.push(Command::If {
            condition: most.compare(ScalarOperation::Greater, strip.length.clone()),
            then: dense,
            otherwise: vec![Command::If {
                condition: on_flags(ScalarOperation::NotEqual, number, zero()),
                then: sparse,
                otherwise: Vec::new(),
            }],
        });
    }

    /// Adds the loops that pack each array of a strip.
    fn pack_arrays<'m>(
        &mut self,
        map: &Map,
        (filter, kept): (&Filter<'m>, Variable),
        mut strip: Strip<'m>,
        made: &mut Vec<Command>,
    ) {
        let known = strip.values.len();
        for stored in &filter.stores {
            if neighbours(map, stored.value).is_none() {
                self.array_of(&mut strip, stored, made);
            }
        }
        let cheap = strip.values.get(known..).unwrap_or_default();
        if !cheap.is_empty() {
            let commands = needed(map, cheap.iter().map(|(value, _)| *value));
            let values = cheap
                .iter()
                .map(|(value, array)| ((*value).clone(), *array));
            let values = values.collect();
            made.push(self.over_iterations(map, &strip, &commands, values));
        }
        let last = filter.stores.len().saturating_sub(1);
        for (at, stored) in filter.stores.iter().enumerate() {
            let array = strip
                .values
                .iter()
                .find(|(value, _)| *value == stored.value);
            let source = match (array, neighbours(map, stored.value)) {
                (Some((_, array)), _) => (*array, Expression::index(0)),
                (None, Some((pointer, start))) => {
                    let first = start.plus(Expression::Variable(strip.begin));
                    (pointer, self.simple("first", first, made))
                }
                (None, None) => continue,
            };
            let count = match at == last {
                true => filter.count,
                false => {
                    let at = self.add_index("at");
                    made.push(Command::declare(at, Expression::Variable(filter.count)));
                    at
                }
            };
            let mut index = stored.index.clone();
            index.rename(&BTreeMap::from([(filter.count, count)]));
            let to = (stored.array, index, count);
            made.push(self.packing(map, to, source, (kept, strip.length.clone())));
        }
    }

    /// Adds the loops that find the numbers of the survivors of a strip, and compute their values.
    fn pick(
        &mut self,
        map: &Map,
        (filter, kept): (&Filter, Variable),
        strip: &Strip,
        made: &mut Vec<Command>,
    ) {
        let places = self.local("places", Scalar::I64, made);
        let [found, own, k] = ["found", "k", "k"].map(|name| self.add_index(name));
        made.push(Command::declare(found, Expression::index(0)));
        let flag = Expression::load(kept, Expression::Variable(own));
        let body = vec![
            Command::Store {
                pointer: places,
                index: Expression::Variable(found),
                value: Expression::Variable(own),
            },
            Command::Assign {
                variable: found,
                value: Expression::Variable(found).plus(convert(Scalar::U8, Scalar::I64, flag)),
            },
        ];
        made.push(map.counted(own, strip.length.clone(), body));
        let index = copies::copy_of(self.program, map.index);
        let place = Expression::load(places, Expression::Variable(k));
        let place = Expression::Variable(strip.begin).plus(place);
        let values = filter.stores.iter().map(|stored| stored.value);
        let mut commands: Vec<Command> = needed(map, values).into_iter().cloned().collect();
        for stored in &filter.stores {
            commands.push(Command::Store {
                pointer: stored.array,
                index: stored.index.clone(),
                value: stored.value.clone(),
            });
        }
        commands.push(Command::Assign {
            variable: filter.count,
            value: Expression::Variable(filter.count).plus(Expression::index(1)),
        });
        let mut names = BTreeMap::from([(map.index, index)]);
        let mut body = vec![Command::declare(index, place)];
        body.extend(copies::copy(self.program, &commands, &mut names));
        made.push(map.counted(k, Expression::Variable(found), body));
    }

    /// Adds a local array for the values of a store, unless there is one.
    fn array_of<'m>(
        &mut self,
        strip: &mut Strip<'m>,
        stored: &Stored<'m>,
        made: &mut Vec<Command>,
    ) {
        if let Type::Pointer(element) = self.program.variable(stored.array).ty
            && !strip.values.iter().any(|(value, _)| *value == stored.value)
        {
            let array = self.local("values", element, made);
            strip.values.push((stored.value, array));
        }
    }

    fn local(&mut self, name: &str, element: Scalar, made: &mut Vec<Command>) -> Variable {
        let pointer = self.program.add_variable(name, Type::Pointer(element));
        made.push(Command::Local {
            pointer,
            count: STRIP,
        });
        pointer
    }

    /// Returns a loop over a strip that runs a copy of these declarations, and stores values to local arrays.
    fn over_iterations(
        &mut self,
        map: &Map,
        strip: &Strip,
        declarations: &[&Command],
        values: Vec<(Expression, Variable)>,
    ) -> Command {
        let k = self.add_index("k");
        let index = copies::copy_of(self.program, map.index);
        let mut names = BTreeMap::from([(map.index, index)]);
        let mut commands: Vec<Command> = declarations.iter().map(|c| (*c).clone()).collect();
        for (value, array) in values {
            commands.push(Command::Store {
                pointer: array,
                index: Expression::Variable(k),
                value,
            });
        }
        let commands = copies::copy(self.program, &commands, &mut names);
        map.independent((index, strip.begin), k, strip.length.clone(), commands)
    }

    /// Returns the loop that packs elements from a source on, and advances the count.
    fn packing(
        &mut self,
        map: &Map,
        (array, index, count): (Variable, Expression, Variable),
        (from, first): (Variable, Expression),
        (kept, length): (Variable, Expression),
    ) -> Command {
        let k = self.add_index("k");
        let flag = Expression::load(kept, Expression::Variable(k));
        let flag = convert(Scalar::U8, Scalar::I64, flag);
        let body = vec![
            Command::Store {
                pointer: array,
                index,
                value: Expression::load(from, first.plus(Expression::Variable(k))),
            },
            Command::Assign {
                variable: count,
                value: Expression::Variable(count).plus(flag),
            },
        ];
        map.counted(k, length, body)
    }
}

/// Returns the array in which the values of all iterations are neighbours, and the index of the first one.
fn neighbours(map: &Map, value: &Expression) -> Option<(Variable, Expression)> {
    let value = match value {
        Expression::Variable(variable) => map.definitions.value(*variable)?,
        other => other,
    };
    let Expression::Load { pointer, index } = value else {
        return None;
    };
    let &Expression::Variable(pointer) = &**pointer else {
        return None;
    };
    let address = map.definitions.linear(index)?;
    (address.factor == 1 && address.is_total()).then(|| (pointer, address.start()))
}

/// Returns the counter of an index that is a counter, or the sum of one and of what is the same in all iterations.
fn place_of(map: &Map, index: &Expression) -> Option<Variable> {
    let own = |e: &Expression| {
        let mut own = e.reads_memory();
        e.each_variable(&mut |v| own |= v == map.index || map.definitions.value(v).is_some());
        own
    };
    let place = match index {
        Expression::Scalar {
            operation: ScalarOperation::Add,
            arguments,
            ..
        } => match &arguments[..] {
            [one, other] if !own(one) => other,
            [one, other] if !own(other) => one,
            _others => return None,
        },
        other => other,
    };
    match place {
        Expression::Variable(variable) => Some(*variable),
        _others => None,
    }
}

/// Returns the condition under which a counter advances by one, if that is all that an assignment does.
fn condition_of<'m>(
    map: &'m Map,
    count: Variable,
    value: &'m Expression,
) -> Option<&'m Expression> {
    let Expression::Scalar {
        operation: ScalarOperation::Add,
        operand: Scalar::I64,
        arguments,
    } = value
    else {
        return None;
    };
    let flag = match &arguments[..] {
        [Expression::Variable(own), flag] if *own == count => flag,
        [flag, Expression::Variable(own)] if *own == count => flag,
        _others => return None,
    };
    let flag = match flag {
        Expression::Variable(variable) => map.definitions.value(*variable)?,
        other => other,
    };
    match flag {
        Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::Bool,
            arguments,
        } => arguments.first(),
        _others => None,
    }
}

/// Returns the declarations of a body that some values need, in their order.
fn needed<'m, 'e>(map: &Map<'m>, values: impl Iterator<Item = &'e Expression>) -> Vec<&'m Command> {
    let mut wanted = BTreeSet::new();
    for value in values {
        value.each_variable(&mut |v| {
            wanted.insert(v);
        });
    }
    let mut found = Vec::new();
    for command in map.body.iter().rev() {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
            && wanted.contains(variable)
        {
            value.each_variable(&mut |v| {
                wanted.insert(v);
            });
            found.push(command);
        }
    }
    found.reverse();
    found
}

/// Returns the value of a declaration.
fn values_of(command: &Command) -> impl Iterator<Item = &Expression> {
    let value = match command {
        Command::Declare { value, .. } => value.as_ref(),
        _others => None,
    };
    value.into_iter()
}

fn convert(from: Scalar, to: Scalar, value: Expression) -> Expression {
    Expression::Scalar {
        operation: ScalarOperation::Convert(to),
        operand: from,
        arguments: vec![value],
    }
}
