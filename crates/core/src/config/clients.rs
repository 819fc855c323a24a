//! `clients`: the clients that a project is set up for.

use schemars::JsonSchema;
use serde::Deserialize;

use super::values::InvalidValue;
use crate::dialect::{self, Dialect};

/// A client that conclaude knows.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("enum" = dialect::names()))]
pub struct ClientName(&'static Dialect);

impl ClientName {
    #[must_use]
    pub fn dialect(self) -> &'static Dialect {
        self.0
    }
}

impl TryFrom<String> for ClientName {
    type Error = InvalidValue;

    fn try_from(name: String) -> Result<Self, InvalidValue> {
        dialect::find(&name).map(ClientName).map_err(InvalidValue::Client)
    }
}
