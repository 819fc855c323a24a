//! `audit show`: one record, in a few lines.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::text::clean_line;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const FAINT: Style = Style::new().dimmed();

pub(super) fn record(out: &mut impl Write, record: &Value) -> io::Result<()> {
    heading(out, record)?;
    for finding in list(record, "findings") {
        let phase = text(finding, "phase").map(|phase| format!(" {phase}")).unwrap_or_default();
        let (code, what) = (text(finding, "code"), text(finding, "what"));
        writeln!(out, "        {}{phase}: {}", code.unwrap_or_default(), what.unwrap_or_default())?;
    }
    for command in list(record, "commands") {
        let duration = command.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
        let (run, status) = (text(command, "run"), text(command, "status"));
        writeln!(
            out,
            "        `{}` {} in {duration} ms",
            run.unwrap_or_default(),
            status.unwrap_or_default()
        )?;
    }
    if let Some(evidence) = record.get("evidence") {
        let code = evidence.get("exit_code").and_then(Value::as_i64).unwrap_or(-1);
        let command = text(evidence, "command").unwrap_or_default();
        writeln!(out, "        `{command}` exited with code {code}")?;
    }
    Ok(())
}

fn heading(out: &mut impl Write, record: &Value) -> io::Result<()> {
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
    let decision = text(record, "decision").unwrap_or_default();
    let style = match decision.as_str() {
        "blocked" | "denied" | "unfinished" | "FAIL" | "FAILED" | "allowed_despite_failure" => BAD,
        _ => GOOD,
    };
    write!(out, "{FAINT}{seq:>5} {}{FAINT:#} ", text(record, "time").unwrap_or_default())?;
    write!(out, "{} {style}{decision}{style:#}", text(record, "event").unwrap_or_default())?;
    for name in ["agent", "agent_id", "step", "phase"] {
        if let Some(value) = text(record, name) {
            write!(out, " {FAINT}{name}={FAINT:#}{value}")?;
        }
    }
    writeln!(out)
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(clean_line)
}

fn list<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    record.get(name).and_then(Value::as_array).into_iter().flatten()
}
