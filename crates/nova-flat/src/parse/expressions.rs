//! The forms of expressions, of views and of outputs: three tables.

use super::Parser;
use crate::ir::{
    ArrayOperation, Bracketing, Destination, Expression, Level, Output, Positions, SliceDimension,
    Sorted, View,
};
use nova_core::{ScalarOperation, Strategy, SumId, strategy};
use nova_syntax::DatumId;

/// The rule that parses the items of a form.
type Rule<T> = for<'a> fn(&mut Parser<'a>, DatumId, &'a [DatumId]) -> Option<T>;

/// The forms of all expressions but scalar operations, whose words are those of
/// [`ScalarOperation::short`].
const EXPRESSIONS: &[(&str, Rule<Expression>)] = &[
    ("atom", |p, at, items| {
        let [atom] = p.text.exactly(at, items)?;
        p.atom(atom).map(Expression::Atom)
    }),
    ("check", |p, at, items| {
        let [condition, error, arguments] = p.text.exactly(at, items)?;
        Some(Expression::Check {
            condition: p.atom(condition)?,
            error: p.text.error_kind(error)?,
            arguments: p.atoms(arguments)?,
        })
    }),
    ("fail", |p, at, items| {
        let [error, arguments] = p.text.exactly(at, items)?;
        Some(Expression::Fail {
            error: p.text.error_kind(error)?,
            arguments: p.atoms(arguments)?,
        })
    }),
    ("index", |p, at, items| {
        let [array, indices] = p.text.exactly(at, items)?;
        Some(Expression::Index {
            array: p.variable(array)?,
            indices: p.atoms(indices)?,
        })
    }),
    ("slice", |p, at, items| {
        p.view(at, items, |p, _, items| p.slice(items))
    }),
    ("transpose", |p, at, items| {
        p.view(at, items, |p, at, items| p.transpose(at, items))
    }),
    ("reshape", |p, at, items| {
        p.view(at, items, |p, at, items| {
            let [shape] = p.text.exactly(at, items)?;
            p.atoms(shape).map(View::Reshape)
        })
    }),
    ("row", |p, at, items| {
        p.view(at, items, |p, at, items| {
            let [indices] = p.text.exactly(at, items)?;
            p.atoms(indices).map(View::Row)
        })
    }),
    ("literal", |p, at, items| {
        let [element, elements] = p.text.exactly(at, items)?;
        Some(Expression::Literal {
            element: p.text.scalar(element)?,
            elements: p.atoms(elements)?,
        })
    }),
    ("bytes", |p, at, items| {
        let [text] = p.text.exactly(at, items)?;
        p.text.bytes(text).map(Expression::Bytes)
    }),
    ("iota", |p, at, items| {
        let [count, start, step] = p.text.exactly(at, items)?;
        Some(Expression::Iota {
            count: p.atom(count)?,
            start: p.atom(start)?,
            step: p.atom(step)?,
        })
    }),
    ("replicate", |p, at, items| {
        let [shape, value] = p.text.exactly(at, items)?;
        Some(Expression::Replicate {
            shape: p.atoms(shape)?,
            value: p.atom(value)?,
        })
    }),
    ("copy", |p, at, items| {
        let [array] = p.text.exactly(at, items)?;
        p.variable(array).map(Expression::Copy)
    }),
    ("concat", |p, at, items| {
        let [count, arrays] = p.text.exactly(at, items)?;
        Some(Expression::Concat {
            count: p.atom(count)?,
            arrays: p.arrays(arrays)?,
        })
    }),
    ("update", |p, at, items| {
        let [array, indices, value] = p.text.exactly(at, items)?;
        Some(Expression::Update {
            array: p.variable(array)?,
            indices: p.atoms(indices)?,
            value: p.atom(value)?,
        })
    }),
    ("sort", |p, at, items| {
        let [count, compare] = p.text.exactly(at, items)?;
        Some(Expression::Sort {
            count: p.atom(count)?,
            compare: p.lambda(compare)?,
        })
    }),
    ("sort_keys", |p, at, items| {
        let [count, first, keys, low, gives] = p.text.exactly(at, items)?;
        Some(Expression::SortKeys {
            count: p.atom(count)?,
            first: p.atom(first)?,
            keys: p.variable(keys)?,
            low: p.text.index(low)?,
            gives: p.sorted(gives)?,
        })
    }),
    ("operation", |p, at, items| {
        p.operation(at, items, Level::Sequential)
    }),
    ("grid", |p, at, items| p.operation(at, items, Level::Grid)),
    ("if", |p, at, items| {
        let [condition, then, otherwise] = p.text.exactly(at, items)?;
        Some(Expression::If {
            condition: p.atom(condition)?,
            then: p.body(then)?,
            otherwise: p.body(otherwise)?,
        })
    }),
    ("switch", |p, at, items| {
        let Some((scrutinee, cases)) = items.split_first() else {
            return p.text.error(at, "a switch needs a scrutinee");
        };
        Some(Expression::Switch {
            scrutinee: p.atom(*scrutinee)?,
            cases: cases
                .iter()
                .map(|case| p.body(*case))
                .collect::<Option<_>>()?,
        })
    }),
    ("while", |p, at, items| {
        let [parameters, condition, body] = p.text.exactly(at, items)?;
        Some(Expression::While {
            parameters: p.starts(parameters)?,
            condition: p.body(condition)?,
            body: p.body(body)?,
        })
    }),
    ("call", |p, at, items| p.call(at, items, false)),
    ("tail", |p, at, items| p.call(at, items, true)),
    ("foreign", |p, at, items| {
        let [foreign, arguments] = p.text.exactly(at, items)?;
        Some(Expression::Foreign {
            foreign: p.text.index(foreign)?,
            arguments: p.atoms(arguments)?,
        })
    }),
    ("new", |p, at, items| {
        let [sum, constructor, payload] = p.text.exactly(at, items)?;
        Some(Expression::NodeNew {
            sum: SumId(p.text.index(sum)?),
            constructor: p.text.index(constructor)?,
            payload: p.atoms(payload)?,
        })
    }),
    ("may_split", |p, at, items| {
        let [] = p.text.exactly(at, items)?;
        Some(Expression::MaySplit)
    }),
    ("tag", |p, at, items| {
        let [sum, link] = p.text.exactly(at, items)?;
        Some(Expression::NodeTag {
            sum: SumId(p.text.index(sum)?),
            link: p.atom(link)?,
        })
    }),
    ("payload", |p, at, items| {
        let [sum, constructor, link] = p.text.exactly(at, items)?;
        Some(Expression::NodePayload {
            sum: SumId(p.text.index(sum)?),
            constructor: p.text.index(constructor)?,
            link: p.atom(link)?,
        })
    }),
    ("reached", |p, at, items| {
        let [members, link] = p.text.exactly(at, items)?;
        Some(Expression::NodesReached {
            members: p.text.members(members)?,
            link: p.atom(link)?,
        })
    }),
    ("open", |p, at, items| p.open(at, items, true)),
    ("loose_open", |p, at, items| p.open(at, items, false)),
    ("close", |p, at, items| p.close(at, items, false)),
    ("checked_close", |p, at, items| p.close(at, items, true)),
    ("shrink", |p, at, items| p.shrink(at, items)),
    ("reserve", |p, at, items| {
        let [sum, count] = p.text.exactly(at, items)?;
        Some(Expression::NodesReserve {
            sum: SumId(p.text.index(sum)?),
            count: p.atom(count)?,
        })
    }),
    ("store", |p, at, items| {
        let [sum, constructor, link, payload] = p.text.exactly(at, items)?;
        Some(Expression::NodeStore {
            sum: SumId(p.text.index(sum)?),
            constructor: p.text.index(constructor)?,
            link: p.atom(link)?,
            payload: p.atoms(payload)?,
        })
    }),
    ("seal", |p, at, items| {
        let [sum, link] = p.text.exactly(at, items)?;
        Some(Expression::NodesSeal {
            sum: SumId(p.text.index(sum)?),
            link: p.atom(link)?,
        })
    }),
    ("acyclic", |p, at, items| {
        let [members, first, counts] = p.text.exactly(at, items)?;
        Some(Expression::NodesAcyclic {
            members: p.text.members(members)?,
            first: p.atoms(first)?,
            counts: p.atoms(counts)?,
        })
    }),
    ("trace", |p, at, items| {
        let [text, ty, components] = p.text.exactly(at, items)?;
        Some(Expression::Trace {
            text: p.text.bytes(text)?,
            ty: p.text.core_type(ty)?,
            components: p.atoms(components)?,
        })
    }),
    ("unique", |p, at, items| {
        let [array] = p.text.exactly(at, items)?;
        p.variable(array).map(Expression::Unique)
    }),
    ("allocate", |p, at, items| {
        let [element, count] = p.text.exactly(at, items)?;
        Some(Expression::Allocate {
            element: p.text.scalar(element)?,
            count: p.atom(count)?,
            destination: None,
        })
    }),
    ("allocate_result", |p, at, items| {
        let [element, count, component, stride] = p.text.exactly(at, items)?;
        Some(Expression::Allocate {
            element: p.text.scalar(element)?,
            count: p.atom(count)?,
            destination: Some(Destination {
                component: p.text.index(component)?,
                stride: p.text.index(stride)?,
            }),
        })
    }),
];

