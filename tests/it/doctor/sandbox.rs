//! The sandbox that `enforce` needs.

use std::path::{Path, PathBuf};

use crate::common::environment::path_without_sandbox;
use crate::common::snapshot::steady;
use crate::common::{Test, conclaude_in, program, run_in};

const CONFIG: &str =
    "enforce: [sandbox]\npreToolUse: {unreadableFiles: ['.env*'], uneditableFiles: ['*.lock']}\n";

/// A sandbox that can be made, and refuses everything.
const GOOD: &str = "case \"$1\" in --version) echo bubblewrap 0.8.0;; *) echo tried;; esac";

/// A project in git whose rules are enforced.
fn project() -> Test {
    let test = Test::stop().config(CONFIG).file(".env", "KEY=1\n").file("Cargo.lock", "locked\n");
    git(&test.root(), &["init", "-q"]);
    assert_eq!(run_in(&test.root(), &["install", "--enforce"]).0, Some(0));
    test
}

fn git(root: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git").args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A folder with these programs, beside `git` and a shell.
fn programs(folder: &Path, scripts: &[(&str, &str)]) -> PathBuf {
    let bin = path_without_sandbox(&folder.join("bin"));
    for (name, script) in scripts {
        program::script(bin.join(name), format!("#!/bin/sh\n{script}\n"));
    }
    bin
}

/// The lines of doctor about the sandbox.
fn doctor(test: &Test, scripts: &[(&str, &str)], arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let bin = programs(folder.path(), scripts);
    let output = conclaude_in(&test.root()).arg("doctor").args(arguments).env("PATH", bin).output().unwrap();
    let text = steady(&String::from_utf8(output.stdout).unwrap(), &test.root());
    let mut is_about = false;
    let lines = text.lines().filter(|line| {
        let is_check = line.starts_with(['✓', '⚠', '✗']);
        is_about = if is_check {
            line.get(4..).unwrap_or_default().trim_start().starts_with("sandbox")
        } else {
            is_about && line.starts_with("   ")
        };
        is_about
    });
    lines.map(|line| format!("{line}\n")).collect()
}

const BOTH: [(&str, &str); 2] = [("bwrap", GOOD), ("socat", "echo; echo socat version 1.7.4.4 on")];

#[test]
fn a_sandbox_that_refuses_what_it_should() {
    let test = project();
    assert_eq!(
        doctor(&test, &BOTH, &["--yes"]),
        "✓ sandbox      its programs are installed: bwrap 0.8.0, socat 1.7.4.4\n\
         ✓ sandbox      a sandbox with these settings refuses what it should: .claude/settings.local.json, .env, Cargo.lock\n\
         ✓ sandbox      it holds for every command, with all rules that can be compiled\n\
         ✓ sandbox      git ignores now what the sandbox shows in place of missing files ([ROOT]/.git/info/exclude)\n"
    );
}

#[test]
fn what_the_sandbox_needs_and_lacks_is_reported_with_the_fix() {
    let test = project();
    run_in(&test.root(), &["doctor", "--yes"]);
    let text = doctor(&test, &[], &[]);
    for part in [
        "✗ sandbox      `bwrap` is not installed: Claude Code does not start with the settings of `enforce`",
        "→ apt-get install bubblewrap",
        "✗ sandbox      `socat` is not installed",
        "the settings have all rules that can be compiled, but the sandbox cannot run yet",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("holds for every command"), "{text}");
    let no_namespace = "case \"$*\" in --version) echo bubblewrap 0.8.0;; *) echo 'bwrap: No permissions to create new namespace' >&2; exit 1;; esac";
    let text = doctor(&test, &[("bwrap", no_namespace), BOTH[1]], &[]);
    assert!(text.contains("✗ sandbox      `bwrap` cannot make a user namespace, so every command of Claude fails: bwrap: No permissions"), "{text}");
    let leaks = "case \"$1\" in --version) echo bubblewrap 0.8.0;; *) echo used 1; echo tried;; esac";
    let text = doctor(&test, &[("bwrap", leaks), BOTH[1]], &[]);
    assert!(
        text.contains(
            "✗ sandbox      a sandbox with these settings allows reading .env (preToolUse.unreadableFiles \".env*\" in .conclaude.yaml:2)"
        ),
        "{text}"
    );
}

#[test]
fn settings_that_switch_the_sandbox_off_are_reported() {
    let test = project();
    run_in(&test.root(), &["doctor", "--yes"]);
    let path = test.root().join(".claude/settings.local.json");
    let settings = std::fs::read_to_string(&path).unwrap().replace("\"enabled\": true", "\"enabled\": false");
    std::fs::write(path, settings).unwrap();
    let text = doctor(&test, &BOTH, &[]);
    assert!(
        text.contains("guards ask as before: .claude/settings.local.json has `sandbox.enabled: false`"),
        "{text}"
    );
}

#[test]
fn tracked_files_that_commands_may_not_read_are_reported() {
    let test = project();
    git(&test.root(), &["add", ".env"]);
    let text = doctor(&test, &BOTH, &[]);
    assert!(
        text.contains("git tracks .env, which commands may not read")
            && text.contains("git rm --cached .env"),
        "{text}"
    );
}

#[test]
fn git_ignores_placeholders_only_if_the_user_agrees_and_each_once() {
    let test = project().file(".mcp.json", "{}\n");
    let list = test.root().join(".git/info/exclude");
    let before = std::fs::read_to_string(&list).unwrap();
    for arguments in [&[][..], &["--json"]] {
        doctor(&test, &BOTH, arguments);
        assert_eq!(std::fs::read_to_string(&list).unwrap(), before, "{arguments:?}");
    }
    doctor(&test, &BOTH, &["--yes"]);
    let after = std::fs::read_to_string(&list).unwrap();
    assert!(
        after.starts_with(&before) && after.contains("\n/.bashrc\n") && after.contains("\n/.claude/skills\n"),
        "{after}"
    );
    assert!(!after.contains(".mcp.json"), "one that exists is the user's");
    doctor(&test, &BOTH, &["--yes"]);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), after, "twice changes nothing");
}

