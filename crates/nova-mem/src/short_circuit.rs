//! Short-circuiting (funmem.txt §5): an array that is built in a block of its own and then copied into
//! another block is built there from the beginning, if nothing else needs it.
//!
//! The copy stays in the program and becomes a no-op, since its source and its target are the same
//! memory. The pass applies under three conditions. The target block can be allocated before the array
//! is built. Nothing touches that part of the target between the first write to the array and the copy.
//! Everything in the block of the array can be moved with it. Copies are visited from the last to the
//! first, so that sequences of copies collapse.

use crate::alias::{Rebasing, are_disjoint, extents, is_inside};
use crate::hoist::Body as Editor;
use crate::mistakes::{Mistake, Mistakes};
use crate::uses::{Event, Kind, Span, Uses};
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Expression, Output, Program, Statement, Variable, View};
use nova_flat::memory::{Memory, polynomial_of};
use nova_flat::visit;
use std::collections::HashMap;

/// Builds arrays at the target of their copies.
pub fn run(program: &mut Program) {
    run_with(program, Mistakes::default());
}

/// As [`run`], with a mistake if a test asks for one.
#[doc(hidden)]
pub fn run_with(program: &mut Program, mistakes: Mistakes) {
    let uses = Uses::of(program);
    let mut functions = std::mem::take(&mut program.functions);
    let mut reshaped = HashMap::new();
    for function in &functions {
        note_reshapes(&function.body, &mut reshaped);
    }
    let mut pass = ShortCircuit {
        extents: extents(program),
        reshaped,
        program,
        uses,
        mistakes,
    };
    for function in &mut functions {
        pass.body(&mut function.body, Vec::new());
    }
    program.functions = functions;
}

/// Notes of which arrays reshapes are made, outside of operations. Iterations of an operation stay apart by the
/// extents of what they make, so there these must say where the elements lie.
fn note_reshapes(body: &Body, reshaped: &mut HashMap<Variable, Variable>) {
    for statement in &body.statements {
        if let (
            [view],
            Expression::View {
                array,
                view: View::Reshape(_),
            },
        ) = (&statement.pattern[..], &statement.expression)
        {
            reshaped.insert(*view, *array);
        }
        if !matches!(statement.expression, Expression::Operation(_)) {
            visit::bodies(&statement.expression, &mut |inner| {
                deep(|| note_reshapes(inner, reshaped));
            });
        }
    }
}

struct ShortCircuit<'a> {
    program: &'a mut Program,
    uses: Uses,
    extents: Vec<bool>,
    /// The arrays of which reshapes are made, outside of operations.
    reshaped: HashMap<Variable, Variable>,
    mistakes: Mistakes,
}