/// The forms of all outputs.
const OUTPUTS: &[(&str, Rule<Output>)] = &[
    ("map", |p, at, items| {
        let [] = p.text.exactly(at, items)?;
        Some(Output::Map)
    }),
    ("reduce", |p, at, items| {
        p.reduce(at, items, (false, Bracketing::Whole))
    }),
    ("reduce_comm", |p, at, items| {
        p.reduce(at, items, (true, Bracketing::Whole))
    }),
    ("reduce_chunk", |p, at, items| {
        p.reduce(at, items, (false, Bracketing::Chunk))
    }),
    ("reduce_comm_chunk", |p, at, items| {
        p.reduce(at, items, (true, Bracketing::Chunk))
    }),
    ("reduce_pairs", |p, at, items| {
        p.reduce(at, items, (false, Bracketing::Pairs))
    }),
    ("reduce_comm_pairs", |p, at, items| {
        p.reduce(at, items, (true, Bracketing::Pairs))
    }),
    ("reduce_left", |p, at, items| {
        p.reduce(at, items, (false, Bracketing::Left))
    }),
    ("reduce_comm_left", |p, at, items| {
        p.reduce(at, items, (true, Bracketing::Left))
    }),
    ("scan", |p, at, items| p.scan(at, items, false)),
    ("exscan", |p, at, items| p.scan(at, items, true)),
    ("filter", |p, at, items| {
        let [values] = p.text.exactly(at, items)?;
        Some(Output::Filter {
            values: p.text.index(values)?,
        })
    }),
    ("scatter", |p, at, items| {
        let [destinations] = p.text.exactly(at, items)?;
        Some(Output::Scatter {
            destinations: p.arrays(destinations)?,
            positions: Positions::Given,
        })
    }),
    ("scatter_unordered", |p, at, items| {
        let [destinations] = p.text.exactly(at, items)?;
        Some(Output::Scatter {
            destinations: p.arrays(destinations)?,
            positions: Positions::Unordered,
        })
    }),
    ("scatter_greatest", |p, at, items| {
        let [destinations] = p.text.exactly(at, items)?;
        Some(Output::Scatter {
            destinations: p.arrays(destinations)?,
            positions: Positions::Greatest,
        })
    }),
    ("scatter_block", |p, at, items| {
        let [starts, destinations] = p.text.exactly(at, items)?;
        Some(Output::Scatter {
            positions: Positions::Block(p.atoms(starts)?),
            destinations: p.arrays(destinations)?,
        })
    }),
    ("histogram", |p, at, items| p.histogram(at, items, false)),
    ("histogram_where", |p, at, items| {
        p.histogram(at, items, true)
    }),
    ("collect", |p, at, items| {
        let [values] = p.text.exactly(at, items)?;
        Some(Output::Collect {
            values: p.text.index(values)?,
        })
    }),
    ("join", |p, at, items| {
        let [shape] = p.text.exactly(at, items)?;
        Some(Output::Join {
            shape: p.atoms(shape)?,
        })
    }),
];

