//! The commands of the event's section that run, in order.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::environment;
use super::step::Variable;
use super::{
    Action, Command, Facts, PlannedStep, Reason, Selection, SkipReason, Step, UnmatchedCommand, files,
};
use crate::agent::actor;
use crate::config::{
    Bounded, CommandConfig, DEFAULT_SHELL, EventConfig, NameGlob, NonBlank, Protocol, Reaction, Show,
    Variables,
};
use crate::dialect::claude::prompt::is_notification;
use crate::dialect::claude::variables;
use crate::event::{BlockCounter, Blocking, EventKind, Subject};
use crate::file_pattern::{FilePattern, Location};
use crate::pattern::{self, MatchMode, Pattern, PatternError};
use crate::rule::Rule;
use crate::types::HookPayload;

/// The part of a longer prompt after this is not compared.
pub(super) const MAX_COMPARED: usize = 64 << 10;

/// A selected command.
pub(super) struct SelectedCommand<'a> {
    pattern: &'a Pattern,
    /// Its index among the commands of the pattern.
    index: usize,
    config: &'a CommandConfig,
    files: Option<Vec<String>>,
}

/// The result of selecting commands from the event's section.
#[derive(Default)]
pub(super) struct Commands<'a> {
    /// Each with the reason if it may not run.
    pub(super) steps: Vec<PlannedStep<'a>>,
    /// Values that do not fit into their environment.
    pub(super) warnings: Vec<String>,
    /// The value that patterns are compared with.
    pub(super) subject: String,
    pub(super) unmatched: Vec<UnmatchedCommand>,
}

pub(super) fn commands<'a>(facts: &Facts<'a>, is_gated: bool) -> Result<Commands<'a>, PatternError> {
    let Some(section) = facts.config.section(facts.event.kind) else { return Ok(Commands::default()) };
    if is_in_between(facts) {
        let all = 0..section.entries().len();
        let unmatched =
            all.map(|entry| UnmatchedCommand { entry, command: None, why: SkipReason::InBetween });
        return Ok(Commands { unmatched: unmatched.collect(), ..Commands::default() });
    }
    let (subject, selected) = select(facts, section)?;
    let mut unmatched = not_selected(section, &selected);
    let wanted = wanted(facts, section, selected, &mut unmatched);
    let keys = [facts.event.kind.row().section, "commands"];
    let place = CommandPlace { keys: &keys, subject: &subject, is_gated };
    let (steps, warnings) = planned(facts, wanted, &place);
    Ok(Commands { steps, warnings, subject, unmatched })
}

/// The section of commands, and the value that its patterns are compared with.
pub(super) struct CommandPlace<'a> {
    /// The keys of the section in the config.
    pub(super) keys: &'a [&'a str],
    /// The value that their patterns are compared with.
    pub(super) subject: &'a str,
    pub(super) is_gated: bool,
}

/// Commands as steps. Values that do not fit into their environment become warnings.
pub(super) fn planned<'a>(
    facts: &Facts<'a>,
    wanted: Vec<SelectedCommand<'_>>,
    place: &CommandPlace<'_>,
) -> (Vec<PlannedStep<'a>>, Vec<String>) {
    let CommandPlace { keys, subject, is_gated } = *place;
    if wanted.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (env, mut warnings) = match facts.inherited {
        Some(_) => environment::environment(facts, is_gated),
        None => Default::default(),
    };
    let mut steps = Vec::new();
    for SelectedCommand { pattern, index, config, files } in wanted {
        let (pattern, index) = (pattern.as_str(), index.to_string());
        let rule = Rule::key(keys.join(".")).pattern(pattern);
        let keys = [keys, &[pattern, &index]].concat();
        let mut command = command(config, facts.event.kind, facts.work);
        command.rule = Box::new(rule.located(facts.origins, &keys, facts.root));
        subject.clone_into(&mut command.subject);
        command.env.extend(env.iter().cloned());
        if command.is_hook() {
            as_hook(&mut command, facts);
            let is_planned = |(step, _): &PlannedStep<'_>| is_same_hook(&step.action, &command);
            // Claude Code runs a hook once, even if it is registered several times.
            if steps.iter().any(is_planned) {
                continue;
            }
        }
        let commands = match files {
            Some(files) => files::given(&command, &files, &mut warnings),
            None => vec![command],
        };
        let untrusted = facts.origins.untrusted(&keys);
        steps.extend(
            commands.into_iter().map(|command| {
                (Step { reason: Reason::Pattern, action: Action::Command(command) }, untrusted)
            }),
        );
    }
    (steps, warnings)
}

