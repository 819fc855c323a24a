//! The layers of the crate, kept by reading what each file names: arrows run one way, between folders and inside of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

mod lengths;
mod source;

use source::{Module, Modules, modules, paths_in};

/// A module uses only those of its own line and of the lines above it.
const LAYERS: &[&str] = &[
    // Pure: no file system, processes, environment or clock.
    "dialect::claude::limits",
    "text",
    "json",
    "yaml",
    "glob",
    "pattern",
    "file_pattern",
    "shell",
    "event::columns",
    "dialect::claude::events",
    "event",
    "dialect::claude::fields",
    "dialect::claude::modes",
    "dialect::claude::prompt",
    "dialect::claude::agents",
    "dialect::claude::tools",
    "dialect::claude::mcp",
    "dialect::claude::notation",
    "dialect::claude::watched",
    "dialect::claude::session",
    "dialect::claude::layout",
    "dialect::claude::variables",
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
    "install",
    "lint",
    "report",
    "watch",
    "hooks",
    "replay",
    "cli",
    "heap",
    "main",
];

/// The root of the crate, which only lists the modules.
const ROOT: &str = "";

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

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// Where a path starts, as it is written in a module, and what is left of it; `None` for other crates.
fn start<'a>(modules: &Modules, module: &'a str, path: &str) -> Option<(&'a str, Vec<String>)> {
    let mut parts: Vec<String> =
        path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let first = parts.first()?.clone();
    match first.as_str() {
        "crate" | "conclaude" => Some(("", parts.split_off(1))),
        "self" => Some((module, parts.split_off(1))),
        "super" => {
            let ups = parts.iter().take_while(|part| *part == "super").count();
            Some(((0..ups).fold(module, |at, _| parent(at)), parts.split_off(ups)))
        }
        _ if modules[module].children.contains(&first) => Some((module, parts)),
        _ => {
            let stands_for = modules[module].names.get(&first).filter(|path| **path != first)?;
            let (at, mut rest) = start(modules, module, stands_for)?;
            rest.extend(parts.split_off(1));
            Some((at, rest))
        }
    }
}

/// The file that defines what a path leads to, through any number of `pub use` lines. `None` for other crates, and for a path
/// that only names a module.
fn defining(modules: &Modules, module: &str, parts: &[String]) -> Option<String> {
    let (first, rest) = parts.split_first()?;
    let child = joined(module, first);
    if modules[module].children.contains(first) && modules.contains_key(&child) {
        return defining(modules, &child, rest);
    }
    if modules[module].defined.contains(first) {
        return Some(module.to_owned());
    }
    let Some(path) = modules[module].names.get(first) else { return Some(module.to_owned()) };
    let (at, mut parts) = start(modules, module, path)?;
    parts.extend(rest.iter().cloned());
    defining(modules, at, &parts)
}

/// The folder of a file; of one that has parts, theirs.
fn folder(module: &str) -> &str {
    if module.contains("::") { parent(module) } else { module }
}

fn is_within(module: &str, ancestor: &str) -> bool {
    module == ancestor || module.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with("::"))
}

fn layer(module: &str) -> usize {
    if module == ROOT {
        return 0;
    }
    let nearest = LAYERS.iter().enumerate().filter(|(_, name)| is_within(module, name));
    let (index, _) =
        nearest.max_by_key(|(_, name)| name.len()).unwrap_or_else(|| panic!("{module} is in no layer"));
    index
}

/// The file that defines a type, as it is written in a module; none for types of other crates.
fn type_module(modules: &Modules, module: &str, written: &str) -> Option<String> {
    if modules[module].defined.contains(written) {
        return Some(module.to_owned());
    }
    let (at, parts) = start(modules, module, written)?;
    defining(modules, at, &parts)
}

/// The files that one uses.
fn used_by(modules: &Modules, name: &str) -> BTreeSet<String> {
    let module = &modules[name];
    let paths = module.imported.iter().map(String::as_str).chain(paths_in(&module.code));
    let defining = |path: &str| {
        let (at, parts) = start(modules, name, path)?;
        defining(modules, at, &parts)
    };
    let passed_on = module.passed_on.iter().filter_map(|path| defining(path));
    let passed_on = passed_on.filter(|target| !is_within(target, name));
    let targets = paths.filter_map(defining).chain(passed_on).chain(called_methods(modules, name));
    targets.filter(|target| target != name).collect()
}

/// The files that define methods for a type of this one, which it calls on itself: no `use` line names them.
fn called_methods<'a>(modules: &'a Modules, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let code = &modules[name].code;
    let own: BTreeSet<&String> = modules[name].methods.values().flatten().collect();
    let is_called = move |written: &str, method: &String| {
        let calls = [format!("self.{method}("), format!("Self::{method}"), format!("{written}::{method}")];
        !own.contains(method) && calls.iter().any(|call| code.contains(call))
    };
    modules.iter().filter(move |(other, _)| *other != name).filter_map(move |(other, module)| {
        let mut of_types = module.methods.iter();
        let is_used = of_types.any(|(written, methods)| {
            type_module(modules, other, written).is_some_and(|defined| defined == name)
                && methods.iter().any(|method| is_called(written, method))
        });
        is_used.then(|| other.clone())
    })
}

