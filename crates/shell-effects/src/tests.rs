//! Commands with their effects, as tables in `fixtures/`: a command, `⇒`, what it does. `⏎` is a line break, and
//! `⟦70×v#=1; ⟧` is written 70 times, with a number for each `#`.
//!
//! `UPDATE_SHELL=1 cargo test --lib shell` writes what is found into the tables; read the difference.

use std::cell::Cell;
use std::fmt::Write as _;

use super::*;
use test_support::shell::{tables, written_out};

mod joins;
mod properties;

const HOME: &str = "/home/u";

fn shown_target(target: &Target) -> String {
    match target {
        Target::Path(path) => path.clone(),
        Target::Glob(pattern) => format!("glob:{pattern}"),
        Target::Tree(path) => format!("tree:{path}"),
        Target::Trees(pattern) => format!("trees:{pattern}"),
        Target::Into { directory, name } => format!("into:{directory}:{name}"),
        Target::Among { pattern, .. } => format!("among:{pattern}"),
        Target::Somewhere { end, .. } => format!("somewhere:{end}"),
        Target::WorkTree => "worktree".to_owned(),
        Target::Unknown(text) => format!("unknown:{text}"),
    }
}

fn shown_effect(effect: &Effect) -> String {
    let access = match effect.access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Format => "format",
        Access::Update => "update",
        Access::Delete => "delete",
        Access::MakeDirectory => "mkdir",
        Access::Link => "link",
        Access::Mount => "mount",
        Access::Checkout => "checkout",
    };
    let base = match &effect.base {
        Base::At(base) if base.is_empty() => String::new(),
        Base::At(base) => format!(" @{base}"),
        Base::IfMissing { missing, at } => format!(" @{at}?{missing}"),
        Base::Unknown => " @?".to_owned(),
    };
    format!("{access} {}{base}", shown_target(&effect.target))
}

fn shown_doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Unparsable(_) => "unparsable".to_owned(),
        Doubt::TooLong => "too long".to_owned(),
        Doubt::OutOfTime => "out of time".to_owned(),
        Doubt::TooDeep => "too deep".to_owned(),
        Doubt::TooMany(what) => format!("too many {what}"),
        Doubt::InlineCode { interpreter, text, .. } => format!("code {interpreter}: {text}"),
        Doubt::UnknownScript { interpreter, .. } => format!("script {interpreter}"),
        Doubt::UnknownProgram { words, .. } => format!("program {}", words.join(" ")),
    }
}

