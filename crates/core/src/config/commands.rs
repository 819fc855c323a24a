//! The section of an event: lists of commands by pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shell_effects::{placeholder, program_name};

use super::regex::RegexText;
use super::shapes::{Either, Entries, List};
use super::values::{InvalidValue, Seconds};
use super::{Bounded, FileGlob, FolderBelow, NameGlob, NonBlank, Remark};
use crate::dialect::claude::{fields, file_matcher};
use crate::dialect::own_event;
use crate::event::{Changes, EventKind, Subject};
use crate::pattern::{MatchMode, Pattern, PatternError};

/// What runs scripts where no `shell` is given.
pub const DEFAULT_SHELL: &str = if cfg!(windows) { "sh" } else { "/bin/sh" };

/// The maximum number of patterns of a section: each is compared at each event.
const MAX_PATTERNS: usize = 200;

/// The maximum number of commands of a pattern.
const MAX_COMMANDS: usize = 100;

/// The commands of one event, selected by pattern.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventConfig {
    /// Which of several matching patterns run. Default: `all`.
    #[serde(rename = "match")]
    pub mode: Option<MatchMode>,
    /// Lists of commands by pattern, or one list for all.
    pub commands: Option<CommandMap>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandConfig {
    /// The shell script to run, of one line or many.
    pub run: NonBlank,
    /// The message that is shown when it fails.
    pub message: Option<String>,
    /// When its output is shown. Default: `failure`.
    pub show: Option<Show>,
    /// Whether messages name the command by its script. If `false`, its `message` names it. Default: `true`.
    pub show_command: Option<bool>,
    /// Show its stdout always, or never. Default: as `show` says.
    pub show_stdout: Option<bool>,
    /// Show its stderr always, or never. Default: as `show` says.
    pub show_stderr: Option<bool>,
    /// The maximum number of lines shown of each stream: the first and the last ones. Default: no limit.
    pub max_output_lines: Option<Bounded<1, 10_000>>,
    /// The timeout in seconds, or as `90s`, `5m`, `1h`, after which it is terminated with all its children. Default: none.
    pub timeout: Option<Seconds<1, 3_600>>,
    /// What a failure does. Default: `block` at `stop` and `worktreeCreate`, else `warn`.
    pub on_failure: Option<Reaction>,
    /// What a timeout does. Like a missing program, it blocks an agent only once. Default: as `onFailure`; without that, `block`
    /// if the event can be blocked, else `warn`.
    pub on_timeout: Option<Reaction>,
    /// The agent that it runs for, as a glob over the subagent's name; `main` is the main thread. Default: all.
    pub agent: Option<NameGlob>,
    /// At `userPromptSubmit`: it runs only for prompts that match this regular expression. Default: for all.
    pub pattern: Option<RegexText>,
    /// Whether `pattern` ignores the case of ASCII letters. Default: `false`.
    pub case_insensitive: Option<bool>,
    /// It runs only if these patterns cover changed files. They follow gitignore's rules. At events of tools that is the tool's
    /// file; at a stop the files that the agent wrote, on the main thread since the last prompt. `{files}` in `run` and
    /// `CONCLAUDE_FILES` name them. Default: it always runs.
    pub files: Option<List<FileGlob, 1, MAX_PATTERNS>>,
    /// A desktop notification when it starts and another when it has finished, if `notifications` are on for the event. Default: `false`.
    pub notify_per_command: Option<bool>,
    /// Whether Claude reads its output, at events that allow it: see `conclaude events`. Default: false.
    pub context: Option<bool>,
    /// The folder in which it runs. The path is relative to the config's folder, or to the worktree of an agent that has one, and
    /// stays below it. Default: that folder itself.
    pub cwd: Option<FolderBelow>,
    /// Environment variables, in addition to the inherited ones and those of conclaude.
    pub env: Option<Variables>,
    /// Run it in parallel with its neighbours in the order of execution that have `parallel` too. Each has its own timeout, and
    /// outputs are shown in that order. Default: `false`, one after the other.
    pub parallel: Option<bool>,
    /// The shell that runs the script, with `-c`. Default: `/bin/sh`.
    pub shell: Option<NonBlank>,
    /// How its exit code and its output are read. Default: `command`.
    pub protocol: Option<Protocol>,
}

