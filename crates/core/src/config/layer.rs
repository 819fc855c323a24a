//! The files that make a config, and whose they are.

use std::path::{Path, PathBuf};

/// Whose file it is, the outermost first: later ones win. What a file extends belongs to its layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// `config.yaml` in the user's config folder.
    User,
    /// `.conclaude.yaml`
    #[default]
    Project,
    /// `.conclaude.local.yaml`
    Local,
}

impl Layer {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
        }
    }
}

/// A file, or a pack, that contributes to the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub layer: Layer,
    /// `pack:name` for a pack.
    pub path: PathBuf,
    pub text: String,
    /// Why nothing of it may run.
    pub untrusted: Option<String>,
}

/// The prefix of what is part of the program.
pub const PACK: &str = "pack:";

impl Source {
    /// Whether it is part of the program.
    #[must_use]
    pub fn is_pack(&self) -> bool {
        self.path.to_string_lossy().starts_with(PACK)
    }
}

/// A file of the project by its path there, any other by its whole path.
#[must_use]
pub fn file_name(path: &Path, root: Option<&Path>) -> String {
    root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).display().to_string()
}
