//! Findings of the gates: a code, the phase, the description, and the fix.

use std::fmt;

use serde::Serialize;

use crate::config::JUDGE;
use crate::rule::{Rule, RuleSource};
use crate::text::clean_line;

/// Who reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Claude,
    User,
}

macro_rules! codes {
    ($(#[doc = $doc:expr] $name:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Code { $(#[doc = $doc] #[serde(rename = $text)] $name),* }

        impl Code {
            /// Each code with its cause and its fix, for the reference.
            pub const DESCRIPTIONS: &[(&str, &str)] = &[$(($text, $doc)),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }
        }
    };
}

codes! {
    /// The step file does not exist. Fix: correct the path in `DES-STEP-FILE`, or create the file with `conclaude des new`.
    StepFileMissing = "STEP_FILE_MISSING",
    /// The step file is invalid. Fix: correct its JSON or the named fields.
    StepFileInvalid = "STEP_FILE_INVALID",
    /// The step file is outside the project, after following links. Fix: move it into the project.
    StepFileOutsideProject = "STEP_FILE_OUTSIDE_PROJECT",
    /// The prompt says `DES-VALIDATION: required` and names no step file. Fix: add `DES-STEP-FILE`; `conclaude des prompt` prints all markers.
    MarkerMissing = "MARKER_MISSING",
    /// A marker cannot be understood. Fix: correct the marker in the prompt.
    MarkerInvalid = "MARKER_INVALID",
    /// `DES-AGENT` is not this agent. Fix: call the agent that it names.
    AgentMismatch = "AGENT_MISMATCH",
    /// The prompt lacks a section of `des.requiredSections`. Fix: add the section to the prompt.
    SectionMissing = "SECTION_MISSING",
    /// The step's rules are no longer those of the call: scope, limits, safety or config. Fix: restore them, or call the agent again.
    RulesChanged = "RULES_CHANGED",
    /// Another agent works on the step (a warning). Fix: let one agent work on a step at a time.
    StepBusy = "STEP_BUSY",
    /// The step is done already. Fix: choose another step, or let the user reopen it.
    StepDone = "STEP_DONE",
    /// The step affects production, or is destructive and has no rollback plan. Fix: let the user decide, or add a rollback plan.
    UnsafeStep = "UNSAFE_STEP",
    /// Every phase is NOT_EXECUTED. Fix: do the work and record it with `conclaude des run`.
    SilentCompletion = "SILENT_COMPLETION",
    /// A phase is IN_PROGRESS. Fix: finish it.
    AbandonedPhase = "ABANDONED_PHASE",
    /// A phase is NOT_EXECUTED while others ran. Fix: do it and record it, or skip it with a valid reason.
    IncompletePhase = "INCOMPLETE_PHASE",
    /// A phase of the list is not in the log. Fix: add it to the log.
    MissingPhase = "MISSING_PHASE",
    /// The log has a phase that is not in the list. Fix: remove it, or add it to `des.phases`.
    UnknownPhase = "UNKNOWN_PHASE",
    /// The log has a phase twice. Fix: remove one of the two.
    DuplicatePhase = "DUPLICATE_PHASE",
    /// A phase has a status that does not exist. Fix: write NOT_EXECUTED, IN_PROGRESS, EXECUTED or SKIPPED.
    UnknownStatus = "UNKNOWN_STATUS",
    /// Phases are out of order: by position, by `phase_index` or by their times. Fix: do one phase after the other.
    PhaseOrder = "PHASE_ORDER",
    /// A phase was executed and has no outcome. Fix: record PASS or FAIL.
    MissingOutcome = "MISSING_OUTCOME",
    /// A phase's outcome is neither PASS nor FAIL. Fix: record PASS or FAIL.
    InvalidOutcome = "INVALID_OUTCOME",
    /// A phase has failed. Fix: fix the cause and run the phase again, or admit the failure with `conclaude des fail`.
    FailedPhase = "FAILED_PHASE",
    /// A phase was skipped without a valid reason, or the last phase was skipped. Fix: give a reason such as `NOT_APPLICABLE: …`.
    InvalidSkip = "INVALID_SKIP",
    /// A phase was deferred (a warning). Fix: do the phase, or let the user accept it.
    DeferredSkip = "DEFERRED_SKIP",
    /// A phase took more turns than `max_turns`. Fix: let the user extend the limit.
    TurnLimitExceeded = "TURN_LIMIT_EXCEEDED",
    /// The phases took longer than `duration_minutes`. Fix: let the user extend the limit.
    TimeoutExceeded = "TIMEOUT_EXCEEDED",
    /// All phases are finished, and `state.status` is not DONE. Fix: set it to DONE.
    StateMismatch = "STATE_MISMATCH",
    /// A phase of `des.evidence` has no record of a real run. Fix: run it with `conclaude des run`.
    EvidenceMissing = "EVIDENCE_MISSING",
    /// A file of the step was changed after the last proof. Fix: run the proof again.
    StaleEvidence = "STALE_EVIDENCE",
    /// A file outside `allowed_file_patterns` was changed since the call. Fix: revert it.
    ScopeViolation = "SCOPE_VIOLATION",
    /// A gated agent cannot be judged: its transcript is gone. It blocks once. Fix: let the user look at the step.
    NotJudged = "NOT_JUDGED",
    /// It is unknown whether an agent is gated: its prompt is in no transcript (a warning). Fix: let the user look at the step.
    PromptNotFound = "PROMPT_NOT_FOUND",
    /// The judge of `des.judge` says that the agent is not done. Fix: do what it asks for.
    JudgeRefused = "JUDGE_REFUSED",
    /// The judge could not be reached, or gave no valid answer. Fix: check the key and the network; `des.judge.onError` decides.
    JudgeFailed = "JUDGE_FAILED",
    /// A guard of `preToolUse` denies a tool. Fix: do what its message says.
    GuardDenied = "GUARD_DENIED",
    /// A guard of `preToolUse` leaves the call to the user. Fix: answer the question, or permit the call with `conclaude allow`.
    GuardAsks = "GUARD_ASKS",
    /// A rule of `permissionRequest` allows what Claude Code would have asked about. Fix: nothing to do.
    PermissionAllowed = "PERMISSION_ALLOWED",
    /// A rule of `permissionRequest` denies the call. Fix: work without it, or change the rule.
    PermissionDenied = "PERMISSION_DENIED",
    /// A gated agent started and never stopped. Fix: let the user look at the step.
    Unfinished = "UNFINISHED",
    /// State that a later gate needs cannot be written. Fix: make `.conclaude/` and the state folder writable.
    NotRemembered = "NOT_REMEMBERED",
    /// A call must be recorded (`audit.required`), but cannot be. Fix: make `.conclaude/audit/` writable.
    NotRecorded = "NOT_RECORDED",
    /// A gate applies to an unreadable payload. Fix: use a client that conclaude knows, or remove the markers.
    PayloadInvalid = "PAYLOAD_INVALID",
    /// No command of `worktreeCreate` printed a path. Fix: let one print the folder that it created.
    NoWorktree = "NO_WORKTREE",
    /// An amount of `budget` has reached the part that `at` names. Fix: do what matters most first, or raise it.
    BudgetNear = "BUDGET_NEAR",
    /// An amount of `budget` is used up. Fix: finish and report; the user can raise it with `conclaude budget raise`.
    BudgetReached = "BUDGET_REACHED",
    /// The price of a model is unknown, so that a budget of cost denies nothing. Fix: set its price in `report.prices`, or limit tokens.
    PriceUnknown = "PRICE_UNKNOWN",
}

impl Code {
    /// The codes of guards, permission rules and budgets. Records have them; messages give the reason instead.
    pub const GUARDS: [Code; 7] = [
        Code::GuardDenied,
        Code::GuardAsks,
        Code::PermissionAllowed,
        Code::PermissionDenied,
        Code::BudgetNear,
        Code::BudgetReached,
        Code::PriceUnknown,
    ];

    #[must_use]
    pub fn is_of_guard(self) -> bool {
        Code::GUARDS.contains(&self)
    }

    /// The source of the rule, for a finding without a rule.
    #[must_use]
    pub fn written(self) -> RuleSource {
        match self {
            Code::StepFileMissing | Code::StepFileInvalid | Code::StepFileOutsideProject => {
                RuleSource::Prompt("DES-STEP-FILE")
            }
            Code::MarkerMissing | Code::MarkerInvalid => RuleSource::Prompt("DES-VALIDATION"),
            Code::AgentMismatch => RuleSource::Prompt("DES-AGENT"),
            Code::SectionMissing => RuleSource::Config(&["des", "requiredSections"]),
            Code::RulesChanged => RuleSource::BuiltIn("what Gate 1 stored counts until the agent stops"),
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
            Code::JudgeRefused | Code::JudgeFailed => RuleSource::Config(&JUDGE),
            Code::PromptNotFound => {
                RuleSource::BuiltIn("a prompt that is not found is reported where steps are used")
            }
            Code::NotJudged | Code::Unfinished => {
                RuleSource::BuiltIn("a gated agent is judged when it stops")
            }
            Code::GuardDenied | Code::GuardAsks => RuleSource::BuiltIn("guards"),
            Code::PermissionAllowed | Code::PermissionDenied => RuleSource::Config(&["permissionRequest"]),
            Code::NotRemembered => {
                RuleSource::BuiltIn("an agent must follow what Gate 1 stored about its call")
            }
            Code::NotRecorded => RuleSource::Config(&["audit", "required"]),
            Code::PayloadInvalid => RuleSource::BuiltIn("a gate that cannot be evaluated never allows"),
            Code::BudgetNear | Code::BudgetReached | Code::PriceUnknown => RuleSource::Config(&["budget"]),
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

/// The additional words of a guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardWords {
    /// What the user should know before answering, instead of what Claude should do.
    pub user_fix: Option<String>,
    /// The relevant part of the call, if the call alone does not show it.
    pub about: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub code: Code,
    pub weight: Weight,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The description. For a guard: the reason, or the message of its rule.
    pub what: String,
    /// The fix. Empty if the message of a rule has it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// What only guards add.
    #[serde(skip)]
    pub guard: Option<Box<GuardWords>>,
    /// The rule that found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Box<Rule>>,
    /// The text that the rule matched: a path, a command, a name.
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

    /// This finding, with the rule that found it and what that matched.
    #[must_use]
    pub fn by(mut self, rule: Option<Rule>, matched: impl Into<String>) -> Finding {
        self.rule = rule.map(Box::new);
        self.matching(matched)
    }

    /// This finding, with what its rule matched.
    #[must_use]
    pub fn matching(mut self, matched: impl Into<String>) -> Finding {
        self.matched = Some(matched.into()).filter(|matched| !matched.is_empty());
        self
    }

    /// This finding, with what only guards add.
    #[must_use]
    pub fn with_words(mut self, words: GuardWords) -> Finding {
        self.guard = Some(Box::new(words));
        self
    }

    /// This finding, about a phase.
    #[must_use]
    pub fn in_phase(mut self, phase: &str) -> Finding {
        self.phase = Some(phase.to_owned());
        self
    }

    /// This finding, but it only warns.
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
    /// The finding on one line, cleaned, because step files and configs are untrusted. A guard gives its reason, the fix and the
    /// rule's position; a gate gives `CODE PHASE: description → fix`.
    #[must_use]
    pub fn text_for(&self, audience: Audience) -> String {
        if self.code.is_of_guard() { self.prose(audience) } else { self.with_code() }
    }

    fn with_code(&self) -> String {
        let phase = self.phase.as_deref().map(|phase| format!(" {}", clean_line(phase))).unwrap_or_default();
        format!("{}{phase}: {} → {}", self.code, clean_line(&self.what), clean_line(&self.fix))
    }

    /// The fix, for this audience.
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
