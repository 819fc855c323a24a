//! The layers of the crate, kept by reading the `use` lines: arrows run one way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A module uses only those of its own line and of the lines above it.
const LAYERS: &[&str] = &[
    // Pure: no file system, processes, environment or clock.
    "order",
    "text",
    "yaml",
    "glob",
    "file_pattern",
    "shell",
    "pattern",
    "file_pattern",
    "event",
    "dialect::claude::abilities",
    "dialect::claude::fields",
    "dialect::claude::notation",
    "dialect::claude::prompt",
    "dialect::claude::tools",
    "types",
    "agent",
    "config",
    "packs",
    "rule",
    "finding",
    "plan",
    "outcome",
    "messages",
    "decide",
    "error",
    "exit",
    "dialect",
    // Side effects.
    "log",
    "deadline",
    "files",
    "process",
    "http",
    "git",
    "store",
    "root",
    "load",
    "transcript",
    "audit",
    "export",
    "notify",
    "des",
    "guard",
    "permission",
    "report",
    "install",
    "lint",
    "watch",
    "hooks",
    "replay",
    "cli",
    "main",
];

const LAST_PURE: &str = "dialect";

/// What a pure module must not name.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::process::Command",
    "std::env",
    "std::net",
    "Instant",
    "SystemTime",
    "Timestamp::now",
    "std::thread",
];

fn source(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// The modules by name (`hooks::run`), with their text up to their unit tests.
fn modules(source: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, source: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, source, found);
            } else if path.file_name().is_some_and(|name| name != "tests.rs" && name != "lib.rs") {
                let inside = path.strip_prefix(source).unwrap().with_extension("");
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
                found.insert(inside.to_str().unwrap().replace('/', "::"), text);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(source, source, &mut found);
    found
}

/// The paths that a text names, as they are written: `crate::a::{b, c::D}` is `crate::a::b` and `crate::a::c::D`.
fn named_paths(text: &str) -> Vec<String> {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                expand(String::new(), &code[at..], &mut found);
            }
        }
    }
    found
}

fn expand(prefix: String, rest: &str, found: &mut Vec<String>) {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
    let path = format!("{prefix}{}", &rest[..end]);
    if !rest[end..].starts_with('{') {
        found.push(path);
        return;
    }
    let (mut depth, mut start) = (0, end + 1);
    for (at, c) in rest[end..].char_indices().map(|(at, c)| (at + end, c)) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || depth == 0 {
            expand(path.clone(), rest[start..at].trim(), found);
            start = at + 1;
        }
        if depth == 0 {
            return;
        }
    }
}

/// The module that a path leads to, from inside `module`.
fn target(module: &str, path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut here: Vec<&str> = module.split("::").collect();
    let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    if parts.first() == Some(&"crate") {
        here.clear();
        parts.remove(0);
    }
    while parts.first() == Some(&"super") {
        here.pop();
        parts.remove(0);
    }
    here.extend(parts);
    (1..=here.len()).rev().map(|length| here[..length].join("::")).find(|name| modules.contains_key(name))
}

fn is_within(module: &str, ancestor: &str) -> bool {
    module == ancestor || module.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with("::"))
}

fn layer(module: &str) -> usize {
    let nearest = LAYERS.iter().enumerate().filter(|(_, name)| is_within(module, name));
    let (index, _) =
        nearest.max_by_key(|(_, name)| name.len()).unwrap_or_else(|| panic!("{module} is in no layer"));
    index
}

/// Which module uses which, but for those inside of one another: a folder's file and its parts belong together.
fn uses(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules(&source(folder));
    let mut uses = BTreeMap::new();
    for (module, text) in &modules {
        let targets = named_paths(text).into_iter().filter_map(|path| target(module, &path, &modules));
        let others = targets.filter(|other| !is_within(module, other) && !is_within(other, module));
        uses.insert(module.clone(), others.collect());
    }
    uses
}

#[test]
fn a_module_uses_only_the_layers_above_it() {
    let mut wrong = Vec::new();
    for (module, targets) in uses("src") {
        for target in targets.iter().filter(|target| layer(target) > layer(&module)) {
            wrong.push(format!("{module} uses {target}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn is_reached_again(start: &String, uses: &BTreeMap<String, BTreeSet<String>>) -> bool {
    let mut reached: BTreeSet<&String> = BTreeSet::new();
    let mut pending: Vec<&String> = uses[start].iter().collect();
    while let Some(next) = pending.pop() {
        if reached.insert(next) {
            pending.extend(uses.get(next).into_iter().flatten());
        }
    }
    reached.contains(start)
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for folder in ["src", "benches/src"] {
        let uses = uses(folder);
        circles.extend(uses.keys().filter(|module| is_reached_again(module, &uses)).cloned());
    }
    assert_eq!(circles, Vec::<String>::new());
}

#[test]
fn pure_modules_name_nothing_with_side_effects() {
    let last = layer(LAST_PURE);
    let mut wrong = Vec::new();
    for (module, text) in modules(&source("src")).iter().filter(|(module, _)| layer(module) <= last) {
        wrong.extend(
            IMPURE.iter().filter(|name| text.contains(**name)).map(|name| format!("{module}: {name}")),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_readers_of_use_lines_understand_them() {
    let text = "use crate::a::{self, b::C, d::{E, F}};\nfn x() { crate::g::h(); super::i::J; }\n// crate::comment::X\nuse std::io;";
    let mut paths = named_paths(text);
    paths.sort();
    assert_eq!(
        paths,
        [
            "crate::a::b::C",
            "crate::a::d::E",
            "crate::a::d::F",
            "crate::a::self",
            "crate::g::h",
            "super::i::J"
        ]
    );
}
