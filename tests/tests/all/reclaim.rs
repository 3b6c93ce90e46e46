//! Tests of loops that make recursive data anew in each iteration: the memory that they take is bounded by
//! what they need at once, and results do not depend on when nodes are reclaimed.

use nova_driver::Target;
use nova_tests::host;

#[test]
fn loops_take_memory_for_the_nodes_that_they_reach() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let check = |compiler: &str, flags: &str, threads: &[u32]| {
        host::check("reclaim", folder, compiler, flags, threads);
    };
    let source = host::write("reclaim", Target::Sequential, folder);
    for name in ["List_int", "Tree", "Rose", "Even"] {
        assert!(source.contains(&format!("reclaim_{name}(")), "{name}");
    }
    check("gcc", "-O2 -DLIMITED", &[1]);
    check("gcc", "-O2 -DLIMITED -DNOVA_WIDE_LINKS", &[1]);
    check(
        "gcc",
        "-O2 -DNOVA_MOST_NODES=6000 -DNOVA_FIRST_RECLAIM=100",
        &[1],
    );
    check("clang", "-O2 -DNOVA_FIRST_RECLAIM=1000", &[1]);
    for first in [1, 2, 7, 100] {
        let flags = format!("-O1 -fsanitize=address,undefined -DNOVA_FIRST_RECLAIM={first}");
        check("gcc", &flags, &[1]);
    }
    host::write("reclaim", Target::Pthreads, folder);
    let races = "-O1 -fsanitize=thread -DNOVA_FIRST_RECLAIM=3";
    check("gcc", races, &[3]);
}