impl<'a> Parser<'a> {
    /// Parses any expression.
    pub fn expression(&mut self, id: DatumId) -> Option<Expression> {
        let Some((word, items)) = self.text.data.form(id) else {
            return self
                .text
                .error(id, "an expression is expected here: `(word …)`");
        };
        if let Some((_, rule)) = EXPRESSIONS.iter().find(|e| e.0 == word) {
            return rule(self, id, items);
        }
        let (Some(operation), Some((operand, arguments))) =
            (ScalarOperation::by_short(word), items.split_first())
        else {
            return self.text.error(id, format!("`{word}` is no expression"));
        };
        Some(Expression::Scalar {
            operation,
            operand: self.text.scalar(*operand)?,
            arguments: arguments
                .iter()
                .map(|a| self.atom(*a))
                .collect::<Option<_>>()?,
        })
    }

    /// Parses `(word array …)`.
    fn view(&mut self, at: DatumId, items: &'a [DatumId], rule: Rule<View>) -> Option<Expression> {
        let Some((array, rest)) = items.split_first() else {
            return self.text.error(at, "a view needs an array");
        };
        let array = self.variable(*array)?;
        Some(Expression::View {
            array,
            view: rule(self, at, rest)?,
        })
    }

    /// Parses `[start step count]` for each dimension.
    fn slice(&mut self, items: &'a [DatumId]) -> Option<View> {
        let mut dimensions = Vec::new();
        for item in items {
            let atoms = self.text.items(*item)?;
            let [start, step, count] = self.text.exactly(*item, atoms)?;
            dimensions.push(SliceDimension {
                start: self.atom(start)?,
                step: self.atom(step)?,
                count: self.atom(count)?,
            });
        }
        Some(View::Slice(dimensions))
    }

