//! The answer of a user's command in Claude Code's protocol for hooks, read as Claude Code 2.1.325 reads it.
//!
//! JSON on stdout is read first. Where that does not block, exit 2 does, with the text of stderr. An answer that is not valid
//! is reported and has no effect of its own.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::event::{Blocking, EventKind};
use crate::outcome::Verdict;
use crate::text::{clean, indent};

/// The longest stdout that is read as an answer.
pub const MAX_STDOUT: usize = 1 << 20;

/// The end of a hook, and its output.
#[derive(Clone, Copy, Debug)]
pub struct HookEnd<'a> {
    /// `None` if it was killed, or never ran.
    pub exit_code: Option<i32>,
    pub is_timeout: bool,
    /// Its status in words that follow "it".
    pub status: &'a str,
    pub stdout: &'a str,
    /// Whether stdout is longer than its stored part.
    pub is_cut: bool,
    pub stderr: &'a str,
}

/// The effect of a hook's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReply {
    /// Pass, Grant, Ask or Block; Warn if it failed in a way that Claude Code ignores.
    pub verdict: Verdict,
    /// The reason to block, ask or grant.
    pub reason: Option<String>,
    /// The context for Claude.
    pub context: Option<String>,
    /// The message for the user.
    pub message: Option<String>,
    /// The replaced input of the tool.
    pub updated_input: Option<Map<String, Value>>,
    /// `continue: false`: Claude stops, for this reason, which may be empty.
    pub stop_reason: Option<String>,
    pub passed_on: UnknownReplyFields,
    /// Why the answer, or a part of it, has no effect.
    pub problem: Option<String>,
    /// Further information for the user, in words that follow the command's name.
    pub remark: Option<String>,
}

/// Fields that we do not interpret, and pass on unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownReplyFields {
    /// Next to `hookSpecificOutput`.
    pub answer: Map<String, Value>,
    /// In `hookSpecificOutput`.
    pub output: Map<String, Value>,
    /// In the `decision` about a permission.
    pub permission: Map<String, Value>,
}

impl UnknownReplyFields {
    /// If both have a key, the value of the other one counts.
    pub fn extend(&mut self, other: &UnknownReplyFields) {
        let pairs = [
            (&mut self.answer, &other.answer),
            (&mut self.output, &other.output),
            (&mut self.permission, &other.permission),
        ];
        for (own, more) in pairs {
            own.extend(more.clone());
        }
    }
}

/// Claude Code's text for a hook without a reason.
const NO_REASON: &str = "Blocked by hook";
const NO_STDERR: &str = "No stderr output";

/// How much of the stderr of a failed hook the user sees: lines, and bytes.
const SHOWN_LINES: usize = 5;
const SHOWN_BYTES: usize = 600;

/// Why such an answer has no effect. Passed on, it would make Claude Code ignore all that conclaude answers.
const ASYNC: &str = "it prints `async`, so that Claude Code goes on without it, and its decision does not count. conclaude has waited \
                     for its end; a hook in the settings of Claude Code runs in the background";

/// With one of these on stderr and nothing on stdout, exit 2 of a stop is that of a shell that found no script.
const MISSING_SCRIPT: [&str; 2] = ["no such file", "can't open"];

impl HookReply {
    /// An answer without an effect.
    fn nothing() -> HookReply {
        HookReply {
            verdict: Verdict::Pass,
            reason: None,
            context: None,
            message: None,
            updated_input: None,
            stop_reason: None,
            passed_on: UnknownReplyFields::default(),
            problem: None,
            remark: None,
        }
    }

