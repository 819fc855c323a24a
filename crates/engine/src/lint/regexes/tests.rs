use conclaude_core::file_pattern::{FilePattern, Location};
use shell_effects::glob::{Glob, GlobKind};

use crate::lint::tests::remarked;

/// A config with a pattern, and the text around the pattern.
struct Place {
    config: fn(&str) -> String,
    around: (&'static str, &'static str),
    kind: GlobKind,
}

const UNEDITABLE: Place = Place {
    config: |pattern| format!("preToolUse: {{uneditableFiles: [{pattern}]}}"),
    around: ("", ""),
    kind: GlobKind::Path,
};
const COMMAND: Place = Place {
    config: |pattern| {
        format!(
            "preToolUse: {{toolUsageValidation: [{{tool: Bash, commandPattern: {pattern}, action: block}}]}}"
        )
    },
    around: ("", ""),
    kind: GlobKind::Name,
};
const TOOL: Place = Place {
    config: |pattern| format!("preToolUse: {{toolUsageValidation: [{{tool: {pattern}, action: block}}]}}"),
    around: ("", ""),
    kind: GlobKind::Name,
};
const DENY: Place = Place {
    config: |pattern| format!("permissionRequest: {{deny: [{pattern}]}}"),
    around: ("Bash(", ")"),
    kind: GlobKind::Name,
};
const DENY_FILE: Place = Place { around: ("Read(", ")"), kind: GlobKind::Path, ..DENY };
const AGENT: Place = Place {
    config: |pattern| format!("subagentStop: {{commands: {{'*': [{{run: x, agent: {pattern}}}]}}}}"),
    around: ("", ""),
    kind: GlobKind::Name,
};

#[test]
fn what_is_suggested_has_no_warning_and_matches_what_the_regular_expression_meant() {
    for (place, regex, meant) in [
        (UNEDITABLE, r".*\.lock", "a.lock"),
        (UNEDITABLE, "^src/", "src/main.rs"),
        (UNEDITABLE, "lock.json$", "package-lock.json"),
        (UNEDITABLE, "[a-z]+.rs", "main.rs"),
        (UNEDITABLE, "src/.*", "src/a/b.rs"),
        (UNEDITABLE, "^docs/.*", "docs/a/b.md"),
        (UNEDITABLE, "package-lock.json|yarn.lock", "yarn.lock"),
        (UNEDITABLE, "src/gen|lib/gen", "lib/gen"),
        (COMMAND, "git push|git pull", "git pull origin"),
        (COMMAND, "git push --force$", "git push --force origin"),
        (DENY, "rm|unlink", "unlink a"),
        (UNEDITABLE, "src/[^/]+/gen", "src/a/gen"),
        (COMMAND, "git push.*--force", "git push origin --force"),
        (COMMAND, "^rm -rf", "rm -rf /"),
        (COMMAND, "rm .*", "rm a"),
        (COMMAND, "rm -rf", "rm -rf a"),
        (COMMAND, "git push [^ ]+ -f", "git push origin -f"),
        (COMMAND, "(npm|yarn) publish", "yarn publish"),
        (TOOL, "mcp__.*", "mcp__a__b"),
        (TOOL, "^Edit$", "Edit"),
        (DENY, "git push.*", "git push origin"),
        (DENY, "^git status", "git status"),
        (DENY, "rm -rf", "rm -rf a"),
        (DENY, "rm .*", "rm a"),
        (DENY_FILE, "^src/", "src/main.rs"),
        (AGENT, ".*er", "coder"),
        (AGENT, "^cod", "coder"),
    ] {
        let (before, after) = place.around;
        let shown = remarked(&(place.config)(&format!("{:?}", format!("{before}{regex}{after}"))));
        let [remark] = shown.as_slice() else { panic!("{regex}: {shown:?}") };
        let (_, help) = remark.rsplit_once("write \"").unwrap_or_else(|| panic!("{remark}"));
        let (written, _) = help.split_once('"').unwrap();
        assert_eq!(remarked(&(place.config)(&format!("\"{written}\""))), Vec::<String>::new(), "{remark}");
        let written = written.replace(r"\\", r"\");
        let glob = written.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let glob = glob.unwrap_or_else(|| panic!("{remark}"));
        let matches = if place.kind == GlobKind::Path {
            let file = Location {
                absolute: format!("/p/{meant}"),
                relative: Some(meant.into()),
                ..Location::default()
            };
            FilePattern::new(glob, None).unwrap().covers(&file)
        } else {
            Glob::new(glob, GlobKind::Name).unwrap().matches_long(meant)
        };
        assert!(matches, "{glob} does not match {meant}: {remark}");
    }
}

#[test]
fn globs_that_look_like_regular_expressions_are_left() {
    for config in [
        (UNEDITABLE.config)("'.*', '.env.*', '**/.*', '[a-z]*.rs', '*[+].md', 'src/[.]*'"),
        (COMMAND.config)("'mkfs.*'"),
        (COMMAND.config)("'rm [.]*'"),
        (COMMAND.config)("'git push *'"),
        (COMMAND.config)("'curl * | sh'"),
        (COMMAND.config)("'a || b'"),
    ] {
        let shown = remarked(&config).into_iter().filter(|one| one.contains("regular expression"));
        assert_eq!(shown.collect::<Vec<_>>(), Vec::<String>::new(), "{config}");
    }
}

/// The suggestion started with `^`, which matches nothing.
#[test]
fn what_is_suggested_for_names_with_a_dot_has_no_anchor() {
    let shown = remarked(&(UNEDITABLE.config)("'^docs/.*'")).join("\n");
    assert!(shown.contains("write \"/docs/**\"") && !shown.contains("[.]"), "{shown}");
}

#[test]
fn the_start_of_the_names_of_a_servers_tools_is_reported() {
    for config in [
        (TOOL.config)("mcp__github__"),
        (DENY.config)("mcp__github__"),
        "postToolUse: {commands: {mcp__github__: [{run: x}]}}".to_owned(),
    ] {
        let shown = remarked(&config).join("\n");
        assert!(shown.contains("write `mcp__github__*`"), "{config}: {shown}");
    }
    assert_eq!(remarked(&(TOOL.config)("mcp__github__*")), Vec::<String>::new());
}
