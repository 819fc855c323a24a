//! Compares what we know of `find` with the real one: every file that it finds is among those that we report.

use std::process::Command;

use proptest::prelude::*;

use super::*;
use test_support::cases;

const FILES: [&str; 12] = [
    "a.rs",
    "b.lock",
    ".hidden",
    "dist/x.js",
    "odd[1].rs",
    "sub/.hidden",
    "sub/a.rs",
    "sub/dist/y.js",
    "sub/dist/dist/b.lock",
    "sub/deep/C.RS",
    "sub/deep/.dot/a.rs",
    "subway/b.lock",
];

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder
}

/// Tests, as they are written in a shell; `ACTION` is what is done.
fn expression() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "'*.rs'",
        "'*'",
        "sub",
        "dist",
        "'.*'",
        ".hidden",
        "'?.rs'",
        "'[ab].*'",
        "'[!a]*'",
        "'*.[lr]*'",
        "b.lock",
        "'**'",
        "'odd\\[1\\].rs'",
        ".",
        "'s*'",
    ]);
    let path = prop::sample::select(vec![
        "'*/dist/*'",
        "'./sub/*'",
        "'sub/*'",
        "'*dist*'",
        "'*.rs'",
        "./a.rs",
        "sub/a.rs",
        "'./su*'",
        "'./su*/*.lock'",
        "'*/d*/*'",
        "'./?ub/a.rs'",
        "'*b'",
        "sub",
        "'*/dist'",
        "'*/.hidden'",
        "'s*b'",
        "'./sub/d*p/*'",
        "./sub/dist",
    ]);
    let leaf = prop_oneof![
        4 => name.clone().prop_map(|name| format!("-name {name}")),
        1 => name.prop_filter("neither sets nor escapes", |name| !name.contains(['[', '\\'])).prop_map(|name| format!("-iname {name}")),
        4 => path.prop_map(|path| format!("-path {path}")),
        2 => prop::sample::select(vec!["-type f", "-type d", "-empty", "-prune", "-maxdepth 2", "-true", "-mtime -5"])
            .prop_map(str::to_owned),
        1 => Just("ACTION".to_owned()),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} -o {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\( {a} -o {b} \\)")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\( {a} , {b} \\)")),
            inner.clone().prop_map(|a| format!("! \\( {a} \\)")),
            inner.prop_map(|a| format!("-not {a}")),
        ]
    })
}

/// What the real `find` names and a command does not touch.
fn missed(root: &Path, command: &str, printed: &str) -> Vec<String> {
    let effects = Scene::of(root, None).ground().of_script(shell_effects::read(command, None));
    if !effects.unclear.is_empty() {
        // What is in several roots is not a known word, so it is asked about.
        assert!(command.starts_with("find s* "), "{command}: {:?}", effects.unclear);
        return Vec::new();
    }
    let is_touched = |path: &Path| {
        let covers =
            |touch: &Touch| touch.path == path || touch.with_contents && path.starts_with(&touch.path);
        effects.touches.iter().any(covers)
    };
    let real = |line: &&str| root.join(line).canonicalize().unwrap();
    printed.lines().filter(|line| !is_touched(&real(line))).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96, 4096), ..ProptestConfig::default() })]

    #[test]
    fn every_file_that_find_finds_is_touched(
        expression in expression(),
        roots in prop::sample::select(vec![".", "", "sub", "./sub/", "sub/dist", "sub/dist/dist dist", "s*"]),
    ) {
        static TREE: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
        let root = TREE.get_or_init(tree).path().canonicalize().unwrap();
        let real = format!("find {roots} {}", expression.replace("ACTION", "-print"));
        let found = Command::new("sh").args(["-c", &real]).current_dir(&root).output().unwrap();
        let printed = String::from_utf8(found.stdout).unwrap();
        let none: Vec<String> = Vec::new();
        let piped = format!("{real} | xargs touch");
        prop_assert_eq!(&missed(&root, &piped, &printed), &none, "{}", piped);
        let run = if expression.contains("ACTION") {
            format!("find {roots} {}", expression.replace("ACTION", "-exec touch {} \\;"))
        } else {
            format!("find {roots} \\( {expression} \\) -exec touch {{}} +")
        };
        prop_assert_eq!(&missed(&root, &run, &printed), &none, "{}", run);
    }
}
