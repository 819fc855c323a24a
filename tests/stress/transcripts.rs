//! A gigabyte of transcripts through `replay`, of which a part is about rules: in memory that does not grow with them.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Test, binary};
use crate::common::transcripts::Transcripts;
use crate::support::{alone, figure, watch};

const BYTES: usize = 1 << 30;
const FILES: usize = 16;

/// Lines as Claude Code writes them: most bytes are snapshots of requests.
const LINES: &str = include_str!("../fixtures/captures/transcript-permissions.jsonl");

const CONFIG: &str = "preToolUse: {uneditableFiles: ['.env*'], toolUsageValidation: [{tool: Bash, commandPattern: '*', action: ask}]}";

/// So many bytes, in files that are given to all cores.
fn write_transcripts(test: &Test, bytes: usize, snapshot: &str) {
    for number in 0..FILES {
        let path = Transcripts::of(&test.root(), &format!("session-{number}")).path(None);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
        let mut written = 0;
        while written < bytes / FILES {
            file.write_all(LINES.as_bytes()).unwrap();
            file.write_all(snapshot.as_bytes()).unwrap();
            written += LINES.len() + snapshot.len();
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
    write_transcripts(&test, BYTES, &snapshot);
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

/// The processor time that a replay takes, in seconds, on these cores.
fn processor_time(test: &Test, folder: &Path, cores: Option<&str>) -> f64 {
    // `times` prints what the shell took, and then what its children took.
    let script = r#"log=$1; shift; "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }; times"#;
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(test.root().join("replayed"));
    command.args(cores.map(|cores| ["taskset", "-c", cores]).into_iter().flatten());
    command.arg(binary()).arg("replay").arg(folder).current_dir(test.root());
    command.env("HOME", test.root()).env_remove("CLAUDE_CONFIG_DIR");
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    let seconds = |time: &str| -> f64 {
        let (minutes, seconds) = time.strip_suffix('s').unwrap().split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    };
    shown.lines().nth(1).unwrap().split_whitespace().map(seconds).sum()
}

#[test]
fn many_cores_replay_with_about_the_processor_time_of_one() {
    let _alone = alone();
    let test = Test::event("replay").config(CONFIG);
    write_transcripts(&test, 96 << 20, "");
    let folder = folder(&test);
    let one = processor_time(&test, &folder, Some("0"));
    let all = processor_time(&test, &folder, None);
    figure(&format!("100 MB of messages: {one:.2} s of processor time on one core, {all:.2} s on all"));
    assert!(all < one * 2.0, "{all} s on all cores, {one} s on one: they wait for each other");
}
