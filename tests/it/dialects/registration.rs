//! `install`, `uninstall` and `init` with `--client`: each client's own file, names, matchers and unit of time.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::clients::CLIENTS;
use crate::common::{Test, conclaude_in, run_in as run};

const ALL: [&str; 5] = ["claude", "codex", "copilot", "qwen", "gemini"];

/// The file of a project.
fn file(client: &str) -> &'static str {
    match client {
        "codex" => ".codex/hooks.json",
        "copilot" => ".github/hooks/conclaude.json",
        "qwen" => ".qwen/settings.json",
        "gemini" => ".gemini/settings.json",
        _ => ".claude/settings.json",
    }
}

fn read(root: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(root.join(name)).ok()
}

fn json_of(root: &Path, client: &str) -> Value {
    serde_json::from_str(&read(root, file(client)).unwrap()).unwrap()
}

/// The registrations of a client: event, matcher and timeout.
fn registered(root: &Path, client: &str) -> String {
    let json = json_of(root, client);
    let groups = json["hooks"].as_object().unwrap().iter();
    let lines = groups.flat_map(|(event, groups)| {
        let line = move |group: &Value| {
            let matcher = group.get("matcher").map(|matcher| format!(" {}", matcher.as_str().unwrap()));
            let hook = &group["hooks"][0];
            let command = hook["command"].as_str().unwrap();
            assert!(command.ends_with(&format!("conclaude --client {client} {event}")), "{command}");
            assert_eq!(hook.as_object().unwrap().len(), 3, "{hook}");
            format!("{event} {}{}\n", hook["timeout"], matcher.unwrap_or_default())
        };
        groups.as_array().unwrap().iter().map(line).collect::<Vec<_>>()
    });
    lines.collect()
}