    /// Reads the answer.
    #[must_use]
    pub fn read(event: EventKind, end: &HookEnd<'_>) -> HookReply {
        if is_async(end.stdout) {
            return HookReply { verdict: Verdict::Warn, problem: Some(ASYNC.into()), ..HookReply::nothing() };
        }
        if end.is_timeout || end.exit_code.is_none() {
            let problem = Some(format!("{}, so it checked nothing", end.status));
            return HookReply { verdict: Verdict::Warn, problem, ..HookReply::nothing() };
        }
        let stdout = Stdout::read(event, end);
        let is_answer = matches!(stdout, Stdout::Answer(_));
        let mut reply = match stdout {
            Stdout::Answer(reply) => *reply,
            Stdout::Text(text) => HookReply::of_text(event, end, text),
            Stdout::Broken { why, text } => {
                HookReply { problem: Some(why), ..HookReply::of_text(event, end, text) }
            }
            Stdout::Invalid(why) => HookReply { problem: Some(why), ..HookReply::nothing() },
        };
        reply.add_exit_code(event, end);
        if is_answer {
            reply.remark_failure(end);
        } else {
            reply.report_failure(end);
        }
        if matches!(event.blocking(), Blocking::Stop(_))
            && reply.verdict < Verdict::Block
            && reply.context.is_some()
        {
            // Context makes the agent continue, so it is a block.
            reply.verdict = Verdict::Block;
        }
        if reply.problem.is_some() && reply.verdict == Verdict::Pass {
            reply.verdict = Verdict::Warn;
        }
        reply
    }

    /// Reads output that is not JSON.
    fn of_text(event: EventKind, end: &HookEnd<'_>, text: &str) -> HookReply {
        let is_given = event.row().prints_context || event.blocking() == Blocking::Worktree;
        let context = if is_given && end.exit_code == Some(0) && !text.is_empty() {
            Some(text.to_owned())
        } else {
            None
        };
        HookReply { context, ..HookReply::nothing() }
    }

    fn add_exit_code(&mut self, event: EventKind, end: &HookEnd<'_>) {
        let blocks = match event.blocking() {
            // For a permission only the decision in JSON counts.
            Blocking::Never | Blocking::Permission => false,
            // Without a path no worktree is created, whatever the exit code is.
            Blocking::Worktree => end.exit_code != Some(0),
            _ => end.exit_code == Some(2),
        };
        if blocks && self.verdict < Verdict::Block {
            let stderr = end.stderr.trim();
            if is_missing_script(event, end) {
                self.problem = Some(format!("Claude Code takes this for a script that is missing: {stderr}"));
            } else {
                let reason = if stderr.is_empty() { NO_STDERR } else { stderr };
                self.block(event, reason.to_owned());
            }
        } else if end.exit_code != Some(0) && self.verdict == Verdict::Pass {
            self.verdict = Verdict::Warn;
        }
    }

    /// A hook that fails without a block allows. This is reported to the user, as by Claude Code.
    fn report_failure(&mut self, end: &HookEnd<'_>) {
        let has_effect = self.verdict >= Verdict::Block || !self.passed_on.answer.is_empty();
        if end.exit_code == Some(0) || has_effect {
            return;
        }
        self.problem = Some(match self.problem.take() {
            Some(problem) => format!("{problem} (it {})", end.status),
            None => format!("{}, so it decided nothing{}", end.status, last_lines(end.stderr)),
        });
    }

    /// Claude Code uses the answer whatever the exit code is, and does not show the failure. A guard that crashes after printing
    /// `{}` would silently allow.
    fn remark_failure(&mut self, end: &HookEnd<'_>) {
        if end.exit_code != Some(0) && self.verdict < Verdict::Block && self.problem.is_none() {
            let stderr = last_lines(end.stderr);
            self.remark = Some(format!("{}; its answer still counts{stderr}", end.status));
        }
    }

    /// Blocks in the way of our own blocks at the event.
    fn block(&mut self, event: EventKind, reason: String) {
        match event.blocking() {
            Blocking::Never | Blocking::Permission => {}
            // It ends the turn, which our own blocks do not. So it is passed on.
            Blocking::Context => {
                self.verdict = Verdict::Warn;
                self.passed_on.answer.insert("decision".into(), "block".into());
                self.passed_on.answer.insert("reason".into(), reason.into());
            }
            _ => {
                self.verdict = Verdict::Block;
                self.reason = Some(reason);
            }
        }
    }

    /// Whether it makes an agent continue without an error.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.verdict == Verdict::Block && self.reason.is_none()
    }
}

