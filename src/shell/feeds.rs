//! Which commands print what others run as code.

use super::syntax::Assignment;
use super::walk::Walk;

/// So many variables are remembered.
const MAX_PRINTED: usize = 64;

impl Walk<'_> {
    /// Assigns, and remembers the commands that print the value.
    pub(super) fn assign_printed(&mut self, assignment: &Assignment) {
        let start = self.script.commands.len();
        self.assign(assignment);
        let end = self.script.commands.len();
        self.printed.retain(|(name, _)| *name != assignment.name);
        if end > start && self.printed.len() < MAX_PRINTED {
            self.printed.push((assignment.name.clone(), start..end));
        }
    }

    /// A command ran, of which substitutions began at `start` and itself at `own`: where it runs what they or earlier commands
    /// print, they belong together.
    pub(super) fn ran(&mut self, start: usize, own: usize) {
        let ran = self.script.commands.get(own..).unwrap_or_default();
        let Some(runs) = ran.iter().find(|command| command.runs_unknown) else { return };
        let is_used = |name: &str| {
            let parts = runs.unknown.iter().filter_map(|unknown| {
                runs.words.get(unknown.word)?.get(unknown.part.clone())?.strip_prefix('$')
            });
            parts.into_iter().any(|part| part == name)
        };
        let printed = self.printed.iter().filter(|(name, _)| is_used(name));
        let before: Vec<usize> = printed.flat_map(|(_, range)| range.clone()).collect();
        if start < own || !before.is_empty() {
            self.joined_with(before, start);
        }
    }
}
