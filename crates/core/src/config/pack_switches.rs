//! The section `packs`: changes what rules of packs do.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::shapes::Entries;
use super::values::NonBlank;
use crate::packs;

/// The key of the section.
pub const PACKS: &str = "packs";

/// The action of a pack's rule, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleAction {
    /// It is off.
    Allow,
    /// The user is asked.
    Ask,
    /// It is denied.
    #[serde(alias = "deny")]
    Block,
}

impl RuleAction {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RuleAction::Allow => "allow",
            RuleAction::Ask => "ask",
            RuleAction::Block => "block",
        }
    }

    /// The word in configs.
    #[must_use]
    pub fn named(word: &str) -> Option<RuleAction> {
        match word {
            "allow" => Some(RuleAction::Allow),
            "ask" => Some(RuleAction::Ask),
            "block" | "deny" => Some(RuleAction::Block),
            _ => None,
        }
    }
}

/// The name of a rule. It is not kept: `packs` is applied to values of the file, and messages look it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "NonBlank")]
#[schemars(inline, description = "")]
pub struct RuleName;

impl From<NonBlank> for RuleName {
    fn from(_: NonBlank) -> RuleName {
        RuleName
    }
}

type SwitchEntries = Entries<String, Option<Entries<String, Option<RuleAction>, 1_000>>, 100>;

/// Changes what rules of packs do, by pack and rule. The values are applied when the files become one config.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SwitchEntries")]
pub struct PackSwitches;

/// A pack or a rule that does not exist.
#[derive(Debug, Error)]
pub enum UnknownRule {
    #[error("there is no pack `{0}`")]
    Pack(String),
    #[error("pack:{pack} has no rule `{rule}`")]
    Rule { pack: String, rule: String },
}

impl TryFrom<SwitchEntries> for PackSwitches {
    type Error = UnknownRule;

    fn try_from(entries: SwitchEntries) -> Result<Self, UnknownRule> {
        for (name, rules) in entries.0 {
            let Some(pack) = packs::ALL.iter().find(|pack| pack.name == name) else {
                return Err(UnknownRule::Pack(name));
            };
            for (rule, _) in rules.iter().flatten() {
                if !pack.rules().any(|known| known.name == rule) {
                    return Err(UnknownRule::Rule { pack: name, rule: rule.clone() });
                }
            }
        }
        Ok(PackSwitches)
    }
}

/// An action or nothing, as one name in the schema: it has hundreds of them.
#[derive(JsonSchema)]
#[schemars(description = "")]
struct RuleSwitch(#[expect(dead_code, reason = "it is only a name in the schema")] Option<RuleAction>);

impl JsonSchema for PackSwitches {
    fn schema_name() -> Cow<'static, str> {
        "PackSwitches".into()
    }

    /// Every rule is a key, so that editors complete it and a typo gets a suggestion.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let action = generator.subschema_for::<RuleSwitch>().to_value();
        let of_pack = |pack: &packs::Pack| {
            let rules: Map<String, Value> =
                pack.rules().map(|rule| (rule.name.to_owned(), action.clone())).collect();
            let schema = json_schema!({
                "type": ["object", "null"],
                "description": format!("Rules of pack:{}.", pack.name),
                "properties": rules,
                "additionalProperties": false,
            });
            (pack.name.to_owned(), schema.to_value())
        };
        let packs: Map<String, Value> = packs::ALL.iter().map(of_pack).collect();
        json_schema!({
            "description": "Changes what rules of packs do, by pack and rule.",
            "type": "object",
            "properties": packs,
            "additionalProperties": false,
        })
    }
}
