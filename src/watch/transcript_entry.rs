//! A line of a transcript changes its thread, and may be shown as a line.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::line::{ActivityLine, Details, MAX_DETAIL, MAX_TEXT, Mark, cut, cut_lines};
use super::thread::{AgentThread, OpenCall, PastCall};
use super::words::{inside, named};
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::dialect::claude::transcript::{Attachment, BlockCall, MessageBlock, TranscriptEntry};
use conclaude_core::dialect::claude::{agents, prompt};
use conclaude_store::transcript::fate::{self, Sign};

/// The changes of a line besides the state of its thread.
#[derive(Default)]
pub(super) struct EntryUpdate {
    pub(super) line: Option<ActivityLine>,
    /// The new title of the session.
    pub(super) title: Option<String>,
    /// The result of an agent in the background.
    pub(super) of_agent: Option<(String, Sign)>,
}

/// The end of a call, and the limit on calls that are kept.
struct CallEnd {
    time: Timestamp,
    max_calls: usize,
}

impl AgentThread {
    pub(super) fn take_entry(
        &mut self,
        number: u64,
        time: Timestamp,
        entry: &TranscriptEntry<'_>,
        max_calls: usize,
    ) -> EntryUpdate {
        self.usage.take(entry);
        self.answered(time);
        let line = |mark: Mark, text: String| ActivityLine {
            number,
            time,
            mark,
            text,
            took: None,
            details: Details::Known(Vec::new()),
            parts: Vec::new(),
            call: None,
            is_said: true,
        };
        let mut said = EntryUpdate::default();
        if let Some(attachment) = &entry.attachment {
            let is_block = attachment.is_blocked_stop();
            if is_block {
                self.change(Sign::Working(None), time);
            }
            said.line =
                if is_block { block_of_others(attachment, &line) } else { failed_hook(attachment, &line) };
        }
        if let Some(text) = entry.prompt() {
            self.take_prompt(&text, time, &line, &mut said);
        }
        if entry.is("assistant") {
            said.line = self.take_answer(entry, time, &line);
        }
        for BlockCall { id, name, input } in entry.calls() {
            let input = serde_json::from_str(input).unwrap_or_default();
            let detail = detail_of(name, &input, entry.cwd.text());
            let (tool, agent_type) = (cut(name, MAX_TEXT), agent_type_of(name, &input));
            self.open_call(OpenCall { id: id.to_owned(), tool, detail, agent_type, since: time });
            self.change(Sign::Working(None), time);
        }
        for result in entry.results() {
            let ended = CallEnd { time, max_calls };
            said.line = self.take_result(result, &ended, &line).or(said.line);
            self.change(Sign::Working(None), time);
        }
        said
    }

    fn take_prompt(
        &mut self,
        text: &str,
        time: Timestamp,
        line: &dyn Fn(Mark, String) -> ActivityLine,
        said: &mut EntryUpdate,
    ) {
        if let Some((agent, sign)) = fate::notified(text) {
            said.of_agent = Some((agent.to_owned(), sign));
            self.change(Sign::Working(None), time);
            return;
        }
        if prompt::is_local_command(text) {
            return;
        }
        if prompt::is_interruption(text) {
            self.open.clear();
            let is_agent = self.id.is_some();
            self.change(
                if is_agent { Sign::Unfinished(fate::INTERRUPTED.into()) } else { Sign::Stopped },
                time,
            );
            said.line = Some(line(Mark::Warning, "interrupted by the user".into()));
            return;
        }
        self.change(Sign::Working(None), time);
        if self.id.is_some() {
            // An agent's first prompt is its task.
            self.prompt.get_or_insert_with(|| cut_lines(text, MAX_DETAIL));
            return;
        }
        let details = Details::Known(vec![("prompt", cut_lines(text, MAX_DETAIL))]);
        said.title = Some(cut(text, MAX_TEXT));
        said.line =
            Some(ActivityLine { details, ..line(Mark::None, format!("prompt: {}", cut(text, MAX_TEXT))) });
    }