/// The crate, read once for all tests.
static CRATE: LazyLock<Modules> = LazyLock::new(|| modules(&source("src")));
static USES: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| uses(&CRATE));

fn uses(modules: &Modules) -> BTreeMap<String, BTreeSet<String>> {
    modules.keys().map(|name| (name.clone(), used_by(modules, name))).collect()
}

#[test]
fn a_module_uses_only_the_layers_above_it() {
    let mut wrong = Vec::new();
    for (module, targets) in USES.iter() {
        for target in targets.iter().filter(|target| layer(target) > layer(module)) {
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
    for uses in [&*USES, &uses(&modules(&source("benches/src")))] {
        circles.extend(uses.keys().filter(|module| is_reached_again(module, uses)).cloned());
    }
    assert_eq!(circles, Vec::<String>::new());
}

/// Methods that are written in another folder than their type's, where nobody finds them. Only less may be here.
const SCATTERED: &[&str] = &["export::otlp has methods of config::endpoint::Signal"];

#[test]
fn methods_are_written_beside_their_type() {
    let modules = &*CRATE;
    let mut wrong = Vec::new();
    for (name, module) in modules {
        for written in module.methods.keys() {
            let defined = type_module(modules, name, written);
            if let Some(defined) = defined.filter(|defined| !is_within(name, folder(defined))) {
                wrong.push(format!("{name} has methods of {defined}::{written}"));
            }
        }
    }
    assert_eq!(wrong, SCATTERED);
}

#[test]
fn a_call_of_a_method_in_another_file_is_a_use_of_it() {
    let files = [
        ("", "mod a;"),
        ("a", "mod child;\npub struct Kind;\nimpl Kind {\n    fn own(&self) { self.count(); }\n}"),
        (
            "a::child",
            "use super::Kind;\nimpl<'a> Kind<'a> {\n    pub(super) const fn count(&self) {}\n}\nimpl Copy for Kind {}",
        ),
    ];
    let modules: Modules = files.iter().map(|(name, text)| ((*name).to_owned(), Module::of(text))).collect();
    assert_eq!(used_by(&modules, "a").into_iter().collect::<Vec<_>>(), ["a::child"]);
    assert_eq!(used_by(&modules, "a::child").into_iter().collect::<Vec<_>>(), ["a"]);
}

/// Events at which conclaude does more than running commands, and those whose blocks conclaude 0.2 had.
const NAMED: &[&str] = &[
    "SessionStart",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
    "PermissionRequest",
    "TaskCompleted",
    "TeammateIdle",
    "ConfigChange",
    "WorktreeCreate",
    "MessageDisplay",
];

#[test]
fn an_event_that_only_has_commands_is_named_in_its_row_alone() {
    let is_named = |event: &&&str| {
        let name = format!("EventKind::{event}");
        let mut others = CRATE.iter().filter(|(module, _)| *module != "dialect::claude::events");
        others.any(|(_, module)| {
            module.code.split(&name).skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    let names: Vec<&str> = conclaude::event::names().collect();
    assert_eq!(names.iter().filter(is_named).copied().collect::<Vec<_>>(), NAMED);
}

#[test]
fn pure_modules_name_nothing_with_side_effects() {
    let last = layer(LAST_PURE);
    let mut wrong = Vec::new();
    for (name, module) in CRATE.iter().filter(|(name, _)| layer(name) <= last) {
        let text = format!("{}\n{}", module.code, module.imported.join("\n"));
        wrong.extend(
            IMPURE.iter().filter(|impure| text.contains(**impure)).map(|impure| format!("{name}: {impure}")),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_layers_are_those_of_the_architecture() {
    let text = std::fs::read_to_string(source("ARCHITECTURE.md")).unwrap();
    let layers = text.split("## Layers").nth(1).unwrap().split("| beside `src/` |").next().unwrap();
    let cells =
        layers.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let names =
        cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').replace('/', "::"));
    assert_eq!(names.collect::<Vec<_>>(), LAYERS);
}

#[test]
fn a_name_leads_to_the_file_that_defines_it() {
    let files = [
        ("", "mod a;\nmod b;"),
        (
            "a",
            "use crate::b;\nmod child;\nmod other;\npub(crate) use child::{Kind, Shape as Form};\nfn own() { b::passed(); }",
        ),
        (
            "a::child",
            "use super::own;\npub(crate) enum Kind {}\npub(in crate::a) struct Shape;\n// crate::b::x",
        ),
        ("a::other", "use super::{Form, child};\nfn x() { child::deep(); crate::b::{self}; }"),
        ("b", "pub use crate::a::Kind as passed;\nuse std::io;"),
    ];
    let modules: Modules = files.iter().map(|(name, text)| ((*name).to_owned(), Module::of(text))).collect();
    let mut found = Vec::new();
    for (name, _) in files {
        found.extend(used_by(&modules, name).iter().map(|target| format!("{name} uses {target}")));
    }
    assert_eq!(found, ["a uses a::child", "a::child uses a", "a::other uses a::child", "b uses a::child"]);
}
