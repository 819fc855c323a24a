//! What holds for any path, however it is spelt.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use test_support::cases;

/// What rules of each kind say: the answer, and by which rule.
type Answers = BTreeSet<(&'static str, String)>;

struct Project {
    root: std::path::PathBuf,
    rules: GuardRules,
    _folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let folder = project();
        let root = folder.path().canonicalize().unwrap();
        let file_rule = |pattern: &str, action| ToolRule {
            pattern: Some(FilePattern::new(pattern, None).unwrap().into()),
            command: None,
            tool: Glob::new("*", GlobKind::Name).unwrap(),
            ..command("unused", false, action)
        };
        let origin = RuleOrigin { key: "preventRootAdditions", ..RuleOrigin::default() };
        let rules = GuardRules {
            additions: files("preventAdditions", &["docs/", "!docs/new"]),
            root_additions: Some(rules::SwitchRule { origin, message: None }),
            tools: vec![file_rule("docs/", Action::Allow), file_rule("*.md", Action::Ask)],
            ..rules()
        };
        Project { root, rules, _folder: folder }
    }

    fn home(&self) -> Option<&str> {
        self.root.to_str()
    }

    fn of_tool(&self, tool: &str, path: &str) -> Answers {
        let input = json!({"file_path": path, "content": "x"});
        let scene = Scene::of(&self.root, self.home());
        match tools::what(tool, input.as_object().unwrap()) {
            ToolUse::File { access, path } => {
                let effects = Effects::of(scene.ground().touch(access, path));
                self.check(&ToolCall { tool, ..scene.call() }, &effects)
            }
            other => panic!("{other:?}"),
        }
    }

    fn of_shell(&self, text: &str) -> Answers {
        let scene = Scene::of(&self.root, self.home());
        let effects = scene.ground().of_script(shell_effects::read(text, self.home()));
        self.check(&ToolCall { command: Some(text), ..scene.call() }, &effects)
    }

    fn check(&self, call: &ToolCall<'_>, effects: &Effects) -> Answers {
        let word = |action| match action {
            Action::Block => "deny",
            Action::Ask => "ask",
            Action::Allow => "allow",
        };
        let found = check(&self.rules, call, effects).into_iter();
        found.map(|found| (word(found.action), found.origin.to_string())).collect()
    }
}

/// Paths that rules of each kind have something to say to, and others.
const KNOWN: [&str; 12] = [
    ".env",
    "Cargo.lock",
    "src/gen/api.rs",
    "src/gen/keep.md",
    "docs/a.md",
    "docs/b.md",
    "docs/new",
    "secrets/key.pem",
    "build/out.txt",
    "README.md",
    "build",
    "new.txt",
];

#[test]
fn the_paths_that_are_tried_meet_each_kind_of_rule() {
    let project = Project::new();
    let said: Answers = KNOWN
        .iter()
        .flat_map(|path| ["Read", "Write"].into_iter().flat_map(|tool| project.of_tool(tool, path)))
        .collect();
    let kinds: BTreeSet<&str> = said.iter().filter_map(|(_, rule)| rule.split(' ').next()).collect();
    assert_eq!(kinds.len(), 5, "{said:?}");
}

/// The names of files that rules know, and other names.
fn path() -> impl Strategy<Value = Vec<&'static str>> {
    let names = prop::sample::select(vec![
        "src",
        "gen",
        "docs",
        "secrets",
        "build",
        "nested",
        "new",
        ".env",
        ".env.local",
        "Cargo.lock",
        "keep.md",
        "key.pem",
        "a.md",
        "README.md",
        "main.rs",
    ]);
    let made_up = prop::collection::vec(names, 1..4);
    let there = prop::sample::select(&KNOWN[..]).prop_map(|path| path.split('/').collect());
    prop_oneof![there, made_up]
}

/// The same path in another spelling.
fn spelt(parts: &[&str], how: &[u8], root: &Path, starts: &[&str]) -> String {
    let above = root.parent().unwrap().display();
    let name = root.file_name().unwrap().to_string_lossy();
    let first = usize::from(*how.first().unwrap());
    let start = starts.get(first % starts.len()).unwrap();
    let start = start.replace("ROOT", &root.to_string_lossy()).replace("ABOVE", &above.to_string());
    let mut out = start.replace("NAME", &name);
    for (index, (part, how)) in parts.iter().zip(how.iter().cycle().skip(1)).enumerate() {
        if index > 0 {
            out.push('/');
        }
        out.push_str(
            ["", "./", "/", "x/../", "src/.././", "", "src/gen/../..//", ""][usize::from(how % 8)]
                .trim_start_matches(
                    // A slash in front would make it absolute.
                    |c| index == 0 && out.is_empty() && c == '/',
                ),
        );
        out.push_str(part);
    }
    out
}

