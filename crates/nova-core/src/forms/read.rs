//! Reading of forms from the data trees of the reader, for the parsers of all representations:
//! [`FormReader`], and a table of variables that may be used before they are bound.

use crate::ir::{Foreign, ForeignKind};
use crate::{Constructor, ErrorKind, Member, Scalar, ScalarValue, SumId, SumType, Type};
use nova_diag::{Diagnostic, FileId, Place, Span, codes, deep};
use nova_syntax::ast::{NumberValue, Suffix};
use nova_syntax::{Data, DatumId, reader};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads a text that holds one form. Returns the data and that form.
pub fn read_one(text: &str, file: FileId) -> Result<(Data, DatumId), Vec<Diagnostic>> {
    let (data, diagnostics) = reader::read(text, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let error = match data.roots() {
        [root] => {
            let root = *root;
            return Ok((data, root));
        }
        [] => Diagnostic::error(
            codes::BAD_PROGRAM,
            Span::new(file, 0, 0),
            "there is no program",
        ),
        [_, other, ..] => Diagnostic::error(
            codes::BAD_FORM,
            data.span(*other),
            "only one program may stand in a text",
        ),
    };
    Err(vec![error])
}

/// A reader of the data trees of one text. Each method reads one construct. If it finds something else, it
/// reports an error and returns `None`. `I` are the facts about a variable.
pub struct FormReader<'a, I> {
    /// The data of the text.
    pub data: &'a Data,
    /// The variables of the text.
    pub variables: Variables<I>,
    functions: HashMap<&'a str, u32>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a, I: Clone> FormReader<'a, I> {
    /// Creates a reader that has read nothing.
    pub fn new(data: &'a Data) -> Self {
        FormReader {
            data,
            variables: Variables::new(data),
            functions: HashMap::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Returns what was read if there were no errors.
    pub fn finish<T>(self, read: T) -> Result<T, Vec<Diagnostic>> {
        match self.diagnostics.is_empty() {
            true => Ok(read),
            false => Err(self.diagnostics),
        }
    }

    /// Reports an error at a datum.
    pub fn error<T>(&mut self, at: DatumId, message: impl Into<String>) -> Option<T> {
        let span = self.data.span(at);
        self.diagnostics
            .push(Diagnostic::error(codes::BAD_FORM, span, message));
        None
    }

    /// Returns `found`, or reports an error with the expected construct.
    pub fn expect<T>(&mut self, found: Option<T>, at: DatumId, expected: &str) -> Option<T> {
        match found {
            Some(found) => Some(found),
            None => self.error(at, format!("{expected} is expected here")),
        }
    }

    /// Returns the items if there are exactly `N`.
    pub fn exactly<const N: usize>(
        &mut self,
        at: DatumId,
        items: &[DatumId],
    ) -> Option<[DatumId; N]> {
        match <[DatumId; N]>::try_from(items) {
            Ok(items) => Some(items),
            Err(_) => {
                let found = items.len();
                self.error(at, format!("this form takes {N} items, here are {found}"))
            }
        }
    }

    /// Removes a word from the head of the items, if it is there.
    pub fn take_word(&self, items: &mut &'a [DatumId], word: &str) -> bool {
        match *items {
            [first, rest @ ..] if self.data.is_symbol(*first, word) => {
                *items = rest;
                true
            }
            _others => false,
        }
    }

    /// Parses the items of `[ … ]`.
    pub fn items(&mut self, id: DatumId) -> Option<&'a [DatumId]> {
        self.expect(self.data.as_vector(id), id, "`[ … ]`")
    }

    /// Parses an integer in the range of its type.
    pub fn index<T: TryFrom<i128>>(&mut self, id: DatumId) -> Option<T> {
        self.expect(self.data.as_index(id), id, "a number")
    }

    /// Parses the members of a group: `[[0 2] [1 3]]`.
    pub fn members(&mut self, id: DatumId) -> Option<Vec<Member>> {
        let list = self.items(id)?;
        let mut members = Vec::with_capacity(list.len());
        for item in list {
            let pair = self.items(*item)?;
            let [data, node] = self.exactly(*item, pair)?;
            members.push(Member {
                data: SumId(self.index(data)?),
                node: SumId(self.index(node)?),
            });
        }
        Some(members)
    }

    /// Parses a text that is UTF-8.
    pub fn string(&mut self, id: DatumId) -> Option<Arc<str>> {
        self.expect(self.data.as_string(id), id, "a text")
            .map(Arc::from)
    }

    /// Parses a text of any bytes.
    pub fn bytes(&mut self, id: DatumId) -> Option<Arc<[u8]>> {
        self.expect(self.data.as_text(id), id, "a text")
            .map(Arc::from)
    }

    /// Parses a place. Without a datum there is none.
    pub fn place(&mut self, id: Option<DatumId>) -> Option<Place> {
        let Some(id) = id else {
            return Some(Place::new("", 0, 0));
        };
        let place = self.data.as_string(id).and_then(Place::parse);
        self.expect(place, id, "a place (\"file:line:column\")")
    }

    /// Parses the word of a run-time error.
    pub fn error_kind(&mut self, id: DatumId) -> Option<ErrorKind> {
        let kind = self.data.as_symbol(id).and_then(ErrorKind::by_word);
        self.expect(kind, id, "the word of a run-time error")
    }

    /// Parses a scalar type.
    pub fn scalar(&mut self, id: DatumId) -> Option<Scalar> {
        let scalar = self.data.as_symbol(id).and_then(Scalar::by_short);
        self.expect(scalar, id, "a scalar type (`i32`, `f32`, `bool`, …)")
    }

    /// Parses a number. Without suffix it is an `i64`.
    pub fn number(&mut self, id: DatumId) -> Option<ScalarValue> {
        match number(self.data, id) {
            Some(value) => Some(value),
            None => self.error(
                id,
                "this number has no type: a decimal one needs `f` or `L`",
            ),
        }
    }

    /// Parses a type of Core. Marks of Flat and Loop have tuples of one element; Core has none.
    pub fn core_type(&mut self, id: DatumId) -> Option<Type> {
        deep(|| match self.data.form(id) {
            Some(("tuple", items)) if !items.is_empty() => {
                let types: Option<Vec<_>> = items.iter().map(|i| self.core_type(*i)).collect();
                Some(Type::Tuple(types?.into()))
            }
            Some(("vector", [element])) => Some(Type::vector(self.core_type(*element)?)),
            Some(("array", [rank, element])) => match self.index(*rank)? {
                rank @ 2.. => Some(Type::array(rank, self.core_type(*element)?)),
                _ => self.error(*rank, "an array has a rank of at least 2"),
            },
            Some(("->", [parameter, result])) => {
                let parameter = self.core_type(*parameter)?;
                Some(Type::function(&[parameter], self.core_type(*result)?))
            }
            Some(("sum", [id])) => self.index(*id).map(|id| Type::Sum(SumId(id))),
            None if self.data.is_symbol(id, "unit") => Some(Type::Unit),
            None => {
                let scalar = self.data.as_symbol(id).and_then(Scalar::by_short);
                self.expect(scalar.map(Type::Scalar), id, "a type")
            }
            Some(_) => self.error(id, "a type is expected here"),
        })
    }

    /// Parses `[f32 (vector i32)]`.
    pub fn core_types(&mut self, id: DatumId) -> Option<Vec<Type>> {
        let items = self.items(id)?;
        items.iter().map(|item| self.core_type(*item)).collect()
    }

    /// Returns the sections of `(program SECTION …)`.
    pub fn sections(&mut self, root: DatumId) -> Option<&'a [DatumId]> {
        match self.data.form(root) {
            Some(("program", sections)) => Some(sections),
            Some(_) | None => self.error(root, "`(program …)` is expected here"),
        }
    }

    /// Parses a section that is a sum or a foreign function. For any other section it returns the rule
    /// of the table for its word, and its items.
    pub fn section<R: Copy>(
        &mut self,
        id: DatumId,
        rules: &[(&str, R)],
        (sums, foreigns): (&mut Vec<SumType>, &mut Vec<Foreign>),
    ) -> Option<(R, &'a [DatumId])> {
        let (word, items) = self.data.form(id).unwrap_or_default();
        match (word, rules.iter().find(|rule| rule.0 == word)) {
            (_, Some((_, rule))) => return Some((*rule, items)),
            ("sum", None) => {
                let sum = self.sum(id, items)?;
                sums.push(sum);
            }
            ("foreign", None) => {
                let foreign = self.foreign(id, items)?;
                foreigns.push(foreign);
            }
            (_, None) => {
                let mut words = vec!["sum", "foreign"];
                words.extend(rules.iter().map(|rule| rule.0));
                self.error::<()>(id, format!("a section is one of: {}", words.join(", ")));
            }
        }
        None
    }

    /// Parses `(sum "List" [arguments] [group] ("Nil" unit) …)`. That of a node type has `(node_of 0)`
    /// after the group.
    pub fn sum(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<SumType> {
        let [name, arguments, group, constructors @ ..] = items else {
            let form = "`(sum \"Name\" [types] [group] (\"Constructor\" type) …)` is expected";
            return self.error(at, form);
        };
        let mut sum = SumType {
            name: self.string(*name)?,
            arguments: self.core_types(*arguments)?,
            constructors: Vec::new(),
            group: Vec::new(),
            node_of: None,
        };
        for id in self.items(*group)? {
            sum.group.push(SumId(self.index(*id)?));
        }
        let mut constructors = constructors;
        if let [first, rest @ ..] = constructors
            && let Some(("node_of", [id])) = self.data.form(*first)
        {
            sum.node_of = Some(SumId(self.index(*id)?));
            constructors = rest;
        }
        for constructor in constructors {
            let items = self.data.as_list(*constructor).unwrap_or_default();
            let [name, payload] = self.exactly(*constructor, items)?;
            sum.constructors.push(Constructor {
                name: self.string(name)?,
                payload: self.core_type(payload)?,
            });
        }
        Some(sum)
    }

    /// Parses `(foreign "f" [types] type)`, perhaps with the word of a kind before the name.
    pub fn foreign(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<Foreign> {
        let word = items.first().and_then(|word| self.data.as_symbol(*word));
        let (kind, items) = match (word.and_then(ForeignKind::by_word), items) {
            (Some(kind), [_, rest @ ..]) => (kind, rest),
            (_, items) => (ForeignKind::Plain, items),
        };
        let [name, parameters, result] = self.exactly(at, items)?;
        Some(Foreign {
            kind,
            name: self.string(name)?,
            parameters: self.core_types(parameters)?,
            result: self.core_type(result)?,
        })
    }

    /// Parses `[("X" (vector f32)) …]`: the names and types of an entry's inputs.
    pub fn inputs(&mut self, id: DatumId) -> Option<Vec<(Arc<str>, Type)>> {
        let mut inputs = Vec::new();
        for input in self.items(id)? {
            let items = self.data.as_list(*input).unwrap_or_default();
            let [name, ty] = self.exactly(*input, items)?;
            inputs.push((self.string(name)?, self.core_type(ty)?));
        }
        Some(inputs)
    }

    /// Parses a variable. It has the number of its symbol if no other symbol has that.
    pub fn variable_number(&mut self, id: DatumId) -> Option<u32> {
        let symbol = self.expect(self.data.as_name(id), id, "a variable")?;
        Some(self.variables.number(symbol, id))
    }

    /// Declares a variable, with the facts that `info` makes of its name.
    pub fn declare_number(&mut self, id: DatumId, info: impl FnOnce(&str) -> I) -> Option<u32> {
        let number = self.variable_number(id)?;
        let (name, _) = split_number(self.data.as_symbol(id).unwrap_or(""));
        self.variables.declare(number, info(name));
        Some(number)
    }

    /// Returns the facts about all variables; `unused` is for numbers that no symbol has.
    pub fn variable_infos(&mut self, unused: I) -> Vec<I> {
        self.variables.finish(unused).unwrap_or_else(|all| {
            all.into_iter().for_each(|first| {
                self.error::<()>(first, "this variable is bound nowhere");
            });
            Vec::new()
        })
    }

    /// Gives the functions of a program's sections their numbers.
    pub fn number_functions(&mut self, sections: &[DatumId]) {
        self.functions = function_numbers(self.data, sections);
    }

    /// Parses the name of a function.
    pub fn function_number(&mut self, id: DatumId) -> Option<u32> {
        let name = self.data.as_string(id);
        match name.and_then(|name| self.functions.get(name).copied()) {
            Some(number) => Some(number),
            None => self.error(id, "there is no function of this name"),
        }
    }

    /// Parses the items of `(entry "dot" [inputs] result "dot")`: name, inputs, result, and the number of
    /// the function.
    pub fn entry_items(&mut self, at: DatumId, items: &[DatumId]) -> Option<EntryItems> {
        let [name, inputs, result, function] = self.exactly(at, items)?;
        let (name, inputs) = (self.string(name)?, self.inputs(inputs)?);
        Some((
            name,
            inputs,
            self.core_type(result)?,
            self.function_number(function)?,
        ))
    }
}

fn number(data: &Data, id: DatumId) -> Option<ScalarValue> {
    let number = data.as_number(id)?;
    let scalar = match number.suffix {
        Some(Suffix::Double) => return data.as_float(id).map(ScalarValue::F64),
        // The text is parsed as a float directly. A detour by a double would round twice.
        Some(Suffix::Float) => {
            let value = match &number.value {
                NumberValue::Decimal(text) => text.parse().ok(),
                NumberValue::Integer(value) => value.map(|v| v as f32),
            };
            return value.map(ScalarValue::F32);
        }
        Some(Suffix::Signed(8)) => Scalar::I8,
        Some(Suffix::Signed(16)) => Scalar::I16,
        Some(Suffix::Signed(32)) => Scalar::I32,
        Some(Suffix::Unsigned(8)) => Scalar::U8,
        Some(Suffix::Unsigned(16)) => Scalar::U16,
        Some(Suffix::Unsigned(32)) => Scalar::U32,
        Some(Suffix::Unsigned(_)) => Scalar::U64,
        Some(Suffix::Signed(_)) | None => Scalar::I64,
    };
    let integer = data.as_integer(id)?;
    let value = ScalarValue::from_integer_wrapping(scalar, integer);
    (value.as_integer() == Some(integer)).then_some(value)
}

/// Returns the constant that a symbol denotes: a bool, or a float that cannot be written as a number.
pub fn named_constant(symbol: &str) -> Option<ScalarValue> {
    const CONSTANTS: [(&str, ScalarValue); 8] = [
        ("true", ScalarValue::Bool(true)),
        ("false", ScalarValue::Bool(false)),
        ("nan.f32", ScalarValue::F32(f32::NAN)),
        ("inf.f32", ScalarValue::F32(f32::INFINITY)),
        ("-inf.f32", ScalarValue::F32(f32::NEG_INFINITY)),
        ("nan.f64", ScalarValue::F64(f64::NAN)),
        ("inf.f64", ScalarValue::F64(f64::INFINITY)),
        ("-inf.f64", ScalarValue::F64(f64::NEG_INFINITY)),
    ];
    CONSTANTS.iter().find(|c| c.0 == symbol).map(|c| c.1)
}

/// Splits `name_7` into name and number. A symbol without a number in this form is returned whole.
pub fn split_number(symbol: &str) -> (&str, Option<usize>) {
    if let Some((name, digits)) = symbol.rsplit_once('_')
        && (digits == "0" || !digits.starts_with(['0', '+']))
        && let Ok(number) = digits.parse()
    {
        return (name, Some(number));
    }
    (symbol, None)
}

/// Returns the numbers of a program's functions by name, and for equal names that of the first. Calls
/// may precede the functions that they name.
fn function_numbers<'a>(data: &'a Data, sections: &[DatumId]) -> HashMap<&'a str, u32> {
    let functions = sections.iter().filter_map(|section| data.form(*section));
    let functions = functions.filter(|(word, _)| *word == "function");
    let mut numbers = HashMap::new();
    for (number, (_, items)) in (0..).zip(functions) {
        if let Some(name) = items.first().and_then(|n| data.as_string(*n)) {
            numbers.entry(name).or_insert(number);
        }
    }
    numbers
}

/// A variable that a symbol names: its first occurrence, and its declaration once that is known.
struct Named<I> {
    first: DatumId,
    info: Option<I>,
}

/// The items of an entry: name, inputs, result, and the number of the function.
pub type EntryItems = (Arc<str>, Vec<(Arc<str>, Type)>, Type, u32);

/// The variables of a text, which may use them before it declares them.
pub struct Variables<I> {
    numbers: HashMap<Arc<str>, u32>,
    /// The variables by number, or `None` for numbers that no symbol has.
    table: Vec<Option<Named<I>>>,
    /// The largest number that is taken from the text, since the table has an entry for each smaller
    /// one.
    largest: usize,
}

impl<I> Variables<I> {
    /// Creates an empty table.
    pub fn new(data: &Data) -> Self {
        Variables {
            numbers: HashMap::new(),
            table: Vec::new(),
            largest: data.count().saturating_mul(64).saturating_add(100_000),
        }
    }

    /// Returns the variable of a symbol. It has the number of the symbol, if no other symbol has that.
    pub fn number(&mut self, symbol: &Arc<str>, at: DatumId) -> u32 {
        if let Some(number) = self.numbers.get(symbol) {
            return *number;
        }
        let free = |n: &usize| *n <= self.largest && self.table.get(*n).is_none_or(Option::is_none);
        let number = split_number(symbol).1.filter(free);
        let number = number.unwrap_or(self.table.len());
        while self.table.len() <= number {
            self.table.push(None);
        }
        self.table[number] = Some(Named {
            first: at,
            info: None,
        });
        self.numbers.insert(symbol.clone(), number as u32);
        number as u32
    }

    /// True if the variable was declared.
    pub fn is_declared(&self, number: u32) -> bool {
        let named = self.table.get(number as usize).and_then(Option::as_ref);
        named.is_some_and(|named| named.info.is_some())
    }

    /// Declares a variable.
    pub fn declare(&mut self, number: u32, info: I) {
        if let Some(Some(named)) = self.table.get_mut(number as usize) {
            named.info = Some(info);
        }
    }

    /// Returns the declaration of each variable, or `unused` for numbers that no symbol has. An error
    /// lists the first occurrences of undeclared variables.
    pub fn finish(&mut self, unused: I) -> Result<Vec<I>, Vec<DatumId>>
    where
        I: Clone,
    {
        let mut infos = Vec::with_capacity(self.table.len());
        let mut unknown = Vec::new();
        for named in std::mem::take(&mut self.table) {
            match named {
                Some(Named { first, info: None }) => unknown.push(first),
                Some(Named { info, .. }) => infos.extend(info),
                None => infos.push(unused.clone()),
            }
        }
        match unknown.is_empty() {
            true => Ok(infos),
            false => Err(unknown),
        }
    }
}
