//! A gigabyte of transcripts through `replay`, and a part is about rules: in memory that does not grow with them.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use crate::common::transcripts::Transcripts;
use crate::common::{Test, binary};
use crate::support::{alone, figure, slowness, watch};

const BYTES: usize = 1 << 30;
const FILES: usize = 16;

/// Lines as Claude Code writes them: most bytes are snapshots of requests.
const LINES: &str = include_str!("../fixtures/captures/transcript-permissions.jsonl");

const CONFIG: &str = "preToolUse: {uneditableFiles: ['.env*'], toolUsageValidation: [{tool: Bash, commandPattern: '*', action: ask}]}";

/// This number of bytes, in files that are given to all cores.
fn write_transcripts(test: &Test, bytes: usize, lines: &str) {
    for number in 0..FILES {
        let path = Transcripts::of(&test.root(), &format!("session-{number}")).path(None);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
        let mut written = 0;
        while written < bytes / FILES {
            file.write_all(lines.as_bytes()).unwrap();
            written += lines.len();
        }
    }
}

fn folder(test: &Test) -> PathBuf {
    Transcripts::of(&test.root(), "session").path(None).parent().unwrap().to_owned()
}

#[test]
fn a_gigabyte_of_transcripts_is_replayed_in_constant_memory() {
    let _alone = alone();
    let test = Test::event("replay").config(CONFIG);
    let snapshot =
        format!("{{\"type\":\"api-request-shape\",\"tools\":\"{}\"}}\n", "x".repeat(LINES.len() / 2));
    write_transcripts(&test, BYTES, &format!("{LINES}{snapshot}"));
    let folder = folder(&test);
    let watched = watch(&test.flag(folder.to_str().unwrap()));
    assert!(watched.output.status.success(), "{}", watched.stderr());
    assert!(watched.stdout().contains("16 sessions (16 transcripts, 107"), "{}", watched.stdout());
    figure(&format!(
        "1 GB of transcripts: {:.0} MB/s, {:.0} MB of memory",
        BYTES as f64 / 1e6 / watched.time.as_secs_f64(),
        watched.peak
    ));
    assert!(watched.peak < 96.0, "{} MB", watched.peak);
}

/// What a replay took, in seconds.
struct Times {
    wall: f64,
    processor: f64,
}

/// Replays on these cores, or on all.
fn replay(test: &Test, cores: Option<&str>) -> Times {
    // `times` prints what the shell took, and then what its children took.
    let script = r#"log=$1; shift; "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; times"#;
    let mut command = test.program("sh");
    command.args(["-c", script, "sh"]).arg(test.root().join("replayed"));
    command.args(cores.map(|cores| ["taskset", "-c", cores]).into_iter().flatten());
    command.arg(binary()).arg("replay").arg(folder(test)).current_dir(test.root());
    let started = Instant::now();
    let output = command.output().unwrap();
    let wall = started.elapsed().as_secs_f64();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    let seconds = |time: &str| -> f64 {
        let (minutes, seconds) = time.strip_suffix('s').unwrap().split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    };
    let processor = shown.lines().nth(1).unwrap().split_whitespace().map(seconds).sum();
    Times { wall, processor }
}

/// The messages alone, as short as they are.
fn messages() -> String {
    let is_message =
        |line: &&str| line.contains(r#""type":"user""#) || line.contains(r#""type":"assistant""#);
    LINES.lines().filter(is_message).flat_map(|line| [line, "\n"]).collect()
}

/// All lines, with as much text in the results of tools as files and outputs have.
fn with_files() -> String {
    let text: String = include_str!("transcripts.rs").chars().take(6_000).collect();
    let filled = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        let blocks = entry.pointer_mut("/message/content").and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten().filter(|block| block["type"] == "tool_result") {
            if let Value::String(answer) = &mut block["content"] {
                answer.push_str(&text);
            }
        }
        if let Some(result) = entry.get_mut("toolUseResult") {
            *result = serde_json::json!({"type": "text", "file": {"content": &text}});
        }
        format!("{entry}\n")
    };
    LINES.lines().map(filled).collect()
}

#[test]
fn many_cores_replay_with_about_the_processor_time_of_one() {
    const BYTES: usize = 400_000_000;
    let _alone = alone();
    for (what, lines) in [("messages alone", messages()), ("with files in them", with_files())] {
        let test = Test::event("replay").config(CONFIG);
        write_transcripts(&test, BYTES / slowness() as usize, &lines);
        let (one, all) = (replay(&test, Some("0")), replay(&test, None));
        let speed = |took: &Times| BYTES as f64 / f64::from(slowness()) / 1e6 / took.wall;
        figure(&format!(
            "transcripts, {what}: {:.0} MB/s on one core ({:.2} s of processor time), {:.0} MB/s on all ({:.2} s)",
            speed(&one),
            one.processor,
            speed(&all),
            all.processor
        ));
        let ratio = all.processor / one.processor;
        assert!(ratio < 2.0, "{ratio} times the processor time on all cores: they wait for each other");
    }
}
