//! `conclaude install` and `uninstall`: the settings file belongs to the user.

use std::path::Path;

use crate::common::{Test, run_in as run};
use serde_json::Value;

fn settings(root: &Path) -> String {
    std::fs::read_to_string(root.join(".claude/settings.json")).unwrap()
}

#[test]
fn a_project_without_settings_gets_a_file_and_loses_it_again() {
    let test = Test::stop()
        .config("subagentStop: {commands: {coder: [{run: x, timeout: 100}, {run: y, timeout: 50}]}}");
    let root = test.root();
    assert_eq!(
        run(&root, &["install"]).1,
        "warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local\n\
         registered conclaude in [ROOT]/.claude/settings.json\n"
    );
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    let events: Vec<&String> = json["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(
        events,
        [
            "SessionStart",
            "PreToolUse",
            "PostToolUse",
            "UserPromptSubmit",
            "SubagentStart",
            "SubagentStop",
            "Stop",
            "SessionEnd"
        ]
    );
    let stop = &json["hooks"]["SubagentStop"][0]["hooks"][0];
    assert!(stop["command"].as_str().unwrap().ends_with("conclaude SubagentStop"));
    assert_eq!(stop["timeout"], 100 + 2 + 50 + 2 + 60, "long enough for all commands");
    assert_eq!(json["hooks"]["PreToolUse"][0]["matcher"], "Agent|Write|Edit|MultiEdit|NotebookEdit");
    assert!(
        run(&root, &["install"]).1.ends_with("[ROOT]/.claude/settings.json has all that is needed already\n")
    );
    assert_eq!(run(&root, &["uninstall"]).1, "removed conclaude from [ROOT]/.claude/settings.json\n");
    assert!(!root.join(".claude/settings.json").exists());
    assert_eq!(run(&root, &["uninstall"]).1, "[ROOT]/.claude/settings.json has nothing of conclaude\n");
}

#[test]
fn settings_of_others_survive_byte_for_byte_and_come_back_exactly() {
    for original in [
        "{\n\t\"zebra\": 1.50,\n\t\"hooks\": {},\n\t\"alpha\": [ ]\n}",
        "{\"hooks\": {\"SubagentStop\": [], \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}]}}\n\n",
        "{}",
    ] {
        let test = Test::stop().file(".claude/settings.json", original);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert_ne!(settings(&root), original);
        let kept = std::fs::read_to_string(root.join(".claude/settings.json.before-conclaude")).unwrap();
        assert_eq!(kept, original);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), original);
        assert!(!root.join(".claude/settings.json.before-conclaude").exists());
    }
}

