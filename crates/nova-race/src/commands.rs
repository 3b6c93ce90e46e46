//! The effects of each command: on the values of variables, and the elements that it reads and writes.

use crate::blocks::{Root, RootSet};
use crate::loop_nest::{Effect, Ordered};
use crate::refusal::Rule;
use crate::state::State;
use crate::steps::Step;
use crate::symbolic::{Base, Polynomial, Value};
use crate::walk::Walk;
use crate::{bisections, branches, holding, loops, scans, sizes};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Level, Type, Variable, memory_commands};
use nova_loop::print::print_variable;
use nova_loop::walk::reads;

impl<'p> Walk<'p> {
    /// Walks over one command.
    pub(crate) fn command(&mut self, command: &'p Command) {
        self.handles(command);
        holding::hold(&mut self.state.bases, command);
        reads(command, &mut |expression| self.read(expression));
        match command {
            Command::Declare { variable, value } => {
                self.declared.insert(*variable, self.nest.len());
                self.state.forget(*variable);
                match value {
                    Some(Expression::Offset {
                        pointer,
                        index,
                        extent: Some(extent),
                    }) => self.part_of_array(*variable, pointer, index, extent),
                    Some(value) => self.state.assign(*variable, value),
                    None => {}
                }
            }
            Command::Assign { variable, value } => self.state.assign(*variable, value),
            Command::Local { pointer, .. } => {
                self.declared.insert(*pointer, self.nest.len());
                self.made(*pointer, [Root::Site(*pointer)].into(), true, 1);
            }
            // *Places.* It may reuse the bytes of the array that was made here before.
            Command::Shared { pointer, count } => {
                self.declared.insert(*pointer, self.nest.len());
                let count = self.state.number(count);
                self.room.insert(*pointer, count);
                let is_new = self.state.without.contains(&Rule::Places);
                self.made(*pointer, [Root::Site(*pointer)].into(), is_new, 1);
            }
            Command::Spare {
                pointer,
                places,
                count,
                apart,
            } => self.spare(*pointer, places, count, apart),
            memory_commands!() => self.memory_command(command),
            Command::If {
                condition,
                then,
                otherwise,
            } => deep(|| branches::choice(self, condition, then, otherwise)),
            Command::Switch { cases, .. } => deep(|| branches::switch(self, cases)),
            Command::For {
                variable,
                count,
                level,
                body,
                ..
            } => deep(|| self.loop_of(*variable, count, *level, body)),
            Command::Loop { body, .. } => deep(|| self.loop_until(body)),
            nova_loop::calls!() => {
                self.call(command);
                holding::hold_results(&mut self.state, command);
            }
            Command::Check { condition, .. } => {
                let known = self.state.truth(condition).yes;
                self.state.facts.learn_all(known);
            }
            Command::Fail { .. } => {}
            Command::Return => self.refuse(Rule::WholeCall, "an iteration returns"),
            Command::BeginOrdered(_) => self.ordered(Ordered::In),
            Command::EndOrdered(_) => self.ordered(Ordered::After),
            Command::Barrier(level) => self.barrier(*level),
            Command::Break => self.waits.step(Step::Break),
            Command::Continue => self.waits.step(Step::Continue),
            Command::StoreFence
            | Command::Prefetch { .. }
            | Command::OnHost { .. }
            | Command::Comment(_) => {}
        }
    }

    fn ordered(&mut self, ordered: Ordered) {
        self.waits.step(Step::Ordered(ordered == Ordered::In));
        if let Some(parallel_loop) = self.nest.last_mut() {
            parallel_loop.ordered = ordered;
        }
    }

    /// Walks over a barrier, at which all iterations of the innermost loop of a level wait for each other.
    fn barrier(&mut self, level: Level) {
        // Here all threads of a group wait: they take the same branches around it ([`waits`]).
        if level == Level::Thread && self.nest.last().is_some_and(|f| f.level == Level::Block) {
            return self.waits.step(Step::Barrier);
        }
        let at = self
            .nest
            .iter()
            .rposition(|parallel_loop| parallel_loop.level == level);
        let Some(at) = at else {
            return self.refuse(Rule::Barriers, "a barrier outside of a loop of its level");
        };
        let is_direct = at + 1 == self.nest.len() && self.state.bases.depth == self.nest[at].depth;
        let is_together = is_direct && self.branches == self.nest[at].branches;
        self.nest[at].phase += 1;
        if !is_together {
            self.refuse(
                Rule::Barriers,
                "a barrier that not all iterations reach together",
            );
        }
    }

    fn loop_until(&mut self, body: &'p [Command]) {
        let bisection = bisections::bisection(self, body);
        loops::sequential(self, None, body);
        if let Some((variable, bisection)) = bisection {
            let found = Polynomial::variable(bisection.found);
            self.state.values.insert(variable, Value::Number(found));
            self.bisections.push(bisection);
        }
    }

