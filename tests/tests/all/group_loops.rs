//! Tests of work-groups whose threads make arrays in loops. The array of each iteration has a place
//! of its own, threads wait between their accesses to one array, and the interference checker
//! refuses mistakes in either.

use nova_diag::SourceMap;
use nova_driver::{Stage, Target};
use nova_loop::ir::{Command, Expression, Program, Variable};
use nova_loop::walk::each_command;
use nova_race::{Rule, check, find};
use nova_tests::devices;
use nova_tests::group_programs::{self, BATCH};
use nova_tests::programs::{Compiled, How, compare, emit};
use nova_tests::stages::{self, Loaded, Passes, SMALL_TILES, Stages};
use std::collections::BTreeSet;

/// Arrays made in loops of groups, in every kind of loop.
const PROGRAM: &str = "
(define
  (copy (lambda (z) ((to_local (map_local (lambda (x) x))) z)))
  (step (lambda (v d) ((to_local (map_local (lambda (i)
    (if (>= i d) (+ (v ! i) (v ! (- i d))) (v ! i))))) (range 8))))
  (turned (lambda (v) ((to_local (map_local (lambda (i) (+ i (v ! (- 7 i)))))) (range 8))))
  (ends (lambda (r) (+ (r ! 7) (* 1000 (r ! 3))))))
; A scan of Hillis and Steele.
(entry folded ((xs : vector int))
  (map_workgroup (lambda (z) (ends (foldl step (copy z) [1 2 4]))) (split 8 xs)))
; As often as an element says.
(entry iterated ((xs : vector int))
  (map_workgroup (lambda (z) (ends (iterate (abs (% (z ! 0) 5)) turned (copy z)))) (split 8 xs)))
; Until an element says so.
(entry repeated ((xs : vector int))
  (map_workgroup (lambda (z)
    (ends (while (lambda (v) (< (v ! 3) 90)) (lambda (v) (turned (turned v))) (copy z))))
    (split 8 xs)))
; Several maps in a round, in global memory too.
(entry several ((xs : vector int))
  (map_workgroup (lambda (z)
    (ends (iterate 3 (lambda (v)
      (let (a (turned v)) (b ((to_global (map_local (lambda (i) (- (a ! (- 7 i)) (v ! i))))) (range 8)))
       in ((to_local (map_local (lambda (i) (+ (b ! (% (+ i 1) 8)) (v ! (% (+ i 3) 8)))))) (range 8))))
      (copy z))))
    (split 8 xs)))
; Two states, of which a round replaces the older one: these have three places.
(entry pairs ((xs : vector int))
  (map_workgroup (lambda (z)
    (let ((a, b) (iterate 5 (lambda (s) (let ((a, b) s)
        in (b, ((to_local (map_local (lambda (i) (- (a ! (- 7 i)) (b ! i))))) (range 8)))))
      ((copy z), (turned z))))
     in (+ (ends a) (* 7 (ends b)))))
    (split 8 xs)))
; A state that is kept or replaced, as all threads decide alike.
(entry chosen ((xs : vector int))
  (map_workgroup (lambda (z)
    (ends (foldl (lambda (v d) (if (> (v ! d) 5) v (turned v))) (copy z) [0 5 2 7])))
    (split 8 xs)))
; A loop in a loop.
(entry nested ((xs : vector int))
  (map_workgroup (lambda (z)
    (ends (iterate 3 (lambda (v) (turned (foldl step v [1 4]))) (copy z))))
    (split 8 xs)))
";

fn inputs() -> Vec<String> {
    let numbers = |groups: i64, by: i64| {
        let numbers: Vec<String> = (0..8 * groups)
            .map(|k| ((k * by + 3) % 11).to_string())
            .collect();
        format!("[{}]", numbers.join(" "))
    };
    vec![
        "[1 2 3 4 5 6 7 8 1 1 1 1 1 1 1 1]".to_string(),
        numbers(7, 5),
        "[]".to_string(),
    ]
}

#[test]
fn loops_of_groups_give_what_one_thread_gives() {
    compare(PROGRAM, How::usual(true), &inputs());
}

