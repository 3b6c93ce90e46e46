//! The page of platforms has the rows of the table in the command.

use nova_exec::platforms::{PLATFORMS, TARGET, Tested};
use std::path::Path;

#[test]
fn the_page_has_the_table_of_the_command() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/platforms.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let rows: Vec<[&str; 2]> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split_once("` | "))
        .map(|(name, rest)| [name, rest.split(" |").next().unwrap_or_default()])
        .collect();
    let table = PLATFORMS.map(|(name, tested)| [name, tested.words()]);
    assert_eq!(rows, table);
}

#[test]
fn the_platform_of_the_tests_is_tested() {
    assert!(TARGET.contains('-'), "{TARGET}");
    if TARGET == "x86_64-unknown-linux-gnu" {
        assert_eq!(nova_exec::platforms::tested(), Tested::Wholly);
    }
}
