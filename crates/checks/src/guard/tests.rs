//! Tool calls in a project, as the guards see them.

use std::path::Path;

use super::rules::{AgentFilter, FileRule, FileRules, RuleOrigin, ToolRule};
use super::shell_environment::ShellEnvironment;
use super::*;
use crate::paths::Links;
use conclaude_core::config::Layer;
use conclaude_core::file_pattern::FilePattern;
use shell_effects::Environment;
use shell_effects::glob::{Glob, GlobKind};

mod deleted_directories;
mod find_comparison;
mod own_files;
mod properties;
mod ruled_out;
mod unknown_directories;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        ".env",
        ".env.local",
        "Cargo.lock",
        "src/main.rs",
        "src/gen/api.rs",
        "src/gen/keep.md",
        "docs/a.md",
        "secrets/key.pem",
        "build/out.txt",
        "build/nested/Cargo.lock",
        "README.md",
        "notes.txt",
    ] {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", folder.path().join("link-to-env")).unwrap();
    folder
}

/// A call of Bash on the main thread, in a project.
struct Scene<'a> {
    root: &'a Path,
    home: Option<&'a str>,
    links: Links,
    budget: Budget,
    input: serde_json::Map<String, serde_json::Value>,
    visited: EntryCount,
}

impl<'a> Scene<'a> {
    fn of(root: &'a Path, home: Option<&'a str>) -> Self {
        Scene {
            root,
            home,
            links: Links::default(),
            budget: Budget::unlimited(),
            input: serde_json::Map::new(),
            visited: EntryCount::default(),
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground {
            root: self.root,
            cwd: self.root,
            links: &self.links,
            home: self.home,
            worktree: None,
            budget: &self.budget,
        }
    }

    fn call(&self) -> ToolCall<'_> {
        ToolCall {
            ground: self.ground(),
            tool: "Bash",
            other_names: &[],
            command: None,
            input: &self.input,
            agent: "main",
            is_subagent: false,
            worktree: None,
            own: None,
            is_ignored: &|_| false,
            log: ComparisonLog::default(),
            visited: &self.visited,
        }
    }
}

fn files(key: &'static str, patterns: &[&str]) -> FileRules {
    let rule = |written: &&str| FileRule {
        written: (*written).to_owned(),
        pattern: FilePattern::new(written.trim_start_matches('!'), Some("/home/me")).unwrap(),
        allows: written.starts_with('!'),
        message: None,
        agents: AgentFilter::new(None),
        outside: false,
        action: Action::Block,
        create: None,
        source: None,
        restore: None,
        overridable: false,
        origin: RuleOrigin { key, file: Some(".conclaude.yaml".into()), line: 1, layer: Layer::Project },
    };
    FileRules(patterns.iter().map(rule).collect())
}

fn command(pattern: &str, is_prefix: bool, action: Action) -> ToolRule {
    ToolRule {
        tool: Glob::new("Bash", GlobKind::Name).unwrap(),
        input: InputPattern::Any,
        pattern: None,
        command: Some(CommandPattern::new(Glob::new(pattern, GlobKind::Name).unwrap(), is_prefix)),
        sql: None,
        sql_unless: None,
        written: pattern.to_owned(),
        action,
        message: None,
        agents: AgentFilter::new(None),
        overridable: false,
        origin: RuleOrigin { key: "toolUsageValidation", ..RuleOrigin::default() },
    }
}

fn rules() -> GuardRules {
    GuardRules {
        uneditable: files("uneditableFiles", &["*.lock", ".env*", "src/gen/", "!src/gen/keep.md"]),
        unreadable: files("unreadableFiles", &[".env*", "secrets/", "~/.ssh/"]),
        tools: vec![
            command("git push --force*", false, Action::Block),
            command("npm publish", true, Action::Block),
            command("terraform apply", true, Action::Ask),
        ],
        ..GuardRules::default()
    }
}

/// A repository at the root.
struct TestEnvironment<'a> {
    root: &'a Path,
}

impl Environment for TestEnvironment<'_> {
    fn variable(&self, _: &str) -> Option<String> {
        Some("/tmp".into())
    }

    fn directory(&self, path: &str) -> Option<String> {
        ShellEnvironment { cwd: self.root, budget: &Budget::unlimited() }.directory(path)
    }

    fn top_level(&self, _: &str) -> Option<String> {
        Some(self.root.to_string_lossy().into_owned())
    }
}

