//! `novac tune`: searches for a plan by measurement on the user's data, and writes it.
//!
//! The search is greedy. From the plan that the compiler makes by itself it tries one move after the other
//! ([`search::moves`]), measures it in turn with the best plan so far, and keeps what gains. Plans that give
//! the same C are measured once. In the end the best plan is measured against none.

mod search;

use super::inputs::{choose_entry, read_inputs};
use crate::cli::{Common, TuneArguments};
use crate::compare::agree;
use crate::terminal::{End, Outcome, message, print};
use indicatif::{ProgressBar, ProgressStyle};
use nova_core::Value;
use nova_driver::plan::{Choices, Plan};
use nova_driver::{Compiler, Failure, Options, PlanText, Target};
use nova_exec::CallError;
use nova_exec::atomic::write_file;
use nova_exec::compiler::processor_name;
use nova_exec::input::Inputs;
use nova_exec::library::{Library, PreparedCall};
use search::{after, median_ratio, moves};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// The time ratio below which a plan counts as better than another one.
const GAIN: f64 = 0.98;

/// The rounds of a comparison, and those at the end.
const ROUNDS: usize = 7;
const LAST_ROUNDS: usize = 21;

/// The time that a side of a round takes at least; short calls are repeated.
const SHORTEST: Duration = Duration::from_millis(2);

/// Searches for a plan.
pub fn tune(common: &Common, arguments: &TuneArguments) -> Outcome {
    let target = common.target.unwrap_or(Target::Pthreads);
    let limit = Duration::from_secs(arguments.time);
    let mut tuner = Tuner {
        options: Options {
            target,
            plan: Plan::default(),
            ..common.options()
        },
        arguments,
        seen: HashSet::new(),
        tried: 0,
        deadline: Instant::now() + limit,
    };
    let none = tuner.built(Choices::new())?;
    let Some(none) = none else {
        return Err(End::failed("error: there is no C to measure".to_string()));
    };
    let value = tuner.value(&none)?;
    let bar = progress_bar(arguments.time);
    let start = common
        .plan
        .as_ref()
        .map(|file| file.text.plan.chosen().clone());
    let best = tuner.search(&none, start.unwrap_or_default(), &value, &bar)?;
    bar.finish_and_clear();
    let (plan, ratio) = match best {
        Some(best) => {
            let ratio = tuner.ratio(&best, &none, LAST_ROUNDS)?;
            (tuner.without_idle(best)?, ratio)
        }
        None => (Choices::new(), 1.0),
    };
    let plan = match ratio < GAIN {
        true => plan,
        false => Choices::new(),
    };
    let tried = tuner.tried;
    message(&match plan.is_empty() {
        true => format!("novac: {tried} plans tried, none is faster than the compiler's own"),
        false => format!(
            "novac: {tried} plans tried; the best takes {ratio:.2} of the time without a plan"
        ),
    });
    let text = PlanText {
        target: Some(target),
        plan: Plan::new(plan),
    };
    let text = text.write(&comments(arguments, ratio));
    match &arguments.output {
        Some(path) => Ok(write_file(path, |writer| {
            writer.write_all(text.as_bytes())
        })?),
        None => print(&text),
    }
}

/// Returns the comments of a plan: where it is from.
fn comments(arguments: &TuneArguments, ratio: f64) -> Vec<String> {
    let inputs = arguments.inputs.join(" ");
    let file = arguments.file.file.display();
    let mut lines = vec![format!("Found by novac {} tune", env!("CARGO_PKG_VERSION"))];
    lines.push(format!("for {file} {inputs}").replace('\n', " "));
    if let Some(processor) = processor_name() {
        lines.push(format!("on {processor}"));
    }
    if ratio < GAIN {
        lines.push(format!("{ratio:.2} of the time without a plan"));
    }
    lines
}

fn progress_bar(seconds: u64) -> ProgressBar {
    let bar = ProgressBar::new(seconds);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} s  {msg}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// A program that is compiled by a plan.
struct Built {
    plan: Choices,
    /// The choices that may be made, with the values without a plan.
    asked: Choices,
    /// Its C, without the comment that names the plan.
    code: String,
    library: Library,
}

/// Returns the C of a program without its first comment, which names the plan.
fn code(source: String) -> String {
    match source.split_once("*/") {
        Some((_, code)) => code.to_string(),
        None => source,
    }
}

/// The state of a search.
struct Tuner<'a> {
    options: Options,
    arguments: &'a TuneArguments,
    /// The C of the plans so far.
    seen: HashSet<String>,
    tried: usize,
    deadline: Instant,
}

