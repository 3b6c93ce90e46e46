//! How many cases tests of large products try. A change is tested in minutes: each value of each factor of a
//! product is tried, but not with each value of all the others. With `NOVA_TEST_ALL`, as `tests/run --all` sets
//! it, tests try the whole product.

/// True if tests try all of their cases.
pub fn all() -> bool {
    std::env::var_os("NOVA_TEST_ALL").is_some()
}

/// True if the case with this number is tried: one in `every`, or all of them.
pub fn tries(number: usize, every: usize) -> bool {
    all() || number.is_multiple_of(every)
}

/// Returns the first of these with which a test is quick, or all of them.
pub fn first<T>(cases: &[T], count: usize) -> &[T] {
    match all() {
        true => cases,
        false => &cases[..count.min(cases.len())],
    }
}
