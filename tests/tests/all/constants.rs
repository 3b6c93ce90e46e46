//! Tests of constants that generated C copies, with compilers that users call themselves and all
//! instructions of their processor. GCC 12.2 loses parts of some constants that it moves with
//! AVX-512.

use nova_driver::Target;
use nova_exec::compiler::loses_constants;
use nova_tests::host;

#[test]
fn constants_are_copied_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    for target in [Target::Sequential, Target::Pthreads] {
        host::write("constants", target, folder);
        for flags in ["-O1", "-O2 -march=native", "-O3 -march=native"] {
            host::check("constants", folder, "gcc", flags, &[1]);
        }
        host::check("constants", folder, "clang", "-O3 -march=native", &[1]);
    }
}

#[test]
fn compilers_that_lose_constants_are_known_by_their_versions() {
    let known = [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", true),
        ("gcc (GCC) 12.2.1 20221121 (Red Hat 12.2.1-4)", true),
        ("gcc-12 (Ubuntu 12.1.0-2ubuntu1~22.04) 12.1.0", true),
        ("gcc (Ubuntu 12.3.0-1ubuntu1) 12.3.0", false),
        ("gcc (Debian 13.2.0-4) 13.2.0", false),
        ("gcc (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3)", false),
        ("", false),
    ];
    for (version, loses) in known {
        let expected = loses && cfg!(target_arch = "x86_64");
        assert_eq!(loses_constants(version), expected, "{version}");
    }
}
