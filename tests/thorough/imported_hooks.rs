//! `init --import` takes hooks over: Claude Code is answered what the hook itself would have answered.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::hook_answers::{ALLOW, ASK, DENY};
use crate::common::{Test, run_in};

/// A hook: the event, its exit code, what it prints on stdout and on stderr.
type Hook = (&'static str, i32, &'static str, &'static str);

const HOOKS: [Hook; 59] = [
    ("PreToolUse", 2, r#"{"decision":"maybe"}"#, "and no"),
    ("PreToolUse", 1, r#"{"systemMessage":"hello, user"}"#, "broken"),
    ("PreToolUse", 1, ALLOW, "broken"),
    ("PreToolUse", 3, "{}", "broken"),
    ("PreToolUse", 0, "", ""),
    ("PreToolUse", 0, "checked, fine", "and logged"),
    ("PreToolUse", 1, "", "the guard is broken"),
    ("PreToolUse", 127, "", "guard: not found"),
    ("PreToolUse", 2, "", "no pushing to main"),
    ("PreToolUse", 2, "", ""),
    ("PreToolUse", 2, "plain", "two\nlines\n"),
    ("PreToolUse", 2, "", "no such file as this may be written"),
    ("PreToolUse", 0, DENY, ""),
    ("PreToolUse", 2, DENY, "not this"),
    ("PreToolUse", 1, DENY, "not this"),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
        "",
    ),
    ("PreToolUse", 0, ASK, ""),
    ("PreToolUse", 2, ASK, "no"),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
        "",
    ),
    ("PreToolUse", 0, ALLOW, ""),
    ("PreToolUse", 2, ALLOW, "no"),
    ("PreToolUse", 0, r#"{"decision":"block","reason":"the old form"}"#, ""),
    ("PreToolUse", 0, r#"{"decision":"approve","reason":"the old form"}"#, ""),
    (
        "PreToolUse",
        0,
        r#"{"decision":"block","reason":"R","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        "",
    ),
    ("PreToolUse", 0, r#"{"systemMessage":"hello, user"}"#, ""),
    ("PreToolUse", 2, r#"{"systemMessage":"hello, user"}"#, "and no"),
    (
        "PreToolUse",
        0,
        r#"{"systemMessage":"SM","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R","additionalContext":"CTX"}}"#,
        "",
    ),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo changed","description":"d"}}}"#,
        "",
    ),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo changed"},"newer":[1]}}"#,
        "",
    ),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
        "",
    ),
    ("PreToolUse", 0, r#"{"continue":false,"stopReason":"enough"}"#, ""),
    ("PreToolUse", 2, r#"{"continue":false,"stopReason":"enough","decision":"block","reason":"R"}"#, "E"),
    ("PreToolUse", 0, "{broken", ""),
    ("PreToolUse", 2, "{broken", "but no"),
    ("PreToolUse", 0, r#"{"decision":"deny","reason":"no such word"}"#, ""),
    ("PreToolUse", 0, "{\"decision\":\"block\"}\n{\"decision\":\"block\"}", ""),
    (
        "PreToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"CTX"}}"#,
        "",
    ),
    ("PreToolUse", 0, r#"{"decision":null}"#, ""),
    ("PreToolUse", 0, r#"["block"]"#, ""),
    ("PostToolUse", 2, "", "the formatter says no"),
    (
        "PostToolUse",
        0,
        r#"{"decision":"block","reason":"R","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"CTX"}}"#,
        "",
    ),
    (
        "PostToolUse",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":{"a":1}}}"#,
        "",
    ),
    ("UserPromptSubmit", 0, "remember the tests", ""),
    ("UserPromptSubmit", 0, "{remember", ""),
    ("UserPromptSubmit", 2, "", "no secrets in prompts"),
    ("UserPromptSubmit", 0, r#"{"decision":"block","reason":"R"}"#, ""),
    ("UserPromptExpansion", 0, "what the command needs", ""),
    ("UserPromptExpansion", 1, "lost", "E"),
    ("PostModelSwitch", 0, "what the model needs", ""),
    ("SessionStart", 0, "- [ ] the first thing to do", ""),
    ("SessionStart", 1, "lost", "E"),
    (
        "SubagentStart",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"CTX"}}"#,
        "",
    ),
    ("SubagentStart", 2, "plain", "E"),
    ("Stop", 2, "", "the tests fail"),
    ("Stop", 2, "", "sh: can't open 'x.sh'"),
    (
        "Stop",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"one more thing"}}"#,
        "",
    ),
    ("SubagentStop", 0, r#"{"decision":"block","reason":"report again"}"#, ""),
    ("SubagentStop", 0, r#"{"continue":false,"stopReason":"enough","decision":"block","reason":"R"}"#, ""),
    (
        "PermissionRequest",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"ls"},"updatedPermissions":[]}}}"#,
        "",
    ),
];

/// What Claude Code does because of an answer: written down from what it was seen to do, and not from our own reader.
#[derive(Debug, Default, PartialEq)]
struct Effect {
    refused: Option<String>,
    /// `allow`, `ask` or `defer`, with its reason.
    permission: Option<(String, String)>,
    context: Option<String>,
    message: Option<String>,
    input: Option<Value>,
    stopped: Option<String>,
    other: Option<Value>,
    is_reported: bool,
}

fn is_stop(event: &str) -> bool {
    matches!(event, "Stop" | "SubagentStop")
}

/// Whether the JSON has the types that Claude Code's schema asks for.
fn is_valid(event: &str, json: &Value) -> bool {
    let words = |pointer: &str, words: &[&str]| {
        json.pointer(pointer).is_none_or(|value| value.as_str().is_some_and(|word| words.contains(&word)))
    };
    let output = json.get("hookSpecificOutput");
    words("/decision", &["approve", "block"])
        && words("/hookSpecificOutput/permissionDecision", &["allow", "deny", "ask", "defer"])
        && json.get("reason").is_none_or(Value::is_string)
        && output.is_none_or(|output| output["hookEventName"] == event)
}

fn effect_of(event: &str, exit: i32, stdout: &str, stderr: &str) -> Effect {
    let mut effect = Effect::default();
    let text = stdout.trim();
    let parsed: Option<Value> = serde_json::from_str(text).ok().filter(Value::is_object);
    let json = parsed.clone().filter(|json| is_valid(event, json)).unwrap_or_default();
    effect.is_reported = text.starts_with('{') && json.is_null();
    let at = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    effect.message = at("/systemMessage");
    effect.context = at("/hookSpecificOutput/additionalContext");
    if parsed.is_none()
        && exit == 0
        && !text.is_empty()
        && matches!(event, "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion" | "PostModelSwitch")
    {
        effect.context = Some(text.to_owned());
    }
    let word = at("/hookSpecificOutput/permissionDecision");
    let why = at("/hookSpecificOutput/permissionDecisionReason");
    let is_missing = is_stop(event)
        && text.is_empty()
        && ["no such file", "can't open"].iter().any(|words| stderr.to_lowercase().contains(words));
    let none = || Some("Blocked by hook".to_owned());
    if json["decision"] == "block" {
        effect.refused = at("/reason").or_else(none);
    } else if word.as_deref() == Some("deny") {
        effect.refused = why.clone().or_else(none);
    } else if exit == 2
        && !is_missing
        && !matches!(event, "SessionStart" | "SubagentStart" | "PermissionRequest")
    {
        let stderr = stderr.trim();
        effect.refused = Some(if stderr.is_empty() { "No stderr output" } else { stderr }.to_owned());
    }
    effect.is_reported |= is_missing && exit == 2;
    // "Failed with non-blocking status code", with stderr.
    effect.is_reported |= exit != 0 && effect.refused.is_none() && json.is_null();
    if effect.refused.is_none() {
        let approved = if json["decision"] == "approve" {
            Some(("allow".to_owned(), at("/reason").unwrap_or_default()))
        } else {
            None
        };
        effect.permission = word.map(|word| (word, why.unwrap_or_default())).or(approved);
        let decision = json.pointer("/hookSpecificOutput/decision").cloned();
        effect.input = json.pointer("/hookSpecificOutput/updatedInput").cloned();
        effect.other = decision.or_else(|| json.pointer("/hookSpecificOutput/updatedMCPToolOutput").cloned());
        effect.other = effect.other.or_else(|| json.pointer("/hookSpecificOutput/newer").cloned());
    }
    if json["continue"] == false {
        effect.stopped = Some(at("/stopReason").unwrap_or_default());
        if is_stop(event) {
            effect.refused = None;
            effect.context = None;
        }
    }
    effect
}

/// The project with the hook, and a call of its event.
fn project((event, exit, stdout, stderr): Hook) -> Test {
    let script =
        format!("cat >/dev/null\ncat <<'END'\n{stdout}\nEND\ncat >&2 <<'END'\n{stderr}\nEND\nexit {exit}\n");
    let line = "sh \"$CLAUDE_PROJECT_DIR\"/hook.sh";
    let settings = json!({"hooks": {event: [{"hooks": [{"type": "command", "command": line}]}]}});
    let test = Test::event(event)
        .file("hook.sh", script)
        .file(".claude/settings.json", settings.to_string())
        .payload("tool_name", "Bash")
        .payload("tool_input", json!({"command": "echo hi", "description": "d"}))
        .payload("tool_response", json!({}))
        .payload("tool_use_id", "toolu_1")
        .payload("prompt", "do it")
        .payload("source", "startup")
        .payload("stop_hook_active", false);
    if event.starts_with("Subagent") { test } else { test.without("agent_id").without("agent_type") }
}

/// What the hook itself answers to Claude Code.
fn own_answer(test: &Test) -> (i32, String, String) {
    let mut hook = test.program("/bin/sh");
    hook.args(["-c", "sh \"$CLAUDE_PROJECT_DIR\"/hook.sh"]).stdin(Stdio::null());
    let output = hook.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn after_the_import_claude_code_is_answered_what_the_hook_answered() {
    let mut different = Vec::new();
    for hook in HOOKS {
        let event = hook.0;
        let test = project(hook);
        let (exit, stdout, stderr) = own_answer(&test);
        let before = effect_of(event, exit, &stdout, &stderr);
        let (code, shown, _) = run_in(&test.root(), &["init", "--import"]);
        assert_eq!(code, Some(0), "{shown}");
        let answer = test.run();
        let mut after = effect_of(event, answer.code.unwrap(), &answer.stdout, &answer.stderr);
        // Claude Code says nothing of a failure beside an answer.
        if let Some(message) =
            after.message.clone().filter(|message| message.contains("its answer still counts"))
        {
            let rest: Vec<&str> =
                message.lines().filter(|line| !line.contains("its answer still counts")).collect();
            after.message = if rest.is_empty() { None } else { Some(rest.join("\n")) };
        }
        // What Claude Code itself says of an answer that it cannot use, conclaude says.
        if let Some(message) =
            after.message.clone().filter(|message| message.contains("gave no usable answer"))
        {
            let rest: Vec<&str> =
                message.lines().filter(|line| !line.contains("gave no usable answer")).collect();
            after.message = if rest.is_empty() { None } else { Some(rest.join("\n")) };
            after.is_reported = true;
        }
        if before != after {
            different
                .push(format!("{hook:?}\n  before {before:?}\n  after  {after:?}\n  {}", answer.snapshot()));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}