/// All effects and doubts, each once.
fn shown(command: &str) -> String {
    let script = read(command, Some(HOME));
    let mut lines: Vec<String> = Vec::new();
    for line in script.effects.iter().map(shown_effect).chain(script.doubts.iter().map(shown_doubt)) {
        let line = line.replace('\n', "⏎");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() { "nothing".to_owned() } else { lines.join(" · ") }
}

#[test]
fn commands_have_the_effects_of_the_tables() {
    let mut cases = 0;
    for table in tables() {
        let old = std::fs::read_to_string(&table).unwrap();
        let mut new = String::new();
        for line in old.lines() {
            match line.split_once(" ⇒") {
                Some((command, _)) => {
                    cases += 1;
                    let found = shown(&written_out(command));
                    writeln!(new, "{command} ⇒ {found}").unwrap();
                }
                None => writeln!(new, "{line}").unwrap(),
            }
        }
        if std::env::var_os("UPDATE_SHELL").is_some() {
            std::fs::write(&table, &new).unwrap();
        } else {
            let wrong: Vec<_> =
                old.lines().zip(new.lines()).filter(|(old, new)| old != new).map(|(_, new)| new).collect();
            assert_eq!(wrong, Vec::<&str>::new(), "{} is different now", table.display());
        }
    }
    assert!(cases > 400, "{cases} cases");
}

/// The simple commands, one per line, with `>` before those that write to a file by a redirection.
fn simple_commands(command: &str) -> String {
    let lines = read(command, Some(HOME)).commands.into_iter().map(|command| {
        let mark = if command.redirects_to_file { "> " } else { "" };
        format!("{mark}{}", command.text)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn simple_commands_are_listed_as_they_run() {
    insta::assert_snapshot!(
        simple_commands(r#"cd a && git  push   "--force" origin 'main' 2>&1 | tee log; sudo -u x rm -rf "$HOME/a b""#),
        @"
    cd a
    git push --force origin main
    tee log
    sudo -u x rm -rf /home/u/a b
    rm -rf /home/u/a b
    ");
    insta::assert_snapshot!(
        simple_commands("for b in main dev; do git push --force origin $b; done; { make; make test; } > log 2>&1; make > /dev/null"),
        @"
    git push --force origin main
    git push --force origin dev
    > 
    > make
    > make test
    make
    ");
    insta::assert_snapshot!(
        simple_commands("bash -c 'git commit -m \"x; y\"' && echo $(git rev-parse HEAD) > out; $cmd \"$unknown\" *.rs"),
        @r#"
    bash -c git commit -m "x; y"
    git commit -m x; y
    git rev-parse HEAD
    > echo $(git rev-parse HEAD)
    $cmd $unknown *.rs
    "#);
}

#[test]
fn a_trap_runs_with_the_values_that_variables_have_at_the_end() {
    assert_eq!(shown("x=q; trap 'cat $x' EXIT; x=.env"), "read q · read .env");
    assert_eq!(shown("x=q; (trap 'cat $x' EXIT; x=.env); cat $x"), "read q · read .env");
    assert_eq!(
        read("x=q; trap 'cat $x' EXIT", None).commands.len(),
        2,
        "nothing changed, so it is read once"
    );
}

#[test]
fn writes_reads_and_deletions_are_distinguished() {
    let written = |command| {
        let script = writes(command, Some(HOME)).unwrap_or_default();
        let effects = script.effects.iter().map(shown_effect);
        effects.chain(script.doubts.iter().map(shown_doubt)).collect::<Vec<_>>().join(" · ")
    };
    assert_eq!(written("cd src && sed -i s/a/b/ a.rs && cat x"), "write a.rs @src");
    assert_eq!(written("touch ~/y; rm z; git checkout -- a"), "write /home/u/y · write tree:a");
    assert_eq!(
        written("prettier --write a.ts 'src/*.ts' *.js"),
        "write tree:a.ts · write tree:src/*.ts · write trees:*.js"
    );
    assert_eq!(written("echo > $x; git stash; curl x | sh"), "write unknown:$x · write worktree · script sh");
    assert_eq!(written("make; python3 -c 'x'; rm -rf a; mkdir b; grep a b"), "");
}

#[test]
fn a_command_that_is_too_long_is_not_read() {
    let script = read(&"a ".repeat(MAX_BYTES), None);
    assert_eq!((script.commands.len(), script.doubts), (0, vec![Doubt::TooLong]));
    assert_eq!(read(&"a".repeat(MAX_BYTES), None).doubts, []);
}

#[test]
fn what_is_more_than_a_limit_is_a_doubt() {
    let files: String = (0..64).map(|number| format!("echo a > f{number}; ")).collect();
    let opened: String = (0..17).map(|number| format!("{}>f{number} ", number + 20)).collect();
    let calls = "os.system('true'); ".repeat(600);
    let texts = "'x', ".repeat(600);
    let variables: String = (0..3_000).map(|number| format!("V{number}=x\n")).collect();
    let chain: String = (0..200).map(|number| format!("v{number}=v{}; ", number + 1)).collect();
    for (command, expected) in [
        (format!("v200='a[$(cat .env)]'; {chain}let y=v0"), "too many variables in arithmetic"),
        (
            format!("{files}echo '{{\"scripts\":{{\"x\":\"cat .env\"}}}}' > package.json; npm run x"),
            "too many files",
        ),
        (format!("{files}echo 'cat .env' > bin/zz; PATH=bin:$PATH; zz"), "script zz"),
        (
            format!("{files}echo 'import os; os.system(\"cat .env\")' > m.py; python3 -c 'import m'"),
            "code python3: ",
        ),
        (format!("{files}echo 'all: ; cat .env' > Makefile; make"), "code make: "),
        (format!("{files}echo 'cat .env' > s; sh *s"), "script sh"),
        (format!("{files}echo 'cat .env' > hk/post-commit; git -c core.hooksPath=hk commit"), "script bash"),
        (format!("exec {opened}80>s; echo 'cat .env' >&80; sh s"), "too many open files"),
        (format!("python3 -c \"import os; {calls}os.system('cat .env')\""), "too many calls in code"),
        (
            format!("python3 -c \"import os; x = [{texts}'cat .env']; f = os.system; f(x[-1])\""),
            "too many texts in code",
        ),
        (format!("make --eval '{variables}X=cat .env\nall:\n\t$(X)'"), "too many variables of make"),
    ] {
        let found = shown(&command);
        assert!(
            found.split(" · ").any(|part| part == expected),
            "{expected}: {}",
            found.chars().take(300).collect::<String>()
        );
    }
    // With one file less, all of them are known.
    let files = files.trim_start_matches("echo a > f0; ");
    let known = shown(&format!("{files}echo 'cat .env' > bin/zz; PATH=bin:$PATH; zz"));
    assert!(known.ends_with("read .env"), "{known}");
}

#[test]
fn an_analysis_that_is_out_of_time_stops_and_says_so() {
    struct ExpiredBudget(Cell<usize>);
    impl Environment for ExpiredBudget {
        fn is_out_of_time(&self) -> bool {
            self.0.set(self.0.get() + 1);
            true
        }
    }
    let expired = ExpiredBudget(Cell::new(0));
    let context = Context { home: None, environment: &expired, programs: &[] };
    let script = read_in(&"echo a b c d; ".repeat(2_000), &context);
    assert_eq!((expired.0.get(), script.doubts), (1, vec![Doubt::OutOfTime]));
    assert!((1..1_000).contains(&script.commands.len()), "{}", script.commands.len());
    // A short command does not even look.
    assert_eq!(read_in("cat .env", &context).doubts, []);
}

#[test]
fn what_is_not_a_script_is_reported_with_its_reason() {
    let reason = |command| format!("{:?}", read(command, None).doubts);
    insta::assert_snapshot!(reason("a\nb 'c"), @r#"[Unparsable("a single quote is not closed (line 2)")]"#);
    insta::assert_snapshot!(reason("if a; then b"), @r#"[Unparsable("`fi` is missing (line 1)")]"#);
    insta::assert_snapshot!(reason("a; fi"), @r#"[Unparsable("`fi` is not expected here (line 1)")]"#);
    insta::assert_snapshot!(reason("(a"), @r#"[Unparsable("`)` is missing (line 1)")]"#);
}
