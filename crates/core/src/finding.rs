//! What the gates find: a code, the phase it is about, what was found, and what to do.

use std::fmt;

use serde::Serialize;

use crate::rule::{Rule, RuleSource};
use crate::text::clean_line;

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Claude,
    User,
}

macro_rules! codes {
    ($($(#[doc = $doc:expr])* $name:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Code { $($(#[doc = $doc])* #[serde(rename = $text)] $name),* }

        impl Code {
                    #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }
        }
    };
}

codes! {
    StepFileMissing = "STEP_FILE_MISSING",
    /// The step file cannot be read as one.
    StepFileInvalid = "STEP_FILE_INVALID",
    /// The step file lies outside the project.
    StepFileOutsideProject = "STEP_FILE_OUTSIDE_PROJECT",
    MarkerMissing = "MARKER_MISSING",
    /// A marker cannot be understood.
    MarkerInvalid = "MARKER_INVALID",
    /// `DES-AGENT` is not this agent.
    AgentMismatch = "AGENT_MISMATCH",
    /// The prompt lacks a required section.
    SectionMissing = "SECTION_MISSING",
    /// The step's rules are not those of the call any more.
    RulesChanged = "RULES_CHANGED",
    /// Another agent works on the step.
    StepBusy = "STEP_BUSY",
    StepDone = "STEP_DONE",
    /// The step touches production, or is destructive without a way back.
    UnsafeStep = "UNSAFE_STEP",
    /// Every phase is NOT_EXECUTED.
    SilentCompletion = "SILENT_COMPLETION",
    /// A phase is IN_PROGRESS.
    AbandonedPhase = "ABANDONED_PHASE",
    /// A phase is NOT_EXECUTED while others ran.
    IncompletePhase = "INCOMPLETE_PHASE",
    /// A phase of the list is not in the log.
    MissingPhase = "MISSING_PHASE",
    /// The log has a phase that is not in the list.
    UnknownPhase = "UNKNOWN_PHASE",
    /// The log has a phase twice.
    DuplicatePhase = "DUPLICATE_PHASE",
    /// A phase has a status that does not exist.
    UnknownStatus = "UNKNOWN_STATUS",
    /// Phases are not in their order.
    PhaseOrder = "PHASE_ORDER",
    /// A phase was executed and has no outcome.
    MissingOutcome = "MISSING_OUTCOME",
    /// A phase's outcome is neither PASS nor FAIL.
    InvalidOutcome = "INVALID_OUTCOME",
    FailedPhase = "FAILED_PHASE",
    /// A phase was skipped without a reason that counts.
    InvalidSkip = "INVALID_SKIP",
    /// A phase was put off.
    DeferredSkip = "DEFERRED_SKIP",
    /// A phase took more turns than it may.
    TurnLimitExceeded = "TURN_LIMIT_EXCEEDED",
    /// The phases took longer than they may.
    TimeoutExceeded = "TIMEOUT_EXCEEDED",
    /// All phases are finished, and the step does not say so.
    StateMismatch = "STATE_MISMATCH",
    /// A phase lacks the record of a real run.
    EvidenceMissing = "EVIDENCE_MISSING",
    /// A file of the step was changed after the last proof.
    StaleEvidence = "STALE_EVIDENCE",
    /// A file was changed that the step may not touch.
    ScopeViolation = "SCOPE_VIOLATION",
    /// A gated agent left nothing to judge it by.
    NotJudged = "NOT_JUDGED",
    /// Whether an agent is gated is not known.
    PromptNotFound = "PROMPT_NOT_FOUND",
    JudgeRefused = "JUDGE_REFUSED",
    /// The judge could not be asked.
    JudgeFailed = "JUDGE_FAILED",
    /// A guard of `preToolUse` keeps a tool from being used.
    GuardDenied = "GUARD_DENIED",
    /// A guard of `preToolUse` leaves it to the user.
    GuardAsks = "GUARD_ASKS",
    /// A rule of `permissionRequest` allows what Claude Code would have asked about.
    PermissionAllowed = "PERMISSION_ALLOWED",
    /// A rule of `permissionRequest` denies it.
    PermissionDenied = "PERMISSION_DENIED",
    /// A gated agent started and never stopped.
    Unfinished = "UNFINISHED",
    /// What a gate must remember of a call cannot be kept.
    NotRemembered = "NOT_REMEMBERED",
    /// A call that must be recorded cannot be.
    NotRecorded = "NOT_RECORDED",
    /// A gate applies to a payload that cannot be read.
    PayloadInvalid = "PAYLOAD_INVALID",
    /// No command of `worktreeCreate` printed a path.
    NoWorktree = "NO_WORKTREE",
}

impl Code {
    /// Those of guards and of rules for permissions. Records have them; texts say the reason instead.
    pub const GUARDS: [Code; 4] =
        [Code::GuardDenied, Code::GuardAsks, Code::PermissionAllowed, Code::PermissionDenied];

    #[must_use]
    pub fn is_of_guard(self) -> bool {
        Code::GUARDS.contains(&self)
    }

    /// Where the rule of a finding is written that does not name one.
    #[must_use]
    pub fn written(self) -> RuleSource {
        match self {
            Code::StepFileMissing | Code::StepFileInvalid | Code::StepFileOutsideProject => {
                RuleSource::Prompt("DES-STEP-FILE")
            }
            Code::MarkerMissing | Code::MarkerInvalid => RuleSource::Prompt("DES-VALIDATION"),
            Code::AgentMismatch => RuleSource::Prompt("DES-AGENT"),
            Code::SectionMissing => RuleSource::Config(&["des", "requiredSections"]),
            Code::RulesChanged => RuleSource::BuiltIn("what Gate 1 saw counts until the agent has stopped"),
            Code::StepBusy => RuleSource::BuiltIn("one agent works on a step at a time"),
            Code::StepDone | Code::StateMismatch => RuleSource::Step("state"),
            Code::UnsafeStep => RuleSource::Step("safety"),
            Code::MissingPhase | Code::UnknownPhase | Code::PhaseOrder => {
                RuleSource::Config(&["des", "phases"])
            }
            Code::SilentCompletion
            | Code::AbandonedPhase
            | Code::IncompletePhase
            | Code::DuplicatePhase
            | Code::UnknownStatus
            | Code::MissingOutcome
            | Code::InvalidOutcome
            | Code::FailedPhase
            | Code::InvalidSkip
            | Code::DeferredSkip => RuleSource::Step("phase_execution_log"),
            Code::TurnLimitExceeded => RuleSource::Step("max_turns"),
            Code::TimeoutExceeded => RuleSource::Step("duration_minutes"),
            Code::EvidenceMissing => RuleSource::Config(&["des", "evidence"]),
            Code::StaleEvidence => RuleSource::Config(&["des", "staleEvidence"]),
            Code::ScopeViolation => RuleSource::Step("allowed_file_patterns"),
            Code::JudgeRefused | Code::JudgeFailed => RuleSource::Config(&["des", "judge"]),
            Code::PromptNotFound => {
                RuleSource::BuiltIn("a prompt that is not found is reported where steps are used")
            }
            Code::NotJudged | Code::Unfinished => {
                RuleSource::BuiltIn("a gated agent is judged when it stops")
            }
            Code::GuardDenied | Code::GuardAsks => RuleSource::BuiltIn("guards"),
            Code::PermissionAllowed | Code::PermissionDenied => RuleSource::Config(&["permissionRequest"]),
            Code::NotRemembered => {
                RuleSource::BuiltIn("an agent is held to what Gate 1 remembers of its call")
            }
            Code::NotRecorded => RuleSource::Config(&["audit", "required"]),
            Code::PayloadInvalid => RuleSource::BuiltIn("a gate that cannot be evaluated never allows"),
            Code::NoWorktree => RuleSource::Config(&["worktreeCreate", "commands"]),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    Block,
    /// It is reported.
    Warn,
}

/// What a guard says besides its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardWords {
    /// What the user should know who is asked, instead of what Claude should do.
    pub user_fix: Option<String>,
    /// The part of the call that it is about, where the call alone does not show it.
    pub about: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub code: Code,
    pub weight: Weight,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was found. Of a guard: the reason, which is the message of its rule where it has one.
    pub what: String,
    /// What to do. Empty where the message of a rule says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// What only guards add.
    #[serde(skip)]
    pub guard: Option<Box<GuardWords>>,
    /// What it was found by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Box<Rule>>,
    /// What the rule matched: a path, a command, a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
}

impl Finding {
    /// A finding that blocks.
    #[must_use]
    pub fn new(code: Code, what: impl Into<String>, fix: impl Into<String>) -> Finding {
        let (what, fix) = (what.into(), fix.into());
        Finding {
            code,
            weight: Weight::Block,
            phase: None,
            what,
            fix,
            guard: None,
            rule: None,
            matched: None,
        }
    }

    /// The same, with the rule that found it and what that matched.
    #[must_use]
    pub fn by(mut self, rule: Option<Rule>, matched: impl Into<String>) -> Finding {
        self.rule = rule.map(Box::new);
        self.matching(matched)
    }

    /// The same, with what its rule matched.
    #[must_use]
    pub fn matching(mut self, matched: impl Into<String>) -> Finding {
        self.matched = Some(matched.into()).filter(|matched| !matched.is_empty());
        self
    }

    /// The same, with what only guards add.
    #[must_use]
    pub fn with_words(mut self, words: GuardWords) -> Finding {
        self.guard = Some(Box::new(words));
        self
    }

    /// The same, about a phase.
    #[must_use]
    pub fn in_phase(mut self, phase: &str) -> Finding {
        self.phase = Some(phase.to_owned());
        self
    }

    /// The same, but it only warns.
    #[must_use]
    pub fn warning(mut self) -> Finding {
        self.weight = Weight::Warn;
        self
    }

    #[must_use]
    pub fn blocks(&self) -> bool {
        self.weight == Weight::Block
    }
}

impl Finding {
    /// The finding on one line and cleaned: step files and configs are data. A guard gives its reason, what to do and where its rule
    /// is; a gate gives `CODE PHASE: what was found → what to do`.
    #[must_use]
    pub fn text_for(&self, audience: Audience) -> String {
        if self.code.is_of_guard() { self.prose(audience) } else { self.with_code() }
    }

    fn with_code(&self) -> String {
        let phase = self.phase.as_deref().map(|phase| format!(" {}", clean_line(phase))).unwrap_or_default();
        format!("{}{phase}: {} → {}", self.code, clean_line(&self.what), clean_line(&self.fix))
    }

    /// What to do, for who reads it.
    #[must_use]
    pub fn fix_for(&self, audience: Audience) -> &str {
        let words = self.guard.as_deref();
        match (audience, words.and_then(|words| words.user_fix.as_ref())) {
            (Audience::User, Some(fix)) => fix,
            _ => &self.fix,
        }
    }

    fn prose(&self, audience: Audience) -> String {
        let words = self.guard.as_deref();
        let fix = self.fix_for(audience);
        let about =
            words.and_then(|words| words.about.as_ref()).map(|about| format!("about {}", clean_line(about)));
        let place: Vec<String> = self.rule.iter().map(|rule| rule.place()).chain(about).collect();
        let mut text = clean_line(&self.what);
        if !fix.is_empty() {
            text = format!("{text} {}", clean_line(fix));
        }
        if place.is_empty() { text } else { format!("{text} ({})", place.join(", ")) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text_for(Audience::Claude))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_gives_the_reason_before_the_rule_and_no_code() {
        let rule = Rule::key("preToolUse.toolUsageValidation").at("pack:git-safety", Some(4));
        let finding =
            Finding::new(Code::GuardAsks, "Force push rewrites the remote's history.", "Push without it.")
                .by(Some(rule), "git push -f")
                .with_words(GuardWords { user_fix: Some("Allow it if you want that.".into()), about: None });
        assert_eq!(
            finding.text_for(Audience::Claude),
            "Force push rewrites the remote's history. Push without it. (pack:git-safety force-push)"
        );
        assert_eq!(
            finding.text_for(Audience::User),
            "Force push rewrites the remote's history. Allow it if you want that. (pack:git-safety force-push)"
        );
        let words = GuardWords { user_fix: None, about: Some("`git push\n-f`".into()) };
        let finding = Finding { fix: String::new(), ..finding }.with_words(words);
        assert_eq!(
            finding.text_for(Audience::Claude),
            "Force push rewrites the remote's history. (pack:git-safety force-push, about `git push -f`)"
        );
    }

    #[test]
    fn a_gate_keeps_its_code() {
        let finding = Finding::new(Code::IncompletePhase, "it is NOT_EXECUTED", "do it").in_phase("COMMIT");
        assert_eq!(finding.to_string(), "INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED → do it");
    }
}
