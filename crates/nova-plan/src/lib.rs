//! Plans: the choices of a schedule as data. A plan says for operations of a program, named by their places
//! in its source, which of several legal forms they get. Where it says nothing, the passes choose by the
//! machine's description (`nova-machine`).
//!
//! A plan changes no value. A pass asks for a choice ([`Plan::choose`]) where it has shown that each of the
//! [`Row::values`] is legal, and what follows is right for all of them. So every plan is legal, and a plan
//! for another program or target at most says nothing. Each question is recorded with what the passes would
//! choose ([`Plan::asked`]). The record is what may be chosen, for searches and for random tests.
//!
//! Operations keep their places in all passes. Operations at one place, such as the copies of an inlined
//! function, have one choice.

mod choices;
#[cfg(test)]
mod tests;

pub use choices::{CHOICES, Choice, Row};
use nova_diag::Place;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Choices for operations, by the places of these.
pub type Choices = BTreeMap<(Place, Choice), i64>;

/// A plan: what it says, and what was asked.
#[derive(Clone, Default)]
pub struct Plan {
    chosen: Choices,
    /// The number by which it draws what it says.
    drawn: Option<u64>,
    /// The questions so far with what the passes would choose. Copies of a plan share it.
    asked: Arc<Mutex<Choices>>,
}

impl Plan {
    /// Returns a plan of choices. Values that are not in the table of choices are left out.
    pub fn new(mut chosen: Choices) -> Plan {
        chosen.retain(|(_, choice), value| {
            let row = choice.row();
            row.is_some_and(|row| row.values.contains(value))
        });
        Plan {
            chosen,
            ..Plan::default()
        }
    }

    /// Returns a plan that answers half of the questions with a value that it draws, for tests. The number, the
    /// place and the choice decide the value.
    pub fn drawn(number: u64) -> Plan {
        Plan::default().and_drawn(number)
    }

    /// Returns the plan with values that it draws where it says nothing, as [`Plan::drawn`] does.
    pub fn and_drawn(self, number: u64) -> Plan {
        Plan {
            drawn: Some(number),
            ..self
        }
    }

    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.drawn.is_none()
    }

    /// Returns what it says.
    pub fn chosen(&self) -> &Choices {
        &self.chosen
    }

    /// Returns the choice for the operation at a place. It is `usual` where the plan says nothing.
    pub fn choose(&self, place: &Place, choice: Choice, usual: i64) -> i64 {
        let key = (place.clone(), choice);
        let value = self.said(&key).unwrap_or(usual);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(key, usual);
        value
    }

    /// True if the operation at a place may get a form that it has unless a plan says no.
    pub fn allows(&self, place: &Place, choice: Choice) -> bool {
        self.choose(place, choice, 1) != 0
    }

    /// Returns what was asked of this plan and its copies, with what is chosen without a plan.
    pub fn asked(&self) -> Choices {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }

    /// Returns what was asked and is not chosen as without a plan.
    pub fn departures(&self) -> Choices {
        let asked = self.asked().into_iter();
        let other = |(key, usual): (_, i64)| {
            let value = self.said(&key).filter(|value| *value != usual)?;
            Some((key, value))
        };
        asked.filter_map(other).collect()
    }

    /// Returns the value that it says, if it says one.
    fn said(&self, key: &(Place, Choice)) -> Option<i64> {
        if let Some(value) = self.chosen.get(key) {
            return Some(*value);
        }
        let number = self.drawn?;
        let mut hasher = DefaultHasher::new();
        (number, key).hash(&mut hasher);
        let hash = hasher.finish();
        let values = key.1.row()?.values;
        let value = values.get((hash >> 1) as usize % values.len())?;
        (hash % 2 == 1).then_some(*value)
    }

    /// Returns what it says that nothing has asked for.
    pub fn unused(&self) -> Vec<(Place, Choice)> {
        let asked = self.asked();
        let is_unused = |key: &&(Place, Choice)| !asked.contains_key(key);
        self.chosen.keys().filter(is_unused).cloned().collect()
    }

    /// Returns the text of what it says, a line for each operation.
    pub fn lines(&self) -> Vec<String> {
        let drawn = self.drawn.map(|number| format!("(draw {number})"));
        drawn.into_iter().chain(lines(&self.chosen)).collect()
    }
}

/// Returns the text of choices, a line for each place: `(at "dot.nova:3:12" (threads no) (grain 8192))`.
pub fn lines(choices: &Choices) -> Vec<String> {
    let mut by_place: BTreeMap<&Place, String> = BTreeMap::new();
    for ((place, choice), value) in choices {
        let text = by_place.entry(place).or_default();
        *text += &format!(" ({} {})", choice.name(), choice.text(*value));
    }
    let line = |(place, text): (&Place, String)| format!("(at {:?}{text})", place.to_string());
    by_place.into_iter().map(line).collect()
}

/// Plans are equal if they say the same.
impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        self.chosen == other.chosen && self.drawn == other.drawn
    }
}

impl Eq for Plan {}

/// Says what the plan says, and nothing of what was asked.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}
