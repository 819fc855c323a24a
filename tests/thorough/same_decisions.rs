//! The hook, `explain` and `test` go the same road: what one decides, the others say.

use conclaude_core::event::{ALL, Blocking, EventKind};
use serde_json::{Map, Value, json};

use crate::common::workflow::MARKERS;
use crate::common::{Test, capture, run_in};
use test_support::cases;

/// An event, what the config has for it, and how its command ends.
struct Scene {
    event: EventKind,
    config: Value,
    /// Fields beside those of the real payload.
    fields: Value,
    /// The one command of the section.
    command: Option<PlayedCommand>,
}

#[derive(Clone, Copy)]
struct PlayedCommand {
    run: &'static str,
    code: i32,
    stdout: &'static str,
}

const SUCCEEDS: PlayedCommand = PlayedCommand { run: "exit 0", code: 0, stdout: "" };
const FAILS: PlayedCommand = PlayedCommand { run: "exit 1", code: 1, stdout: "" };
/// What `explain` takes for the output of a command that makes a worktree.
const MAKES: PlayedCommand = PlayedCommand {
    run: "echo '(the path of the worktree)'",
    code: 0,
    stdout: "(the path of the worktree)\n",
};

/// Rules of every kind.
fn rules() -> Value {
    json!({
        "preToolUse": {
            "uneditableFiles": ["*.lock", "!keep.lock"],
            "unreadableFiles": [".env*"],
            "toolUsageValidation": [
                {"tool": "Bash", "commandPattern": "git push --force*", "action": "block", "message": "push normally"},
                {"tool": "Bash", "commandPattern": "terraform *", "action": "ask"},
            ],
        },
        "permissionRequest": {"allow": ["Bash(git status*)"], "deny": ["Bash(rm *)", "Write(src/gen/**)"]},
        "userPromptSubmit": {"contextRules": [
            {"pattern": "deploy", "prompt": "@deploy.md"},
            {"pattern": "broken", "prompt": "see @missing.md"},
        ]},
    })
}

fn scene(event: EventKind, fields: Value) -> Scene {
    Scene { event, config: rules(), fields, command: None }
}

fn with_command(event: EventKind, command: PlayedCommand, on_failure: &str) -> Scene {
    let mut config = rules();
    let section = event.row().section;
    let entry = json!({"run": command.run, "onFailure": on_failure});
    match config.get_mut(section) {
        Some(rules) => rules["commands"] = json!({"*": [entry]}),
        None => config[section] = json!({"commands": {"*": [entry]}}),
    }
    Scene { event, config, fields: json!({}), command: Some(command) }
}

fn shell(event: EventKind, command: &str) -> Scene {
    scene(event, json!({"tool_name": "Bash", "tool_input": {"command": command}}))
}

/// What the hook answered, in the words of `test`.
fn word(event: EventKind, stdout: &Value, decision: &str) -> &'static str {
    if event == EventKind::PermissionRequest {
        return match stdout["hookSpecificOutput"]["decision"]["behavior"].as_str() {
            Some("allow") => "allows",
            Some("deny") => "denies",
            _ => "asks",
        };
    }
    match decision {
        "denied" => "denies",
        "asked" => "asks",
        "blocked" => "blocks",
        _ => "allows",
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.trim_end().into())
}

/// Plays the scene as a hook, as `explain` and as a case, and compares. Returns what was decided.
fn compared(scene: &Scene) -> &'static str {
    let Scene { event, config, fields, command } = scene;
    let about = format!("{event} {fields} {:?}", command.map(|command| command.run));
    let text = String::from_utf8(capture(&format!("{event}.json"))).unwrap();
    let mut payload: Map<String, Value> = serde_json::from_str(&text.replace("DES-VALIDATION", "x")).unwrap();
    let mut config = config.clone();
    config["notifications"] = json!({"enabled": false});
    let test = Test::event(event.name()).config(&config.to_string()).file("deploy.md", "tag it\n");
    let root = test.root();
    payload.insert("cwd".into(), root.display().to_string().into());
    payload.insert("transcript_path".into(), root.join("main.jsonl").display().to_string().into());
    payload.extend(fields.as_object().unwrap().clone());
    let test = test.file("payload.json", Value::Object(payload.clone()).to_string());

    let (code, out, err) = run_in(&root, &["explain", "--payload", "payload.json", "--json"]);
    assert_eq!(code, Some(0), "{about}: {err}");
    let answers = parsed(&out)["answers"].as_array().unwrap().clone();
    let is_meant = |answer: &&Value| {
        let when = answer["when"].as_str().unwrap();
        match command {
            Some(command) if command.code != 0 => when.is_empty() || when.ends_with(" fails"),
            _ => when.is_empty() || when == "if it succeeds",
        }
    };
    let explained = answers.iter().find(is_meant).unwrap_or_else(|| panic!("{about}: {answers:?}"));
    let explained_stdout = match &explained["stdout"] {
        Value::String(text) => parsed(text),
        json => json.clone(),
    };

    let hook = test.stdin(Value::Object(payload.clone()).to_string()).run();
    let stdout = parsed(&hook.steady(&hook.stdout));
    assert_eq!(explained["exit"], hook.code.unwrap(), "{about}: {}", hook.stderr);
    assert_eq!(explained_stdout, stdout, "{about}");
    if hook.code != Some(0) {
        let stderr = hook.steady(&hook.stderr);
        assert_eq!(explained["stderr"].as_str().unwrap().trim_end(), stderr.trim_end(), "{about}");
    }
    let decision = hook
        .audit()
        .last()
        .map_or("allowed".to_owned(), |record| record["decision"].as_str().unwrap().to_owned());
    let word = word(*event, &stdout, &decision);

    // A case fills in what it does not say: who is in the payload stays.
    payload.remove("cwd");
    let results =
        command.map(|command| json!({command.run: {"exit": command.code, "stdout": command.stdout}}));
    let mut case = json!({"name": "x", "event": event.name(), "payload": payload, "expect": {word: true}});
    if let Some(results) = results {
        case["results"] = results;
    }
    let test = hook.again().file(".conclaude.test.yaml", json!({"cases": [case]}).to_string());
    let (code, out, err) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{about}: {word}\n{out}{err}");
    word
}

