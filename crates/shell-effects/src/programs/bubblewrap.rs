//! `bwrap`, whose options take one value or two before the command that it runs.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::programs::arguments::Call;
use crate::programs::wrappers::wrapped;

/// The options of `bwrap` with one value, and with two.
#[rustfmt::skip]
const BUBBLEWRAP: [&[&str]; 2] = [
    &["--args", "--argv0", "--userns", "--userns2", "--pidns", "--uid", "--gid", "--hostname", "--chdir", "--unsetenv", "--lock-file", "--sync-fd",
        "--remount-ro", "--exec-label", "--file-label", "--proc", "--dev", "--tmpfs", "--mqueue", "--dir", "--seccomp", "--add-seccomp-fd",
        "--block-fd", "--userns-block-fd", "--info-fd", "--json-status-fd", "--cap-add", "--cap-drop", "--perms", "--size"],
    &["--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try", "--bind-fd", "--ro-bind-fd", "--setenv", "--file",
        "--bind-data", "--ro-bind-data", "--symlink", "--chmod", "--overlay-src"],
];

/// `bwrap OPTIONS COMMAND`. It may show files at other paths.
pub(crate) fn bubblewrap(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut words = call.fields.get(1..).unwrap_or_default();
    while let Some(first) = words.first().filter(|first| first.text.starts_with("--")) {
        let is_in =
            |index: usize| BUBBLEWRAP.get(index).is_some_and(|names| names.contains(&first.text.as_str()));
        let count = if is_in(0) { 1 } else { 2 * usize::from(is_in(1)) };
        let values = words.get(1..=count).unwrap_or_default();
        if first.text.contains("bind")
            && let [from, to] = values
            && from.text != to.text
        {
            analyzer.touch(Access::Mount, from, call.command);
        }
        let ends = first.text == "--";
        words = words.get(1 + count..).unwrap_or_default();
        if ends {
            break;
        }
    }
    wrapped(analyzer, call, &[], words);
}
