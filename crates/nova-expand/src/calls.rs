//! Translation of functions, calls, foreign calls, node tables and traces.

use crate::places::{State, variables};
use crate::references::Moving;
use crate::translator::{Flow, Result, Tail, Translator};
use nova_flat::ir as flat;
use nova_flat::{
    array_expressions, call_expressions, control_expressions, node_expressions, other_expressions,
    pure_expressions,
};
use nova_loop::error::internal;
use nova_loop::first_fields::add_first_fields;
use nova_loop::ir;
use nova_loop::ir::{Command, Variable};

impl<'a> Translator<'a> {
    /// Translates a function.
    pub(crate) fn function(
        &mut self,
        id: flat::FunctionId,
        function: &'a flat::Function,
    ) -> Result<ir::Function> {
        let parameters = self.add_states(&function.parameters)?;
        for entry in self.source.entries.iter().filter(|e| e.function == id) {
            let parameters = variables(&parameters);
            let sums = &self.source.sums;
            add_first_fields(&entry.inputs, sums, &parameters, &mut self.structures);
        }
        let results = self.add_states(&function.results)?;
        let calls_itself = self.facts.tail_calls.get(id.index()) == Some(&true);
        let takes = function.takes && !calls_itself;
        self.bind_parameters(&function.parameters, &parameters, takes)?;
        let (body, ()) = self.nested(|this| match calls_itself {
            true => this.repeated_body(id, function, &parameters, &results),
            false => {
                this.body(&function.body, |this, r| {
                    this.deliver(r, &results, Moving::Body)
                })?;
                Ok(())
            }
        })?;
        Ok(ir::Function {
            name: function.name.clone(),
            parameters: variables(&parameters),
            results: variables(&results),
            body,
            recursive: function.recursive,
            takes: function.takes,
            place: function.place.clone(),
        })
    }

    /// Translates the body of a function that calls itself in tail position to a loop. The states of the
    /// loop are the parameters, which hold references of their own.
    fn repeated_body(
        &mut self,
        id: flat::FunctionId,
        function: &'a flat::Function,
        parameters: &[State],
        results: &[State],
    ) -> Result<()> {
        let handles: Vec<Variable> = parameters.iter().filter_map(|p| p.handle()).collect();
        for handle in handles.iter().filter(|_| !function.takes) {
            self.emit(Command::Retain(*handle));
        }
        for (parameter, state) in function.parameters.iter().zip(parameters) {
            let block = self.array_block(flat::Atom::Variable(*parameter))?;
            if let (Some(block), Some(handle)) = (block, state.handle()) {
                self.lifetimes.hold(block, handle);
            }
        }
        self.tail = Some(Tail {
            function: id,
            parameters: parameters.to_vec(),
        });
        let (code, ()) = self.nested(|this| {
            let end = this.body(&function.body, |this, r| {
                this.deliver(r, results, Moving::Body)
            })?;
            if end.is_some() {
                for handle in &handles {
                    if !this.lifetimes.is_gone(*handle) {
                        this.emit(Command::Release(*handle));
                    }
                }
                this.emit(Command::Break);
            }
            Ok(())
        })?;
        self.tail = None;
        self.emit(Command::Loop {
            body: code,
            place: function.place.clone(),
        });
        Ok(())
    }

    /// Translates a call.
    pub(crate) fn calls(&mut self, statement: &'a flat::Statement) -> Result<Flow> {
        let pattern = &statement.pattern;
        match &statement.expression {
            flat::Expression::Call {
                function,
                arguments,
                tail,
            } => {
                if *tail && self.tail.as_ref().is_some_and(|t| t.function == *function) {
                    self.tail_call(arguments)?;
                    return Ok(Flow::Diverges);
                }
                let takes = |f: &flat::Function| f.takes;
                if self
                    .source
                    .functions
                    .get(function.index())
                    .is_some_and(takes)
                {
                    self.give(arguments)?;
                }
                let arguments = self.arguments(arguments)?;
                let states = self.add_states(pattern)?;
                self.declare_states(&states);
                self.emit(Command::Call {
                    function: ir::FunctionId(function.0),
                    arguments,
                    results: variables(&states),
                });
                self.bind_states(pattern, &states, true)?;
            }
            flat::Expression::Foreign { foreign, arguments } => {
                let arguments = self.arguments(arguments)?;
                let states = self.add_states(pattern)?;
                self.declare_states(&states);
                self.emit(Command::Foreign {
                    foreign: *foreign,
                    arguments,
                    results: variables(&states),
                    place: statement.place.clone(),
                });
                self.bind_states(pattern, &states, true)?;
            }
            pure_expressions!()
            | array_expressions!()
            | control_expressions!()
            | node_expressions!()
            | other_expressions!() => {
                return Err(internal("no call"));
            }
        }
        Ok(Flow::Continues)
    }

    /// Replaces the parameters, releases everything else, and starts the function again.
    fn tail_call(&mut self, arguments: &[flat::Atom]) -> Result<()> {
        let Some(tail) = &self.tail else {
            return Err(internal("a tail call outside its function"));
        };
        let parameters = tail.parameters.clone();
        let moved = self.replace(arguments, &parameters, Moving::Everything)?;
        self.release_everything_but(&moved);
        self.emit(Command::Continue);
        Ok(())
    }

    /// Translates statements that access node tables, and traces.
    pub(crate) fn nodes(&mut self, statement: &'a flat::Statement) -> Result<()> {
        let (pattern, place) = (&statement.pattern, &statement.place);
        match &statement.expression {
            flat::Expression::NodeNew {
                sum,
                constructor,
                payload,
            } => {
                let payload = self.arguments(payload)?;
                let states = self.add_states(pattern)?;
                self.declare_states(&states);
                let [State::Scalar(link)] = states.as_slice() else {
                    return Err(internal("a link that is no scalar"));
                };
                self.emit(Command::NodeNew {
                    sum: *sum,
                    constructor: *constructor,
                    payload,
                    link: *link,
                    place: place.clone(),
                });
                self.bind_states(pattern, &states, false)
            }
            flat::Expression::NodePayload {
                sum,
                constructor,
                link,
            } => {
                let link = self.scalar(*link)?;
                let states = self.add_states(pattern)?;
                self.declare_states(&states);
                self.emit(Command::NodePayload {
                    sum: *sum,
                    constructor: *constructor,
                    link,
                    results: variables(&states),
                });
                self.bind_states(pattern, &states, false)
            }
            flat::Expression::Trace {
                text,
                ty,
                components,
            } => {
                let components = self.arguments(components)?;
                self.emit(Command::Trace {
                    text: text.clone(),
                    ty: ty.clone(),
                    components,
                });
                Ok(())
            }
            pure_expressions!()
            | array_expressions!()
            | control_expressions!()
            | call_expressions!()
            | other_expressions!() => Err(internal("neither node nor trace")),
        }
    }

    /// Translates the application of a lambda in place; `finish` uses its results. Returns `None` if the
    /// end of the lambda is never reached.
    pub(crate) fn apply<R>(
        &mut self,
        lambda: &'a flat::Lambda,
        arguments: Vec<crate::terms::Term>,
        finish: impl FnOnce(&mut Self, &'a [flat::Atom]) -> Result<R>,
    ) -> Result<Option<R>> {
        if lambda.parameters.len() != arguments.len() {
            return Err(internal("a lambda with other parameters"));
        }
        for (parameter, argument) in lambda.parameters.iter().zip(arguments) {
            self.bind_term(*parameter, argument)?;
        }
        self.body(&lambda.body, finish)
    }
}
