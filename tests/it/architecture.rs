//! ARCHITECTURE.md is true: every crate is in its picture. `documents.rs` checks what all documents have in common.

use std::path::Path;

const TEXT: &str = include_str!("../../ARCHITECTURE.md");

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
