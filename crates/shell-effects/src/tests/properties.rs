//! What holds for any command.

use proptest::prelude::*;

use super::*;
use test_support::cases;
use test_support::shell::commands;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Parts of commands, put together at random.
fn random_shell_text() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "cat ",
        ".env",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        "{ ",
        "; }",
        "$(",
        "`",
        "\"",
        "'",
        "\\",
        "$'",
        "${",
        "}",
        "$((",
        "))",
        "[[ ",
        " ]]",
        "<<EOF\n",
        "EOF\n",
        "<",
        ">",
        ">>",
        "<(",
        "if ",
        "then ",
        "fi ",
        "for ",
        "in ",
        "do ",
        "done ",
        "case ",
        "esac ",
        ";;",
        "x=",
        "$x",
        "$@",
        "*",
        "?",
        "[",
        "]",
        "{a,b}",
        "~",
        "#",
        "rm -rf ",
        "cd ",
        "bash -c ",
        "eval ",
        "xargs ",
        "find . -exec ",
        "f() ",
        "function ",
        "!",
        "time ",
        "é",
        "\0",
        "1",
        "-",
        "=",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

/// A word in another spelling, which means the same to a shell.
fn spelt(word: &str, how: &[u8]) -> String {
    let mut out = String::new();
    for (c, how) in word.chars().zip(how.iter().cycle()) {
        match how % 6 {
            0 => out.push(c),
            1 => out.push_str(&format!("\\{c}")),
            2 => out.push_str(&format!("'{c}'")),
            3 => out.push_str(&format!("\"{c}\"")),
            4 => out.push_str(&format!("$'\\x{:02x}'", u32::from(c))),
            _ => out.push_str(&format!("''{c}\"\"")),
        }
    }
    out
}

#[test]
fn any_text_is_read_without_a_panic_and_within_the_bounds() {
    proptest!(config(cases(800, 20_000)), |(text in random_shell_text())| {
        let script = read(&text, Some(HOME));
        prop_assert!(script.effects.iter().all(|effect| effect.command < script.commands.len()));
        prop_assert!(script.commands.iter().all(|command| command.text == command.words.join(" ")));
        prop_assert_eq!(&script, &read(&text, Some(HOME)));
        // Work is counted, so that its end does not depend on the machine.
        prop_assert!(script.commands.len() + script.effects.len() < 100_000);
    });
}

#[test]
fn the_result_does_not_depend_on_how_words_are_quoted() {
    let words = prop::collection::vec("[a-z./][a-z0-9./_-]{0,8}", 1..4);
    let programs =
        prop::sample::select(vec!["cat", "rm", "cp -r", "sed -i s/a/b/", "git checkout --", "sudo tee", "x"]);
    let how = prop::collection::vec(any::<u8>(), 1..9);
    proptest!(config(cases(400, 8_000)), |(program in programs, words in words, how in how)| {
        let plain = format!("{program} {}", words.join(" "));
        let quoted: Vec<String> = plain.split(' ').map(|word| spelt(word, &how)).collect();
        prop_assert_eq!(read(&plain, None), read(&quoted.join("  "), None), "{}", quoted.join(" "));
    });
}

#[test]
fn a_command_does_the_same_in_every_position() {
    let around = [
        "( COMMAND\n)",
        "{ COMMAND\n}",
        "if true; then COMMAND\nfi",
        "while true; do COMMAND\ndone",
        "true | ( COMMAND\n)",
        "true && { COMMAND\n}",
        "f() { COMMAND\n}; f",
        "true; COMMAND",
        "case a in a) COMMAND\n;; esac",
        "echo $( COMMAND\n)",
        "echo \"$( COMMAND\n)\"",
        "cat <(COMMAND\n)",
        "! { COMMAND\n}",
        "COMMAND\ntrue",
    ];
    let mut compared = 0;
    for command in commands() {
        let plain = read(&command, Some(HOME));
        let is_plain = plain.doubts.is_empty() && !command.contains("<<") && !plain.effects.is_empty();
        // What depends on what is around it.
        let is_bound = ["$1", "$@", "shift", "f;", "for f;", "for d", "while", "exec", "return"]
            .iter()
            .any(|word| command.contains(word));
        if !is_plain || is_bound {
            continue;
        }
        for around in around {
            let script = read(&around.replace("COMMAND", &command), Some(HOME));
            let missing: Vec<_> = plain
                .effects
                .iter()
                .filter(|effect| {
                    !script.effects.iter().any(|other| {
                        other.access == effect.access
                            && other.target == effect.target
                            && other.base == effect.base
                    })
                })
                .collect();
            assert!(missing.is_empty(), "{missing:?} of `{command}` in `{around}`: {script:?}");
            compared += 1;
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn hostile_commands_end() {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("echo {}x{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [
        ("$(echo ", ")"),
        ("`", "`"),
        ("<(echo ", ")"),
        ("${x:-", "}"),
        ("\"$(echo ", ")\""),
        ("$((", "))"),
        ("${x[", "]}"),
        ("$[", "]"),
        ("{a,", "}"),
        ("@(", ")"),
        ("$(cat <<E\n", "\nE\n)"),
    ] {
        for depth in [20, 33, 500, 5_000] {
            for text in [deep(open, close, depth), deep(open, "", depth)] {
                let script = read(&text, None);
                assert!(script.commands.len() < 1000, "{open}");
            }
        }
    }
    for (open, close) in [
        ("( ", " )"),
        ("{ ", "; }"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("f() { ", "; }"),
        ("! ", ""),
        ("sudo ", ""),
    ] {
        for depth in [33, 500, 2_500] {
            let text = format!("{}a{}", open.repeat(depth), close.repeat(depth));
            let script = read(&text, None);
            assert!(
                script.doubts.contains(&Doubt::TooDeep) || open == "! ",
                "{open} {depth}: {:?}",
                script.doubts
            );
        }
    }
}

#[test]
fn loops_functions_and_values_do_not_multiply_without_end() {
    let doubling: String = (0..60).map(|n| format!("a{}=$a{n}$a{n};", n + 1)).collect();
    let nested: String = (0..20).map(|n| format!("for v{n} in a b c d; do ")).collect();
    let functions: String = (0..30).map(|n| format!("f{n}() {{ f{}; f{}; }};", n + 1, n + 1)).collect();
    let aliases: String = (0..30).map(|n| format!("alias a{n}='a{};a{}'\n", n + 1, n + 1)).collect();
    for text in [
        format!("a0=xxxx; {doubling} cat $a60"),
        format!("{nested} cat $v0$v1$v2$v3$v4$v5$v6$v7; {}", "done;".repeat(20)),
        format!("{functions} f0"),
        format!("{aliases} a0"),
        format!("cat {}", "{a,b}".repeat(500)),
        "cat {1..200};".repeat(4_000),
        format!("{} a {}", "while x=$x; do y=$x; x=$y$x; cd ..; ".repeat(25), "; done".repeat(25)),
        format!("set -- {}; {}", "a ".repeat(9_000), "cat $@;".repeat(4_000)),
    ] {
        let script = read(&text, None);
        assert!(script.commands.len() < 60_000 && script.effects.len() < 60_000, "{}", script.commands.len());
    }
}
