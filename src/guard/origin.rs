//! Where a guard is written.

use std::sync::Arc;

use crate::config::Layer;
use crate::rule::Rule;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The key, such as `uneditableFiles`.
    pub(crate) key: &'static str,
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: usize,
    pub(crate) layer: Layer,
}

impl Origin {
    pub(crate) fn rule(&self, written: &str) -> Rule {
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
