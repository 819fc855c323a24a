//! What may stand where a config should: refused at once, with the position where there is one.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::common::Test;
use crate::support::{MeasuredCall, figure, ms, percentile, slowness, watch};

/// What looking at a hostile config may take longer than looking at an ordinary one.
const BOUND: Duration = Duration::from_millis(100);

const ORDINARY: &str = "subagentStop:\n  commands:\n    coder:\n      - run: ':'\n";

/// The best of several calls, and the middle of ordinary ones made beside them: a busy machine slows both.
fn compare(test: &Test) -> (MeasuredCall, Duration, Duration) {
    let ordinary = Test::stop().config(ORDINARY);
    let (mut taken, mut plain) = (Vec::new(), Vec::new());
    // The first answer: what is wrong with a config is shown in full once per session.
    let mut first: Option<MeasuredCall> = None;
    for _ in 0..5 {
        plain.push(watch(&ordinary).time);
        let done = watch(test);
        taken.push(done.time);
        // The memory of a short process is not seen every time.
        let peak = first.as_ref().map_or(0.0, |first| first.peak).max(done.peak);
        first = Some(MeasuredCall { peak, ..first.unwrap_or(done) });
    }
    (first.unwrap(), percentile(&taken, 1), percentile(&plain, 50))
}

/// Expects that the config is refused with these words, in no time and without much memory.
fn refused(kind: &str, test: &Test, words: &str) {
    let (done, took, ordinary) = compare(test);
    assert_eq!(done.output.status.code(), Some(1), "{kind}: {}", done.stderr());
    assert!(done.stderr().contains(words), "{kind}: no {words:?} in {}", done.stderr());
    assert!(done.stdout().is_empty() && done.stderr().starts_with("conclaude: "), "{kind}");
    assert!(done.stderr().len() < 40_000, "{kind}");
    figure(&format!(
        "{kind}: refused in {}, {:.1} MB (an ordinary call: {})",
        ms(took),
        done.peak,
        ms(ordinary)
    ));
    // Where an ordinary call is slow, so is the machine.
    let bound = ordinary + BOUND.max(ordinary * 40) * slowness();
    assert!(took <= bound, "{kind}: {} is more than {}", ms(took), ms(bound));
    assert!(done.peak < 64.0, "{kind}: {:.1} MB", done.peak);
}

fn text(yaml: impl AsRef<[u8]>) -> Test {
    Test::stop().file(".conclaude.yaml", yaml)
}

/// Each level repeats the one before it nine times.
fn alias_bomb(list: bool) -> String {
    let mut yaml = String::from(if list { "a0: &a0 [x]\n" } else { "a0: &a0 {k: x}\n" });
    for level in 1..30 {
        let before = format!("*a{}", level - 1);
        let inside = if list {
            format!("[{}]", [before.as_str(); 9].join(", "))
        } else {
            format!("{{{}}}", (0..9).map(|n| format!("k{n}: {before}")).collect::<Vec<_>>().join(", "))
        };
        yaml.push_str(&format!("a{level}: &a{level} {inside}\n"));
    }
    yaml
}

