//! The outcome of one step of a plan, whatever kind of step it was.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::config::Reaction;
use crate::dialect::claude::HookReply;
use crate::finding::{Audience, Finding};
use crate::plan::Command;
use crate::rule::Rule;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Pass,
    /// The permission is granted without asking the user.
    Grant,
    Warn,
    /// The user decides.
    Ask,
    Block,
}

impl Verdict {
    /// The word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Grant => "grant",
            Verdict::Warn => "warn",
            Verdict::Ask => "ask",
            Verdict::Block => "block",
        }
    }

    /// Blocks and warnings have different marks: a blocked agent fixes the blocks first.
    #[must_use]
    pub fn mark(self) -> char {
        match self {
            Verdict::Pass | Verdict::Grant => '✓',
            Verdict::Warn => '⚠',
            Verdict::Ask => '?',
            Verdict::Block => '✗',
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The cleaned message. Empty for nothing.
    pub message: String,
    pub evidence: Evidence,
}

/// The part of an outcome that a record keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A remark, such as a config that cannot be read.
    Note,
    Finding(Finding),
    /// A step file that admits its failure.
    HonestFailure,
    /// A step that did not run.
    Skipped,
    /// The context for Claude with a prompt.
    Context(String, RuleMatch),
    /// The reason for Claude why an allowed call was refused. It has a separate record.
    Explanation(String),
    /// A rule allows what another rule might deny.
    Allowed(RuleMatch),
    /// The user permitted what this rule forbids. The text describes the permit.
    Permitted(RuleMatch, String),
    /// How much of a budget is used, for the user and for Claude.
    Budget(Box<BudgetNotice>),
    /// The replaced input of the tool.
    UpdatedInput(Map<String, Value>),
    /// Claude must continue.
    Continue,
    Command(Box<CommandRun>),
    /// The judge's answer, and its finding.
    Judge(Value, Option<Finding>),
    /// The config has an error that concerns the event.
    ConfigError(Failure),
    /// A required record cannot be written.
    Unrecorded(Failure),
}

/// A message about a budget that forbids nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetNotice {
    pub finding: Finding,
    /// The message for Claude. `None` if Claude can do nothing about it.
    pub for_claude: Option<String>,
}

/// Why an event fails. That never blocks anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub text: String,
    /// If a queued message to the user contains this part, this one adds nothing.
    pub part: String,
}

/// A rule that forbids nothing, and the text that it matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    pub rule: Rule,
    pub matched: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    pub command: Command,
    pub is_success: bool,
    pub is_timeout: bool,
    /// How it ended, in words after "it".
    pub status: String,
    pub exit_code: Option<i32>,
    pub started: Timestamp,
    pub duration: Duration,
    /// The shown part of its output.
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// Its output, if that is part of the answer.
    pub answer: Option<String>,
    /// Its answer, if it is a hook.
    pub reply: Option<Box<HookReply>>,
    /// The end of both streams, if it is recorded.
    pub output: Option<String>,
}

/// Why a command could not check anything. An agent can hardly fix it, so it blocks the agent's stop only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Timeout,
    /// A program is not installed, or is not executable.
    MissingProgram,
}

impl Obstacle {
    /// The cause of a block, as the subject of a sentence.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            Obstacle::Timeout => "timeouts",
            Obstacle::MissingProgram => "programs that cannot run",
        }
    }
}

/// The exit codes of a shell for a program that cannot be executed, and for a missing one.
pub const NOT_EXECUTABLE: i32 = 126;
pub const NOT_FOUND: i32 = 127;

impl CommandRun {
    /// Shells and launchers of scripts exit with 127 for a missing program, and with 126 for one that cannot be executed.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self.exit_code {
            _ if self.is_timeout => Some(Obstacle::Timeout),
            Some(NOT_EXECUTABLE | NOT_FOUND) => Some(Obstacle::MissingProgram),
            _ => None,
        }
    }

    /// The reaction to it unless it succeeds.
    #[must_use]
    pub fn reaction(&self) -> Reaction {
        if self.is_timeout { self.command.on_timeout } else { self.command.on_failure }
    }
}

