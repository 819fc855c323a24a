//! `des.evidence`: the phases that count only with a recorded run, and the commands that prove them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::bounded::{MAX_NAMES, NOT_BLANK};
use super::{Name, NonBlank};

/// Phases in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvidenceConfig {
    /// Any command proves them.
    Phases(Vec<Name>),
    /// Each with the only command that counts.
    Commands(Vec<(Name, NonBlank)>),
}

impl EvidenceConfig {
    pub(super) fn phases(&self) -> impl Iterator<Item = &str> {
        let (phases, commands) = match self {
            EvidenceConfig::Phases(phases) => (phases.as_slice(), &[][..]),
            EvidenceConfig::Commands(commands) => (&[][..], commands.as_slice()),
        };
        phases.iter().chain(commands.iter().map(|(phase, _)| phase)).map(Name::as_str)
    }

    /// The phases whose command the config owns.
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

impl<'de> Deserialize<'de> for EvidenceConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrMap;
        impl<'de> de::Visitor<'de> for ListOrMap {
            type Value = EvidenceConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of phases, or a map of phases to commands")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<EvidenceConfig, A::Error> {
                let mut found = Vec::new();
                while let Some(phase) = list.next_element()? {
                    if found.len() == MAX_NAMES {
                        return Err(too_many());
                    }
                    found.push(phase);
                }
                Ok(EvidenceConfig::Phases(found))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<EvidenceConfig, A::Error> {
                let mut found = Vec::new();
                let mut left = 0..MAX_NAMES;
                while let Some(phase) = map.next_key()? {
                    left.next().ok_or_else(too_many)?;
                    // `null` equals absent.
                    if let Some(command) = map.next_value::<Option<NonBlank>>()? {
                        found.push((phase, command));
                    }
                }
                Ok(EvidenceConfig::Commands(found))
            }
        }
        deserializer.deserialize_any(ListOrMap)
    }
}

fn too_many<E: de::Error>() -> E {
    E::custom(format!("more than {MAX_NAMES} phases"))
}

impl JsonSchema for EvidenceConfig {
    fn schema_name() -> Cow<'static, str> {
        "EvidenceConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A list of phases, or a map of phases to the only command that counts.",
            "anyOf": [
                { "type": "array", "items": Name::schema(), "maxItems": MAX_NAMES },
                {
                    "type": "object",
                    "propertyNames": Name::schema(),
                    "maxProperties": MAX_NAMES,
                    "additionalProperties": { "type": ["string", "null"], "pattern": NOT_BLANK },
                },
            ],
        })
    }
}
