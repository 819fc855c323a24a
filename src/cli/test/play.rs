//! A case as an event: the payload is filled in, the plan is made and decided, nothing is run.

use std::path::Path;

use serde_json::{Map, Value};

use conclaude_core::blocks::BlockCount;
use conclaude_core::config::{Case, CommandResult, Ended, Fields, NonBlank};
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::sample::Sample;
use conclaude_core::event::{Changes, EventKind};
use conclaude_core::plan::{Command, SkipReason};
use conclaude_engine::hooks::Environment;
use conclaude_engine::hooks::rehearse::{
    CommandEnd, Rehearsal, RehearsedAnswer, SimulatedOutput, SimulatedRun, rehearse,
};

/// What an event came to, as cases expect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Allows,
    Denies,
    Asks,
    Blocks,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Allows => "allows",
            Outcome::Denies => "denies",
            Outcome::Asks => "asks",
            Outcome::Blocks => "blocks",
        }
    }
}

pub(super) struct Actual {
    pub(super) outcome: Outcome,
    /// Why it is denied, asked or blocked.
    pub(super) reason: String,
    pub(super) runs: Vec<String>,
    pub(super) context: String,
    /// What the user is shown, here or later.
    pub(super) shown: String,
    /// Results for commands that do not run.
    pub(super) unused: Vec<String>,
    /// Commands that do not run for want of changed files, and why.
    pub(super) without_files: Vec<String>,
}

/// Plays a case in the folder of its file.
pub(super) fn play(case: &Case, folder: &Path) -> Result<Actual, String> {
    let event = case.event.0;
    let payload = payload(case, &folder.to_string_lossy());
    let environment = Environment {
        project_dir: Some(folder.to_owned()),
        only_project: true,
        is_sample: true,
        changed: changed(case),
        ..Environment::default()
    };
    let input = Value::Object(payload).to_string();
    let rehearsal = rehearse(event, input.as_bytes(), &environment).map_err(|error| error.to_string())?;
    let Some(rehearsal) = rehearsal else { return Err("conclaude has nothing to do with this event".into()) };
    if let Some(error) = &rehearsal.config_error {
        return Err(error.to_string());
    }
    let end = |command: &Command| {
        let Some(result) = result(case, command) else {
            return SimulatedRun { end: CommandEnd::Exits(0), printed: Some(SimulatedOutput::default()) };
        };
        let end = match result.exit {
            Ended::Exits(code) => CommandEnd::Exits(code),
            Ended::TimesOut => CommandEnd::TimesOut,
        };
        SimulatedRun {
            end,
            printed: Some(SimulatedOutput { stdout: &result.stdout, stderr: &result.stderr }),
        }
    };
    Ok(actual(event, case, &rehearsal, rehearsal.answer_to(end, BlockCount::Blocks(1))))
}

/// The work tree of the moment is no part of a case: without `changed` a stop has no changed files, and a tool those that it writes.
fn changed(case: &Case) -> Option<Vec<String>> {
    let given =
        case.changed.as_ref().map(|files| files.iter().map(|file| file.as_str().to_owned()).collect());
    let is_stop = matches!(case.event.0.row().changes, Changes::SincePrompt | Changes::Agent);
    given.or_else(|| is_stop.then(Vec::new))
}

/// What is not given is filled in as Claude Code would.
fn payload(case: &Case, folder: &str) -> Map<String, Value> {
    let fields = |given: &Option<Fields>| given.clone().unwrap_or_default().0;
    let sample = Sample {
        event: case.event.0,
        session: "conclaude-test",
        cwd: folder,
        agent: case.agent.as_ref().map(NonBlank::as_str),
        tool: case.tool.as_ref().map(NonBlank::as_str),
        tool_input: fields(&case.input),
        fields: fields(&case.payload),
    };
    sample.payload()
}

fn result<'a>(case: &'a Case, command: &Command) -> Option<&'a CommandResult> {
    let results = case.results.iter().flat_map(|results| &results.0);
    results.into_iter().find(|(run, _)| run.trim() == command.run.trim()).map(|(_, result)| result)
}

fn actual(event: EventKind, case: &Case, rehearsal: &Rehearsal, answered: RehearsedAnswer) -> Actual {
    let json: Value = serde_json::from_str(&answered.answer.stdout).unwrap_or_default();
    let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let reasons =
        ["/reason", "/hookSpecificOutput/permissionDecisionReason", "/hookSpecificOutput/decision/message"];
    let outcome = outcome(event, &answered, &json);
    let runs: Vec<String> = rehearsal.plan.commands().map(|command| command.run.trim().to_owned()).collect();
    let named = case.results.iter().flat_map(|results| &results.0).map(|(run, _)| run.trim());
    let reason: Vec<String> = reasons.map(text).into_iter().filter(|reason| !reason.is_empty()).collect();
    let context = text("/hookSpecificOutput/additionalContext");
    Actual {
        // What the model reads beside a tool's result is a block of ours without a reason of its own.
        reason: match outcome {
            Outcome::Blocks if reason.is_empty() => context.clone(),
            _ => reason.join("\n"),
        },
        outcome,
        unused: named.filter(|run| !runs.iter().any(|one| one == run)).map(str::to_owned).collect(),
        without_files: without_files(rehearsal),
        runs,
        context,
        shown: [text("/systemMessage"), answered.later.unwrap_or_default()].join("\n").trim().to_owned(),
    }
}

fn without_files(rehearsal: &Rehearsal) -> Vec<String> {
    let skipped = rehearsal.not_run.iter().filter(|one| one.reason == SkipReason::Files);
    skipped.map(|one| format!("`{}` did not run: {}", one.script.trim(), one.why)).collect()
}

fn outcome(event: EventKind, answered: &RehearsedAnswer, json: &Value) -> Outcome {
    if event == EventKind::PermissionRequest {
        return match json.pointer("/hookSpecificOutput/decision/behavior").and_then(Value::as_str) {
            Some("allow") => Outcome::Allows,
            Some("deny") => Outcome::Denies,
            _ => Outcome::Asks,
        };
    }
    match answered.word {
        Some(Word::Denied) => Outcome::Denies,
        Some(Word::Asked) => Outcome::Asks,
        Some(Word::Blocked) => Outcome::Blocks,
        _ => Outcome::Allows,
    }
}
