//! The sections `des` and `audit`.

use std::borrow::Cow;

use super::Remark;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::bounded::{MAX_NAMES, Seconds, seconds};
use super::{Bounded, EvidenceConfig, Name, NonBlank, Reaction};

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

/// The three that most steps need.
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
    #[schemars(length(max = 100))]
    pub required_sections: Option<Vec<Name>>,
    /// Phases that count only when `conclaude des run` recorded the run of a command: a list of names, or a map such as
    /// `GREEN: npm test`, whose command is then the only one that counts. `RED` and `RED_*` expect it to fail.
    pub evidence: Option<EvidenceConfig>,
    /// A language model that is asked when an agent stops.
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

/// A language model that is asked when an agent stops. It can only add a block, never remove one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeConfig {
    /// The question. The model also gets the agent's prompt, the acceptance criteria of the call, the step file, the changes
    /// according to git, the end of the agent's transcript, and its last message.
    pub prompt: NonBlank,
    /// The model. Default: `claude-haiku-5-5`.
    pub model: Option<NonBlank>,
    /// The timeout in seconds, or as `30s`, `2m`. Default: 30.
    #[serde(default, deserialize_with = "seconds")]
    #[schemars(with = "Option<Seconds<1, 600>>")]
    pub timeout: Option<Bounded<1, 600>>,
    /// What happens when the model cannot be asked or gives no valid answer. Default: `allow`.
    pub on_error: Option<OnJudgeError>,
}

/// What happens when the judge cannot be asked or gives no valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnJudgeError {
    /// The stop is allowed, and the error is reported.
    Allow,
    /// The stop is blocked.
    Block,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

impl<'de> Deserialize<'de> for PhaseList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrList;
        impl<'de> de::Visitor<'de> for NameOrList {
            type Value = PhaseList;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`tdd-14`, `tdd-3` or a list of phase names")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<PhaseList, E> {
                match name {
                    "tdd-14" => Ok(PhaseList::of(&TDD_14)),
                    "tdd-3" => Ok(PhaseList::of(&TDD_3)),
                    _ => Err(E::custom("expected `tdd-14`, `tdd-3` or a list")),
                }
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<PhaseList, A::Error> {
                let mut names: Vec<String> = Vec::new();
                while let Some(name) = list.next_element::<Name>()? {
                    if names.len() == MAX_NAMES {
                        return Err(de::Error::custom(format!("more than {MAX_NAMES} phases")));
                    }
                    if names.iter().any(|known| known == name.as_str()) {
                        return Err(de::Error::custom(format!("duplicate phase `{}`", name.as_str())));
                    }
                    names.push(name.as_str().to_owned());
                }
                if names.is_empty() {
                    Err(de::Error::custom("the list of phases is empty"))
                } else {
                    Ok(PhaseList(names))
                }
            }
        }
        deserializer.deserialize_any(NameOrList)
    }
}

impl JsonSchema for PhaseList {
    fn schema_name() -> Cow<'static, str> {
        "PhaseList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`tdd-14`, `tdd-3`, or a list of phase names in their order.",
            "anyOf": [
                { "type": "string", "enum": ["tdd-14", "tdd-3"] },
                { "type": "array", "items": Name::schema(), "minItems": 1, "maxItems": MAX_NAMES, "uniqueItems": true },
            ],
        })
    }
}

/// The audit trail in `.conclaude/audit/`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Enables the trail. Default: true.
    pub enabled: Option<bool>,
    /// Whether a record that cannot be written is an error instead of a warning. Default: false.
    pub required: Option<bool>,
    /// The size in bytes at which a new file is started. Default: 16777216.
    pub max_file_bytes: Option<Bounded<1_024, 1_073_741_824>>,
}

impl DesConfig {
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    pub(super) fn is_within_bounds(&self) -> bool {
        self.required_sections.as_ref().is_none_or(|sections| sections.len() <= MAX_NAMES)
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

    /// The phases whose command the config owns.
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
