//! Parts of a script that run at the same time. What one of them writes, the others may find at any time. So a script with such
//! parts is analyzed again, with what they wrote, until they write nothing new.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::disk::Disk;
use crate::syntax::tree::{Command, CommandKind, Piece, Pipeline};
use crate::{Doubt, SimpleCommand};

/// More analyses of a script are not made.
const MAX_ANALYSES: usize = 6;
/// After this number of analyses, content that still changes becomes unknown.
const MAX_EXACT: usize = 3;

/// What parts of a script write that run at the same time.
#[derive(Debug, Default)]
pub(super) struct Parallel {
    /// Whether parts of the script may run at the same time from here on.
    is_active: bool,
    /// Whether commands of one pipeline write what others of it name.
    has_shared_files: bool,
    /// What earlier analyses found.
    known: Writes,
    /// What this analysis finds.
    found: Writes,
    analyses: usize,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Writes {
    files: Disk,
    /// Code in other languages that writes files.
    code: Vec<String>,
}

impl Parallel {
    /// Code that other parts may have run before.
    pub(super) fn code(&self) -> &[String] {
        if self.is_active { &self.known.code } else { &[] }
    }
}

impl Analyzer<'_> {
    /// Whether this analysis found something that it did not know at its start, so that another one is needed.
    pub(super) fn has_more_in_parallel(&mut self) -> bool {
        let Parallel { is_active, has_shared_files, known, found, analyses } =
            std::mem::take(&mut self.parallel);
        let mut all = known.clone();
        all.files = all.files.with_files_of(&found.files);
        if analyses >= MAX_EXACT {
            all.files.widen(&known.files);
        }
        all.code.extend(found.code.into_iter().filter(|code| !known.code.contains(code)));
        if all == known && (is_active || !has_shared_files) {
            return false;
        }
        if analyses >= MAX_ANALYSES {
            self.doubt(Doubt::TooDeep);
            return false;
        }
        self.parallel = Parallel {
            is_active: has_shared_files,
            has_shared_files,
            known: all,
            found: Writes::default(),
            analyses: analyses + 1,
        };
        true
    }

    /// From here on, a part of the script runs that nothing waits for.
    pub(crate) fn starts_parallel(&mut self) {
        self.parallel.is_active = true;
        self.finds_writes_of_others();
    }

    pub(super) fn finds_writes_of_others(&mut self) {
        if self.parallel.is_active && !self.parallel.known.files.is_untouched() {
            self.state.disk = self.state.disk.with_files_of(&self.parallel.known.files);
        }
    }

    /// The script wrote these files, or files whose paths start so.
    pub(super) fn wrote_in_parallel(&mut self, paths: &[String]) {
        if !self.parallel.is_active {
            return;
        }
        for path in paths.iter().filter(|path| *path != "/dev/null") {
            self.parallel.found.files.add_from(&self.state.disk, path);
        }
        self.finds_writes_of_others();
    }

    /// Code in another language ran that writes files.
    pub(super) fn code_in_parallel(&mut self, text: &str) {
        if self.parallel.is_active && !self.parallel.found.code.iter().any(|known| known == text) {
            self.parallel.found.code.push(text.to_owned());
        }
    }

    /// The commands of a pipeline from `member` on ran, and the disk was `before` then. The commands before them run at the same
    /// time. Only the files that these name are compared: most pipelines write something.
    pub(super) fn shared_in_pipeline(&mut self, member: usize, before: &Disk) {
        if self.parallel.has_shared_files || self.state.disk.has_same_files(before) {
            return;
        }
        let earlier = self.script.commands.get(self.scope.pipeline..member).unwrap_or_default();
        let written = self.state.disk.written_since(before);
        self.parallel.has_shared_files = earlier.iter().any(|command| names_one(command, &written));
    }
}

/// Whether a command names one of these files, or perhaps any.
fn names_one(command: &SimpleCommand, paths: &[String]) -> bool {
    let names = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        command.text.contains(name) || command.redirects.iter().any(|redirect| redirect.contains(name))
    };
    paths.iter().any(names)
}

/// Whether a pipeline is a coprocess, which goes on after it: the parser puts this word before it.
pub(super) fn is_coprocess(pipeline: &Pipeline) -> bool {
    let is_word = |command: &Command| match &command.kind {
        CommandKind::Simple { words, .. } => match words.as_slice() {
            [word] => matches!(word.as_slice(), [Piece::Plain(name)] if name == "coproc"),
            _ => false,
        },
        _ => false,
    };
    pipeline.len() > 2 && pipeline.first().is_some_and(is_word)
}