impl ShortCircuit<'_> {
    /// Visits a body. `chunks` are those of its results that become chunks of larger arrays.
    fn body(&mut self, body: &mut Body, chunks: Vec<(Variable, Memory)>) {
        let mut editor = Editor::new(std::mem::take(&mut body.statements));
        for (chunk, target) in chunks {
            let scope = self.uses.span(chunk).map(|span| span.scope);
            if let Some(end) = scope.and_then(|scope| self.uses.end_of(scope)) {
                self.build_there(chunk, &target, end, &mut editor);
            }
        }
        for index in (0..editor.len()).rev() {
            let copies = editor.statement(index).map(|s| self.copies(s, &editor));
            for (source, target, at) in copies.unwrap_or_default() {
                self.build_there(source, &target, at, &mut editor);
            }
        }
        body.statements = editor.finish();
        for statement in &mut body.statements {
            // The chunks of an operation are results of its body, which precedes its lambdas.
            let mut chunks = self.joined(statement);
            visit::bodies_mut(&mut statement.expression, &mut |inner| {
                let chunks = std::mem::take(&mut chunks);
                deep(|| self.body(inner, chunks));
            });
        }
    }

    /// Returns the chunks that an operation joins, and the memory of each in the whole array.
    fn joined(&self, statement: &Statement) -> Vec<(Variable, Memory)> {
        let Expression::Operation(operation) = &statement.expression else {
            return Vec::new();
        };
        let mut joined = Vec::new();
        let mut made = statement.pattern.iter().skip(operation.carries.len());
        let mut consumed = operation.body.results.iter().skip(operation.carries.len());
        for output in &operation.outputs {
            let own: Vec<Atom> = consumed.by_ref().take(output.consumes()).copied().collect();
            let given: Vec<Variable> = made.by_ref().take(output.gives()).copied().collect();
            if let (Output::Join { .. }, [first, Atom::Variable(chunk)], [whole]) =
                (output, &own[..], &given[..])
            {
                let target = self.chunk(*whole, *first, *chunk);
                joined.extend(target.map(|target| (*chunk, target)));
            }
        }
        joined
    }

    /// Returns the memory of a chunk that starts at index `first` of a whole array.
    fn chunk(&self, whole: Variable, first: Atom, chunk: Variable) -> Option<Memory> {
        let mut memory = self.memory(whole)?;
        let extent = self.program.ty(chunk).shape().first()?;
        let (outermost, stride) = memory.lmad.dimensions.first_mut()?;
        *outermost = polynomial_of(*extent)?;
        let offset = polynomial_of(first)?.times(stride);
        memory.lmad.offset = memory.lmad.offset.plus(&offset);
        Some(memory)
    }

    /// Returns the arrays that a statement copies, and the target of each copy. Updates and scatters
    /// count only if they write to memory for the caller. Others are moved to where the old array lies
    /// ([`crate::reuse`]).
    fn copies(&self, statement: &Statement, editor: &Editor) -> Vec<(Variable, Memory, Span)> {
        let pattern = &statement.pattern;
        let mut copies = Vec::new();
        let mut copy = |source: Variable, target: Option<&Variable>, changed: bool| {
            let target = target.and_then(|t| Some((self.memory(*t)?, self.uses.span(*t)?)));
            if let Some((memory, span)) = target
                && (!changed || editor.hands_out(memory.block))
            {
                copies.push((source, memory, span));
            }
        };
        match &statement.expression {
            Expression::Copy(source) => copy(*source, pattern.first(), false),
            Expression::Update { array, .. } => copy(*array, pattern.first(), true),
            Expression::Operation(operation) => {
                let mut made = pattern.iter().skip(operation.carries.len());
                for output in &operation.outputs {
                    match output {
                        Output::Scatter { destinations, .. } => {
                            destinations
                                .iter()
                                .for_each(|d| copy(*d, made.next(), true));
                        }
                        other => made.by_ref().take(other.gives()).for_each(drop),
                    }
                }
            }
            Expression::Concat { arrays, .. } => {
                if let [made] = pattern.as_slice()
                    && let (Some(memory), Some(span)) = (self.memory(*made), self.uses.span(*made))
                {
                    let operands = self.operands(arrays, memory).unwrap_or_default();
                    copies.extend(
                        operands
                            .into_iter()
                            .map(|(array, slice)| (array, slice, span)),
                    );
                }
            }
            _no_copy => {}
        }
        copies
    }

    /// Returns the memory of each operand of a concatenation.
    fn operands(&self, arrays: &[Variable], memory: Memory) -> Option<Vec<(Variable, Memory)>> {
        let [(_, stride)] = memory.lmad.dimensions.as_slice() else {
            return None;
        };
        let mut operands = Vec::with_capacity(arrays.len());
        let mut slice = memory.clone();
        for array in arrays {
            let [extent] = self.program.ty(*array).shape() else {
                return None;
            };
            let extent = polynomial_of(*extent)?;
            slice.lmad.dimensions = vec![(extent.clone(), stride.clone())];
            operands.push((*array, slice.clone()));
            slice.lmad.offset = slice.lmad.offset.plus(&extent.times(stride));
        }
        Some(operands)
    }

    /// Builds `source`, which the statement `at` copies to `target`, at `target`, if that is correct.
    fn build_there(
        &mut self,
        source: Variable,
        target: &Memory,
        at: Span,
        editor: &mut Editor,
    ) -> Option<()> {
        let memory = self.memory(source)?;
        let (from, into) = (memory.block, target.block);
        let wrong = self.mistakes;
        let is_used = |pass: &Self| pass.uses.later(from, at).is_some();
        if from == into
            || !editor.owns(from)
            || (is_used(self) && !wrong.make(Mistake::CopyUsedLater))
        {
            return None;
        }
        let mut rebasing = Rebasing::between(&memory.lmad, &target.lmad)?;
        let first = self.may_move(source, &memory, at, &rebasing)?;
        let free = self.is_free(target, first, at) || wrong.make(Mistake::TargetInUse);
        free.then_some(())?;
        let mut named = true;
        rebasing.variables(&mut |v| named &= self.is_bound_before(v, first));
        named.then_some(())?;
        if !self.is_bound_before(into, first) && !wrong.make(Mistake::NotHoisted) {
            let (program, uses) = (&mut *self.program, &mut self.uses);
            editor.hoist(into, first, at.scope, program, uses, wrong)?;
        }
        match wrong.0 {
            Some(Mistake::WrongOffset) => rebasing = rebasing.amiss(1, 1),
            Some(Mistake::WrongStride) => rebasing = rebasing.amiss(0, 2),
            Some(_) | None => {}
        }
        let mut arrays = self.uses.block(from)?.arrays.clone();
        if wrong.make(Mistake::ViewsLeftBehind) {
            arrays.retain(|array| *array == source);
        }
        for array in arrays {
            let info = &mut self.program.variables[array.index()];
            info.memory = info.memory.as_ref().map(|m| rebasing.memory(m, into));
        }
        self.uses.merge(from, into);
        editor.remove(from);
        Some(())
    }

    /// True if an array is one that `made` is a reshape of, both without gaps from the same start. So they have the same
    /// elements, even if their extents do not say so.
    fn is_reshape(&self, made: Variable, array: Variable) -> bool {
        let mut source = made;
        while let Some(before) = self.reshaped.get(&source) {
            source = *before;
            if source == array {
                break;
            }
        }
        let both = (self.memory(made)).zip(self.memory(array));
        source == array
            && both.is_some_and(|(made, array)| {
                let same = made.block == array.block && made.lmad.offset == array.lmad.offset;
                same && made.lmad.is_row_major() && array.lmad.is_row_major()
            })
    }

    /// Returns the time at which the first array in the block of `source` begins. Returns `None` unless all arrays of
    /// the block are made for `source`, which the statement `at` copies and `array` describes, and may lie elsewhere.
    fn may_move(
        &self,
        source: Variable,
        array: &Memory,
        at: Span,
        rebasing: &Rebasing,
    ) -> Option<u32> {
        let block = array.block;
        let copies = self.uses.events(block, at.enter..=at.exit).count();
        let stays = |event: &Event| match event.kind {
            Kind::Made => {
                let memory = self.memory(event.array);
                !memory.is_some_and(|m| is_inside(&m.lmad, &array.lmad, &|v| self.is_extent(v)))
                    && !self.is_reshape(source, event.array)
            }
            Kind::Read => false,
            Kind::ReadInOrder => {
                !rebasing.keeps_order() && !self.mistakes.make(Mistake::GapsWhereNone)
            }
            Kind::Handed => true,
        };
        if copies != 1 || self.uses.events(block, 0..=u32::MAX).any(stays) {
            return None;
        }
        let arrays = &self.uses.block(block)?.arrays;
        let starts = arrays
            .iter()
            .filter_map(|a| Some(self.uses.span(*a)?.enter));
        starts.min()
    }

    /// True if nothing accesses the memory `target` from the time `first` to the statement `at`, and
    /// nothing may access it by another name.
    fn is_free(&self, target: &Memory, first: u32, at: Span) -> bool {
        let apart = |event: &Event| {
            let memory = self.memory(event.array);
            memory.is_some_and(|m| are_disjoint(&m.lmad, &target.lmad, &|v| self.is_extent(v)))
        };
        let mut before = self.uses.events(target.block, 0..=at.enter);
        let mut between = self.uses.events(target.block, first..=at.enter - 1);
        let mut operands = self.uses.events(target.block, at.enter..=at.exit);
        before.all(|event| event.kind != Kind::Handed || apart(event))
            && between.all(apart)
            && operands.all(|event| event.kind == Kind::Made || apart(event))
    }

    fn is_bound_before(&self, variable: Variable, time: u32) -> bool {
        self.uses
            .span(variable)
            .is_some_and(|span| span.exit < time)
    }

    fn is_extent(&self, variable: Variable) -> bool {
        self.extents.get(variable.index()) == Some(&true)
    }

    fn memory(&self, array: Variable) -> Option<Memory> {
        self.program.variables.get(array.index())?.memory.clone()
    }
}