    fn transpose(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<View> {
        let [permutation] = self.text.exactly(at, items)?;
        let items = self.text.items(permutation)?;
        let permutation: Option<Vec<u32>> = items.iter().map(|i| self.text.index(*i)).collect();
        permutation.map(View::Transpose)
    }

    /// Parses the results of a sort by keys.
    fn sorted(&mut self, id: DatumId) -> Option<Vec<Sorted>> {
        let mut items = self.text.items(id)?;
        let mut gives = Vec::new();
        while let Some(at) = items.first() {
            let taken = Sorted::ALL
                .into_iter()
                .find(|s| self.text.take_word(&mut items, s.word()));
            gives.push(self.text.expect(taken, *at, "`positions` or `keys`")?);
        }
        Some(gives)
    }

    fn open(&mut self, at: DatumId, items: &'a [DatumId], exact: bool) -> Option<Expression> {
        let [members, link] = self.text.exactly(at, items)?;
        Some(Expression::TableOpen {
            exact,
            members: self.text.members(members)?,
            link: self.atom(link)?,
        })
    }

    fn close(&mut self, at: DatumId, items: &'a [DatumId], checked: bool) -> Option<Expression> {
        let [members, root, tables] = self.text.exactly(at, items)?;
        Some(Expression::TableClose {
            checked,
            members: self.text.members(members)?,
            root: self.atom(root)?,
            tables: self.atoms(tables)?,
        })
    }

    fn shrink(&mut self, at: DatumId, items: &'a [DatumId]) -> Option<Expression> {
        let [members, tables] = self.text.exactly(at, items)?;
        Some(Expression::TableShrink {
            members: self.text.members(members)?,
            tables: self.atoms(tables)?,
        })
    }

    fn call(&mut self, at: DatumId, items: &'a [DatumId], tail: bool) -> Option<Expression> {
        let [function, arguments] = self.text.exactly(at, items)?;
        Some(Expression::Call {
            function: self.function_id(function)?,
            arguments: self.atoms(arguments)?,
            tail,
        })
    }

    /// Parses `(operation (strategy LEVEL SPACE) [shape] [indices] [carries] BODY OUTPUT …)`. The
    /// strategy, and the space in it, may be left out.
    fn operation(&mut self, at: DatumId, items: &'a [DatumId], level: Level) -> Option<Expression> {
        let marked = |first: &DatumId| match self.text.data.form(*first) {
            Some(("strategy", words)) => Some((*first, words)),
            Some(_) | None => None,
        };
        let (strategy, items) = match items.split_first() {
            Some((first, rest)) => match marked(first) {
                Some((at, words)) => (Some(self.strategy(at, words)?), rest),
                None => (None, items),
            },
            None => (None, items),
        };
        let [shape, indices, carries, body, outputs @ ..] = items else {
            return self.text.error(
                at,
                "`(operation [shape] [indices] [carries] BODY …)` is expected",
            );
        };
        let shape = self.atoms(*shape)?;
        let indices = self.parameters(*indices)?;
        let carries = self.starts(*carries)?;
        let body = self.body(*body)?;
        let mut list = Vec::new();
        for output in outputs {
            let form = self.text.data.form(*output);
            let rule = form.and_then(|(word, _)| OUTPUTS.iter().find(|o| o.0 == word));
            let (Some((_, items)), Some((_, rule))) = (form, rule) else {
                return self
                    .text
                    .error(*output, "this is no output of an array operation");
            };
            list.push(rule(self, *output, items)?);
        }
        Some(Expression::Operation(ArrayOperation {
            shape,
            indices,
            level,
            strategy,
            carries,
            body,
            outputs: list,
        }))
    }

    /// Parses the words of `(strategy LEVEL SPACE)`.
    fn strategy(&mut self, at: DatumId, words: &[DatumId]) -> Option<Strategy> {
        let word = |k: usize| words.get(k).and_then(|w| self.text.data.as_symbol(*w));
        let level = word(0).and_then(strategy::Level::by_word);
        let space = word(1).map(strategy::Space::by_word);
        match (level, space, words.len()) {
            (Some(level), None, 1) => Some(Strategy::of(level)),
            (Some(level), Some(Some(space)), 2) => Some(Strategy {
                level,
                space: Some(space),
            }),
            (_, _, _) => self.text.error(at, "`(strategy LEVEL SPACE)` is expected"),
        }
    }

    fn reduce(
        &mut self,
        at: DatumId,
        items: &'a [DatumId],
        (commutes, bracketing): (bool, Bracketing),
    ) -> Option<Output> {
        let [start, lambda] = self.text.exactly(at, items)?;
        Some(Output::Reduce {
            start: self.atoms(start)?,
            lambda: self.lambda(lambda)?,
            commutes,
            bracketing,
        })
    }

    fn histogram(&mut self, at: DatumId, items: &'a [DatumId], guarded: bool) -> Option<Output> {
        let [bins, start, lambda] = self.text.exactly(at, items)?;
        Some(Output::Histogram {
            bins: self.atom(bins)?,
            start: self.atoms(start)?,
            lambda: self.lambda(lambda)?,
            guarded,
        })
    }

    fn scan(&mut self, at: DatumId, items: &'a [DatumId], exclusive: bool) -> Option<Output> {
        let [start, lambda] = self.text.exactly(at, items)?;
        Some(Output::Scan {
            start: self.atoms(start)?,
            lambda: self.lambda(lambda)?,
            exclusive,
        })
    }
}
