//! Every mistake of a pass is detected by a validator: the verifier, erasure, or the heap interpreter.

use crate::passes::{function, read, run};
use nova_flat::ir::Program;
use nova_flat::print::print;
use nova_mem::mistakes::{Mistake, Mistakes};
use nova_mem::{erase, keeps_meaning, reuse, settle, short_circuit, verify};

/// A vector made by a map.
const MAP: &str = "(let [mb:(block f32)] (allocate f32 n))
    (let [m:[n]f32 @ mb] (operation [n] [i:i64] []
      (do (let [e:f32] (index x [i])) (let [d:f32] (add f32 e 1.0f)) (in d)) (map)))";

/// A program and its result, a pass, a mistake of the pass, and the validator that detects it first.
struct Case {
    mistake: Mistake,
    pass: fn(&mut Program, Mistakes),
    body: &'static str,
    result: &'static str,
    seen_by: &'static str,
}

fn shorten(program: &mut Program, mistakes: Mistakes) {
    short_circuit::run_with(program, mistakes);
}

fn replace(program: &mut Program, mistakes: Mistakes) {
    reuse::run_with(program, reuse::Counting::Everywhere, mistakes);
}

fn settle(program: &mut Program, mistakes: Mistakes) {
    reuse::run(program, reuse::Counting::Everywhere);
    settle::run_with(program, mistakes);
}

/// A copy of `m`, which is read afterwards.
const COPY_THEN_READ: &str = "(let [c:(block f32)] (allocate f32 n))
    (let [z:[n]f32 @ c] (copy m))
    (let [u:[n]f32 @ c] (update z [0] 9.0f))
    (let [g:f32] (index m [0]))
    (let [w:[n]f32 @ c] (update u [1] g))";

const CONCATENATION: &str = "(let [s:i64] (add i64 n n))
    (let [c:(block f32)] (allocate f32 s))
    (let [z:[s]f32 @ c] (concat s [x m]))";

const UPDATE_THEN_READ: &str = "(let [tb:(block f32)] (allocate f32 n))
    (let [t:[n]f32 @ tb] (update m [0] 9.0f))
    (let [g:f32] (index m [0]))
    (let [u:[n]f32 @ tb] (update t [1] g))";

