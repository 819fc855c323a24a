//! Which commands of the event's section run, in order.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::environment::{self, FILES, Variable};
use super::{Action, Command, Facts, Planned, Reason, Step};
use crate::config::{Bounded, CommandConfig, EventConfig, FileGlob, NonBlank, Reaction};
use crate::dialect::claude::abilities::{self, Blocking};
use crate::event::{EventKind, Subject};
use crate::file_pattern::{FilePattern, Location};
use crate::pattern::{self, Pattern, PatternError};
use crate::rule::Rule;

/// The shell when the config names none.
pub(crate) const DEFAULT_SHELL: &str = if cfg!(windows) { "sh" } else { "/bin/sh" };

/// The main thread, as `agent` names it.
const MAIN: &str = "main";

/// The placeholder for the changed files.
const PLACEHOLDER: &str = "{files}";

/// A command that concerns the event.
struct Wanted<'a> {
    pattern: &'a Pattern,
    /// Among the commands of the pattern.
    index: usize,
    config: &'a CommandConfig,
    files: Option<Vec<String>>,
}

/// The commands of the event, each with the reason why it may not run, and values that do not fit into their environment.
pub(super) fn commands<'a>(
    facts: &Facts<'a>,
    is_gated: bool,
) -> Result<(Vec<Planned<'a>>, Vec<String>), PatternError> {
    let event = facts.event.kind;
    let Some(section) = facts.config.section(event) else { return Ok((Vec::new(), Vec::new())) };
    let (subject, selected) = select(facts, section)?;
    let wanted: Vec<Wanted<'_>> = selected
        .into_iter()
        .flat_map(|(pattern, commands)| commands.iter().enumerate().map(move |one| (pattern, one)))
        .filter(|(_, (_, config))| is_for_agent(facts, config))
        .filter_map(|(pattern, (index, config))| {
            Some(Wanted { pattern, index, config, files: files_for(facts, config)? })
        })
        .collect();
    if wanted.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (env, mut warnings) = environment::environment(facts, is_gated);
    let mut steps = Vec::new();
    for Wanted { pattern, index, config, files } in wanted {
        let (section, pattern, index) = (event.row().section, pattern.as_str(), index.to_string());
        let keys = [section, "commands", pattern, &index];
        let mut command = command(config, event, facts.work);
        let rule = Rule::key(format!("{section}.commands")).pattern(pattern);
        command.rule = Box::new(match facts.origins.position(&keys, facts.config_dir) {
            Some((file, line)) => rule.at(file, Some(line)),
            None => rule,
        });
        command.subject.clone_from(&subject);
        command.env = env.clone();
        if let Some(files) = files {
            with_files(&mut command, &files, &mut warnings);
        }
        let step = Step { reason: Reason::Pattern, action: Action::Command(command) };
        steps.push((step, facts.origins.untrusted(&keys)));
    }
    Ok((steps, warnings))
}

type Entry = (Pattern, Vec<CommandConfig>);

/// What patterns are compared with, and the entries that it selects.
fn select<'a>(facts: &Facts<'_>, section: &'a EventConfig) -> Result<(String, Vec<&'a Entry>), PatternError> {
    let mode = section.mode.unwrap_or_default();
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
    Ok((subject.to_owned(), pattern::select(section.entries(), mode, subject, id)?))
}

fn location(work: &Path, path: &str) -> Location {
    let relative = Path::new(path).strip_prefix(work).ok().map(|path| path.to_string_lossy().into_owned());
    Location { absolute: path.to_owned(), relative, is_directory: false }
}

fn is_for_agent(facts: &Facts<'_>, config: &CommandConfig) -> bool {
    let name = facts.agent.or(facts.caller).map_or(MAIN, |agent| agent.name.as_str());
    config.agent.as_ref().is_none_or(|glob| glob.matches(name))
}

