//! The sections `des` and `audit`, and the settings of the gates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::shapes::{Either, Entries, List, ReadFrom, ValueKind};
use super::values::{InvalidValue, Seconds};
use super::{Bounded, ConclaudeConfig, DEFAULT_MAX_BLOCKS, JUDGE, Name, NonBlank, Origins, Reaction, Remark};

/// The maximum number of phases of a step.
const MAX_PHASES: usize = 100;

/// The fourteen phases of test-driven development, in order.
pub const TDD_14: [&str; 14] = [
    "PREPARE",
    "RED_ACCEPTANCE",
    "RED_UNIT",
    "GREEN_UNIT",
    "CHECK_ACCEPTANCE",
    "GREEN_ACCEPTANCE",
    "REVIEW",
    "REFACTOR_L1",
    "REFACTOR_L2",
    "REFACTOR_L3",
    "REFACTOR_L4",
    "POST_REFACTOR_REVIEW",
    "FINAL_VALIDATE",
    "COMMIT",
];

/// The three phases that most steps need.
pub(super) const TDD_3: [&str; 3] = ["RED", "GREEN", "COMMIT"];

/// The gates for the steps of a workflow. Markers in a prompt switch them on; this section is not needed for that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DesConfig {
    /// Enables the gates. Default: true.
    pub enabled: Option<bool>,
    /// What a finding of a gate does. Default: `block`.
    pub on_violation: Option<Reaction>,
    /// What a change outside a step's `allowed_file_patterns` does. Default: `block`.
    pub scope: Option<ScopeMode>,
    /// The phases of a step: `tdd-14`, `tdd-3` (RED, GREEN, COMMIT), or a list of names. Default: `tdd-14`.
    pub phases: Option<PhaseList>,
    /// Sections that a gated prompt must have, as a heading or as `<!-- DES-SECTION: NAME -->`.
    pub required_sections: Option<List<Name, 0, 100>>,
    /// Phases that count only if `conclaude des run` recorded the run of a command: a list of names, or a map such as `GREEN: npm
    /// test`. With a map, only that command counts. `RED` and `RED_*` expect it to fail.
    pub evidence: Option<EvidenceConfig>,
    /// What happens if a file of the step was changed after its last proof. Default: `warn`.
    pub stale_evidence: Option<Reaction>,
    /// A language model that reviews an agent's work when it stops.
    pub judge: Option<JudgeConfig>,
}

/// What a change outside a step's scope does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopeMode {
    /// The stop is blocked.
    Block,
    /// A warning is shown.
    Warn,
    /// Changes are not checked.
    Off,
}

/// A language model that reviews an agent's work when it stops. It can only add a block, never remove one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeConfig {
    /// The question. The model also gets the agent's prompt, the acceptance criteria of the call, the step file, the changes
    /// according to git, the end of the agent's transcript, and its last message.
    pub prompt: NonBlank,
    /// The model. Default: `claude-haiku-5-5`.
    pub model: Option<NonBlank>,
    /// The timeout in seconds, or as `30s`, `2m`. Default: 30.
    pub timeout: Option<Seconds<1, 600>>,
    /// What happens if the model cannot be reached or gives no valid answer. Default: `allow`.
    pub on_error: Option<OnJudgeError>,
}

/// What happens if the judge cannot be reached or gives no valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnJudgeError {
    /// The stop is allowed, and the error is reported.
    Allow,
    /// The stop is blocked.
    Block,
}

/// The names of the two built-in lists of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline, description = "")]
pub enum PhaseSet {
    #[serde(rename = "tdd-14")]
    Tdd14,
    #[serde(rename = "tdd-3")]
    Tdd3,
}

impl ReadFrom for PhaseSet {}

/// Names of phases, each once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "List<Name, 1, MAX_PHASES>")]
#[schemars(with = "List<Name, 1, MAX_PHASES>", inline, description = "", extend("uniqueItems" = true))]
pub struct PhaseNames(Vec<String>);

impl TryFrom<List<Name, 1, MAX_PHASES>> for PhaseNames {
    type Error = InvalidValue;

    fn try_from(list: List<Name, 1, MAX_PHASES>) -> Result<Self, InvalidValue> {
        let mut names: Vec<String> = Vec::new();
        for name in &list {
            let name = name.as_str();
            if names.iter().any(|known| known == name) {
                return Err(InvalidValue::DuplicatePhase(name.to_owned()));
            }
            names.push(name.to_owned());
        }
        Ok(PhaseNames(names))
    }
}

impl ReadFrom for PhaseNames {
    fn reads(kind: ValueKind) -> bool {
        kind == ValueKind::List
    }
}

