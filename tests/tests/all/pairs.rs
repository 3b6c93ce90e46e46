//! Tests of sparse products in a C host, against plain loops: rows of many lengths, taken together
//! or one after the other, and indices out of range, with both targets and under sanitizers.

use nova_driver::Target;
use nova_tests::host;

#[test]
fn sparse_products_are_those_of_plain_loops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let check = |compiler: &str, flags: &str, threads: &[u32]| {
        host::check("pairs", folder, compiler, flags, threads);
    };
    let gcc = |flags: &str, threads: &[u32]| check("gcc", flags, threads);
    let source = host::write("pairs", Target::Sequential, folder);
    for name in [
        "nova_gather_precheck_i32(",
        "nova_gather_precheck_i64(",
        "nova_gather_indexed_f32_i32(",
        "nova_gather_indexed_f64_i64(",
        "nova_gather_indexed_i32_i32(",
        "nova_gather_indexed_i64_i32(",
        "nova_gather_strided_4(",
        "nova_gather_strided_8(",
    ] {
        assert!(source.contains(name), "{name}");
    }
    gcc("-O3 -march=native -DNOVA_JOIN_ROWS=true", &[1]);
    gcc("-O2 -DNOVA_JOIN_ROWS=false", &[1]);
    host::write("pairs", Target::Pthreads, folder);
    gcc("-O3 -march=native", &[1, 2, 8]);
    let joined = "-O1 -DNOVA_JOIN_ROWS=true";
    gcc(&format!("{joined} -fsanitize=thread"), &[3]);
    for flags in [joined, "-O1 -march=native"] {
        let flags = format!("{flags} -fsanitize=address,undefined");
        gcc(&flags, &[2]);
    }
    check("clang", "-O2 -DNOVA_JOIN_ROWS=true", &[2]);
    check("clang", "-O2 -march=native", &[2]);
}
