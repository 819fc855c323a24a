//! Reads the files of the config: the user's, the project's and the local one, and the files that each of them extends.

use std::path::{Path, PathBuf};

use crate::root::{self, Root};
use crate::store::trust::{self, TrustStatus};
use conclaude_core::config::{
    ConclaudeConfig, ConfigError, GuardedCalls, Layer, MergedConfig, Origins, PACK, Part, Patterns, Problem,
    Source, UnusableRules, merge,
};
use conclaude_core::packs;
use conclaude_core::yaml::{self, Node};
use conclaude_os::environment;
use conclaude_os::files::expand_home;

/// The user's own config of a project, which git ignores.
pub use conclaude_core::config::LOCAL_CONFIG_FILE as LOCAL;

/// How deep files may extend files, and how many files may contribute.
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 32;

/// A config, made of the usable parts of its files.
#[derive(Default)]
pub struct LoadedConfig {
    pub config: ConclaudeConfig,
    pub origins: Origins,
    /// Why some files are not used, each with its name.
    pub errors: Vec<ConfigError>,
    /// Rules in these files that cannot be used.
    pub unusable: Vec<UnusableRules>,
    /// The paths that its files extend, as written and with links resolved, including files that are missing or not used.
    pub extended: Vec<PathBuf>,
}

impl LoadedConfig {
    /// The config, if all of it is valid.
    ///
    /// # Errors
    /// The first error.
    pub fn complete(self) -> Result<ConclaudeConfig, ConfigError> {
        self.errors.into_iter().next().map_or(Ok(self.config), Err)
    }
}

/// `$XDG_CONFIG_HOME/conclaude/config.yaml`, or below `~/.config`.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    let folder = environment::config_folder();
    folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("conclaude/config.yaml"))
}

#[must_use]
pub fn all(root: &Root, patterns: Patterns) -> LoadedConfig {
    let mut loader = Loader::new(root, patterns);
    loader.users_own();
    match &root.config {
        Some(path) => loader.required(Layer::Project, path.clone()),
        None => loader.errors.extend(root.untrusted.clone()),
    }
    loader.optional(Layer::Local, root.folder.join(LOCAL));
    loader.finish()
}

/// Reads the user's own layer, which is the same in all projects.
#[must_use]
pub fn of_user(root: &Root, patterns: Patterns) -> LoadedConfig {
    let mut loader = Loader::new(root, patterns);
    loader.users_own();
    loader.finish()
}

/// Reads the project's own layer, which is the same for all who share it.
#[must_use]
pub fn of_project(root: &Root, patterns: Patterns) -> LoadedConfig {
    let mut loader = Loader::new(root, patterns);
    if let Some(path) = &root.config {
        loader.required(Layer::Project, path.clone());
    }
    loader.finish()
}

/// Reads all layers as if the project's file had this text.
#[must_use]
pub fn draft(root: &Root, path: &Path, text: &str) -> LoadedConfig {
    let mut loader = Loader::new(root, Patterns::All);
    loader.users_own();
    loader.extended.clear();
    loader.draft(path, text);
    loader.optional(Layer::Local, root.folder.join(LOCAL));
    loader.finish()
}

/// Like `draft`, for the project's own layer.
#[must_use]
pub fn draft_of_project(root: &Root, path: &Path, text: &str) -> LoadedConfig {
    let mut loader = Loader::new(root, Patterns::All);
    loader.draft(path, text);
    loader.finish()
}

/// Reads one file with the files that it extends, as a project's config.
#[must_use]
pub fn one(path: &Path, root: &Root) -> LoadedConfig {
    let mut loader = Loader { asks_trust: false, ..Loader::new(root, Patterns::All) };
    loader.required(Layer::Project, path.to_owned());
    loader.finish()
}

/// Reads all layers for display, including untrusted ones.
#[must_use]
pub fn untrusted(root: &Root) -> LoadedConfig {
    let mut loader = Loader { asks_trust: false, ..Loader::new(root, Patterns::All) };
    loader.users_own();
    if let Some(path) = root.config.as_deref().or(root.untrusted.as_ref().map(ConfigError::path)) {
        loader.required(Layer::Project, path.to_owned());
    }
    loader.optional(Layer::Local, root.folder.join(LOCAL));
    loader.finish()
}

