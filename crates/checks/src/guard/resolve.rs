//! Resolves the effects of a tool call to files on this disk, with all names by which a rule may know them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::link_makers::LinkMakers;
use super::search::expand;
use crate::paths::{Links, normalise};
use conclaude_core::file_pattern::Location;
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_store::root::inside_worktree;
use shell_effects::{
    Access, AdditionalFiles, Base, Doubt, Effect, Extent, Script, SimpleCommand, Target, apply_patch,
};

/// Directories for temporary files. On macOS they are links to directories below `/private`.
const TEMPORARY: [&str; 6] =
    ["/dev", "/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/private/var/folders"];

/// The directories that paths of a call are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    pub root: &'a Path,
    pub cwd: &'a Path,
    pub links: &'a Links,
    /// The home directory, for `~`.
    pub home: Option<&'a str>,
    /// The root in another work tree of the repository, if the current directory is there.
    pub worktree: Option<&'a Path>,
    /// The time limit for looking at them.
    pub budget: &'a Budget,
}

/// A file or directory that is read, written or deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    pub access: Access,
    /// The path as named, and the target of its links if that differs.
    pub names: Vec<Location>,
    pub path: PathBuf,
    pub exists: bool,
    /// Whether the contents of the directory are used as well.
    pub with_contents: bool,
    /// The index of the simple command that does it.
    pub command: Option<usize>,
    /// What else may come to that path.
    pub brings: AdditionalFiles,
}

impl Touch {
    /// The path as it is named, without `..`.
    pub fn named(&self) -> &str {
        self.names.first().map_or("", |name| name.absolute.as_str())
    }

    /// This file, or this directory with its contents.
    fn with_contents(self) -> Touch {
        Touch { with_contents: self.path.is_dir(), ..self }
    }

    fn is_directory(&self) -> bool {
        self.names.iter().any(|name| name.is_directory)
    }

    /// The resolved path, for messages.
    pub fn shown(&self) -> &str {
        self.names.last().map_or("", Location::shown)
    }
}

/// An undecidable part of a call.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Uncertainty {
    /// A path that is unknown before the command runs.
    Path {
        access: Access,
        written: String,
        /// A directory, and a pattern for the possible files below it.
        among: Option<(PathBuf, String)>,
        /// Whether even the directory of the command is unknown.
        in_unknown_directory: bool,
    },
    /// A file that is read in an unknown directory. The end is the known last parts of its path.
    Somewhere {
        written: String,
        end: String,
    },
    /// Files are copied, moved or linked whose names are not known.
    Names {
        access: Access,
        written: String,
        /// A directory, and a pattern for the files below it that they may become.
        among: (PathBuf, String),
        brings_directories: bool,
    },
    /// All files of the work tree may change.
    WorkTree {
        command: String,
        /// Where it runs.
        directory: PathBuf,
        extent: Extent,
        /// The commit with which files can be compared: those that are as in it stay as they are.
        revision: Option<String>,
    },
    Doubt(Doubt),
    /// A file that the input of a foreign tool names, and its possible use.
    Named {
        access: Access,
        path: String,
    },
    /// The field of the tool's input that should name its file or its command, and the use of the file.
    Input {
        field: &'static str,
        access: Option<Access>,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    pub touches: Vec<Touch>,
    pub unclear: Vec<Uncertainty>,
    /// The simple commands of a shell tool.
    pub commands: Vec<SimpleCommand>,
    /// Indices of the commands of each pipeline.
    pub pipelines: Vec<Vec<usize>>,
    pub link_makers: LinkMakers,
}

impl Effects {
    pub fn of(touch: Touch) -> Effects {
        Effects { touches: vec![touch], ..Effects::default() }
    }
}

/// No system has longer paths.
const MAX_PATH: usize = 64 << 10;

