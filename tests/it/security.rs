//! SECURITY.md names the tests that show its promises: each of them exists.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// Where a test of this module can be: `stress::x`, `thorough::x` and `x` are files of the test programs, other paths those of a crate (whose
/// name may come first), in a file of their own or at the end of the module that they test.
fn files(modules: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = modules.replace("::", "/");
    let inline = path.strip_suffix("/tests").unwrap_or(&path);
    let mut found = vec![root.join(format!("tests/it/{path}.rs")), root.join(format!("tests/{path}.rs"))];
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    for source in crates.chain([root.to_owned()]).map(|folder| folder.join("src")) {
        found.extend([path.as_str(), inline].map(|path| source.join(format!("{path}.rs"))));
    }
    if let Some((name, rest)) = path.split_once('/') {
        found.push(root.join(format!("crates/{name}/src/{rest}.rs")));
    }
    found
}

fn exists(test: &str) -> bool {
    let (modules, name) = test.rsplit_once("::").unwrap();
    let attributes = r"#\[test\]\s*(#\[[^\n]*\]\s*)*";
    let definition = Regex::new(&format!(r"{attributes}fn {name}\(")).unwrap();
    let texts = files(modules).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    texts.into_iter().any(|text| definition.is_match(&text))
}

#[test]
fn every_promise_names_tests_that_exist() {
    let text = include_str!("../../SECURITY.md");
    let promised = text.split("| promise | shown by |").nth(1).unwrap().split("\n\n").next().unwrap();
    let named = Regex::new(r"`([a-z0-9_]+(::[a-z0-9_]+)+)`").unwrap();
    for row in promised.lines().skip(2).filter(|row| !row.starts_with("| **")) {
        let tests: Vec<&str> = named.captures_iter(row).map(|found| found.get(1).unwrap().as_str()).collect();
        assert!(!tests.is_empty(), "no test: {row}");
        let missing: Vec<&str> = tests.into_iter().filter(|test| !exists(test)).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{row}");
    }
}
