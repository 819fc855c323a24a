use std::io::{Read, Seek, SeekFrom, Write};

use super::lines::{
    BackwardLine, CHUNK, LinesFromEnd, MAX_BACKWARD_BYTES, MAX_LINE_BYTES, bounded_line, holds,
};
use super::*;

fn file(content: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}

fn call(id: &str, name: &str, kind: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"x"}},{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"subagent_type":"{kind}","prompt":"p"}}}}]}}}}"#
    )
}

fn found(content: &str, id: Option<&str>) -> Option<String> {
    match last_agent_call(file(content).path(), id).unwrap() {
        CallLookup::Call(call) => Some(call.subagent_type),
        CallLookup::Nothing => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_most_recent_call_wins_in_any_form() {
    let first = call("t1", "Task", "tester");
    assert_eq!(
        found(&format!("{first}\n{}\n", call("t2", "Agent", "coder")), None).as_deref(),
        Some("coder")
    );
    for form in [
        r#"{"role":"assistant","content":[{"type":"tool_use","name":"Task","input":{"subagent_type":"coder"}}]}"#,
        r#"{"type":"tool_use","name":"Task","input":{"subagent_type":"coder"}}"#,
        r#"{"type":"assistant","message":{"content":[{"name":"Task","input":{"subagent_type":"coder"}}]},"id":7}"#,
    ] {
        let expected = if form.ends_with("7}") { "tester" } else { "coder" };
        assert_eq!(found(&format!("{first}\n{form}"), None).as_deref(), Some(expected), "{form}");
    }
}

#[test]
fn two_calls_on_one_line_are_distinguished_by_id() {
    let line = r#"{"type":"assistant","message":{"content":[{"id":"t1","name":"Agent","input":{"subagent_type":"one"}},{"id":"t2","name":"Agent","input":{"subagent_type":"two"}}]}}"#;
    assert_eq!(found(line, None).as_deref(), Some("two"));
    assert_eq!(found(line, Some("t1")).as_deref(), Some("one"));
    assert_eq!(found(line, Some("t3")), None);
}

#[test]
fn what_only_quotes_a_call_is_not_one() {
    let call = call("t1", "Agent", "coder");
    let quoted = serde_json::json!({"type":"user","message":{"content": call}}).to_string();
    let snapshot = call.replace(r#""type":"assistant""#, r#""type":"api-request-blob""#);
    let other_tool = call.replace(r#""Agent""#, r#""TaskCreate""#);
    assert_eq!(found(&format!("{quoted}\n{snapshot}\n{other_tool}\n"), None), None);
}

#[test]
fn an_unfinished_last_line_is_tolerated_and_any_other_is_not() {
    let call = call("t1", "Agent", "coder");
    assert_eq!(found(&format!("{call}\n{{\"type\":\"assi"), None).as_deref(), Some("coder"));
    for bad in ["{invalid json}\n{}\n", "{broken}\n", "not json\n"] {
        let path = file(&format!("{call}\n{bad}"));
        assert_eq!(last_agent_call(path.path(), None).unwrap(), CallLookup::Malformed);
    }
}

#[test]
fn a_transcript_of_one_hundred_megabytes_is_read_from_its_end() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(100 << 20).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    write!(file, "\n{}\n", call("t1", "Agent", "coder")).unwrap();
    let CallLookup::Call(call) = last_agent_call(file.path(), None).unwrap() else { panic!("not found") };
    assert_eq!(call.subagent_type, "coder");
    let mut lines = LinesFromEnd::open(file.path()).unwrap();
    while !matches!(lines.next_line().unwrap(), Some(BackwardLine::Whole(line)) if !line.is_empty()) {}
    assert!(lines.start >= (99 << 20), "no further back than needed");
}

#[test]
fn lines_come_from_last_to_first_whatever_the_chunks() {
    let long = "y".repeat(CHUNK * 3);
    let file = file(&format!("a\n\n{long}\nb"));
    let mut lines = LinesFromEnd::open(file.path()).unwrap();
    let mut all = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        let BackwardLine::Whole(line) = line else { panic!("too long") };
        all.push(String::from_utf8(line).unwrap());
    }
    assert_eq!(all, ["b", long.as_str(), "", "a"]);
}

#[test]
fn a_folder_or_a_missing_file_is_an_error_not_a_hang() {
    assert!(last_agent_call(Path::new("/"), None).is_err());
    assert!(last_agent_call(Path::new("/does/not/exist"), None).is_err());
}

/// Gives one byte more each time.
pub(super) struct SlowReader<'a>(&'a [u8], usize);

impl<'a> SlowReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        SlowReader(text.as_bytes(), 0)
    }
}