#[test]
fn what_the_user_changed_meanwhile_stays() {
    let test = Test::stop().file(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let root = test.root();
    run(&root, &["install"]);
    let changed = settings(&root).replace("\"opus\"", "\"sonnet\"");
    std::fs::write(root.join(".claude/settings.json"), changed).unwrap();
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn a_new_config_brings_longer_times_with_the_next_install() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let _test = test.config("subagentStop: {commands: {coder: [{run: x}]}}");
    run(&root, &["install"]);
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["SubagentStop"][0]["hooks"][0]["timeout"], 3600, "a command without a limit");
    assert_eq!(json["hooks"]["SubagentStop"].as_array().unwrap().len(), 1);
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let test = Test::stop().file(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let (code, shown, _) = run(&test.root(), &["install", "--dry-run"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("-   \"model\": \"opus\"\n+   \"model\": \"opus\",\n+   \"hooks\": {"), "{shown}");
    assert_eq!(settings(&test.root()), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn local_settings_are_another_file() {
    let test = Test::stop();
    run(&test.root(), &["install", "--local"]);
    assert!(
        test.root().join(".claude/settings.local.json").exists()
            && !test.root().join(".claude/settings.json").exists()
    );
}

#[test]
fn without_gates_no_tool_is_watched() {
    let test = Test::stop().config("des: {enabled: false}");
    run(&test.root(), &["install"]);
    assert!(!settings(&test.root()).contains("PreToolUse"));
}

#[test]
fn broken_or_unusual_settings_are_refused_and_untouched() {
    for (content, why) in [
        ("// mine\n{}", "is not a JSON object"),
        ("{\"hooks\": {}, \"hooks\": {}}", "has the key `hooks` twice"),
        ("{\"hooks\": []}", "`hooks` is not a JSON object"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        ("[]", "is not a JSON object"),
    ] {
        let test = Test::stop().file(".claude/settings.json", content);
        let (code, stdout, stderr) = run(&test.root(), &["install"]);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{content}");
        assert!(
            stderr.starts_with("conclaude: [ROOT]/.claude/settings.json is left as it is: ")
                && stderr.contains(why),
            "{stderr}"
        );
        assert_eq!(settings(&test.root()), content);
    }
    let broken = Test::stop().config("bogus: 1");
    assert!(run(&broken.root(), &["install"]).2.contains("unknown key `bogus`"));
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_would_not_know_its_entries_again() {
    let test = Test::stop();
    let renamed = test.root().join("conclaude-2");
    crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &renamed);
    let output =
        std::process::Command::new(&renamed).arg("install").current_dir(test.root()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("name it conclaude before you install it"));
    assert!(!test.root().join(".claude").exists());
}

#[cfg(unix)]
#[test]
fn a_link_or_a_read_only_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("mine.json", "{}").file(".claude/x", "");
    std::os::unix::fs::symlink("../mine.json", test.root().join(".claude/settings.json")).unwrap();
    assert!(run(&test.root(), &["install"]).2.contains("it is a link"));
    assert_eq!(std::fs::read_to_string(test.root().join("mine.json")).unwrap(), "{}", "untouched");
    let test = Test::stop().file(".claude/settings.json", "{}");
    let path = test.root().join(".claude/settings.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(run(&test.root(), &["install"]).2.contains("it is read-only"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}", "untouched");
}

#[cfg(unix)]
#[test]
fn the_rights_of_the_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file(".claude/settings.json", "{}");
    let path = test.root().join(".claude/settings.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    run(&test.root(), &["install"]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

const AGENT: &str = "---\nname: coder # the one\ndescription: writes code\n---\nYou are a coder.\r\n";

#[test]
fn agents_get_hooks_of_their_own_and_lose_them_again() {
    let test = Test::stop()
        .config("subagentStop: {commands: {coder: [{run: x, timeout: 100}], other: [{run: y}]}}")
        .file(".claude/agents/coder.md", AGENT)
        .file(".claude/agents/team/reviewer.md", "---\nname: \"re: viewer\"\n---\n");
    let root = test.root();
    let agent = || std::fs::read_to_string(root.join(".claude/agents/coder.md")).unwrap();
    let (code, shown, _) = run(&root, &["install", "--agents", "--dry-run"]);
    assert_eq!((code, agent().as_str()), (Some(0), AGENT), "nothing is written: {shown}");
    assert!(shown.contains("+ hooks:\n+   \"PreToolUse\":\n"), "{shown}");
    let (code, out, err) = run(&root, &["install", "--agents"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("[ROOT]/.claude/agents/coder.md calls conclaude now\n"), "{out}");
    assert!(out.contains("team/reviewer.md calls conclaude now\n") && out.contains("note: "), "{out}");
    let text = agent();
    assert!(text.contains("timeout: 162\n"), "time for its own commands alone: {text}");
    assert!(
        text.starts_with("---\nname: coder # the one\n") && text.ends_with("---\nYou are a coder.\r\n"),
        "{text}"
    );
    assert!(!root.join(".claude/settings.json").exists());
    assert_eq!(run(&root, &["install", "--agents"]).1.lines().next(), Some("2 agents already as wanted"));
    assert!(run(&root, &["uninstall"]).1.contains("`conclaude uninstall --agents` ends that"));
    assert_eq!(run(&root, &["uninstall", "--agents"]).0, Some(0));
    assert_eq!(agent(), AGENT);
}

#[test]
fn an_agent_that_cannot_be_changed_is_named_and_the_others_are_done() {
    let test = Test::stop()
        .file(".claude/agents/a.md", "no frontmatter\n")
        .file(".claude/agents/b.md", "---\nname: b\nhooks: {}\n---\n")
        .file(".claude/agents/coder.md", AGENT);
    let root = test.root();
    let (code, out, _) = run(&root, &["install", "--agents"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out, @"
    warning: [ROOT]/.claude/agents/b.md is left as it is: its `hooks` are written on one line: write them in lines of their own first
    [ROOT]/.claude/agents/coder.md calls conclaude now
    ");
    assert_eq!(std::fs::read_to_string(root.join(".claude/agents/a.md")).unwrap(), "no frontmatter\n");
    let (code, _, err) = run(&Test::stop().root(), &["install", "--agents"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("there are no agents in"), "{err}");
}

#[test]
fn a_session_that_starts_says_when_config_and_registration_have_drifted_apart() {
    let test = Test::event("SessionStart").config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install", "--local"]);
    let test = test.run().silent().again();
    let answer = test.config("subagentStop: {commands: {a: [{run: x, timeout: 1000}]}}").run();
    insta::assert_snapshot!(answer.message(), @"
    conclaude: what is registered with Claude Code does not fit:
    ⚠ SubagentStop is given 72 s by the client, and what is configured may take 1062 s
    To mend it: conclaude install --local
    ");
    run(&root, &["install", "--local"]);
    answer.again().run().silent();
}

#[test]
fn an_event_that_only_notifications_need_is_registered_and_goes_when_they_do() {
    let test = Test::stop().config("notifications: {enabled: true, hooks: [PreCompact, FileChanged]}");
    let root = test.root();
    let (_, out, _) = run(&root, &["install"]);
    assert!(out.contains("warning: notifications name FileChanged, which is not registered"), "{out}");
    assert!(settings(&root).contains("conclaude PreCompact"));
    let test = test.config("maxBlocks: 3");
    run(&test.root(), &["install"]);
    assert!(!settings(&root).contains("PreCompact"), "{}", settings(&root));
}

#[test]
fn blank_and_empty_settings_come_back_as_they_were() {
    for blank in ["", "\n", "  \n\n"] {
        let test = Test::stop().file(".claude/settings.json", blank);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert!(settings(&root).contains("conclaude"));
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), blank);
    }
}

#[test]
fn what_could_not_be_taken_out_again_is_not_put_in() {
    for odd in ["{\"a\": \"\\ud800\"}", "{\"b\": 1e999}"] {
        let test = Test::stop().file(".claude/settings.json", odd);
        let (code, _, err) = run(&test.root(), &["install"]);
        assert_eq!(code, Some(1), "{odd}");
        assert!(err.contains("is left as it is"), "{err}");
        assert_eq!(settings(&test.root()), odd);
    }
}

#[test]
fn a_file_that_others_changed_since_is_kept_before_each_change() {
    let test = Test::stop().config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let edited = settings(&root).replacen('{', "{\n  \"model\": \"opus\",", 1);
    std::fs::write(root.join(".claude/settings.json"), &edited).unwrap();
    let test = test.config("subagentStop: {commands: {a: [{run: x, timeout: 99}]}}");
    let (_, out, _) = run(&test.root(), &["install"]);
    assert!(out.contains("kept in [ROOT]/.claude/settings.json.previous-conclaude"), "{out}");
    assert_eq!(
        std::fs::read_to_string(root.join(".claude/settings.json.previous-conclaude")).unwrap(),
        edited
    );
    let (_, out, _) = run(&root, &["uninstall"]);
    assert!(out.contains("the file as it was is kept"), "{out}");
    assert_eq!(
        serde_json::from_str::<Value>(&settings(&root)).unwrap(),
        serde_json::json!({"model": "opus"})
    );
}

#[test]
fn a_line_of_another_tool_that_mentions_us_is_not_ours() {
    let other = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"log; /usr/bin/conclaude Stop\"}]}\n    ]\n  }\n}\n";
    let test = Test::stop().file(".claude/settings.json", other);
    let root = test.root();
    let (_, out, _) = run(&root, &["install"]);
    assert!(out.contains("warning: `log; /usr/bin/conclaude Stop` calls conclaude as well"), "{out}");
    assert!(settings(&root).contains("log; /usr/bin/conclaude Stop"));
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), other);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told_before_anything_is() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("p/.claude/settings.json", "{}").file("p/go.mod", "module x\n");
    let project = test.root().join("p");
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&project.join(".claude"), 0o555);
    for verb in ["install", "init"] {
        let mut command = crate::common::conclaude();
        command.arg(verb).current_dir(&project).env("HOME", project.join("home"));
        as_nobody(&mut command, &project);
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{verb}: {err}");
        assert!(err.contains("settings.json is left as it is: "), "{verb}: {err}");
        assert!(!project.join(".conclaude.yaml").exists() && !project.join(".conclaude").exists(), "{verb}");
    }
    mode(&project.join(".claude"), 0o755);
}

/// Root may write everywhere: as somebody else then, to whom the project belongs.
#[cfg(unix)]
fn as_nobody(command: &mut std::process::Command, project: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let above = project.parent().unwrap();
    if above.metadata().unwrap().uid() != 0 {
        return;
    }
    std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in [
        project.to_owned(),
        project.join(".claude"),
        project.join(".claude/settings.json"),
        project.join("go.mod"),
    ] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    let program = above.join("conclaude");
    if !program.exists() {
        crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &program);
    }
    let mut other = std::process::Command::new(&program);
    other
        .args(command.get_args())
        .current_dir(project)
        .env("HOME", project.join("home"))
        .uid(65534)
        .gid(65534);
    *command = other;
}

#[test]
fn in_a_folder_below_the_project_one_is_told_where_sessions_must_start() {
    let test = Test::stop().config("maxBlocks: 3").file("pkg/x", "");
    let (_, out, _) = run(&test.root().join("pkg"), &["install"]);
    assert!(out.contains("note: Claude Code reads that file in sessions that start in "), "{out}");
    assert!(test.root().join(".claude/settings.json").exists());
    // Where settings are already, sessions start.
    let test = Test::stop().config("maxBlocks: 3").file("pkg/.claude/settings.json", "{}");
    run(&test.root().join("pkg"), &["install"]);
    assert!(
        std::fs::read_to_string(test.root().join("pkg/.claude/settings.json")).unwrap().contains("conclaude")
    );
    assert!(!test.root().join(".claude").exists());
}

#[test]
fn agents_beside_a_registration_for_all_projects_ask_for_trust_too() {
    let test =
        Test::stop().file(".claude/agents/coder.md", AGENT).file(".claude/agents/README.md", "Our agents.\n");
    let root = test.root();
    run(&root, &["install", "--user"]);
    assert_eq!(run(&root, &["install", "--agents"]).0, Some(0), "a README is no agent");
    let text = std::fs::read_to_string(root.join(".claude/agents/coder.md")).unwrap();
    assert_eq!(text.matches("--if-trusted").count(), 2, "the same command line as in the settings: {text}");
}

#[test]
fn an_empty_list_of_the_users_survives_a_registration_that_comes_and_goes() {
    let original = "{\"hooks\": {\"PreToolUse\": []}, \"a\": 1}";
    let test = Test::stop().file(".claude/settings.json", original);
    let root = test.root();
    run(&root, &["install"]);
    let test = test.config("des: {enabled: false}");
    run(&test.root(), &["install"]);
    assert!(!settings(&root).contains("conclaude PreToolUse"));
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), original);
}