/// The changed files that concern a command, relative to its folder. None where it does not run, for want of any.
#[expect(clippy::option_option, reason = "a command that does not run is not one without files")]
fn files_for(facts: &Facts<'_>, config: &CommandConfig) -> Option<Option<Vec<String>>> {
    let Some(patterns) = &config.files else { return Some(None) };
    let covered = facts.changed.iter().filter(|file| covers(&patterns.0, file));
    let folder = config.cwd.as_ref().map(|cwd| cwd.as_path());
    let files: Vec<String> = covered.map(|file| relative_to(folder, file)).collect();
    (!files.is_empty()).then_some(Some(files))
}

/// The last pattern that covers the file decides.
fn covers(patterns: &[FileGlob], file: &Location) -> bool {
    patterns.iter().fold(false, |covered, glob| {
        let (text, includes) = match glob.as_str().strip_prefix('!') {
            Some(text) => (text, false),
            None => (glob.as_str(), true),
        };
        let applies = FilePattern::new(text, None).is_ok_and(|pattern| pattern.covers(file));
        if applies { includes } else { covered }
    })
}

/// The path from the folder in which a command runs.
fn relative_to(folder: Option<&Path>, file: &Location) -> String {
    let Some(relative) = &file.relative else { return file.absolute.clone() };
    let Some(folder) = folder else { return relative.clone() };
    match Path::new(relative).strip_prefix(folder) {
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => "../".repeat(folder.components().count()) + relative,
    }
}

fn with_files(command: &mut Command, files: &[String], warnings: &mut Vec<String>) {
    let quoted: Vec<String> = files.iter().map(|file| quoted(file)).collect();
    command.script = command.script.replace(PLACEHOLDER, &quoted.join(" "));
    let (value, warning) = environment::fit(FILES, files.join("\n"));
    warnings.extend(warning);
    command.env.retain(|(name, _)| name != FILES);
    command.env.push((FILES.to_owned(), value));
}

/// A path as one word of a shell, and never as an option.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    format!("'{}'", path.replace('\'', "'\\''"))
}

fn command(config: &CommandConfig, event: EventKind, work: &Path) -> Command {
    // Without its path no worktree is created anyway.
    let default_on_failure = match event {
        EventKind::Stop | EventKind::WorktreeCreate => Reaction::Block,
        _ => Reaction::Warn,
    };
    let default_on_timeout = match abilities::blocking(event) {
        Blocking::Stop => Reaction::Block,
        _ => Reaction::Warn,
    };
    let (show_stdout, show_stderr) = config.streams();
    Command {
        rule: Box::default(),
        subject: String::new(),
        script: config.run.as_str().to_owned(),
        shell: config.shell.as_ref().map_or(DEFAULT_SHELL, NonBlank::as_str).to_owned(),
        cwd: config.cwd.as_ref().map_or_else(|| work.to_owned(), |cwd| work.join(cwd.as_path())),
        work: work.to_owned(),
        env: Vec::<Variable>::new(),
        message: config.message.clone(),
        show_stdout,
        show_stderr,
        max_lines: config.max_output_lines.map(Bounded::get),
        timeout: config.timeout.map(|seconds| Duration::from_secs(seconds.get().into())),
        on_failure: config.on_failure.unwrap_or(default_on_failure),
        on_timeout: config.on_timeout.or(config.on_failure).unwrap_or(default_on_timeout),
        answers: abilities::blocking(event) == Blocking::Worktree
            || (config.context == Some(true) && abilities::takes_context(event)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(relative: &str) -> Location {
        Location { absolute: format!("/p/{relative}"), relative: Some(relative.into()), is_directory: false }
    }

    #[test]
    fn paths_are_given_from_the_folder_of_the_command() {
        let folder = PathBuf::from("packages/a");
        assert_eq!(relative_to(None, &file("packages/a/x.ts")), "packages/a/x.ts");
        assert_eq!(relative_to(Some(&folder), &file("packages/a/x.ts")), "x.ts");
        assert_eq!(relative_to(Some(&folder), &file("README.md")), "../../README.md");
        let outside = Location { absolute: "/tmp/x".into(), relative: None, is_directory: false };
        assert_eq!(relative_to(Some(&folder), &outside), "/tmp/x");
    }

    #[test]
    fn a_path_is_one_word_and_no_option() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-rf"), "'./-rf'");
    }
}
