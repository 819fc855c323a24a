use super::*;

const MAIN: &str = include_str!("../../../../tests/fixtures/captures/transcript-main.jsonl");
const SUBAGENT: &str = include_str!("../../../../tests/fixtures/captures/transcript-subagent.jsonl");
const HOOKS: &str = include_str!("../../../../tests/fixtures/captures/transcript-hooks.jsonl");

fn entry(line: &str) -> Option<Box<Entry<'_>>> {
    match Line::read(line.as_bytes()) {
        Line::Entry(entry) => Some(entry),
        Line::Ignored => None,
        other => panic!("{other:?}: {line}"),
    }
}

fn entries(text: &str) -> impl Iterator<Item = Box<Entry<'_>>> {
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
            let calls = entry.calls().map(|(_, name, input)| (name.to_owned(), input.get().to_owned()));
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
    let usage = entries(MAIN).find_map(|entry| entry.message.as_ref()?.usage).unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (11825, 20));
}

#[test]
fn the_start_of_a_line_says_no_more_than_it_can_know() {
    let kind = |line: &str| head::scan(line.as_bytes()).kind.map(str::to_owned);
    let attachment = |line: &str| head::scan(line.as_bytes()).attachment.map(str::to_owned);
    assert_eq!(kind(r#"{"type":"user","#).as_deref(), Some("user"));
    assert_eq!(kind(r#"{"a":null,"b":true,"c":"x","d":12,"type":"system"}"#).as_deref(), Some("system"));
    assert_eq!(kind(r#"{"a":"\"","type":"user"}"#), None, "escapes are left to the parser");
    assert_eq!(kind(r#"{"a":{"type":"user"},"type":"system"}"#), None);
    assert_eq!(kind(r#"{"a":1.5,"type":"system"}"#), None);
    assert_eq!(attachment(r#"{"a":null,"attachment":{"type":"hook_x","y":1}"#).as_deref(), Some("hook_x"));
    for line in
        ["", "{", "{}", "{\"type\"", "{\"type\":", "{\"type\":\"", "[", "{\"a\":,", "{\"a\":1", "\u{1}"]
    {
        assert_eq!(head::scan(line.as_bytes()), head::Head::default(), "{line:?}");
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
