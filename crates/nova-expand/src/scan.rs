//! Scans. A scan is a running fold if the order need not be strict or makes no difference. In strict order
//! (docs/order.md) it has blocks of chunks: `y[k] = carry ⊕ (before ⊕ chunk)`.

use crate::accumulators::remainder;
use crate::output::{Scan, Strict};
use crate::space::Space;
use crate::terms::{Term, variables_as_terms};
use crate::translator::{Result, Translator};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir as flat;
use nova_flat::operators::by_component;
use nova_loop::ir::{Expression, Variable};

impl<'a> Translator<'a> {
    /// Prepares a scan.
    pub(crate) fn start_scan(
        &mut self,
        lambda: &'a flat::Lambda,
        start: &[flat::Atom],
        exclusive: bool,
        pattern: &'a [flat::Variable],
        space: &Space,
    ) -> Result<Scan<'a>> {
        for array in pattern {
            self.destination(*array, space.count.clone(), &space.place)?;
        }
        let mut starts = Vec::with_capacity(start.len());
        for atom in start {
            starts.push((self.simple(*atom)?, self.scalar_type(*atom)?));
        }
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let last = self.accumulators(&vec!["last"; starts.len()], &starts);
        // Where the order makes no difference, the scan is a running fold.
        let exact = by_component(lambda).is_some_and(|all| all.iter().all(|o| o.exact));
        let strict = (self.program.strict && !exact).then(|| Strict {
            carry: self.accumulators(&vec!["carry"; starts.len()], &starts),
            before: self.unset("before", &scalars),
            chunk: self.unset("piece", &scalars),
            within: self.unset("within", &scalars),
        });
        Ok(Scan {
            lambda,
            arrays: pattern,
            exclusive,
            last,
            strict,
        })
    }

    /// Consumes the next element.
    pub(crate) fn consume_scan(
        &mut self,
        scan: &Scan<'a>,
        values: &[flat::Atom],
        space: &Space,
    ) -> Result<()> {
        match &scan.strict {
            None => {
                let mut arguments = variables_as_terms(&scan.last);
                for value in values {
                    arguments.push(self.term(*value)?);
                }
                if scan.exclusive {
                    arguments = self.read_now(arguments, values)?;
                    self.store_running(scan, space)?;
                }
                self.apply_to(scan.lambda, arguments, &scan.last)?;
            }
            Some(strict) => {
                let values = self.simple_values(values)?;
                self.flush_loads()?;
                if scan.exclusive {
                    self.store_running(scan, space)?;
                }
                self.strict_step(scan, strict, &values, space)?;
            }
        }
        if !scan.exclusive {
            self.store_running(scan, space)?;
        }
        if let Some(strict) = &scan.strict {
            self.end_chunks(scan, strict, space)?;
        }
        Ok(())
    }

    /// Evaluates values that read memory, since a store comes before their use.
    fn read_now(&mut self, terms: Vec<Term>, values: &[flat::Atom]) -> Result<Vec<Term>> {
        let first_value = terms.len() - values.len();
        let mut evaluated = Vec::with_capacity(terms.len());
        for (index, term) in terms.into_iter().enumerate() {
            let value = index.checked_sub(first_value).and_then(|k| values.get(k));
            evaluated.push(match value {
                Some(atom) if !term.loads.is_empty() => {
                    let ty = nova_loop::ir::Type::Scalar(self.scalar_type(*atom)?);
                    Term::new(self.simplify(term.expression, "value", ty))
                }
                Some(_) | None => term,
            });
        }
        Ok(evaluated)
    }

    /// `y[k] := last`.
    fn store_running(&mut self, scan: &Scan<'a>, space: &Space) -> Result<()> {
        for (array, last) in scan.arrays.iter().zip(&scan.last) {
            let place = self.place(*array)?;
            self.store(
                place,
                vec![space.number.clone()],
                Expression::Variable(*last),
            )?;
        }
        Ok(())
    }

    /// `last := carry ⊕ (before ⊕ chunk)`.
    fn strict_step(
        &mut self,
        scan: &Scan<'a>,
        strict: &Strict,
        values: &[Expression],
        space: &Space,
    ) -> Result<()> {
        let lambda = scan.lambda;
        self.fold_chunk(lambda, &strict.chunk, values, space)?;
        let lanes = Expression::index(LANES as i64);
        let first = remainder(&space.number, BLOCK).compare(ScalarOperation::Less, lanes);
        self.choose(
            first,
            |this| {
                this.copy_all(&strict.chunk, &strict.within);
                Ok(())
            },
            |this| {
                let mut arguments = variables_as_terms(&strict.before);
                arguments.extend(variables_as_terms(&strict.chunk));
                this.apply_to(lambda, arguments, &strict.within)
            },
        )?;
        let mut arguments = variables_as_terms(&strict.carry);
        arguments.extend(variables_as_terms(&strict.within));
        self.apply_to(lambda, arguments, &scan.last)
    }

    /// Updates `before` at the end of a chunk, and `carry` at the end of a block.
    fn end_chunks(&mut self, scan: &Scan<'a>, strict: &Strict, space: &Space) -> Result<()> {
        let groups = [
            (LANES, &strict.within, &strict.before),
            (BLOCK, &scan.last, &strict.carry),
        ];
        for (size, from, to) in groups {
            let last = Expression::index(size as i64 - 1);
            let ends = remainder(&space.number, size).compare(ScalarOperation::Equal, last);
            self.when(ends, |this| {
                this.copy_all(from, to);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn copy_all(&mut self, from: &[Variable], to: &[Variable]) {
        for (from, to) in from.iter().zip(to) {
            self.assign(*to, Expression::Variable(*from));
        }
    }

    /// Does nothing: after the loop the arrays are complete.
    pub(crate) fn finish_scan(&mut self, _scan: Scan<'a>) -> Result<()> {
        Ok(())
    }
}
