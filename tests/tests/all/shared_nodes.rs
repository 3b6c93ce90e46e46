//! Tests of parallel loops whose iterations make recursive data: threads append nodes to tables that they
//! share, and take memory for those that they need at once.

use nova_driver::Target;
use nova_tests::host;

#[test]
fn threads_make_recursive_data() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let check = |compiler: &str, flags: &str, threads: &[u32]| {
        host::check("nodes", folder, compiler, flags, threads);
    };
    let source = host::write("nodes", Target::Pthreads, folder);
    for name in ["nova_append_more(", "reclaim_List_int(", "nova_parallel("] {
        assert!(source.contains(name), "{name}");
    }
    check("gcc", "-O2 -DLIMITED", &[1, 4]);
    check("gcc", "-O2 -DNOVA_WIDE_LINKS", &[3]);
    check("gcc", "-O2 -DNOVA_MOST_NODES=20000", &[1, 4]);
    let small = "-DNOVA_FIRST_RUN=1 -DNOVA_LONGEST_RUN=4 -DNOVA_FIRST_RECLAIM=3";
    check("clang", &format!("-O2 {small}"), &[4]);
    check(
        "gcc",
        &format!("-O1 -fsanitize=address,undefined {small}"),
        &[3],
    );
    check("gcc", &format!("-O1 -fsanitize=thread {small}"), &[2, 6]);
}
