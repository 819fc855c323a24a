//! The README's example runs as it stands there.

use std::path::Path;
use std::process::Command;

use crate::common::conclaude;

#[test]
fn the_example_of_trustworthy_steps_can_be_pasted() {
    let readme = include_str!("../../README.md");
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

/// A folder on the PATH in which a client of the tested version and this conclaude lie.
fn bin(folder: &Path) -> String {
    let bin = folder.join("bin");
    crate::common::program::script(bin.join("claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_conclaude"), bin.join("conclaude")).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |at: usize| words.get(at + 1) == Some(&"ms");
    let words = words.iter().enumerate().map(|(at, word)| if is_time(at) { "N" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn installing_looks_as_it_does_there() {
    let readme = include_str!("../../README.md");
    let block =
        readme.split("<!-- tested: install -->\n```console\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("my-project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("package.json"), r#"{"scripts": {"lint": "x"}}"#).unwrap();
    let path = bin(&home);
    let run = |verb: &str| {
        let output = conclaude()
            .arg(verb)
            .current_dir(&project)
            .env("PATH", &path)
            .env("HOME", &home)
            .env("XDG_STATE_HOME", home.join("state"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.replace(own.to_str().unwrap(), "/home/me/.cargo/bin/conclaude");
        text.replace(home.to_str().unwrap(), "/home/me")
    };
    let shown = format!("{}{}", run("init"), run("doctor"));
    for line in block.lines().filter(|line| !line.starts_with("$ ")) {
        let line = steady(line);
        assert!(shown.lines().any(|own| steady(own) == line), "{line:?} is not in\n{shown}");
    }
}
