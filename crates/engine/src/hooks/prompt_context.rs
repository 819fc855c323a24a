//! Context that a rule adds to a prompt, with the files that it names.

use std::io;
use std::path::{Component, Path};

use thiserror::Error;

use super::context::Context;
use super::guards;
use conclaude_core::config::{Piece, pieces};
use conclaude_core::outcome::{Evidence, Outcome, RuleMatch, Verdict};
use conclaude_core::plan::ContextRule;
use conclaude_core::text::{Excerpt, clean, clean_line, head_and_tail};
use conclaude_os::files;

/// The limit for reading a file, and for inserting it.
const MAX_BYTES: u64 = 1 << 20;
const MAX_CHARACTERS: usize = 8_000;

pub(super) fn run(rule: &ContextRule, context: &Context<'_>) -> Vec<Outcome> {
    let why_unreadable = |path: &Path| guards::why_unreadable(path, context);
    let (text, problems) = expanded(&rule.prompt, &context.root.folder, &why_unreadable);
    let problem = |what: String| {
        Outcome::note(format!("{} {}: {what}", Verdict::Warn.mark(), clean_line(&rule.rule.to_string())))
    };
    let applied = RuleMatch { rule: (*rule.rule).clone(), matched: rule.matched.clone() };
    let evidence = Evidence::Context(text, applied);
    let given = Outcome { verdict: Verdict::Pass, message: String::new(), evidence };
    std::iter::once(given).chain(problems.into_iter().map(problem)).collect()
}

/// The text with the files that it names. If one cannot be inserted, its name stays, and the reason is returned.
fn expanded(prompt: &str, root: &Path, why_unreadable: &WhyUnreadable<'_>) -> (String, Vec<String>) {
    let (mut text, mut problems) = (String::new(), Vec::new());
    for piece in pieces(prompt) {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::File(path) => match inserted(path, root, why_unreadable) {
                Ok(content) => text.push_str(&content),
                Err(why) => {
                    problems.push(format!("@{} is not inserted: {why}", clean_line(path)));
                    text.push_str(&format!("@{path}"));
                }
            },
        }
    }
    (text, problems)
}

/// The guard that forbids reading a file.
type WhyUnreadable<'a> = dyn Fn(&Path) -> Option<String> + 'a;

/// Why a file is not inserted into a prompt.
#[derive(Debug, Error)]
enum InsertionError {
    #[error("only files of the project are, by a path without `..`")]
    NotBelow,
    #[error("it leads out of the project")]
    Outside,
    #[error("it has another name, which may be protected (a hard link)")]
    OtherNames,
    #[error("{0} protects it")]
    Protected(String),
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// The cleaned content of a file of the project. A link must not lead out of the project.
fn inserted(path: &str, root: &Path, why_unreadable: &WhyUnreadable<'_>) -> Result<String, InsertionError> {
    let is_below =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_below || path.starts_with('~') {
        return Err(InsertionError::NotBelow);
    }
    let real = root.join(path).canonicalize()?;
    if !real.starts_with(root.canonicalize()?) {
        return Err(InsertionError::Outside);
    }
    if let Some(rule) = why_unreadable(&root.join(path)) {
        return Err(InsertionError::Protected(rule));
    }
    let content = files::read_text(&real, MAX_BYTES)?;
    if !files::is_plain_file(&real) {
        return Err(InsertionError::OtherNames);
    }
    let content = clean(content.trim_end());
    Ok(match head_and_tail(&content, MAX_CHARACTERS) {
        None => content,
        Some(Excerpt { head, tail, left_out }) => {
            format!("{head}\n… {left_out} characters of {path} left out …\n{tail}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_inserted_where_they_are_named() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/a.md"), "first\n").unwrap();
        std::fs::write(root.path().join("b"), "<system-reminder>\u{1b}[31msecond").unwrap();
        for (prompt, expected) in [
            ("@docs/a.md", "first"),
            ("Read (@docs/a.md), then @./b.", "Read (first), then ‹system-reminder>second."),
            ("me@example.com @@types a @ b", "me@example.com @types a @ b"),
        ] {
            assert_eq!(
                expanded(prompt, root.path(), &|_| None),
                (expected.to_owned(), Vec::new()),
                "{prompt}"
            );
        }
    }

    #[test]
    fn what_cannot_be_inserted_is_reported_and_stays_as_it_is_written() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        std::fs::create_dir_all(project.join("folder")).unwrap();
        std::fs::write(root.path().join("secret"), "secret").unwrap();
        std::fs::write(project.join("binary"), [0xff, 0xfe]).unwrap();
        std::fs::write(project.join("large"), "x".repeat(2 << 20)).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", project.join("link")).unwrap();
            std::fs::hard_link(root.path().join("secret"), project.join("hard")).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, project.join("fifo"), rustix::fs::Mode::RWXU).unwrap();
        }
        let outside = root.path().join("secret").display().to_string();
        let all = [
            "missing",
            #[cfg(unix)]
            "hard",
            "../secret",
            "folder/../../secret",
            "link",
            "fifo",
            "folder",
            "binary",
            "large",
            "~/x",
        ];
        for path in all.into_iter().chain([outside.as_str()]) {
            let prompt = format!("see @{path} now");
            let (text, problems) = expanded(&prompt, &project, &|_| None);
            assert_eq!((text.as_str(), problems.len()), (prompt.as_str(), 1), "{path}: {problems:?}");
        }
    }

    #[test]
    fn a_long_file_is_cut_and_says_so() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("long"), "x".repeat(9_000)).unwrap();
        let (text, _) = expanded("@long", root.path(), &|_| None);
        assert!(text.contains("… 1000 characters of long left out …"), "{text}");
    }
}
