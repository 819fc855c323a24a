//! ARCHITECTURE.md is true: what it names is there, and it can be read in a few minutes.

use std::path::Path;

use regex_lite::Regex;

const TEXT: &str = include_str!("../../ARCHITECTURE.md");

#[test]
fn every_path_that_it_names_exists() {
    let named = Regex::new(r"`((?:crates|src|tests|benches|fuzz|docs|scripts)(?:/[\w.-]+)*)`").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<&str> = named.captures_iter(TEXT).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(paths.len() > 20, "{paths:?}");
    let missing: Vec<&str> = paths.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_crate_is_in_its_picture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let missing: Vec<String> = names
        .map(|name| format!("crates/{}", name.to_str().unwrap()))
        .filter(|name| !TEXT.contains(name))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn no_cell_of_a_table_is_longer_than_220_characters() {
    let rows = TEXT.lines().filter(|line| line.starts_with('|'));
    let long: Vec<&str> =
        rows.flat_map(|row| row.split('|')).filter(|cell| cell.chars().count() > 220).collect();
    assert_eq!(long, Vec::<&str>::new());
}
