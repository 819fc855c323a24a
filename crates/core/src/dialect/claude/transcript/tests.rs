use serde_json::{Value, json};

use super::*;

const MAIN: &str = include_str!("../../../../../../tests/fixtures/captures/transcript-main.jsonl");
const SUBAGENT: &str = include_str!("../../../../../../tests/fixtures/captures/transcript-subagent.jsonl");
const HOOKS: &str = include_str!("../../../../../../tests/fixtures/captures/transcript-hooks.jsonl");

const PERMISSIONS: &str =
    include_str!("../../../../../../tests/fixtures/captures/transcript-permissions.jsonl");

fn entry(line: &str) -> Option<Box<TranscriptEntry<'_>>> {
    match TranscriptLine::read(line.as_bytes()) {
        TranscriptLine::Entry(entry) => Some(entry),
        TranscriptLine::Ignored => None,
        other => panic!("{other:?}: {line}"),
    }
}

fn entries(text: &str) -> impl Iterator<Item = Box<TranscriptEntry<'_>>> {
    text.lines().filter_map(entry)
}

#[test]
fn prompts_are_what_the_user_typed_and_not_what_claude_code_wrote() {
    let prompts = |text: &str| -> Vec<String> {
        entries(text).filter_map(|entry| entry.prompt().map(|prompt| prompt.into_owned())).collect()
    };
    assert_eq!(prompts(MAIN), ["Execute step 01-01 of the project greeting."]);
    let of_agent = prompts(SUBAGENT);
    assert_eq!(of_agent.len(), 1, "no feedback of a hook, no result of a tool");
    assert!(of_agent[0].starts_with("<!-- DES-VALIDATION: required -->"));
}

