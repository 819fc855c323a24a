//! Reads one transcript: what a main thread or a subagent did.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::active_time::ActiveTime;
use super::called_agents::CalledAgent;
use super::usage::{self, AnswerContext, Answers};
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
const MAX_CALLS: usize = 20_000;
const MAX_FILES: usize = 2_000;

/// A longer first prompt is cut, in characters.
const MAX_PROMPT: usize = 100;

/// Lines that cannot be shown on a timeline.
const WITHOUT_TIME: &str = "without a time that can be read";

#[derive(Default)]
pub(super) struct Summary {
    /// `None` for the main thread.
    pub(super) agent: Option<(String, Meta)>,
    /// The folder in which it was started.
    pub(super) cwd: Option<PathBuf>,
    /// The first prompt that is not a slash command, else the first.
    pub(super) prompt: Option<String>,
    /// The name that Claude Code gave the session.
    summary: Option<String>,
    pub(super) started: Option<i64>,
    pub(super) ended: Option<i64>,
    pub(super) active: ActiveTime,
    pub(super) prompts: u64,
    pub(super) answers: Answers,
    /// Its file was written to a moment ago.
    pub(super) is_new: bool,
    /// The hash of its file's name.
    pub(super) file: u64,
    pub(super) tools: u64,
    pub(super) files: BTreeMap<String, u64>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) hooks: Vec<FailedHook>,
    last: LastMessage,
    last_message: Option<i64>,
    /// Claude Code's notifications about background agents, and their times.
    pub(super) notified: Vec<(i64, String, Sign)>,
    /// Agents that it called, and agents whose messages are in this transcript.
    pub(super) called: Vec<CalledAgent>,
    pub(super) progress: BTreeMap<String, Summary>,
    /// The facts about agents with a separate transcript.
    pub(super) names: Vec<(String, Meta)>,
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
    /// The agent that it starts.
    agent: Option<usize>,
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
    /// It continues.
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