/// A path that is too long for any file, without its middle: comparing all of it with each rule could take seconds.
fn without_middle(path: PathBuf) -> PathBuf {
    let text = path.to_string_lossy();
    if text.len() <= MAX_PATH {
        return path;
    }
    let start = text.floor_char_boundary(MAX_PATH / 2);
    let end = text.ceil_char_boundary(text.len() - MAX_PATH / 2);
    [text.get(..start), text.get(end..)].into_iter().flatten().collect::<String>().into()
}

/// Where a part of a script runs.
enum Directory {
    At(PathBuf),
    /// It does not run.
    Never,
    Unknown,
}

impl Ground<'_> {
    /// A file as Claude Code's own tools name it. They resolve `..` by name, without a look at the disk.
    pub fn touch(&self, access: Access, named: &str) -> Touch {
        let below_home = named.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match self.home.zip(below_home) {
            Some((home, rest)) => Path::new(home).join(rest.trim_start_matches('/')),
            None => self.cwd.join(named),
        };
        self.touch_at(access, &without_middle(normalise(&path)))
    }

    /// The files of a patch. An unreadable patch has none.
    pub fn of_patch(&self, patch: &str) -> Effects {
        let files = apply_patch::files(patch).unwrap_or_default().into_iter();
        let touches = files.map(|file| {
            let touch = self.touch(file.access, &file.path);
            Touch { exists: touch.exists || file.exists, ..touch }
        });
        Effects { touches: touches.collect(), ..Effects::default() }
    }

    /// A file as a program names it. The kernel resolves `..` from the target of a link.
    fn touch_at(&self, access: Access, path: &Path) -> Touch {
        let (named, real) = (normalise(path), self.links.real_path(path));
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        let walked = if goes_up { Some(self.links.walked_path(path)) } else { None };
        let walked = walked.filter(|walked| *walked != real);
        let found = std::fs::symlink_metadata(&named).ok();
        let is_directory = match &found {
            Some(found) if found.is_symlink() => named.is_dir(),
            found => found.as_ref().is_some_and(std::fs::Metadata::is_dir),
        };
        let is_directory = is_directory || access == Access::MakeDirectory;
        let mut names = vec![self.location(&named, is_directory)];
        if real != named {
            names.push(self.location(&real, is_directory));
        }
        names.extend(walked.iter().map(|walked| self.location(walked, is_directory || walked.is_dir())));
        let exists =
            found.is_some() && walked.as_ref().is_none_or(|walked| walked.symlink_metadata().is_ok());
        Touch {
            access,
            names,
            path: walked.unwrap_or(real),
            exists,
            with_contents: false,
            command: None,
            brings: AdditionalFiles::default(),
        }
    }

    /// Whether a file is in a directory for temporary files that does not contain the project.
    pub fn is_temporary(&self, path: &Path) -> bool {
        let root = self.links.real_path(self.root);
        self.has_temporary(|folder| path.starts_with(folder) && !root.starts_with(folder))
    }

    /// Whether a file is in a directory for temporary files. The project is not one, wherever it is, and devices are not.
    pub fn is_discardable(&self, path: &Path) -> bool {
        let root = self.links.real_path(self.root);
        let is_kept = path.starts_with("/dev") && !path.starts_with("/dev/shm") || root.starts_with(path);
        !is_kept && self.has_temporary(|folder| path.starts_with(folder))
    }

    /// Whether a condition holds for one of the directories for temporary files.
    fn has_temporary(&self, is_meant: impl Fn(&Path) -> bool) -> bool {
        if TEMPORARY.iter().any(|folder| is_meant(Path::new(folder))) {
            return true;
        }
        // A `TMPDIR` that contains the user's home is a mistake.
        let home = files::home();
        let holds_home =
            |folder: &Path| home.as_ref().is_some_and(|home| Path::new(home).starts_with(folder));
        let named = files::temporary().into_iter().filter(|folder| !holds_home(folder));
        named.map(|folder| self.links.real_path(&folder)).any(|folder| is_meant(&folder))
    }

    /// The names of a deleted path: the link itself, and not its target.
    pub(super) fn deleted(&self, touch: &Touch) -> Vec<Location> {
        let is_directory = touch.is_directory();
        let paths = touch.names.iter().map(|name| Path::new(&name.absolute));
        let Some(named) = paths.into_iter().next() else { return Vec::new() };
        let real = match (named.parent(), named.file_name()) {
            (Some(parent), Some(name)) => self.links.real_path(parent).join(name),
            _ => named.to_owned(),
        };
        // The target of `..` depends on links before it.
        let is_link = touch.names.len() > 1 && named.is_symlink();
        let walked = if is_link { None } else { Some(self.location(&touch.path, is_directory)) };
        [Some(self.location(&real, is_directory)), walked].into_iter().flatten().collect()
    }

    pub fn location(&self, path: &Path, is_directory: bool) -> Location {
        let below =
            |root: &Path| path.strip_prefix(root).ok().map(|rest| rest.to_string_lossy().into_owned());
        let relative = below(self.root).or_else(|| below(&self.links.real_path(self.root)));
        let in_worktree = relative.as_deref().and_then(inside_worktree).map(str::to_owned);
        let in_other = || {
            let worktree = self.worktree?;
            below(worktree).or_else(|| below(&self.links.real_path(worktree)))
        };
        Location {
            absolute: path.to_string_lossy().into_owned(),
            relative,
            in_worktree: in_worktree.or_else(in_other),
            is_directory,
        }
    }

    pub fn of_script(&self, script: Script) -> Effects {
        let effects = self.on_files(&script);
        let link_makers = LinkMakers::of(&script.commands, &effects.touches, &effects.unclear);
        Effects { commands: script.commands, pipelines: script.pipelines, link_makers, ..effects }
    }

    /// Like `of_script`, but without the commands.
    pub fn on_files(&self, script: &Script) -> Effects {
        let mut effects = Effects {
            unclear: script.doubts.iter().cloned().map(Uncertainty::Doubt).collect(),
            ..Effects::default()
        };
        // Long scripts repeat themselves. Each effect is resolved once.
        let mut known = HashMap::new();
        for effect in &script.effects {
            if effect.target == Target::WorkTree {
                effects.unclear.extend(self.of_work_tree(effect, script.commands.get(effect.command)));
                continue;
            }
            if let (true, Target::Among { written, pattern }) = (effect.brings.names, &effect.target) {
                effects.unclear.extend(self.of_names(effect, written, pattern));
                continue;
            }
            let key = (effect.access, &effect.target, &effect.base);
            let (command, brings) = (Some(effect.command), effect.brings);
            match known.entry(key).or_insert_with(|| self.of_effect(effect)) {
                Ok(touches) => effects.touches.extend(touches.iter().map(|touch| Touch {
                    command,
                    brings,
                    ..touch.clone()
                })),
                Err(unclear) => effects.unclear.push(unclear.clone()),
            }
        }
        effects
    }

    /// Unknown names in a known directory.
    fn of_names(&self, effect: &Effect, written: &str, pattern: &str) -> Option<Uncertainty> {
        let base = match self.directory(&effect.base) {
            Directory::At(at) => at,
            Directory::Unknown => self.cwd.to_owned(),
            Directory::Never => return None,
        };
        let brings_directories = effect.brings.directory;
        let (written, pattern) = (written.to_owned(), pattern.to_owned());
        Some(Uncertainty::Names {
            access: effect.access,
            written,
            among: (base, pattern),
            brings_directories,
        })
    }

    fn of_work_tree(&self, effect: &Effect, command: Option<&SimpleCommand>) -> Option<Uncertainty> {
        let directory = match self.directory(&effect.base) {
            Directory::At(at) => at,
            Directory::Unknown => self.cwd.to_owned(),
            Directory::Never => return None,
        };
        let extent = command.map_or_else(Extent::default, |command| command.extent);
        let revision = command.and_then(|command| command.revision.clone());
        let command = command.map(|command| command.text.clone()).unwrap_or_default();
        Some(Uncertainty::WorkTree { command, directory, extent, revision })
    }

    /// `cd ..` goes up by name, and not from the target of a link.
    fn directory(&self, base: &Base) -> Directory {
        let moved = |to: &str| normalise(&self.cwd.join(to));
        match base {
            Base::At(at) => Directory::At(moved(at)),
            Base::IfMissing { missing, .. } if moved(missing).is_dir() => Directory::Never,
            Base::IfMissing { at, .. } => Directory::At(moved(at)),
            Base::Unknown => Directory::Unknown,
        }
    }

    /// The directories in which a program may run. An unknown one counts as the directory of the call.
    pub(super) fn directories(&self, bases: &[Base]) -> Vec<PathBuf> {
        let known = bases.iter().filter_map(|base| match self.directory(base) {
            Directory::At(at) => Some(at),
            Directory::Unknown => Some(self.cwd.to_owned()),
            Directory::Never => None,
        });
        known.collect()
    }

    fn of_effect(&self, effect: &Effect) -> Result<Vec<Touch>, Uncertainty> {
        let formats = effect.access == Access::Format;
        let access = if formats { Access::Write } else { effect.access };
        let base = match self.directory(&effect.base) {
            Directory::At(at) => Some(at),
            Directory::Never => return Ok(Vec::new()),
            Directory::Unknown => None,
        };
        let mut touches = self.of_target(access, &effect.target, base.as_deref())?;
        // An update does not create the file.
        touches.retain(|touch| touch.access != Access::Update || touch.exists);
        if formats {
            // The files in a directory change, and none of them is known.
            touches
                .iter_mut()
                .filter(|touch| touch.is_directory())
                .for_each(|touch| touch.access = Access::Checkout);
            // A missing file is a pattern in quotes: a formatter creates no files.
            touches.iter_mut().for_each(|touch| touch.exists = true);
        }
        Ok(touches)
    }

    /// The files of a target. Its directory may be unknown.
    fn of_target(
        &self,
        access: Access,
        target: &Target,
        base: Option<&Path>,
    ) -> Result<Vec<Touch>, Uncertainty> {
        let in_unknown_directory = base.is_none();
        let uncertain = |written: &str, among: Option<(PathBuf, String)>| Uncertainty::Path {
            access,
            written: written.to_owned(),
            among,
            in_unknown_directory,
        };
        let at = |written: &str| match (base, Path::new(written).is_absolute()) {
            (Some(base), _) => Ok(base.join(written)),
            (None, true) => Ok(PathBuf::from(written)),
            (None, false) => Err(uncertain(written, None)),
        };
        Ok(match target {
            Target::Path(path) => vec![self.touch_at(access, &at(path)?)],
            Target::Tree(path) => vec![self.touch_at(access, &at(path)?).with_contents()],
            Target::Into { directory, name } => {
                let directory = at(directory)?;
                let is_directory = self.links.walked_path(&directory).is_dir();
                let path = if is_directory { directory.join(name) } else { directory };
                vec![self.touch_at(access, &path)]
            }
            Target::Glob(pattern) | Target::Trees(pattern) => {
                let paths = match expand(&at("")?, pattern, self.budget) {
                    Some(paths) => paths,
                    // A search through all files is allowed. The pattern itself is still compared.
                    None if access == Access::Read && pattern.contains("**/") => vec![at(pattern)?],
                    None => return Err(uncertain(pattern, None)),
                };
                let touches = paths.iter().map(|path| self.touch_at(access, path));
                let is_whole = matches!(target, Target::Trees(_));
                touches.map(|touch| if is_whole { touch.with_contents() } else { touch }).collect()
            }
            Target::Among { written, pattern } => {
                return Err(uncertain(written, at("").ok().map(|base| (base, pattern.clone()))));
            }
            Target::WorkTree => Vec::new(),
            Target::Somewhere { written, end } => {
                return Err(Uncertainty::Somewhere { written: written.clone(), end: end.clone() });
            }
            Target::Unknown(written) => return Err(uncertain(written, None)),
        })
    }
}
