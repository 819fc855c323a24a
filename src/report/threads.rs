//! Reads one transcript: what a main thread or a subagent did.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

use super::usage::Answers;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::dialect::claude::transcript::{Attachment, BlockCall, MessageBlock, TranscriptEntry};
use conclaude_store::transcript::fate::{self, Sign};
use conclaude_store::transcript::identity::Meta;
use conclaude_store::transcript::sessions::SessionFiles;
use conclaude_store::transcript::stream::Counts;
use conclaude_store::transcript::stream::Stream;
use shell_effects::Access;

/// Longer inputs of tools are cut, in characters.
const MAX_DETAIL: usize = 160;

/// Longer outputs of hooks are cut.
const MAX_STDERR: usize = 1_000;

/// Calls and files of one thread beyond these are only counted.
const MAX_CALLS: usize = 50_000;
const MAX_FILES: usize = 2_000;

/// What cannot be shown on a timeline.
const WITHOUT_TIME: &str = "without a time that can be read";

#[derive(Default)]
pub(super) struct Summary {
    /// None for the main thread.
    pub(super) agent: Option<(String, Meta)>,
    pub(super) started: Option<i64>,
    pub(super) ended: Option<i64>,
    pub(super) prompts: u64,
    pub(super) answers: Answers,
    pub(super) tools: u64,
    pub(super) files: BTreeMap<String, u64>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) hooks: Vec<FailedHook>,
    last: LastMessage,
    last_message: Option<i64>,
    /// What Claude Code said of agents in the background, and when.
    pub(super) notified: Vec<(i64, String, Sign)>,
    /// It was written to a moment ago.
    pub(super) is_recent: bool,
    pub(super) cost_of_client: Option<f64>,
    pub(super) counts: Counts,
    /// Why it could not be read.
    pub(super) error: Option<String>,
    /// Calls that have no result yet, by id.
    open: HashMap<String, PendingCall>,
}

struct PendingCall {
    call: Option<usize>,
    file: Option<String>,
}

pub(super) struct ToolCall {
    pub(super) start: i64,
    pub(super) duration: Option<i64>,
    pub(super) tool: String,
    pub(super) detail: Option<String>,
    pub(super) problem: Option<&'static str>,
}

pub(super) struct FailedHook {
    pub(super) time: i64,
    pub(super) kind: String,
    pub(super) hook: String,
    pub(super) command: Option<String>,
    pub(super) duration_ms: Option<f64>,
    pub(super) stderr: Option<String>,
}

/// The last message of a transcript. It shows whether the agent has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastMessage {
    #[default]
    Nothing,
    Prompt,
    Interruption,
    Answer,
    /// It goes on.
    Announcement,
    ApiError,
    BlockedStop,
    Call,
    Result,
    /// It is only partly written.
    HalfWritten,
    /// It could not be read.
    Unread,
}

/// One transcript that is to be read.
struct TranscriptJob<'a> {
    session: &'a str,
    path: &'a Path,
    agent: Option<(String, Meta)>,
}

fn jobs(session: &SessionFiles) -> impl Iterator<Item = TranscriptJob<'_>> {
    let job = move |path, agent| TranscriptJob { session: &session.id, path, agent };
    let main = session.main.iter().map(move |path| job(path, None));
    let agents = session.agents.iter();
    main.chain(agents.map(move |agent| job(&agent.path, Some((agent.id.clone(), agent.meta.clone())))))
}

/// Reads all transcripts, on all cores, in the order of their sessions.
pub(super) fn read(sessions: &[SessionFiles], since: Option<Timestamp>) -> Vec<(&str, Summary)> {
    let jobs: Vec<TranscriptJob<'_>> = sessions.iter().flat_map(jobs).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|threads| {
        for _ in 0..cores {
            threads.spawn(|| {
                while let Some((at, job)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(at).map(|job| (at, job))
                } {
                    let summary = Summary::of(job.path, job.agent.clone(), since);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, job.session, summary));
                    }
                }
            });
        }
    });
    let mut found = done.into_inner().unwrap_or_default();
    found.sort_by_key(|(number, ..)| *number);
    found.into_iter().map(|(_, session, summary)| (session, summary)).collect()
}

