//! The program that hooks run, in the packages of a project: agents may not write it, and may install it again.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::common::{Test, binary, run_in};

const PROGRAM: &str = "node_modules/@conclaude/cli-linux-x64/conclaude";

fn call(tool: &str, input: Value) -> Test {
    let test = Test::event("PreToolUse")
        .config("maxBlocks: 3\n")
        .file(PROGRAM, "")
        .file("node_modules/conclaude/package.json", "{}");
    test.file(".venv/bin/conclaude", "")
        .payload("tool_name", tool)
        .payload("tool_input", input)
        .env("PATH", "/usr/bin:/bin")
}

fn bash(command: &str) -> Test {
    call("Bash", json!({ "command": command }))
}

#[test]
fn a_subagent_may_not_write_the_program() {
    for path in [
        PROGRAM,
        "node_modules/conclaude/bin/conclaude.js",
        "node_modules/.pnpm/conclaude@0.3.0/x",
        ".venv/bin/conclaude",
    ] {
        let answer = call("Write", json!({"file_path": path, "content": ""})).run();
        assert!(answer.tool("deny").contains("belongs to conclaude's own"), "{path}");
    }
    for command in [
        "cp evil node_modules/@conclaude/cli-linux-x64/conclaude",
        "rm node_modules/@conclaude/cli-linux-x64/conclaude",
        "ln -sfn /tmp/evil node_modules/conclaude",
        "chmod -x .venv/bin/conclaude",
        "cp -r /tmp/evil/. node_modules/@conclaude",
        "mv evil .venv/bin/conclaude",
    ] {
        bash(command).run().tool("deny");
    }
    call("Write", json!({"file_path": "node_modules/left-pad/index.js", "content": ""})).run().silent();
    bash("rm -rf node_modules/left-pad dist").run().silent();
}

#[test]
fn the_folder_may_be_removed_where_the_path_has_a_native_program() {
    let bin = tempfile::tempdir().unwrap();
    let (path, program) = (format!("{}:/usr/bin:/bin", bin.path().display()), bin.path().join("conclaude"));
    for command in [
        "rm -rf node_modules",
        "rm -rf .venv && uv sync",
        "rm -rf node_modules/@conclaude",
        "rm -rf node_modules && npm ci",
    ] {
        let _ = fs::remove_file(&program);
        assert!(
            bash(command).env("PATH", &path).run().tool("ask").contains("no other on the PATH"),
            "{command}"
        );
        fs::write(&program, "#!/usr/bin/env node\n").unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        bash(command).env("PATH", &path).run().tool("ask");
        fs::remove_file(&program).unwrap();
        std::os::unix::fs::symlink(binary(), &program).unwrap();
        bash(command).env("PATH", &path).run().silent();
    }
}

#[test]
fn a_program_of_packages_is_registered_with_a_line_that_has_no_path_of_this_machine() {
    let test = Test::stop().config("maxBlocks: 3\n");
    let root = test.root();
    fs::create_dir_all(root.join(".venv/bin")).unwrap();
    fs::hard_link(binary(), root.join(".venv/bin/conclaude"))
        .or_else(|_| fs::copy(binary(), root.join(".venv/bin/conclaude")).map(|_| ()))
        .unwrap();
    let (code, out, _) = run_in(&root, &["install"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(!out.contains("warning"), "{out}");
    let settings = fs::read_to_string(root.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    insta::assert_snapshot!(settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap(), @r#"o=linux; [ -d /System ] && o=darwin; f() { c=$1/@conclaude/cli-$o-x64/conclaude; b=$1/@conclaude/cli-$o-arm64/conclaude; [ -x "$b" ] && { [ -x "$c" ] && [ "$(uname -m)" = x86_64 ] || c=$b; }; }; c=; d="${CLAUDE_PROJECT_DIR:-.}/.venv/bin"; [ -x "$c" ] || { c=$d/conclaude; [ -h "$d/python" ] && [ ! -e "$d/python" ] && c=; }; [ -x "$c" ] || { p=$(command -v conclaude) || exit 0; f "${p%/*}/../lib/node_modules/conclaude/node_modules"; [ -x "$c" ] || c=$p; }; exec "$c" Stop"#);
    let (_, out, _) = run_in(&root, &["install"]);
    assert!(out.contains("already has everything that is needed"), "{out}");
    let (_, out, _) = run_in(&root, &["uninstall"]);
    assert!(!root.join(".claude/settings.json").exists(), "{out}");
}
