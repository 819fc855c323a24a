//! Simulates a recorded event with the current config, as far as the record has its fields.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use serde_json::{Map, Value, json};

use super::command_ends::CommandEnds;
use crate::cli::explain::{ExplainEvent, explain, json as explain_json};
use conclaude_core::blocks::BlockCount;
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::sample::Sample;
use conclaude_core::dialect::claude::{fields, tools};
use conclaude_core::dialect::{self, Dialect, claude};
use conclaude_core::event::{Changes, EventKind, Subject};
use conclaude_core::finding::Code;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::SkipReason;
use conclaude_core::rule::Rule;
use conclaude_core::text::{escaped_json, printable_untagged};
use conclaude_engine::hooks::rehearse::Rehearsal;
use conclaude_store::audit::STILL_RUN;
use conclaude_store::audit::fields::{list, text as recorded_text};
use shell_effects::quoted_if_needed;

/// The parts of an explanation that a record determines. The others would describe a sample.
const CONSIDERED: [&str; 5] = ["config", "effects", "guards", "permissions", "not_run"];

/// The key of rules that compare the start of a prompt.
const SLASH_COMMANDS: &str = "userPromptSubmit.slashCommands.commands";

/// The current config's judgement of a recorded event.
pub(super) enum Reassessment {
    /// Decided as before, or differently, for these reasons.
    Decided {
        decision: &'static str,
        is_same: bool,
        why: Vec<String>,
        command: Option<String>,
        rehearsal: Box<Rehearsal>,
    },
    /// It cannot be determined because this is missing.
    Unknown(String),
}

impl Reassessment {
    pub(super) fn json(&self) -> Value {
        match self {
            Reassessment::Decided { decision, is_same, why, command, rehearsal } => {
                let mut considered = explain_json::of_rehearsal(rehearsal);
                if let Some(fields) = considered.as_object_mut() {
                    fields.retain(|name, _| CONSIDERED.contains(&name.as_str()));
                }
                json!({ "decision": decision, "same": is_same, "why": why, "explain": command, "considered": considered })
            }
            Reassessment::Unknown(missing) => json!({ "missing": missing }),
        }
    }
}

pub(super) fn text<'a>(record: &'a Value, name: &str) -> Option<&'a str> {
    recorded_text(record, name).filter(|text| !text.is_empty())
}

pub(super) fn today(record: &Value) -> Reassessment {
    match judged(record) {
        Ok(today) => today,
        Err(missing) => Reassessment::Unknown(missing.to_string()),
    }
}

/// Checks that a record has everything that the decision depended on.
fn check_recorded(record: &Value, event: EventKind) -> anyhow::Result<()> {
    if let Some(step) = text(record, "step") {
        let check = format!("conclaude des check {}", quoted_if_needed(step));
        let check = if is_shown_as_it_is(&check) { check.as_str() } else { "conclaude des check" };
        bail!("a gate judges the step as it is: `{check}` judges it as it is now");
    }
    if event == EventKind::UserPromptSubmit && compared_prompt(record) {
        bail!("the prompt, which patterns compare, is not recorded");
    }
    let mut skipped = list(record, "skipped").filter_map(|skip| text(skip, "why"));
    if skipped.any(|why| why.starts_with(STILL_RUN)) {
        bail!("the checks waited for background agents, and run at the stop after that");
    }
    let has = |code: Code| list(record, "findings").any(|one| text(one, "code") == Some(code.as_str()));
    if has(Code::PayloadInvalid) {
        bail!("the payload, which could not be read, is not recorded");
    }
    if has(Code::PromptNotFound) {
        bail!("the transcript, in which the agent's prompt is looked for, is not recorded");
    }
    if has(Code::BudgetReached) || has(Code::BudgetNear) || has(Code::PriceUnknown) {
        bail!("what was used then is no longer known; `conclaude budget` shows what is used now");
    }
    Ok(())
}