/// A hook runs in the same folder and with the same timeout as in Claude Code.
fn as_hook(command: &mut Command, facts: &Facts<'_>) {
    let cwd = Path::new(facts.event.payload.cwd());
    command.cwd = cwd.to_owned();
    command.work = cwd.to_owned();
    let project = facts.project.to_string_lossy().into_owned();
    command.env.push((variables::PROJECT_DIR.to_owned(), Some(project)));
    let row = facts.event.kind.row();
    // At the end of a session the longest timeout of all hooks applies to each, and ours is the longest possible.
    let seconds =
        if facts.event.kind == EventKind::SessionEnd { row.max_timeout } else { row.default_timeout };
    command.timeout.get_or_insert(Duration::from_secs(seconds));
}

fn is_same_hook(action: &Action, command: &Command) -> bool {
    matches!(action, Action::Command(other) if other.is_hook() && other.script == command.script)
}

/// The patterns that do not match, or come too late.
fn not_selected(section: &EventConfig, selected: &[&Entry]) -> Vec<UnmatchedCommand> {
    let is_selected = |entry: &Entry| selected.iter().any(|one| std::ptr::eq(*one, entry));
    let is_first = section.mode == Some(MatchMode::First);
    let mut is_taken = false;
    let mut found = Vec::new();
    for (index, entry) in section.entries().iter().enumerate() {
        if is_selected(entry) {
            is_taken = is_first;
        } else {
            let why = if is_taken { SkipReason::Earlier } else { SkipReason::Pattern };
            found.push(UnmatchedCommand { entry: index, command: None, why });
        }
    }
    found
}

/// The commands of the matching patterns that are for this event's agent and prompt.
pub(super) fn wanted<'a>(
    facts: &Facts<'_>,
    section: &EventConfig,
    selected: Vec<&'a Entry>,
    unmatched: &mut Vec<UnmatchedCommand>,
) -> Vec<SelectedCommand<'a>> {
    let mut wanted = Vec::new();
    for entry in selected {
        let (pattern, commands) = entry;
        for (index, config) in commands.iter().enumerate() {
            let mut leave_out = |why| {
                let entry = section.entries().iter().position(|one| std::ptr::eq(one, entry));
                unmatched.extend(entry.map(|entry| UnmatchedCommand { entry, command: Some(index), why }));
            };
            if !is_for_agent(facts, config) {
                leave_out(SkipReason::Agent);
            } else if !is_for_prompt(facts, config) {
                leave_out(SkipReason::Prompt);
            } else if let Some(files) = files::concerned(facts.changed, config) {
                wanted.push(SelectedCommand { pattern, index, config, files });
            } else {
                leave_out(SkipReason::Files);
            }
        }
    }
    wanted
}

/// A part of a message before the last one, if commands wait for the last.
fn is_in_between(facts: &Facts<'_>) -> bool {
    facts.event.kind == EventKind::MessageDisplay
        && facts.config.message_display.only_final()
        && facts.event.fields.get("final") == Some(&Value::Bool(false))
}

type Entry = (Pattern, Vec<CommandConfig>);

/// The value that patterns are compared with, and the selected entries.
fn select<'a>(facts: &Facts<'_>, section: &'a EventConfig) -> Result<(String, Vec<&'a Entry>), PatternError> {
    let mode = section.mode.unwrap_or_default();
    match facts.select {
        Selection::Matching => {}
        Selection::All | Selection::AllAgents => {
            let selected = pattern::select_by(section.entries(), MatchMode::All, |_| Ok(true))?;
            return Ok((String::new(), selected));
        }
    }
    let field = |name: &str| facts.event.fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let (subject, id) = match facts.event.kind.row().subject {
        Subject::Agent => facts.agent.map_or(("", None), |agent| (agent.name.as_str(), agent.id.as_deref())),
        Subject::Field(name) => (field(name), None),
        Subject::File(name) => {
            let path = field(name);
            let location = location(facts.work, path);
            let covers = |pattern: &Pattern| {
                FilePattern::new(pattern.as_str(), None)
                    .map(|files| files.covers(&location))
                    .map_err(|error| pattern.broken(&error.to_string()))
            };
            return Ok((path.to_owned(), pattern::select_by(section.entries(), mode, covers)?));
        }
        Subject::Nothing => ("", None),
    };
    // A tool has several names if the client has its own.
    let other_names: &[String] = match facts.event.kind.row().subject {
        Subject::Field("tool_name") => &facts.event.tool.others,
        _ => &[],
    };
    let applies = |pattern: &Pattern| {
        let by_id = || compared_id(facts).map_or(Ok(false), |id| pattern.matches(id, None));
        let mut is_match = pattern.matches(subject, id)? || by_id()?;
        for other in other_names {
            is_match = is_match || pattern.matches(other, None)?;
        }
        Ok(is_match)
    };
    Ok((subject.to_owned(), pattern::select_by(section.entries(), mode, applies)?))
}

