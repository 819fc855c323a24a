//! Plays a case as an event, without running its commands, and compares the answer with what the case expects.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Map, Value};

use conclaude_core::blocks::BlockCount;
use conclaude_core::config::{
    Case, ClientName, CommandExit, CommandResult, Expect, JsonObject, NonBlank, TextExpectation,
};
use conclaude_core::decide::Word;
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::sample::Sample;
use conclaude_core::event::{Blocking, Changes, EventKind};
use conclaude_core::plan::{Command, SkipReason};
use conclaude_core::text::clean;
use conclaude_core::types::Event;
use conclaude_engine::hooks::Environment;
use conclaude_engine::hooks::rehearse::{
    CommandEnd, Rehearsal, RehearsedAnswer, SimulatedOutput, SimulatedRun, rehearse,
};

/// The result of an event, in the words of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Allows,
    Denies,
    Asks,
    Blocks,
}

impl AnswerKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            AnswerKind::Allows => "allows",
            AnswerKind::Denies => "denies",
            AnswerKind::Asks => "asks",
            AnswerKind::Blocks => "blocks",
        }
    }
}

pub(super) struct ActualAnswer {
    pub(super) outcome: AnswerKind,
    /// Why it is denied, asked or blocked.
    pub(super) reason: String,
    pub(super) runs: Vec<String>,
    pub(super) context: String,
    /// The message for the user, here or later.
    pub(super) shown: String,
    /// Results for commands that do not run.
    pub(super) unused: Vec<String>,
    /// Commands that do not run because no file has changed, and why.
    pub(super) without_files: Vec<String>,
}

/// Plays a case in the folder of its file.
pub(super) fn play(case: &Case, folder: &Path, client: &'static Dialect) -> anyhow::Result<ActualAnswer> {
    let event = case.event.0;
    let payload = payload(case, &folder.to_string_lossy());
    let environment = Environment {
        project_dir: Some(folder.to_owned()),
        only_project: true,
        is_sample: true,
        changed: changed(case),
        ..Environment::of_process()
    };
    let client = case.client.map_or(client, ClientName::dialect);
    if let Some(missing) = client.missing_events().find(|missing| missing.event == event) {
        bail!("{event} never comes from {}: {}", client.title, missing.why);
    }
    let sample = Event::sample(client, event, payload).map_err(|error| anyhow!("{error}"))?;
    let rehearsal = rehearse(sample, &environment).map_err(|error| anyhow!("{error}"))?;
    let Some(rehearsal) = rehearsal else { bail!("conclaude has nothing to do with this event") };
    if let Some(error) = &rehearsal.config_error {
        bail!("{error}");
    }
    let end = |command: &Command| {
        let Some(result) = result(case, command) else {
            return SimulatedRun { end: CommandEnd::Exits(0), printed: Some(SimulatedOutput::default()) };
        };
        let end = match result.exit.unwrap_or_default() {
            CommandExit::Code(code) => CommandEnd::Exits(code),
            CommandExit::Timeout => CommandEnd::TimesOut,
        };
        let printed = SimulatedOutput {
            stdout: result.stdout.as_deref().unwrap_or_default(),
            stderr: result.stderr.as_deref().unwrap_or_default(),
        };
        SimulatedRun { end, printed: Some(printed) }
    };
    Ok(actual(event, case, &rehearsal, rehearsal.answer_to(end, BlockCount::Blocks(1))))
}

/// A case does not depend on the current work tree: without `changed` a stop has no changed files, and a tool those that it writes.
fn changed(case: &Case) -> Option<Vec<String>> {
    let is_stop = matches!(case.event.0.row().changes, Changes::SincePrompt | Changes::Agent);
    match &case.changed {
        Some(files) => Some(files.iter().map(|file| file.as_str().to_owned()).collect()),
        None if is_stop => Some(Vec::new()),
        None => None,
    }
}

/// The payload of the case. Missing fields are filled in as Claude Code would.
fn payload(case: &Case, folder: &str) -> Map<String, Value> {
    let fields = |given: &Option<JsonObject>| given.clone().unwrap_or_default().0;
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
    let mut results = case.results.iter().flatten();
    results.find(|(run, _)| run.trim() == command.run.trim()).map(|(_, result)| &result.0)
}

