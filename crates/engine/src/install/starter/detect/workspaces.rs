//! The members of a monorepo, from its own files.

use std::path::Path;

use serde_json::Value;

use super::manifests;
use conclaude_core::yaml;
use conclaude_os::files;
use shell_effects::glob::{self, Glob};

/// The limit on nested folders that `**` searches.
const MAX_DEPTH: usize = 4;

/// Folders that are never members.
const IGNORED: [&str; 5] = ["node_modules", "target", "dist", "build", "vendor"];

/// The patterns of `package.json` (npm, yarn, bun) or `pnpm-workspace.yaml`.
pub(super) fn of_node(json: &Value, pnpm: Option<&str>) -> Vec<String> {
    let pnpm = pnpm.map(|text| yaml::read_value(text).unwrap_or_default());
    let workspaces = pnpm.as_ref().or_else(|| json.get("workspaces"));
    let listed = workspaces.map(|list| list.get("packages").unwrap_or(list));
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The patterns of a table with `members` and `exclude`, as Cargo and uv have one.
pub(super) fn of_toml(text: &str, table: &str) -> Vec<String> {
    let excluded = manifests::list(text, table, "exclude").into_iter().map(|pattern| format!("!{pattern}"));
    manifests::list(text, table, "members").into_iter().chain(excluded).collect()
}

/// The folders that `go.work` uses.
pub(super) fn of_go(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.strip_prefix("use").map(str::trim) {
            Some("(") => in_block = true,
            Some(folder) if line.starts_with("use ") => found.push(folder.to_owned()),
            _ if line == ")" => in_block = false,
            _ if in_block && !line.is_empty() => found.push(line.to_owned()),
            _ => {}
        }
    }
    found.iter().map(|folder| folder.trim_matches('"').to_owned()).collect()
}

/// The folders that match the patterns and have the file, relative to the root and in order, without the root itself.
pub(super) fn folders(root: &Path, patterns: &[String], file: &str) -> Vec<String> {
    let (without, with): (Vec<&str>, Vec<&str>) =
        patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
    let mut found = Vec::new();
    for pattern in with {
        let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if !pattern.starts_with('/') && !parts.contains(&"..") {
            expand(root, "", &parts, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    let is_excluded = |folder: &str| {
        without.iter().filter_map(|pattern| pattern.get(1..)).any(|pattern| {
            let glob =
                Glob::new(pattern.trim_start_matches("./").trim_end_matches('/'), glob::GlobKind::Path);
            glob.is_ok_and(|glob| glob.matches(folder) == Some(true))
        })
    };
    found.retain(|folder| {
        !folder.is_empty() && root.join(folder).join(file).is_file() && !is_excluded(folder)
    });
    found
}

fn expand(root: &Path, folder: &str, parts: &[&str], found: &mut Vec<String>) {
    let Some((part, rest)) = parts.split_first() else {
        found.push(folder.to_owned());
        return;
    };
    let below = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if *part == "**" {
        expand(root, folder, rest, found);
        if folder.split('/').count() <= MAX_DEPTH {
            subfolders(root, folder).iter().for_each(|name| expand(root, &below(name), parts, found));
        }
    } else if part.contains(['*', '?', '[', '{']) {
        let Ok(glob) = Glob::new(part, glob::GlobKind::Path) else { return };
        let names = subfolders(root, folder);
        let names = names.iter().filter(|name| glob.matches(name) == Some(true));
        names.for_each(|name| expand(root, &below(name), rest, found));
    } else if files::is_real_folder(&root.join(below(part))) {
        expand(root, &below(part), rest, found);
    }
}

pub(super) fn subfolders(root: &Path, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let names = entries.filter(|entry| files::is_real_folder(&entry.path()));
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.') && !IGNORED.contains(&name.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_folders_that_have_the_file_and_are_not_excluded() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "packages/a",
            "packages/b",
            "packages/empty",
            "apps/x/deep",
            "packages/node_modules",
            "../packages/.h",
        ] {
            std::fs::create_dir_all(root.path().join(name.trim_start_matches("../"))).unwrap();
            if !name.ends_with("empty") {
                std::fs::write(root.path().join(name.trim_start_matches("../")).join("f"), "").unwrap();
            }
        }
        let of = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            folders(root.path(), &patterns, "f")
        };
        assert_eq!(of(&["packages/*"]), ["packages/a", "packages/b"]);
        assert_eq!(of(&["./packages/a/", "packages/{a,b}"]), ["packages/a", "packages/b"]);
        assert_eq!(of(&["**", "!packages/b"]), ["apps/x/deep", "packages/a"]);
        assert_eq!(of(&["../*", "/etc", ".", "packages/["]), Vec::<String>::new());
    }

    #[test]
    fn each_tool_names_its_members_in_its_own_way() {
        let json = serde_json::json!({"workspaces": {"packages": ["a/*"]}});
        assert_eq!(of_node(&json, None), ["a/*"]);
        assert_eq!(of_node(&serde_json::json!({"workspaces": ["b"]}), None), ["b"]);
        assert_eq!(
            of_node(&json, Some("packages:\n  - 'c/*'\n  - '!c/x'\ncatalog: {a: 1}\n")),
            ["c/*", "!c/x"]
        );
        let cargo = "[package]\nname = \"x\"\n[workspace] # all\nmembers = [\n  \"a\", # one\n  'b/*',\n]\nexclude = [\"b/c\"]\n";
        assert_eq!(of_toml(cargo, "workspace"), ["a", "b/*", "!b/c"]);
        assert_eq!(of_toml("[workspace.package]\nmembers = [\"a\"]", "workspace"), Vec::<String>::new());
        let go = "go 1.24\nuse ./one\nuse (\n\t./two // second\n\n\t\"./three\"\n)\nreplace x => ./y\n";
        assert_eq!(of_go(go), ["./one", "./two", "./three"]);
    }
}