/// Why commands of a file may not run. The user's own files and packs need no agreement.
#[must_use]
pub fn why_untrusted(source: &Source) -> Option<String> {
    if source.layer == Layer::User || source.is_pack() {
        return None;
    }
    let path = source.path.display();
    match trust::status(&source.path, &source.text) {
        TrustStatus::Trusted => None,
        TrustStatus::Changed => Some(format!("{path} has changed since you trusted it")),
        TrustStatus::Unknown => Some(format!("{path} is not trusted")),
    }
}

struct Loader<'a> {
    root: &'a Root,
    patterns: Patterns,
    parts: Vec<Part>,
    errors: Vec<ConfigError>,
    unusable: Vec<UnusableRules>,
    /// A file that extends the current one is broken, so only the rules of the current one count.
    only_rules: bool,
    /// The files that extend the current one, from the first.
    chain: Vec<PathBuf>,
    /// The files that the current layer has extended already. They are not read twice.
    extended: Vec<PathBuf>,
    /// All paths that are extended.
    named: Vec<PathBuf>,
    files: usize,
    /// Files of other users are read only if the user agreed to them.
    asks_trust: bool,
}

/// An entry of `extends`.
struct ExtendsEntry<'a> {
    name: &'a str,
    by: &'a Source,
    at: yaml::Span,
}

impl ExtendsEntry<'_> {
    fn problem(&self, title: String, label: &str, help: String) -> Problem {
        let span = self.at.first_line(&self.by.text);
        Problem { span, title, label: label.to_owned(), help: Some(help) }
    }
}

impl<'a> Loader<'a> {
    fn new(root: &'a Root, patterns: Patterns) -> Self {
        Loader {
            root,
            patterns,
            parts: Vec::new(),
            errors: Vec::new(),
            unusable: Vec::new(),
            only_rules: false,
            chain: Vec::new(),
            extended: Vec::new(),
            named: Vec::new(),
            files: 0,
            asks_trust: true,
        }
    }

    fn draft(&mut self, path: &Path, text: &str) {
        let (path, text) = (path.to_owned(), text.to_owned());
        self.add(Source { layer: Layer::Project, path, text: text.into(), untrusted: None });
    }

    fn users_own(&mut self) {
        if let Some(path) = user_file() {
            self.optional(Layer::User, path);
        }
    }

    /// A file that may be missing.
    fn optional(&mut self, layer: Layer, path: PathBuf) {
        // Any entry with that name is meant to be the config: an error is better than silence.
        if path.symlink_metadata().is_ok() {
            self.required(layer, path);
        }
    }

    fn required(&mut self, layer: Layer, path: PathBuf) {
        self.extended.clear();
        match self.read(&path) {
            Ok(text) => self.add(Source { layer, path, text: text.into(), untrusted: None }),
            Err(error) => {
                // A file that the user did not agree to has no rules of this project.
                if !error.is_untrusted() {
                    self.unusable.push(UnusableRules::of_file(&error, GuardedCalls::Anything));
                }
                self.errors.push(error);
            }
        }
    }

    /// A file comes after the files that it extends: its own values win.
    fn add(&mut self, source: Source) {
        self.files += 1;
        let (path, text) = (source.path.clone(), source.text.clone());
        let read = Part::read(source, self.patterns);
        let is_broken = read.error.is_some();
        if is_broken {
            self.name_extended(&path, &text);
        }
        self.errors.extend(read.error);
        self.unusable.extend(read.unusable);
        let part = if self.only_rules { read.part.and_then(Part::only_rules) } else { read.part };
        let Some(part) = part else { return };
        let was_only_rules = self.only_rules;
        self.only_rules |= is_broken;
        let mut problems = Vec::new();
        for (index, name) in part.config.iter().flat_map(ConclaudeConfig::extended).enumerate() {
            let at = part.tree.entry("extends", index).map_or(part.tree.span, |entry| entry.span);
            problems.extend(self.extend(&ExtendsEntry { name, by: &part.source, at }).err());
        }
        self.only_rules = was_only_rules;
        if !problems.is_empty() {
            self.errors.push(ConfigError::invalid(&part.source.path, &part.source.text, problems));
        }
        self.parts.push(part);
    }

    /// Files that a broken file extends are part of the config anyway, and protected as such.
    fn name_extended(&mut self, by: &Path, text: &str) {
        let Ok(tree) = yaml::read(text) else { return };
        let names = (0..MAX_FILES).map_while(|index| tree.entry("extends", index));
        for entry in names {
            if let Node::Text(name) = &entry.value
                && !name.starts_with(PACK)
            {
                let path = located(name, by);
                self.named.extend([real(&path), path]);
            }
        }
    }