    fn take_answer(
        &mut self,
        entry: &TranscriptEntry<'_>,
        time: Timestamp,
        line: &dyn Fn(Mark, String) -> ActivityLine,
    ) -> Option<ActivityLine> {
        if entry.is_api_error_message.is_true() {
            let text = entry.blocks().iter().find_map(MessageBlock::text).unwrap_or("no message".into());
            self.change(Sign::Unfinished(fate::API_ERROR.into()), time);
            let details = Details::Known(vec![("error", cut_lines(&text, MAX_DETAIL))]);
            return Some(ActivityLine {
                details,
                ..line(Mark::Bad, format!("error of the API: {}", cut(&text, MAX_TEXT)))
            });
        }
        self.change(Sign::of_answer(entry), time);
        None
    }

    fn take_result(
        &mut self,
        result: &MessageBlock<'_>,
        ended: &CallEnd,
        line: &dyn Fn(Mark, String) -> ActivityLine,
    ) -> Option<ActivityLine> {
        let id = result.tool_use_id.text()?;
        let at = self.open.iter().position(|call| call.id == id)?;
        let call = self.open.remove(at);
        let is_denied = result.is_denied_by_hook();
        let problem = match result.is_error.is_true() {
            _ if is_denied => Some("denied by a hook"),
            true => Some("failed"),
            false => None,
        };
        let took = (ended.time.as_millisecond() - call.since.as_millisecond()).max(0);
        self.finish_call(PastCall { call: call.clone(), took, problem }, ended.max_calls);
        if !is_denied {
            return None;
        }
        let why = result.answer(MAX_DETAIL).unwrap_or_default();
        let what = named(&call.tool, &call.detail);
        let text = format!("{what} denied by a hook: {}", cut(&why, MAX_TEXT));
        let details = Details::Known(vec![("tool", what), ("reason", cut_lines(&why, MAX_DETAIL))]);
        Some(ActivityLine { details, call: Some(id.to_owned()), ..line(Mark::Bad, cut(&text, MAX_TEXT)) })
    }
}

fn agent_type_of(tool: &str, input: &Map<String, Value>) -> Option<String> {
    let name = if tools::starts_agent(tool) { agents::called(input) } else { "" };
    if name.is_empty() { None } else { Some(cut(name, MAX_TEXT)) }
}

fn detail_of(tool: &str, input: &Map<String, Value>, cwd: Option<&str>) -> String {
    let detail = match tools::what(tool, input) {
        ToolUse::File { path, .. } => Some(inside(path, cwd.unwrap_or_default())),
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => Some(command),
        ToolUse::Patch(_) | ToolUse::Other => tools::described(input),
    };
    detail.map(|detail| cut(detail, MAX_TEXT)).unwrap_or_default()
}

/// A stop that another hook blocked. Our own blocks are in the trail.
fn block_of_others(
    attachment: &Attachment<'_>,
    line: &dyn Fn(Mark, String) -> ActivityLine,
) -> Option<ActivityLine> {
    let error: Value = serde_json::from_str(attachment.blocking_error?).ok()?;
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let (command, reason) = (text("command"), text("blockingError"));
    if command.contains("conclaude") {
        return None;
    }
    let event = attachment.hook_event.text().unwrap_or_default();
    let details = vec![("hook", cut_lines(command, MAX_DETAIL)), ("reason", cut_lines(reason, MAX_DETAIL))];
    let text = cut(&format!("{event} blocked by another hook: {reason}"), MAX_TEXT);
    Some(ActivityLine { details: Details::Known(details), ..line(Mark::Bad, text) })
}

/// A hook that failed. Claude Code does not show that.
fn failed_hook(
    attachment: &Attachment<'_>,
    line: &dyn Fn(Mark, String) -> ActivityLine,
) -> Option<ActivityLine> {
    let what = attachment.hook_failure()?;
    let name = attachment.hook_name.text().or(attachment.hook_event.text()).unwrap_or("a hook");
    let text = |value: Option<&str>| cut_lines(value.unwrap_or_default(), MAX_DETAIL);
    let details = vec![
        ("hook", cut(name, MAX_TEXT)),
        ("command", text(attachment.command.text())),
        ("stderr", text(attachment.stderr.text())),
    ];
    let details = Details::Known(details.into_iter().filter(|(_, value)| !value.is_empty()).collect());
    #[expect(clippy::cast_possible_truncation, reason = "a number of milliseconds")]
    let took = attachment.duration_ms.number().map(|ms| ms as i64);
    Some(ActivityLine { details, took, ..line(Mark::Warning, cut(&format!("hook {name} {what}"), MAX_TEXT)) })
}
