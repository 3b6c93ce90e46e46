//! Expressions that bind names: functions, `let`, `case`.

use super::draw::Draw;
use super::forms::forms;
use super::sums::Constructor;
use super::types::{BOOL, Class, INT, SCALARS, Type};

impl Draw<'_> {
    /// Draws a function: one that is bound, one of the tables, or a lambda.
    pub fn function(
        &mut self,
        arguments: &[Type],
        result: &Type,
        depth: usize,
        pinned: bool,
    ) -> String {
        let ty = Type::Function(arguments.to_vec(), Box::new(result.clone()));
        let choice = self.random.below(100);
        if choice < 20
            && let Some((name, _)) = self.scope.pick(&mut self.random, |other| *other == ty)
        {
            return name;
        }
        self.nesting += 1;
        let found = match choice < 60 {
            true => self.form_of(&forms().functions, &ty, depth, pinned),
            false => None,
        };
        let text = found.unwrap_or_else(|| self.lambda(arguments, result, depth, pinned));
        self.nesting -= 1;
        text
    }

    /// Draws a lambda. Its parameters have type annotations unless the context determines their
    /// types.
    pub fn lambda(
        &mut self,
        arguments: &[Type],
        result: &Type,
        depth: usize,
        pinned: bool,
    ) -> String {
        let mark = self.scope.mark();
        let mut parameters = Vec::new();
        let mut taken = Vec::new();
        for argument in arguments {
            let annotated = !pinned || self.random.chance(25);
            parameters.push(self.pattern(argument, annotated, pinned, &mut taken));
        }
        for (name, ty) in taken {
            self.scope.bind(&name, ty);
        }
        let says = self.random.chance(25);
        let body = self.expression(result, depth.saturating_sub(1), pinned || says);
        self.scope.leave(mark);
        let result = if says {
            format!(": {result} ")
        } else {
            String::new()
        };
        // A single parameter with a type needs no parentheses of its own, a pattern does.
        format!("(lambda ({}) {result}{body})", parameters.join(" "))
    }

    /// Draws a pattern for a type, with the names that it binds, each different from the others.
    fn pattern(
        &mut self,
        ty: &Type,
        annotated: bool,
        pinned: bool,
        taken: &mut Vec<(String, Type)>,
    ) -> String {
        if let Type::Tuple(parts) = ty
            && self.random.chance(50)
        {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| self.pattern(part, annotated, pinned, taken))
                .collect();
            return format!("({})", parts.join(", "));
        }
        if pinned && !annotated && self.random.chance(6) {
            return "_".to_string();
        }
        let mut name = self.scope.name(&mut self.random);
        if taken.iter().any(|(other, _)| *other == name) {
            name = self.scope.fresh();
        }
        taken.push((name.clone(), ty.clone()));
        match annotated {
            true => format!("({name} : {ty})"),
            false => name,
        }
    }

    /// Draws a `let` with one to three bindings.
    pub fn let_in(&mut self, ty: &Type, depth: usize, pinned: bool) -> String {
        let mark = self.scope.mark();
        let count = 1 + self.random.below(3);
        let bindings: Vec<String> = (0..count).map(|_| self.binding(depth - 1)).collect();
        let body = self.expression(ty, depth - 1, pinned);
        self.scope.leave(mark);
        let word = if self.random.chance(80) { "in " } else { "" };
        format!("(let {} {word}{body})", bindings.join(" "))
    }

    /// Draws a binding of a value, the parts of a tuple, or a function. Binds the names.
    pub fn binding(&mut self, depth: usize) -> String {
        if self.nesting < 2 && self.random.chance(12) {
            return self.function_binding(depth);
        }
        let ty = match self.random.chance(30) {
            true => self.types.any(&mut self.random, 0),
            false => self.any_type(2),
        };
        // An operation on scalars, rather than a variable.
        let operation = match ty.as_scalar() {
            Some(_) => self.form_of(&forms().expressions, &ty, depth.min(2), false),
            None => None,
        };
        let value = operation.unwrap_or_else(|| self.expression(&ty, depth, false));
        if let Type::Tuple(_) = ty
            && self.random.chance(30)
        {
            let mut taken = Vec::new();
            let annotated = self.random.chance(20);
            let pattern = self.pattern(&ty, annotated, true, &mut taken);
            for (name, ty) in taken {
                self.scope.bind(&name, ty);
            }
            return format!("({pattern} {value})");
        }
        let name = self.scope.name(&mut self.random);
        self.scope.bind(&name, ty);
        format!("({name} {value})")
    }

    /// Draws a binding of a tuple of operations that have a literal on one side and, as a rule, a
    /// bound name on the other. Before it comes a binding of a number of their type.
    pub fn operations(&mut self) -> String {
        let (number, first) = self.number();
        let (mut texts, mut types) = (Vec::new(), Vec::new());
        for _ in 0..8 + self.random.below(8) {
            let ty = match self.random.chance(75) {
                true => number.clone(),
                false => Type::Scalar(BOOL),
            };
            if let Some(text) = self.form_of(&forms().with_literals, &ty, 1, false) {
                texts.push(text);
                types.push(ty);
            }
        }
        let name = self.scope.fresh();
        if let (true, Some(only)) = (types.len() < 2, types.first()) {
            self.scope.bind(&name, only.clone());
        } else {
            self.scope.bind(&name, Type::Tuple(types));
        }
        format!("{first}({name} ({}))", texts.join(", "))
    }

    /// Draws a type of numbers, and a binding of one that is not known before the program runs, if
    /// there is a name to compute it from.
    fn number(&mut self) -> (Type, String) {
        // Operands wider than C's `int` give its literals that type.
        let wide = SCALARS.iter().find(|scalar| scalar.suffix == "i64");
        let chosen = match (self.random.chance(40), wide) {
            (true, Some(wide)) => Some(Type::Scalar(*wide)),
            (_, _) => self.types.of_class(&mut self.random, Class::Number, 0),
        };
        let chosen = chosen.unwrap_or(Type::Scalar(INT));
        let number = self
            .scope
            .pick(&mut self.random, |ty| Class::Integer.holds(ty));
        let to = if Class::Float.holds(&chosen) {
            "to"
        } else {
            "wrap"
        };
        let conversion = format!("{to}_{chosen}");
        match number {
            Some((number, _)) if !self.scope.binds(&conversion) => {
                let name = self.scope.fresh();
                self.scope.bind(&name, chosen.clone());
                (chosen, format!("({name} ({conversion} {number}))\n  "))
            }
            Some(_) | None => (chosen, String::new()),
        }
    }

    /// Draws a binding of an accumulation and of the results of comparisons of it.
    pub fn accumulation(&mut self) -> Option<String> {
        let (number, first) = self.number();
        let truth = Type::Scalar(BOOL);
        let ty = Type::Tuple(vec![number, truth.clone(), truth]);
        let text = self.form_of(&forms().accumulations, &ty, 2, false)?;
        let name = self.scope.fresh();
        self.scope.bind(&name, ty);
        Some(format!("{first}({name} {text})"))
    }

    /// Draws a binding of a function, which may be the rest of another.
    fn function_binding(&mut self, depth: usize) -> String {
        let partial = |ty: &Type| matches!(ty, Type::Function(all, _) if all.len() > 1);
        if self.random.chance(35)
            && let Some((name, Type::Function(mut all, result))) =
                self.scope.pick(&mut self.random, partial)
        {
            let first = self.expression(&all.remove(0), depth.min(2), true);
            let rest = self.scope.fresh();
            self.scope.bind(&rest, Type::Function(all, result));
            return format!("({rest} ({name} {first}))");
        }
        let count = 1 + self.random.below(3);
        let arguments: Vec<Type> = (0..count).map(|_| self.any_type(1)).collect();
        let result = self.any_type(1);
        let before = std::mem::replace(&mut self.nesting, 2);
        let lambda = self.lambda(&arguments, &result, depth, false);
        self.nesting = before;
        let name = self.scope.name(&mut self.random);
        let ty = Type::Function(arguments, Box::new(result));
        self.scope.bind(&name, ty);
        format!("({name} {lambda})")
    }

    /// Draws a conditional, in either notation.
    pub fn conditional(&mut self, ty: &Type, depth: usize, pinned: bool) -> String {
        let condition = self.expression(&Type::Scalar(BOOL), depth - 1, true);
        let yes = self.expression(ty, depth - 1, pinned);
        let no = self.expression(ty, depth - 1, true);
        match self.random.chance(50) {
            true => format!("(if {condition} then {yes} else {no})"),
            false => format!("(if {condition} {yes} {no})"),
        }
    }

    /// Draws a lambda that is applied at once.
    pub fn applied_lambda(&mut self, ty: &Type, depth: usize, pinned: bool) -> String {
        let count = 1 + self.random.below(2);
        let arguments: Vec<Type> = (0..count).map(|_| self.any_type(1)).collect();
        // Its parameters have type annotations, and so has its body where its type is not pinned.
        let lambda = self.lambda(&arguments, ty, depth, false);
        let _ = pinned;
        let values: Vec<String> = arguments
            .iter()
            .map(|ty| self.expression(ty, depth - 1, true))
            .collect();
        format!("({lambda} {})", values.join(" "))
    }

    /// Draws a match of a sum that is bound, or of any.
    pub fn case(&mut self, ty: &Type, depth: usize, pinned: bool) -> Option<String> {
        let is_sum = |ty: &Type| matches!(ty, Type::Sum(..));
        let bound = self.scope.pick(&mut self.random, is_sum);
        let (subject, sum) = match bound {
            Some((name, sum)) if self.random.chance(75) => (name, sum),
            Some(_) | None => {
                let of = self.random.pick(&self.types.sums.0).clone();
                let mut arguments = Vec::new();
                for _ in 0..of.parameters {
                    arguments.push(self.types.any(&mut self.random, 1));
                }
                let sum = Type::Sum(of.name, arguments);
                (self.expression(&sum, depth - 1, false), sum)
            }
        };
        let Type::Sum(name, arguments) = &sum else {
            return None;
        };
        let constructors = self.types.sums.constructors(name, arguments);
        let mut arms = Vec::new();
        for (k, Constructor { name, payload, .. }) in constructors.iter().enumerate() {
            let is_rest = k > 0 && self.random.chance(20);
            let mark = self.scope.mark();
            let mut taken = Vec::new();
            let head = match is_rest {
                true => "_".to_string(),
                false if *payload == Type::Unit || self.random.chance(15) => name.clone(),
                false => {
                    let pattern = self.pattern(payload, false, true, &mut taken);
                    format!("{name} {pattern}")
                }
            };
            for (name, ty) in taken {
                self.scope.bind(&name, ty);
            }
            let body = self.expression(ty, depth - 1, pinned || k > 0);
            self.scope.leave(mark);
            arms.push(format!("({head} {body})"));
            if is_rest {
                break;
            }
        }
        Some(format!("(case {subject} {})", arms.join(" ")))
    }
}