/// The agent's id, if globs are compared with it too: without a type in the payload, its id may be the only name that the user
/// knows.
fn compared_id<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    let agent = facts.agent?;
    if facts.event.payload.agent_type().is_some() { None } else { agent.id.as_deref() }
}

fn location(work: &Path, path: &str) -> Location {
    let relative = Path::new(path).strip_prefix(work).ok().map(|path| path.to_string_lossy().into_owned());
    Location { absolute: path.to_owned(), relative, ..Location::default() }
}

fn is_for_agent(facts: &Facts<'_>, config: &CommandConfig) -> bool {
    if facts.select == Selection::AllAgents {
        return true;
    }
    let matches_id = |glob: &NameGlob| compared_id(facts).is_some_and(|id| glob.matches(id));
    let actor = actor(facts.agent.or(facts.caller));
    config.agent.as_ref().is_none_or(|glob| glob.matches(actor) || matches_id(glob))
}

/// The part of a prompt that patterns are compared with.
pub(super) fn compared(prompt: &str) -> &str {
    prompt.get(..prompt.floor_char_boundary(MAX_COMPARED)).unwrap_or(prompt)
}

/// The report of a background agent is not a user's prompt.
fn is_for_prompt(facts: &Facts<'_>, config: &CommandConfig) -> bool {
    match (facts.select, &facts.event.payload) {
        _ if config.pattern.is_none() => true,
        (Selection::All | Selection::AllAgents, _) => true,
        (Selection::Matching, HookPayload::UserPromptSubmit(said)) => {
            !is_notification(&said.prompt) && config.is_for_prompt(compared(&said.prompt))
        }
        // At other events it has no effect.
        (Selection::Matching, _) => true,
    }
}

fn variable((name, value): (&str, &str)) -> Variable {
    (name.to_owned(), Some(value.to_owned()))
}

fn command(config: &CommandConfig, event: EventKind, work: &Path) -> Command {
    let own_env: Box<[Variable]> = config.env.iter().flat_map(Variables::iter).map(variable).collect();
    let protocol = config.protocol.unwrap_or_default();
    // Without its path no worktree is created anyway.
    let default_on_failure = match event.blocking() {
        _ if protocol == Protocol::Hook => Reaction::Warn,
        Blocking::Stop(BlockCounter::Main) | Blocking::Worktree => Reaction::Block,
        _ => Reaction::Warn,
    };
    let default_on_timeout = match event.blocking() {
        _ if protocol == Protocol::Hook => Reaction::Warn,
        Blocking::Stop(_) => Reaction::Block,
        _ => Reaction::Warn,
    };
    let (show_stdout, show_stderr) = match protocol {
        Protocol::Command => config.streams(),
        // Its answer contains the shown text.
        Protocol::Hook => (Show::Never, Show::Never),
    };
    Command {
        rule: Box::default(),
        subject: String::new(),
        run: config.run.as_str().to_owned(),
        script: config.run.as_str().to_owned(),
        shell: config.shell.as_ref().map_or(DEFAULT_SHELL, NonBlank::as_str).to_owned(),
        cwd: config.cwd.as_ref().map_or_else(|| work.to_owned(), |cwd| work.join(cwd.as_path())),
        work: work.to_owned(),
        env: own_env.to_vec(),
        own_env,
        message: config.message.clone(),
        is_shown: config.show_command.unwrap_or(true),
        is_notified: config.notify_per_command.unwrap_or(false),
        show_stdout,
        show_stderr,
        max_lines: config.max_output_lines.map(Bounded::get),
        timeout: config.timeout.map(|seconds| Duration::from_secs(seconds.get().into())),
        on_failure: config.on_failure.unwrap_or(default_on_failure),
        on_timeout: config.on_timeout.or(config.on_failure).unwrap_or(default_on_timeout),
        answers: event.blocking() == Blocking::Worktree
            || (config.context == Some(true) && event.takes_context()),
        is_parallel: config.parallel.unwrap_or(false),
        protocol,
    }
}
