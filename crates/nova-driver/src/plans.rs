//! The text of plans, which users keep in files:
//!
//! ```text
//! (plan (target pthreads)
//!   (at "gemv.nova:3:12" (threads no) (tiles yes))
//!   (at "gemv.nova:4:5" (grain 8192)))
//! ```
//!
//! `(draw 17)` draws choices where the plan says nothing, for tests.

use crate::options::{TARGETS, Target};
use nova_diag::{Diagnostic, Place, SourceMap, Span, render_text};
use nova_plan::{Choice, Choices, Plan};
use nova_syntax::datum::{Data, DatumId};
use nova_syntax::reader;

/// A plan as its text states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanText {
    /// The target that it is for.
    pub target: Option<Target>,
    /// The choices.
    pub plan: Plan,
}

impl PlanText {
    /// Reads the text of a plan; `name` is the name of its file.
    ///
    /// # Errors
    /// The first mistake, as text with its place.
    pub fn read(name: &str, text: &str) -> Result<PlanText, String> {
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let (data, diagnostics) = reader::read(text, file);
        if let Some(first) = diagnostics.first() {
            return Err(render_text(&sources, first));
        }
        let whole = Span::new(file, 0, 0);
        read(&data, whole).map_err(|(span, message)| {
            let code = nova_diag::codes::BAD_FORM;
            render_text(&sources, &Diagnostic::error(code, span, message))
        })
    }

    /// Returns the text, after comments of these lines.
    pub fn write(&self, comments: &[String]) -> String {
        let mut text = String::new();
        for line in comments {
            text += &format!(";; {line}\n");
        }
        text += "(plan";
        if let Some(target) = self.target {
            text += &format!(" (target {target})");
        }
        for line in self.plan.lines() {
            text += &format!("\n  {line}");
        }
        text + ")\n"
    }
}

/// A mistake: where it is, and what is wrong.
type Wrong = (Span, String);

fn read(data: &Data, whole: Span) -> Result<PlanText, Wrong> {
    let [root] = data.roots() else {
        let message = "a plan is one list: (plan (at \"FILE:LINE:COLUMN\" (CHOICE VALUE) ...) ...)";
        return Err((whole, message.to_string()));
    };
    let Some(("plan", parts)) = data.form(*root) else {
        let message = "a plan begins with the word `plan`".to_string();
        return Err((data.span(*root), message));
    };
    let mut target = None;
    let mut drawn = None;
    let mut chosen = Choices::new();
    for part in parts {
        match data.form(*part) {
            Some(("target", [name])) => target = Some(target_of(data, *name)?),
            Some(("draw", [number])) => {
                let number = data.as_integer(*number).and_then(|n| u64::try_from(n).ok());
                drawn = Some(number.ok_or_else(|| {
                    let message = "a plan draws by a number of 64 bits: (draw 17)".to_string();
                    (data.span(*part), message)
                })?);
            }
            Some(("at", [place, choices @ ..])) => {
                let text = data.as_string(*place).and_then(Place::parse);
                let place = text.ok_or_else(|| {
                    let message = "a place is text: \"FILE:LINE:COLUMN\"".to_string();
                    (data.span(*place), message)
                })?;
                for choice in choices {
                    let (choice, value) = choice_of(data, *choice)?;
                    chosen.insert((place.clone(), choice), value);
                }
            }
            _other => {
                let message =
                    "a plan has (target NAME) and (at \"FILE:LINE:COLUMN\" (CHOICE VALUE) ...)";
                return Err((data.span(*part), message.to_string()));
            }
        }
    }
    let plan = Plan::new(chosen);
    let plan = match drawn {
        Some(number) => plan.and_drawn(number),
        None => plan,
    };
    Ok(PlanText { target, plan })
}

fn target_of(data: &Data, name: DatumId) -> Result<Target, Wrong> {
    let target = data.as_symbol(name).and_then(Target::by_name);
    target.ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|(_, name)| *name).collect();
        let message = format!("the targets are {}", names.join(", "));
        (data.span(name), message)
    })
}

fn choice_of(data: &Data, choice: DatumId) -> Result<(Choice, i64), Wrong> {
    let Some((name, [value])) = data.form(choice) else {
        let message = "a choice is a name and a value: (threads no)".to_string();
        return Err((data.span(choice), message));
    };
    let Some(row) = Choice::by_name(name) else {
        let names: Vec<&str> = nova_plan::CHOICES.iter().map(|row| row.name).collect();
        let message = format!(
            "there is no choice `{name}`; there are {}",
            names.join(", ")
        );
        return Err((data.span(choice), message));
    };
    let given = match data.as_symbol(*value) {
        Some(word) => Some(word.to_string()),
        None => data.as_integer(*value).map(|number| number.to_string()),
    };
    let known = row.values.iter();
    let found = known.copied().find(|v| Some(row.choice.text(*v)) == given);
    found.map(|value| (row.choice, value)).ok_or_else(|| {
        let texts: Vec<String> = row.values.iter().map(|v| row.choice.text(*v)).collect();
        let message = format!("the values of `{name}` are {}", texts.join(", "));
        (data.span(*value), message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ";; found\n(plan (target pthreads)\n  (at \"p.nova:1:2\" (threads no) (grain 8192))\n  (at \"p.nova:3:4\" (tiles yes)))\n";

    #[test]
    fn a_plan_is_written_as_it_is_read() {
        let plan = PlanText::read("p.plan", TEXT).unwrap();
        assert_eq!(plan.target, Some(Target::Pthreads));
        assert_eq!(plan.plan.chosen().len(), 3);
        assert_eq!(plan.write(&["found".to_string()]), TEXT);
        assert_eq!(PlanText::read("p.plan", "(plan)"), Ok(PlanText::default()));
        let drawn = "(plan\n  (draw 17)\n  (at \"p.nova:3:4\" (tiles yes)))\n";
        assert_eq!(PlanText::read("p.plan", drawn).unwrap().write(&[]), drawn);
    }

    #[test]
    fn mistakes_have_places() {
        let mistakes = [
            ("", "a plan is one list"),
            ("(plan", "1:1"),
            ("(plan) (plan)", "a plan is one list"),
            ("(plans)", "begins with the word `plan`"),
            ("(plan (target gpu))", "the targets are seq, pthreads"),
            ("(plan (at 3 (tiles no)))", "a place is text"),
            ("(plan (at \"p.nova\" (tiles no)))", "a place is text"),
            (
                "(plan (at \"p.nova:1:1\" tiles))",
                "a choice is a name and a value",
            ),
            (
                "(plan (at \"p.nova:1:1\" (tile no)))",
                "there is no choice `tile`",
            ),
            (
                "(plan (at \"p.nova:1:1\" (tiles 1)))",
                "the values of `tiles` are no, yes",
            ),
            (
                "(plan (at \"p.nova:1:1\" (grain 3)))",
                "the values of `grain` are 2048, 8192",
            ),
            ("(plan (draw -1))", "a plan draws by a number"),
            ("(plan (steps 3))", "a plan has (target NAME)"),
        ];
        for (text, message) in mistakes {
            let error = PlanText::read("p.plan", text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
            assert!(error.contains("p.plan:1:"), "{text}: {error}");
        }
    }
}