fn judged(record: &Value) -> anyhow::Result<Reassessment> {
    let name = text(record, "event").unwrap_or_default();
    let event = EventKind::named(name)
        .ok_or_else(|| anyhow!("`{name}` is a subcommand, which decides nothing by the config"))?;
    check_recorded(record, event)?;
    let known = RecordedEvent::of(event, record)?;
    // Without a transcript all files of the project would count.
    let changed = if compares_changes(event) { Some(known.changed.clone()) } else { None };
    let asked = ExplainEvent { client: known.client, changed, ..ExplainEvent::sample(&known.sample()) };
    let explained = explain(asked)?;
    let Some(rehearsal) = explained.rehearsal else {
        bail!("conclaude no longer has anything to do with it");
    };
    unknown_files(record, &rehearsal)?;
    let recorded = text(record, "decision").unwrap_or_default();
    let blocks =
        record.pointer("/blocks/count").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
    let count = match recorded {
        "allowed_despite_failure" => BlockCount::Exhausted,
        _ => BlockCount::Blocks(blocks.unwrap_or(1)),
    };
    let ends = CommandEnds::of(event, record)?;
    let answered = rehearsal.answer_to(|command| ends.of_command(command), count);
    let decision = answered.word.map_or("failed", Word::as_str);
    let mut why = ends.new_commands(&rehearsal);
    why.extend(ends.removed_commands(&rehearsal));
    why.extend(guards_now(record, &answered.outcomes));
    why.extend(without_files(&rehearsal));
    let (is_same, command) = (decision == recorded, known.explain());
    Ok(Reassessment::Decided { decision, is_same, why, command, rehearsal: Box::new(rehearsal) })
}

/// Whether a rule of `contextRules` or `slashCommands` took part.
fn compared_prompt(record: &Value) -> bool {
    let of_slash = |one: &Value| one.get("rule").and_then(|rule| text(rule, "key")) == Some(SLASH_COMMANDS);
    record.get("applied").is_some() || list(record, "commands").chain(list(record, "skipped")).any(of_slash)
}

fn compares_changes(event: EventKind) -> bool {
    matches!(event.row().changes, Changes::Agent | Changes::SincePrompt)
}

/// The changed files at a stop, if commands ran for them.
fn changed(event: EventKind, record: &Value) -> Vec<String> {
    if !compares_changes(event) {
        return Vec::new();
    }
    let files = list(record, "commands").flat_map(|command| list(command, "files"));
    let files: BTreeSet<&str> = files.filter_map(Value::as_str).collect();
    files.into_iter().map(str::to_owned).collect()
}

/// Changed files are recorded only for commands that ran. A command that was skipped then is also skipped now.
fn unknown_files(record: &Value, rehearsal: &Rehearsal) -> anyhow::Result<()> {
    let was_skipped = |script: &str| {
        let named = format!("`{}`", script.trim());
        list(record, "skipped").any(|skip| text(skip, "what") == Some(&named))
    };
    let mut needs = rehearsal.not_run.iter().filter(|one| one.reason == SkipReason::Files);
    if needs.any(|one| !was_skipped(&one.script)) {
        bail!("not all files that had changed are recorded, and a command has `files`");
    }
    Ok(())
}

/// Commands that are assumed not to run, because no changed file of theirs is recorded.
fn without_files(rehearsal: &Rehearsal) -> Vec<String> {
    let not_run = rehearsal.not_run.iter().filter(|one| one.reason == SkipReason::Files);
    let line = |script: &str| {
        let script = conclaude_core::messages::short(script);
        format!(
            "`{script}` is assumed not to run, as then: which files had changed is recorded only where commands ran for them"
        )
    };
    not_run.map(|one| line(&one.script)).collect()
}

/// The event of a record.
struct RecordedEvent<'a> {
    client: &'static Dialect,
    event: EventKind,
    agent: Option<&'a str>,
    tool: Option<&'a str>,
    input: Map<String, Value>,
    cwd: String,
    mode: Option<&'a str>,
    fields: Map<String, Value>,
    changed: Vec<String>,
}

impl<'a> RecordedEvent<'a> {
    /// # Errors
    /// The missing part.
    fn of(event: EventKind, record: &'a Value) -> anyhow::Result<RecordedEvent<'a>> {
        let tool = record.get("tool");
        let name = tool.and_then(|tool| text(tool, "name"));
        if fields::has_tool(event) && name.is_none() {
            bail!("the record has no tool call; it may be one of an older version");
        }
        let input = match tool {
            Some(tool) => input(tool)?,
            None => Map::new(),
        };
        let here = || std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned());
        let cwd = match tool.and_then(|tool| text(tool, "cwd")) {
            Some(cwd) if std::path::Path::new(cwd).is_dir() => cwd.to_owned(),
            Some(cwd) => bail!("its folder {cwd} is gone"),
            None => crate::cli::root()
                .map(|root| root.folder.to_string_lossy().into_owned())
                .or_else(|_| here())
                .unwrap_or_default(),
        };
        let mut given = Map::new();
        let mode = text(record, "permission_mode");
        given.extend(mode.map(|mode| ("permission_mode".to_owned(), Value::from(mode))));
        if let Subject::Field(field) | Subject::File(field) = event.row().subject
            && field != "tool_name"
        {
            let matched = record.pointer("/commands/0/matched").and_then(Value::as_str);
            let matched =
                matched.ok_or_else(|| anyhow!("`{field}`, which patterns compare, is not recorded"))?;
            given.insert(field.to_owned(), matched.into());
        }
        let client = match text(record, "client") {
            Some(name) => dialect::find(name)?,
            None => &claude::DIALECT,
        };
        Ok(RecordedEvent {
            client,
            event,
            agent: if event.row().in_agents { text(record, "agent") } else { None },
            tool: name,
            input,
            cwd,
            mode,
            fields: given,
            changed: changed(event, record),
        })
    }