#[test]
fn calls_have_their_id_name_and_input() {
    let calls: Vec<(String, String)> = entries(SUBAGENT)
        .flat_map(|entry| {
            let calls =
                entry.calls().map(|BlockCall { name, input, .. }| (name.to_owned(), input.to_owned()));
            calls.collect::<Vec<_>>()
        })
        .collect();
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Read", "Write", "Bash", "Write", "Bash", "Write"]);
    assert_eq!(calls[0].1, r#"{"file_path":"/home/user/project/steps/01-01.json"}"#);
}

#[test]
fn failed_hooks_are_found_and_other_attachments_passed_over() {
    let kinds: Vec<(String, String)> = entries(HOOKS)
        .filter_map(|entry| {
            let attachment = entry.attachment.as_ref()?;
            let text = |scalar: &Scalar<'_>| scalar.text().unwrap_or_default().to_owned();
            Some((text(&attachment.kind), text(&attachment.hook_name)))
        })
        .collect();
    let found: Vec<(&str, &str)> = kinds.iter().map(|(kind, name)| (kind.as_str(), name.as_str())).collect();
    assert_eq!(found, [("hook_non_blocking_error", "SubagentStop"), ("hook_cancelled", "PreToolUse:Read")]);
    let denied: Vec<String> = entries(HOOKS)
        .flat_map(|entry| {
            let denied = entry.results().filter(|result| result.is_denied_by_hook());
            denied.filter_map(|result| result.answer(60)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(denied, ["PreToolUse:Bash hook error: [handler PreToolUse]: no force p"]);
}

#[test]
fn one_answer_has_one_id_on_all_its_lines() {
    let ids: Vec<String> =
        entries(MAIN).filter_map(|entry| Some(entry.message.as_ref()?.id.text()?.to_owned())).collect();
    assert_eq!((ids.len(), ids[0] == ids[1], ids[1] == ids[2]), (3, true, false));
    let usage = entries(MAIN).find_map(|entry| entry.message.as_ref()?.usage().unwrap()).unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (11825, 20));
}

#[test]
fn the_start_of_a_line_says_no_more_than_it_can_know() {
    let kind = |line: &str| kinds::scan(line.as_bytes()).kind.map(str::to_owned);
    let attachment = |line: &str| kinds::scan(line.as_bytes()).attachment.map(str::to_owned);
    assert_eq!(kind(r#"{"type":"user","#).as_deref(), Some("user"));
    assert_eq!(kind(r#"{"a":null,"b":true,"c":"x","d":12,"type":"system"}"#).as_deref(), Some("system"));
    assert_eq!(kind(r#"{"a":"\"","type":"user"}"#), None, "escapes are left to the parser");
    assert_eq!(kind(r#"{"a":{"type":"user"},"type":"system"}"#), None);
    assert_eq!(kind(r#"{"a":1.5,"type":"system"}"#), None);
    assert_eq!(attachment(r#"{"a":null,"attachment":{"type":"hook_x","y":1}"#).as_deref(), Some("hook_x"));
    for line in
        ["", "{", "{}", "{\"type\"", "{\"type\":", "{\"type\":\"", "[", "{\"a\":,", "{\"a\":1", "\u{1}"]
    {
        assert_eq!(kinds::scan(line.as_bytes()), kinds::Head::default(), "{line:?}");
    }
}

#[test]
fn a_field_of_another_type_is_absent_and_hides_nothing_else() {
    let line = r#"{"type":"user","timestamp":7,"cwd":{"a":[1]},"agentId":["x"],"isMeta":"yes","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":3,"is_error":null}]}}"#;
    let entry = entry(line).unwrap();
    assert_eq!((entry.timestamp.number(), entry.cwd.text(), entry.agent_id.text()), (Some(7.0), None, None));
    assert_eq!((entry.session_id.text(), entry.is_meta.is_true()), (Some("s"), false));
    assert_eq!(entry.results().count(), 1);
}

#[test]
fn a_result_says_what_became_of_its_call_and_whether_the_user_was_asked() {
    let fates = |text: &str| -> Vec<(CallFate, Option<bool>)> {
        entries(text)
            .flat_map(|entry| {
                let fate = |result: &MessageBlock<'_>| {
                    let fate = entry.fate(result);
                    (fate, entry.was_asked(fate))
                };
                entry.results().map(fate).collect::<Vec<_>>()
            })
            .collect()
    };
    use CallFate::{DeniedByHook, Failed, NotPermitted, Ran, RejectedByUser};
    assert_eq!(
        fates(PERMISSIONS),
        [
            (Ran, Some(false)),
            (DeniedByHook, Some(false)),
            // A hook asked, and nobody was there.
            (NotPermitted, Some(false)),
            (Ran, Some(false)),
            (Ran, Some(false)),
            (Failed, Some(false)),
            (NotPermitted, Some(true)),
            (RejectedByUser, Some(true)),
            (RejectedByUser, Some(true)),
            (Ran, Some(true)),
            (Ran, Some(false)),
            (Ran, Some(false)),
            // By a hook at PermissionRequest.
            (DeniedByHook, Some(true)),
        ]
    );
    let older = r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected"}]}}"#;
    assert_eq!(fates(older), [(RejectedByUser, Some(true))]);
    let failed = r#"{"type":"user","permissionDecision":5,"message":{"content":[{"type":"tool_result","is_error":true,"content":"Exit code 1"}]}}"#;
    assert_eq!(fates(failed), [(Failed, None)]);
    let answered = r#"{"attachment":{"type":"hook_permission_decision","decision":"allow","toolUseID":"t1","hookEvent":"PermissionRequest"},"type":"attachment"}"#;
    assert_eq!(entry(answered).unwrap().answered_request(), Some("t1"));
}

#[test]
fn prompts_are_those_for_which_the_hook_was_called() {
    let all: Vec<Box<TranscriptEntry<'_>>> = entries(PERMISSIONS).collect();
    let submitted: Vec<String> = all
        .iter()
        .filter_map(|entry| entry.submitted())
        .map(|prompt| prompt.lines().next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        submitted,
        [
            "Do the work.",
            "hello there",
            "next one",
            "hello there",
            "/foo bar baz",
            "Please delegate the task to the coder agent.",
            "<task-notification>",
            "hello there",
            "hello there"
        ]
    );
    let blocked: Vec<&str> = all.iter().filter_map(|entry| entry.blocked_prompt()).collect();
    assert_eq!(blocked, ["deploy now"]);
    assert_eq!(all.iter().filter(|entry| entry.is_stop_feedback()).count(), 1);
    let launched: Vec<String> = all
        .iter()
        .flat_map(|entry| entry.results().filter_map(MessageBlock::launched_agent).collect::<Vec<_>>())
        .collect();
    assert_eq!(launched, ["a43cac9208371e8b4"]);
    let bash = r#"{"type":"user","message":{"role":"user","content":"<bash-input>echo hi</bash-input>"}}"#;
    assert_eq!(entry(bash).unwrap().submitted(), None);
}

#[test]
fn a_turn_may_stop_with_an_answer_that_calls_no_tool() {
    let certain: Vec<bool> =
        entries(SUBAGENT).filter_map(|entry| entry.ending()).map(|ending| ending.is_certain).collect();
    assert_eq!(certain, [true, true]);
    let older = r#"{"type":"assistant","message":{"id":"m","stop_reason":null,"content":[{"type":"text","text":"x"}]}}"#;
    assert_eq!(entry(older).unwrap().ending(), Some(Ending { message: "m".into(), is_certain: false }));
    let failed = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"id":"m","stop_reason":"stop_sequence","content":[{"type":"text","text":"API Error"}]}}"#;
    assert_eq!(entry(failed).unwrap().ending(), None);
}

#[test]
fn a_line_is_read_as_a_parser_of_all_of_it_reads_it() {
    let scalar = |scalar: &Scalar<'_>| match scalar {
        Scalar::Text(text) => json!(text),
        Scalar::Flag(flag) => json!(flag),
        Scalar::Number(number) => json!(number),
        Scalar::Other => Value::Null,
    };
    let raw = |value: Option<&str>| value.map_or(Value::Null, |value| serde_json::from_str(value).unwrap());
    let lines: Vec<&str> = [MAIN, SUBAGENT, HOOKS, PERMISSIONS].into_iter().flat_map(str::lines).collect();
    let mut compared = 0;
    for line in lines {
        let Some(entry) = entry(line) else { continue };
        let all: Value = serde_json::from_str(line).unwrap();
        for (name, value) in [
            ("type", &entry.kind),
            ("timestamp", &entry.timestamp),
            ("sessionId", &entry.session_id),
            ("cwd", &entry.cwd),
            ("isSidechain", &entry.is_sidechain),
            ("permissionMode", &entry.permission_mode),
        ] {
            assert_eq!(scalar(value), all[name], "{name}: {line}");
        }
        let Some(message) = &entry.message else { continue };
        assert_eq!(scalar(&message.stop_reason), all["message"]["stop_reason"], "{line}");
        assert_eq!(raw(message.usage), all["message"]["usage"], "{line}");
        let content = &all["message"]["content"];
        if let MessageContent::Text(text) = &message.content {
            assert_eq!(json!(text), *content, "{line}");
        }
        assert_eq!(entry.blocks().len(), content.as_array().map_or(0, Vec::len), "{line}");
        for (index, block) in entry.blocks().iter().enumerate() {
            for (name, value) in [
                ("type", scalar(&block.kind)),
                ("id", scalar(&block.id)),
                ("text", json!(block.text())),
                ("input", raw(block.input)),
                ("is_error", scalar(&block.is_error)),
                ("content", raw(block.content)),
            ] {
                assert_eq!(value, content[index][name], "{name}: {line}");
            }
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn a_line_that_is_cut_off_anywhere_is_not_read() {
    let lines = MAIN.lines().filter(|line| entry(line).is_some());
    for line in lines {
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            let cut = TranscriptLine::read(&line.as_bytes()[..end]);
            assert!(matches!(cut, TranscriptLine::Malformed), "{cut:?}: {}", &line[..end]);
        }
    }
}

#[test]
fn what_nobody_asks_for_is_not_validated_and_what_is_asked_for_is() {
    let line = r#"{"type":"user","toolUseResult":{"x":"\q",nonsense},"message":{"content":"a"}}"#;
    assert_eq!(entry(line).unwrap().prompt().as_deref(), Some("a"));
    let line = r#"{"type":"user","message":{"content":"\q"}}"#;
    assert!(matches!(entry(line).unwrap().message.unwrap().content, MessageContent::Other));
    assert!(matches!(
        TranscriptLine::read(b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}"),
        TranscriptLine::OtherForm
    ));
}
