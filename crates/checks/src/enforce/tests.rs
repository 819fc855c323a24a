use std::sync::Arc;

use super::*;
use crate::guard::Sources;
use conclaude_core::config::{ConclaudeConfig, Layer};

mod exceptions;

const FILES: &[&str] = &[
    ".env",
    ".env.example",
    "sub/",
    "sub/.env.example",
    "sub/x.lock",
    "Cargo.lock",
    "package-lock.json",
    "src/",
    "src/gen/",
    "src/gen/a.rs",
    "dist/",
    "dist/a.js",
    "dist/keep.txt",
];

fn rules(yaml: &str) -> GuardRules {
    let config = ConclaudeConfig::parse(yaml, "x".as_ref()).unwrap();
    let sources: [(Arc<str>, Layer); 1] = [(".conclaude.yaml".into(), Layer::Project)];
    GuardRules::of(&config.guards, &Sources(&sources), Some("/home/me")).unwrap()
}

fn entries() -> Vec<TreeEntry> {
    let entry = |path: &&str| TreeEntry {
        path: path.trim_end_matches('/').to_owned(),
        is_directory: path.ends_with('/'),
        is_link: false,
    };
    FILES.iter().map(entry).collect()
}

/// A machine with a home, and a few directories.
struct TestMachine;

