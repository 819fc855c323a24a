//! Commands that print more than anybody can read, and what no terminal should see.

use std::time::Duration;

use serde_json::Value;

use crate::common::Test;
use crate::support::{figure, watch};

/// What conclaude may hold while a command floods it, in MB.
const MEMORY: f64 = 20.0;

const HUNDRED_MB: &str = "head -c 104857600 /dev/zero";

/// Runs a script that floods; the answer as users see it.
fn flood(kind: &str, script: &str) -> String {
    let config =
        "subagentStop: {commands: {'*': [{run: sh ./flood.sh, showStdout: true, showStderr: true}]}}\n";
    let test = Test::stop().config(config).file("flood.sh", script);
    let done = watch(&test);
    assert!(done.output.status.success(), "{kind}: {}", done.stderr());
    assert!(done.peak > 0.0 && done.peak < MEMORY, "{kind}: {:.1} MB", done.peak);
    // It ends, and that is all: how fast is the machine's business.
    assert!(done.time < Duration::from_secs(300), "{kind}");
    let answer: Value = serde_json::from_str(done.stdout()).unwrap();
    let message = answer["systemMessage"].as_str().unwrap().to_owned();
    for shown in [&message, done.stderr()] {
        let bad = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(bad, None, "{kind}: a control character in {shown:?}");
    }
    assert!(message.encode_utf16().count() < 10_000, "{kind}");
    figure(&format!("{kind}: {:.1} MB of memory at most, {:.1} s", done.peak, done.time.as_secs_f64()));
    message
}

#[test]
fn floods_stay_in_bounded_memory() {
    let lines = "yes 'a line of a flood' | head -c 104857600";
    assert!(flood("100 MB of lines on stdout", lines).contains("lines left out"));
    assert!(flood("100 MB of lines on stderr", &format!("({lines}) >&2")).contains("lines left out"));
    let both = format!("({lines}) & ({lines}) >&2 & wait");
    assert_eq!(flood("100 MB of lines on both", &both).matches("lines left out").count(), 2);
}

#[test]
fn floods_without_a_newline_stay_in_bounded_memory() {
    let endless = format!("{HUNDRED_MB} | tr '\\0' x");
    assert!(flood("100 MB without a newline", &endless).contains("bytes left out"));
    let both = format!("({endless}) & ({endless}) >&2 & wait");
    assert_eq!(flood("100 MB without a newline on both", &both).matches("bytes left out").count(), 2);
}

#[test]
fn bytes_that_are_no_text_are_cleaned_before_anybody_sees_them() {
    flood("100 MB of NULs", HUNDRED_MB);
    let invalid = flood("100 MB of invalid UTF-8", &format!("{HUNDRED_MB} | tr '\\0' '\\377'"));
    assert!(invalid.contains('\u{fffd}'));
    let random = "head -c 20971520 /dev/urandom; head -c 20971520 /dev/urandom >&2";
    flood("20 MB of noise on both", random);
    let escapes = r#"e=$(printf '\033[31mred\033[0m \033]0;title\007 \033]8;;http://x\033\\link \302\233 \360\237\230\200')
yes "$e" | head -c 104857600; yes "$e" | head -c 1048576 >&2"#;
    let cleaned = flood("100 MB of terminal escapes", escapes);
    assert!(cleaned.contains("red") && cleaned.contains("link"), "{cleaned}");
    assert!(!cleaned.contains("[31m") && !cleaned.contains("title"), "{cleaned}");
}
