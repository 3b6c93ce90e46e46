//! Tests of plans.

use super::{CHOICES, Choice, Choices, Plan};
use nova_diag::Place;

fn place(line: u32) -> Place {
    Place::new("p.nova", line, 2)
}

#[test]
fn each_choice_has_one_row_with_several_values() {
    for row in CHOICES {
        let same = CHOICES.iter().filter(|other| other.name == row.name);
        assert_eq!(same.count(), 1, "{}", row.name);
        let same = CHOICES.iter().filter(|other| other.choice == row.choice);
        assert_eq!(same.count(), 1, "{}", row.name);
        assert!(row.values.len() > 1, "{}", row.name);
        assert!(row.values.is_sorted(), "{}", row.name);
    }
}

#[test]
fn a_plan_answers_where_it_says_something_and_records_questions() {
    let plan = Plan::new(Choices::from([
        ((place(1), Choice::Threads), 0),
        ((place(1), Choice::Grain), 8192),
        ((place(2), Choice::Tiles), 1),
    ]));
    assert!(!plan.allows(&place(1), Choice::Threads));
    assert_eq!(plan.choose(&place(1), Choice::Grain, 32768), 8192);
    let copy = plan.clone();
    assert_eq!(copy.choose(&place(3), Choice::Grain, 32768), 32768);
    assert_eq!(plan.unused(), [(place(2), Choice::Tiles)]);
    assert_eq!(plan.asked().get(&(place(3), Choice::Grain)), Some(&32768));
    let text = [
        "(at \"p.nova:1:2\" (threads no) (grain 8192))",
        "(at \"p.nova:2:2\" (tiles yes))",
    ];
    assert_eq!(plan.lines(), text);
}

#[test]
fn drawn_plans_answer_with_values_of_the_table() {
    let plan = Plan::drawn(3);
    for line in 1..200 {
        let grain = plan.choose(&place(line), Choice::Grain, 2);
        assert!(grain == 2 || Choice::Grain.row().unwrap().values.contains(&grain));
        assert_eq!(grain, Plan::drawn(3).choose(&place(line), Choice::Grain, 2));
    }
    let other = plan.departures().len();
    assert!((50..150).contains(&other), "{other}");
    assert!(!plan.is_empty() && plan != Plan::drawn(4));
}

#[test]
fn values_that_no_row_has_are_left_out() {
    let wrong = [
        ((place(1), Choice::Grain), 7),
        ((place(1), Choice::Threads), 2),
    ];
    assert!(Plan::new(Choices::from(wrong)).is_empty());
}