/// What is registered with a client for a config.
fn installed(client: &str, config: &str) -> String {
    let test = Test::stop().config(config);
    let (code, _, stderr) = run(&test.root(), &["install", "--client", client]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    registered(&test.root(), client)
}

#[test]
fn each_client_gets_the_events_that_the_config_needs_under_its_own_names() {
    let guards = "des: {enabled: false}\npreToolUse: {uneditableFiles: ['*.lock']}\n";
    insta::assert_snapshot!(installed("codex", guards), @"
    SessionStart 3600
    SessionEnd 3
    PreToolUse 3600 ^(apply_patch|Bash|mcp__.*)$
    ");
    insta::assert_snapshot!(installed("copilot", guards), @"
    SessionStart 3600
    SessionEnd 60
    PreToolUse 3600
    ");
    insta::assert_snapshot!(installed("qwen", guards), @"
    SessionStart 3600000
    SessionEnd 60000
    PreToolUse 3600000 ^(write_file|edit|notebook_edit|run_shell_command|monitor|mcp__.*)$
    ");
    insta::assert_snapshot!(installed("gemini", guards), @"
    SessionStart 3600000
    SessionEnd 60000
    BeforeTool 3600000 ^(write_file|replace|run_shell_command|mcp_.*)$
    ");
}

#[test]
fn gates_and_commands_need_the_tools_that_start_and_end_agents() {
    let config = "subagentStop: {commands: {coder: [{run: make}]}}\npostToolUse: {commands: {'{Write,Edit}': [{run: fmt}]}}\n\
                  interrupt: {commands: [{run: x}]}\npreCompress: {commands: [{run: x}]}\ntodoCreated: {commands: [{run: x}]}\n";
    insta::assert_snapshot!(installed("codex", config), @"
    SessionStart 3600
    SessionEnd 3
    UserPromptSubmit 3600
    PreToolUse 3600 ^(collaborationspawn_agent|apply_patch|Bash)$
    PostToolUse 3600 ^(collaborationspawn_agent|apply_patch)$
    SubagentStart 3600
    SubagentStop 3600
    Stop 3600
    Interrupt 3
    ");
    insta::assert_snapshot!(installed("copilot", config), @"
    SessionStart 3600
    SessionEnd 60
    UserPromptSubmit 3600
    PreToolUse 3600 ^(Agent|task|Write|create|Edit|edit|apply_patch|Bash|bash)$
    PostToolUse 3600 ^(Agent|task|Write|create|Edit|edit|apply_patch)$
    SubagentStart 3600
    SubagentStop 3600
    Stop 3600
    ");
    insta::assert_snapshot!(installed("qwen", config), @"
    SessionStart 3600000
    SessionEnd 60000
    UserPromptSubmit 3600000
    PreToolUse 3600000 ^(agent|write_file|edit|notebook_edit|run_shell_command|monitor)$
    PostToolUse 3600000 ^(agent|write_file|edit)$
    SubagentStart 3600000
    SubagentStop 3600000
    Stop 3600000
    TodoCreated 3600000
    ");
    insta::assert_snapshot!(installed("gemini", config), @"
    SessionStart 3600000
    SessionEnd 60000
    BeforeAgent 3600000
    AfterAgent 3600000
    BeforeTool 3600000 ^(invoke_agent|write_file|replace|run_shell_command|complete_task)$
    AfterTool 3600000 ^(invoke_agent|write_file|replace)$
    PreCompress 3600000
    ");
}

#[test]
fn the_command_line_starts_nothing_where_the_program_is_missing() {
    let test = Test::stop();
    run(&test.root(), &["install", "--client", "copilot"]);
    let json = json_of(&test.root(), "copilot");
    assert_eq!(json["version"], 1);
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let command = |event: &str| {
        json["hooks"][event][0]["hooks"][0]["command"]
            .as_str()
            .unwrap()
            .replace(own.to_str().unwrap(), "conclaude")
    };
    assert_eq!(
        command("Stop"),
        "command -v conclaude >/dev/null || exit 0; exec conclaude --client copilot Stop"
    );
    let missing = command("SessionStart").replace("command -v conclaude", "command -v no-such-program");
    let output = std::process::Command::new("sh").args(["-c", &missing]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["systemMessage"].as_str().unwrap().contains("npm install -g conclaude"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn all_files_come_back_byte_by_byte_and_a_second_time_changes_nothing() {
    let texts = [
        None,
        Some("{}"),
        Some(
            "{\n\t\"model\": \"x\", // mine\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"make\"}]}]}\n}\n",
        ),
        Some("\u{feff}{\r\n  \"version\": 1,\r\n  \"hooks\": {}\r\n}\r\n"),
    ];
    for before in texts {
        let mut test = Test::stop().config("preToolUse: {uneditableFiles: ['*.lock']}");
        if let Some(before) = before {
            test = ALL.iter().fold(test, |test, client| test.file(file(client), before));
        }
        let root = test.root();
        let all = || ALL.map(|client| read(&root, file(client)));
        let (code, _, stderr) = run(&root, &["install", "--client", "all"]);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{before:?}");
        let once = all();
        assert!(once.iter().all(|text| text.as_ref().unwrap().contains("conclaude")));
        assert_eq!(
            run(&root, &["install", "--client=claude,codex", "--client", "copilot,qwen,gemini"]).0,
            Some(0)
        );
        assert_eq!(all(), once);
        assert_eq!(run(&root, &["uninstall", "--client", "all"]).0, Some(0));
        assert_eq!(all(), ALL.map(|_| before.map(str::to_owned)));
        // The folders that were made for them are gone as well.
        let folder = |client: &str| root.join(Path::new(file(client)).iter().next().unwrap());
        assert_eq!(ALL.map(|client| folder(client).exists()), ALL.map(|_| before.is_some()));
    }
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let test = Test::stop();
    let root = test.root();
    run(&root, &["install", "--client", "all"]);
    for client in ["qwen", "copilot"] {
        let changed = read(&root, file(client)).unwrap().replacen('{', "{\n  \"$version\": 3,", 1);
        std::fs::write(root.join(file(client)), changed).unwrap();
    }
    // An entry is gone: nothing of ours remains, and nothing else was in the file.
    let mut json = json_of(&root, "gemini");
    json["hooks"].as_object_mut().unwrap().remove("SessionEnd");
    std::fs::write(root.join(file("gemini")), json.to_string()).unwrap();
    run(&root, &["uninstall", "--client", "all"]);
    assert_eq!(json_of(&root, "qwen"), json!({"$version": 3}));
    assert_eq!(json_of(&root, "copilot"), json!({"$version": 3, "version": 1}));
    assert_eq!(json_of(&root, "gemini"), json!({}));
}

#[test]
fn an_unknown_client_is_refused_with_all_names_and_nothing_is_written() {
    for subcommand in ["install", "uninstall", "init"] {
        for (name, near) in [
            ("codx", "; did you mean `codex`?"),
            ("claude,gemni", "; did you mean `gemini`?"),
            ("cursor", ""),
        ] {
            let test = Test::stop();
            let (code, out, err) = run(&test.root(), &[subcommand, "--client", name]);
            let typed = name.rsplit(',').next().unwrap();
            assert_eq!((code, out.as_str()), (Some(1), ""), "{subcommand} {name}");
            assert_eq!(
                err,
                format!(
                    "conclaude: --client: `{typed}` is not a client that conclaude knows (claude, codex, copilot, qwen, gemini){near}\n"
                )
            );
            assert_eq!(std::fs::read_dir(test.root()).unwrap().count(), 0, "{subcommand} {name}");
        }
    }
}

#[test]
fn one_file_that_cannot_be_changed_keeps_all_others_as_they_are() {
    for client in CLIENTS {
        for content in ["{\"a\": }", "[]", "{\"hooks\": []}", "{\"hooks\": {}, \"hooks\": {}}"] {
            let test = Test::stop().file(file(client), content);
            let root = test.root();
            let (code, _, err) = run(&root, &["install", "--client", "all"]);
            assert_eq!(code, Some(1));
            assert!(
                err.starts_with(&format!("conclaude: [ROOT]/{} is left unchanged: ", file(client))),
                "{err}"
            );
            for other in ALL.iter().filter(|other| **other != client) {
                assert_eq!(read(&root, file(other)), None, "{client} {other}");
            }
            assert_eq!(read(&root, file(client)).as_deref(), Some(content));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_or_a_read_only_file_of_a_client_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    for client in CLIENTS {
        let test = Test::stop().file("elsewhere/mine.json", "{}");
        let path = test.root().join(file(client));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(test.root().join("elsewhere/mine.json"), &path).unwrap();
        let (code, _, err) = run(&test.root(), &["install", "--client", client]);
        assert_eq!(code, Some(1));
        assert!(err.contains(file(client)) && err.contains("it is a link"), "{err}");
        assert_eq!(read(&test.root(), "elsewhere/mine.json").as_deref(), Some("{}"));
        let test = Test::stop().file(file(client), "{}");
        let path = test.root().join(file(client));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        let (code, _, err) = run(&test.root(), &["install", "--client", client]);
        assert!(code == Some(1) && err.contains("it is read-only"), "{err}");
    }
}

#[test]
fn the_users_own_files_are_where_the_client_looks_and_ask_for_trust() {
    for (client, path) in [
        ("codex", ".home/.codex/hooks.json"),
        ("copilot", ".home/.copilot/hooks/conclaude.json"),
        ("qwen", ".home/.qwen/settings.json"),
        ("gemini", ".home/.gemini/settings.json"),
    ] {
        let test = Test::stop();
        let root = test.root();
        let (code, _, err) = run(&root, &["install", "--user", "--client", client]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let text = read(&root, path).unwrap_or_else(|| panic!("{client}"));
        assert!(text.contains(&format!("--client {client} SessionEnd --if-trusted\"")), "{text}");
        assert_eq!(read(&root, file(client)), None);
        run(&root, &["uninstall", "--user", "--client", client]);
        assert_eq!(read(&root, path), None);
    }
    let test = Test::stop();
    for (client, variable, path) in [
        ("codex", "CODEX_HOME", "other/hooks.json"),
        ("copilot", "COPILOT_HOME", "other/hooks/conclaude.json"),
    ] {
        let mut command = conclaude_in(&test.root());
        command.args(["install", "--user", "--client", client]).env(variable, test.root().join("other"));
        assert!(command.output().unwrap().status.success());
        assert!(read(&test.root(), path).is_some(), "{client}");
    }
}

#[test]
fn local_settings_are_those_of_clients_that_have_some() {
    for client in ["codex", "qwen", "gemini"] {
        let test = Test::stop();
        let (code, _, err) =
            run(&test.root(), &["install", "--local", "--client", &format!("claude,{client}")]);
        assert!(code == Some(1) && err.starts_with("conclaude: --local: "), "{err}");
        assert_eq!(std::fs::read_dir(test.root()).unwrap().count(), 0, "{client}");
    }
    let test = Test::stop();
    run(&test.root(), &["install", "--local", "--client", "copilot"]);
    let text = read(&test.root(), ".github/copilot/settings.local.json").unwrap();
    assert!(text.contains("--client copilot Stop") && !text.contains("version"), "{text}");
}

#[test]
fn what_is_still_to_do_comes_last() {
    let test = Test::stop().config("maxBlocks: 3");
    let (_, out, _) = run(&test.root(), &["install", "--client", "all"]);
    insta::assert_snapshot!(out, @"
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --user
    registered conclaude in [ROOT]/.codex/hooks.json
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.github/hooks/conclaude.json
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --user
    registered conclaude in [ROOT]/.qwen/settings.json
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --user
    registered conclaude in [ROOT]/.gemini/settings.json
    next: Codex skips hooks that were not reviewed, without a message: start `codex` here and trust them (`/hooks`); again after each change
    next: Copilot runs hooks of a project in trusted folders only: start `copilot` here and trust the folder
    next: Gemini CLI runs hooks of a project in trusted folders only: start `gemini` here and trust the folder
    ");
    // Trust is the user's to give.
    assert!(!test.root().join(".home/.codex").exists());
    let (_, out, _) = run(&test.root(), &["uninstall", "--client", "codex"]);
    insta::assert_snapshot!(out, @"
    removed conclaude from [ROOT]/.codex/hooks.json
    stays: the registration in [ROOT]/.claude/settings.json; `conclaude uninstall --project` removes it
    stays: the registration in [ROOT]/.github/hooks/conclaude.json; `conclaude uninstall --client copilot` removes it
    stays: the registration in [ROOT]/.qwen/settings.json; `conclaude uninstall --client qwen` removes it
    stays: the registration in [ROOT]/.gemini/settings.json; `conclaude uninstall --client gemini` removes it
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
}

#[test]
fn clients_of_the_config_are_installed_without_naming_them() {
    let test = Test::stop().config("clients: [codex, gemini]");
    let root = test.root();
    assert_eq!(run(&root, &["install"]).0, Some(0));
    let there = || ALL.map(|client| read(&root, file(client)).is_some());
    assert_eq!(there(), [false, true, false, false, true]);
    assert_eq!(run(&root, &["uninstall"]).0, Some(0));
    assert_eq!(there(), [false; 5]);
}

#[test]
fn init_names_the_clients_in_the_config() {
    let test = Test::stop();
    let (code, out, err) = run(&test.root(), &["init", "--client", "claude,codex"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let config = read(&test.root(), ".conclaude.yaml").unwrap();
    assert!(config.ends_with("\nclients: [claude, codex]\n"), "{config}");
    assert!(read(&test.root(), file("claude")).is_some() && read(&test.root(), file("codex")).is_some());
    assert!(out.contains("next: Codex skips hooks"), "{out}");
    // As ever without it.
    let test = Test::stop();
    run(&test.root(), &["init"]);
    assert!(!read(&test.root(), ".conclaude.yaml").unwrap().contains("clients"));
}

#[test]
fn clients_that_nobody_knows_are_an_error_of_the_config() {
    let test = Test::stop().config("clients: [claude, codx]");
    let (code, _, err) = run(&test.root(), &["install"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(err, @r#"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: invalid value for `clients`: the text "codx"
     --> [ROOT]/.conclaude.yaml:1:19
      |
    1 | clients: [claude, codx]
      |                   ^^^^ expected one of `claude`, `codex`, `copilot`, `qwen`, `gemini`
      |
      = help: did you mean `codex`?
    "#);
    assert!(!test.root().join(".claude").exists() && !test.root().join(".codex").exists());
}

#[test]
fn what_stays_is_removed_by_the_command_that_is_named() {
    let test = Test::stop().config("clients: [codex]\nstop: {commands: [{run: make}]}\n");
    let root = test.root();
    run(&root, &["install", "--client", "claude"]);
    let (_, shown, _) = run(&root, &["uninstall"]);
    assert!(shown.contains("`conclaude uninstall --client claude` removes it"), "{shown}");
    run(&root, &["uninstall", "--client", "claude"]);
    assert_eq!(read(&root, file("claude")), None);
}