fn actual(event: EventKind, case: &Case, rehearsal: &Rehearsal, answered: RehearsedAnswer) -> ActualAnswer {
    let json: Value = serde_json::from_str(&answered.plain.stdout).unwrap_or_default();
    let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let reasons =
        ["/reason", "/hookSpecificOutput/permissionDecisionReason", "/hookSpecificOutput/decision/message"];
    let outcome = outcome(event, &answered, &json);
    let runs: Vec<String> = rehearsal.plan.commands().map(|command| command.run.trim().to_owned()).collect();
    let named = case.results.iter().flatten().map(|(run, _)| run.trim());
    let reason: Vec<String> = reasons.map(text).into_iter().filter(|reason| !reason.is_empty()).collect();
    let context = text("/hookSpecificOutput/additionalContext");
    ActualAnswer {
        // After a tool, a block has no reason: the model reads its context instead.
        reason: match outcome {
            AnswerKind::Blocks if reason.is_empty() => context.clone(),
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

fn outcome(event: EventKind, answered: &RehearsedAnswer, json: &Value) -> AnswerKind {
    if event == EventKind::PermissionRequest {
        return match json.pointer("/hookSpecificOutput/decision/behavior").and_then(Value::as_str) {
            Some("allow") => AnswerKind::Allows,
            Some("deny") => AnswerKind::Denies,
            _ => AnswerKind::Asks,
        };
    }
    match answered.word {
        Some(Word::Denied) => AnswerKind::Denies,
        Some(Word::Asked) => AnswerKind::Asks,
        Some(Word::Blocked) => AnswerKind::Blocks,
        _ => AnswerKind::Allows,
    }
}

/// The differences, as lines of a diff. Empty if there are none.
pub(super) fn difference(case: &Case, actual: &ActualAnswer) -> Vec<String> {
    let expect = &case.expect;
    let mut found = Vec::new();
    if let Some(allows) = expect.allows
        && allows != (actual.outcome == AnswerKind::Allows)
    {
        found.push(format!("- allows: {allows}"));
        found.extend(happened(actual));
    }
    let outcomes = [
        (AnswerKind::Denies, &expect.denies),
        (AnswerKind::Asks, &expect.asks),
        (AnswerKind::Blocks, &expect.blocks),
    ];
    for (outcome, said) in outcomes {
        let Some(said) = said else { continue };
        let text = if actual.outcome == outcome { Some(actual.reason.as_str()) } else { None };
        if !holds(said, text) {
            found.extend(lines('-', &format!("{}: ", outcome.word()), &shown(said)));
            found.extend(happened(actual));
        }
    }
    if let Some(runs) = &expect.runs {
        found.extend(commands(runs, &actual.runs));
    }
    for (key, said, text) in
        [("context", &expect.context, &actual.context), ("shows", &expect.shows, &actual.shown)]
    {
        let Some(said) = said else { continue };
        let text = Some(text.as_str()).filter(|text| !text.is_empty());
        if !holds(said, text) {
            found.extend(lines('-', &format!("{key}: "), &shown(said)));
            found.extend(lines('+', &format!("{key}: "), text.unwrap_or("nothing")));
        }
    }
    // With an unused result, the case tests something else than it says.
    found.extend(
        actual.unused.iter().map(|run| format!("- results: `{run}` is not a command that runs here")),
    );
    if !found.is_empty() && case.changed.is_none() {
        found.extend(actual.without_files.iter().map(|why| format!("  {why}: give `changed: […]`")));
    }
    found
}

fn holds(said: &TextExpectation, text: Option<&str>) -> bool {
    match said {
        TextExpectation::Anything(expected) => *expected == text.is_some(),
        // Answers are cleaned of tags; what is expected is written as the config has it.
        TextExpectation::Text(part) => {
            text.is_some_and(|text| text.contains(part) || text.contains(&clean(part)))
        }
    }
}

fn shown(said: &TextExpectation) -> String {
    match said {
        TextExpectation::Anything(flag) => flag.to_string(),
        TextExpectation::Text(text) => text.clone(),
    }
}

fn happened(actual: &ActualAnswer) -> Vec<String> {
    match actual.outcome {
        AnswerKind::Allows => vec!["+ allows: true".into()],
        other if actual.reason.is_empty() => vec![format!("+ {}: true", other.word())],
        other => lines('+', &format!("{}: ", other.word()), &actual.reason),
    }
}

fn lines(sign: char, key: &str, text: &str) -> Vec<String> {
    let indent = " ".repeat(key.len());
    let numbered = text.lines().enumerate();
    numbered
        .map(|(number, line)| format!("{sign} {}{line}", if number == 0 { key } else { &indent }))
        .collect()
}

/// Expectations that this event can never meet, whatever the config says.
pub(super) fn impossible(case: &Case) -> Vec<String> {
    let event = case.event.0;
    let blocking = event.blocking();
    let decides_tool = matches!(blocking, Blocking::Tool | Blocking::Permission);
    let blocks = !decides_tool && blocking != Blocking::Never;
    let Expect { denies, asks, blocks: blocked, .. } = &case.expect;
    let instead = match (decides_tool, blocks) {
        (true, _) => "write `denies`, `asks` or `allows`",
        (_, true) => "write `blocks` or `allows`",
        (false, false) => "it always goes on: write `runs`, `context` or `shows`",
    };
    let expected =
        [("denies", denies, decides_tool), ("asks", asks, decides_tool), ("blocks", blocked, blocks)];
    let is_wrong = |said: &Option<TextExpectation>| {
        said.as_ref().is_some_and(|said| *said != TextExpectation::Anything(false))
    };
    let wrong = expected.iter().filter(|(_, said, can)| !can && is_wrong(said));
    wrong.map(|(key, ..)| format!("`{key}` cannot happen at {event}: {instead}")).collect()
}

/// The lists side by side, as a diff of their entries.
fn commands(expected: &[NonBlank], actual: &[String]) -> Vec<String> {
    let expected: Vec<String> = expected.iter().map(|run| run.as_str().trim().to_owned()).collect();
    if expected == actual {
        return Vec::new();
    }
    let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &expected, actual);
    let mut found = vec!["  runs:".to_owned()];
    for change in changes.iter().flat_map(|change| change.iter_changes(&expected, actual)) {
        found.push(format!("{}   {}", change.tag(), change.value()));
    }
    found
}
