//! The config is made of several files: the user's, the project's, the local one, and what each extends.

mod local_config;
mod stricter_layers;

use insta::assert_snapshot;

use crate::common::{Outcome, Test, run_in, shown_in};

const USER: &str = ".home/.config/conclaude/config.yaml";
const LOCAL: &str = ".conclaude.local.yaml";

fn runs(script: &str) -> String {
    format!("subagentStop:\n  commands:\n    coder:\n      - run: {script}\n")
}

fn ran(answer: &Outcome) -> String {
    answer.read("ran").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_commands_of_all_layers_run_the_users_first() {
    let test = Test::stop()
        .file(USER, runs("echo user >> ran"))
        .file("base.yaml", runs("echo base >> ran"))
        .config(&format!("extends: [base.yaml]\n{}", runs("echo project >> ran")))
        .file(LOCAL, runs("echo local >> ran"));
    assert_eq!(ran(&test.run().silent()), "user base project local");
}

#[test]
fn a_project_without_a_config_has_that_of_its_user() {
    let answer = Test::stop().file(USER, runs("echo user >> ran")).run().silent();
    assert_eq!(ran(&answer), "user");
    let folder = answer.root().join(".home/xdg");
    std::fs::create_dir_all(folder.join("conclaude")).unwrap();
    std::fs::write(folder.join("conclaude/config.yaml"), runs("echo xdg >> ran")).unwrap();
    let answer = answer.again().env("XDG_CONFIG_HOME", folder.to_str().unwrap()).run().silent();
    assert_eq!(ran(&answer), "user xdg");
}

#[test]
fn config_show_prints_the_result_and_where_each_value_came_from() {
    let test = Test::stop()
        .file(USER, "maxBlocks: 5\nnotifications: {enabled: true, hooks: [Stop]}\n")
        .file("shared/base.yaml", "des:\n  requiredSections: [Goal]\n  scope: warn\n")
        .config(&format!(
            "extends:\n  - shared/base.yaml\nmaxBlocks: 2\ndes: {{requiredSections: [Risks]}}\n{}",
            runs("|\n          set -e\n          npm test\n        message: \"no: not yet\"")
        ))
        .file(LOCAL, "notifications: {enabled: false}\n");
    assert_snapshot!(shown_in(&test.root(), &["config", "show", "--origin"]), @r#"
    exit 0
    ----- stdout
    # user     [ROOT]/.home/.config/conclaude/config.yaml
    # project  [ROOT]/shared/base.yaml
    # project  [ROOT]/.conclaude.yaml
    # local    [ROOT]/.conclaude.local.yaml
    maxBlocks: 2  # .conclaude.yaml:3
    notifications:
      enabled: false  # .conclaude.local.yaml:1
      hooks:
        - Stop  # .home/.config/conclaude/config.yaml:2
    des:
      requiredSections:
        - Goal  # shared/base.yaml:2
        - Risks  # .conclaude.yaml:4
      scope: warn  # shared/base.yaml:3
    subagentStop:
      commands:
        coder:
          - run: |  # .conclaude.yaml:9
              set -e
              npm test
            message: "no: not yet"  # .conclaude.yaml:11
    "#);
    assert_snapshot!(shown_in(&test.root(), &["config", "show"]), @r#"
    exit 0
    ----- stdout
    # user     [ROOT]/.home/.config/conclaude/config.yaml
    # project  [ROOT]/shared/base.yaml
    # project  [ROOT]/.conclaude.yaml
    # local    [ROOT]/.conclaude.local.yaml
    maxBlocks: 2
    notifications:
      enabled: false
      hooks:
        - Stop
    des:
      requiredSections:
        - Goal
        - Risks
      scope: warn
    subagentStop:
      commands:
        coder:
          - run: |
              set -e
              npm test
            message: "no: not yet"
    "#);
    let (_, json, _) = run_in(&test.root(), &["config", "show", "--json", "--origin"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["config"]["des"]["requiredSections"], serde_json::json!(["Goal", "Risks"]));
    assert_snapshot!(json["origins"]["/subagentStop/commands/coder/0/message"], @r#"{"layer":"project","path":"[ROOT]/.conclaude.yaml","line":11}"#);
    assert_snapshot!(json["files"][0], @r#"{"layer":"user","path":"[ROOT]/.home/.config/conclaude/config.yaml"}"#);
}

#[test]
fn config_show_prints_one_value() {
    let test = Test::stop()
        .file(USER, "maxBlocks: 5\npreToolUse: {uneditableFiles: ['*.pem']}\n")
        .config("preToolUse: {uneditableFiles: ['*.lock'], unreadableFiles: [.env]}\nsubagentStop: {commands: {a.b: [{run: x}]}}\n");
    let shown = |key: &str| {
        let (code, out, err) = run_in(&test.root(), &["config", "show", key]);
        let values: Vec<&str> = out.lines().filter(|line| !line.starts_with("# ")).collect();
        format!("exit {}\n{}\n{err}", code.unwrap(), values.join("\n")).trim_end().to_owned()
    };
    let keys = ["maxBlocks", "preToolUse.uneditableFiles", "subagentStop.commands.a.b"];
    assert_snapshot!(keys.map(shown).join("\n"), @r#"
    exit 0
    maxBlocks: 5
    exit 0
    preToolUse:
      uneditableFiles:
        - "*.pem"
        - "*.lock"
    exit 0
    subagentStop:
      commands:
        a.b:
          - run: x
    "#);
    let wrong = ["maxBlock", "preToolUse.uneditableFile", "maxBlocks.x", "bogus"];
    assert_snapshot!(wrong.map(shown).join("\n"), @"
    exit 1

    conclaude: there is no key `maxBlock`; did you mean `maxBlocks`?
    exit 1

    conclaude: there is no key `uneditableFile`; did you mean `uneditableFiles`?
    exit 1

    conclaude: there is no `x`: the part before it is one value, without keys
    exit 1

    conclaude: there is no key `bogus`: `conclaude schema` describes all keys
    ");
    let (_, json, _) = run_in(&test.root(), &["config", "show", "maxBlocks", "--json", "--origin"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["config"], serde_json::json!({"maxBlocks": 5}));
    assert_eq!(json["origins"].as_object().unwrap().len(), 1);
}

#[test]
fn config_show_of_a_key_that_is_not_set_says_its_default() {
    let test = Test::stop().config("stop: {commands: []}\n");
    let shown = |key: &str| {
        let (code, out, err) = run_in(&test.root(), &["config", "show", key]);
        format!("exit {} {}{err}", code.unwrap(), out.lines().last().unwrap_or_default())
            .trim_end()
            .to_owned()
    };
    let keys = ["maxBlocks", "MaxBlocks", "preToolUse.preventRootAdditions", "audit", "extends"];
    assert_snapshot!(keys.map(shown).join("\n"), @"
    exit 0 # `maxBlocks` is not set. Default: 3.
    exit 1 conclaude: there is no key `MaxBlocks`; did you mean `maxBlocks`?
    exit 0 # `preToolUse.preventRootAdditions` is not set. Default: `false`.
    exit 0 # `audit` is not set: the defaults of its keys apply
    exit 0 # `extends` is not set
    ");
}

#[test]
fn config_show_extends_lists_what_the_files_extend() {
    let test = Test::stop()
        .file(USER, "extends: ['pack:secrets']\n")
        .file("shared/base.yaml", "maxBlocks: 4\n")
        .config("extends:\n  - shared/base.yaml\n  - pack:git-safety\n");
    let (code, out, _) = run_in(&test.root(), &["config", "show", "extends", "--origin"]);
    let values: Vec<&str> = out.lines().filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(code, Some(0));
    assert_snapshot!(values.join("\n"), @r#"
    extends:
      - "pack:secrets"  # .home/.config/conclaude/config.yaml:1
      - shared/base.yaml  # .conclaude.yaml:2
      - "pack:git-safety"  # .conclaude.yaml:3
    "#);
}

#[test]
fn without_a_file_config_show_says_so() {
    assert_snapshot!(shown_in(&Test::stop().root(), &["config", "show"]), @"
    exit 0
    ----- stdout
    # no values: the defaults apply
    ");
}

#[test]
fn validate_names_each_file_and_each_error_names_its_own() {
    let test = Test::stop().file(USER, "maxBlocks: 5\n").config(&runs("x")).file(LOCAL, "maxBlocks: 3\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
    valid: [ROOT]/.conclaude.local.yaml
      subagentStop: 1 pattern, 1 command
    ");
    let test = test.file(USER, "maxBlocks: 50\n").file(LOCAL, "maxBlok: 3\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: invalid value for `maxBlocks`: the number 50
     --> [ROOT]/.home/.config/conclaude/config.yaml:1:12
      |
    1 | maxBlocks: 50
      |            ^^ expected a whole number from 1 to 7

    error: invalid config [ROOT]/.home/.config/conclaude/config.yaml: 1 problem
    error: unknown key `maxBlok` in the config
     --> [ROOT]/.conclaude.local.yaml:1:1
      |
    1 | maxBlok: 3
      | ^^^^^^^ not a key of this section
      |
      = help: did you mean `maxBlocks`?

    error: invalid config [ROOT]/.conclaude.local.yaml: 1 problem
    ");
}

#[test]
fn a_broken_file_does_not_switch_off_the_others() {
    let test = Test::stop().file(USER, runs("echo user >> ran")).config("maxBlok: 3\n");
    let answer = test.run();
    assert_snapshot!(answer.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `maxBlok` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | maxBlok: 3
      | ^^^^^^^ not a key of this section
      |
      = help: did you mean `maxBlocks`?
    ");
    assert_eq!(ran(&answer), "user");
    let answer =
        answer.again().file(USER, "maxBlok: 3\n").config(&runs("echo project >> ran")).run().status(1);
    assert_eq!(ran(&answer), "user project");
}

#[test]
fn what_cannot_be_extended_is_an_error_at_its_line() {
    let test = Test::stop()
        .config(
            "maxBlocks: 3\nextends:\n  - missing.yaml\n  - circle.yaml\n  - pack:nothing\n  - good.yaml\n",
        )
        .file("circle.yaml", "extends: [.conclaude.yaml]\n")
        .file("good.yaml", "maxBlocks: 4\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: `.conclaude.yaml` extends this file
     --> [ROOT]/circle.yaml:1:11
      |
    1 | extends: [.conclaude.yaml]
      |           ^^^^^^^^^^^^^^^ a circle
      |
      = help: a file cannot extend itself, not even through other files

    error: invalid config [ROOT]/circle.yaml: 1 problem
    error: `missing.yaml` cannot be used
     --> [ROOT]/.conclaude.yaml:3:5
      |
    3 |   - missing.yaml
      |     ^^^^^^^^^^^^ cannot read the config [ROOT]/missing.yaml: No such file or directory (os error 2)
      |
      = help: paths are relative to [ROOT]

    error: there is no pack `nothing`
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |   - pack:nothing
      |     ^^^^^^^^^^^^ unknown pack
      |
      = help: the packs are secrets, git-safety, destructive-commands, lockfiles, cloud, containers, databases

    error: invalid config [ROOT]/.conclaude.yaml: 2 problems
    ");
    let test = (0..9).fold(test.config("extends: [deep0.yaml]\n"), |test, at| {
        test.file(&format!("deep{at}.yaml"), format!("extends: [deep{}.yaml]\n", at + 1))
    });
    assert_snapshot!(shown_in(&test.file("deep9.yaml", "").root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: `deep8.yaml` is one file too many
     --> [ROOT]/deep7.yaml:1:11
      |
    1 | extends: [deep8.yaml]
      |           ^^^^^^^^^^ not read
      |
      = help: at most 32 files contribute, 8 deep

    error: invalid config [ROOT]/deep7.yaml: 1 problem
    ");
}

#[test]
fn extended_twice_counts_once() {
    let test = Test::stop()
        .config("extends: [a.yaml, b.yaml]\n")
        .file("a.yaml", "extends: [base.yaml]\n")
        .file("b.yaml", "extends: [base.yaml]\n")
        .file("base.yaml", runs("echo base >> ran"));
    assert_eq!(ran(&test.run().silent()), "base");
}

#[test]
fn what_a_project_extends_outside_of_it_needs_trust() {
    let test = Test::stop()
        .file("outside.yaml", runs("echo outside >> ran"))
        .file("project/.git/HEAD", "ref: refs/heads/main\n")
        .file("project/.conclaude.yaml", "extends: [../outside.yaml]\n");
    let project = test.root().join("project");
    let test = test.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap());
    let answer = test.run().status(1);
    assert_snapshot!(answer.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/project/.conclaude.yaml: 1 problem

    error: `../outside.yaml` cannot be used
     --> [ROOT]/project/.conclaude.yaml:1:11
      |
    1 | extends: [../outside.yaml]
      |           ^^^^^^^^^^^^^^^ the config [ROOT]/project/../outside.yaml is not used: it is outside the project. Look at the file, then run `conclaude trust` in the project
      |
      = help: paths are relative to [ROOT]/project
    ");
    let trusted = crate::common::conclaude_in(&project)
        .args(["trust", "--yes"])
        .env("XDG_STATE_HOME", answer.root().join(".state-home"))
        .output()
        .unwrap();
    assert_snapshot!(answer.steady(&String::from_utf8(trusted.stdout).unwrap()), @r#"
    [ROOT]/outside.yaml runs:
      subagentStop of "coder":
        echo outside >> ran
    [ROOT]/project/.conclaude.yaml runs:
      nothing: no commands, no judge, no telemetry
    trusted, until one of the files changes; scripts that it calls are not watched
    "#);
    assert!(answer.again().run().silent().has("project/ran"));
}

#[test]
fn trust_covers_every_file_but_the_users_own() {
    let test = Test::stop()
        .file(USER, runs("echo user >> ran"))
        .file("base.yaml", runs("echo base >> ran"))
        .config(&format!("extends: [base.yaml]\n{}", runs("echo project >> ran")))
        .file(LOCAL, runs("echo local >> ran"))
        .flag("--if-trusted");
    let answer = test.run();
    assert_snapshot!(answer.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo base >> ran` did not run, `echo project >> ran` did not run, `echo local >> ran` did not run: [ROOT]/base.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    assert_eq!(ran(&answer), "user");
    assert_snapshot!(shown_in(&answer.root(), &["trust", "--yes"]), @r#"
    exit 0
    ----- stdout
    [ROOT]/base.yaml runs:
      subagentStop of "coder":
        echo base >> ran
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        echo project >> ran
    [ROOT]/.conclaude.local.yaml runs:
      subagentStop of "coder":
        echo local >> ran
    trusted, until one of the files changes; scripts that it calls are not watched
    "#);
    let answer = answer.again().payload("agent_id", "a2").run().silent();
    assert_eq!(ran(&answer), "user user base project local");
    let answer = answer.again().file("base.yaml", runs("echo other >> ran")).payload("agent_id", "a3").run();
    assert_snapshot!(answer.message(), @"
    conclaude: SubagentStop of coder (a3)
    ⚠ `echo other >> ran` did not run: [ROOT]/base.yaml has changed since you trusted it. Look at the file, then run `conclaude trust` in the project
    ");
    assert_eq!(ran(&answer), "user user base project local user project local");
    assert_snapshot!(answer.again().then("SessionStart").run().message(), @"conclaude: [ROOT]/base.yaml has changed since you trusted it. These parts are off: 1 command. Look at the file, then run `conclaude trust` in the project");
}

#[test]
fn doctor_names_all_files() {
    let test = Test::stop().file(USER, "maxBlocks: 5\n").config(&runs("x"));
    let shown = shown_in(&test.root(), &["doctor"]);
    let line = shown.lines().find(|line| line.contains(" config ")).unwrap_or_else(|| panic!("{shown}"));
    assert_snapshot!(line.trim(), @"✓ config       .home/.config/conclaude/config.yaml, .conclaude.yaml are valid: subagentStop: 1 pattern, 1 command");
}
