//! Where a guard is written.

use std::sync::Arc;

use conclaude_core::config::{Layer, PACK};
use conclaude_core::rule::Rule;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOrigin {
    /// The key, such as `uneditableFiles`.
    pub key: &'static str,
    pub file: Option<Arc<str>>,
    pub line: usize,
    pub layer: Layer,
}

impl RuleOrigin {
    pub fn is_of_pack(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.starts_with(PACK))
    }

    pub fn rule(&self, written: &str) -> Rule {
        let pattern = Some(written.to_owned()).filter(|written| !written.is_empty());
        let line = self.file.as_ref().map(|_| self.line);
        Rule {
            key: format!("preToolUse.{}", self.key),
            pattern,
            file: self.file.as_deref().map(str::to_owned),
            line,
        }
    }
}
