//! The effects of code apart from its results, for passes that move, merge or drop code.

use nova_core::ir::ForeignKind;
use nova_flat::ir::{Body, Expression, FunctionId, Program};
use nova_flat::visit::each_statement;
use nova_flat::{array_expressions, pure_expressions};

/// The effects that code may have apart from its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It may stop the program with an error.
    pub fails: bool,
    /// It may be seen from outside: it writes a trace or calls a foreign function with effects.
    pub observable: bool,
    /// It may run for ever.
    pub endless: bool,
    /// It calls a foreign function that is not code of the device.
    pub hosted: bool,
    /// It calls a foreign function that is code of the device.
    pub device: bool,
}

impl Effects {
    /// True if the code does nothing but give its results.
    pub fn is_pure(self) -> bool {
        self == Effects::default()
    }

    /// True if code with these effects and code with the other effects can change places, as far as
    /// errors go. Another of several errors may then be reported. An error must not replace a run
    /// for ever, nor the contrary.
    pub fn may_pass(self, other: Effects) -> bool {
        !(self.fails && other.endless || self.endless && other.fails)
    }

    /// Returns the effects of code that consists of both.
    pub fn or(self, other: Effects) -> Effects {
        Effects {
            fails: self.fails || other.fails,
            observable: self.observable || other.observable,
            endless: self.endless || other.endless,
            hosted: self.hosted || other.hosted,
            device: self.device || other.device,
        }
    }
}

/// Returns the effects of a call of a foreign function. Any call may fail, because its result may
/// be refused. Only the program knows the conditions on its arguments, so the function is called
/// exactly where the program calls it.
fn of_foreign(kind: ForeignKind) -> Effects {
    let device = match kind {
        ForeignKind::Plain | ForeignKind::Effect => false,
        ForeignKind::Device => true,
    };
    Effects {
        fails: true,
        observable: match kind {
            ForeignKind::Effect => true,
            ForeignKind::Plain | ForeignKind::Device => false,
        },
        endless: false,
        hosted: !device,
        device,
    }
}

/// The effects of calling each function of a program, the foreign ones included.
pub struct FunctionEffects {
    functions: Vec<Effects>,
    foreigns: Vec<Effects>,
}

impl FunctionEffects {
    /// Computes the effects of all functions. A caller has the effects of the functions that it
    /// calls.
    pub fn new(program: &Program) -> FunctionEffects {
        let count = program.functions.len();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
        let foreigns = program.foreigns.iter().map(|f| of_foreign(f.kind));
        let mut table = FunctionEffects {
            functions: vec![Effects::default(); count],
            foreigns: foreigns.collect(),
        };
        let mut own = Vec::with_capacity(count);
        for (k, function) in program.functions.iter().enumerate() {
            let mut effects = Effects {
                fails: function.recursive,
                endless: function.recursive,
                ..Effects::default()
            };
            each_statement(&function.body, &mut |statement| {
                if let Expression::Call { function, tail, .. } = &statement.expression {
                    callers[function.0 as usize].push(k);
                    effects.endless |= *tail;
                }
                effects = effects.or(table.own(&statement.expression));
            });
            own.push(effects);
        }
        table.functions = own;
        let known = &mut table.functions;
        let mut work: Vec<usize> = (0..count).filter(|k| !known[*k].is_pure()).collect();
        while let Some(k) = work.pop() {
            for caller in &callers[k] {
                let joined = known[*caller].or(known[k]);
                if joined != known[*caller] {
                    known[*caller] = joined;
                    work.push(*caller);
                }
            }
        }
        table
    }

    /// Returns the effects of calling a function. One that has been added since may do anything.
    fn call(&self, function: FunctionId) -> Effects {
        let known = self.functions.get(function.index()).copied();
        known.unwrap_or_else(|| Effects {
            endless: true,
            ..of_foreign(ForeignKind::Effect)
        })
    }

    /// Returns the effects of an expression apart from those of its bodies.
    pub fn own(&self, expression: &Expression) -> Effects {
        let none = Effects::default();
        match expression {
            Expression::Check { .. } | Expression::Fail { .. } => Effects {
                fails: true,
                ..none
            },
            Expression::Foreign { foreign, .. } => {
                let known = self.foreigns.get(*foreign as usize).copied();
                known.unwrap_or_else(|| of_foreign(ForeignKind::Effect))
            }
            // Operations on reserved nodes keep their number and their order.
            Expression::Trace { .. }
            | Expression::NodesReserve { .. }
            | Expression::NodeStore { .. }
            | Expression::NodesSeal { .. }
            | Expression::NodesAcyclic { .. } => Effects {
                observable: true,
                ..none
            },
            Expression::TableClose { checked: true, .. } => Effects {
                fails: true,
                ..none
            },
            Expression::While { .. } => Effects {
                endless: true,
                ..none
            },
            Expression::Call { function, .. } => self.call(*function),
            Expression::View { .. }
            | Expression::Allocate { .. }
            | Expression::Unique(_)
            | Expression::Sort { .. }
            | Expression::SortKeys { .. }
            | Expression::Operation(_)
            | Expression::If { .. }
            | Expression::Switch { .. }
            | Expression::NodeNew { .. }
            | Expression::NodePayload { .. }
            | Expression::NodesReached { .. }
            | Expression::TableOpen { .. }
            | Expression::TableClose { .. }
            | Expression::TableShrink { .. }
            | pure_expressions!()
            | array_expressions!() => none,
        }
    }

    /// Returns the effects of an expression with those of its bodies.
    pub fn of(&self, expression: &Expression) -> Effects {
        let mut effects = self.own(expression);
        nova_flat::visit::bodies(expression, &mut |body| {
            effects = effects.or(self.of_body(body));
        });
        effects
    }

    /// Returns the effects of a body.
    pub fn of_body(&self, body: &Body) -> Effects {
        let mut effects = Effects::default();
        each_statement(body, &mut |statement| {
            effects = effects.or(self.own(&statement.expression));
        });
        effects
    }
}