/// The maximum number of variables of a command.
const MAX_VARIABLES: usize = 100;

/// The name of a variable of the environment.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = VariableName::PATTERN))]
pub(super) struct VariableName(String);

impl VariableName {
    /// Its form in the schema.
    pub(super) const PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]{0,99}$";
}

impl TryFrom<String> for VariableName {
    type Error = InvalidValue;

    fn try_from(name: String) -> Result<Self, InvalidValue> {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_word && (1..=100).contains(&name.len()) && !name.starts_with(|c: char| c.is_ascii_digit()) {
            Ok(VariableName(name))
        } else {
            Err(InvalidValue::Variable(name))
        }
    }
}

/// The value of a variable. It cannot contain a NUL character, because programs could not be started with it.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = VariableValue::PATTERN))]
pub(super) struct VariableValue(String);

impl VariableValue {
    /// Its form in the schema.
    pub(super) const PATTERN: &str = r"^[^\u0000]*$";
}

impl TryFrom<String> for VariableValue {
    type Error = InvalidValue;

    fn try_from(value: String) -> Result<Self, InvalidValue> {
        if value.contains('\0') { Err(InvalidValue::Nul) } else { Ok(VariableValue(value)) }
    }
}

type VariableEntries = Entries<VariableName, Option<VariableValue>, MAX_VARIABLES>;

/// Names and values in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "VariableEntries")]
#[schemars(with = "VariableEntries", inline, description = "")]
pub struct Variables(Vec<(String, String)>);

impl Variables {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl From<VariableEntries> for Variables {
    fn from(entries: VariableEntries) -> Self {
        // `null` equals absent.
        Variables(entries.0.into_iter().filter_map(|(name, value)| Some((name.0, value?.0))).collect())
    }
}

/// How the exit code and the output of a command are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Any exit code other than 0 is a failure, and `onFailure` decides what it does.
    #[default]
    Command,
    /// Like a hook of Claude Code: exit 2 blocks, JSON on stdout is the answer, a timeout blocks nothing. It runs in the
    /// session's current directory.
    Hook,
}

/// The keys without effect for a command that answers as a hook: Claude Code defines what its exit code and output do.
pub(super) const NOT_FOR_HOOKS: [&str; 10] = [
    "onFailure",
    "onTimeout",
    "show",
    "showCommand",
    "showStdout",
    "showStderr",
    "maxOutputLines",
    "message",
    "context",
    "cwd",
];

/// Whether the event shows which files changed.
fn names_files(event: EventKind) -> bool {
    event.row().changes != Changes::Named
        || !event.is_known()
        || fields::own(event).any(|field| field == fields::FILE_PATH)
}

/// The start of a script.
fn short(script: &str) -> String {
    script.trim().lines().next().unwrap_or_default().chars().take(60).collect()
}

/// When the output of a command is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// When it fails.
    #[default]
    Failure,
    /// Whatever its result is.
    Always,
    /// Not at all.
    Never,
}

impl Show {
    /// Whether the output is shown, for this result of the command.
    #[must_use]
    pub fn applies(self, is_success: bool) -> bool {
        self == Show::Always || (self == Show::Failure && !is_success)
    }
}

impl CommandConfig {
    #[must_use]
    pub fn is_hook(&self) -> bool {
        self.protocol == Some(Protocol::Hook)
    }

    /// Whether a command that answers as a hook has keys without effect.
    fn is_misused_hook(&self) -> bool {
        let is_shown = self.show.is_some()
            || self.show_command.is_some()
            || self.show_stdout.is_some()
            || self.show_stderr.is_some()
            || self.max_output_lines.is_some();
        let reacts = self.on_failure.is_some() || self.on_timeout.is_some();
        let is_told = self.message.is_some() || self.context.is_some();
        self.is_hook() && (is_shown || reacts || is_told || self.cwd.is_some())
    }

