//! The section `report`: what `conclaude report` cannot know by itself.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::shapes::Entries;
use super::values::InvalidValue;
use crate::pattern::{Pattern, PatternError};

/// No model costs more.
const MAX_PRICE: f64 = 1e6;

/// Settings for `conclaude report`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReportConfig {
    /// Prices of tokens, by a glob over the model's name: the first match counts. Other models of Claude have list prices.
    pub prices: Option<PriceTable>,
}

type PriceEntries = Entries<Pattern, Option<PriceConfig>, 100>;

/// Prices by a glob over the model's name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "PriceEntries")]
#[schemars(with = "PriceEntries")]
pub struct PriceTable(Vec<(Pattern, PriceConfig)>);

impl PriceTable {
    /// The price of this model.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&PriceConfig> {
        let is_of = |pattern: &Pattern| pattern.matches(model, None).unwrap_or(false);
        self.0.iter().find(|(pattern, _)| is_of(pattern)).map(|(_, price)| price)
    }
}

impl TryFrom<PriceEntries> for PriceTable {
    type Error = PatternError;

    fn try_from(entries: PriceEntries) -> Result<Self, PatternError> {
        let mut prices = Vec::new();
        for (model, price) in entries.0 {
            model.check()?;
            // `null` equals absent.
            if let Some(price) = price {
                prices.push((model, price));
            }
        }
        Ok(PriceTable(prices))
    }
}

/// The price of a million tokens of a model, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceConfig {
    /// Input tokens.
    pub input: Price,
    /// Output tokens.
    pub output: Price,
    /// Tokens read from the cache. Default: as `input`.
    pub cache_read: Option<Price>,
    /// Tokens written to the cache. Default: as `input`.
    pub cache_write: Option<Price>,
    /// Tokens written to the cache for an hour. Default: as `cacheWrite`.
    #[serde(rename = "cacheWrite1h")]
    pub cache_write_1h: Option<Price>,
}

/// Dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Price(f64);

impl Price {
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Price {
    type Error = InvalidValue;

    fn try_from(price: f64) -> Result<Self, InvalidValue> {
        if (0.0..=MAX_PRICE).contains(&price) {
            Ok(Price(price))
        } else {
            Err(InvalidValue::Price { number: price, max: MAX_PRICE })
        }
    }
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