    fn sample(&self) -> Sample<'_> {
        Sample {
            event: self.event,
            session: "why",
            cwd: &self.cwd,
            agent: self.agent,
            tool: self.tool,
            tool_input: self.input.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The subcommand that explains everything, on one line. `None` if it could not be copied from the shown text.
    fn explain(&self) -> Option<String> {
        let mut words = vec![format!("conclaude explain {}", self.event)];
        let mut add = |flag: &str, value: &str| words.push(format!("{flag} {}", quoted_if_needed(value)));
        let here = std::env::current_dir();
        let is_elsewhere = here.is_ok_and(|here| here.to_str() != Some(&self.cwd));
        let elsewhere = if is_elsewhere { Some(self.cwd.as_str()) } else { None };
        let mode = self.mode.filter(|mode| *mode != "default");
        let client = if self.client.is_translated() { Some(self.client.name) } else { None };
        let flags = [
            ("--client", client),
            ("--agent", self.agent),
            ("--tool", self.tool),
            ("--permission-mode", mode),
            ("--cwd", elsewhere),
        ];
        flags.into_iter().for_each(|(flag, value)| value.into_iter().for_each(|value| add(flag, value)));
        self.changed.iter().for_each(|file| add("--file", file));
        let field = |name: &str| self.input.get(name).and_then(Value::as_str);
        let file = self.tool.and_then(tools::file_field).and_then(field);
        match field("command").map(|text| ("--command", text)).or(file.map(|text| ("--file", text))) {
            Some((flag, text)) if is_shown_as_it_is(text) => add(flag, text),
            // JSON has escapes for what would be cleaned.
            Some(_) => add("--input", &escaped_json(&Value::Object(self.input.clone()).to_string())),
            None => {}
        }
        let command = words.join(" ");
        let has_other_fields = self.fields.keys().any(|name| name != "permission_mode");
        if has_other_fields || !is_shown_as_it_is(&command) { None } else { Some(command) }
    }
}

/// Whether text that is copied from the terminal equals the printed text.
fn is_shown_as_it_is(text: &str) -> bool {
    !text.contains(['\n', '\t']) && printable_untagged(text) == text
}

/// The input of the tool, as far as guards look at it.
pub(super) fn input(tool: &Value) -> anyhow::Result<Map<String, Value>> {
    let name = text(tool, "name").unwrap_or_default();
    let mut input = Map::new();
    if tool.get("cut").and_then(Value::as_bool) == Some(true) {
        bail!("only the start and the end of its long command are recorded");
    }
    if tools::starts_agent(name) {
        bail!("the prompt of the call is not recorded");
    }
    if let Some(command) = text(tool, "command") {
        input.insert("command".into(), command.into());
    } else if let Some((field, file)) = tools::file_field(name).zip(text(tool, "file")) {
        input.insert(field.to_owned(), file.into());
    }
    Ok(input)
}

/// The rules of guards that would match now and did not, and the reverse.
fn guards_now(record: &Value, outcomes: &[Outcome]) -> Vec<String> {
    let key = |finding: &Value| {
        let part = |name: &str| {
            finding.pointer(&format!("/rule/{name}")).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        (part("key"), part("pattern"))
    };
    let then: Vec<(String, String)> =
        record.get("findings").and_then(Value::as_array).into_iter().flatten().map(key).collect();
    let found = outcomes.iter().filter_map(Outcome::as_finding);
    let now: Vec<&Rule> = found.filter_map(|finding| finding.rule.as_deref()).collect();
    let key_of = |rule: &Rule| (rule.key.clone(), rule.pattern.clone().unwrap_or_default());
    let gone = then.iter().filter(|was| !now.iter().any(|rule| key_of(rule) == **was));
    let gone = gone.map(|(key, pattern)| format!("{key} {pattern:?} no longer matches"));
    let new = now.iter().filter(|rule| !then.contains(&key_of(rule)));
    gone.chain(new.map(|rule| format!("{rule} matches now"))).collect()
}