    /// Whether it runs for this prompt. A broken expression is a config error, and never reaches this.
    pub fn is_for_prompt(&self, prompt: &str) -> bool {
        let pattern = self.pattern.as_ref();
        pattern.is_none_or(|pattern| {
            pattern.is_found_in(prompt, self.case_insensitive.unwrap_or(false)).unwrap_or(true)
        })
    }

    /// When stdout and stderr are shown. A key for one stream overrides `show`.
    #[must_use]
    pub fn streams(&self) -> (Show, Show) {
        let of = |stream: Option<bool>| match stream {
            Some(true) => Show::Always,
            Some(false) => Show::Never,
            None => self.show.unwrap_or_default(),
        };
        (of(self.show_stdout), of(self.show_stderr))
    }
}

/// What a command that failed or timed out does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reaction {
    /// The failure is logged and shown; the event proceeds.
    Warn,
    /// The event is blocked.
    Block,
}

/// Lists of commands by pattern: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`. A plain list is that of `*`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(from = "CommandLists")]
#[schemars(with = "CommandLists", rename = "Commands")]
pub struct CommandMap(pub Vec<(Pattern, Vec<CommandConfig>)>);

type CommandList = List<CommandConfig, 0, MAX_COMMANDS>;
type CommandLists = Either<Entries<Pattern, Option<CommandList>, MAX_PATTERNS>, CommandList>;

impl From<CommandLists> for CommandMap {
    fn from(lists: CommandLists) -> Self {
        match lists {
            Either::First(lists) => {
                let lists = lists.0.into_iter();
                CommandMap(
                    lists
                        .map(|(pattern, list)| (pattern, list.map_or_else(Vec::new, |list| list.0)))
                        .collect(),
                )
            }
            Either::Second(list) => CommandMap(vec![(Pattern::wildcard(), list.0)]),
        }
    }
}

impl EventConfig {
    /// In the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[(Pattern, Vec<CommandConfig>)] {
        self.commands.as_ref().map_or(&[], |map| &map.0)
    }

    pub fn commands(&self) -> impl Iterator<Item = &CommandConfig> {
        self.entries().iter().flat_map(|(_, commands)| commands)
    }

    pub(super) fn check_patterns(&self) -> Result<(), PatternError> {
        self.entries().iter().try_for_each(|(pattern, _)| pattern.check())
    }

    /// Whether the expressions for prompts can be evaluated.
    pub(super) fn are_prompts_valid(&self) -> bool {
        let mut patterns = self.commands().filter_map(|command| command.pattern.as_ref());
        patterns.all(|pattern| RegexText::check(pattern.as_str()).is_ok())
    }

    /// Whether `{files}` is used only where its quoting works, and each key only where it has an effect.
    pub(super) fn are_scripts_valid(&self) -> bool {
        let misplaced = |command: &CommandConfig| {
            let shell = command.shell.as_ref().map(NonBlank::as_str);
            command.files.is_some() && misplaced_files(command.run.as_str(), shell).is_some()
        };
        !self.commands().any(|command| misplaced(command) || command.is_misused_hook())
    }

    pub(super) fn may_block(&self) -> bool {
        self.commands()
            .any(|command| [command.on_failure, command.on_timeout].contains(&Some(Reaction::Block)))
    }

    /// The part of a file pattern that Claude Code does not watch, and why. If other patterns name files, `*` stands for those.
    fn unwatched(&self, pattern: &Pattern) -> Option<(String, &'static str)> {
        let is_watched = |one: &Pattern| file_matcher::paths(one.as_str()).iter().any(Result::is_ok);
        if pattern.is_wildcard() {
            let names_none = !self.entries().iter().any(|(one, _)| is_watched(one));
            let why = "Claude Code watches the files that patterns name";
            return if names_none { Some(("no file is watched".into(), why)) } else { None };
        }
        let unwatched = file_matcher::paths(pattern.as_str()).into_iter().find_map(Result::err)?;
        let why = "Claude Code watches files and folders by name, and no pattern without one";
        Some((unwatched.to_string(), why))
    }

    pub(super) fn warnings(&self, event: EventKind, found: &mut Vec<Remark>) {
        let section = event.row().section;
        let is_of_a_client = own_event(|row| row.section == section).is_some();
        if !event.is_known() && !is_of_a_client {
            let what = format!("{section}: this version of conclaude knows no event {event}");
            found.push(Remark::new([section], what).because("its commands run if Claude Code has it"));
        }
        let is_alone = self.commands().filter(|command| command.parallel == Some(true)).count() == 1;
        for (pattern, commands) in self.entries() {
            let keys = [section, "commands", pattern.as_str()];
            if event.row().subject == Subject::Nothing && !pattern.matches("", None).unwrap_or(true) {
                let remark = Remark::new(keys, format!("{section}: `{pattern}` can never match"));
                let why = format!("{event} has nothing to compare");
                found.push(remark.because(why).help("use `*`, or a plain list"));
            }
            if commands.is_empty() {
                found.push(Remark::new(keys, format!("{section}: `{pattern}` has no commands")));
            }
            if matches!(event.row().subject, Subject::File(_)) {
                found.extend(self.unwatched(pattern).map(|(what, why)| {
                    let help = "name the files, or start with a folder: `src/**/*.rs`";
                    Remark::new(keys, format!("{section}: {what}")).because(why).help(help)
                }));
            }
            for (index, command) in commands.iter().enumerate() {
                let of = |key: &str, title: String| {
                    Remark::new([section, "commands", pattern.as_str(), &index.to_string(), key], title)
                };
                command.warnings(event, &of, found);
                if is_alone && command.parallel == Some(true) {
                    let remark = of("parallel", format!("{section}: `parallel` has no effect"));
                    found.push(remark.because("no other command of the section has it"));
                }
            }
        }
    }
}

