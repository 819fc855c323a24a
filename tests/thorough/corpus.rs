//! The corpus of the fuzz targets, and mutations of it, as ordinary tests: nothing panics, nothing takes long.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its figure"
)]

#[path = "../../fuzz/inputs.rs"]
mod inputs;

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use test_support::{cases, processor_time};

/// No input of this size may take this much processor time, in a debug build.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The inputs of a target, with their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 8, "the corpus of {target} has {} inputs", found.len());
    found
}

/// One change to an input.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Remove(usize, usize),
    Set(usize, u8),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize, u8),
    Splice(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    // Words that mean something to one reader or another.
    let words = prop::sample::select(vec![
        "\"",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\n",
        "\r\n",
        "\t",
        "\\",
        "\\ud800",
        "\u{feff}",
        "&a ",
        "*a",
        "<<: ",
        "- ",
        "? ",
        "# ",
        "---\n",
        "...",
        "|\n",
        "null",
        "1e999",
        "-0",
        "<!--",
        "-->",
        "DES-VALIDATION: required",
        "\u{1b}[31m",
        "\0",
        "\"hash\":\"",
        "$(",
        ")",
        "`",
        "${x:-",
        "<<EOF\n",
        "; do ",
        "; done",
        " && ",
        "$((",
        "'",
    ]);
    let bytes = prop_oneof![
        words.prop_map(|word| word.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..9)
    ];
    prop_oneof![
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 1usize..40).prop_map(|(at, length)| Change::Remove(at, length)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), bytes).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<usize>(), 1usize..40, 1u8..60)
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        (any::<usize>(), any::<usize>()).prop_map(|(at, from)| Change::Splice(at, from)),
    ]
}

fn changed(mut bytes: Vec<u8>, change: &Change, other: &[u8]) -> Vec<u8> {
    let at = |position: usize| position % (bytes.len() + 1);
    match change {
        Change::Cut(position) => bytes.truncate(at(*position)),
        Change::Remove(position, length) => {
            let start = at(*position);
            bytes.drain(start..(start + length).min(bytes.len()));
        }
        Change::Set(position, byte) => {
            let position = at(*position);
            if let Some(old) = bytes.get_mut(position) {
                *old = *byte;
            }
        }
        Change::Insert(position, more) => {
            let position = at(*position);
            bytes.splice(position..position, more.iter().copied());
        }
        Change::Repeat(position, length, times) => {
            let start = at(*position);
            let part = bytes[start..(start + length).min(bytes.len())].repeat((*times).into());
            bytes.splice(start..start, part);
        }
        Change::Splice(position, from) => {
            bytes.truncate(at(*position));
            bytes.extend_from_slice(&other[from % (other.len() + 1)..]);
        }
    }
    bytes
}

/// Runs the corpus of a target, and this number of mutations of it.
fn run(target: &str, input: fn(&[u8]), cases: u32) {
    let corpus = corpus(target);
    let mut longest = (Duration::ZERO, String::new());
    let mut timed = |name: &str, bytes: &[u8]| {
        let before = processor_time();
        input(bytes);
        let took = processor_time() - before;
        assert!(took < MAX_TIME, "{target}, {name} took {took:?}");
        if took > longest.0 {
            longest = (took, name.to_owned());
        }
    };
    for (name, bytes) in &corpus {
        timed(name, bytes);
        // Windows' line ends, and a byte order mark, change nothing about what may happen.
        timed(name, &[b"\xef\xbb\xbf", &bytes[..]].concat());
    }
    let settings = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (0..corpus.len(), 0..corpus.len(), prop::collection::vec(change(), 1..6));
    let timed = std::cell::RefCell::new(timed);
    TestRunner::new(settings)
        .run(&strategy, |(one, other, changes)| {
            let mut bytes = corpus[one].1.clone();
            for change in &changes {
                bytes = changed(bytes, change, &corpus[other].1);
            }
            (timed.borrow_mut())(&corpus[one].0, &bytes);
            Ok(())
        })
        .unwrap();
    println!(
        "figure: {target}: {} inputs and {cases} mutations, {:?} at most ({})",
        corpus.len(),
        longest.0,
        longest.1
    );
}

#[test]
fn payloads() {
    run("payload", inputs::payload, cases(600, 12_000));
}

#[test]
fn configs() {
    run("config", inputs::config, cases(300, 6_000));
}

#[test]
fn transcripts() {
    run("transcript", inputs::transcript, cases(300, 6_000));
}

#[test]
fn markers() {
    run("marker", inputs::marker, cases(600, 12_000));
}

#[test]
fn steps() {
    run("step", inputs::step, cases(600, 12_000));
}

#[test]
fn shell_commands() {
    run("shell", inputs::shell, cases(1_500, 30_000));
}

#[test]
fn audit_trails() {
    run("audit", inputs::audit, cases(300, 6_000));
}
