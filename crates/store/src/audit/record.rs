//! The record of one decision.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use conclaude_core::rule::Rule;
use conclaude_os::environment::Variables;
use conclaude_os::process::ExcerptLimits;

/// Reads the fields of a record from JSON. Others may have written it, so a field of another type counts as absent.
pub mod fields {
    use serde_json::Value;

    pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
        value.get(name)?.as_str()
    }

    pub fn text_or_empty<'a>(value: &'a Value, name: &str) -> &'a str {
        text(value, name).unwrap_or_default()
    }

    pub fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + Clone + use<'a> {
        value.get(name).and_then(Value::as_array).into_iter().flatten()
    }
}

/// Words of records that are not about the decision of a hook.
pub mod words {
    use conclaude_core::decide::Word;

    pub const DES_NEW: &str = "des new";
    pub const DES_START: &str = "des start";
    pub const DES_FINISH: &str = "des finish";
    pub const DES_SKIP: &str = "des skip";
    pub const DES_RUN: &str = "des run";
    pub const DES_FAIL: &str = "des fail";
    pub const DES_DONE: &str = "des done";
    pub const AUDIT_RESET: &str = "audit reset";
    pub const ALLOW: &str = "allow";
    pub const BUDGET_RAISE: &str = "budget raise";

    /// The subcommands that are recorded.
    pub const SUBCOMMANDS: [&str; 10] = [
        DES_START,
        DES_FINISH,
        DES_SKIP,
        DES_RUN,
        DES_FAIL,
        DES_DONE,
        DES_NEW,
        AUDIT_RESET,
        ALLOW,
        BUDGET_RAISE,
    ];

    pub const PASS: &str = "PASS";
    pub const FAIL: &str = "FAIL";
    pub const IN_PROGRESS: &str = "IN_PROGRESS";
    pub const SKIPPED: &str = "SKIPPED";
    pub const TODO: &str = "TODO";
    pub const DONE: &str = "DONE";
    pub const FAILED: &str = "FAILED";
    pub const PARTIAL: &str = "PARTIAL";
    /// An agent never stopped.
    pub const UNFINISHED: &str = "unfinished";
    pub const RESET: &str = "reset";
    /// The user permits a call that was denied or asked about.
    pub const PERMITTED: &str = "permitted";
    /// The user raised a budget.
    pub const RAISED: &str = "raised";
    /// A signal stopped us during the event.
    pub const INTERRUPTED: &str = "interrupted";

    /// The values of `decision` in these records.
    pub const DECISIONS: [&str; 13] = [
        INTERRUPTED,
        PASS,
        FAIL,
        IN_PROGRESS,
        SKIPPED,
        TODO,
        DONE,
        FAILED,
        PARTIAL,
        UNFINISHED,
        RESET,
        PERMITTED,
        RAISED,
    ];

    /// The meaning of a decision for the user.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Meaning {
        Good,
        Warning,
        Bad,
        /// Something was noted, and nothing was decided.
        Neutral,
    }

    impl Meaning {
        /// The meaning of a record's decision.
        #[must_use]
        pub fn of(decision: &str) -> Meaning {
            match Word::of(decision) {
                Some(Word::Allowed) => Meaning::Good,
                Some(Word::Warned | Word::Asked | Word::AllowedFailed) => Meaning::Warning,
                Some(Word::Blocked | Word::Denied | Word::AllowedDespiteFailure) => Meaning::Bad,
                None => match decision {
                    PASS | DONE => Meaning::Good,
                    INTERRUPTED | PARTIAL => Meaning::Warning,
                    UNFINISHED | FAIL | FAILED => Meaning::Bad,
                    _ => Meaning::Neutral,
                },
            }
        }
    }
}

/// The fields that are added when a record is written.
pub const ADDED: [(&str, &str); 6] = [
    ("seq", "The number of the record, from 1 without gaps, also across a reset."),
    ("time", "When the record was written."),
    ("prev", "The `hash` of the record before it."),
    ("hash", "The SHA-256 of the line without this field: the chain."),
    ("queued", "The record was queued first, so that it is written once."),
    ("unanchored", "The record was written without a copy of the end outside the project."),
];

/// The record of one decision. Its number, time and chain are added when it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// The hook event, or the subcommand: `des run`.
    pub event: String,
    /// When the event arrived; the time of the record is its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The span of the client that the decision belongs to, if `TRACEPARENT` names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<TraceParent>,
    /// The client, if it is not Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Claude Code's `permission_mode`: `default`, `acceptEdits`, `plan`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The agent's id; absent for the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The agent's name. In a record of `des …`, the one agent whose call for this step is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool call, at the events of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolRecord>,
    /// The step file, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The phase of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was extracted from the prompt's markers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub des: Option<Value>,
    /// The decision: `allowed`, `blocked`, `denied` and others; PASS, FAIL or SKIPPED for a phase.
    pub decision: String,
    /// Who decided, if not conclaude: `sandbox`, or `permissions` of Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// The given reason of a skip or of an admitted failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The findings of guards, gates and rules, each with its code, rule and fix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Value>,
    /// The commands that ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// Rules that gave context, allowed the call or made Claude continue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<AppliedRule>,
    /// Commands and steps that applied and did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skip>,
    /// The limit on blocks, if a check wanted to block a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// The desktop was notified of a success or a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<&'static str>,
    /// The error in the config. Its rules do not count then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_error: Option<Value>,
    /// The command that was run as proof of a phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    /// The answer of the judge in `des.judge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandRecord {
    /// The pattern of the config that selected it.
    pub pattern: String,
    /// The script.
    pub run: String,
    /// Its end, in words.
    pub status: String,
    /// The config's message about its failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its exit code, if it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// When it was started.
    pub started: String,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The verdict on the command: `pass`, `warn` or `block`.
    pub verdict: String,
    /// It was terminated at its timeout.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The value that the pattern matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// The first changed files that its `files` cover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The number of further changed files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<usize>,
    /// Its position in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// The end of both streams, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The input of the tool after the command changed it, as far as guards use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<ToolRecord>,
}