impl CommandConfig {
    fn warnings(&self, event: EventKind, of: &dyn Fn(&str, String) -> Remark, found: &mut Vec<Remark>) {
        let (section, run) = (event.row().section, short(self.run.as_str()));
        let mut add = |key: &str, title: String, why: String, help: Option<&str>| {
            let remark = of(key, title).because(why);
            found.push(match help {
                Some(help) => remark.help(help),
                None => remark,
            });
        };
        if self.context == Some(true) && !event.takes_context() {
            let why = format!("Claude reads no context at {event}");
            add("context", format!("{section}: `context` has no effect"), why, None);
        }
        if self.pattern.is_some() && event != EventKind::UserPromptSubmit && event.is_known() {
            let why = format!("{event} has no prompt to compare");
            add("pattern", format!("{section}: `pattern` has no effect"), why, Some("remove `pattern`"));
        }
        if self.files.is_some() && !names_files(event) {
            let why = format!("{event} is about no files");
            add(
                "files",
                format!("{section}: `{run}` never runs: it has `files`"),
                why,
                Some("remove `files`"),
            );
        }
        if self.files.is_none() && self.run.as_str().contains(FILES_PLACEHOLDER) {
            let what = format!("{section}: `{run}` has `{FILES_PLACEHOLDER}` but no `files`");
            add("run", what, "so it stays as it is".into(), Some("add `files: [\"*\"]`"));
        }
        if self.max_output_lines.is_some() && self.streams() == (Show::Never, Show::Never) {
            let what = format!("{section}: `{run}` limits output that is never shown");
            add(
                "maxOutputLines",
                what,
                String::new(),
                Some("remove `maxOutputLines`, or set `show: failure`"),
            );
        }
    }
}

/// The placeholder for the changed files in `run`.
pub const FILES_PLACEHOLDER: &str = "{files}";

/// Why `{files}` cannot be at this position in a script: file names would run as code.
pub(super) fn misplaced_files(run: &str, shell: Option<&str>) -> Option<String> {
    if !run.contains(FILES_PLACEHOLDER) {
        return None;
    }
    if let Some(shell) = shell.map(|shell| program_name(shell.trim()))
        && !placeholder::is_quoted_for(shell)
    {
        return Some(format!("file names are quoted for a shell like sh, and `{shell}` is not one"));
    }
    placeholder::misplaced(run, FILES_PLACEHOLDER)
}
