//! Compares a rule of `toolUsageValidation` with a simple command, a pipeline, the whole text, or the call itself.

use std::collections::BTreeMap;

use serde_json::Value;

use super::call::{ToolCall, start};
use super::command_pattern::{CommandForms, CommandPattern, Match};
use super::resolve::{Effects, Ground, Touch};
use super::rules::{Action, AgentFilter, InputPattern, ToolRule, is_about};
use super::sql;
use conclaude_core::dialect::claude::tools;
use conclaude_os::budget::Budget;
use shell_effects::glob::Fingerprint;
use shell_effects::{Access, SimpleCommand};

pub(super) struct RuleTarget<'a> {
    pub(super) kind: TargetKind<'a>,
    touched: &'a [&'a Touch],
}

pub(super) enum TargetKind<'a> {
    Command(Box<CommandForms<'a>>),
    /// A pipeline, or the whole text of several commands. Only patterns with a shell operator are compared with it.
    Joined {
        shown: String,
        /// As written, for rules that allow.
        written: String,
        /// Of both.
        fingerprint: Box<Fingerprint>,
    },
    /// A call without simple commands.
    Call,
}

/// The part of a rule that does not match.
#[derive(Clone, Copy)]
pub(super) enum Mismatch {
    Tool,
    Agent,
    File,
    Command,
    Input,
}

/// The touched files, by the index of the simple command.
pub(super) type Touches<'a> = BTreeMap<Option<usize>, Vec<&'a Touch>>;

pub(super) fn touches(effects: &Effects) -> Touches<'_> {
    let mut touches: Touches<'_> = BTreeMap::new();
    // A checkout is not a file.
    for touch in effects.touches.iter().filter(|touch| touch.access != Access::Checkout) {
        touches.entry(touch.command).or_default().push(touch);
    }
    touches
}

impl<'a> RuleTarget<'a> {
    /// A simple command with the files that it touches.
    pub(super) fn command(
        (index, command): (usize, &'a SimpleCommand),
        call: &ToolCall<'a>,
        is_only: bool,
        touches: &'a Touches<'a>,
    ) -> RuleTarget<'a> {
        let whole = if is_only { call.command.map(str::trim) } else { None };
        let forms =
            CommandForms::of(command, call.ground.home, whole, call.ground.budget).elsewhere(&call.ground);
        RuleTarget { kind: TargetKind::Command(Box::new(forms)), touched: touched(touches, Some(index)) }
    }

    pub(super) fn call(touches: &'a Touches<'a>) -> RuleTarget<'a> {
        RuleTarget { kind: TargetKind::Call, touched: touched(touches, None) }
    }

    /// A pipeline.
    pub(super) fn pipeline(commands: &[&SimpleCommand], home: Option<&str>) -> RuleTarget<'a> {
        let written = commands.iter().map(|command| command.text.as_str()).filter(|text| !text.is_empty());
        let written = written.collect::<Vec<_>>().join(" | ");
        RuleTarget::joined(pipeline(commands, home), written)
    }

    pub(super) fn whole(text: &str) -> RuleTarget<'a> {
        let text = text.trim();
        RuleTarget::joined(text.to_owned(), text.to_owned())
    }

    fn joined(shown: String, written: String) -> RuleTarget<'a> {
        let fingerprint = Box::new(Fingerprint::of([shown.as_str(), written.as_str()]));
        RuleTarget { kind: TargetKind::Joined { shown, written, fingerprint }, touched: &[] }
    }

    pub(super) fn subject<'b>(&'b self, call: &'b ToolCall<'_>) -> &'b str {
        match &self.kind {
            TargetKind::Command(forms) => &forms.plain.command.text,
            TargetKind::Joined { shown, .. } => shown,
            // An unparsable text, for example.
            TargetKind::Call => call.command.map_or(call.tool, start),
        }
    }

    /// Whether a quick look shows that the command of a rule does not match.
    pub(super) fn rules_out(&self, rule: &ToolRule) -> bool {
        let Some(pattern) = &rule.command else { return false };
        match &self.kind {
            TargetKind::Command(forms) => pattern.rules_out(forms),
            TargetKind::Joined { fingerprint, .. } => pattern.rules_out_all(fingerprint),
            TargetKind::Call => false,
        }
    }

    /// How a rule matches. It is for this tool and agent, except in an explanation, which shows all rules.
    pub(super) fn compare(&self, rule: &ToolRule, call: &ToolCall<'_>) -> Result<Match<'_>, Mismatch> {
        let is_allowing = rule.action == Action::Allow;
        if call.log.shows_all() {
            is_for(rule, call)?;
        }
        if let TargetKind::Joined { shown, written, .. } = &self.kind {
            return joined(rule, shown, written, call.ground.budget);
        }
        let file = rule.pattern.as_ref().is_none_or(|pattern| {
            // To allow, the pattern must cover each name of each file. To block, one name is enough.
            if is_allowing {
                let covers = |touch: &&Touch| pattern.covers_all_names(touch, &call.ground);
                !self.touched.is_empty() && self.touched.iter().all(covers)
            } else {
                self.touched.iter().any(|touch| pattern.covers(touch, &call.ground))
            }
        });
        if !file {
            return Err(Mismatch::File);
        }
        if let Some(pattern) = &rule.sql {
            self.runs_sql(rule, pattern, call.ground.budget)?;
        }
        let by_input = self.has_input(rule, call)?;
        let Some(pattern) = &rule.command else { return Ok(by_input) };
        let found = match (&self.kind, call.command) {
            (TargetKind::Command(forms), _) if is_allowing => pattern.allows(forms),
            (TargetKind::Command(forms), _) => pattern.denies(forms, rule.action == Action::Block),
            // Only its text is known.
            (_, Some(text)) if pattern.matches(text.trim(), !is_allowing, call.ground.budget) => {
                Some(Match::As(""))
            }
            _ => None,
        };
        let found = found.ok_or(Mismatch::Command)?;
        Ok(if by_input == Match::Perhaps { by_input } else { found })
    }
}

