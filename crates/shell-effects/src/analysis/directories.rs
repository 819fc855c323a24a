//! The directories in which a command may run.

use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::rc::Rc;

use crate::Base;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::variables::Alternatives;

/// If more directories are possible, the current one is unknown.
const MAX_BASES: usize = 8;
/// Directories with longer paths do not exist.
const MAX_LENGTH: usize = 4096;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Directories {
    current: Alternatives<Base>,
    /// The directory if the last `cd` failed. `None` if it does not differ.
    after_failure: Option<Alternatives<Base>>,
    /// The target of `cd -`.
    previous: Option<Rc<Alternatives<Base>>>,
    /// The targets of `popd`. Below the first one nothing is known.
    pushed: Vec<Alternatives<Base>>,
}

impl Directories {
    pub(crate) fn at_start() -> Directories {
        let current = Alternatives::one(Base::At(String::new()));
        Directories { current, after_failure: None, previous: None, pushed: Vec::new() }
    }

    /// The directories of a new shell.
    pub(crate) fn child(&self) -> Directories {
        Directories { current: self.current.clone(), ..Directories::at_start() }
    }

    pub(crate) fn current(&self) -> &[Base] {
        self.current.as_slice()
    }

    /// The current directory becomes unknown.
    pub(crate) fn lose(&mut self) {
        self.current = Alternatives::one(Base::Unknown);
    }

    /// Enters a directory that certainly exists.
    pub(crate) fn enter(&mut self, directory: &Field) {
        self.current = self.moved(directory);
    }

    fn moved(&self, target: &Field) -> Alternatives<Base> {
        self.current().iter().map(|base| moved(base, target)).collect()
    }

    /// `cd`, which may fail.
    pub(crate) fn change(&mut self, target: &Field, goes_back: bool) {
        let new = match &self.previous {
            Some(previous) if goes_back => (**previous).clone(),
            _ => self.moved(target),
        };
        let is_certain = |base: &&Base| matches!(base, Base::At(_));
        if let (Some(Base::At(missing)), Some(Base::At(at))) =
            (new.as_slice().iter().find(is_certain), self.current().iter().find(is_certain))
        {
            let failed = Base::IfMissing { missing: missing.clone(), at: at.clone() };
            self.after_failure = if missing == at { None } else { Some(Alternatives::one(failed)) };
        }
        self.previous = Some(Rc::new(std::mem::replace(&mut self.current, new)));
    }

    pub(crate) fn push(&mut self) {
        self.pushed.push(self.current.clone());
    }

    /// `pushd -n`: the next `popd` goes there.
    pub(crate) fn push_without_change(&mut self, target: &Field) {
        self.pushed.push(self.moved(target));
    }

    pub(crate) fn pop(&mut self) {
        let popped = self.pushed.pop().unwrap_or_else(|| Alternatives::one(Base::Unknown));
        self.previous = Some(Rc::new(std::mem::replace(&mut self.current, popped)));
    }

    /// The current directory and the stack become unknown.
    pub(crate) fn lose_pushed(&mut self) {
        self.pushed.clear();
        self.lose();
    }

    /// The possible directories before this one. Empty if they are unknown.
    pub(crate) fn before(&self) -> &[Base] {
        self.previous.as_deref().map_or(&[], Alternatives::as_slice)
    }

    /// The length of the paths.
    pub(crate) fn length(&self) -> usize {
        let length =
            |base: &Base| if let Base::At(at) | Base::IfMissing { at, .. } = base { at.len() } else { 0 };
        self.current().iter().map(length).sum()
    }

    /// The last command succeeded.
    pub(crate) fn succeed(&mut self) {
        self.after_failure = None;
    }

    /// The last command failed.
    pub(crate) fn fail(&mut self) {
        if let Some(failed) = self.after_failure.take() {
            self.current = failed;
        }
    }

    /// The last command succeeded or failed.
    pub(crate) fn settle(&mut self) {
        if let Some(failed) = self.after_failure.take() {
            self.current = union(&self.current, &failed);
        }
    }

    /// Either these or others.
    pub(crate) fn join(&self, other: &Directories) -> Directories {
        let after_failure = match (&self.after_failure, &other.after_failure) {
            (None, None) => None,
            (mine, theirs) => {
                let mine = mine.as_ref().unwrap_or(&self.current);
                Some(union(mine, theirs.as_ref().unwrap_or(&other.current)))
            }
        };
        Directories {
            current: union(&self.current, &other.current),
            after_failure,
            previous: if self.previous == other.previous { self.previous.clone() } else { None },
            pushed: if self.pushed == other.pushed { self.pushed.clone() } else { Vec::new() },
        }
    }

    /// What differs from others becomes unknown.
    pub(crate) fn widen(&mut self, other: &Directories) {
        if self.current != other.current {
            self.lose();
        }
        if self.after_failure != other.after_failure {
            self.after_failure = Some(Alternatives::one(Base::Unknown));
        }
        if self.previous != other.previous {
            self.previous = None;
        }
    }

    /// Whether each directory that others allow is possible here too.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &Directories) -> bool {
        let has = |mine: &Alternatives<Base>, theirs: &Alternatives<Base>| {
            *mine == Alternatives::one(Base::Unknown) || mine.contains_all(theirs)
        };
        let failed = |one: &Directories| one.after_failure.clone().unwrap_or_else(|| one.current.clone());
        has(&self.current, &other.current)
            && has(&failed(self), &failed(other))
            && (self.previous.is_none() || self.previous == other.previous)
            && (self.pushed.is_empty() || self.pushed == other.pushed)
    }
}

fn union(mine: &Alternatives<Base>, theirs: &Alternatives<Base>) -> Alternatives<Base> {
    let all = mine.union(theirs);
    if all.as_slice().len() > MAX_BASES { Alternatives::one(Base::Unknown) } else { all }
}

/// The directory after `cd target`, as the shell computes it without reading the disk.
pub(crate) fn moved(base: &Base, target: &Field) -> Base {
    if target.kind != FieldKind::Literal || target.text == "-" || target.text.starts_with('+') {
        return Base::Unknown;
    }
    let path = &target.text;
    if path.len() > MAX_LENGTH {
        return Base::Unknown;
    }
    if path.starts_with('/') {
        return Base::At(normalise_text(path));
    }
    match base {
        Base::At(at) | Base::IfMissing { at, .. } if at.len() > MAX_LENGTH => Base::Unknown,
        Base::At(at) => Base::At(joined(at, path)),
        Base::IfMissing { missing, at } => Base::IfMissing { missing: missing.clone(), at: joined(at, path) },
        Base::Unknown => Base::Unknown,
    }
}

fn joined(at: &str, path: &str) -> String {
    if at.is_empty() { normalise_text(path) } else { normalise_text(&format!("{at}/{path}")) }
}

/// A path without `.`, `..` and doubled slashes. The disk is not read: a shell's `cd` and Claude Code's own tools treat paths the
/// same way.
#[must_use]
pub fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // The parent of the root is the root. A relative path may start above its directory.
            Component::ParentDir if out.file_name().is_some() => _ = out.pop(),
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

/// Like `normalise`, but for a path in a script, which has slashes on every system.
pub(crate) fn normalise_text(path: &str) -> String {
    let path = normalise(Path::new(path)).to_string_lossy().into_owned();
    if MAIN_SEPARATOR == '/' { path } else { path.replace(MAIN_SEPARATOR, "/") }
}
