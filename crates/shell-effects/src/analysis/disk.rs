//! A script's earlier changes on the disk: files that it wrote, and directories that it made.

use std::rc::Rc;

use crate::analysis::definitions::Definitions;
use crate::analysis::stream::Stream;
use crate::analysis::variables::{Alternatives, referred};

/// The start of the path of a file in an unknown directory.
pub(crate) const SOMEWHERE: &str = "\0/";

/// If there are more files, the content of every unlisted file is unknown.
const MAX_FILES: usize = 64;
/// Copies of further files are not followed, which leaves room for written files.
const MAX_COPIES: usize = 32;
/// Further directories are assumed to be missing.
const MAX_DIRECTORIES: usize = 256;
/// After more of them, any file may have been written.
const MAX_PIECES: usize = 16;
/// A file of more parts than this is unknown.
const MAX_PARTS: usize = 128;

/// A file that was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WrittenFile {
    path: Rc<str>,
    /// What the file may contain. [`Stream::File`] is its content before the script.
    parts: Alternatives<Stream>,
    /// Whether the content is exactly this one part. Otherwise each part may occur never, once or often.
    is_exact: bool,
    /// The commands that wrote it, in ascending order.
    pub(crate) by: Vec<usize>,
}

impl WrittenFile {
    fn new(path: &str, content: Stream) -> WrittenFile {
        WrittenFile { path: path.into(), parts: Alternatives::one(content), is_exact: true, by: Vec::new() }
    }

    /// The file, if either of two things happened to it.
    pub(crate) fn join(&self, other: &WrittenFile) -> WrittenFile {
        let is_exact = self.is_exact && other.is_exact && self.parts == other.parts;
        let parts = self.parts.union(&other.parts);
        let mut by = [self.by.as_slice(), other.by.as_slice()].concat();
        by.sort_unstable();
        by.dedup();
        WrittenFile { path: Rc::clone(&self.path), parts: limited(parts), is_exact, by }
    }

    /// What may be in it.
    pub(crate) fn parts(&self) -> &[Stream] {
        self.parts.as_slice()
    }

    /// The content as one stream. The content before the script is part of it only if there is nothing else.
    pub(crate) fn content(&self) -> Stream {
        if let [content] = self.parts() {
            return content.clone();
        }
        let mut all = Stream::Nothing;
        for part in self.parts().iter().filter(|part| **part != Stream::File) {
            all.add(part.clone());
        }
        all.blur();
        all
    }

    /// Whether the known part of its content has this text.
    pub(crate) fn contains(&self, text: &str) -> bool {
        let has = |part: &Stream| matches!(part, Stream::Text(printed) if printed.text.text.contains(text));
        self.parts().iter().any(has)
    }

    fn append(&mut self, content: Stream) {
        match self.parts.as_slice() {
            [Stream::File] if self.is_exact => self.parts = Alternatives::one(content),
            [before] if self.is_exact => {
                let mut all = before.clone();
                all.add(content);
                self.parts = Alternatives::one(all);
            }
            _ => self.parts = limited(self.parts.union(&Alternatives::one(content))),
        }
    }
}

