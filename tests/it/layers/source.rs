//! The files of the crate, as far as they say what they define and use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One file, as far as it says what it uses.
pub(super) struct Module {
    /// Its text up to its unit tests, without comments and `use` lines.
    pub(super) code: String,
    /// The modules that it declares.
    pub(super) children: BTreeSet<String>,
    /// The functions, types and constants that it defines.
    pub(super) defined: BTreeSet<String>,
    /// The names that its `use` lines bring in, and the paths that they stand for.
    pub(super) names: BTreeMap<String, String>,
    /// The paths of those lines that are not `pub`.
    pub(super) imported: Vec<String>,
    /// The paths of the others: whoever passes on what its own parts define does not use it.
    pub(super) passed_on: Vec<String>,
    /// The types that it has `impl` blocks for, those of traits aside, with the methods in each.
    pub(super) methods: BTreeMap<String, BTreeSet<String>>,
}

impl Module {
    pub(super) fn of(text: &str) -> Module {
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let text = text.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        let mut module = Module {
            code: String::new(),
            children: BTreeSet::new(),
            defined: BTreeSet::new(),
            names: BTreeMap::new(),
            imported: Vec::new(),
            passed_on: Vec::new(),
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
            let paths = if is_public { &mut self.passed_on } else { &mut self.imported };
            paths.push(path.clone());
            self.names.insert(name, path);
        }
    }
}

/// The methods of each type in a file, without those of traits.
pub(super) fn methods_in(text: &str) -> BTreeMap<String, BTreeSet<String>> {
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
pub(super) fn without_generics(rest: &str) -> &str {
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
pub(super) fn without_visibility(item: &str) -> (bool, &str) {
    let Some(rest) = item.strip_prefix("pub") else { return (false, item) };
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest };
    (true, rest.trim_start())
}

pub(super) type Modules = BTreeMap<String, Module>;

/// The modules by name (`hooks::run`); the root of the crate is the empty one.
pub(super) fn modules(source: &Path) -> Modules {
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
pub(super) fn expand(prefix: String, rest: &str, found: &mut Vec<(String, Option<String>)>) {
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
pub(super) fn paths_in(code: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::")).collect()
}