/// The limit on the recorded output of one command.
pub const MAX_OUTPUT_BYTES: usize = 4_096;

/// The limits on the recorded output of a failed command.
pub const OUTPUT_LIMITS: ExcerptLimits = ExcerptLimits { lines: 40, bytes: MAX_OUTPUT_BYTES };

/// A record without the output of its commands and of its proof. Returns whether there was any.
pub fn remove_output(record: &mut Value) -> bool {
    let proof = record.get_mut("evidence").and_then(Value::as_object_mut);
    let mut is_removed = proof.is_some_and(|proof| proof.shift_remove("output").is_some());
    let commands = record.get_mut("commands").and_then(Value::as_array_mut);
    for command in commands.into_iter().flatten().filter_map(Value::as_object_mut) {
        is_removed |= command.shift_remove("output").is_some();
    }
    is_removed
}

/// A rule that gave context, allowed the call, or made Claude continue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AppliedRule {
    /// Its effect.
    pub what: String,
    /// The rule and its position.
    pub rule: Rule,
    /// The value that it matched.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub matched: String,
    /// Present only if it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
}

/// The number of changed files that are named at each command.
pub const MAX_FILES: usize = 20;

/// Why the checks of a stop wait; the names of the agents follow.
pub const STILL_RUN: &str = "background agents still run";

/// A command or step that applied and did not run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skip {
    /// The command or step.
    pub what: String,
    /// Why it did not run.
    pub why: String,
    /// Its position in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// How often an agent was blocked, and the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// How often the agent was blocked.
    pub count: u32,
    /// The limit.
    pub max: u32,
    /// The rule that sets the limit.
    pub rule: Rule,
}

/// A tool call, with the parts that guards use: its file or its shell command.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolRecord {
    /// The tool's name.
    pub name: String,
    /// The id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<String>,
    /// The file of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The shell command of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the command is longer than its recorded part.
    #[serde(rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The start of relative paths, unless that is the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// A hash of the tool and its whole input, if guards denied the call or asked. With it the user can permit the same call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<String>,
}

/// A time in the form of records.
#[must_use]
pub fn in_record(time: Timestamp) -> String {
    time.round(jiff::Unit::Microsecond).unwrap_or(time).to_string()
}

/// The variable that Claude Code sets for hooks and shell commands if its tracing is on.
const VARIABLE: &str = "TRACEPARENT";

/// A valid `00-<trace>-<span>-<flags>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    text: String,
}

impl TraceParent {
    /// The span that a process with these variables works for.
    #[must_use]
    pub fn of(variables: &Variables) -> Option<TraceParent> {
        variables.get(VARIABLE)?.to_owned().try_into().ok()
    }

    /// 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.part(1)
    }

    /// 16 hexadecimal digits.
    #[must_use]
    pub fn span_id(&self) -> &str {
        self.part(2)
    }

    #[must_use]
    pub fn flags(&self) -> u8 {
        u8::from_str_radix(self.part(3), 16).unwrap_or(0)
    }

    fn part(&self, index: usize) -> &str {
        self.text.split('-').nth(index).unwrap_or_default()
    }
}

impl TryFrom<String> for TraceParent {
    type Error = &'static str;

    /// A later version may add parts; those before them keep their meaning.
    fn try_from(text: String) -> Result<TraceParent, &'static str> {
        let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let parts: Vec<&str> = text.trim().split('-').collect();
        let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
            return Err("a traceparent has four parts");
        };
        let lengths = [version.len(), trace.len(), span.len(), flags.len()];
        let is_valid = lengths == [2, 32, 16, 2]
            && [version, trace, span, flags].into_iter().all(|part| is_hex(part))
            && *version != "ff"
            && (*version != "00" || rest.is_empty())
            && trace.bytes().any(|byte| byte != b'0')
            && span.bytes().any(|byte| byte != b'0');
        if !is_valid {
            return Err("not a traceparent of W3C Trace Context");
        }
        Ok(TraceParent { text: format!("00-{trace}-{span}-{flags}") })
    }
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> String {
        parent.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        TraceParent::try_from(text.to_owned()).ok().map(String::from)
    }

    #[test]
    fn what_is_valid_is_kept_and_all_else_is_none() {
        let valid = "00-4a9aea12848f2328348bd68ac55dcd08-c1d20566b50b02e1-01";
        let parent = TraceParent::try_from(valid.to_owned()).unwrap();
        assert_eq!(parent.trace_id(), "4a9aea12848f2328348bd68ac55dcd08");
        assert_eq!((parent.span_id(), parent.flags()), ("c1d20566b50b02e1", 1));
        assert_eq!(read(&format!("cc{}-what-comes-later", &valid[2..])).unwrap(), valid);
        for broken in [
            "",
            "00",
            &valid.to_uppercase(),
            &valid.replace("00-4a", "ff-4a"),
            &format!("{valid}-more"),
            &valid.replace('9', "é"),
            "00-00000000000000000000000000000000-c1d20566b50b02e1-01",
            "00-4a9aea12848f2328348bd68ac55dcd08-0000000000000000-01",
        ] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }
}
