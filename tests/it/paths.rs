//! What an agent may write does not depend on how it spells the path.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::gates::{self, WriteRequest, during};
use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::paths::Links;
use proptest::prelude::*;

use crate::common::scratch;
use test_support::cases;

/// A project with folders, links to them, links out of it, and a link to itself from outside.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
    alias: PathBuf,
}

thread_local! {
    /// One for all cases of a test, which has a thread of its own: the folder goes with it.
    static PROJECT: Rc<Project> = Rc::new(make());
}

fn project() -> Rc<Project> {
    PROJECT.with(Rc::clone)
}

fn make() -> Project {
    let folder = scratch();
    let base = folder.path().canonicalize().unwrap();
    let (root, alias) = (base.join("project"), base.join("alias"));
    for made in ["src/deep/down", "docs", "steps", ".conclaude", ".claude"] {
        std::fs::create_dir_all(root.join(made)).unwrap();
    }
    std::fs::create_dir_all(base.join("outside/inner")).unwrap();
    std::fs::write(root.join("src/a.rs"), "").unwrap();
    std::fs::write(root.join(".conclaude.yaml"), "").unwrap();
    for (target, link) in [
        ("src", "link"),
        ("link", "chain"),
        ("deep/down", "src/short"),
        ("../docs", "src/docs"),
        ("../src/deep", "docs/deep"),
        ("../outside", "out"),
        ("../../outside/inner", "src/out"),
        ("src/not-yet.rs", "dangling"),
        ("../outside/not-yet.rs", "src/dangling-out"),
        ("../.conclaude.yaml", "src/rules.yaml"),
        ("../.conclaude", "src/state"),
        ("ring", "ring"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(&root, &alias).unwrap();
    Project { _folder: folder, root, alias }
}

/// Whether a gated agent with this scope may write the file, as Gate 2 decides.
fn may_write(cwd: &Path, file: &str) -> bool {
    let (root, step_file) = (&project().root, "steps/01-01.json");
    let call = GatedCall {
        step_file: step_file.into(),
        scopes: vec![vec!["src/**".into()]],
        ..GatedCall::default()
    };
    let protected = &ProtectedPaths::new(root, root, &Links::default());
    let writing =
        WriteRequest { step_file, call: Some(&call), root, work: root, protected, cwd, file, deletes: false };
    gates::protected(&writing).is_none() && during(&writing).is_none()
}

/// Files by their plain path, and whether the scope `src/**` has them.
const FILES: [(&str, bool); 12] = [
    ("src/a.rs", true),
    ("src/new.rs", true),
    ("src/deep/down/b.rs", true),
    ("src/deep/new/folder/c.rs", true),
    ("docs/x.md", false),
    ("README.md", false),
    ("srcs/a.rs", false),
    ("steps/other.json", false),
    (".conclaude.yaml", false),
    (".conclaude/state/x", false),
    ("../outside/x", false),
    ("../outside/inner/src/a.rs", false),
];

/// Other names of a folder, by links.
const ALIASES: [(&str, &str); 8] = [
    ("src/deep/down/", "src/short/"),
    ("src/deep/", "docs/deep/"),
    ("src/", "link/"),
    ("src/", "chain/"),
    ("docs/", "src/docs/"),
    (".conclaude/", "src/state/"),
    ("../outside/inner/", "src/out/"),
    ("../outside/", "out/"),
];

/// Where the agent may stand, by a path that needs no links to be followed backward.
const FOLDERS: [&str; 5] = ["", "src", "src/deep/down", "docs", "does/not/exist"];

/// The path with noise that changes nothing.
fn noisy(path: &str, noise: &[u8]) -> String {
    let mut out = String::new();
    for (index, part) in path.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        match noise.get(index % noise.len().max(1)).copied().unwrap_or(0) % 6 {
            1 => out.push_str("./"),
            2 => out.push_str("no/such/../../"),
            3 if index > 0 => out.push_str("//"),
            4 => out.push_str("x/.././"),
            5 => out.push_str("src/../"),
            _ => {}
        }
        out.push_str(part);
    }
    out
}

/// From one folder of the project to a path of it.
fn relative_from(folder: &str, path: &str) -> String {
    let up = folder.split('/').filter(|part| !part.is_empty()).count();
    format!("{}{path}", "../".repeat(up))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500, 8_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_does_not_depend_on_the_spelling(
        file in 0..FILES.len(), folder in 0..FOLDERS.len(), aliases in proptest::collection::vec(0..ALIASES.len(), 0..3),
        absolute in 0u8..4, noise in proptest::collection::vec(any::<u8>(), 1..6),
    ) {
        let (plain, expected) = FILES[file];
        let mut path = plain.to_owned();
        for alias in aliases {
            let (from, to) = ALIASES[alias];
            // The first folder of a path that is spelt by a link is one of the project, and so can be spelt again.
            if let Some(rest) = path.strip_prefix(from) {
                path = format!("{to}{rest}");
            }
        }
        let path = noisy(&path, &noise);
        let project = project();
        let cwd = project.root.join(FOLDERS[folder]);
        let spelt = match absolute {
            0 => format!("{}/{path}", project.root.display()),
            1 => format!("{}/../project//{path}", project.root.display()),
            // From outside, by a link: what leads out of the project there leads elsewhere.
            2 if !path.contains("..") => format!("{}/{path}", project.alias.display()),
            _ => relative_from(FOLDERS[folder], &path),
        };
        prop_assert_eq!(may_write(&cwd, &spelt), expected, "{} as {} in {}", plain, spelt, cwd.display());
    }

    #[test]
    fn no_path_at_all_gets_out_of_the_scope(
        parts in proptest::collection::vec(
            prop::sample::select(vec!["..", ".", "", "src", "link", "chain", "docs", "out", "short", "deep", "down", "ring",
                "dangling", "dangling-out", "state", "rules.yaml", "new", "a.rs", "~", ".conclaude", "etc", "\u{2025}", "%2e%2e", "..\\"]),
            0..9),
        rooted in any::<bool>(), folder in 0..FOLDERS.len(),
    ) {
        let cwd = project().root.join(FOLDERS[folder]);
        let spelt = format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"));
        if may_write(&cwd, &spelt) {
            // Somebody else says where it really leads.
            let named = conclaude_checks::paths::normalise(&cwd.join(&spelt));
            let real = std::process::Command::new("realpath").arg("-m").arg(&named).output().unwrap();
            let real = PathBuf::from(String::from_utf8(real.stdout).unwrap().trim_end());
            prop_assert!(real.starts_with(project().root.join("src")), "{} leads to {}", spelt, real.display());
        }
    }
}

#[test]
fn known_ways_out_are_closed() {
    for escape in include_str!("../fixtures/escapes.txt").lines().filter(|line| !line.starts_with('#')) {
        for folder in ["", "src", "src/deep/down"] {
            let spelt = escape.replace("{root}", project().root.to_str().unwrap());
            let from_src = relative_from(folder, &spelt);
            let spelt = if spelt.starts_with('/') { spelt } else { from_src };
            assert!(!may_write(&project().root.join(folder), &spelt), "{spelt:?} from {folder:?}");
        }
    }
}