const CASES: &[Case] = &[
    Case {
        mistake: Mistake::CopyUsedLater,
        pass: shorten,
        body: COPY_THEN_READ,
        result: "w",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::TargetInUse,
        pass: shorten,
        body: "(let [c:(block f32)] (allocate f32 n))
            (let [w:[n]f32 @ c] (copy x))
            (let [mb2:(block f32)] (allocate f32 n))
            (let [m2:[n]f32 @ mb2] (replicate [n] 4.0f))
            (let [g:f32] (index w [0]))
            (let [z:[n]f32 @ c] (copy m2))
            (let [u:[n]f32 @ c] (update z [0] g))",
        result: "u",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::NotHoisted,
        pass: shorten,
        body: CONCATENATION,
        result: "z",
        seen_by: "verifier",
    },
    Case {
        mistake: Mistake::SizeLeftBehind,
        pass: shorten,
        body: CONCATENATION,
        result: "z",
        seen_by: "verifier",
    },
    Case {
        mistake: Mistake::WrongOffset,
        pass: shorten,
        body: CONCATENATION,
        result: "z",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::WrongStride,
        pass: shorten,
        body: CONCATENATION,
        result: "z",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::GapsWhereNone,
        pass: shorten,
        body: "(let [v:[n][1]f32 @ mb] (reshape m [n 1]))
            (let [g:f32] (index v [0 0]))
            (let [s:i64] (mul i64 n 2))
            (let [c:(block f32)] (allocate f32 s))
            (let [z:[n]f32 @ c (lmad 0 [n 2])] (copy m))
            (let [ob:(block f32)] (allocate f32 n))
            (let [o:[n]f32 @ ob] (copy z))",
        result: "o",
        seen_by: "verifier",
    },
    Case {
        mistake: Mistake::ViewsLeftBehind,
        pass: shorten,
        body: "(let [v:[2]f32 @ mb (lmad 1 [2 1])] (slice m [1 1 2]))
            (let [g:f32] (index v [0]))
            (let [s:i64] (add i64 n n))
            (let [c:(block f32)] (allocate f32 s))
            (let [z:[s]f32 @ c] (concat s [x m]))",
        result: "z",
        seen_by: "verifier",
    },
    Case {
        mistake: Mistake::ReuseUsedLater,
        pass: replace,
        body: UPDATE_THEN_READ,
        result: "u",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::ReuseReadElsewhere,
        pass: replace,
        body: "(let [tb:(block f32)] (allocate f32 n))
            (let [t:[n]f32 @ tb] (operation [n] [k:i64] []
              (do (let [j:i64] (sub i64 2 k)) (let [a:f32] (index m [j])) (in a)) (map)))",
        result: "t",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::ReuseReadElsewhere,
        pass: replace,
        body: "(let [tb:(block f32)] (allocate f32 n))
            (let [t:[n]f32 @ tb] (operation [2] [k:i64] []
              (do (let [j:i64] (sub i64 1 k)) (let [a:f32] (index m [j])) (in a))
              (scatter_block [0] [m])))",
        result: "t",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::ReuseHandedOn,
        pass: replace,
        body: "(let [c:bool] (lt i64 n 5))
            (let [y:[n]f32 @ yb] (if c (do (in m)) (do (in x))))
            (let [tb:(block f32)] (allocate f32 n))
            (let [t:[n]f32 @ tb] (update m [0] 9.0f))
            (let [g:f32] (index y [0]))
            (let [u:[n]f32 @ tb] (update t [1] g))",
        result: "u",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::UniqueDropped,
        pass: replace,
        body: "(let [s:[n]f32 @ sb] (operation [3] [k:i64] [v:[n]f32 @ vb = m]
              (do (let [ub:(block f32)] (allocate f32 n))
                  (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))))
            (let [g:f32] (index m [0]))
            (let [wb:(block f32)] (allocate f32 n))
            (let [w:[n]f32 @ wb] (replicate [n] g))",
        result: "w",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::ReuseBorrowed,
        pass: replace,
        body: "(let [tb:(block f32)] (allocate f32 n))
            (let [t:[n]f32 @ tb] (update x [0] 9.0f))",
        result: "t",
        seen_by: "verifier",
    },
    Case {
        mistake: Mistake::UpdateDropped,
        pass: replace,
        body: "(let [tb:(block f32)] (allocate f32 n))
            (let [t:[n]f32 @ tb] (update m [0] 9.0f))",
        result: "t",
        seen_by: "erasure",
    },
    Case {
        mistake: Mistake::BlockTooSmall,
        pass: replace,
        body: "(let [s:i64] (add i64 n n))
            (let [tb:(block f32)] (allocate f32 s))
            (let [t:[n]f32 @ tb] (update m [0] 9.0f))
            (let [w:[n]f32 @ tb (lmad n [n 1])] (replicate [n] 7.0f))
            (let [z:[s]f32 @ tb] (concat s [t w]))",
        result: "z",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::SettledUsedLater,
        pass: settle,
        body: "(let [s:[n]f32 @ sb] (operation [3] [k:i64] [v:[n]f32 @ vb = m]
              (do (let [ub:(block f32)] (allocate f32 n))
                  (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))))
            (let [g:f32] (index m [0]))
            (let [wb:(block f32)] (allocate f32 n))
            (let [w:[n]f32 @ wb] (replicate [n] g))",
        result: "w",
        seen_by: "heap",
    },
    Case {
        mistake: Mistake::SettledHandedOn,
        pass: settle,
        body: "(let [c:bool] (lt i64 n 5))
            (let [y:[n]f32 @ yb] (if c (do (in m)) (do (in x))))
            (let [s:[n]f32 @ sb] (operation [3] [k:i64] [v:[n]f32 @ vb = m]
              (do (let [ub:(block f32)] (allocate f32 n))
                  (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))))
            (let [g:f32] (index y [0]))
            (let [h:f32] (index s [0]))
            (let [a:f32] (add f32 g h))
            (let [wb:(block f32)] (allocate f32 n))
            (let [w:[n]f32 @ wb] (replicate [n] a))",
        result: "w",
        seen_by: "heap",
    },
    // The last state is read from its second element on, and this part is written to.
    Case {
        mistake: Mistake::SettledElsewhere,
        pass: settle,
        body: "(let [o:i64] (sub i64 n 1))
            (let [s:[n]f32 @ sb] (operation [3] [k:i64] [v:[n]f32 @ vb = m]
              (do (let [ub:(block f32)] (allocate f32 n))
                  (let [u:[n]f32 @ ub] (update v [k] 5.0f)) (in u))))
            (let [part:[o]f32 @ sb (lmad 1 [o 1])] (slice s [1 1 o]))
            (let [wb:(block f32)] (allocate f32 o))
            (let [w:[o]f32 @ wb] (update part [0] 9.0f))",
        result: "w",
        seen_by: "verifier",
    },
];

/// Returns the first validator that rejects a program that should mean `erased`.
fn seen_by(program: &Program, erased: &str, value: &str) -> Option<&'static str> {
    if verify(program).is_err() {
        return Some("verifier");
    }
    if keeps_meaning(program, erased).is_err() {
        return Some("erasure");
    }
    (run(program, true) != value).then_some("heap")
}

#[test]
fn every_mistake_is_seen() {
    for case in CASES {
        let text = function(&format!("{MAP} {}", case.body), case.result);
        let right = read(&text);
        let (erased, value) = (print(&erase(&right)), run(&right, false));
        let after = |mistakes| {
            let mut program = read(&text);
            (case.pass)(&mut program, mistakes);
            (seen_by(&program, &erased, &value), print(&program))
        };
        let name = format!("{:?}", case.mistake);
        let (seen, text) = after(Mistakes::default());
        assert_eq!(seen, None, "without {name}: {text}");
        let (seen, text) = after(Mistakes(Some(case.mistake)));
        println!("{name}: seen by {}", seen.unwrap_or("nobody"));
        assert_eq!(seen, Some(case.seen_by), "{name}: {text}");
    }
}