/// The last lines of a hook's stderr. They follow our message about the hook.
fn last_lines(stderr: &str) -> String {
    let text = clean(stderr.trim());
    let start = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
    let lines: Vec<&str> = text.get(start..).unwrap_or_default().lines().collect();
    match lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default() {
        [] => String::new(),
        [line] => format!(": {line}"),
        lines => format!(":\n{}", indent(&lines.join("\n"), "  ")),
    }
}

/// Whether the hook asks Claude Code to continue without it, in its first line or in its whole answer. No tool and no stop waits
/// for its later answer.
fn is_async(stdout: &str) -> bool {
    let text = stdout.trim_start();
    let first = text.lines().next().unwrap_or_default();
    text.starts_with('{')
        && [first, text].into_iter().any(|json| {
            serde_json::from_str::<Value>(json)
                .is_ok_and(|answer| answer.get("async") == Some(&Value::Bool(true)))
        })
}

fn is_missing_script(event: EventKind, end: &HookEnd<'_>) -> bool {
    let stderr = end.stderr.to_lowercase();
    matches!(event.blocking(), Blocking::Stop(_))
        && end.stdout.trim().is_empty()
        && MISSING_SCRIPT.iter().any(|words| stderr.contains(words))
}

/// The content of stdout.
enum Stdout<'a> {
    Answer(Box<HookReply>),
    Text(&'a str),
    /// It starts like an answer and is not valid JSON: Claude Code reads it as text.
    Broken {
        why: String,
        text: &'a str,
    },
    /// JSON that is not an answer.
    Invalid(String),
}

impl<'a> Stdout<'a> {
    fn read(event: EventKind, end: &HookEnd<'a>) -> Stdout<'a> {
        let text = end.stdout.trim();
        if !text.starts_with('{') {
            return Stdout::Text(text);
        }
        if end.is_cut {
            return Stdout::Invalid(format!("its stdout is longer than {} MiB", MAX_STDOUT >> 20));
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(answer)) => match of_answer(event, answer) {
                Ok(reply) => Stdout::Answer(Box::new(reply)),
                Err(error) => Stdout::Invalid(error.to_string()),
            },
            Ok(_) => Stdout::Text(text),
            Err(error) => Stdout::Broken {
                why: format!("its stdout begins with `{{` and is not valid JSON: {error}"),
                text,
            },
        }
    }
}

/// Why JSON is not an answer.
#[derive(Debug, Error)]
enum AnswerError {
    #[error("`{key}` of its answer is {found}, expected {expected}")]
    Field { key: &'static str, found: String, expected: String },
    #[error("`hookSpecificOutput` of its answer has no `hookEventName`")]
    NoEventName,
    #[error("`decision` of its answer has no `behavior`")]
    NoBehavior,
}

/// Takes a field of the expected type. `null` equals absent.
fn take<T>(
    map: &mut Map<String, Value>,
    key: &'static str,
    expected: &str,
    read: fn(Value) -> Option<T>,
) -> Result<Option<T>, AnswerError> {
    let Some(value) = map.shift_remove(key) else { return Ok(None) };
    let shown: String = value.to_string().chars().take(60).collect();
    match read(value) {
        Some(value) => Ok(Some(value)),
        None => Err(AnswerError::Field { key, found: shown, expected: expected.to_owned() }),
    }
}

fn take_text(map: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, AnswerError> {
    let text = |value| if let Value::String(text) = value { Some(text) } else { None };
    take(map, key, "text", text)
}

fn take_map(
    map: &mut Map<String, Value>,
    key: &'static str,
) -> Result<Option<Map<String, Value>>, AnswerError> {
    let object = |value| if let Value::Object(map) = value { Some(map) } else { None };
    take(map, key, "an object", object)
}

/// The verdict of a field with these words.
fn take_word(
    map: &mut Map<String, Value>,
    key: &'static str,
    words: &[(&str, Verdict)],
) -> Result<Option<Verdict>, AnswerError> {
    let Some(text) = take_text(map, key)? else { return Ok(None) };
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, verdict)) => Ok(Some(*verdict)),
        None => {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let shown: String = text.chars().take(60).collect();
            Err(AnswerError::Field { key, found: format!("{shown:?}"), expected: known.join(" or ") })
        }
    }
}

