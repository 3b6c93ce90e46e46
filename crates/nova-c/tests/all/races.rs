//! Code that traces races: it compiles without warnings, keeps to its own memory, and forgets accesses
//! to memory that has been reused.

use crate::support::*;
use nova_c::Dialect;
use nova_diag::SourceMap;

const PROGRAM: &str = r#"(program
  (entry "fresh" [("x" (vector i64))] i64 "fresh")
  (entry "shared" [("x" (vector i64))] i64 "shared")
  (entry "groups" [("x" (vector i64))] i64 "groups")
  (entry "missing" [("x" (vector i64))] i64 "missing")
  (entry "nested" [("x" (vector i64))] i64 "nested")
  (function "fresh" [n:i64 x:(pointer i64) xb:block] [r:i64]
    (for i n grid "f.nova:1:1"
      (declare t:(pointer i64)) (declare tb:block)
      (local l:(pointer i64) 4)
      (store l 0 i)
      (allocate tb t i64 4)
      (for j 4 vector (store t j (add i64 (load l 0) (load x i))))
      (release tb))
    (set r n))
  (function "shared" [sn:i64 sx:(pointer i64) sxb:block] [sr:i64]
    (declare s:i64 0)
    (for si sn grid "f.nova:2:1" (set s (add i64 s (load sx si))))
    (set sr s))
  (function "groups" [gn:i64 gx:(pointer i64) gxb:block] [gr:i64]
    (for gi gn block "f.nova:3:1"
      (shared gt:(pointer i64) 8)
      (for gj 8 thread (store gt gj gi))
      (barrier thread)
      (declare own:i64 (load gt 0))
      (for gk 8 thread (declare read:i64 (add i64 own (load gt (sub i64 7 gk)))))
      (barrier thread)
      (for gl 1 thread (store gt 0 gi)))
    (set gr gn))
  (function "missing" [mn:i64 mx:(pointer i64) mxb:block] [mr:i64]
    (for mi mn block "f.nova:4:1"
      (shared mt:(pointer i64) 8)
      (for mj 8 thread "f.nova:4:2" (store mt mj mi))
      (for mk 8 thread "f.nova:4:3"
        (declare mread:i64 (load mt (sub i64 7 mk)))))
    (set mr mn))
  (function "nested" [nn:i64 nx:(pointer i64) nxb:block] [nr:i64]
    (local nt:(pointer i64) 64)
    (for ni nn grid "f.nova:5:1"
      (for nj 8 vector "f.nova:5:2" (store nt (add i64 ni nj) ni)))
    (set nr nn)))"#;

const HOST: &str = r#"#include "traced.h"
#include <stdio.h>
int main(void)
{
    const int64_t x[3] = {1, 2, 3};
    int64_t value = 0;
    int code = 0;
    for (int round = 0; round < 2; round++) {
        code = fresh(&value, 3, x);
        printf("%d %lld\n", code, (long long)value);
        code = shared(&value, 3, x);
        printf("%d %s\n", code, shared_error());
        code = shared(&value, 1, x);
        printf("%d %lld\n", code, (long long)value);
        code = groups(&value, 3, x);
        printf("%d %lld\n", code, (long long)value);
        code = missing(&value, 3, x);
        printf("%d %s\n", code, missing_error());
        code = nested(&value, 3, x);
        printf("%d %s\n", code, nested_error());
    }
    return 0;
}
"#;

const EXPECTED: &str = "0 3
5 f.nova:2:1: race: iterations of this parallel loop touch one element: iteration 0 writes s (f.nova:2:1), iteration 1 writes s (f.nova:2:1)
0 1
0 3
5 f.nova:4:1: race: iterations of this parallel loop touch one element: iteration 7 writes mt (f.nova:4:2), iteration 0 reads mt (f.nova:4:3)
5 f.nova:5:1: race: iterations of this parallel loop touch one element: iteration 0 writes nt (f.nova:5:2), iteration 1 writes nt (f.nova:5:2)
";

#[test]
fn traced_code_keeps_to_its_memory() {
    let mut sources = SourceMap::new();
    let file = sources.add("traced", PROGRAM);
    let program = nova_loop::parse::parse(PROGRAM, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let files = emit_for(Dialect::TRACED, &program, "traced");
    compiles(&files, "traced");
    prints(
        &[("traced", &files)],
        HOST,
        &format!("{EXPECTED}{EXPECTED}"),
    );
}