#[test]
fn texts_that_are_no_config() {
    let position = ".conclaude.yaml:";
    refused("an alias bomb of lists", &text(alias_bomb(true)), position);
    refused("an alias bomb of mappings", &text(alias_bomb(false)), position);
    let bomb = format!("{}subagentStop: {{commands: *a29}}\n", alias_bomb(true));
    refused("an alias bomb where commands should be", &text(bomb), position);
    refused("a merge key of itself", &text("a: &a {<<: *a}\nsubagentStop: {<<: *a}\n"), position);
    refused("an alias without an anchor", &text("subagentStop: *nowhere\n"), position);
    refused("lists 100,000 deep", &text("[".repeat(100_000)), position);
    refused("lists 1,000,000 deep", &text("[".repeat(1_000_000)), position);
    refused("mappings 100,000 deep", &text("{a: ".repeat(100_000)), position);
    let indented: String = (0..1_200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    refused("mappings 1,200 deep by indentation", &text(indented), position);
    refused("lists 100,000 deep by dashes", &text("- ".repeat(100_000)), position);
    refused("keys 100,000 deep", &text("? ".repeat(100_000)), position);
    refused("tabs", &text("subagentStop:\n\tcommands:\n\t\tcoder: []\n"), ".conclaude.yaml:2:");
    refused("duplicate keys", &text("maxBlocks: 1\nmaxBlocks: 2\n"), ".conclaude.yaml:2:1");
    refused("an unclosed quote", &text(format!("subagentStop: \"{}", "x".repeat(900_000))), position);
    refused("NULs", &text(vec![0; 10_000]), position);
    refused("invalid UTF-8", &text(b"maxBlocks: \xff\n"), "it is not UTF-8 at byte 11");
    let one_line = |keys: u32| (0..keys).map(|n| format!("key{n}: 1, ")).collect::<String>();
    refused("5,000 unknown keys on one line", &text(format!("{{{}}}\n", one_line(5_000))), "5000 problems");
    refused(
        "20,000 keys on one line",
        &text(format!("{{{}}}\n", one_line(20_000))),
        "more than 10000 values",
    );
    refused("a key of 900 kB", &text(format!("? {}\n: 1\n", "k".repeat(900_000))), position);
    refused(
        "a value of 900 kB",
        &text(format!("maxBlocks: {}\n", "v".repeat(900_000))),
        ".conclaude.yaml:1:12",
    );
    let far = format!("maxBlocks: 1 {}\nbogus: 1\n", "#".repeat(900_000));
    refused("a slip after a line of 900 kB", &text(far), ".conclaude.yaml:2:1");
    refused(
        "a slip at the end of a line of 900 kB",
        &text(format!("{{? {}a: 1}}\n", " ".repeat(900_000))),
        ".conclaude.yaml:1:900004",
    );
    let values = format!("maxBlocks: [{}]\n", "1,".repeat(500_000));
    refused("500,000 values", &text(values), position);
    let many: String = (0..60_000).map(|n| format!("key{n}: 1\n")).collect();
    refused("60,000 unknown keys", &text(many), position);
    refused("10 MB", &text("x".repeat(10 << 20)), "it has 10485760 bytes, at most 1048576 are read");
    refused("10 MB of comments", &text("# x\n".repeat(10 << 18)), "it has 10485760 bytes");
}

#[test]
fn files_that_are_no_config() {
    let at = |test: &Test| test.root().join(".conclaude.yaml");
    let fifo = Test::stop();
    assert!(std::process::Command::new("mkfifo").arg(at(&fifo)).status().unwrap().success());
    refused("a FIFO", &fifo, "it is not a regular file");
    refused("a folder", &Test::stop().file(".conclaude.yaml/x", ""), "it is not a regular file");
    let looped = Test::stop();
    std::os::unix::fs::symlink(".other", at(&looped)).unwrap();
    std::os::unix::fs::symlink(".conclaude.yaml", looped.root().join(".other")).unwrap();
    refused("a loop of links", &looped, "cannot read the config");
    let nowhere = Test::stop();
    std::os::unix::fs::symlink("nowhere", at(&nowhere)).unwrap();
    refused("a link to nowhere", &nowhere, "cannot read the config");
    let device = Test::stop();
    std::os::unix::fs::symlink("/dev/zero", at(&device)).unwrap();
    refused("a link to a device without end", &device, "it is not a regular file");
}

#[test]
fn a_config_that_may_not_be_read() {
    let test = Test::stop().config(ORDINARY);
    let config = test.root().join(".conclaude.yaml");
    std::fs::set_permissions(&config, PermissionsExt::from_mode(0o000)).unwrap();
    // A config of somebody else would not even be opened; only root can give it away.
    drop(std::os::unix::fs::chown(&config, Some(65_534), None));
    let output = crate::support::run_as_nobody(&test);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot read the config") && stderr.contains("Permission denied"), "{stderr}");
    figure("a config without permission: refused");
}

#[test]
fn what_editors_leave_behind_is_read() {
    for (kind, yaml) in [
        ("a byte order mark", format!("\u{feff}{ORDINARY}")),
        ("CRLF", ORDINARY.replace('\n', "\r\n")),
        ("both", format!("\u{feff}{}", ORDINARY.replace('\n', "\r\n"))),
    ] {
        let test = text(yaml.replace("':'", "touch ran.txt"));
        let (done, took, ordinary) = compare(&test);
        assert_eq!(done.output.status.code(), Some(0), "{kind}: {}", done.stderr());
        assert!(Path::new(&test.root().join("ran.txt")).exists(), "{kind}");
        figure(&format!("{kind}: read in {} (an ordinary call: {})", ms(took), ms(ordinary)));
    }
    // The position is that of the editor, also after a byte order mark.
    refused("a slip after CRLF", &text("maxBlocks: 1\r\nbogus: 1\r\n"), ".conclaude.yaml:2:1");
}
