//! The README's example runs as it stands there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_example_of_trustworthy_steps_can_be_pasted() {
    let readme = include_str!("../README.md");
    let block = readme.split("<!-- tested: steps -->\n```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_conclaude")).parent().unwrap().display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-e", "-c", block])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("XDG_STATE_HOME", folder.path().join(".state-home"))
        .env_remove("CLAUDE_PROJECT_DIR")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    for part in [
        "<!-- DES-STEP-FILE: steps/01-01.json -->",
        "it may not stop yet",
        "✓ steps/01-01.json is complete",
        "DONE   14/14",
        "in order",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}\n{stderr}");
    }
}