#[test]
fn the_first_of_them_is_what_it_must_be() {
    let devices = [
        (Target::OpenCl, devices::has_opencl()),
        (Target::Cuda, devices::has_cuda()),
    ];
    for (target, _) in devices.into_iter().filter(|(_, is_present)| *is_present) {
        let device = Compiled::new(PROGRAM, target, How::usual(true));
        let value = device.call(0, &[&inputs()[0]]).expect("a value");
        assert_eq!(
            format!("{value:?}").matches("10036").count(),
            1,
            "{value:?}"
        );
    }
}

/// Two arrays of the group that are written before a loop with barriers, which overwrites one of
/// them in place. Without a barrier immediately before the loop PoCL 3.1 loses the last write.
const BEFORE_BARRIERS: &str = "
(define
  (copy (lambda (z) ((to_local (map_local (lambda (x) (+ x 1)))) z)))
  (other (lambda (a) ((to_local (map_local (lambda (i) (* 2 (a ! (- 7 i)))))) (range 8))))
  (add (lambda (v d) ((to_local (map_local (lambda (x) (% (+ x (* d (v ! 6))) 1009)))) v))))
(entry before ((xs : vector int))
  (map_workgroup (lambda (z)
    (let (a (copy z)) (b (other a)) (r (foldl add b [1 2 3]))
     in (map_local (lambda (i) (+ (a ! i) (r ! i))) (range 8))))
    (split 8 xs)))
";

#[test]
fn what_threads_write_before_a_loop_with_barriers_is_kept() {
    let text = emit(
        BEFORE_BARRIERS,
        Target::OpenCl,
        How::usual(true),
        Stage::Loop,
    );
    assert!(text.contains("(barrier thread)"), "{text}");
    assert!(!text.contains("(spare "), "{text}");
    compare(BEFORE_BARRIERS, How::usual(true), &inputs());
}