impl Tuner<'_> {
    /// Compiles the program by a plan. Returns nothing if the C is that of a plan before.
    fn built(&mut self, plan: Choices) -> Result<Option<Built>, End> {
        let compiler = self.compiler(plan.clone());
        let mut checked = super::check_file(&compiler, &self.arguments.file.file)?;
        let code = code(compiler.compile(&mut checked)?.files.source);
        if !self.seen.insert(code.clone()) {
            return Ok(None);
        }
        let asked = compiler.options().plan.asked();
        let library = compiler.load(&mut checked, &self.arguments.link)?;
        Ok(Some(Built {
            plan,
            asked,
            code,
            library,
        }))
    }

    /// Returns the plan of a program without the choices that change nothing.
    fn without_idle(&self, built: Built) -> Result<Choices, End> {
        let mut plan = built.plan;
        for key in plan.clone().into_keys() {
            let mut shorter = plan.clone();
            shorter.remove(&key);
            let compiler = self.compiler(shorter.clone());
            let mut checked = super::check_file(&compiler, &self.arguments.file.file)?;
            if code(compiler.compile(&mut checked)?.files.source) == built.code {
                plan = shorter;
            }
        }
        Ok(plan)
    }

    fn compiler(&self, plan: Choices) -> Compiler {
        Compiler::new(Options {
            plan: Plan::new(plan),
            ..self.options.clone()
        })
    }

    /// Looks for the best plan from a start. Returns nothing if none is better than no plan.
    fn search(
        &mut self,
        none: &Built,
        start: Choices,
        value: &Value,
        bar: &ProgressBar,
    ) -> Result<Option<Built>, End> {
        let mut best: Option<Built> = None;
        if !start.is_empty() {
            best = self.better(none, start, value)?;
        }
        let begin = Instant::now();
        loop {
            let now = best.as_ref().unwrap_or(none);
            let (asked, plan) = (now.asked.clone(), now.plan.clone());
            let mut found = None;
            for change in moves(&asked, &plan) {
                if Instant::now() >= self.deadline {
                    return Ok(best);
                }
                bar.set_position(begin.elapsed().as_secs());
                bar.set_message(format!("{} plans tried", self.tried));
                let now = best.as_ref().unwrap_or(none);
                found = self.better(now, after(&asked, &plan, &change), value)?;
                if found.is_some() {
                    break;
                }
            }
            match found {
                Some(found) => best = Some(found),
                None => return Ok(best),
            }
        }
    }

    /// Returns the program that a plan gives if it is faster than another one, with the same value.
    fn better(&mut self, than: &Built, plan: Choices, value: &Value) -> Result<Option<Built>, End> {
        let Some(built) = self.built(plan)? else {
            return Ok(None);
        };
        self.tried += 1;
        // One round tells whether the others are worth their time.
        let is_better = self.ratio(&built, than, 1)? < 1.1
            && self.ratio(&built, than, ROUNDS)? < GAIN
            && self.ratio(&built, than, ROUNDS)? < GAIN;
        if !is_better {
            return Ok(None);
        }
        let same = agree(&self.value(&built)?, value, self.options.strict);
        Ok(same.then_some(built))
    }

    /// Returns the value of a call.
    fn value(&self, built: &Built) -> Result<Value, End> {
        let (value, _) = self.prepared(built)?.call().map_err(failed)?;
        Ok(value)
    }

    /// Prepares a call with the inputs of the command line.
    fn prepared<'b>(&self, built: &'b Built) -> Result<PreparedCall<'b>, End> {
        let arguments = self.arguments;
        let compiler = Compiler::new(self.options.clone());
        let checked = super::check_file(&compiler, &arguments.file.file)?;
        let (entry, signature) = choose_entry(&checked, arguments.entry.as_deref())?;
        let given = read_inputs(
            &checked,
            &signature,
            &arguments.inputs,
            Inputs::read_argument,
        )?;
        built
            .library
            .prepare_arguments(entry, given)
            .map_err(failed)
    }

    /// Returns the ratio of the times of two programs, which are called in turn.
    fn ratio(&self, one: &Built, other: &Built, rounds: usize) -> Result<f64, End> {
        let (one, other) = (self.prepared(one)?, self.prepared(other)?);
        let timed = |call: &PreparedCall<'_>, count: u32| -> Result<Duration, End> {
            let mut sum = Duration::ZERO;
            for _ in 0..count {
                sum += call.run().map_err(failed)?.1;
            }
            Ok(sum)
        };
        // The first calls touch pages and wake threads.
        timed(&one, 1)?;
        let once = timed(&other, 1)?.max(Duration::from_nanos(100));
        let count = (SHORTEST.as_nanos() / once.as_nanos()).clamp(0, 10_000) as u32 + 1;
        let mut pairs = Vec::with_capacity(rounds);
        for round in 0..rounds {
            // Either is the first one in turn.
            pairs.push(match round % 2 {
                0 => (timed(&one, count)?, timed(&other, count)?),
                _ => {
                    let second = timed(&other, count)?;
                    (timed(&one, count)?, second)
                }
            });
        }
        Ok(median_ratio(&pairs))
    }
}

fn failed(error: CallError) -> End {
    Failure::Call(error).into()
}