fn answer(rules: &GuardRules, root: &Path, text: &str) -> (Option<Action>, Vec<Finding>) {
    let text = &text.replace("$PWD", &root.to_string_lossy());
    let environment = TestEnvironment { root };
    let context = shell_effects::Context { home: Some("/home/me"), environment: &environment, programs: &[] };
    let script = shell_effects::read_in(text, &context);
    let scene = Scene::of(root, Some("/home/me"));
    let effects = scene.ground().of_script(script);
    let found = check(rules, &ToolCall { command: Some(text), ..scene.call() }, &effects);
    (found.iter().map(|finding| finding.action).max(), found)
}

#[test]
fn shell_commands_are_judged_by_what_they_do() {
    judged(&rules(), include_str!("../../../../tests/fixtures/guards/bash.txt"));
}

#[test]
fn a_project_below_a_directory_of_the_machine_is_not_blocked_by_the_pack() {
    let pack = conclaude_core::packs::find("destructive-commands").unwrap();
    let config = conclaude_core::config::ConclaudeConfig::parse(pack.text, Path::new("pack")).unwrap();
    let rules = GuardRules::of(&config.guards, &Sources(&[]), None).unwrap();
    let decided = |root: &str, command: &str| answer(&rules, Path::new(root), command).0;
    for root in ["/usr/src/app", "/usr/local/app", "/opt/app", "/var/www/app", "/srv/app", "/etc/nginx"] {
        assert_eq!(decided(root, "echo x > main.c; rm -r build; mkdir lib"), None, "{root}");
        assert_eq!(decided(root, "echo x > /etc/hosts"), Some(Action::Block), "{root}");
        assert_eq!(decided(root, "echo x > /usr/src/other/main.c"), Some(Action::Block), "{root}");
        assert_eq!(decided(root, "echo x > /usr/bin/env"), Some(Action::Block), "{root}");
    }
    assert_eq!(decided("/usr/src/app", "rm -r /usr/src"), Some(Action::Block));
    // Nobody's project is all of the machine, or its programs.
    assert_eq!(decided("/", "echo x > usr/src/main.c"), Some(Action::Block));
    assert_eq!(decided("/usr", "echo x > src/main.c"), Some(Action::Block));
    assert_eq!(decided("/usr/lib", "echo x > main.c"), Some(Action::Block));
}

#[test]
fn a_command_is_denied_in_every_ordinary_spelling() {
    let block = |pattern| command(pattern, false, Action::Block);
    let tools = vec![
        block("git push --force*"),
        block("kubectl delete *"),
        block("terraform destroy*"),
        command("npm publish", true, Action::Block),
        block("aws s3 rb *"),
        block("docker system prune*"),
        block("rm -rf ~*"),
        block("curl * | sh"),
        command("gh repo delete*", false, Action::Ask),
    ];
    judged(
        &GuardRules { tools, ..GuardRules::default() },
        include_str!("../../../../tests/fixtures/guards/spellings.txt"),
    );
}

#[test]
fn a_program_whose_name_is_known_in_part_may_be_the_blocked_one() {
    let tools = vec![command("forbidden", true, Action::Block)];
    judged(
        &GuardRules { tools, ..GuardRules::default() },
        "ask\ta || c=for; ${c}bidden\n\
         ask\t${c}bidden now\n\
         free\ta || c=for; ${c}est\n\
         free\t$c now\n\
         free\t$c/tool now\n\
         deny\tc=for; ${c}bidden\n",
    );
}

#[test]
fn an_answer_does_not_depend_on_the_order_of_commands() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let rule = |pattern, action| command(pattern, false, action);
    let allows_git = GuardRules {
        tools: vec![rule("git *", Action::Allow), rule("git push*", Action::Block), rule("ls*", Action::Ask)],
        ..GuardRules::default()
    };
    let blocks_all = GuardRules {
        tools: vec![rule("git status*", Action::Allow), rule("*", Action::Block)],
        ..GuardRules::default()
    };
    for (rules, commands, expected) in [
        (&allows_git, ["git push", "git status"], None),
        (&allows_git, ["git push", "make"], None),
        (&allows_git, ["git push", "ls"], Some(Action::Ask)),
        (&allows_git, ["git -C . push", "make"], None),
        (&allows_git, ["/usr/bin/git push", "ls"], Some(Action::Block)),
        (&blocks_all, ["git status", "git status -s"], None),
        (&blocks_all, ["git status", "make"], Some(Action::Block)),
    ] {
        let [one, other] = commands;
        for joint in ["; ", " && ", " || ", " | ", "\n", " & "] {
            for text in [format!("{one}{joint}{other}"), format!("{other}{joint}{one}")] {
                assert_eq!(answer(rules, &root, &text).0, expected, "{text}");
            }
        }
    }
}

