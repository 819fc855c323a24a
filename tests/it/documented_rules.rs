//! The rules in README.md and docs/ do what a reader expects of them, in all usual spellings of a command.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Test, run_in};

/// A rule as it is written in a document, and what is answered to calls where it is the only one.
struct DocumentedRule {
    /// The start of its line, without the list's dash.
    starts: &'static str,
    refuses: &'static [&'static str],
    allows: &'static [&'static str],
}

const FORCED: &[&str] = &[
    "git push --force",
    "git push -f",
    "git push --force origin main",
    "git push origin main --force",
    "git push origin main -f",
    "git push -uf origin main",
    "git -C sub push origin --force",
    "cd sub && git push origin main --force",
];

const NOT_FORCED: &[&str] =
    &["git push", "git push origin main", "git push -u origin fix", "echo git push --force"];

const RULES: &[DocumentedRule] = &[
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "git push", matchMode: prefix, options: ["-f", "--force"], action: block"#,
        refuses: FORCED,
        allows: NOT_FORCED,
    },
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "git push * +*", action: block"#,
        refuses: &["git push origin +main", "git push origin +main:main", "git push -u origin +HEAD:main"],
        allows: NOT_FORCED,
    },
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "terraform apply", matchMode: prefix, action: ask"#,
        refuses: &["terraform apply", "terraform apply -auto-approve", "terraform -chdir=infra apply"],
        allows: &["terraform plan", "terraform apply-x"],
    },
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "npm *", action: block"#,
        refuses: &["npm install", "cd web && npm i", "bash -c 'npm ci'", "echo x | xargs npm install"],
        allows: &["pnpm install", "ls npm"],
    },
    DocumentedRule {
        starts: r#"{tool: Bash, sqlPattern: "{drop,truncate} *", action: block"#,
        refuses: &["psql -c 'drop table x'", "psql -c 'DROP/**/TABLE x'", "echo 'truncate x' | mysql"],
        allows: &["psql -c 'select 1'", "psql -c \"select 'drop table x'\""],
    },
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "npm publish*", action: block"#,
        refuses: &[
            "npm publish",
            "npm publish --access public",
            "npm --silent publish",
            "cd a && npm publish",
        ],
        allows: &["npm pack", "npm run publish-docs"],
    },
    DocumentedRule {
        starts: r#"{tool: Bash, pattern: "//**", access: delete, outside: true, action: ask"#,
        refuses: &["rm -rf /opt/x", "rm /opt//x", "cd /opt && rm x", "mv /srv/x .", "find /opt/x -delete"],
        allows: &["rm -rf build", "rm -rf /tmp/x", "mv a b", "cp /opt/x .", "ls /opt"],
    },
    // An exception: `the_exception_to_a_pack_is_one` is about it.
    DocumentedRule {
        starts: r#"{tool: Bash, commandPattern: "git push --force origin wip", action: allow"#,
        refuses: &[],
        allows: &["git push --force origin wip"],
    },
];

/// The YAML of README.md and docs/, block by block.
fn blocks() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/clients", "docs/explanation", "docs/how-to", "docs/migrate"];
    let docs = folders.iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let files = docs.map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut found = Vec::new();
    for path in files.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n```yaml").skip(1) {
            let (title, block) = block.split_once('\n').unwrap();
            if !title.is_empty() && title != " title=\".conclaude.yaml\"" {
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.push((name, block.split("\n```").next().unwrap().to_owned()));
        }
    }
    assert!(found.len() > 15, "{found:?}");
    found
}

fn case(command: &str, expected: &str) -> Value {
    json!({"name": command, "event": "PreToolUse", "input": {"command": command}, "expect": {expected: true}})
}

#[track_caller]
fn answered(config: &str, cases: &[Value]) {
    let test = Test::stop().config(config);
    let test = test.file(".conclaude.test.yaml", json!({ "cases": cases }).to_string());
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    let failed: Vec<&str> = stdout.lines().filter(|line| !line.starts_with("  ✓")).collect();
    assert_eq!(code, Some(0), "{config}\n{}\n{stderr}", failed.join("\n"));
}

#[test]
fn every_rule_for_commands_refuses_the_spellings_that_a_reader_expects() {
    let mut seen = 0;
    for (document, block) in blocks() {
        let lines = block.lines().map(str::trim_start).filter_map(|line| line.strip_prefix("- {tool: "));
        for line in lines {
            let line = format!("{{tool: {line}");
            let rule = RULES.iter().find(|rule| line.starts_with(rule.starts));
            let rule = rule.unwrap_or_else(|| panic!("{document}: no spellings are known for {line}"));
            let refused = if line.contains("action: ask") { "asks" } else { "denies" };
            let refuses = rule.refuses.iter().map(|command| case(command, refused));
            let cases: Vec<Value> =
                refuses.chain(rule.allows.iter().map(|command| case(command, "allows"))).collect();
            answered(&format!("preToolUse:\n  toolUsageValidation:\n    - {line}\n"), &cases);
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn the_exception_to_a_pack_is_one() {
    let (_, block) = blocks().into_iter().find(|(_, block)| block.contains("origin wip")).unwrap();
    let cases =
        [case("git push --force origin wip", "allows"), case("git push --force origin main", "denies")];
    answered(&block, &cases);
}

#[test]
fn every_config_that_is_shown_is_valid() {
    for (document, block) in blocks() {
        // A collector's config, test cases, and single entries of a list are something else.
        let is_other =
            ["receivers:", "processors:", "cases:", " "].iter().any(|start| block.starts_with(start));
        if is_other {
            continue;
        }
        let test = Test::stop().config(&block);
        let (code, stdout, stderr) = run_in(&test.root(), &["validate"]);
        assert_eq!(code, Some(0), "{document}\n{block}\n{stdout}{stderr}");
        assert!(!stdout.contains("is a regular expression"), "{document}\n{stdout}");
        assert!(!stdout.contains("without arguments"), "{document}\n{stdout}");
    }
}