#[test]
fn of_every_event_with_a_command() {
    let mut words = std::collections::BTreeSet::new();
    for event in ALL.iter().copied() {
        let makes = if event.blocking() == Blocking::Worktree { MAKES } else { SUCCEEDS };
        words.insert(compared(&with_command(event, makes, "warn")));
        words.insert(compared(&with_command(event, FAILS, "warn")));
        if event.blocking() != Blocking::Never {
            words.insert(compared(&with_command(event, FAILS, "block")));
        }
    }
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["allows", "asks", "blocks", "denies"]);
}

#[test]
fn of_guards_and_permissions() {
    use EventKind::{PermissionRequest, PreToolUse};
    let mut words = std::collections::BTreeSet::new();
    for event in [PreToolUse, PermissionRequest] {
        for command in [
            "echo x > a.lock",
            "echo x > keep.lock",
            "cat .env",
            "echo x > $file",
            "git push --force origin",
            "terraform apply",
            "git status -s",
            "git status; rm x",
            "make",
            "echo x > .conclaude.yaml",
        ] {
            words.insert(compared(&shell(event, command)));
        }
        for (tool, input) in [
            ("Write", json!({"file_path": "a.lock", "content": ""})),
            ("Write", json!({"file_path": "src/gen/a.rs", "content": ""})),
            ("Read", json!({"file_path": ".env"})),
            ("WebFetch", json!({"url": "https://example.com"})),
        ] {
            words.insert(compared(&scene(event, json!({"tool_name": tool, "tool_input": input}))));
        }
        let unasked = json!({"tool_name": "Bash", "tool_input": {"command": "terraform apply"}, "permission_mode": "dontAsk"});
        words.insert(compared(&scene(event, unasked)));
    }
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["allows", "asks", "denies"]);
}

#[test]
fn of_prompts_stops_worktrees_and_gates() {
    for prompt in ["please deploy it", "nothing of that", "it is broken"] {
        assert_eq!(compared(&scene(EventKind::UserPromptSubmit, json!({"prompt": prompt}))), "allows");
    }
    let infinite = |fields| {
        let config = json!({"stop": {"infinite": true, "commands": [{"run": "exit 0"}]}});
        Scene { event: EventKind::Stop, config, fields, command: None }
    };
    assert_eq!(compared(&infinite(json!({}))), "blocks");
    let running = json!([{"id": "a1", "type": "subagent", "status": "running", "description": "x", "agent_type": "coder"}]);
    compared(&infinite(json!({"background_tasks": running})));
    // Nothing prints a path.
    let config = json!({"worktreeCreate": {"commands": [{"run": "exit 0", "agent": "nobody"}]}});
    let event = EventKind::WorktreeCreate;
    assert_eq!(compared(&Scene { event, config, fields: json!({}), command: None }), "blocks");
    assert_eq!(compared(&with_command(event, FAILS, "warn")), "blocks");
    let call = json!({"tool_input": {"prompt": MARKERS, "subagent_type": "coder", "description": "x"}});
    assert_eq!(compared(&scene(EventKind::PreToolUse, call)), "denies");
}

/// What the hook answers, in a word.
fn answered(test: Test) -> (String, Test) {
    let answer = test.run();
    let json: Value =
        if answer.stdout.is_empty() { Value::Null } else { serde_json::from_str(&answer.stdout).unwrap() };
    let word = match json["hookSpecificOutput"]["permissionDecision"].as_str() {
        Some("deny") => "denied",
        Some("ask") => "asked",
        _ => "allowed",
    };
    (word.to_owned(), answer.again())
}

#[test]
fn explain_decides_as_the_hook_does() {
    let config = "audit: {enabled: false}\npreToolUse:\n  uneditableFiles: ['*.lock', '.env*', 'src/gen/', '!src/gen/keep.md']\n  unreadableFiles: ['.env*', 'secrets/']\n  toolUsageValidation:\n    - {tool: Bash, commandPattern: 'git push --force*', action: block}\n    - {tool: Bash, commandPattern: 'npm publish', matchMode: prefix, action: block}\n    - {tool: Bash, commandPattern: 'terraform apply', matchMode: prefix, action: ask}\n";
    let mut test = Test::event("PreToolUse").without("agent_id").without("agent_type").config(config);
    for file in [
        ".env",
        "Cargo.lock",
        "src/gen/api.rs",
        "src/gen/keep.md",
        "secrets/key.pem",
        "build/nested/Cargo.lock",
    ] {
        test = test.file(file, "x");
    }
    let table = include_str!("../fixtures/guards/bash.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut compared = std::collections::BTreeSet::new();
    // Every line in CI.
    for line in lines.step_by(cases(12, 1) as usize) {
        let command = line.split_once('\t').unwrap().1.replace('⏎', "\n");
        let (word, again) =
            answered(test.payload("tool_name", "Bash").payload("tool_input", json!({ "command": command })));
        test = again;
        let (_, out, err) = run_in(&test.root(), &["explain", "PreToolUse", "--json", "--command", &command]);
        let json: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{command}: {error} {err}"));
        assert_eq!(json["answers"][0]["decision"], word, "{command}");
        compared.insert(word);
    }
    assert_eq!(compared.len(), 3, "denied, asked and allowed");
}