fn limited(parts: Alternatives<Stream>) -> Alternatives<Stream> {
    if parts.as_slice().len() > MAX_PARTS { Alternatives::one(Stream::Unknown) } else { parts }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Disk {
    /// Sorted by path. A file without an entry is as it was before the script.
    files: Rc<Vec<Rc<WrittenFile>>>,
    /// Whether other files may have been written: there were too many.
    is_full: bool,
    /// The starts of paths of files that were written and whose names are not known: by `split`. Sorted.
    pieces: Rc<Vec<String>>,
    /// Directories that certainly exist, sorted.
    made: Rc<Vec<String>>,
    /// Subcommands of git that its settings define.
    pub(crate) git_aliases: Definitions<String>,
}

impl Disk {
    fn position(&self, path: &str) -> Result<usize, usize> {
        self.files.binary_search_by(|file| (*file.path).cmp(path))
    }

    /// What was written to a file. `None` if it is unchanged.
    pub(crate) fn written(&self, path: &str) -> Option<WrittenFile> {
        match self.position(path) {
            Ok(at) => self.files.get(at).map(|file| (**file).clone()),
            Err(_) if self.is_full || self.is_piece(path) => Some(WrittenFile::new(path, Stream::Unknown)),
            Err(_) => None,
        }
    }

    /// Whether a path may be that of a file whose name was not known when it was written.
    fn is_piece(&self, path: &str) -> bool {
        let is_rest = |rest: &str| !rest.is_empty() && !rest.contains('/');
        self.pieces.iter().any(|start| path.strip_prefix(start.as_str()).is_some_and(is_rest))
    }

    /// Writes files whose paths start so.
    pub(crate) fn write_pieces(&mut self, start: &str) {
        let Err(at) = self.pieces.binary_search_by(|known| known.as_str().cmp(start)) else { return };
        if self.pieces.len() < MAX_PIECES {
            Rc::make_mut(&mut self.pieces).insert(at, start.to_owned());
        } else {
            self.is_full = true;
        }
    }

    fn join_pieces(&self, other: &Disk) -> (Rc<Vec<String>>, bool) {
        if self.pieces == other.pieces {
            return (Rc::clone(&self.pieces), false);
        }
        let mut pieces = [self.pieces.as_slice(), other.pieces.as_slice()].concat();
        pieces.sort_unstable();
        pieces.dedup();
        let is_full = pieces.len() > MAX_PIECES;
        pieces.truncate(MAX_PIECES);
        (Rc::new(pieces), is_full)
    }

    /// A file, written or not.
    fn file(&self, path: &str) -> WrittenFile {
        self.written(path).unwrap_or_else(|| WrittenFile::new(path, Stream::File))
    }

    /// Whether copies of other files are followed.
    pub(crate) fn has_room(&self) -> bool {
        self.files.len() < MAX_COPIES
    }

    pub(crate) fn is_untouched(&self) -> bool {
        self.files.is_empty() && self.pieces.is_empty() && !self.is_full
    }

    /// Whether files may have been written that are not listed: there were too many.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The files of this name that were written, in any directory.
    pub(crate) fn named(&self, name: &str) -> Vec<String> {
        let is_named = |path: &str| path.rsplit('/').next() == Some(name);
        let files = self.files.iter().filter(|file| is_named(&file.path));
        files.map(|file| file.path.as_ref().to_owned()).collect()
    }

    /// Like `named`. If some files are not listed, the result includes one in an unknown directory.
    pub(crate) fn perhaps_named(&self, name: &str) -> Vec<String> {
        let more = if self.is_full { Some(format!("{SOMEWHERE}{name}")) } else { None };
        let pieces = self.pieces.iter().filter_map(|start| {
            let (directory, start) = start.rsplit_once('/').unwrap_or((".", start));
            if name.starts_with(start) { Some(format!("{directory}/{name}")) } else { None }
        });
        self.named(name).into_iter().chain(more).chain(pieces).collect()
    }

    /// The files that were written, with their paths. An unlisted file has the path [`SOMEWHERE`].
    pub(crate) fn written_files(&self) -> Vec<(Rc<str>, WrittenFile)> {
        let more = if self.is_full { Some(WrittenFile::new(SOMEWHERE, Stream::Unknown)) } else { None };
        let listed = self.files.iter().map(|file| (**file).clone());
        listed.chain(more).map(|file| (Rc::clone(&file.path), file)).collect()
    }

    /// The files in a directory that were written.
    pub(crate) fn below(&self, directory: &str) -> Vec<String> {
        let directory = directory.trim_end_matches('/');
        let is_below = |path: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        let files = self.files.iter().filter(|file| is_below(&file.path));
        let more = if self.is_full { Some(format!("{directory}/{SOMEWHERE}")) } else { None };
        files.map(|file| file.path.as_ref().to_owned()).chain(more).collect()
    }

    /// Writes to a file, or appends to it.
    pub(crate) fn write(&mut self, path: &str, content: Stream, appends: bool, by: Vec<usize>) {
        let mut file = match self.written(path) {
            Some(mut file) if appends => {
                file.append(content);
                file
            }
            _ => WrittenFile::new(path, content),
        };
        file.by.extend(by);
        file.by.sort_unstable();
        file.by.dedup();
        self.put(path, file);
    }

    /// Adds what another disk says of a file, as one more possibility.
    pub(crate) fn add_from(&mut self, other: &Disk, path: &str) {
        let file = WrittenFile { by: Vec::new(), ..other.file(path).join(&self.file(path)) };
        self.is_full |= other.is_full;
        self.pieces = self.join_pieces(other).0;
        self.put(path, file);
    }

    fn put(&mut self, path: &str, file: WrittenFile) {
        match self.position(path) {
            Ok(at) => {
                if let Some(old) = Rc::make_mut(&mut self.files).get_mut(at) {
                    *old = Rc::new(file);
                }
            }
            Err(at) if self.files.len() < MAX_FILES => {
                Rc::make_mut(&mut self.files).insert(at, Rc::new(file))
            }
            Err(_) => self.is_full = true,
        }
    }

    /// Whether no file was written since another state of the disk. It may be false for the same content.
    pub(crate) fn has_same_files(&self, before: &Disk) -> bool {
        Rc::ptr_eq(&self.files, &before.files) && self.is_full == before.is_full
    }

    /// The files that were written since another state of the disk.
    pub(crate) fn written_since(&self, before: &Disk) -> Vec<String> {
        let is_new = |file: &&Rc<WrittenFile>| {
            let old = before.position(&file.path).ok().and_then(|at| before.files.get(at));
            old.is_none_or(|old| !Rc::ptr_eq(old, file))
        };
        self.files.iter().filter(is_new).map(|file| file.path.as_ref().to_owned()).collect()
    }

    pub(crate) fn make_directory(&mut self, path: &str) {
        let path = path.trim_end_matches('/');
        if let Err(at) = self.made.binary_search_by(|made| made.as_str().cmp(path))
            && self.made.len() < MAX_DIRECTORIES
        {
            Rc::make_mut(&mut self.made).insert(at, path.to_owned());
        }
    }

    /// Whether the script made this directory.
    pub(crate) fn has_made(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.made.binary_search_by(|made| made.as_str().cmp(path)).is_ok()
    }

    /// Either this disk or another one.
    pub(crate) fn join(&self, other: &Disk) -> Disk {
        let git_aliases = self.git_aliases.join(&other.git_aliases);
        Disk { made: self.join_made(other), git_aliases, ..self.with_files_of(other) }
    }

    /// This disk, with each file perhaps as on another one.
    pub(crate) fn with_files_of(&self, other: &Disk) -> Disk {
        let (pieces, has_more) = self.join_pieces(other);
        let (files, is_full) = self.join_files(other);
        Disk { files, is_full: is_full || has_more, pieces, ..self.clone() }
    }

    fn join_files(&self, other: &Disk) -> (Rc<Vec<Rc<WrittenFile>>>, bool) {
        let is_full = self.is_full || other.is_full;
        if Rc::ptr_eq(&self.files, &other.files) {
            return (Rc::clone(&self.files), is_full);
        }
        // Both are sorted, and most files are the same.
        let (mut mine, mut theirs) = (self.files.iter().peekable(), other.files.iter().peekable());
        let mut files: Vec<Rc<WrittenFile>> = Vec::with_capacity(self.files.len());
        loop {
            let file = match (mine.peek(), theirs.peek()) {
                (Some(a), Some(b)) if Rc::ptr_eq(a, b) || a.path == b.path => {
                    let file = if Rc::ptr_eq(a, b) { Rc::clone(a) } else { Rc::new(a.join(b)) };
                    mine.next();
                    theirs.next();
                    file
                }
                (Some(a), b) if b.is_none_or(|b| a.path < b.path) => {
                    let file = Rc::new(a.join(&other.file(&a.path)));
                    mine.next();
                    file
                }
                (_, Some(b)) => {
                    let file = Rc::new(b.join(&self.file(&b.path)));
                    theirs.next();
                    file
                }
                (_, None) => break,
            };
            files.push(file);
        }
        let is_full = is_full || files.len() > MAX_FILES;
        files.truncate(MAX_FILES);
        (Rc::new(files), is_full)
    }

    /// This disk, or an earlier state of it, for the files that had been written by then.
    pub(crate) fn or_earlier(&self, earlier: &Disk) -> Disk {
        let mut disk = self.clone();
        for (at, file) in self.files.iter().enumerate() {
            if let Ok(before) = earlier.position(&file.path)
                && let Some(before) = earlier.files.get(before)
                && !Rc::ptr_eq(before, file)
                && let Some(either) = Rc::make_mut(&mut disk.files).get_mut(at)
            {
                *either = Rc::new(file.join(before));
            }
        }
        let (pieces, has_more) = self.join_pieces(earlier);
        disk.pieces = pieces;
        disk.is_full |= has_more;
        disk.made = self.join_made(earlier);
        disk.git_aliases = self.git_aliases.join(&earlier.git_aliases);
        disk
    }

    /// Content that differs from before becomes unknown. Its known parts stay, but no more are added.
    pub(crate) fn widen(&mut self, other: &Disk) {
        for at in 0..self.files.len() {
            let Some(file) = self.files.get(at) else { return };
            let before = other.file(&file.path);
            if file.parts == before.parts && file.is_exact == before.is_exact {
                continue;
            }
            let unknown = Alternatives::one(Stream::Unknown);
            let is_unknown = before.parts.as_slice().contains(&Stream::Unknown);
            let (parts, is_exact) = if is_unknown {
                (before.parts, before.is_exact)
            } else {
                (limited(file.parts.union(&unknown)), false)
            };
            if let Some(file) = Rc::make_mut(&mut self.files).get_mut(at) {
                *file = Rc::new(WrittenFile { parts, is_exact, ..(**file).clone() });
            }
        }
    }

    /// The commands that wrote the files.
    pub(crate) fn commands(&self) -> impl Iterator<Item = usize> {
        self.files.iter().flat_map(|file| file.by.iter().copied())
    }

    /// Replaces the references to commands.
    pub(crate) fn refer(&mut self, to: impl Fn(usize) -> usize) {
        for at in 0..self.files.len() {
            let Some(file) = self.files.get(at) else { return };
            let by = referred(&file.by, &to);
            if by != file.by
                && let Some(file) = Rc::make_mut(&mut self.files).get_mut(at)
            {
                Rc::make_mut(file).by = by;
            }
        }
    }

    /// A directory exists for certain where it does in both cases.
    fn join_made(&self, other: &Disk) -> Rc<Vec<String>> {
        if self.made == other.made {
            return Rc::clone(&self.made);
        }
        Rc::new(self.made.iter().filter(|made| other.has_made(made)).cloned().collect())
    }

    /// Whether each possible content on another disk is possible here too.
    #[cfg(test)]
    pub(crate) fn covers(&self, other: &Disk) -> bool {
        let is_covered = |file: &Rc<WrittenFile>| {
            let (mine, theirs) = (self.file(&file.path), other.file(&file.path));
            let is_unknown = mine.parts.as_slice().contains(&Stream::Unknown);
            let is_wider = mine.parts.contains_all(&theirs.parts) && (!mine.is_exact || theirs.is_exact);
            is_unknown || is_wider
        };
        self.files.iter().chain(other.files.iter()).all(is_covered)
            && self.is_full >= other.is_full
            && (self.is_full || other.pieces.iter().all(|start| self.pieces.contains(start)))
            && self.made.iter().all(|made| other.has_made(made))
            && self.git_aliases.covers(&other.git_aliases)
    }
}