impl Outcome {
    #[must_use]
    pub fn note(message: String) -> Outcome {
        Outcome { verdict: Verdict::Warn, message, evidence: Evidence::Note }
    }

    #[must_use]
    pub fn allowed(rule: Rule, matched: String) -> Outcome {
        let evidence = Evidence::Allowed(RuleMatch { rule, matched });
        Outcome { verdict: Verdict::Pass, message: String::new(), evidence }
    }

    /// A finding. It blocks if violations block.
    #[must_use]
    pub fn finding(finding: Finding, violations_block: bool) -> Outcome {
        let verdict = if finding.blocks() && violations_block { Verdict::Block } else { Verdict::Warn };
        // The mark is the finding's own: if violations only warn, the user still sees what would have blocked.
        let mark = if finding.blocks() { Verdict::Block.mark() } else { Verdict::Warn.mark() };
        Outcome { verdict, message: format!("{mark} {finding}"), evidence: Evidence::Finding(finding) }
    }

    /// What a guard or a permission rule found. A question is for the user.
    #[must_use]
    pub fn of_guard(verdict: Verdict, finding: Finding) -> Outcome {
        let audience = if verdict == Verdict::Ask { Audience::User } else { Audience::Claude };
        let message = format!("{} {}", verdict.mark(), finding.text_for(audience));
        Outcome { verdict, message, evidence: Evidence::Finding(finding) }
    }

    #[must_use]
    pub fn config_error(text: String, part: String) -> Outcome {
        Outcome::failing(Evidence::ConfigError(Failure { text, part }))
    }

    #[must_use]
    pub fn unrecorded(text: String) -> Outcome {
        Outcome::failing(Evidence::Unrecorded(Failure { part: text.clone(), text }))
    }

    /// Without a message: the exit code decides whether it is shown with the others.
    fn failing(evidence: Evidence) -> Outcome {
        Outcome { verdict: Verdict::Warn, message: String::new(), evidence }
    }

    /// Why it makes the event fail.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.evidence {
            Evidence::ConfigError(failure) | Evidence::Unrecorded(failure) => Some(failure),
            _ => None,
        }
    }

    #[must_use]
    pub fn run(&self) -> Option<&CommandRun> {
        match &self.evidence {
            Evidence::Command(run) => Some(run),
            _ => None,
        }
    }

    /// The answer of a command that acts as a hook.
    #[must_use]
    pub fn reply(&self) -> Option<&HookReply> {
        self.run()?.reply.as_deref()
    }

    /// The obstacle, if it only warns because it has already blocked the agent once.
    #[must_use]
    pub fn repeated_obstacle(&self) -> Option<Obstacle> {
        let run = self.run()?;
        if self.verdict == Verdict::Warn && run.reaction() == Reaction::Block { run.obstacle() } else { None }
    }

    /// The replaced input of the tool.
    #[must_use]
    pub fn updated_input(&self) -> Option<&Map<String, Value>> {
        match &self.evidence {
            Evidence::UpdatedInput(input) => Some(input),
            _ => self.reply()?.updated_input.as_ref(),
        }
    }

    /// The text for Claude.
    #[must_use]
    pub fn for_claude(&self) -> Option<&str> {
        match &self.evidence {
            Evidence::Command(run) => match &run.reply {
                Some(reply) => reply.context.as_deref(),
                None => run.answer.as_deref(),
            },
            Evidence::Context(text, _) | Evidence::Explanation(text) => Some(text),
            Evidence::Budget(notice) => notice.for_claude.as_deref(),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_finding(&self) -> Option<&Finding> {
        match &self.evidence {
            Evidence::Finding(finding) | Evidence::Judge(_, Some(finding)) => Some(finding),
            Evidence::Budget(notice) => Some(&notice.finding),
            _ => None,
        }
    }
}
