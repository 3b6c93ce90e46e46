//! Code for the interpreter: Flat with variables numbered by the slots of an activation, and with the
//! last uses of arrays marked.
//!
//! A use of a variable is the last one if no path from it leads to another use. Nothing after it in its
//! body or in the enclosing bodies uses the variable. It is not in a loop that the variable is bound
//! outside of. Its own statement uses the variable once.

use super::SlotInfo;
use crate::ir::{Atom, Body, Expression, Function, Program, Type, Variable, VariableInfo};
use crate::visit::{
    Substitution, binders_mut, bodies, bodies_mut, each_statement, operands_mut, type_variables,
    used_variables,
};
use nova_core::Scalar;
use nova_diag::{Place, deep};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The bit that is set in the number of a variable at its last use.
pub const LAST: u32 = 1 << 31;

/// Returns the slot of a variable, marked or not.
pub fn slot(variable: Variable) -> usize {
    (variable.0 & !LAST) as usize
}

/// The code of a function.
pub struct Code {
    pub name: Arc<str>,
    pub place: Place,
    pub parameters: Vec<Variable>,
    pub body: Body,
    /// The facts about each slot.
    pub infos: Vec<SlotInfo>,
}

/// The codes of a program's functions, each prepared when it is first called.
pub struct Codes<'a> {
    program: &'a Program,
    /// The slot of each variable of the program, once its function is prepared.
    slots: RefCell<Vec<u32>>,
    prepared: Vec<OnceCell<Code>>,
}