impl RuleTarget<'_> {
    /// How the notation of a rule matches the call's input.
    fn has_input(&self, rule: &ToolRule, call: &ToolCall<'_>) -> Result<Match<'static>, Mismatch> {
        let is_allowing = rule.action == Action::Allow;
        let certainly = |is_match: bool| if is_match { Ok(Match::As("")) } else { Err(Mismatch::Input) };
        match (&rule.input, &self.kind) {
            (InputPattern::Any, _) => Ok(Match::As("")),
            (InputPattern::Command(pattern), TargetKind::Command(forms)) if is_allowing => {
                certainly(pattern.allows(forms).is_some())
            }
            (InputPattern::Command(pattern), TargetKind::Command(forms)) => {
                match pattern.denies(forms, rule.action == Action::Block) {
                    Some(Match::Perhaps) => Ok(Match::Perhaps),
                    found => certainly(found.is_some()),
                }
            }
            (InputPattern::Command(_), _) => Err(Mismatch::Input),
            (InputPattern::File { pattern, writes }, _) => {
                let mut meant =
                    self.touched.iter().filter(|touch| is_about(touch.access, *writes)).peekable();
                let covers = |touch: &&&Touch| touch.names.iter().any(|name| pattern.covers(name));
                let surely = |touch: &&Touch| touch.names.iter().all(|name| pattern.surely_covers(name));
                certainly(if is_allowing {
                    meant.peek().is_some() && meant.all(surely)
                } else {
                    meant.any(|touch| covers(&touch))
                })
            }
            (InputPattern::Domain(glob), _) => match tools::host_of(call.input) {
                Some(host) => certainly(glob.matches_long(&host)),
                // A URL that two parsers read differently may have that host.
                None if !is_allowing => Ok(Match::Perhaps),
                None => Err(Mismatch::Input),
            },
            (InputPattern::Field { name, glob }, _) => {
                let value = call.input.get(*name).and_then(Value::as_str);
                certainly(value.is_some_and(|value| glob.matches_long(value)))
            }
        }
    }

    /// The resolved path of the file that a rule denies or asks about.
    pub(super) fn file(&self, rule: &ToolRule, ground: &Ground<'_>) -> Option<&str> {
        let is_meant = |touch: &&&Touch| match (&rule.pattern, &rule.input) {
            (Some(pattern), _) => pattern.covers(touch, ground),
            (None, InputPattern::File { pattern, writes }) => {
                is_about(touch.access, *writes) && touch.names.iter().any(|name| pattern.covers(name))
            }
            _ => false,
        };
        self.touched.iter().find(is_meant).map(|touch| touch.shown())
    }

    /// Whether the pattern matches an SQL statement. To allow, it must match all statements.
    fn runs_sql(&self, rule: &ToolRule, pattern: &CommandPattern, budget: &Budget) -> Result<(), Mismatch> {
        let is_allowing = rule.action == Action::Allow;
        let TargetKind::Command(forms) = &self.kind else { return Err(Mismatch::Command) };
        let statements = sql::statements(forms.plain.command);
        let is_excepted = |statement: &str| {
            rule.sql_unless.as_ref().is_some_and(|unless| unless.matches(statement, is_allowing, budget))
        };
        let matches =
            |statement: &String| pattern.matches(statement, !is_allowing, budget) && !is_excepted(statement);
        let is_match = if is_allowing {
            !statements.is_empty() && statements.iter().all(matches)
        } else {
            statements.iter().any(matches)
        };
        if is_match { Ok(()) } else { Err(Mismatch::Command) }
    }
}

