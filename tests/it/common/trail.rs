//! Audit trails that no test has the time to record.

use std::fmt::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

/// A trail of this many records, of 40 agents in 4 sessions, each of the agents in one of them.
pub(crate) fn long_trail(root: &Path, records: u64) {
    let folder = root.join(".conclaude/audit");
    std::fs::create_dir_all(&folder).unwrap();
    let (mut prev, mut text, mut line) = ("0".repeat(64), String::new(), String::new());
    for seq in 1..=records {
        let time =
            jiff::Timestamp::from_millisecond(1_770_000_000_000 + i64::try_from(seq).unwrap() * 700).unwrap();
        let decision = ["allowed", "allowed", "blocked", "allowed", "denied", "allowed", "warned"]
            [usize::try_from(seq % 7).unwrap()];
        line.clear();
        write!(line, r#"{{"seq":{seq},"time":"{time}","event":"SubagentStop","session":"session-{}","agent_id":"a{}","agent":"coder","decision":"{decision}","findings":[{{"code":"PHASE_{}","what":"phase {seq} is missing","fix":"do it"}}],"commands":[{{"pattern":"*","run":"npm run lint -- {}","status":"exited with code 0","exit_code":0,"duration_ms":{}}}],"prev":"{prev}""#, seq % 4, seq % 40, seq % 5, seq % 30, seq % 5_000).unwrap();
        let mut hash = Sha256::new();
        hash.update(line.as_bytes());
        hash.update(b"}");
        prev.clear();
        hash.finalize().iter().for_each(|byte| write!(prev, "{byte:02x}").unwrap());
        writeln!(text, "{line},\"hash\":\"{prev}\"}}").unwrap();
    }
    std::fs::write(folder.join("audit-0000000001.jsonl"), text).unwrap();
}
