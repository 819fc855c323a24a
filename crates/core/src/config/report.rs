//! The section `report`: what `conclaude report` cannot know by itself.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::pattern::{MAX_CHARS, Pattern};

use super::bounded::{MAX_NAMES, NOT_BLANK};

/// More than any model costs.
const MAX_PRICE: f64 = 1e6;

/// What `conclaude report` needs to know.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReportConfig {
    /// What tokens cost, by a glob over the model's name: the first that matches counts. Without it no cost is shown.
    pub prices: Option<PriceTable>,
}

/// Prices in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceTable(Vec<(Pattern, PriceConfig)>);

/// What a million tokens of a model cost, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceConfig {
    /// Tokens that the model is sent.
    #[serde(deserialize_with = "price")]
    #[schemars(with = "Price")]
    pub input: f64,
    /// Tokens that it answers with.
    #[serde(deserialize_with = "price")]
    #[schemars(with = "Price")]
    pub output: f64,
    /// Tokens that are read from the cache. Default: as `input`.
    #[serde(default, deserialize_with = "optional_price")]
    #[schemars(with = "Option<Price>")]
    pub cache_read: Option<f64>,
    /// Tokens that are written to the cache. Default: as `input`.
    #[serde(default, deserialize_with = "optional_price")]
    #[schemars(with = "Option<Price>")]
    pub cache_write: Option<f64>,
    /// Tokens that are written to the cache for an hour. Default: as `cacheWrite`.
    #[serde(default, rename = "cacheWrite1h", deserialize_with = "optional_price")]
    #[schemars(with = "Option<Price>")]
    pub cache_write_1h: Option<f64>,
}

impl PriceTable {
    /// The price of this model.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&PriceConfig> {
        let is_of = |pattern: &Pattern| pattern.matches(model, None).unwrap_or(false);
        self.0.iter().find(|(pattern, _)| is_of(pattern)).map(|(_, price)| price)
    }
}

struct Price(f64);

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let price = f64::deserialize(deserializer)?;
        if (0.0..=MAX_PRICE).contains(&price) {
            Ok(Price(price))
        } else {
            Err(de::Error::custom(format!(
                "{price} is out of range: expected a number from 0 to {MAX_PRICE}"
            )))
        }
    }
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Price::deserialize(deserializer).map(|price| price.0)
}

fn optional_price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<Price>::deserialize(deserializer)?.map(|price| price.0))
}

impl JsonSchema for Price {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Price".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1_000_000 })
    }
}

impl<'de> Deserialize<'de> for PriceTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByModel;
        impl<'de> de::Visitor<'de> for ByModel {
            type Value = PriceTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of models to prices")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<PriceTable, A::Error> {
                let mut found = Vec::new();
                let mut left = 0..MAX_NAMES;
                while let Some(model) = map.next_key::<Pattern>()? {
                    let too_many = || de::Error::custom(format!("more than {MAX_NAMES} models"));
                    left.next().ok_or_else(too_many)?;
                    model.check().map_err(de::Error::custom)?;
                    // `null` equals absent.
                    if let Some(price) = map.next_value::<Option<PriceConfig>>()? {
                        found.push((model, price));
                    }
                }
                Ok(PriceTable(found))
            }
        }
        deserializer.deserialize_map(ByModel)
    }
}

impl JsonSchema for PriceTable {
    fn schema_name() -> Cow<'static, str> {
        "PriceTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let price = generator.subschema_for::<PriceConfig>();
        json_schema!({
            "description": "Prices by a glob over the model's name.",
            "type": "object",
            "propertyNames": { "type": "string", "pattern": NOT_BLANK, "format": "glob", "maxLength": MAX_CHARS },
            "maxProperties": MAX_NAMES,
            "additionalProperties": { "anyOf": [price, { "type": "null" }] },
        })
    }
}