/// The plain forms of the commands of a pipeline, without wrappers such as `env`.
pub fn pipeline(commands: &[&SimpleCommand], home: Option<&str>) -> String {
    let run = commands.iter().filter(|command| !command.wraps && !command.text.is_empty());
    run.map(|command| command.plain(home).in_pipeline().to_owned()).collect::<Vec<_>>().join(" | ")
}

/// Whether a rule is for this tool and agent.
pub(super) fn is_for(rule: &ToolRule, call: &ToolCall<'_>) -> Result<(), Mismatch> {
    if !rule.is_for_tool_of(call) {
        return Err(Mismatch::Tool);
    }
    if rule.agents.include(call.agent) { Ok(()) } else { Err(Mismatch::Agent) }
}

fn touched<'a>(touches: &'a Touches<'a>, index: Option<usize>) -> &'a [&'a Touch] {
    touches.get(&index).map_or(&[], Vec::as_slice)
}

impl ToolRule {
    /// Whether it is for the tool of a call, under any of its names.
    pub(super) fn is_for_tool_of(&self, call: &ToolCall<'_>) -> bool {
        self.is_for_tool(call.tool) || call.other_names.iter().any(|name| self.is_for_tool(name))
    }

    pub(super) fn is_for_tool(&self, tool: &str) -> bool {
        let is_allowing = self.action == Action::Allow;
        let matches = |tool: &str| self.tool.matches(tool).unwrap_or(!is_allowing);
        matches(tool) || tools::is_ruled_as_shell(tool, is_allowing) && matches(tools::SHELL)
    }

    /// Whether files are compared with it.
    pub(super) fn compares_files(&self) -> bool {
        self.pattern.is_some() || matches!(self.input, InputPattern::File { .. })
    }

    /// Whether it is compared with pipelines and the whole text: it allows everything, or its pattern has a shell operator.
    pub(super) fn is_for_joined(&self) -> bool {
        if !matches!(self.input, InputPattern::Any) {
            return false;
        }
        let allows_all = self.action == Action::Allow && self.pattern.is_none() && self.sql.is_none();
        match &self.command {
            None => allows_all,
            Some(pattern) => allows_all && pattern.is_any() || pattern.joins() && self.sql.is_none(),
        }
    }
}

/// Compares a rule with a pipeline or a whole text.
fn joined<'u>(
    rule: &ToolRule,
    shown: &'u str,
    written: &'u str,
    budget: &Budget,
) -> Result<Match<'u>, Mismatch> {
    let is_allowing = rule.action == Action::Allow;
    let Some(pattern) = &rule.command else { return Ok(Match::As("")) };
    let text = if is_allowing { written } else { shown };
    if pattern.matches(text, !is_allowing, budget) { Ok(Match::As(text)) } else { Err(Mismatch::Command) }
}

impl Mismatch {
    pub(super) fn describe(self, rule: &ToolRule, call: &ToolCall<'_>, subject: &str) -> String {
        match self {
            Mismatch::Tool => format!("does not apply to {}", call.tool),
            Mismatch::Agent => AgentFilter::other(call.agent),
            Mismatch::File if rule.action == Action::Allow => {
                format!("does not cover all files of {subject}")
            }
            Mismatch::File => format!("covers no file of {subject}"),
            Mismatch::Command => format!("does not match {subject}"),
            Mismatch::Input => format!("does not match the input of {}", call.tool),
        }
    }
}