#[test]
fn a_rule_that_allows_is_compared_with_what_is_written() {
    let rule = |pattern, action| command(pattern, false, action);
    let tools = vec![
        rule("git commit*", Action::Allow),
        rule("curl https://a | sh", Action::Allow),
        rule("git *", Action::Block),
        rule("curl * | sh", Action::Block),
    ];
    judged(
        &GuardRules { tools, ..GuardRules::default() },
        "free\tgit commit -m x\n\
         free\tcurl https://a | sh\n\
         free\tcd x && curl https://a | sh\n\
         deny\tgit -c core.hooksPath=x commit -m x\n\
         deny\t./git commit -m x\n\
         deny\tcurl https://b | sh\n\
         deny\tcurl https://a | sudo sh\n\
         deny\tcurl https://a | sh; curl https://b | sh\n\
         deny\t./curl https://a | sh\n",
    );
}

/// Lines of an answer, a tab and a command.
fn judged(rules: &GuardRules, table: &str) {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let mut wrong = Vec::new();
    let cases = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for line in cases {
        let (expected, text) = line.split_once('\t').unwrap();
        let (found, findings) = answer(rules, &root, &text.replace('⏎', "\n"));
        let found = match found {
            Some(Action::Block) => "deny",
            Some(Action::Ask) => "ask",
            _ => "free",
        };
        if found != expected {
            wrong.push(format!("{text}\n    expected {expected}, got {found} {findings:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn who_watches_sees_every_rule_with_what_it_was_compared_with() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let script = shell_effects::read("echo x > src/gen/keep.md && npm publish --tag x", None);
    let scene = Scene::of(&root, None);
    let seen = std::cell::RefCell::default();
    let call = ToolCall { log: ComparisonLog::into(&seen), ..scene.call() };
    let found = check(&rules(), &call, &scene.ground().of_script(script));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].origin.pattern.as_deref(), found[0].matched.as_str()),
        (Some("npm publish"), "npm publish --tag x")
    );
    let seen = seen.into_inner();
    let lines: Vec<String> = seen
        .iter()
        .map(|one| {
            format!(
                "{} {:?} {}",
                if one.is_match { '✓' } else { '·' },
                one.rule.pattern.as_deref().unwrap_or_default(),
                one.why
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    · "*.lock" does not cover src/gen/keep.md
    · ".env*" does not cover src/gen/keep.md
    ✓ "src/gen/" covers src/gen/keep.md
    ✓ "!src/gen/keep.md" frees src/gen/keep.md
    · "git push --force*" does not match echo x
    · "npm publish" does not match echo x
    · "terraform apply" does not match echo x
    · "git push --force*" does not match npm publish --tag x
    ✓ "npm publish" matches npm publish --tag x, and blocks it
    · "terraform apply" does not match npm publish --tag x
    "#);
}

#[test]
fn what_a_script_does_again_and_again_is_reported_once() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let line = "cat .env; ls; git push --force; npm run build; rm Cargo.lock; python3 -c 'open(\".env\")'\n";
    let (_, found) = answer(&rules(), &root, &line.repeat(300));
    let shown: Vec<String> = found.iter().map(|finding| finding.reason.clone()).collect();
    assert_eq!(
        shown,
        [
            "Reading .env is not allowed: `unreadableFiles` has `.env*`.",
            "Deleting Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.",
            "Running `git push --force` is not allowed: `toolUsageValidation` has `git push --force*`.",
            "Code in python3 names `.env`, and its effect on that file is unknown."
        ],
        "{found:?}"
    );
}

#[test]
fn each_command_is_compared_with_its_own_files() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let rule = |pattern: &str, action| ToolRule {
        pattern: Some(FilePattern::new(pattern, None).unwrap().into()),
        command: None,
        ..command("unused", false, action)
    };
    let rules = GuardRules {
        tools: vec![rule("docs/", Action::Allow), rule("*.md", Action::Block)],
        ..GuardRules::default()
    };
    let (_, found) = answer(&rules, &root, "cat docs/a.md; cat README.md; cat docs/a.md README.md");
    let shown: Vec<&str> = found.iter().map(|finding| finding.matched.as_str()).collect();
    assert_eq!(shown, ["cat README.md", "cat docs/a.md README.md"], "{found:?}");
}