    fn loop_of(
        &mut self,
        index: Variable,
        count: &'p Expression,
        level: Level,
        body: &'p [Command],
    ) {
        match level {
            Level::Sequential | Level::Unrolled => {
                let scans = scans::scan(self, index, count, body);
                loops::sequential(self, Some((index, count)), body);
                scans.into_iter().for_each(|scan| self.tables.learn(scan));
            }
            Level::Grid
            | Level::Block
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::Rank => loops::parallel(self, index, count, level, body),
        }
    }

    /// Refuses a command that counts references of a block from outside the loop.
    fn handles(&mut self, command: &Command) {
        let depth = self.nest.len();
        if depth == 0 {
            return;
        }
        let mut found = None;
        let mut see = |variable: Variable| {
            let is_handle = self.state.program.variable(variable).ty == Type::Block;
            if is_handle && self.declared.get(&variable).is_none_or(|at| *at < depth) {
                found = Some(variable);
            }
        };
        match command {
            Command::Retain(handle) | Command::Release(handle) => see(*handle),
            Command::DropBuffers { pieces, .. } => see(*pieces),
            _others => {}
        }
        reads(command, &mut |expression| {
            expression.each_variable(&mut see)
        });
        if let Some(handle) = found {
            let name = print_variable(self.state.program, handle);
            self.refuse(
                Rule::Handles,
                format!("{name} is counted, which is from around the loop"),
            );
        }
    }

    /// Records the elements that an expression reads.
    fn read(&mut self, expression: &Expression) {
        if self.nest.is_empty() {
            return;
        }
        if let Expression::Load { pointer, index } = expression {
            let index = self.state.number(index);
            self.access(pointer, &index, Some(1), Effect::Reads);
        }
        for child in expression.children() {
            deep(|| self.read(child));
        }
    }

    /// Records an access to `count` elements, or to any number, from an index after a pointer on.
    pub(crate) fn access(
        &mut self,
        pointer: &Expression,
        index: &Polynomial,
        count: Option<i64>,
        effect: Effect,
    ) {
        let count = count.map(Polynomial::constant);
        self.access_many(pointer, index, count.as_ref(), effect);
    }

    pub(crate) fn access_many(
        &mut self,
        pointer: &Expression,
        index: &Polynomial,
        count: Option<&Polynomial>,
        effect: Effect,
    ) {
        let mut spots = self.state.spots(pointer);
        for spot in &mut spots {
            spot.index = self.state.facts.sum(&spot.index, index);
        }
        let mut name = None;
        pointer.each_variable(&mut |v| {
            if matches!(self.state.program.variable(v).ty, Type::Pointer(_)) {
                name = Some(v);
            }
        });
        if let Some(name) = name {
            self.touch(spots, count, effect, name);
        }
    }

    /// Walks over the declaration of a pointer to a part of an array. It counts as a write to all of this
    /// part, so that no other iteration uses it. It also counts as an allocation of a block, so that
    /// accesses through the pointer are to the iteration's own memory.
    fn part_of_array(
        &mut self,
        part: Variable,
        whole: &Expression,
        index: &Expression,
        extent: &Expression,
    ) {
        let (index, extent) = (self.state.number(index), self.state.number(extent));
        let is_of_group = self.nest.last().is_some_and(|f| f.level == Level::Block);
        // Threads of a group use a part that belongs to all of them only through the pointer.
        let waits = self.waits.0.take_if(|_| is_of_group);
        self.access_many(whole, &index, Some(&extent), Effect::Writes);
        self.waits.0 = waits.or(self.waits.0.take());
        self.room.insert(part, extent);
        self.made(part, [Root::Site(part)].into(), false, 1);
    }

    /// Walks over `Spare`, which declares a pointer to one of several places. There is one more place than
    /// there are pointers in `apart`, and it is none of those to which these lead. So it is a part of the
    /// array of places that nothing else uses.
    fn spare(
        &mut self,
        pointer: Variable,
        places: &Expression,
        count: &Expression,
        apart: &[Expression],
    ) {
        let count = self.state.number(count);
        let all = count.scaled(apart.len() as i64 + 1);
        if !self.has_room(places, all.as_ref()) {
            self.refuse(Rule::Places, "an array may have too few places");
        }
        // The place is used only through the pointer.
        let waits = self.waits.0.take();
        self.access_many(places, &Polynomial::default(), all.as_ref(), Effect::Writes);
        self.waits.0 = waits;
        let mut others = Vec::new();
        for other in apart {
            // A pointer to the start of its base: the base is that array, not a larger one around it.
            if let [spot] = &self.state.spots(other)[..]
                && spot.index == Polynomial::default()
            {
                others.push(spot.base);
            }
        }
        self.declared.insert(pointer, self.nest.len());
        self.made(pointer, [Root::Site(pointer)].into(), false, 1);
        if let Some(made) = self.state.bases.infos.last_mut() {
            made.apart = others;
        }
    }

    /// True if at least `count` elements lie after a pointer.
    fn has_room(&self, pointer: &Expression, count: Option<&Polynomial>) -> bool {
        let Expression::Variable(pointer) = pointer else {
            return false;
        };
        let room = self.room.get(pointer).zip(count);
        room.is_some_and(|(room, count)| self.state.facts.is_never_negative(&room.minus(count)))
    }