impl<'a> Codes<'a> {
    /// Returns the codes of a program.
    pub fn new(program: &'a Program) -> Codes<'a> {
        Codes {
            program,
            slots: RefCell::new(vec![NONE; program.variables.len()]),
            prepared: program.functions.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// Returns the code of a function, if there is one of this number.
    pub fn get(&self, function: usize) -> Option<&Code> {
        let code = self.prepared.get(function)?;
        let function = self.program.functions.get(function)?;
        Some(code.get_or_init(|| prepare(self.program, function, &mut self.slots.borrow_mut())))
    }
}

/// Prepares a function.
fn prepare(program: &Program, function: &Function, slots: &mut [u32]) -> Code {
    let (mut allocated, mut sole) = (BTreeSet::new(), BTreeSet::new());
    each_statement(&function.body, &mut |statement| {
        if statement.expression.is_allocation() {
            allocated.extend(&statement.pattern);
        }
        if let Expression::Unique(_) = &statement.expression {
            let memories = statement.pattern.iter();
            let memories = memories.filter_map(|v| program.variable(*v).memory.as_ref());
            sole.extend(memories.map(|memory| memory.block));
        }
    });
    let mut prepare = Prepare {
        program,
        slots,
        allocated,
        sole,
        infos: Vec::new(),
        arrays: Vec::new(),
        loops: Vec::new(),
        live: Vec::new(),
        became_live: Vec::new(),
    };
    let (mut body, mut parameters) = (function.body.clone(), function.parameters.clone());
    parameters.iter_mut().for_each(|p| prepare.bind(p, 0));
    prepare.number(&mut body, 0);
    prepare.live = vec![false; prepare.arrays.len()];
    prepare.mark(&mut body, 0);
    Code {
        name: function.name.clone(),
        place: function.place.clone(),
        parameters,
        body,
        infos: prepare.infos,
    }
}

/// The slot of variables that have none.
const NONE: u32 = LAST - 1;

struct Prepare<'a> {
    program: &'a Program,
    /// The slot of each variable of the program.
    slots: &'a mut [u32],
    /// The blocks bound by `Allocate`.
    allocated: BTreeSet<Variable>,
    /// The blocks bound by `Unique`, in which other arrays may lie later.
    sole: BTreeSet<Variable>,
    infos: Vec<SlotInfo>,
    /// By slot, true if it holds an array.
    arrays: Vec<bool>,
    /// By slot, the number of loops that enclose the binding.
    loops: Vec<u32>,
    /// By slot, true if it is used after the current position.
    live: Vec<bool>,
    /// The slots that became live, in order.
    became_live: Vec<u32>,
}

impl Prepare<'_> {
    /// Gives a variable a slot, and its block too if the variable binds that.
    fn bind(&mut self, variable: &mut Variable, depth: u32) {
        let unknown = || VariableInfo {
            name: "".into(),
            ty: Type::Scalar(Scalar::Bool),
            memory: None,
        };
        let info = self.program.variables.get(variable.index());
        let info = info.cloned().unwrap_or_else(unknown);
        let mut own_block = false;
        let memory = info.memory.map(|memory| {
            let is_new = self.slot_of(memory.block).0 == NONE;
            let is_target = self.sole.contains(&memory.block) && !is_new;
            own_block = !self.allocated.contains(&memory.block) && !is_target;
            if own_block && is_new {
                self.bind(&mut memory.block.clone(), depth);
            }
            let mut substitution = Substitution::default();
            type_variables(&Type::Scalar(Scalar::Bool), Some(&memory), &mut |v| {
                substitution.insert(v, Atom::Variable(self.slot_of(v)));
            });
            substitution.memory(&memory)
        });
        let new = self.infos.len() as u32;
        self.infos.push(SlotInfo {
            name: info.name,
            element: info.ty.element(),
            memory,
            own_block,
        });
        self.arrays.push(info.ty.is_array());
        self.loops.push(depth);
        if let Some(slot) = self.slots.get_mut(variable.index()) {
            *slot = new;
        }
        variable.0 = new;
    }

    fn slot_of(&self, variable: Variable) -> Variable {
        Variable(self.slots.get(variable.index()).copied().unwrap_or(NONE))
    }

    /// Numbers the variables of a body inside `depth` loops.
    fn number(&mut self, body: &mut Body, depth: u32) {
        for statement in &mut body.statements {
            operands_mut(
                &mut statement.expression,
                &mut |atom| {
                    if let Atom::Variable(variable) = atom {
                        *variable = self.slot_of(*variable);
                    }
                },
                &mut |array| *array = self.slot_of(*array),
            );
            self.number_bodies(&mut statement.expression, depth);
            statement
                .pattern
                .iter_mut()
                .for_each(|v| self.bind(v, depth));
        }
        for result in &mut body.results {
            if let Atom::Variable(variable) = result {
                *variable = self.slot_of(*variable);
            }
        }
    }

    /// Numbers the binders and bodies of an expression.
    fn number_bodies(&mut self, expression: &mut Expression, depth: u32) {
        binders_mut(expression, &mut |v| self.bind(v, depth + 1));
        let depths = Depths::of(expression, depth);
        let mut k = 0;
        bodies_mut(expression, &mut |body| {
            deep(|| self.number(body, depths.of_body(k)));
            k += 1;
        });
    }

    /// Marks last uses, from the end to the beginning.
    fn mark(&mut self, body: &mut Body, depth: u32) {
        let names: Vec<Variable> = body
            .results
            .iter()
            .filter_map(|a| a.as_variable())
            .collect();
        for result in &mut body.results {
            if let Atom::Variable(variable) = result {
                self.mark_one(variable, &names, depth);
            }
        }
        self.make_live(&names);
        for statement in body.statements.iter_mut().rev() {
            self.mark_bodies(&mut statement.expression, depth);
            let mut names = Vec::new();
            used_variables(&statement.expression, &mut |v| names.push(v));
            let this = RefCell::new(&mut *self);
            operands_mut(
                &mut statement.expression,
                &mut |atom| {
                    if let Atom::Variable(variable) = atom {
                        this.borrow().mark_one(variable, &names, depth);
                    }
                },
                &mut |array| this.borrow().mark_one(array, &names, depth),
            );
            self.make_live(&names);
        }
    }

    fn mark_one(&self, variable: &mut Variable, statement: &[Variable], depth: u32) {
        let k = slot(*variable);
        let last = self.arrays.get(k) == Some(&true)
            && self.live.get(k) == Some(&false)
            && self.loops.get(k) == Some(&depth)
            && statement.iter().filter(|v| slot(**v) == k).count() == 1;
        if last {
            variable.0 |= LAST;
        }
    }

    fn make_live(&mut self, variables: &[Variable]) {
        for variable in variables {
            if let Some(live) = self.live.get_mut(slot(*variable))
                && !std::mem::replace(live, true)
            {
                self.became_live.push(slot(*variable) as u32);
            }
        }
    }

    /// Marks last uses in the bodies of an expression. Alternative bodies do not follow each other.
    fn mark_bodies(&mut self, expression: &mut Expression, depth: u32) {
        let depths = Depths::of(expression, depth);
        let mut in_alternatives = Vec::new();
        let mut left = 0;
        bodies(expression, &mut |_| left += 1);
        let mut k = 0;
        bodies_mut(expression, &mut |body| {
            let before = self.became_live.len();
            deep(|| self.mark(body, depths.of_body(k)));
            k += 1;
            left -= 1;
            if left > 0 && !depths.repeats {
                for slot in self.became_live.drain(before..) {
                    self.live[slot as usize] = false;
                    in_alternatives.push(Variable(slot));
                }
            }
        });
        self.make_live(&in_alternatives);
    }
}

/// The number of loops that enclose each body of an expression.
///
/// Two variables in scope that have as many enclosing loops are bound in the same loop.
struct Depths {
    enclosing: u32,
    repeats: bool,
    condition_first: bool,
}

impl Depths {
    fn of(expression: &Expression, enclosing: u32) -> Depths {
        let condition_first = matches!(expression, Expression::While { .. });
        Depths {
            enclosing,
            repeats: expression.repeats(),
            condition_first,
        }
    }

    /// The condition of a loop must leave the parameters to its body.
    fn of_body(&self, k: usize) -> u32 {
        match (self.repeats, self.condition_first && k == 0) {
            (true, true) => self.enclosing + 2,
            (true, false) => self.enclosing + 1,
            (false, _) => self.enclosing,
        }
    }
}