impl Read for SlowReader<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        let length = self.1.min(room.len()).min(self.0.len());
        let (now, later) = self.0.split_at(length);
        room[..length].copy_from_slice(now);
        self.0 = later;
        Ok(length)
    }
}

#[test]
fn a_text_is_found_wherever_the_pieces_of_a_file_part_it() {
    for at in 0..40 {
        let text = format!("{}needle{}", "n".repeat(at), "e".repeat(40 - at));
        assert!(holds(&mut SlowReader::new(&text), b"needle"), "{at}");
        assert!(!holds(&mut SlowReader::new(&text.replace('d', "x")), b"needle"), "{at}");
    }
    let far = format!("{}needle", "x".repeat(CHUNK - 3));
    assert!(holds(&mut far.as_bytes(), b"needle"));
}

#[test]
fn a_line_that_is_too_long_is_cut_and_the_next_is_read() {
    let long = "x".repeat(usize::try_from(MAX_LINE_BYTES).unwrap() + 10);
    let mut text = io::Cursor::new(format!("{long}\nshort\nlast"));
    assert_eq!(bounded_line(&mut text).unwrap().unwrap().len() as u64, MAX_LINE_BYTES);
    assert_eq!(bounded_line(&mut text).unwrap().unwrap(), b"short\n");
    assert_eq!(bounded_line(&mut text).unwrap().unwrap(), b"last");
    assert_eq!(bounded_line(&mut text).unwrap(), None);
}

#[test]
fn the_most_recent_call_counts_however_far_back_it_is() {
    let filler = format!("{{\"type\":\"user\",\"text\":\"{}\"}}\n", "x".repeat(1 << 10)).repeat(12 << 10);
    let text = format!("{}\n{}\n{filler}", call("t1", "Agent", "tester"), call("t2", "Agent", "coder"));
    assert_eq!(found(&text, None).as_deref(), Some("coder"));
    assert_eq!(found(&text, Some("t1")).as_deref(), Some("tester"));
}

#[test]
fn a_line_that_is_too_long_hides_no_call_unless_it_may_be_one() {
    let long = "x".repeat(MAX_BACKWARD_BYTES * 3);
    let text = |middle: &str| format!("{}\n{{\"a\":\"{middle}\"}}\n{{}}\n", call("t1", "Agent", "coder"));
    assert_eq!(found(&text(&long), None).as_deref(), Some("coder"));
    for at in [1, 1000, CHUNK - 5, MAX_BACKWARD_BYTES - 6, MAX_BACKWARD_BYTES * 2 - 3] {
        let hiding = format!("{}subagent_type{}", &long[..at], &long[at..]);
        let path = file(&text(&hiding));
        assert_eq!(last_agent_call(path.path(), None).unwrap(), CallLookup::TooLong, "{at}");
        assert_eq!(found(&text(&hiding), Some("t1")).as_deref(), Some("coder"), "{at}");
    }
}

#[test]
fn a_prompt_is_found_wherever_it_is_in_any_form() {
    let before = "{\"type\":\"system\",\"text\":\"of the user\"}\n".repeat(5_000);
    let first = |line: &str| first_prompt(file(&format!("{before}{line}\n")).path());
    let prompt = |is_main| Some(Prompt { text: "do it".into(), time: Some("t".into()), is_main });
    assert_eq!(first(r#"{"role":"user","content":"do it","timestamp":"t"}"#), prompt(false));
    assert_eq!(
        first(
            r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":"do it"},"timestamp":"t"}"#
        ),
        prompt(false)
    );
    assert_eq!(
        first(
            r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":"do it"},"timestamp":"t"}"#
        ),
        prompt(true)
    );
    let qwen = r#"{"type":"user","isSidechain":true,"message":{"role":"user","parts":[{"text":"do it"}]},"timestamp":"t"}"#;
    assert_eq!(first(qwen), prompt(false));
    assert_eq!(first("{}"), None);
}

#[test]
fn one_line_that_is_not_json_is_malformed_also_without_a_line_break() {
    for junk in ["not json", "{broken", "\n\n{\"type\":\"assi"] {
        assert_eq!(last_agent_call(file(junk).path(), None).unwrap(), CallLookup::Malformed, "{junk:?}");
    }
    for fine in ["", "\n", "{}", "{}\n{\"type\":\"assi"] {
        assert_eq!(last_agent_call(file(fine).path(), None).unwrap(), CallLookup::Nothing, "{fine:?}");
    }
}
