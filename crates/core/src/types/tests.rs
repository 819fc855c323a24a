use super::*;

const START: &str = r#"{
  "session_id": "abc123",
  "transcript_path": "/tmp/main.json",
  "hook_event_name": "SubagentStart",
  "cwd": "/home/user/project",
  "permission_mode": "default",
  "agent_id": "coder",
  "subagent_type": "coder",
  "agent_transcript_path": "/tmp/agent_coder.json"
}"#;

fn start() -> SubagentStartPayload {
    serde_json::from_str(START).unwrap()
}

fn without(field: &str) -> String {
    let mut value: Value = serde_json::from_str(START).unwrap();
    value.as_object_mut().unwrap().remove(field).unwrap();
    value.to_string()
}

fn with(field: &str, to: Value) -> String {
    let mut value: Value = serde_json::from_str(START).unwrap();
    value[field] = to;
    value.to_string()
}

fn refusal(input: &str) -> String {
    HookPayload::parse("SubagentStart", input.as_bytes()).unwrap_err().to_string()
}

// Scenario: Unit tests validate payload fields
// The seven cases that follow are the list of that scenario, one test each.

// Scenario: Complete valid payload passes validation
#[test]
fn valid_payload_passes_validation() {
    assert_eq!(validate_subagent_start_payload(&start()), Ok(()));
}

// Scenario: Empty agent_id fails validation
#[test]
fn empty_agent_id_fails_validation() {
    let payload = SubagentStartPayload { agent_id: String::new(), ..start() };
    assert_eq!(validate_subagent_start_payload(&payload), Err("agent_id cannot be empty".into()));
}

#[test]
fn whitespace_only_agent_id_fails_validation() {
    let payload = SubagentStartPayload { agent_id: " \t\n".into(), ..start() };
    assert_eq!(validate_subagent_start_payload(&payload), Err("agent_id cannot be empty".into()));
}

// Scenario: Empty subagent_type fails validation
#[test]
fn empty_subagent_type_fails_validation() {
    for blank in ["", "  "] {
        let payload = SubagentStartPayload { subagent_type: blank.into(), ..start() };
        assert_eq!(validate_subagent_start_payload(&payload), Err("subagent_type cannot be empty".into()));
    }
}

// Scenario: Empty agent_transcript_path fails validation
#[test]
fn empty_agent_transcript_path_fails_validation() {
    for blank in ["", "  "] {
        let payload = SubagentStartPayload { agent_transcript_path: Some(blank.into()), ..start() };
        assert_eq!(
            validate_subagent_start_payload(&payload),
            Err("agent_transcript_path cannot be empty".into())
        );
    }
}

// Scenario: Invalid base payload fails validation
#[test]
fn invalid_base_payload_fails_validation() {
    let mut payload = SubagentStartPayload { agent_id: String::new(), ..start() };
    payload.base.session_id = String::new();
    let refused = validate_subagent_start_payload(&payload);
    assert_eq!(refused, validate_base_payload(&payload.base));
    assert_eq!(refused, Err("session_id cannot be empty".into()), "the base is checked first");
}

#[test]
fn payload_with_spaces_around_agent_id_passes() {
    let payload = SubagentStartPayload { agent_id: " coder ".into(), ..start() };
    assert_eq!(validate_subagent_start_payload(&payload), Ok(()));
    assert_eq!(payload.agent_id, " coder ", "the check trims, the value stays");
}

// Scenario: Valid SubagentStartPayload deserialization
#[test]
fn start_payload_deserialises() {
    let payload = start();
    assert_eq!(payload.base.session_id, "abc123");
    assert_eq!(payload.base.transcript_path, "/tmp/main.json");
    assert_eq!(payload.base.hook_event_name, "SubagentStart");
    assert_eq!(payload.base.cwd, "/home/user/project");
    assert_eq!(payload.base.permission_mode.as_deref(), Some("default"));
    assert_eq!(payload.agent_id, "coder");
    assert_eq!(payload.subagent_type, "coder");
    assert_eq!(payload.agent_transcript_path.as_deref(), Some("/tmp/agent_coder.json"));
}

