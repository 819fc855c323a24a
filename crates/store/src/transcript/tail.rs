//! The end of a transcript as text, for the judge.

use std::path::Path;

use serde_json::Value;

use super::{BackwardLine, LinesFromEnd, MessageLine};
use conclaude_core::text::{Excerpt, head_and_tail};

/// At most this many lines are read: many of them contain no message.
const MAX_LINES: usize = 2_000;

/// A longer message, tool input or tool result is cut in the middle. In characters.
const MAX_ENTRY: usize = 2_000;

/// The last messages and tool calls, oldest first, with at most `limit` characters. Empty if the transcript cannot be read.
#[must_use]
pub fn tail(path: &Path, limit: usize) -> String {
    let Ok(mut lines) = LinesFromEnd::open(path) else { return String::new() };
    let (mut entries, mut used) = (Vec::new(), 0);
    for _ in 0..MAX_LINES {
        let Ok(Some(line)) = lines.next_line() else { break };
        let BackwardLine::Whole(line) = line else { continue };
        let Some(entry) = MessageLine::read(&line).and_then(|line| entry(&line)) else { continue };
        used += entry.chars().count() + 1;
        if used > limit {
            entries.push("… what came before is left out …".to_owned());
            break;
        }
        entries.push(entry);
    }
    entries.reverse();
    entries.join("\n")
}

/// One line of the transcript as text: the role, and its messages, calls or results.
fn entry(line: &MessageLine) -> Option<String> {
    let role = line.role().filter(|role| matches!(*role, "user" | "assistant"))?;
    let parts: Vec<String> = match line.content()? {
        Value::String(text) => vec![cut(text)],
        Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() { None } else { Some(format!("{role}: {}", parts.join("\n"))) }
}

fn block(block: &Value) -> Option<String> {
    let kind = block.get("type").and_then(Value::as_str);
    let name = || block.get("name").and_then(Value::as_str).unwrap_or("a tool");
    match kind {
        Some("tool_use") => {
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            Some(format!("[calls {}] {}", name(), cut(&input)))
        }
        Some("tool_result") => {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or_default();
            let text = block.get("content").and_then(super::text_of).unwrap_or_default();
            Some(format!("[{}] {}", if failed { "error" } else { "result" }, cut(&text)))
        }
        _ => block.as_str().or(block.get("text")?.as_str()).map(cut),
    }
}

fn cut(text: &str) -> String {
    match head_and_tail(text, MAX_ENTRY) {
        None => text.to_owned(),
        Some(Excerpt { head, tail, left_out }) => format!("{head}… {left_out} characters left out …{tail}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;

    use super::*;

    fn file(lines: &[Value]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        file
    }

    #[test]
    fn messages_calls_and_results_in_either_form() {
        let call = json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "I look."}, {"type": "tool_use", "name": "Bash", "input": {"command": "npm test"}}]}});
        let result = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "is_error": true, "content": [{"type": "text", "text": "1 failed"}]}]}});
        let file = file(&[
            json!({"role": "user", "content": "Do it."}),
            json!({"type": "attachment", "content": "x"}),
            call,
            result,
            json!({"role": "assistant", "content": "Done."}),
        ]);
        insta::assert_snapshot!(tail(file.path(), 1_000), @r#"
        user: Do it.
        assistant: I look.
        [calls Bash] {"command":"npm test"}
        user: [error] 1 failed
        assistant: Done.
        "#);
        insta::assert_snapshot!(tail(file.path(), 40), @"
        … what came before is left out …
        user: [error] 1 failed
        assistant: Done.
        ");
        assert_eq!(tail(Path::new("/does/not/exist"), 1_000), "");
    }

    #[test]
    fn a_long_entry_is_cut_in_the_middle() {
        let file = file(&[json!({"role": "assistant", "content": "x".repeat(100_000)})]);
        let text = tail(file.path(), 20_000);
        assert!(text.len() < 2_100 && text.contains("98000 characters left out"), "{}", text.len());
    }
}
