//! Where a guard is written.

use std::sync::Arc;

use crate::config::{Layer, PACK};
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
    pub(crate) fn is_of_pack(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.starts_with(PACK))
    }

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
