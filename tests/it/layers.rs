//! The layers of the crate, kept by reading what each file names: arrows run one way, between folders and inside of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

mod lengths;

/// A module uses only those of its own line and of the lines above it.
const LAYERS: &[&str] = &[
    // Pure: no file system, processes, environment or clock.
    "order",
    "text",
    "json",
    "yaml",
    "glob",
    "pattern",
    "file_pattern",
    "shell",
    "event",
    "dialect::claude::events",
    "dialect::claude::fields",
    "dialect::claude::modes",
    "dialect::claude::prompt",
    "dialect::claude::tools",
    "dialect::claude::mcp",
    "dialect::claude::notation",
    "dialect::claude::watched",
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

/// One file, as far as it says what it uses.
struct Module {
    /// Its text up to its unit tests, without comments and `use` lines.
    code: String,
    /// The modules that it declares.
    children: BTreeSet<String>,
    /// The functions, types and constants that it defines.
    defined: BTreeSet<String>,
    /// The names that its `use` lines bring in, and the paths that they stand for.
    names: BTreeMap<String, String>,
    /// The paths of those lines that are not `pub`: whoever passes a name on does not use it.
    imported: Vec<String>,
    /// The types that it has `impl` blocks for, those of traits aside, with the methods in each.
    methods: BTreeMap<String, BTreeSet<String>>,
}

impl Module {
    fn of(text: &str) -> Module {
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let text = text.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        let mut module = Module {
            code: String::new(),
            children: BTreeSet::new(),
            defined: BTreeSet::new(),
            names: BTreeMap::new(),
            imported: Vec::new(),
            methods: methods_in(&text),
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let (is_public, item) = without_visibility(line.trim_start());
            if let Some(used) = item.strip_prefix("use ") {
                let start = used.as_ptr() as usize - rest.as_ptr() as usize;
                let end = start + rest[start..].find(';').unwrap();
                module.add_use(is_public, &rest[start..end]);
                rest = &rest[end + 1..];
                continue;
            }
            let words: Vec<&str> = item.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            if let (Some(name), true) = (item.strip_prefix("mod "), item.ends_with(';')) {
                module.children.insert(name.trim_end_matches(';').to_owned());
            } else if !line.starts_with(' ') {
                let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static"];
                let kind = words.iter().rposition(|word| kinds.contains(word)).filter(|at| *at < 3);
                module.defined.extend(kind.and_then(|at| words.get(at + 1)).map(|name| (*name).to_owned()));
            }
            module.code.push_str(if is_public { item } else { line });
            module.code.push('\n');
            rest = after;
        }
        module
    }

    fn add_use(&mut self, is_public: bool, used: &str) {
        let mut paths = Vec::new();
        expand(String::new(), used.trim(), &mut paths);
        for (path, alias) in paths {
            let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
            let name = alias.unwrap_or_else(|| path.rsplit("::").next().unwrap().to_owned());
            if !is_public {
                self.imported.push(path.clone());
            }
            self.names.insert(name, path);
        }
    }
}

/// The methods of each type in a file, without those of traits.
fn methods_in(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("impl") {
            let named = without_generics(rest).trim();
            let end = named.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).unwrap_or(named.len());
            let is_of_trait = named.contains(" for ");
            current = (!is_of_trait && !named.is_empty()).then(|| named[..end].to_owned());
            if let Some(name) = &current {
                found.entry(name.clone()).or_default();
            }
        } else if line == "}" {
            current = None;
        } else if let (Some(name), true) = (&current, line.starts_with("    ")) {
            let (_, item) = without_visibility(line.trim_start());
            let item =
                ["const ", "async "].iter().fold(item, |item, word| item.strip_prefix(word).unwrap_or(item));
            let method = item.strip_prefix("fn ").filter(|_| !line.starts_with("     "));
            let method = method.and_then(|item| item.split(['(', '<']).next());
            found.entry(name.clone()).or_default().extend(method.map(str::to_owned));
        }
    }
    found
}

/// What follows the `<…>` that an item starts with.
fn without_generics(rest: &str) -> &str {
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest[at..].trim_start_matches('>');
        }
    }
    rest
}

/// Whether an item is public to anybody, and the item without that.
fn without_visibility(item: &str) -> (bool, &str) {
    let Some(rest) = item.strip_prefix("pub") else { return (false, item) };
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest };
    (true, rest.trim_start())
}

type Modules = BTreeMap<String, Module>;

/// The modules by name (`hooks::run`); the root of the crate is the empty one.
fn modules(source: &Path) -> Modules {
    fn walk(folder: &Path, source: &Path, found: &mut Modules) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(source).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('/', "::");
            if name.ends_with("tests") {
                continue;
            }
            if path.is_dir() {
                walk(&path, source, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.insert(name, Module::of(&std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Modules::new();
    walk(source, source, &mut found);
    let root = found.remove("lib").or_else(|| found.remove("main")).unwrap();
    found.insert(String::new(), root);
    found
}

/// The paths in a `use` line, each with the name that it gets: `a::{b, c::D as E}` is `a::b` and `a::c::D`.
fn expand(prefix: String, rest: &str, found: &mut Vec<(String, Option<String>)>) {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
    let path = format!("{prefix}{}", &rest[..end]);
    if !rest[end..].starts_with('{') {
        let alias = rest[end..].trim().strip_prefix("as ").map(|name| name.trim().to_owned());
        if !path.is_empty() {
            found.push((path, alias));
        }
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
            if !rest[start..at].trim().is_empty() {
                expand(path.clone(), rest[start..at].trim(), found);
            }
            start = at + 1;
        }
        if depth == 0 {
            return;
        }
    }
}

/// The paths in code that have more than one part.
fn paths_in(code: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::")).collect()
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
    let targets = paths.filter_map(|path| {
        let (at, parts) = start(modules, name, path)?;
        defining(modules, at, &parts)
    });
    let targets = targets.chain(called_methods(modules, name));
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

fn uses(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules(&source(folder));
    modules.keys().map(|name| (name.clone(), used_by(&modules, name))).collect()
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

/// Methods that are written in another folder than their type's, where nobody finds them. Only less may be here.
const SCATTERED: &[&str] = &["export::otlp has methods of config::endpoint::Signal"];

#[test]
fn methods_are_written_beside_their_type() {
    let modules = modules(&source("src"));
    let mut wrong = Vec::new();
    for (name, module) in &modules {
        for written in module.methods.keys() {
            let defined = type_module(&modules, name, written);
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
    let modules = modules(&source("src"));
    let is_named = |event: &&&str| {
        let name = format!("EventKind::{event}");
        let mut others = modules.iter().filter(|(module, _)| *module != "dialect::claude::events");
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
    for (name, module) in modules(&source("src")).iter().filter(|(name, _)| layer(name) <= last) {
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
    assert_eq!(found, ["a uses a::child", "a::child uses a", "a::other uses a::child"]);
}