const STARTS: [&str; 9] =
    ["", "./", "ROOT/", "ROOT//", "ABOVE/NAME/./", "ABOVE/./x/../NAME/", "/..ROOT/", "../NAME/", "~/"];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn what_rules_say_to_a_file_does_not_depend_on_how_its_path_is_spelt() {
    let project = Project::new();
    let tools = prop::sample::select(vec!["Read", "Write", "Edit"]);
    let how = prop::collection::vec(any::<u8>(), 1..6);
    proptest!(config(cases(400, 8_000)), |(parts in path(), how in how, tool in tools)| {
        let (plain, other) = (parts.join("/"), spelt(&parts, &how, &project.root, &STARTS));
        let answers = project.of_tool(tool, &plain);
        prop_assert_eq!(&answers, &project.of_tool(tool, &other), "{} {}", tool, other);
    });
}

#[test]
fn what_rules_say_to_a_command_does_not_depend_on_how_its_files_are_spelt() {
    let project = Project::new();
    let commands = prop::sample::select(vec![
        "cat FILE",
        "rm FILE",
        "rm -rf FILE",
        "echo x > FILE",
        "cat < FILE",
        "tee -a FILE",
        "cp README.md FILE",
        "mv FILE /nowhere",
        "sed -i s/a/b/ FILE",
        "touch FILE",
        "mkdir -p FILE",
        "chmod 600 FILE",
        "git checkout -- FILE",
        "frobnicate FILE",
        "python3 -c 'open(\"FILE\")'",
        "bash -c 'cat FILE'",
        "f=FILE; head $f",
    ]);
    let starts = [&STARTS[..], &["$PWD/", "${PWD}/", "$HOME/", "\"$PWD\"/x/../"]].concat();
    let how = prop::collection::vec(any::<u8>(), 1..6);
    proptest!(config(cases(600, 8_000)), |(parts in path(), how in how, command in commands, moves in any::<bool>())| {
        // An interpreter sees these as they are written, and in a variable `$PWD` may have moved: that is asked about.
        let is_plain = command.contains("python3") || command.starts_with("f=");
        let starts = if is_plain { &STARTS[..] } else { &starts[..] };
        let (plain, other) = (parts.join("/"), spelt(&parts, &how, &project.root, starts));
        let answers = project.of_shell(&command.replace("FILE", &plain));
        let other = command.replace("FILE", &other);
        prop_assert_eq!(&answers, &project.of_shell(&other), "{}", other);
        if moves {
            let moved = format!("cd src && {}", command.replace("FILE", &format!("../{plain}")));
            let expected = project.of_shell(&format!("cd src && cd .. && {}", command.replace("FILE", &plain)));
            prop_assert_eq!(expected, project.of_shell(&moved), "{}", moved);
        }
    });
}

#[test]
fn the_case_of_a_name_counts_where_the_file_system_tells_it_apart() {
    let project = Project::new();
    let is_folded = cfg!(any(windows, target_os = "macos"));
    for (plain, other) in [("Cargo.lock", "Cargo.LOCK"), ("src/gen/api.rs", "src/GEN/api.rs")] {
        assert!(!project.of_tool("Edit", plain).is_empty());
        let denies = |answers: &Answers| answers.iter().any(|(_, rule)| rule.contains("uneditableFiles"));
        assert_eq!(denies(&project.of_tool("Edit", other)), is_folded, "{other}");
        assert_eq!(denies(&project.of_shell(&format!("rm {other}"))), is_folded, "{other}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_goes_up_from_where_a_link_leads() {
    let project = Project::new();
    std::os::unix::fs::symlink("src/gen", project.root.join("link")).unwrap();
    std::fs::create_dir_all(project.root.join("secrets/deep")).unwrap();
    std::os::unix::fs::symlink("../secrets/deep", project.root.join("docs/inner")).unwrap();
    for (command, expected) in [
        ("cat docs/inner/../key.pem", "deny"),
        ("cd docs/inner && cat ../key.pem", "deny"),
        ("cat link/../main.rs", "free"),
        ("echo x > link/../gen/api.rs", "deny"),
        ("cd link/.. && cat README.md", "ask"),
        ("cd docs/inner/.. && cat b.txt", "free"),
    ] {
        let answers = project.of_shell(command);
        let found = answers.iter().map(|(action, _)| *action).min().unwrap_or("free");
        let found = if answers.iter().any(|(action, _)| *action == "deny") { "deny" } else { found };
        assert_eq!(found, expected, "{command} {answers:?}");
    }
    // Claude Code's own tools go up by name.
    assert!(project.of_tool("Read", "docs/inner/../../README.md").iter().all(|(action, _)| *action == "ask"));
}
