//! The README's examples run as they are printed there.

use std::path::Path;

use insta::assert_snapshot;

use crate::common::{Test, conclaude, scratch};

/// What is between a heading and the end of its fence.
fn fence<'a>(text: &'a str, start: &str) -> &'a str {
    text.split(start).nth(1).unwrap().split("```").next().unwrap()
}

#[test]
fn the_first_screen_shows_real_output() {
    let screen = include_str!("../../README.md").split("<!-- tested: first screen -->\n").nth(1).unwrap();
    let console = fence(screen, "```console\n");
    let lint = "#!/bin/sh\ntest -e fixed && exit\necho \"src/greeting.js:3:7  error  'unused' is assigned a value but never used\"\nexit 1\n";
    let test = Test::stop().config(fence(screen, "```yaml\n")).payload("agent_id", "ae7af48d32583d25f");
    let test = test.file(
        "main/subagents/agent-ae7af48d32583d25f.meta.json",
        r#"{"toolUseId":"toolu_1","agentType":"coder","description":"Write greeting"}"#,
    );
    crate::common::program::script(test.root().join("bin/npm"), lint);
    let path = bin(&test.root());
    let test = test.env("PATH", &path);
    std::fs::write(test.root().join("payload.json"), test.input()).unwrap();
    let line = console.lines().next().unwrap().strip_prefix("$ ").unwrap();
    let mut shell = test.program("sh");
    shell.args(["-c", line]).env("PATH", path);
    let done = test.run_as(shell).status(2);
    assert_eq!(console, format!("$ {line}\n{}$ echo $?\n2\n", done.stderr));
    assert!(done.read("answer.json").starts_with(r#"{"decision":"block","#));
    let done = done.again().file("fixed", "").run();
    let passed = done.message().replace("conclaude: ", "");
    assert!(screen.contains(&format!("``{passed}``")), "{passed}");
}

#[test]
fn the_example_of_trustworthy_steps_can_be_pasted() {
    let readme = include_str!("../../README.md");
    let block = fence(readme, "<!-- tested: steps -->\n```sh\n");
    let test = Test::stop();
    let folder = Path::new(env!("CARGO_BIN_EXE_conclaude")).parent().unwrap().display();
    let mut shell = test.program("sh");
    shell.args(["-e", "-c", block]).env_remove("CLAUDE_PROJECT_DIR");
    for (name, value) in [("NAME", "me"), ("EMAIL", "me@example.com")] {
        shell.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    shell.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    let done = test.run_as(shell).status(0);
    assert_snapshot!(done.steady(&done.stdout), @r#"
    created steps/01-01.json
    <!-- DES-VALIDATION: required -->
    <!-- DES-STEP-FILE: steps/01-01.json -->
    <!-- DES-AGENT: coder -->
    <!-- DES-PROJECT-ID: greeting -->

    You are the coder agent. Do step 01-01 of the project greeting.
    It is about: Say hello


    ---
    This task is gated by conclaude. Its step file is `steps/01-01.json`.
    - Phases left, in this order: RED, GREEN, COMMIT.
    - Record each phase as you do it; do not edit the JSON by hand:
      `conclaude des run steps/01-01.json PHASE -- COMMAND` runs a command and records PASS or FAIL from its exit code (RED and RED_* phases expect a failure);
      `conclaude des start steps/01-01.json PHASE`, then `conclaude des finish steps/01-01.json PHASE --pass|--fail --details "…"` for work without a command;
      `conclaude des skip steps/01-01.json PHASE --reason "NOT_APPLICABLE: …"`.
    - You may write only to `src/**`, and to the step file.
    - You may stop when every phase is recorded and the step is DONE. If you cannot finish, say so honestly: `conclaude des fail steps/01-01.json --reason "…"`; an admitted failure may stop.
    it fails, as it must
    ✗ INCOMPLETE_PHASE GREEN: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a reason that counts
    ✗ INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a reason that counts
    it may not stop yet
    ✓ steps/01-01.json is complete
    STEP              TASK   STATE  PHASES  LAST AGENT  BLOCKS
    steps/01-01.json  01-01  DONE   3/3     -           0
        1 [TIME] des new TODO step=steps/01-01.json
        2 [TIME] des start in progress step=steps/01-01.json phase=RED
        3 [TIME] des run PASS step=steps/01-01.json phase=RED
            `sh src/test.sh` exited with code 2
              src/test.sh: 1: .: cannot open ./src/greet.sh: No such file
        4 [TIME] des start in progress step=steps/01-01.json phase=GREEN
        5 [TIME] des run PASS step=steps/01-01.json phase=GREEN
            `sh src/test.sh` exited with code 0
        6 [TIME] des start in progress step=steps/01-01.json phase=COMMIT
        7 [TIME] des run PASS step=steps/01-01.json phase=COMMIT
            `git commit -q -m 'Say hello'` exited with code 0
    ✓ 7 records in order
    "#);
}

/// A folder on the PATH with Claude Code, in the version of the tests, and this conclaude.
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
fn installing_looks_as_the_readme_shows_it() {
    let readme = include_str!("../../README.md");
    let block = fence(readme, "<!-- tested: install -->\n```console\n");
    let folder = scratch();
    let home = folder.path().canonicalize().unwrap();
    let project = home.join("my-project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("package.json"), r#"{"scripts": {"lint": "eslint ."}}"#).unwrap();
    let path = bin(&home);
    for program in ["bin/npm", "my-project/node_modules/.bin/eslint"] {
        crate::common::program::script(home.join(program), "#!/bin/sh\n");
    }
    let run = |arguments: &[&str]| {
        let output = conclaude()
            .args(arguments)
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
    let shown = format!("{}{}", run(&["init", "--yes"]), run(&["doctor"]));
    for line in block.lines().filter(|line| !line.starts_with("$ ")) {
        let line = steady(line);
        assert!(shown.lines().any(|own| steady(own) == line), "{line:?} is not in\n{shown}");
    }
}

#[test]
fn seed_004_line_418_the_readme_says_what_is_tested_on_which_platform() {
    let readme = include_str!("../../README.md");
    let table = readme.split("| platform | what is tested |").nth(1).unwrap();
    for platform in ["| Linux", "| macOS", "| Windows"] {
        assert!(table.contains(platform), "{platform}");
    }
}
