//! A gigabyte of transcripts through `replay`, of which a part is about rules: in memory that does not grow with them.

use std::io::{BufWriter, Write as _};

use crate::common::Test;
use crate::common::transcripts::Transcripts;
use crate::support::{alone, figure, watch};

const BYTES: usize = 1 << 30;
const FILES: usize = 16;

/// Lines as Claude Code writes them: most bytes are snapshots of requests.
const LINES: &str = include_str!("../fixtures/captures/transcript-permissions.jsonl");

const CONFIG: &str = "preToolUse: {uneditableFiles: ['.env*'], toolUsageValidation: [{tool: Bash, commandPattern: '*', action: ask}]}";

fn write_transcripts(test: &Test) {
    let snapshot =
        format!("{{\"type\":\"api-request-shape\",\"tools\":\"{}\"}}\n", "x".repeat(LINES.len() / 2));
    for number in 0..FILES {
        let path = Transcripts::of(&test.root(), &format!("session-{number}")).path(None);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
        let mut written = 0;
        while written < BYTES / FILES {
            file.write_all(LINES.as_bytes()).unwrap();
            file.write_all(snapshot.as_bytes()).unwrap();
            written += LINES.len() + snapshot.len();
        }
    }
}

#[test]
fn a_gigabyte_of_transcripts_is_replayed_in_constant_memory() {
    let _alone = alone();
    let test = Test::event("replay").config(CONFIG);
    write_transcripts(&test);
    let folder = Transcripts::of(&test.root(), "session").path(None).parent().unwrap().to_owned();
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
