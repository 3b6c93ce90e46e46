//! `novac run`: compile, load, call, print.

use super::evaluate::{check_destination, deliver, with_source_line};
use super::inputs::{choose_entry, read_inputs};
use super::profile;
use crate::cli::{Common, RunArguments};
use crate::terminal::{self, print_line};
use nova_driver::{Compiler, Failure, Options, Target};
use nova_exec::input::Inputs;
use nova_exec::output::Outcome;
use std::time::Duration;

/// Compiles a program, runs an entry and prints its value.
pub fn run(common: &Common, arguments: &RunArguments) -> terminal::Outcome {
    let target = common.target.unwrap_or(Target::Pthreads);
    if arguments.profile {
        profile::check(target, common.check_races)?;
        return profile::run(common, arguments);
    }
    let asked = profile::is_asked() && profile::is_compiled_for(target);
    let options = Options {
        target,
        profile: asked && !common.check_races,
        ..common.options()
    };
    let compiler = Compiler::new(options);
    let eval = &arguments.eval;
    let mut checked = super::check_file(&compiler, &eval.file.file)?;
    let (entry, signature) = choose_entry(&checked, eval.entry.as_deref())?;
    check_destination(&eval.output, &signature.result)?;
    let given = read_inputs(&checked, &signature, &eval.inputs, Inputs::read_argument)?;
    let library = compiler.load(&mut checked, &arguments.link);
    super::report_passes(common, &checked);
    let library = library?;
    super::report_loading(&library);
    let failed = |error| with_source_line(&checked, Failure::Call(error));
    let prepared = library.prepare_arguments(entry, given).map_err(failed)?;
    let (returned, _) = prepared.run().map_err(failed)?;
    let outcome = Outcome::Returned(returned);
    let Some(count) = arguments.bench else {
        return deliver(eval, &outcome, &signature.result, &checked);
    };
    let mut times = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (_, time) = prepared.run().map_err(failed)?;
        times.push(time);
    }
    if eval.output.is_some() {
        deliver(eval, &outcome, &signature.result, &checked)?;
    }
    print_line(&summary(times))
}

/// Returns a line of JSON with the times in seconds, of which there is at least one.
fn summary(mut times: Vec<Duration>) -> String {
    times.sort();
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    let at = |k: usize| seconds.get(k).copied().unwrap_or(0.0);
    let middle = seconds.len() / 2;
    let median = match seconds.len() % 2 {
        0 => (at(middle.saturating_sub(1)) + at(middle)) / 2.0,
        _ => at(middle),
    };
    let last = seconds.len().saturating_sub(1);
    format!(
        "{{\"min\": {:e}, \"median\": {median:e}, \"max\": {:e}}}",
        at(0),
        at(last)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_times() {
        let times = |seconds: &[u64]| seconds.iter().map(|s| Duration::from_secs(*s)).collect();
        assert_eq!(
            summary(times(&[3, 1, 2])),
            "{\"min\": 1e0, \"median\": 2e0, \"max\": 3e0}"
        );
        assert_eq!(
            summary(times(&[4, 1])),
            "{\"min\": 1e0, \"median\": 2.5e0, \"max\": 4e0}"
        );
    }
}
