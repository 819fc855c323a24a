//! ARCHITECTURE.md is true: every crate is in its picture, and every example in the code runs. `documents.rs` checks what all
//! documents have in common.

use std::path::{Path, PathBuf};

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

#[test]
fn pure_crates_forbid_the_same() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let lints = ["core", "glob", "shell-effects"]
        .map(|name| std::fs::read_to_string(crates.join(name).join("clippy.toml")).unwrap());
    assert!(lints.iter().all(|of_crate| *of_crate == lints[0]), "change `clippy.toml` in all three");
}

#[test]
fn a_crate_with_examples_runs_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let silent = crates.chain([root.to_owned()]).filter(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        manifest.contains("doctest = false")
    });
    let examples: Vec<_> =
        silent.flat_map(|folder| rust_files(&folder.join("src"))).filter(|file| has_example(file)).collect();
    assert_eq!(examples, Vec::<PathBuf>::new(), "remove `doctest = false` from the Cargo.toml of these");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] }).collect()
}

/// Whether a doc comment has code that rustdoc would compile.
fn has_example(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut is_inside = false;
    text.lines().map(str::trim_start).any(|line| {
        let Some(fence) = line
            .strip_prefix("///")
            .or(line.strip_prefix("//!"))
            .and_then(|line| line.trim().strip_prefix("```"))
        else {
            return false;
        };
        is_inside = !is_inside;
        is_inside && (fence.is_empty() || fence.starts_with("rust"))
    })
}
