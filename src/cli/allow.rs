//! `conclaude allow`: the user permits a call that was denied or asked about.

use std::io;

use anyhow::{anyhow, bail};
use serde_json::Value;

use super::consent::{agrees, refuse_agents};
use super::explain::layout::{BOLD, FAINT, marked};
use super::out::Out;
use super::why;
use conclaude_core::config::Patterns;
use conclaude_core::decide::Word;
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::permit;
use conclaude_core::rule;
use conclaude_core::text::printable_line;
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_store::audit::fields::{list, text};
use conclaude_store::audit::{
    self, Filter, Reader, Record, ToolRecord, TraceParent, Trail, TrailEntry, reasons, words,
};
use conclaude_store::load;
use conclaude_store::root::Root;
use conclaude_store::store::permits::{Permit, PermitScope, PermittedCall};

pub(super) const EXAMPLES: &str = "Examples:
  conclaude allow           the newest call that was denied or asked about
  conclaude allow 17        the call of the record with this number in `conclaude audit show`

The call is shown, and you are asked. The next call of the same tool with the same input in the same session is let through by guards and rules for permissions; conclaude's own
files and settings, and gates, are not affected. Only for a user at a terminal: exits with 1 where an agent calls it.";

#[derive(clap::Args)]
pub(super) struct AllowRequest {
    /// The number of the record, as `conclaude audit show` and `conclaude why` print it [default: the newest such call]
    #[arg(value_name = "RECORD")]
    number: Option<u64>,
    /// Permit one more call, the default
    #[arg(long, conflicts_with = "session")]
    once: bool,
    /// Permit it any number of times in this session
    #[arg(long)]
    session: bool,
}

pub(super) fn run(request: &AllowRequest) -> anyhow::Result<Exit> {
    refuse_agents("permit its own calls")?;
    let root = super::root()?;
    let trail = Trail::of(&root.folder, None);
    let entry = match request.number {
        Some(number) => why::numbered(&trail, number)?,
        None => newest(&trail)?,
    };
    let denied = DeniedCall::of(&entry)?;
    let scope = if request.session { PermitScope::Session } else { PermitScope::Once };
    let mut out = Out::stdout();
    denied.print(&mut out)?;
    if !agrees(&mut out, &format!("Permit it {}?", scope.in_words()))? {
        writeln!(out, "not permitted")?;
        return Ok(Exit::Failure);
    }
    denied.permit(&root, scope)?;
    let what = match scope {
        PermitScope::Once => "the next such call of this session is allowed",
        PermitScope::Session => "such calls are allowed until this session ends",
    };
    writeln!(out, "permitted: {what}")?;
    Ok(Exit::Success)
}

fn newest(trail: &Trail) -> anyhow::Result<TrailEntry> {
    let mut found: Option<TrailEntry> = None;
    Reader::new(trail).each(&Filter::default(), |entry| {
        if is_refused(&entry.record) {
            found = Some(entry.clone());
        }
        Ok(())
    })?;
    found.ok_or_else(|| anyhow!("no call was denied or asked about in {}", trail.folder().display()))
}

/// Whether it is the record of a tool call that was denied or asked about.
fn is_refused(record: &Value) -> bool {
    let is_call = [EventKind::PreToolUse, EventKind::PermissionRequest]
        .iter()
        .any(|event| text(record, "event") == Some(event.row().name));
    let decision = text(record, "decision").and_then(Word::of);
    is_call && matches!(decision, Some(Word::Denied | Word::Asked))
}

/// Whether `conclaude allow` permits the call of this record.
pub(super) fn is_permitted(entry: &TrailEntry) -> bool {
    DeniedCall::of(entry).is_ok()
}

/// A call that was denied or asked about, and can be permitted.
struct DeniedCall<'a> {
    record: &'a Value,
    number: u64,
    session: &'a str,
    tool: &'a Value,
    input: &'a str,
}

impl<'a> DeniedCall<'a> {
    fn of(entry: &'a TrailEntry) -> anyhow::Result<DeniedCall<'a>> {
        let record = &entry.record;
        let number = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
        if let Some(doubt) = &entry.doubt {
            bail!("record {number} cannot be trusted: {doubt}");
        }
        if !is_refused(record) {
            bail!("record {number} is not a tool call that was denied or asked about");
        }
        let is_against = |finding: &&Value| matches!(text(finding, "verdict"), Some("block" | "ask"));
        for finding in list(record, "findings").filter(is_against) {
            let rule = finding.get("rule").unwrap_or(&Value::Null);
            let built_in =
                if text(rule, "key") == Some(rule::BUILT_IN) { text(rule, "pattern") } else { None };
            permit::check_coverage(text(finding, "code").unwrap_or_default(), built_in)
                .map_err(|why| anyhow!("the call of record {number} cannot be permitted: {why}"))?;
        }
        let (Some(session), Some(tool)) = (text(record, "session"), record.get("tool")) else {
            bail!("record {number} names no session and no tool");
        };
        let Some(input) = text(tool, "input_sha256") else {
            bail!("the call of record {number} cannot be permitted: its input is not in the record");
        };
        Ok(DeniedCall { record, number, session, tool, input })
    }

    fn print(&self, out: &mut Out<'_>) -> io::Result<()> {
        writeln!(out, "{BOLD}{}: {}{BOLD:#}", self.number, printable_line(&why::title(self.record)))?;
        let (findings, commands) = (list(self.record, "findings"), list(self.record, "commands"));
        for reason in reasons::counting(findings, commands) {
            marked(out, 2, Some((FAINT, "·")), &reason)?;
        }
        Ok(())
    }

    fn permit(&self, root: &Root, scope: PermitScope) -> anyhow::Result<()> {
        let permit = Permit { record: self.number, time: audit::in_record(jiff::Timestamp::now()) };
        let call = PermittedCall {
            root: &root.folder,
            session: self.session,
            cwd: text(self.tool, "cwd"),
            input: self.input,
        };
        let config = load::all(root, Patterns::All).config;
        let written =
            audit::write(&root.folder, config.audit.as_ref(), &self.as_record(scope), &Budget::unlimited())?;
        if let Some(problem) = written {
            writeln!(Out::stderr(), "conclaude: {problem}")?;
        }
        call.permit(scope, &permit).map_err(|error| anyhow!("the permit cannot be written: {error}"))
    }

    fn as_record(&self, scope: PermitScope) -> Record {
        let owned = |name: &str| text(self.tool, name).map(str::to_owned);
        Record {
            event: words::ALLOW.into(),
            session: Some(self.session.to_owned()),
            agent: text(self.record, "agent").map(str::to_owned),
            tool: Some(ToolRecord {
                name: owned("name").unwrap_or_default(),
                file: owned("file"),
                command: owned("command"),
                cwd: owned("cwd"),
                ..ToolRecord::default()
            }),
            decision: words::PERMITTED.into(),
            reason: Some(format!("the user permits the call of record {} {}", self.number, scope.in_words())),
            traceparent: TraceParent::of(&Variables::of_process()),
            ..Record::default()
        }
    }
}
