//! What came of one step of a plan, whatever kind of step it was.

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
    /// A permission is given without asking the user.
    Grant,
    Warn,
    /// The user decides.
    Ask,
    Block,
}

impl Verdict {
    /// As records have it.
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

    /// What blocks must be kept apart from what only warns: a blocked agent fixes the first.
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
    /// What is shown, cleaned; empty for nothing.
    pub message: String,
    pub evidence: Evidence,
}

/// What a record keeps of an outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A remark beside the others, such as a config that cannot be read.
    Note,
    Finding(Finding),
    /// A step file that admits its failure.
    HonestFailure,
    /// Something that was not run.
    Skipped,
    /// What Claude is given beside a prompt.
    Context(String, RuleMatch),
    /// Why something was refused that had been allowed, for Claude. It has a record of its own.
    Explanation(String),
    /// A rule allows what another might not.
    Allowed(RuleMatch),
    /// The user has permitted what this rule is against; with words about the permit.
    Permitted(RuleMatch, String),
    /// How far a budget is used, for the user and for Claude.
    Budget(Box<BudgetNotice>),
    /// What the tool is given instead.
    UpdatedInput(Map<String, Value>),
    /// Claude is asked to go on.
    Continue,
    Command(Box<CommandRun>),
    /// What the judge answered, and what was found by it.
    Judge(Value, Option<Finding>),
    /// The config has an error that concerns the event.
    ConfigError(Failure),
    /// A record that must be written cannot be.
    Unrecorded(Failure),
}

/// Something about a budget that is against nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetNotice {
    pub finding: Finding,
    /// What Claude is told; none where it can do nothing about it.
    pub for_claude: Option<String>,
}

/// Why an event fails. That never blocks anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub text: String,
    /// Where a text with this part is pending for the user, this one adds nothing.
    pub part: String,
}

/// A rule that is against nothing, and what it matched.
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
    /// How it ended, in words that follow "it".
    pub status: String,
    pub exit_code: Option<i32>,
    pub started: Timestamp,
    pub duration: Duration,
    /// What is shown of its output.
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// What it printed, where that is part of the answer.
    pub answer: Option<String>,
    /// What it answers as a hook, where it does.
    pub reply: Option<Box<HookReply>>,
    /// The end of both streams, where it is recorded.
    pub output: Option<String>,
}

/// What keeps a command from checking anything. An agent can hardly fix it, so it blocks the agent's stop once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Timeout,
    /// A program is not installed, or is not executable.
    MissingProgram,
}

impl Obstacle {
    /// What blocks an agent, as the subject of a sentence.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            Obstacle::Timeout => "timeouts",
            Obstacle::MissingProgram => "programs that cannot run",
        }
    }
}

/// The exit code of a shell for a program that cannot be executed, and for one that is not there.
pub const NOT_EXECUTABLE: i32 = 126;
pub const NOT_FOUND: i32 = 127;

impl CommandRun {
    /// Shells, and what runs scripts for others, exit with 127 for a program that is not there and with 126 for one that
    /// cannot be executed.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self.exit_code {
            _ if self.is_timeout => Some(Obstacle::Timeout),
            Some(NOT_EXECUTABLE | NOT_FOUND) => Some(Obstacle::MissingProgram),
            _ => None,
        }
    }

    /// What follows from it unless it succeeds.
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

    /// A finding; it blocks where violations do.
    #[must_use]
    pub fn finding(finding: Finding, violations_block: bool) -> Outcome {
        let verdict = if finding.blocks() && violations_block { Verdict::Block } else { Verdict::Warn };
        // The mark is the finding's own: where violations only warn, one still sees what would have blocked.
        let mark = if finding.blocks() { Verdict::Block.mark() } else { Verdict::Warn.mark() };
        Outcome { verdict, message: format!("{mark} {finding}"), evidence: Evidence::Finding(finding) }
    }

    /// What a guard, or a rule for permissions, is against. A question is one to the user.
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

    /// Without a message: whether it is shown beside those of the others is decided with the exit code.
    fn failing(evidence: Evidence) -> Outcome {
        Outcome { verdict: Verdict::Warn, message: String::new(), evidence }
    }

    /// Why the event fails because of it.
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

    /// What a command answered as a hook.
    #[must_use]
    pub fn reply(&self) -> Option<&HookReply> {
        self.run()?.reply.as_deref()
    }

    /// What it only warns of because an agent is blocked by it once: it fails as before.
    #[must_use]
    pub fn repeated_obstacle(&self) -> Option<Obstacle> {
        let run = self.run()?;
        if self.verdict == Verdict::Warn && run.reaction() == Reaction::Block { run.obstacle() } else { None }
    }

    /// What the tool is given instead because of it.
    #[must_use]
    pub fn updated_input(&self) -> Option<&Map<String, Value>> {
        match &self.evidence {
            Evidence::UpdatedInput(input) => Some(input),
            _ => self.reply()?.updated_input.as_ref(),
        }
    }

    /// What Claude is given because of it.
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