impl Machine for TestMachine {
    fn names_in(&self, directory: &str) -> Vec<String> {
        let names: &[&str] = match directory {
            "/" => &["data", "dev", "etc", "home", "p", "usr", "x.pem"],
            "/home/me/.ssh" => &["a.pub", "id_rsa", "known_hosts", "linked"],
            _ => &[],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn is_plain_file(&self, path: &str) -> bool {
        !path.ends_with("/linked") && !path.ends_with("/.env.linked")
    }

    fn link_in(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

const BOTH: Enforcers = Enforcers { sandbox: true, permissions: true };
/// What a test changes.
struct Setup {
    enforcers: Enforcers,
    root: &'static str,
    project: &'static str,
    existing: Vec<TreeEntry>,
    listed: Vec<String>,
    own: Vec<OwnPath>,
    denied_by_user: Vec<String>,
}

fn compiled_with(yaml: &str, change: impl FnOnce(&mut Setup)) -> CompiledRules {
    let mut given = Setup {
        enforcers: BOTH,
        root: "/p",
        project: "/p",
        existing: entries(),
        listed: Vec::new(),
        own: Vec::new(),
        denied_by_user: Vec::new(),
    };
    change(&mut given);
    CompiledRules::of(&EnforceRequest {
        rules: &rules(yaml),
        enforcers: given.enforcers,
        paths: SettingsPaths { root: given.root, project: given.project },
        existing: &given.existing,
        listed: &given.listed,
        machine: &TestMachine,
        own: &given.own,
        own_names: &[],
        denied_by_user: &given.denied_by_user,
    })
}

fn compiled(yaml: &str) -> CompiledRules {
    compiled_with(yaml, |_| {})
}

/// The entries, as `denyRead **/.env*`.
fn written(compiled: &CompiledRules) -> Vec<String> {
    let entries = compiled.entries.iter();
    entries.map(|entry| format!("{} {}", entry.keys.last().unwrap(), entry.text().unwrap())).collect()
}

/// The classes of the rules of the config, by their patterns.
fn classes(compiled: &CompiledRules) -> Vec<(String, &'static str, String)> {
    let own = compiled.rules.iter().filter(|one| one.rule.file.is_some());
    own.map(|one| (one.rule.pattern.clone().unwrap_or_default(), one.class.as_str(), one.why.clone()))
        .collect()
}

/// What becomes of one rule of `uneditableFiles` or `unreadableFiles`.
fn one(key: &str, pattern: &str) -> (Vec<String>, &'static str, String) {
    let compiled = compiled(&format!("preToolUse: {{{key}: [{pattern}]}}"));
    let (_, class, why) = classes(&compiled).pop().unwrap();
    let entries = written(&compiled).into_iter().filter(|entry| !entry.starts_with("deny Read("));
    (entries.filter(|entry| !entry.starts_with("deny Edit(")).collect(), class, why)
}

const OS: &str = "enforced by the OS";
const NOW: &str = "by the OS for files that exist now";
const HOOK: &str = "hook only";

#[test]
fn the_example_becomes_the_settings_that_were_tried() {
    let yaml = "preToolUse: {unreadableFiles: ['.env*'], uneditableFiles: ['*.lock', ./package-lock.json, src/gen/]}";
    let own = vec![
        OwnPath::Relative { path: ".conclaude.yaml".into(), is_directory: false },
        OwnPath::Relative { path: ".conclaude".into(), is_directory: true },
        OwnPath::Relative { path: ".claude/settings.json".into(), is_directory: false },
    ];
    let compiled = compiled_with(yaml, |given| given.own = own);
    assert_eq!(
        written(&compiled),
        [
            "denyWrite ./Cargo.lock",
            "denyWrite ./sub/x.lock",
            "deny Edit(**/*.lock)",
            "denyWrite ./package-lock.json",
            "deny Edit(./package-lock.json)",
            "denyWrite ./src/gen",
            "deny Edit(./src/gen/**)",
            "denyRead **/.env*",
            "deny Read(**/.env*)",
            "ask Edit(./.conclaude.yaml)",
            "ask Edit(./.conclaude/**)",
            "denyWrite ./.conclaude.yaml",
            "denyWrite ./.conclaude",
            "denyWrite ./.claude/settings.json",
        ]
    );
    let classes: Vec<_> =
        classes(&compiled).into_iter().map(|(pattern, class, _)| (pattern, class)).collect();
    let expected = [("*.lock", NOW), ("./package-lock.json", OS), ("src/gen/", OS), (".env*", OS)];
    assert_eq!(classes, expected.map(|(pattern, class)| (pattern.to_owned(), class)));
    let listed: Vec<&str> = compiled.listed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(listed, ["Cargo.lock", "sub/x.lock"]);
}

#[test]
fn a_rule_for_reading_keeps_its_pattern() {
    for (pattern, entry) in [
        (".env", "**/.env"),
        ("secrets/", "**/secrets/**"),
        ("config/*.key", "./config/*.key"),
        ("config/private/", "./config/private"),
        ("~/.ssh/", "/home/me/.ssh"),
        ("~/.ssh/**", "/home/me/.ssh"),
        ("//secret/keys/**", "/secret/keys"),
        ("~/.ssh/id_*", "/home/me/.ssh/id_*"),
        ("//etc/shadow", "/etc/shadow"),
    ] {
        let (entries, class, _) = one("unreadableFiles", &format!("'{pattern}'"));
        assert_eq!((entries, class), (vec![format!("denyRead {entry}")], OS), "{pattern}");
    }
    let (entries, class, _) = one("unreadableFiles", "'{a,b}.txt'");
    assert_eq!((entries.join(" "), class), ("denyRead **/a.txt denyRead **/b.txt".into(), OS));
    // What Claude Code would read in another way is expanded.
    let (entries, class, _) = one("unreadableFiles", "'.en[!x]'");
    assert_eq!((entries.join(" "), class), ("denyRead ./.env".into(), NOW));
    for pattern in ["~/*.pem", "//**/x", "~/.ssh/[ab]", "~/.*/**", "~/**/x/**"] {
        let (entries, class, why) = one("unreadableFiles", &format!("'{pattern}'"));
        assert_eq!((entries.len(), class), (0, HOOK), "{pattern}");
        assert_eq!(why, "only files of the project are looked for, and it is a pattern for others");
    }
}

#[test]
fn a_rule_for_writing_is_a_path_or_is_expanded() {
    for (pattern, expected, class) in [
        ("new/file.txt", "denyWrite ./new/file.txt", OS),
        ("./Cargo.lock", "denyWrite ./Cargo.lock", OS),
        ("//usr/{bin,lib}/", "denyWrite /usr/bin denyWrite /usr/lib", OS),
        ("~/.netrc", "denyWrite /home/me/.netrc", OS),
        ("~/.ssh/**", "denyWrite /home/me/.ssh", OS),
        ("//tmp/x", "denyWrite /tmp/x", OS),
        ("src/gen/**", "denyWrite ./src/gen", OS),
        ("Cargo.lock", "denyWrite ./Cargo.lock", NOW),
        ("gen/", "denyWrite ./src/gen", NOW),
        ("*.nothing", "", NOW),
    ] {
        let (entries, found, _) = one("uneditableFiles", &format!("'{pattern}'"));
        assert_eq!((entries.join(" ").as_str(), found), (expected, class), "{pattern}");
    }
}

#[test]
fn what_cannot_be_compiled_is_listed_with_the_reason() {
    for (rule, reason) in [
        ("{pattern: x, agent: coder}", "it is for some agents only"),
        ("{pattern: x, action: ask}", "it asks the user, and the OS cannot"),
        (".git/", "git itself must write there"),
        ("'//dev/sd*'", "only files of the project are looked for, and it is a pattern for others"),
        (
            "{pattern: '*.x', outside: true}",
            "it excludes the project's own files, which would be denied as well",
        ),
        ("'{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'", "it has too many alternatives"),
        ("../abs.txt", "it covers nothing: no path of a pattern has `.` or `..` in it"),
        ("src/../Cargo.lock", "it covers nothing: no path of a pattern has `.` or `..` in it"),
    ] {
        let (entries, class, why) = one("uneditableFiles", rule);
        assert_eq!((entries.len(), class, why.as_str()), (0, HOOK, reason), "{rule}");
    }
    let (_, class, _) = one("unreadableFiles", "{pattern: .env, source: allow}");
    assert_eq!(class, HOOK);
    let others = compiled(
        "preToolUse: {preventAdditions: [docs/], preventRootAdditions: true, preventUpdateGitIgnored: true, toolUsageValidation: [{tool: Bash, commandPattern: 'rm *', action: block}]}",
    );
    assert_eq!(others.entries, []);
    assert!(others.rules.iter().filter(|one| one.rule.file.is_some()).all(|one| one.class.as_str() == HOOK));
    assert_eq!(classes(&others).len(), 4);
}

#[test]
fn a_project_below_a_directory_of_the_machine_is_not_denied_with_it() {
    let yaml = "preToolUse: {uneditableFiles: [{pattern: //usr/, outside: true}]}";
    let below = compiled_with(yaml, |given| {
        (given.root, given.project) = ("/usr/src/app", "/usr/src/app");
    });
    assert_eq!(classes(&below).pop().unwrap().1, HOOK);
    assert_eq!(written(&compiled(yaml)), ["denyWrite /usr", "deny Edit(//usr/**)"]);
}

#[test]
fn a_file_that_may_be_created_is_listed_once_it_exists() {
    let rule = |pattern: &str| format!("{{pattern: {pattern}, create: allow}}");
    assert_eq!(one("uneditableFiles", &rule("./new.txt")).0, Vec::<String>::new());
    assert_eq!(one("uneditableFiles", &rule("./Cargo.lock")).0, ["denyWrite ./Cargo.lock"]);
    let permissions = compiled(&format!("preToolUse: {{uneditableFiles: [{}]}}", rule("./Cargo.lock")));
    assert_eq!(written(&permissions), ["denyWrite ./Cargo.lock"]);
}

/// What a pattern such as `/data/x` means to the guards: a path of the project, and one of the machine.
#[test]
fn a_pattern_with_two_readings_is_compiled_for_both() {
    for (pattern, expected, class, why) in [
        // Nothing of the machine has that name: both can be listed.
        ("/src/", "denyWrite ./src denyWrite /src", OS, ""),
        ("/Makefile", "denyWrite ./Makefile denyWrite /Makefile", OS, ""),
        ("/srv/x", "denyWrite ./srv/x denyWrite /srv/x", OS, ""),
        ("/tmp/a/b", "denyWrite ./tmp/a/b denyWrite /tmp/a/b", OS, ""),
        // In the project a path of that name is hardly expected.
        ("/etc/", "denyWrite /etc", NOW, "./etc does not exist now"),
        ("/data/x", "denyWrite /data/x", NOW, "./data does not exist now"),
        ("/src/gen/*.rs", "denyWrite ./src/gen/a.rs", NOW, "/src does not exist now"),
        ("/*.lock", "denyWrite ./Cargo.lock", NOW, "/*.lock does not exist now"),
        ("/*.pem", "", HOOK, "it is a pattern for others"),
        ("/data/*.x", "", HOOK, "it is a pattern for others"),
    ] {
        let (entries, found, reason) = one("uneditableFiles", &format!("'{pattern}'"));
        assert_eq!((entries.join(" ").as_str(), found), (expected, class), "{pattern}: {reason}");
        assert!(reason.contains(why), "{pattern}: {reason}");
    }
    for (pattern, expected, class) in [
        ("/data/x", "denyRead ./data/x denyRead /data/x", OS),
        ("/srv/x", "denyRead ./srv/x denyRead /srv/x", OS),
        ("/cfg/*.key", "denyRead ./cfg/*.key", NOW),
        ("/data/*.key", "", HOOK),
        ("/home/me/.ssh/id_*", "denyRead ./home/me/.ssh/id_* denyRead /home/me/.ssh/id_*", OS),
    ] {
        let (entries, found, why) = one("unreadableFiles", &format!("'{pattern}'"));
        assert_eq!((entries.join(" ").as_str(), found), (expected, class), "{pattern}: {why}");
    }
    let existing = TreeEntry { path: "data/x".into(), is_directory: false, is_link: false };
    let yaml = "preToolUse: {uneditableFiles: [/data/x]}";
    let both = compiled_with(yaml, |given| given.existing.push(existing));
    assert_eq!(
        written(&both),
        ["denyWrite ./data/x", "denyWrite /data/x", "deny Edit(./data/x)", "deny Edit(//data/x)"]
    );
    assert_eq!(written(&compiled(yaml)), ["denyWrite /data/x", "deny Edit(//data/x)"]);
    // Once the project has it, the list changes.
    assert!(compiled(yaml).depends_on_files);
}

fn locks(numbers: std::ops::Range<usize>) -> Vec<TreeEntry> {
    numbers.map(|n| TreeEntry { path: format!("{n:05}.lock"), is_directory: false, is_link: false }).collect()
}

/// New files must not push out those that are protected.
#[test]
fn more_files_than_can_be_listed_drop_none_that_is_listed() {
    let listed: Vec<String> = locks(5_000..5_000 + MAX_LISTED - 1).into_iter().map(|one| one.path).collect();
    let existing = [locks(0..10), locks(5_000..5_000 + MAX_LISTED - 1)].concat();
    let known = listed.clone();
    let compiled = compiled_with("preToolUse: {uneditableFiles: ['*.lock', '0*']}", |given| {
        (given.existing, given.listed) = (existing, known);
    });
    let denied = written(&compiled);
    assert!(listed.iter().all(|path| denied.contains(&format!("denyWrite ./{path}"))));
    assert_eq!(denied.iter().filter(|entry| entry.starts_with("denyWrite")).count(), MAX_LISTED);
    let rule = &compiled.rules[0];
    assert_eq!(
        (rule.class.as_str(), rule.unlisted, rule.why.as_str()),
        (
            HOOK,
            9,
            "00000.lock, 05000.lock and 998 more; 9 more match and are not listed: at most 1000 files are; Claude Code denies Edit(**/*.lock)"
        )
    );
    // The guards ask about such a rule, and still say why one of the listed files was refused.
    assert!(!compiled.is_compiled(&rule.rule));
    let at = |path: &str| Location {
        absolute: format!("/p/{path}"),
        relative: Some(path.into()),
        ..Location::default()
    };
    assert!(
        compiled.denies(rule, &at("05000.lock"), true) && !compiled.denies(rule, &at("00005.lock"), true)
    );
    assert_eq!(compiled.incomplete().count(), 2);
}

#[test]
fn a_file_whose_name_cannot_be_written_leaves_the_rule_to_the_hook() {
    for name in ["app/[slug].lock", "a\nb.lock", "\u{fffd}.lock"] {
        let odd = TreeEntry { path: name.into(), is_directory: false, is_link: false };
        let compiled = compiled_with("preToolUse: {uneditableFiles: ['*.lock']}", |given| {
            given.existing.push(odd);
        });
        let rule = &compiled.rules[0];
        assert_eq!((rule.class.as_str(), rule.unlisted), (HOOK, 1), "{name}");
        assert!(written(&compiled).contains(&"denyWrite ./Cargo.lock".to_owned()), "{name}");
        assert!(rule.why.contains("1 file has `*`, `?`, `[` or no text in its name"), "{}", rule.why);
    }
}

#[test]
fn permission_rules_alone_are_known_to_refuse() {
    let compiled = compiled_with("preToolUse: {unreadableFiles: [.env, '*.key', '!a.key']}", |given| {
        given.enforcers = Enforcers { sandbox: false, permissions: true };
    });
    let found: Vec<bool> = compiled.rules.iter().take(2).map(|one| one.has_permission).collect();
    assert_eq!(found, [true, false]);
}

#[test]
fn each_of_the_two_may_be_asked_for_alone() {
    let yaml = "preToolUse: {unreadableFiles: [.env]}";
    let only = |enforcers| compiled_with(yaml, |given| given.enforcers = enforcers);
    let sandbox = only(Enforcers { sandbox: true, permissions: false });
    assert_eq!(written(&sandbox), ["denyRead **/.env"]);
    let permissions = only(Enforcers { sandbox: false, permissions: true });
    assert_eq!(written(&permissions), ["deny Read(**/.env)"]);
    let (_, class, why) = classes(&permissions).pop().unwrap();
    assert_eq!(
        (class, why.as_str()),
        (HOOK, "`sandbox` is not in `enforce`; Claude Code denies Read(**/.env)")
    );
}

#[test]
fn settings_in_another_folder_name_the_files_from_there() {
    let yaml = "preToolUse: {uneditableFiles: [src/gen/], unreadableFiles: [.env]}";
    for (project, expected) in [
        (
            "/",
            vec![
                "denyWrite ./p/src/gen",
                "deny Edit(./p/src/gen/**)",
                "denyRead ./p/**/.env",
                "deny Read(./p/**/.env)",
            ],
        ),
        (
            "/p/web",
            vec![
                "denyWrite /p/src/gen",
                "deny Edit(//p/src/gen/**)",
                "denyRead /p/**/.env",
                "deny Read(//p/**/.env)",
            ],
        ),
    ] {
        let compiled = compiled_with(yaml, |given| given.project = project);
        assert_eq!(written(&compiled), expected, "{project}");
    }
}

#[test]
fn a_path_that_looks_like_a_pattern_is_not_compiled() {
    let compiled = compiled_with("preToolUse: {uneditableFiles: [src/gen/]}", |given| {
        (given.root, given.project) = ("/p/[x]", "/p/[x]");
    });
    assert_eq!((written(&compiled).len(), classes(&compiled).pop().unwrap().1), (0, HOOK));
}

#[test]
fn the_packs_are_compiled_without_breaking_git() {
    for pack in conclaude_core::packs::ALL {
        let yaml = pack.text;
        let compiled = compiled(yaml);
        assert_eq!(
            compiled.rules.iter().filter(|one| one.rule.file.is_some()).count(),
            rules(yaml).all().len() - 1
        );
        assert!(!written(&compiled).iter().any(|entry| entry.ends_with("/.git")), "{}", pack.name);
    }
}

#[test]
fn a_file_that_a_rule_covers_is_denied_only_where_the_entries_say_so() {
    let yaml = "preToolUse: {unreadableFiles: [.env, ./secrets/], uneditableFiles: [./package.json, '*.lock', '~/.netrc']}";
    let compiled = compiled_with(yaml, |given| {
        given.own = vec![OwnPath::Relative { path: ".conclaude.yaml".into(), is_directory: false }];
    });
    let inside = |path: &str| Location {
        absolute: format!("/p/{path}"),
        relative: Some(path.into()),
        ..Location::default()
    };
    let copy = |path: &str| Location { in_worktree: Some(path.into()), ..inside(&format!("wt/{path}")) };
    let outside = |path: &str| Location { absolute: path.into(), ..Location::default() };
    for (location, writes, expected) in [
        (inside("sub/.env"), false, true),
        (copy(".env"), false, true),
        (outside("/other/.env"), false, false),
        (inside("secrets/a"), false, true),
        (copy("secrets/a"), false, false),
        (inside("package.json"), true, true),
        (copy("package.json"), true, false),
        (inside("Cargo.lock"), true, true),
        (inside("new.lock"), true, false),
        (outside("/other/x.lock"), true, false),
        (outside("/home/me/.netrc"), true, true),
        (inside(".conclaude.yaml"), true, true),
    ] {
        let rule = compiled.covering(&location, writes).unwrap_or_else(|| panic!("{location:?}"));
        assert_eq!(compiled.denies(rule, &location, writes), expected, "{location:?}");
    }
}
