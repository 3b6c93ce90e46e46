//! Tests that the interference checker finds races and accepts loops without them. `NAME.race.loop` has a
//! race that `NAME.free.loop` has not, and `NAME.expected` is the text of the refusals. Without any one of
//! the rules, a race would be accepted.

use nova_diag::SourceMap;
use nova_loop::ir::{Program, Variable};
use nova_loop::ir::{Reason, Witness};
use nova_loop::print::print;
use nova_race::{RULES, Refusal, Rule, check, find, writes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Reads the seeds: a name, the program with the race, the program without.
fn seeds() -> Vec<(String, Program, Program)> {
    let folder = Path::new("tests/races");
    let files = std::fs::read_dir(folder).expect("the folder of seeds");
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let name = file.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".race.loop")?.to_string())
        })
        .collect();
    names.sort();
    let read_one = |name: &str, kind: &str| read(&folder.join(format!("{name}.{kind}.loop")));
    let both = |name: String| {
        let (race, free) = (read_one(&name, "race"), read_one(&name, "free"));
        (name, race, free)
    };
    names.into_iter().map(both).collect()
}

fn read(path: &PathBuf) -> Program {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let mut sources = SourceMap::new();
    let file = sources.add("seed", &*text);
    let program = nova_loop::parse::parse(&text, file);
    let program = program.unwrap_or_else(|errors| panic!("{path:?}: {errors:#?}"));
    if let Err(errors) = nova_loop::verify(&program) {
        // The programs have no entries.
        let known = "memory for a result that is none of the entry's";
        let others: Vec<String> = errors.iter().map(|e| e.message.clone()).collect();
        assert!(others.iter().all(|e| e == known), "{path:?}: {others:#?}");
    }
    program
}

fn texts(refusals: &[Refusal]) -> String {
    let mut lines: Vec<String> = refusals
        .iter()
        .map(|refusal| format!("{:?}: {}\n", refusal.rule, refusal.message))
        .collect();
    lines.dedup();
    lines.concat()
}

/// Returns a witness for each loop that claims every reason for every block.
fn boasts(program: &Program) -> BTreeMap<Variable, Witness> {
    let all: Vec<Reason> = Reason::PLAIN
        .into_iter()
        .chain((0..program.variables.len() as u32).map(|k| Reason::Scan(Variable(k))))
        .collect();
    let boast = |(index, pointers): (Variable, BTreeSet<Variable>)| {
        let blocks = pointers.into_iter().map(|pointer| (pointer, all.clone()));
        let blocks = blocks.collect();
        (index, Witness { blocks })
    };
    writes(program).into_iter().map(boast).collect()
}

#[test]
fn every_race_is_found() {
    let seeds = seeds();
    assert!(seeds.len() >= 40, "{}", seeds.len());
    for (name, race, _) in &seeds {
        let path = format!("tests/races/{name}.expected");
        let found = texts(&find(race).refusals);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&path, &found).expect("the expectation");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(!found.is_empty(), "{name}: the race is not found");
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn no_claim_hides_a_race() {
    for (name, race, _) in &seeds() {
        let refusals = check(race, &boasts(race), &BTreeSet::new());
        assert!(!refusals.is_empty(), "{name}");
        assert!(
            !check(race, &BTreeMap::new(), &BTreeSet::new()).is_empty(),
            "{name}"
        );
    }
}

#[test]
fn twins_without_races_are_accepted() {
    for (name, _, free) in &seeds() {
        let found = find(free);
        assert_eq!(texts(&found.refusals), "", "{name}\n{}", print(free));
        // The checker accepts the witnesses that were found, also when they are read from text.
        let mut witnessed = free.clone();
        witnessed.witnesses = found.witnesses;
        let text = print(&witnessed);
        let mut sources = SourceMap::new();
        let file = sources.add("told", &*text);
        let again = nova_loop::parse::parse(&text, file);
        let again = again.unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"));
        assert_eq!(print(&again), text, "{name}");
        let refusals = check(&again, &again.witnesses, &BTreeSet::new());
        assert_eq!(texts(&refusals), "", "{name}\n{text}");
    }
}

#[test]
fn no_witness_is_no_freedom() {
    let text = "(program (function \"f\" [n:i64] [t:(pointer i64) tb:block]
        (allocate tb t i64 n) (for i n grid (store t i i))))";
    let mut sources = SourceMap::new();
    let file = sources.add("bare", text);
    let program = nova_loop::parse::parse(text, file).expect("a program");
    assert!(find(&program).refusals.is_empty());
    let refusals = check(&program, &BTreeMap::new(), &BTreeSet::new());
    assert_eq!(texts(&refusals), "Elements: iterations may meet in t_1\n");
}

#[test]
fn every_rule_is_needed() {
    let seeds = seeds();
    for rule in RULES {
        let without: BTreeSet<Rule> = [rule].into();
        let through = seeds
            .iter()
            .filter(|(_, race, _)| check(race, &boasts(race), &without).is_empty());
        assert!(
            through.count() > 0,
            "{rule:?} refuses nothing that others do not"
        );
    }
}
