//! Tests of scans of every length in a C host, against plain loops: in registers, in chunks with
//! ordered regions, with non-temporal stores and without. They run with both targets and several
//! numbers of threads, and under ThreadSanitizer.

use nova_driver::Target;
use nova_tests::host;

#[test]
fn scans_are_those_of_plain_loops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let check = |flags: &str, threads: &[u32]| host::check("scans", folder, "gcc", flags, threads);
    let source = host::write("scans", Target::Sequential, folder);
    assert!(
        source.contains("nova_add_prefix_"),
        "scans are in registers"
    );
    check("-O3 -march=native", &[1]);
    check("-O2 -DNOVA_NON_TEMPORAL_BYTES=1", &[1]);
    let source = host::write("scans", Target::Pthreads, folder);
    assert!(
        source.contains("nova_begin_ordered("),
        "chunks run ordered regions"
    );
    check("-O3 -march=native", &[1, 2, 3, 8, 64]);
    check("-O2 -DNOVA_NON_TEMPORAL_BYTES=1", &[2]);
    check("-O1 -fsanitize=thread", &[2, 8]);
    check("-O1 -fsanitize=address,undefined", &[3]);
}