    /// Gives a pointer a new base with these roots.
    fn made(&mut self, pointer: Variable, roots: RootSet, is_new: bool, stride: i64) {
        let spot = self.state.bases.base(roots, is_new, stride);
        self.state.values.insert(pointer, Value::Spots(vec![spot]));
    }

    /// Walks over a command on memory. What is not said here follows from its row in the table.
    fn memory_command(&mut self, command: &'p Command) {
        match command {
            Command::Allocate {
                pointer,
                destination,
                count,
                ..
            } => {
                let count = self.state.number(count);
                sizes::allocated(&mut self.state.facts, &count);
                let stride = destination.map_or(1, |d| i64::from(d.stride.max(1)));
                self.made(*pointer, [Root::Site(*pointer)].into(), true, stride);
                if destination.is_some() {
                    self.refuse(Rule::WholeCall, "memory of the result is allocated");
                }
            }
            Command::Reserve { pointer, .. } => {
                self.made(*pointer, [Root::Site(*pointer)].into(), true, 1);
            }
            Command::Unique { pointer, .. } => self.unique(*pointer),
            Command::ResultBuffers { pieces, .. } => {
                self.made(*pieces, [Root::Table(*pieces)].into(), true, 1);
            }
            Command::StoreBuffer {
                pieces,
                index,
                pointer,
                count,
                ..
            } => {
                let count = self.state.number(count);
                self.access_many(pointer, &Polynomial::default(), Some(&count), Effect::Reads);
                let index = self.state.number(index);
                self.result_buffer(*pieces, &index, true);
            }
            Command::Buffer {
                pointer,
                pieces,
                index,
                ..
            } => {
                let index = self.state.number(index);
                self.result_buffer(*pieces, &index, false);
                self.made(*pointer, [Root::Table(*pieces)].into(), false, 1);
            }
            Command::PlanNonTemporal { shift, width, .. } => self.plan_non_temporal(*shift, *width),
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                ..
            } => self.non_temporal_store(fields, start, from, count),
            // The interpreter lets a command use no other elements than its row states.
            _others => self.by_table(command),
        }
    }

    /// Records that an iteration uses a result buffer of a table.
    fn result_buffer(&mut self, table: Variable, index: &Polynomial, is_write: bool) {
        if let Some(Value::Spots(spots)) = self.state.values.get(&table) {
            let mut spots = spots.clone();
            for spot in &mut spots {
                spot.index = self.state.facts.sum(&spot.index, index);
            }
            let one = Polynomial::constant(1);
            let effect = match is_write {
                true => Effect::Writes,
                false => Effect::Reads,
            };
            self.touch(spots, Some(&one), effect, table);
        } else {
            self.refuse(Rule::Blocks, "result buffers of a table that is not known");
        }
    }

    /// Walks over `Unique`, after which a handle has the only reference of a block: its old block, or a copy.
    /// It is a copy where the function was given the block or a node holds it, since there is another
    /// reference. It is also a copy where the block is from outside a parallel loop, in which the handle
    /// has no reference.
    fn unique(&mut self, pointer: Variable) {
        let copy = self.state.bases.base([Root::Site(pointer)].into(), true, 1);
        let mut bases = vec![copy.base];
        if let Some(Value::Spots(spots)) = self.state.values.get(&pointer) {
            let before: Vec<Base> = spots.iter().map(|spot| spot.base).collect();
            for base in self.state.bases.blocks_of(&before) {
                bases.extend(self.own_blocks(base));
            }
        }
        let spot = self.state.bases.one_base_of(bases);
        self.state.values.insert(pointer, Value::Spots(vec![spot]));
    }

    /// Returns a base for the blocks of a base of which a handle here may have the only reference.
    fn own_blocks(&mut self, base: Base) -> Option<Base> {
        let sites = self.nest.last().map(|parallel_loop| &parallel_loop.sites);
        let is_own = |root: &Root| match root {
            Root::Outside | Root::Nodes => false,
            Root::Site(_) | Root::Table(_) => sites.is_none_or(|sites| sites.contains(root)),
        };
        let all = &self.state.bases[base].roots;
        let own: RootSet = all.iter().copied().filter(is_own).collect();
        match own.len() {
            0 => None,
            most if most == all.len() => Some(base),
            _some => Some(self.state.bases.base(own, false, 1).base),
        }
    }

    fn call(&mut self, command: &'p Command) {
        let is_grid = self.nest.iter().all(|inside| inside.level == Level::Grid);
        let level = match is_grid {
            true => Level::Grid,
            false => Level::Sequential,
        };
        let State { program, bases, .. } = &self.state;
        if bases.blocks.uses_call(program, command, level) {
            self.refuse(
                Rule::WholeCall,
                "an iteration uses what belongs to the whole call",
            );
        }
        if let (Command::Call { function, .. }, Some(inside)) = (command, self.nest.last_mut()) {
            inside.calls.insert(*function);
        }
        if let Command::Call { arguments, .. } | Command::Foreign { arguments, .. } = command {
            for argument in arguments {
                self.access(argument, &Polynomial::default(), None, Effect::Reads);
            }
        }
        self.by_table(command);
    }
}
