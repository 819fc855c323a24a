//! A long audit trail, written faster than by as many events.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The size at which conclaude starts a new file, unless the config sets another.
const MAX_FILE_BYTES: usize = 16 << 20;

/// Writes records of earlier sessions in the format of docs/explanation/audit.md.
pub fn write(root: &Path, records: usize) {
    let folder = root.join(".conclaude/audit");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(root.join(".conclaude/.gitignore"), "*\n").expect("a file");
    let mut prev = "0".repeat(64);
    let (mut file, mut size) = (None, 0);
    for seq in 1..=records {
        let open = format!(
            r#"{{"seq":{seq},"time":"2026-01-01T10:00:00.000Z","event":"SubagentStop","session":"earlier","agent_id":"a{seq}","agent":"coder","step":"steps/00-{seq}.json","decision":"allowed","prev":"{prev}""#
        );
        prev = Sha256::digest(format!("{open}}}")).iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{open},\"hash\":\"{prev}\"}}\n");
        if size + line.len() > MAX_FILE_BYTES {
            (file, size) = (None, 0);
        }
        size += line.len();
        let file = file.get_or_insert_with(|| {
            BufWriter::new(File::create(folder.join(format!("audit-{seq:010}.jsonl"))).expect("a file"))
        });
        file.write_all(line.as_bytes()).expect("a line");
    }
}