/// Whether an agent with a sign of this time may still be running.
pub(super) fn is_recent(time: SystemTime) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|ago| ago < fate::STILL_RUNNING)
}

impl Summary {
    fn of(path: &Path, agent: Option<(String, Meta)>, since: Option<Timestamp>) -> Summary {
        let mut summary = Summary { agent, ..Summary::default() };
        let (since, name) = (since.map(Timestamp::as_millisecond), path.display().to_string());
        let read = Stream::open(path).and_then(|mut stream| {
            let read = stream.each(|entry| {
                if let Some(unread) = summary.take(entry, since) {
                    summary.counts.note(unread, &name, entry.line);
                }
                io::Result::Ok(())
            });
            summary.counts.add(&stream.counts);
            summary.counts.add(&stream.at_end());
            if stream.is_unfinished() {
                summary.last = LastMessage::HalfWritten;
            } else if stream.has_gap() {
                summary.last = LastMessage::Unread;
            }
            read
        });
        summary.answers.finish();
        summary.error = read.err().map(|error| format!("{}: {error}", path.display()));
        let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
        summary.is_recent = changed.is_some_and(is_recent);
        summary
    }

    /// Takes a line. Returns the part that could not be read.
    fn take(&mut self, entry: &TranscriptEntry<'_>, since: Option<i64>) -> Option<&'static str> {
        if let Some(cost) = entry.total_cost.number() {
            self.cost_of_client = Some(cost);
            return None;
        }
        let time = entry.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        let Some(time) = time.map(Timestamp::as_millisecond) else { return Some(WITHOUT_TIME) };
        if since.is_some_and(|since| time < since) {
            return None;
        }
        self.started = Some(self.started.map_or(time, |known| known.min(time)));
        self.ended = Some(self.ended.map_or(time, |known| known.max(time)));
        if let Some(attachment) = &entry.attachment {
            if fate::is_blocked_stop(attachment) {
                self.says(LastMessage::BlockedStop, time);
            }
            self.hooks.extend(failed_hook(attachment, time));
        }
        if let Some(prompt) = entry.prompt() {
            self.prompts += u64::from(entry.asks());
            self.says(
                if entry.is_interruption() { LastMessage::Interruption } else { LastMessage::Prompt },
                time,
            );
            self.notified.extend(fate::notified(&prompt).map(|(agent, sign)| (time, agent.to_owned(), sign)));
        }
        let mut unread = None;
        if entry.is("assistant") {
            unread = self.answers.take(entry);
            let last = if entry.is_api_error_message.is_true() {
                LastMessage::ApiError
            } else if entry.may_call() {
                LastMessage::Unread
            } else if Sign::of_answer(entry) == Sign::Stopped {
                LastMessage::Answer
            } else {
                LastMessage::Announcement
            };
            self.says(last, time);
        }
        for BlockCall { id, name, input } in entry.calls() {
            self.says(LastMessage::Call, time);
            self.call(time, id, name, input);
        }
        for result in entry.results() {
            self.says(LastMessage::Result, time);
            self.result(time, result);
        }
        unread
    }

    fn says(&mut self, last: LastMessage, time: i64) {
        (self.last, self.last_message) = (last, Some(time));
    }

    fn call(&mut self, time: i64, id: &str, name: &str, input: &str) {
        self.tools += 1;
        let input = serde_json::from_str(input).unwrap_or_default();
        let (detail, file) = match tools::what(name, &input) {
            ToolUse::File { access: Access::Write, path } => (Some(path), Some(path.to_owned())),
            ToolUse::File { path, .. } => (Some(path), None),
            ToolUse::Shell(command) | ToolUse::PowerShell(command) => (Some(command), None),
            ToolUse::Patch(_) | ToolUse::Other => (tools::described(&input), None),
        };
        let mut call = None;
        if self.calls.len() < MAX_CALLS {
            call = Some(self.calls.len());
            self.calls.push(ToolCall {
                start: time,
                duration: None,
                tool: start_of(name, MAX_DETAIL),
                detail: detail.map(|detail| start_of(detail, MAX_DETAIL)),
                problem: None,
            });
        }
        self.open.insert(id.to_owned(), PendingCall { call, file });
    }

    fn result(&mut self, time: i64, result: &MessageBlock<'_>) {
        let Some(open) = result.tool_use_id.text().and_then(|id| self.open.remove(id)) else { return };
        let failed = result.is_error.is_true();
        // A call that failed or was denied has not written the file.
        if !failed
            && let Some(file) = open.file
            && (self.files.contains_key(&file) || self.files.len() < MAX_FILES)
        {
            *self.files.entry(file).or_default() += 1;
        }
        if let Some(call) = open.call.and_then(|at| self.calls.get_mut(at)) {
            call.duration = Some((time - call.start).max(0));
            call.problem = if !failed {
                None
            } else if result.is_denied_by_hook() {
                Some("denied by a hook")
            } else {
                Some("failed")
            };
        }
    }

    /// Calls that are not kept.
    pub(super) fn left_out(&self) -> u64 {
        self.tools.saturating_sub(self.calls.len() as u64)
    }

    /// What its last message says, and when.
    pub(super) fn sign(&self) -> (i64, Sign) {
        // An unreadable message has no time, and comes after the readable ones.
        let is_unread = matches!(self.last, LastMessage::HalfWritten | LastMessage::Unread);
        let time = if is_unread { self.ended } else { self.last_message.or(self.ended) };
        (time.unwrap_or_default(), self.last_sign())
    }

    fn last_sign(&self) -> Sign {
        Sign::Working(Some(match self.last {
            LastMessage::Answer => return Sign::Stopped,
            LastMessage::Announcement => fate::NOTHING_FOLLOWS,
            LastMessage::BlockedStop => fate::STOP_WAS_BLOCKED,
            LastMessage::HalfWritten => return Sign::HalfWritten,
            LastMessage::Unread => return Sign::Unread,
            LastMessage::ApiError => return Sign::Unfinished(fate::API_ERROR.into()),
            LastMessage::Interruption => return Sign::Unfinished(fate::INTERRUPTED.into()),
            LastMessage::Call => "its last message calls a tool that never answered",
            LastMessage::Result => {
                "nothing follows its last tool's result: turn limit, or stopped from outside"
            }
            LastMessage::Prompt => "nothing follows its last prompt: stopped from outside",
            LastMessage::Nothing => "its transcript has no message",
        }))
    }
}

/// A failed hook that Claude Code recorded without showing it.
fn failed_hook(attachment: &Attachment<'_>, time: i64) -> Option<FailedHook> {
    let kind = match attachment.kind.text()? {
        "hook_non_blocking_error" | "hook_error_during_execution" => match attachment.exit_code.number() {
            Some(code) => format!("exited with code {code}, which blocks nothing"),
            None => "failed, which blocks nothing".to_owned(),
        },
        "hook_cancelled" if attachment.timed_out.is_true() => "timed out".to_owned(),
        "hook_cancelled" => "was cancelled".to_owned(),
        _ => return None,
    };
    let text = |text: Option<&str>, max| text.filter(|text| !text.is_empty()).map(|text| start_of(text, max));
    let name = attachment.hook_name.text().or(attachment.hook_event.text());
    Some(FailedHook {
        time,
        kind,
        hook: start_of(name.unwrap_or("a hook"), MAX_DETAIL),
        command: text(attachment.command.text(), MAX_STDERR),
        duration_ms: attachment.duration_ms.number(),
        stderr: text(attachment.stderr.text(), MAX_STDERR),
    })
}

pub(super) fn start_of(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