    fn read(&self, path: &Path) -> Result<String, ConfigError> {
        if self.asks_trust { root::read(path) } else { root::read_any(path) }
    }

    fn read_outside(&self, path: &Path) -> Result<String, ConfigError> {
        let why = "it is outside the project";
        if self.asks_trust { root::read_trusted(path, why) } else { root::read_any(path) }
    }

    fn extend(&mut self, entry: &ExtendsEntry<'_>) -> Result<(), Problem> {
        let name = entry.name;
        if self.files >= MAX_FILES || self.chain.len() >= MAX_DEPTH {
            let help = format!("at most {MAX_FILES} files contribute, {MAX_DEPTH} deep");
            return Err(self.lose(entry, format!("`{name}` is one file too many"), "not read", help));
        }
        if let Some(pack) = name.strip_prefix(PACK) {
            return self.pack(pack, entry);
        }
        let source = self.file(entry)?;
        if self.is_new(&source.path) {
            self.chain.push(real(&entry.by.path));
            self.add(source);
            self.chain.pop();
        }
        Ok(())
    }

    fn is_new(&mut self, path: &Path) -> bool {
        let is_new = !self.extended.iter().any(|known| known == path);
        if is_new {
            self.extended.push(path.to_owned());
        }
        is_new
    }

    fn pack(&mut self, name: &str, entry: &ExtendsEntry<'_>) -> Result<(), Problem> {
        let pack = packs::find(name).map_err(|error| {
            let title = format!("there is no pack `{name}`");
            self.lose(entry, title, "unknown pack", error.to_string())
        })?;
        let path = PathBuf::from(format!("{PACK}{}", pack.name));
        if self.is_new(&path) {
            self.files += 1;
            let (layer, text) = (entry.by.layer, pack.text.into());
            let source = Source { layer, path, text, untrusted: None };
            let part = Part { source, tree: pack.tree().clone(), config: None };
            self.parts.extend(if self.only_rules { part.only_rules() } else { Some(part) });
        }
        Ok(())
    }

    /// A file, relative to the one that names it.
    fn file(&mut self, entry: &ExtendsEntry<'_>) -> Result<Source, Problem> {
        let ExtendsEntry { name, by, .. } = entry;
        let folder = by.path.parent().unwrap_or(Path::new(""));
        let path = located(name, &by.path);
        let own = real(&path);
        self.named.extend([path.clone(), own.clone()]);
        if self.chain.contains(&own) || own == real(&by.path) {
            let help = "a file cannot extend itself, not even through other files".to_owned();
            return Err(entry.problem(format!("`{name}` extends this file"), "a circle", help));
        }
        let layer = by.layer;
        let read = if layer == Layer::User || self.is_inside(&own) {
            self.read(&path)
        } else {
            self.read_outside(&path)
        };
        let text = read.map_err(|error| {
            let help = format!("paths are relative to {}", folder.display());
            self.lose(entry, format!("`{name}` cannot be used"), &error.summary(), help)
        })?;
        Ok(Source { layer, path: own, text: text.into(), untrusted: None })
    }

    /// Whether a file is part of the project. A file outside may be any file that the user can read.
    fn is_inside(&self, path: &Path) -> bool {
        let top = root::git_top_level(&self.root.folder).unwrap_or(&self.root.folder);
        path.starts_with(real(top))
    }

    /// An extended file that cannot be used: it might contain any rule.
    fn lose(&mut self, entry: &ExtendsEntry<'_>, title: String, label: &str, help: String) -> Problem {
        self.unusable.push(UnusableRules {
            path: entry.by.path.clone(),
            line: Some(entry.at.line),
            why: title.clone(),
            calls: GuardedCalls::Anything,
        });
        entry.problem(title, label, help)
    }

    fn finish(mut self) -> LoadedConfig {
        let MergedConfig { config, origins, errors } = merge(self.parts, self.patterns);
        self.unusable
            .extend(errors.iter().map(|error| UnusableRules::of_file(error, GuardedCalls::Anything)));
        self.errors.extend(errors);
        LoadedConfig { config, origins, errors: self.errors, unusable: self.unusable, extended: self.named }
    }
}

/// The path of a file that another one names.
fn located(name: &str, by: &Path) -> PathBuf {
    by.parent().unwrap_or(Path::new("")).join(expand_home(name))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
