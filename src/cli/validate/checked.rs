//! What was found in a config.

use std::path::{Path, PathBuf};

use conclaude_core::config::Remark;
use conclaude_store::load::Loaded;
use conclaude_store::root::FILE_NAMES;

pub(super) struct CheckedConfig {
    /// The file that was asked for, or the project's; none if there is no config at all.
    pub(super) path: Option<PathBuf>,
    pub(super) loaded: Loaded,
    pub(super) warnings: Vec<Remark>,
    /// Warnings about something beside the values of the config.
    pub(super) others: Vec<String>,
}

impl CheckedConfig {
    pub(super) fn has_warnings(&self) -> bool {
        !self.warnings.is_empty() || !self.others.is_empty()
    }

    pub(super) fn is_valid(&self) -> bool {
        self.path.is_some() && self.loaded.errors.is_empty()
    }

    /// The files that are valid, the outermost first.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let is_broken = |path: &Path| self.loaded.errors.iter().any(|error| error.path() == path);
        let paths = self.loaded.origins.sources().iter().map(|source| source.path.as_path());
        paths.filter(move |path| !is_broken(path))
    }
}

pub(super) fn no_config() -> String {
    format!("no config: neither {} here nor in a folder above", FILE_NAMES.join(" nor "))
}