fn loops() -> Program {
    let text = emit(PROGRAM, Target::OpenCl, How::usual(true), Stage::Loop);
    let mut sources = SourceMap::new();
    let file = sources.add("loops", &*text);
    nova_loop::parse::parse(&text, file).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Changes the command of this number among those that `change` changes.
fn change_one(
    commands: &mut Vec<Command>,
    left: &mut usize,
    change: &dyn Fn(&Command) -> Option<Vec<Command>>,
) -> bool {
    for at in 0..commands.len() {
        if let Some(others) = change(&commands[at]) {
            if *left == 0 {
                commands.splice(at..=at, others);
                return true;
            }
            *left -= 1;
        }
        for list in commands[at].lists_mut() {
            if change_one(list, left, change) {
                return true;
            }
        }
    }
    false
}

/// Returns all programs with one mistake of a kind.
fn mistakes(program: &Program, change: &dyn Fn(&Command) -> Option<Vec<Command>>) -> Vec<Program> {
    let mut found = Vec::new();
    loop {
        let mut left = found.len();
        let mut other = program.clone();
        other.witnesses.clear();
        let functions = &mut other.functions;
        if !functions
            .iter_mut()
            .any(|f| change_one(&mut f.body, &mut left, change))
        {
            return found;
        }
        found.push(other);
    }
}

fn without_barrier(command: &Command) -> Option<Vec<Command>> {
    matches!(command, Command::Barrier(_)).then(Vec::new)
}

/// Reuses a place that one of the pointers still in use may point to.
fn too_early(which: usize) -> impl Fn(&Command) -> Option<Vec<Command>> {
    move |command| match command {
        Command::Spare {
            pointer,
            places,
            count,
            apart,
        } if apart.len() > which => {
            let mut apart = apart.clone();
            apart.remove(which);
            Some(vec![Command::Spare {
                pointer: *pointer,
                places: places.clone(),
                count: count.clone(),
                apart,
            }])
        }
        _others => None,
    }
}

/// Leaves out one of the places of an array, so that two arrays have one place.
fn too_few(places: &BTreeSet<Variable>) -> impl Fn(&Command) -> Option<Vec<Command>> {
    move |command| match command {
        Command::Shared { pointer, count } if places.contains(pointer) => {
            let fewer = Expression::index(count.as_index()? - 8);
            Some(vec![Command::Shared {
                pointer: *pointer,
                count: fewer,
            }])
        }
        _others => None,
    }
}

/// Puts the array into the place of the previous iteration.
fn one_place(command: &Command) -> Option<Vec<Command>> {
    match command {
        Command::Spare {
            pointer,
            count,
            apart,
            ..
        } if !apart.is_empty() => Some(vec![Command::Shared {
            pointer: *pointer,
            count: count.clone(),
        }]),
        _others => None,
    }
}

/// Returns the program with commands that trace the accesses of threads.
fn traced() -> Stages {
    let how = stages::How {
        strict: true,
        passes: Passes::Kernels(2),
        verify: true,
        defect: None,
        tiles: SMALL_TILES,
    };
    let stages = Stages::compile("loops", PROGRAM, how).unwrap_or_else(|why| panic!("{why}"));
    stages.traced()
}

/// Returns a race, or a value that is not that of the reference interpreter.
fn wrong(traced: &Stages) -> Option<String> {
    let library = Loaded::new("traced", traced, 0).unwrap_or_else(|why| panic!("{why}"));
    for entry in 0..traced.core.entries.len() {
        for input in inputs() {
            let values = nova_tests::inputs::read(&traced.core, entry, &[input]);
            let expected = traced.reference(entry, &values);
            let got = library.call(entry, &values);
            if !got.same(&expected) {
                return Some(format!("entry {entry}: {got}, not {expected}"));
            }
        }
    }
    None
}

#[test]
fn mistakes_of_the_pass_are_refused() {
    let program = loops();
    let refusals = find(&program).refusals;
    assert!(refusals.is_empty(), "{refusals:#?}");
    let mut spares = 0;
    let mut several = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::Spare { places, .. } = command {
                spares += 1;
                places.each_variable(&mut |variable| {
                    several.insert(variable);
                });
            }
        });
    }
    assert!(spares >= 5, "{spares} arrays with several places");
    let few = mistakes(&program, &too_few(&several));
    assert!(few.len() >= 4, "{} arrays of places", few.len());
    let barriers = mistakes(&program, &without_barrier);
    assert!(barriers.len() >= 8, "{} barriers", barriers.len());
    let early = [too_early(0), too_early(1)].map(|change| mistakes(&program, &change));
    assert!(early[0].len() >= 4, "{} places", early[0].len());
    let again = mistakes(&program, &one_place);
    let kinds = [
        ("a barrier left out", barriers),
        ("a place used too early", early.concat()),
        ("an array made again over that of the round before", again),
        ("a place too few", few),
    ];
    let mut traced = traced();
    for (kind, programs) in &kinds {
        let is_refused = |program: &Program| !find(program).refusals.is_empty();
        let (refused, others): (Vec<_>, Vec<_>) = programs.iter().partition(|p| is_refused(p));
        // A change that is not refused is no mistake. Some barriers are redundant, and an array
        // that is made before a loop may have a place of its own.
        for program in &others {
            traced.imperative = (*program).clone();
            assert_eq!(wrong(&traced), None, "{kind}");
        }
        assert!(
            others.len() * 4 <= refused.len(),
            "{kind}: {} of {} refused",
            refused.len(),
            programs.len()
        );
    }
    // Without the rules some mistakes are accepted.
    for (rule, kind) in [(Rule::Waits, 0), (Rule::Places, 1), (Rule::Places, 2)] {
        let without: BTreeSet<Rule> = [rule].into();
        let (kind, programs) = &kinds[kind];
        let through = programs.iter().filter(|program| {
            let refusals = check(program, &find(program).witnesses, &without);
            refusals.is_empty()
        });
        assert!(through.count() > 0, "{rule:?}: {kind}");
    }
}

#[test]
fn random_programs_of_groups_agree() {
    let seeds: Vec<u64> = (0..BATCH).collect();
    for passes in [Passes::Kernels(2), Passes::Cuda(2)] {
        if !passes.is_present() {
            continue;
        }
        let found = group_programs::compare(&seeds, passes, &mut |_| {}).unwrap();
        assert!(
            found.disagreements.is_empty(),
            "{}",
            found.disagreements.join("\n")
        );
        assert_eq!(found.programs, BATCH);
        assert!(found.kernels >= BATCH / 3 && found.spares >= 3, "{found:?}");
    }
}
