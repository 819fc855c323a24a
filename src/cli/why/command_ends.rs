//! The ends of a record's commands, to simulate its event again.

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::reassessment::{input, text};
use conclaude_core::event::{Blocking, EventKind};
use conclaude_core::plan::Command;
use conclaude_engine::hooks::rehearse::{CommandEnd, Rehearsal, SimulatedOutput, SimulatedRun};
use conclaude_store::audit::fields::list;

/// How the recorded commands ended.
pub(super) struct CommandEnds<'a>(Vec<RecordedEnd<'a>>);

struct RecordedEnd<'a> {
    run: &'a str,
    end: CommandEnd,
    verdict: Option<&'a str>,
    /// The output of a hook, as far as it matters and is recorded: its decision, and the changed input.
    answer: Option<String>,
}

/// The answer of a hook, as far as it is recorded.
fn hook_answer(event: EventKind, command: &Value) -> anyhow::Result<Option<String>> {
    let decision = match text(command, "verdict") {
        Some("ask") => Some("ask"),
        Some("grant") => Some("allow"),
        _ => None,
    };
    let changed = command.get("updated_input").map(input).transpose()?;
    if changed.as_ref().is_some_and(Map::is_empty) {
        bail!("what a hook changed the input of the tool to is not recorded");
    }
    if decision.is_none() && changed.is_none() {
        return Ok(None);
    }
    let changed = changed.map(|input| ("updatedInput".to_owned(), Value::from(input)));
    let mut output = Map::new();
    output.insert("hookEventName".to_owned(), event.name().into());
    if event.blocking() == Blocking::Permission {
        let behavior = [("behavior".to_owned(), Value::from("allow"))];
        output
            .insert("decision".to_owned(), behavior.into_iter().chain(changed).collect::<Map<_, _>>().into());
    } else {
        output.extend(decision.map(|decision| ("permissionDecision".to_owned(), decision.into())));
        output.extend(changed);
    }
    Ok(Some(json!({ "hookSpecificOutput": output }).to_string()))
}

impl<'a> CommandEnds<'a> {
    /// # Errors
    /// The missing part.
    pub(super) fn of(event: EventKind, record: &'a Value) -> anyhow::Result<CommandEnds<'a>> {
        let mut ends = Vec::new();
        for command in list(record, "commands") {
            let Some(run) = text(command, "run") else { continue };
            let code =
                command.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
            let is_timeout = command.get("timed_out").and_then(Value::as_bool) == Some(true);
            let is_warning = text(command, "verdict") == Some("warn");
            let end = match (is_timeout, is_warning) {
                (true, true) => CommandEnd::TimesOutAgain,
                (true, false) => CommandEnd::TimesOut,
                (false, true) => CommandEnd::ExitsAgain(code.unwrap_or(1)),
                (false, false) => CommandEnd::Exits(code.unwrap_or(1)),
            };
            let answer = hook_answer(event, command)?;
            ends.push(RecordedEnd { run, end, verdict: text(command, "verdict"), answer });
        }
        Ok(CommandEnds(ends))
    }

    fn find(&self, command: &Command) -> Option<&RecordedEnd<'a>> {
        self.0.iter().find(|one| one.run == command.run)
    }

    /// A command that did not run then is assumed to succeed.
    pub(super) fn of_command(&self, command: &Command) -> SimulatedRun<'_> {
        let Some(RecordedEnd { end, verdict, answer, .. }) = self.find(command) else {
            return CommandEnd::Exits(0).into();
        };
        // The answer of a hook may be on its stdout, which is not recorded. Its verdict is recorded.
        match (*verdict, answer) {
            (Some("block"), _) if command.is_hook() => CommandEnd::Exits(2).into(),
            (_, Some(answer)) if command.is_hook() => {
                let printed = SimulatedOutput { stdout: answer, stderr: "" };
                SimulatedRun { end: CommandEnd::Exits(0), printed: Some(printed) }
            }
            _ => (*end).into(),
        }
    }

    pub(super) fn new_commands(&self, rehearsal: &Rehearsal) -> Vec<String> {
        let new = rehearsal.plan.commands().filter(|command| self.find(command).is_none());
        new.map(|command| {
            format!(
                "`{}` would run as well ({}), and is assumed to succeed",
                conclaude_core::messages::short(&command.run),
                command.rule
            )
        })
        .collect()
    }

    pub(super) fn removed_commands(&self, rehearsal: &Rehearsal) -> Vec<String> {
        let is_planned = |run: &str| rehearsal.plan.commands().any(|command| command.run == run);
        let gone = self.0.iter().map(|one| one.run).filter(|run| !is_planned(run));
        gone.map(|run| {
            let left = rehearsal.not_run.iter().find(|one| one.script == run);
            let untrusted = rehearsal.plan.untrusted.as_ref();
            let untrusted = untrusted.filter(|off| off.commands().any(|command| command.run == run));
            let why = match (left, untrusted) {
                (Some(one), _) => format!("{} {}", one.rule, one.after_rule()),
                (None, Some(off)) => format!("it is off, {}", off.why),
                (None, None) => "it is no longer in the config".into(),
            };
            format!("`{}` would not run: {why}", conclaude_core::messages::short(run))
        })
        .collect()
    }
}
