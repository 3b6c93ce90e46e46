//! The type rule of each expression.

use super::{INSIDE, Position, Result, Verifier, array_type, variables};
use crate::ir::{Atom, Body, Expression, FunctionId, Lambda, Sorted, Type, Variable, View};
use crate::links::tables_type;
use crate::values::reached::reached_components;
use crate::visit::Substitution;
use nova_core::{ErrorKind, Member, Scalar, ScalarOperation, SumId};

impl<'a> Verifier<'a> {
    /// Checks an expression whose results `pattern` binds.
    pub(super) fn expression(
        &mut self,
        expression: &'a Expression,
        pattern: &'a [Variable],
        position: Position,
    ) -> Result<()> {
        match expression {
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                self.is(*condition, Scalar::Bool)?;
                self.body(then, pattern, position)?;
                self.body(otherwise, pattern, position)
            }
            Expression::Switch { scrutinee, cases } => {
                self.is(*scrutinee, Scalar::I32)?;
                self.require(!cases.is_empty(), || "a switch without cases".to_string())?;
                cases
                    .iter()
                    .try_for_each(|case| self.body(case, pattern, position))
            }
            Expression::While {
                parameters,
                condition,
                body,
            } => self.while_loop(parameters, condition, body, pattern),
            Expression::Call {
                function,
                arguments,
                tail,
            } => {
                self.require(!tail || position.tail, || {
                    "a tail call that is none".to_string()
                })?;
                self.call(*function, arguments, pattern)
            }
            Expression::Operation(operation) => self.operation(operation, pattern),
            Expression::Sort { count, compare } => {
                self.extent(*count)?;
                self.lambda(compare, &[Scalar::I64, Scalar::I64], &[Scalar::Bool])?;
                self.gives_one(pattern, Type::Array(Scalar::I64, vec![*count]))
            }
            Expression::SortKeys {
                count,
                first,
                keys,
                low,
                gives,
            } => {
                let is_whole =
                    gives[..] == [Sorted::Keys] && first == count && *low < Scalar::U64.bits();
                self.require(*low == 0 || is_whole, || "a sort by some bits".to_string())?;
                self.sort_keys([*count, *first], *keys, gives, pattern)
            }
            without_bodies => self.without_bodies(without_bodies, pattern),
        }
    }

    fn sort_keys(
        &self,
        [count, first]: [Atom; 2],
        keys: Variable,
        gives: &[Sorted],
        pattern: &[Variable],
    ) -> Result<()> {
        self.extent(count)?;
        self.extent(first)?;
        let (word, shape) = self.array(keys)?;
        self.require(matches!(word, Scalar::U32 | Scalar::U64), || {
            "keys that are no u32 or u64".to_string()
        })?;
        self.require(shape == [count], || "another number of keys".to_string())?;
        let given = gives.iter().map(|sorted| {
            let scalar = match sorted {
                Sorted::Positions => Scalar::I64,
                Sorted::Keys => word,
            };
            Type::Array(scalar, vec![first])
        });
        self.gives_all(pattern, &given.collect::<Vec<_>>())
    }

    /// Checks an expression without bodies that is no call of a function.
    fn without_bodies(&self, expression: &Expression, pattern: &[Variable]) -> Result<()> {
        match expression {
            Expression::Check {
                condition,
                error,
                arguments,
            } => {
                self.is(*condition, Scalar::Bool)?;
                self.shown(*error, arguments)?;
                self.gives_all(pattern, &[])
            }
            Expression::Fail { error, arguments } => self.shown(*error, arguments),
            Expression::Foreign { foreign, arguments } => {
                self.foreign(*foreign, arguments, pattern)
            }
            Expression::NodePayload {
                sum,
                constructor,
                link,
            } => {
                self.is(*link, Scalar::I64)?;
                self.payload(*sum, *constructor, &variables(pattern), true)
            }
            Expression::NodesReached { members, link } => {
                self.is(*link, Scalar::I64)?;
                self.are_members(members)?;
                self.gives_all(pattern, &reached_types(members.len(), pattern))
            }
            Expression::TableOpen { members, link, .. } => {
                self.is(*link, Scalar::I64)?;
                self.are_members(members)?;
                self.are_pattern_components(pattern, &tables_type(members))
            }
            Expression::TableShrink { members, tables } => {
                self.are_members(members)?;
                self.are_components(tables, &self.components(&tables_type(members))?)?;
                self.are_pattern_components(pattern, &tables_type(members))
            }
            Expression::NodeStore {
                sum,
                constructor,
                link,
                payload,
            } => {
                self.is(*link, Scalar::I64)?;
                self.payload(*sum, *constructor, payload, false)?;
                self.gives_all(pattern, &[])
            }
            Expression::Trace { ty, components, .. } => {
                self.are_components(components, &self.components(ty)?)?;
                self.gives_all(pattern, &[])
            }
            with_one_result => {
                let ty = self.single(with_one_result)?;
                self.gives_one(pattern, ty)
            }
        }
    }

    /// Returns the type of an expression with one result.
    fn single(&self, expression: &Expression) -> Result<Type> {
        match expression {
            Expression::Atom(atom) => self.type_of(*atom),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => self.operation_on_scalars(*operation, *operand, arguments),
            Expression::Index { array, indices } => {
                let (scalar, shape) = self.array(*array)?;
                self.are(indices, Scalar::I64)?;
                self.require(shape.len() == indices.len(), || {
                    "an index with another number of dimensions".to_string()
                })?;
                Ok(Type::Scalar(scalar))
            }
            Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                self.payload(*sum, *constructor, payload, false)?;
                Ok(Type::Scalar(Scalar::I64))
            }
            Expression::TableClose {
                checked: _,
                members,
                root,
                tables,
            } => {
                self.is(*root, Scalar::I64)?;
                self.are_members(members)?;
                self.are_components(tables, &self.components(&tables_type(members))?)?;
                Ok(Type::Scalar(Scalar::I64))
            }
            Expression::NodesReserve { sum, count: atom }
            | Expression::NodesSeal { sum, link: atom } => {
                self.recursive_sum(*sum)?;
                self.is(*atom, Scalar::I64)?;
                Ok(Type::Scalar(Scalar::I64))
            }
            Expression::NodesAcyclic {
                members,
                first,
                counts,
            } => {
                self.are_members(members)?;
                self.are(first, Scalar::I64)?;
                self.are(counts, Scalar::I64)?;
                self.require([first.len(), counts.len()] == [members.len(); 2], || {
                    "nodes with another number of ranges than members".to_string()
                })?;
                Ok(Type::Scalar(Scalar::Bool))
            }
            Expression::MaySplit => Ok(Type::Scalar(Scalar::Bool)),
            Expression::NodeTag { sum, link } => {
                self.recursive_sum(*sum)?;
                self.is(*link, Scalar::I64)?;
                Ok(Type::Scalar(Scalar::I32))
            }
            Expression::Allocate { element, count, .. } => {
                self.require(self.memory, || "an allocation in Flat".to_string())?;
                self.extent(*count)?;
                Ok(Type::Block(*element))
            }
            Expression::Unique(array) => {
                self.require(self.memory, || "a sole holder in Flat".to_string())?;
                let (scalar, shape) = self.array(*array)?;
                Ok(Type::Array(scalar, shape.to_vec()))
            }
            array => self.single_array(array),
        }
    }

    /// Returns the type of an expression that gives an array.
    fn single_array(&self, expression: &Expression) -> Result<Type> {
        match expression {
            Expression::View { array, view } => self.view(*array, view),
            Expression::Literal { element, elements } => {
                self.are(elements, *element)?;
                Ok(Type::Array(
                    *element,
                    vec![Atom::index(elements.len() as i64)],
                ))
            }
            Expression::Bytes(bytes) => Ok(Type::Array(
                Scalar::U8,
                vec![Atom::index(bytes.len() as i64)],
            )),
            Expression::Iota { count, start, step } => {
                self.extent(*count)?;
                let scalar = self.scalar(*start)?;
                self.is(*step, scalar)?;
                self.require(scalar != Scalar::Bool, || "a range of bools".to_string())?;
                Ok(Type::Array(scalar, vec![*count]))
            }
            Expression::Replicate { shape, value } => {
                self.require(!shape.is_empty(), || {
                    "a replicate without extents".to_string()
                })?;
                shape.iter().try_for_each(|extent| self.extent(*extent))?;
                Ok(Type::Array(self.scalar(*value)?, shape.clone()))
            }
            Expression::Copy(array) => {
                let (scalar, shape) = self.array(*array)?;
                Ok(Type::Array(scalar, shape.to_vec()))
            }
            Expression::Concat { arrays, count } => {
                self.extent(*count)?;
                Ok(Type::Array(self.vectors(arrays)?, vec![*count]))
            }
            Expression::Update {
                array,
                indices,
                value,
            } => {
                let (scalar, shape) = self.array(*array)?;
                self.are(indices, Scalar::I64)?;
                self.is(*value, scalar)?;
                self.require(shape.len() == indices.len(), || {
                    "an update with another number of dimensions".to_string()
                })?;
                Ok(Type::Array(scalar, shape.to_vec()))
            }
            // These are checked by the callers.
            _ => self.fail("an expression that gives no array"),
        }
    }

    /// Returns the element type of vectors. There must be at least one, and all must have one type.
    fn vectors(&self, arrays: &[Variable]) -> Result<Scalar> {
        let Some(first) = arrays.first() else {
            return self.fail("a concatenation of nothing");
        };
        let (scalar, _) = self.array(*first)?;
        for array in arrays {
            let (other, shape) = self.array(*array)?;
            self.require(other == scalar && shape.len() == 1, || {
                "a concatenation of other than vectors of one type".to_string()
            })?;
        }
        Ok(scalar)
    }

    fn gives_one(&self, pattern: &[Variable], ty: Type) -> Result<()> {
        self.gives_all(pattern, &[ty])
    }

    /// Checks that the pattern has exactly these types.
    pub(super) fn gives_all(&self, pattern: &[Variable], types: &[Type]) -> Result<()> {
        self.require(pattern.len() == types.len(), || {
            format!("{} variables for {} results", pattern.len(), types.len())
        })?;
        pattern
            .iter()
            .zip(types)
            .try_for_each(|(variable, ty)| self.gives(*variable, ty))
    }

    fn operation_on_scalars(
        &self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) -> Result<Type> {
        self.are(arguments, operand)?;
        self.require(arguments.len() == operation.arity(), || {
            format!("{} with {} arguments", operation.short(), arguments.len())
        })?;
        let accepted = match operation {
            ScalarOperation::Wrap(to) => operand != Scalar::Bool && to.is_integer(),
            ScalarOperation::Bits(to) => operand.holds_bits_of(to),
            // Of truth values both operands are known, unlike those of a conditional.
            ScalarOperation::BitAnd | ScalarOperation::BitOr if operand == Scalar::Bool => true,
            other => other.info().is_none_or(|info| info.class.contains(operand)),
        };
        self.require(accepted, || {
            format!("{} on {}", operation.short(), operand.info().short)
        })?;
        Ok(Type::Scalar(operation.result(operand)))
    }

    fn view(&self, array: Variable, view: &View) -> Result<Type> {
        let (scalar, shape) = self.array(array)?;
        let extents = match view {
            View::Slice(dimensions) => {
                self.require(dimensions.len() == shape.len(), || {
                    "a slice with another number of dimensions".to_string()
                })?;
                for dimension in dimensions {
                    self.are(&[dimension.start, dimension.step], Scalar::I64)?;
                    self.extent(dimension.count)?;
                }
                dimensions.iter().map(|d| d.count).collect()
            }
            View::Transpose(permutation) => {
                let mut sorted = permutation.clone();
                sorted.sort_unstable();
                self.require(sorted.iter().copied().eq(0..shape.len() as u32), || {
                    "a transpose that is no permutation of the dimensions".to_string()
                })?;
                permutation
                    .iter()
                    .filter_map(|k| shape.get(*k as usize).copied())
                    .collect()
            }
            // Constant extents may contradict each other after a check that fails.
            View::Reshape(extents) => {
                extents.iter().try_for_each(|extent| self.extent(*extent))?;
                extents.clone()
            }
            View::Row(indices) => {
                self.are(indices, Scalar::I64)?;
                self.require(indices.len() < shape.len(), || {
                    "a row at as many indices as dimensions".to_string()
                })?;
                shape[indices.len()..].to_vec()
            }
        };
        self.require(!extents.is_empty(), || "a view without extents".to_string())?;
        Ok(array_type(scalar, extents))
    }

    /// Checks the integers that an error shows.
    fn shown(&self, error: ErrorKind, arguments: &[Atom]) -> Result<()> {
        let info = error.info();
        self.require(arguments.len() == info.arguments, || {
            format!("error {} with {} arguments", info.word, arguments.len())
        })?;
        for argument in arguments {
            let integer = self.scalar(*argument)?.is_integer();
            self.require(integer, || {
                format!("{} is no integer", self.show(*argument))
            })?;
        }
        Ok(())
    }

    fn while_loop(
        &mut self,
        parameters: &'a [(Variable, Atom)],
        condition: &'a Body,
        body: &'a Body,
        pattern: &[Variable],
    ) -> Result<()> {
        let (names, starts): (Vec<Variable>, Vec<Atom>) = parameters.iter().copied().unzip();
        let outside = self.scope.len();
        self.are_states(&names, &starts)?;
        self.body_giving(condition, &[Scalar::Bool])?;
        self.body(body, &names, INSIDE)?;
        self.leave(outside);
        self.meet_pattern(&names, pattern, Substitution::default())
    }

    /// Binds the states of a loop, which start with these values.
    pub(super) fn are_states(&mut self, names: &[Variable], starts: &[Atom]) -> Result<()> {
        for start in starts {
            // The states themselves are not yet in scope.
            self.type_of(*start)?;
        }
        names.iter().try_for_each(|name| self.bind(*name))?;
        self.meet(names, starts)
    }

    /// Checks a body that gives scalars of these types.
    pub(super) fn body_giving(&mut self, body: &'a Body, types: &[Scalar]) -> Result<()> {
        let outside = self.scope.len();
        self.statements(body, INSIDE)?;
        self.require(body.results.len() == types.len(), || {
            format!(
                "a body with {} results, not {}",
                body.results.len(),
                types.len()
            )
        })?;
        for (result, ty) in body.results.iter().zip(types) {
            self.is(*result, *ty)?;
        }
        self.leave(outside);
        Ok(())
    }

    /// Checks a lambda from scalars to scalars.
    pub(super) fn lambda(
        &mut self,
        lambda: &'a Lambda,
        parameters: &[Scalar],
        results: &[Scalar],
    ) -> Result<()> {
        let outside = self.scope.len();
        self.require(lambda.parameters.len() == parameters.len(), || {
            format!(
                "a lambda with {} parameters, not {}",
                lambda.parameters.len(),
                parameters.len()
            )
        })?;
        for (parameter, ty) in lambda.parameters.iter().zip(parameters) {
            self.bind(*parameter)?;
            self.is(Atom::Variable(*parameter), *ty)?;
        }
        self.body_giving(&lambda.body, results)?;
        self.leave(outside);
        Ok(())
    }

    fn call(&self, function: FunctionId, arguments: &[Atom], pattern: &[Variable]) -> Result<()> {
        let Some(callee) = self.program.functions.get(function.index()) else {
            return self.fail(format!("there is no function {}", function.0));
        };
        self.meet(&callee.parameters, arguments)?;
        let mut substitution = Substitution::default();
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            substitution.insert(*parameter, *argument);
        }
        self.meet_pattern(&callee.results, pattern, substitution)
    }

    fn foreign(&self, foreign: u32, arguments: &[Atom], pattern: &[Variable]) -> Result<()> {
        let Some(foreign) = self.program.foreigns.get(foreign as usize) else {
            return self.fail(format!("there is no foreign function {foreign}"));
        };
        let mut rest = arguments;
        for ty in &foreign.parameters {
            let list = self.components(ty)?;
            let Some((own, others)) = rest.split_at_checked(list.len()) else {
                return self.fail("a foreign call with too few arguments");
            };
            self.are_components(own, &list)?;
            rest = others;
        }
        self.require(rest.is_empty(), || {
            "a foreign call with too many arguments".to_string()
        })?;
        self.are_pattern_components(pattern, &foreign.result)
    }

    fn are_pattern_components(&self, pattern: &[Variable], ty: &nova_core::Type) -> Result<()> {
        let list = self.components(ty)?;
        let mut types = Vec::new();
        for component in &list {
            let extents = component.shape.iter().filter_map(|k| pattern.get(*k));
            let extents = extents.map(|v| Atom::Variable(*v)).collect();
            types.push(array_type(component.scalar, extents));
        }
        self.gives_all(pattern, &types)
    }

    fn recursive_sum(&self, sum: SumId) -> Result<&'a nova_core::SumType> {
        match self.program.sums.get(sum.index()) {
            Some(sum) if sum.is_recursive() => Ok(sum),
            Some(_) | None => self.fail(format!("sum {} has no nodes", sum.0)),
        }
    }

    /// Checks that the pairs are the members of a group.
    fn are_members(&self, members: &[Member]) -> Result<()> {
        match crate::links::links(members, &self.program.sums) {
            Ok(_) => Ok(()),
            Err(message) => self.fail(message),
        }
    }

    /// Checks operands, or a pattern, that are the payload of a node.
    fn payload(&self, sum: SumId, constructor: u32, atoms: &[Atom], pattern: bool) -> Result<()> {
        let sum = self.recursive_sum(sum)?;
        let Some(constructor) = sum.constructors.get(constructor as usize) else {
            return self.fail(format!("{} has no constructor {constructor}", sum.name));
        };
        if !pattern {
            return self.are_components(atoms, &self.components(&constructor.payload)?);
        }
        let variable = |atom: &Atom| atom.as_variable();
        let variables: Vec<Variable> = atoms.iter().filter_map(variable).collect();
        self.are_pattern_components(&variables, &constructor.payload)
    }
}

/// Returns the types of the results of [`Expression::NodesReached`]. The pattern gives their sizes.
fn reached_types(members: usize, pattern: &[Variable]) -> Vec<Type> {
    let own = reached_components();
    let mut types = Vec::new();
    for first in (0..members).map(|k| k * own.len()) {
        for component in &own {
            let sizes = component.shape.iter();
            let sizes = sizes.filter_map(|k| pattern.get(first + k));
            let sizes = sizes.map(|v| Atom::Variable(*v)).collect();
            types.push(array_type(component.scalar, sizes));
        }
    }
    types
}