// Scenario: Missing agent_id field
#[test]
fn missing_agent_id_is_named() {
    let error = serde_json::from_str::<SubagentStartPayload>(&without("agent_id")).unwrap_err().to_string();
    assert!(error.contains("missing required field `agent_id`"), "{error}");
}

// Scenario: Empty agent_id value
#[test]
fn empty_agent_id_is_rejected() {
    assert_eq!(
        refusal(&with("agent_id", "".into())),
        "invalid payload: agent_id cannot be empty: expected a non-empty string"
    );
}

// Scenario: Missing subagent_type field
#[test]
fn missing_subagent_type_is_named() {
    let error =
        serde_json::from_str::<SubagentStartPayload>(&without("subagent_type")).unwrap_err().to_string();
    assert!(error.contains("missing required field `subagent_type`"), "{error}");
}

// Scenario: SubagentStart variant added to enum
#[test]
fn hook_payload_has_a_subagent_start_variant() {
    let payload: HookPayload = serde_json::from_str(START).unwrap();
    assert_eq!(payload, HookPayload::SubagentStart(start()));
    assert_eq!(payload.session_id(), "abc123");
    assert_eq!(payload.transcript_path(), "/tmp/main.json");
    assert_eq!(payload.hook_event_name(), "SubagentStart");
    assert_eq!(payload.cwd(), "/home/user/project");
    assert_eq!(payload.agent_id(), Some("coder"));
    let written: Value = serde_json::to_value(&payload).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(START).unwrap());
}

#[test]
fn every_required_field_is_named_when_missing_null_blank_or_of_another_type() {
    for field in ["session_id", "transcript_path", "cwd", "hook_event_name", "agent_id", "subagent_type"] {
        for input in [without(field), with(field, Value::Null)] {
            // Without its name the event is not known to be a SubagentStart.
            assert!(refusal(&input).contains(&format!("missing required field `{field}`")), "{field}");
        }
        assert!(refusal(&with(field, 7.into())).contains(&format!("`{field}` is the number 7")), "{field}");
        assert!(refusal(&with(field, " ".into())).contains(&format!("{field} cannot be empty")), "{field}");
    }
}

#[test]
fn a_payload_of_another_event_is_rejected_by_field_and_expectation() {
    assert_eq!(
        refusal(&with("hook_event_name", "Stop".into())),
        "invalid payload: `hook_event_name` is \"Stop\", expected \"SubagentStart\": register each event with its own name"
    );
}

#[test]
fn what_is_not_an_object_is_rejected() {
    assert_eq!(refusal("[1]"), "invalid payload: expected a JSON object, found a list");
    assert!(refusal("{\"session_id\": ").starts_with("the payload is not valid JSON: "));
    assert_eq!(refusal(" \n"), "no payload on stdin: expected one JSON object");
}

#[test]
fn both_type_keys_are_accepted_together() {
    let payload = HookPayload::parse("SubagentStart", with("agent_type", "coder".into()).as_bytes()).unwrap();
    assert_eq!(payload.agent_type(), Some("coder"));
    let payload = HookPayload::parse("SubagentStart", with("agent_type", "".into()).as_bytes()).unwrap();
    assert_eq!(payload.agent_type(), Some("coder"), "a blank one does not hide the other");
}

#[test]
fn unknown_fields_nulls_new_values_and_a_bom_are_accepted() {
    let mut value: Value = serde_json::from_str(START).unwrap();
    value["novelty"] = serde_json::json!({"deep": [1, null]});
    value["permission_mode"] = serde_json::json!({"some": "object"});
    value["agent_transcript_path"] = Value::Null;
    let input = format!("\u{feff}{value} trailing words");
    let payload = HookPayload::parse("SubagentStart", input.as_bytes()).unwrap();
    assert_eq!(payload.base().permission_mode, None);
    assert_eq!(payload.agent_id(), Some("coder"));
}