const DECISIONS: [(&str, Verdict); 2] = [("approve", Verdict::Grant), ("block", Verdict::Block)];
const PERMISSIONS: [(&str, Verdict); 3] =
    [("allow", Verdict::Grant), ("deny", Verdict::Block), ("ask", Verdict::Ask)];
const BEHAVIORS: [(&str, Verdict); 2] = [("allow", Verdict::Grant), ("deny", Verdict::Block)];

/// A permission is neither given nor refused, but left open.
const DEFER: &str = "defer";

fn of_answer(event: EventKind, mut answer: Map<String, Value>) -> Result<HookReply, AnswerError> {
    let goes_on =
        take(&mut answer, "continue", "`true` or `false`", |value| value.as_bool())?.unwrap_or(true);
    let stop_reason = take_text(&mut answer, "stopReason")?.unwrap_or_default();
    let message = take_text(&mut answer, "systemMessage")?.filter(|text| !text.is_empty());
    // It hides stdout in the transcript. There stdout is ours now.
    take(&mut answer, "suppressOutput", "`true` or `false`", |value| value.as_bool())?;
    let decision = take_word(&mut answer, "decision", &DECISIONS)?;
    let reason = take_text(&mut answer, "reason")?;
    let mut reply = match take_map(&mut answer, "hookSpecificOutput")? {
        Some(output) => of_output(event, output)?,
        None => HookReply::nothing(),
    };
    reply.passed_on.answer = answer;
    let given = |reason: Option<String>| match reason {
        Some(reason) if !reason.is_empty() => reason,
        _ => NO_REASON.to_owned(),
    };
    match decision {
        Some(Verdict::Block) => reply.block(event, given(reason)),
        // It has no meaning at other events.
        Some(_) if event.blocking() == Blocking::Tool && reply.verdict == Verdict::Pass => {
            reply.verdict = Verdict::Grant;
            reply.reason = reason;
        }
        _ => {}
    }
    if reply.verdict == Verdict::Block {
        reply.reason = Some(given(reply.reason.take()));
    }
    reply.message = message;
    reply.stop_reason = if goes_on { None } else { Some(stop_reason) };
    Ok(reply)
}

fn of_output(event: EventKind, mut output: Map<String, Value>) -> Result<HookReply, AnswerError> {
    let named = take_text(&mut output, "hookEventName")?;
    match named.as_deref() {
        Some(name) if name == event.name() => {}
        Some(name) => {
            let (found, expected) = (format!("{name:?}"), format!("{:?}", event.name()));
            return Err(AnswerError::Field { key: "hookEventName", found, expected });
        }
        None => return Err(AnswerError::NoEventName),
    }
    let mut reply = HookReply::nothing();
    reply.context = take_text(&mut output, "additionalContext")?.filter(|text| !text.is_empty());
    match event.blocking() {
        Blocking::Tool => {
            let is_deferred = output.get("permissionDecision").is_some_and(|value| value == DEFER);
            let decided =
                if is_deferred { None } else { take_word(&mut output, "permissionDecision", &PERMISSIONS)? };
            reply.verdict = decided.unwrap_or(Verdict::Pass);
            reply.reason = take_text(&mut output, "permissionDecisionReason")?;
            reply.updated_input = take_map(&mut output, "updatedInput")?;
        }
        Blocking::Permission => {
            if let Some(mut decision) = take_map(&mut output, "decision")? {
                let behavior = take_word(&mut decision, "behavior", &BEHAVIORS)?;
                reply.verdict = behavior.ok_or(AnswerError::NoBehavior)?;
                reply.reason = take_text(&mut decision, "message")?;
                reply.updated_input = take_map(&mut decision, "updatedInput")?;
                reply.passed_on.permission = decision;
            }
        }
        _ => {}
    }
    reply.passed_on.output = output;
    Ok(reply)
}