/// `tdd-14`, `tdd-3`, or a list of phase names in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Either<PhaseSet, PhaseNames>")]
#[schemars(with = "Either<PhaseSet, PhaseNames>")]
pub struct PhaseList(pub Vec<String>);

impl Default for PhaseList {
    fn default() -> Self {
        PhaseList::of(&TDD_14)
    }
}

impl PhaseList {
    fn of(names: &[&str]) -> PhaseList {
        PhaseList(names.iter().map(|name| (*name).to_owned()).collect())
    }
}

impl From<Either<PhaseSet, PhaseNames>> for PhaseList {
    fn from(phases: Either<PhaseSet, PhaseNames>) -> Self {
        match phases {
            Either::First(PhaseSet::Tdd14) => PhaseList::of(&TDD_14),
            Either::First(PhaseSet::Tdd3) => PhaseList::of(&TDD_3),
            Either::Second(names) => PhaseList(names.0),
        }
    }
}

type EvidenceList = List<Name, 0, MAX_PHASES>;
type EvidenceCommands = Entries<Name, Option<NonBlank>, MAX_PHASES>;

/// A list of phases, or a map from phases to the only command that counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "Either<EvidenceList, EvidenceCommands>")]
#[schemars(with = "Either<EvidenceList, EvidenceCommands>")]
pub enum EvidenceConfig {
    /// Any command proves them.
    Phases(Vec<Name>),
    /// Each with the only command that counts.
    Commands(Vec<(Name, NonBlank)>),
}

impl From<Either<EvidenceList, EvidenceCommands>> for EvidenceConfig {
    fn from(evidence: Either<EvidenceList, EvidenceCommands>) -> Self {
        match evidence {
            Either::First(phases) => EvidenceConfig::Phases(phases.0),
            Either::Second(entries) => {
                // `null` equals absent.
                let commands = entries.0.into_iter().filter_map(|(phase, command)| Some((phase, command?)));
                EvidenceConfig::Commands(commands.collect())
            }
        }
    }
}

impl EvidenceConfig {
    pub(super) fn phases(&self) -> impl Iterator<Item = &str> {
        let (phases, commands) = match self {
            EvidenceConfig::Phases(phases) => (phases.as_slice(), &[][..]),
            EvidenceConfig::Commands(commands) => (&[][..], commands.as_slice()),
        };
        phases.iter().chain(commands.iter().map(|(phase, _)| phase)).map(Name::as_str)
    }

    /// The phases whose command is set in the config.
    pub(super) fn commands(&self) -> impl Iterator<Item = (&str, &str)> {
        let commands = match self {
            EvidenceConfig::Phases(_) => &[][..],
            EvidenceConfig::Commands(commands) => commands.as_slice(),
        };
        commands.iter().map(|(phase, command)| (phase.as_str(), command.as_str()))
    }
}

impl Serialize for EvidenceConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            EvidenceConfig::Phases(phases) => phases.serialize(serializer),
            EvidenceConfig::Commands(commands) => {
                serializer.collect_map(commands.iter().map(|(phase, command)| (phase.as_str(), command)))
            }
        }
    }
}

/// The audit trail in `.conclaude/audit/`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Enables the trail. An inner file cannot disable it if an outer one has `true` here. Default: true.
    pub enabled: Option<bool>,
    /// Whether a record that cannot be written is an error instead of a warning. Default: false.
    pub required: Option<bool>,
    /// The size in bytes at which a new file is started. Default: 16777216.
    pub max_file_bytes: Option<Bounded<1_024, 1_073_741_824>>,
    /// Whether the end of a failed command's output is recorded. Default: failure.
    pub output: Option<RecordedOutput>,
}

/// Which output of commands is in the audit trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordedOutput {
    /// The last 40 lines of a failed command, at most 4,096 bytes.
    Failure,
    /// None.
    Never,
}

impl AuditConfig {
    #[must_use]
    pub fn records_output(&self) -> bool {
        self.output != Some(RecordedOutput::Never)
    }
}

impl DesConfig {
    #[must_use]
    pub fn blocks_stale_evidence(&self) -> bool {
        self.stale_evidence == Some(Reaction::Block)
    }

    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    #[must_use]
    pub fn phase_names(&self) -> Vec<String> {
        self.phases.clone().unwrap_or_default().0
    }

    #[must_use]
    pub fn scope(&self) -> ScopeMode {
        self.scope.unwrap_or(ScopeMode::Block)
    }

    #[must_use]
    pub fn blocks(&self) -> bool {
        self.on_violation != Some(Reaction::Warn)
    }