/// Reads all transcripts, on all cores. Yields them in the order of their sessions, each as soon as the earlier ones are read.
pub(super) fn read(sessions: &[SessionFiles], since: Option<Timestamp>, mut take: impl FnMut(&str, Summary)) {
    let jobs: Vec<TranscriptJob<'_>> = sessions.iter().flat_map(jobs).collect();
    let (jobs, next) = (&jobs, &AtomicUsize::new(0));
    let (done, summaries) = mpsc::channel();
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|threads| {
        for _ in 0..cores {
            let done = done.clone();
            threads.spawn(move || {
                while let Some((at, job)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(at).map(|job| (at, job))
                } {
                    let summary = Summary::of(job.path, job.agent.clone(), since);
                    if done.send((at, job.session, summary)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let (mut waiting, mut due) = (BTreeMap::new(), 0);
        for (at, session, summary) in summaries {
            waiting.insert(at, (session, summary));
            while let Some((session, summary)) = waiting.remove(&due) {
                take(session, summary);
                due += 1;
            }
        }
    });
}

/// Whether an agent with a sign of this time may still be running.
pub(super) fn is_recent(time: i64) -> bool {
    let ago = Timestamp::now().as_millisecond().saturating_sub(time);
    u128::try_from(ago).unwrap_or_default() < fate::STILL_RUNNING.as_millis()
}

/// Whether a file was written to a moment ago.
fn is_new(path: &Path) -> bool {
    let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let ago = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
    ago.is_some_and(|ago| ago < fate::STILL_RUNNING)
}

impl Summary {
    fn of(path: &Path, agent: Option<(String, Meta)>, since: Option<Timestamp>) -> Summary {
        let (since, name) = (since.map(Timestamp::as_millisecond), path.display().to_string());
        let mut summary =
            Summary { agent, file: usage::hash(&name), is_new: is_new(path), ..Summary::default() };
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
        // Only needed while it was read.
        summary.open = HashMap::new();
        summary.answers.finish();
        match read {
            Ok(()) => summary,
            // Half of it would be in the sums, and it would be unknown which half.
            Err(error) => {
                let megabytes = path.metadata().map_or(0, |metadata| metadata.len()) / 100_000;
                let size = format!("{}.{} MB", megabytes / 10, megabytes % 10);
                let error = Some(format!("{name}: {error}; {size} are not in the report"));
                Summary { agent: summary.agent, counts: summary.counts, error, ..Summary::default() }
            }
        }
    }

    /// Takes a line. Returns the part that could not be read.
    pub(super) fn take(&mut self, entry: &TranscriptEntry<'_>, since: Option<i64>) -> Option<&'static str> {
        if let Some(progress) = &entry.progress {
            return self.agent_says(progress, since);
        }
        self.name(entry);
        if self.take_session_fact(entry) {
            return None;
        }
        let time = entry.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        let Some(time) = time.map(Timestamp::as_millisecond) else { return Some(WITHOUT_TIME) };
        if since.is_some_and(|since| time < since) {
            return None;
        }
        self.widen(time);
        if let Some(attachment) = &entry.attachment {
            if attachment.is_blocked_stop() {
                self.says(LastMessage::BlockedStop, time);
            }
            self.hooks.extend(failed_hook(attachment, time));
        }
        if let Some(prompt) = entry.prompt() {
            self.prompts += u64::from(entry.asks() && !self.is_of_agent(entry));
            self.says(
                if entry.is_interruption() { LastMessage::Interruption } else { LastMessage::Prompt },
                time,
            );
            self.notified.extend(fate::notified(&prompt).map(|(agent, sign)| (time, agent.to_owned(), sign)));
        }
        let unread = if entry.is("assistant") { self.take_answer(entry, time) } else { None };
        for BlockCall { id, name, input } in entry.calls() {
            self.says(LastMessage::Call, time);
            self.call(time, id, name, input);
        }
        for result in entry.results() {
            self.says(LastMessage::Result, time);
            self.result(time, result, entry);
        }
        unread
    }

    fn take_answer(&mut self, entry: &TranscriptEntry<'_>, time: i64) -> Option<&'static str> {
        let day = Timestamp::from_millisecond(time).unwrap_or_default().to_zoned(TimeZone::system()).date();
        let branch = entry.git_branch.text().filter(|branch| !branch.is_empty());
        let place = self.file.wrapping_add(entry.line.unwrap_or_default());
        let unread = self.answers.take(entry, &AnswerContext { day, branch, place });
        let last = if entry.is_api_error_message.is_true() {
            LastMessage::ApiError
        } else if entry.may_call() {
            LastMessage::Unread
        } else if matches!(Sign::of_answer(entry), Sign::Stopped | Sign::Answered) {
            LastMessage::Answer
        } else {
            LastMessage::Announcement
        };
        self.says(last, time);
        unread
    }

    /// Lines about the whole session, which need no time.
    fn take_session_fact(&mut self, entry: &TranscriptEntry<'_>) -> bool {
        if entry.is("summary") {
            let summary = entry.summary.text().and_then(first_line);
            self.summary = summary.or(self.summary.take());
            return true;
        }
        self.cost_of_client = entry.total_cost.number().or(self.cost_of_client);
        entry.total_cost.number().is_some()
    }

    /// The name of the session: its first prompt, whenever that was.
    fn name(&mut self, entry: &TranscriptEntry<'_>) {
        if self.cwd.is_none() {
            self.cwd = entry.cwd.text().map(PathBuf::from);
        }
        if self.prompt.as_deref().is_some_and(|known| !is_command(known))
            || !entry.asks()
            || self.is_of_agent(entry)
        {
            return;
        }
        let Some(prompt) = entry.submitted() else { return };
        if (self.prompt.is_none() || !is_command(&prompt))
            && let Some(line) = first_line(&prompt)
        {
            self.prompt = Some(line);
        }
    }

    /// The first prompt. The summary comes before a prompt that is only a command.
    pub(super) fn take_title(&mut self) -> Option<String> {
        match self.prompt.take() {
            Some(prompt) if !is_command(&prompt) => Some(prompt),
            prompt => self.summary.take().or(prompt),
        }
    }

    /// Whether a line of a main thread is of a subagent, as versions before 2.0 wrote them.
    fn is_of_agent(&self, entry: &TranscriptEntry<'_>) -> bool {
        self.agent.is_none() && entry.is_sidechain.is_true()
    }

    /// It was at work at this time.
    pub(super) fn widen(&mut self, time: i64) {
        self.started = Some(self.started.map_or(time, |known| known.min(time)));
        self.ended = Some(self.ended.map_or(time, |known| known.max(time)));
        self.active.add(time);
    }

    fn says(&mut self, last: LastMessage, time: i64) {
        (self.last, self.last_message) = (last, Some(time));
    }

    fn call(&mut self, time: i64, id: &str, name: &str, input: &str) {
        self.tools += 1;
        let input = serde_json::from_str(input).unwrap_or_default();
        let agent = if tools::starts_agent(name) { self.starts_agent(time, id, &input) } else { None };
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
        self.open.insert(id.to_owned(), PendingCall { call, file, agent });
    }

    fn result(&mut self, time: i64, result: &MessageBlock<'_>, entry: &TranscriptEntry<'_>) {
        let Some(open) = result.tool_use_id.text().and_then(|id| self.open.remove(id)) else { return };
        if let Some(agent) = open.agent {
            self.agent_ended(agent, time, result, entry);
        }
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

    /// Whether it may still be at work. A copied file is new, and its lines are not.
    pub(super) fn is_recent(&self) -> bool {
        self.is_new && self.ended.is_some_and(is_recent)
    }

    /// The sign in its last message, and the time.
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
    let kind = attachment.hook_failure()?;
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

fn is_command(prompt: &str) -> bool {
    prompt.starts_with('/')
}

/// The first line that is not empty.
fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(start_of(line, MAX_PROMPT))
}

pub(super) fn start_of(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder is opened and not read: an error of every user, also of root.
    #[test]
    fn a_transcript_that_cannot_be_read_is_named_with_its_size_and_not_in_the_sums() {
        let folder = tempfile::tempdir().unwrap();
        let summary = Summary::of(folder.path(), None, None);
        let error = summary.error.unwrap();
        assert!(error.starts_with(&folder.path().display().to_string()), "{error}");
        assert!(error.ends_with(" MB are not in the report"), "{error}");
        assert_eq!((summary.started, summary.prompts), (None, 0));
    }
}