#[test]
fn half_a_surrogate_pair_or_a_stray_byte_does_not_reject_the_event() {
    let stop = START.replace("SubagentStart", "SubagentStop").replace(
        r#""permission_mode": "default""#,
        r#""last_assistant_message": "half \ud83d, whole \ud83d\ude00, \\ud83d, lone \ude00""#,
    );
    let HookPayload::SubagentStop(payload) = HookPayload::parse("SubagentStop", stop.as_bytes()).unwrap()
    else {
        panic!("another variant");
    };
    assert_eq!(
        payload.last_assistant_message.as_deref(),
        Some("half \u{fffd}, whole 😀, \\ud83d, lone \u{fffd}")
    );

    let mut bytes = stop.into_bytes();
    let at = bytes.windows(4).position(|w| w == b"half").unwrap();
    bytes[at] = 0xff;
    assert!(HookPayload::parse("SubagentStop", &bytes).is_ok());
}

#[test]
fn an_eight_megabyte_message_is_accepted() {
    let stop = serde_json::json!({
        "session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "SubagentStop",
        "last_assistant_message": "x".repeat(8 << 20),
    });
    let payload = HookPayload::parse("SubagentStop", stop.to_string().as_bytes()).unwrap();
    assert_eq!(payload.agent_id(), None, "older clients send no id");
}

#[test]
fn deep_nesting_is_rejected_without_a_crash() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    assert!(refusal(&deep).contains("nested too deeply"));
}

#[test]
fn a_stop_without_an_id_is_accepted_and_a_blank_id_is_not() {
    let base = r#""session_id":"s","transcript_path":"/t.jsonl","cwd":"/","hook_event_name":"SubagentStop""#;
    assert!(HookPayload::parse("SubagentStop", format!("{{{base}}}").as_bytes()).is_ok());
    let error =
        HookPayload::parse("SubagentStop", format!("{{{base},\"agent_id\":\" \"}}").as_bytes()).unwrap_err();
    assert!(error.to_string().contains("agent_id cannot be empty"), "{error}");
    let error =
        HookPayload::parse("SubagentStop", format!("{{{base},\"agent_transcript_path\":\"\"}}").as_bytes())
            .unwrap_err();
    assert!(error.to_string().contains("agent_transcript_path cannot be empty"), "{error}");
}

#[test]
fn the_transcript_of_a_starting_agent_is_derived_where_that_is_safe() {
    let derived = |main: &str, id: &str| {
        let mut payload =
            SubagentStartPayload { agent_id: id.into(), agent_transcript_path: None, ..start() };
        payload.base.transcript_path = main.into();
        HookPayload::SubagentStart(payload).agent_transcript()
    };
    assert_eq!(derived("/p/s.jsonl", "a1").as_deref(), Some("/p/s/subagents/agent-a1.jsonl"));
    assert_eq!(derived("/p/s.json", "a1"), None);
    for id in ["../x", "a/b", "..", "a\0b"] {
        assert_eq!(derived("/p/s.jsonl", id), None, "{id:?}");
    }
    assert_eq!(
        HookPayload::SubagentStart(start()).agent_transcript().as_deref(),
        Some("/tmp/agent_coder.json")
    );
}

#[test]
fn only_the_events_of_a_subagent_need_a_transcript() {
    let base = r#""session_id":"s","cwd":"/","tool_name":"Bash","agent_id":"a","agent_type":"coder""#;
    for event in
        ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "PermissionRequest"]
    {
        let payload =
            HookPayload::parse(event, format!(r#"{{{base},"hook_event_name":"{event}"}}"#).as_bytes());
        assert_eq!(payload.unwrap().transcript_path(), "", "{event}");
    }
    for event in ["SubagentStart", "SubagentStop"] {
        let error =
            HookPayload::parse(event, format!(r#"{{{base},"hook_event_name":"{event}"}}"#).as_bytes());
        assert!(
            error.unwrap_err().to_string().contains("missing required field `transcript_path`"),
            "{event}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn no_input_makes_the_parser_panic(bytes: Vec<u8>) {
        let _ = HookPayload::parse("SubagentStop", &bytes);
    }

    #[test]
    fn repairing_keeps_valid_json_strings(text: String) {
        let stop = serde_json::json!({
            "session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "SubagentStop",
            "last_assistant_message": text, "agent_id": "a",
        });
        let HookPayload::SubagentStop(payload) = HookPayload::parse("SubagentStop", stop.to_string().as_bytes()).unwrap()
        else { panic!("another variant") };
        proptest::prop_assert_eq!(payload.last_assistant_message, Some(text));
    }
}