    /// The phases that need the record of a run.
    #[must_use]
    pub fn evidence(&self) -> Vec<&str> {
        self.evidence.iter().flat_map(EvidenceConfig::phases).collect()
    }

    /// The phases whose command is set in the config.
    #[must_use]
    pub fn evidence_commands(&self) -> Vec<(&str, &str)> {
        self.evidence.iter().flat_map(EvidenceConfig::commands).collect()
    }

    /// The only command that counts for the phase, if the config names one.
    #[must_use]
    pub fn evidence_command(&self, phase: &str) -> Option<&str> {
        self.evidence_commands().into_iter().find(|(known, _)| *known == phase).map(|(_, command)| command)
    }

    #[must_use]
    pub fn required_sections(&self) -> Vec<&str> {
        self.required_sections.iter().flatten().map(Name::as_str).collect()
    }

    pub(super) fn warnings(&self, found: &mut Vec<Remark>) {
        let phases = self.phase_names();
        for phase in self.evidence().iter().filter(|phase| !phases.iter().any(|known| known == *phase)) {
            let what = format!("des: `evidence` names the phase `{phase}`, which is not one of `phases`");
            found.push(Remark::new(["des", "evidence"], what));
        }
    }
}

/// The settings of a gate. Gate 1 saves them, because the agent could change the config later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateConfig {
    pub des: DesConfig,
    pub max_blocks: u32,
}

impl Default for GateConfig {
    fn default() -> Self {
        GateConfig { des: DesConfig::default(), max_blocks: DEFAULT_MAX_BLOCKS }
    }
}

impl GateConfig {
    #[must_use]
    pub fn of(config: &ConclaudeConfig) -> GateConfig {
        GateConfig { des: config.des.clone().unwrap_or_default(), max_blocks: config.max_blocks() }
    }

    /// This gate without an untrusted judge.
    #[must_use]
    pub fn trusted(mut self, origins: &Origins) -> GateConfig {
        if origins.untrusted(&JUDGE).is_some() {
            self.des.judge = None;
        }
        self
    }

    /// The keys whose effective values differ, as the config writes them.
    #[must_use]
    pub fn differing(&self, other: &GateConfig) -> Vec<&'static str> {
        let (a, b) = (&self.des, &other.des);
        let evidence = |des: &DesConfig| {
            let commands =
                des.evidence_commands().into_iter().map(|(phase, command)| format!("{phase}: {command}"));
            (des.evidence().join("\n"), commands.collect::<Vec<_>>())
        };
        let compared = [
            ("des.enabled", a.is_enabled() != b.is_enabled()),
            ("des.onViolation", a.blocks() != b.blocks()),
            ("des.scope", a.scope() != b.scope()),
            ("des.phases", a.phase_names() != b.phase_names()),
            ("des.requiredSections", a.required_sections() != b.required_sections()),
            ("des.evidence", evidence(a) != evidence(b)),
            ("des.judge", a.judge != b.judge),
            ("maxBlocks", self.max_blocks != other.max_blocks),
        ];
        compared.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FULL: &str = "maxBlocks: 2\ndes:\n  enabled: true\n  onViolation: warn\n  scope: off\n  phases: tdd-3\n  requiredSections: [A]\n  \
                        evidence: {RED: 'false', GREEN: 'true'}\n  judge: {prompt: p, model: m, timeout: 2m, onError: block}\n";

    fn of(yaml: &str) -> GateConfig {
        GateConfig::of(&ConclaudeConfig::parse(yaml, Path::new("c.yaml")).unwrap())
    }

    #[test]
    fn what_is_remembered_is_read_back() {
        for yaml in [FULL, "{}", "des: {evidence: [RED]}", "des: {phases: [A, B], judge: {prompt: p}}"] {
            let config = of(yaml);
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<GateConfig>(&text).unwrap(), config, "{text}");
        }
    }

    #[test]
    fn every_key_that_counts_is_compared() {
        assert_eq!(of(FULL).differing(&of(FULL)), Vec::<&str>::new());
        // An explicit default equals a missing key.
        assert_eq!(
            of("{}").differing(&of("des: {scope: block, enabled: true}\nmaxBlocks: 3")),
            Vec::<&str>::new()
        );
        assert_eq!(
            of(FULL).differing(&of("des: {enabled: false}")),
            [
                "des.enabled",
                "des.onViolation",
                "des.scope",
                "des.phases",
                "des.requiredSections",
                "des.evidence",
                "des.judge",
                "maxBlocks"
            ]
        );
        let other_command = FULL.replace("GREEN: 'true'", "GREEN: ':'");
        assert_eq!(of(FULL).differing(&of(&other_command)), ["des.evidence"]);
    }
}
