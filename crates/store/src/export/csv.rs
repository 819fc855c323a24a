//! CSV by RFC 4180, for spreadsheets.

use serde_json::Value;

use super::attributes::{message, reasons, rule_part};
use crate::audit::fields::{list, text};
use crate::audit::{TraceParent, TrailEntry};
use conclaude_core::text::printable_line;

const COLUMNS: [&str; 26] = [
    "seq",
    "time",
    "event",
    "decision",
    "session",
    "agent",
    "agent_id",
    "tool",
    "tool_use_id",
    "tool_file",
    "tool_command",
    "step",
    "phase",
    "permission_mode",
    "reason",
    "findings",
    "rule",
    "rule_pattern",
    "rule_file",
    "rule_line",
    "matched",
    "message",
    "commands",
    "failed_commands",
    "trace_id",
    "doubt",
];

/// The characters with which a formula of a spreadsheet starts.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

pub struct Csv;

impl Csv {
    pub fn heading() -> String {
        row(COLUMNS.map(str::to_owned))
    }

    /// A record as a line, with its end.
    pub fn line(entry: &TrailEntry) -> String {
        row(COLUMNS.map(|column| cell(column, entry)))
    }
}

fn row(cells: [String; COLUMNS.len()]) -> String {
    cells.map(|cell| quoted(&cell)).join(",") + "\r\n"
}

fn cell(column: &str, entry: &TrailEntry) -> String {
    let record = &entry.record;
    let said = |value: &Value, name: &str| text(value, name).unwrap_or_default().to_owned();
    let joined = |parts: Vec<String>| parts.join("; ");
    match column {
        // The number is ours: it is never a text of somebody else.
        "seq" => record.get("seq").and_then(Value::as_u64).map(|seq| seq.to_string()).unwrap_or_default(),
        "findings" => plain(&joined(
            list(record, "findings")
                .map(|one| format!("{}: {}", said(one, "code"), said(one, "what")))
                .collect(),
        )),
        // One value for each rule that decided.
        "rule" => plain(&of_reasons(record, |reason| rule_part(reason, "key"))),
        "rule_pattern" => plain(&of_reasons(record, |reason| rule_part(reason, "pattern"))),
        "rule_file" => plain(&of_reasons(record, |reason| rule_part(reason, "file"))),
        "rule_line" => plain(&of_reasons(record, |reason| rule_part(reason, "line"))),
        "matched" => plain(&of_reasons(record, |reason| said(reason, "matched"))),
        "message" => plain(&of_reasons(record, |reason| message(reason).to_owned())),
        "commands" => plain(&joined(
            list(record, "commands")
                .map(|one| format!("`{}` {}", said(one, "run"), said(one, "status")))
                .collect(),
        )),
        "failed_commands" => {
            let failed = list(record, "commands")
                .filter(|one| one.get("exit_code").and_then(Value::as_i64) != Some(0));
            failed.count().to_string()
        }
        "trace_id" => {
            let parent =
                text(record, "traceparent").and_then(|text| TraceParent::try_from(text.to_owned()).ok());
            parent.map(|parent| parent.trace_id().to_owned()).unwrap_or_default()
        }
        "doubt" => plain(entry.doubt.as_deref().unwrap_or_default()),
        "tool" => plain(&said(record.get("tool").unwrap_or(&Value::Null), "name")),
        "tool_use_id" => plain(&said(record.get("tool").unwrap_or(&Value::Null), "use_id")),
        "tool_file" => plain(&said(record.get("tool").unwrap_or(&Value::Null), "file")),
        "tool_command" => plain(&said(record.get("tool").unwrap_or(&Value::Null), "command")),
        field => plain(&said(record, field)),
    }
}

fn of_reasons(record: &Value, part: impl Fn(&Value) -> String) -> String {
    reasons(record).into_iter().map(part).collect::<Vec<_>>().join("; ")
}

/// Untrusted text: on one line, without invisible characters, and never a formula, which a spreadsheet would run when it opens
/// the file.
fn plain(text: &str) -> String {
    let text = printable_line(text);
    if text.trim_start().starts_with(FORMULA) { format!("'{text}") } else { text }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) || cell.starts_with(' ') || cell.ends_with(' ') {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(record: Value) -> String {
        Csv::line(&TrailEntry { line: record.to_string(), record, doubt: None })
    }

    #[test]
    fn cells_are_quoted_as_rfc_4180_says() {
        let record =
            serde_json::json!({ "seq": 7, "event": "a,b", "agent": "say \"hi\"", "reason": "one\ntwo" });
        assert_eq!(line(record), "7,,\"a,b\",,,\"say \"\"hi\"\"\",,,,,,,,,one two,,,,,,,,,0,,\r\n");
        assert_eq!(Csv::heading().matches(',').count(), COLUMNS.len() - 1);
    }

    #[test]
    fn tags_are_in_the_file_as_they_were_and_controls_are_not() {
        let record = serde_json::json!({ "reason": "<b>\u{1b}[2J</b>\u{200b}" });
        assert_eq!(line(record).split(',').nth(14).unwrap(), "<b></b>");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\u{200b}=cmd|' /C calc'!A0"] {
            let line = line(serde_json::json!({ "reason": text }));
            let cell = line.split(',').nth(14).unwrap();
            assert!(cell.trim_start_matches('"').starts_with('\''), "{text:?}: {line}");
        }
    }
}