#[test]
fn without_enforce_nothing_is_said_of_a_sandbox() {
    let test = Test::stop().config("preToolUse: {unreadableFiles: ['.env*']}\n");
    assert_eq!(doctor(&test, &[], &[]), "");
}

/// The options of `bwrap` in the probe.
fn probed(test: &Test) -> String {
    let file = test.root().join("probed");
    let keeps = format!(
        "case \"$1\" in --version) echo bubblewrap 0.8.0;; *) echo \"$@\" >> {}; echo tried;; esac",
        file.display()
    );
    doctor(test, &[("bwrap", &keeps), BOTH[1]], &[]);
    std::fs::read_to_string(file).unwrap()
}

/// It tried binds of its own, and so could not see what the settings lack.
#[test]
fn the_probe_has_the_binds_of_the_settings_and_no_others() {
    let test = project();
    let path = |name: &str| test.root().join(name).display().to_string();
    let binds = |text: &str| {
        let lock = path("Cargo.lock");
        let write = text.contains(&format!("--ro-bind {lock} {lock}"));
        let read = text.contains(&format!("--ro-bind /dev/null {}", path(".env")));
        let tries = text.contains(&format!(">> {lock}")) && text.contains(&format!("< {}", path(".env")));
        (write, read, tries)
    };
    assert_eq!(binds(&probed(&test)), (true, true, true));
    let settings = test.root().join(".claude/settings.local.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let without = text.replace("\"./Cargo.lock\",", "").replace("\"**/.env*\"", "");
    assert_ne!(text, without);
    std::fs::write(&settings, without).unwrap();
    std::fs::remove_file(test.root().join("probed")).unwrap();
    assert_eq!(binds(&probed(&test)), (false, false, true));
}

/// With the real `bwrap`, where there is one.
#[test]
fn settings_that_do_not_deny_a_file_fail_the_probe() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("key");
    std::fs::write(&file, "secret").unwrap();
    let path = file.to_str().unwrap();
    let config = format!("enforce: [sandbox]\npreToolUse: {{unreadableFiles: ['{path}']}}\n");
    let test = Test::stop().config(&config);
    assert_eq!(run_in(&test.root(), &["install", "--enforce"]).0, Some(0));
    let (_, out, _) = run_in(&test.root(), &["doctor"]);
    if !out.contains("its programs are installed") || out.contains("cannot make a user namespace") {
        return;
    }
    assert!(out.contains("a sandbox with these settings refuses what it should"), "{out}");
    let settings = test.root().join(".claude/settings.local.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace(&format!("\"{path}\""), "\"/nowhere\"")).unwrap();
    let (_, out, _) = run_in(&test.root(), &["doctor"]);
    assert!(out.contains("a sandbox with these settings allows reading"), "{out}");
}
