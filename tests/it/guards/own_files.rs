//! Guards of conclaude's own files, program and registration.

use serde_json::json;

use super::tool;
use crate::common::Test;

#[test]
fn our_own_files_are_not_for_subagents_and_asked_about_on_the_main_thread() {
    let write = || tool("{}\n", "Write", json!({"file_path": ".conclaude.yaml", "content": ""}));
    write().run().tool("ask");
    write().payload("agent_id", "a1").payload("agent_type", "coder").run().tool("deny");
    tool("{}\n", "Read", json!({"file_path": ".conclaude.yaml"})).run().silent();
}

#[test]
fn a_subagent_does_not_switch_conclaude_off_and_the_main_thread_asks() {
    let run = |command: &str| tool("{}\n", "Bash", json!({ "command": command }));
    let by_agent = |command: &str| run(command).payload("agent_id", "a1").payload("agent_type", "coder");
    insta::assert_snapshot!(by_agent("cd x && conclaude uninstall").run().tool("deny"), @"`conclaude uninstall` changes conclaude's own registration, trust, state or records. Leave it as it is, and report what you would have changed. (built-in: conclaude's own files)");
    insta::assert_snapshot!(run("env A=1 /usr/local/bin/conclaude trust -y").run().tool("ask"), @"`/usr/local/bin/conclaude trust -y` changes conclaude's own registration, trust, state or records. Allow it only if you want conclaude's rules, registration or records to change. (built-in: conclaude's own files)");
    for command in ["bash -c 'conclaude install'", "X=conclaude; $X uninstall", "sudo conclaude init --force"]
    {
        by_agent(command).run().tool("deny");
    }
    for command in ["conclaude validate", "conclaude install --dry-run", "conclaude des check s.json"] {
        by_agent(command).run().silent();
    }
}

#[test]
fn git_does_not_remove_our_own_files_unseen() {
    let test = Test::event("PreToolUse").config("preToolUse: {worktreeFence: true}\n");
    let root = test.root();
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git").current_dir(&root).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", ".conclaude.yaml"]);
    git(&["-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x"]);
    let mut test = test
        .file(".conclaude/.gitignore", "*\n")
        .file(".conclaude/audit/x.jsonl", "")
        .payload("tool_name", "Bash");
    let run = |test: Test, command: &str| test.payload("tool_input", json!({ "command": command })).run();
    // What is ours is ignored, or tracked.
    for command in ["git clean -fd", "git stash -u", "git clean -ndx", "git checkout ."] {
        test = run(test, command).silent().again();
    }
    for command in ["git clean -fdx", "git clean -fdX", "git stash -a", "git stash push --all"] {
        let done = run(test, command);
        assert!(done.tool("deny").contains("conclaude's own"), "{command}");
        test = done.again();
    }
    git(&["rm", "-q", "--cached", ".conclaude.yaml"]);
    let done = run(test, "git clean -fd");
    assert!(done.tool("deny").contains(".conclaude.yaml"));
    let main = done.again().without("agent_id").without("agent_type");
    run(main, "git clean -fdx").tool("ask");
}

/// Each of these changed what an agent is held to.
#[cfg(unix)]
#[test]
fn own_files_are_as_well_protected_as_guarded_ones() {
    let program = env!("CARGO_BIN_EXE_conclaude");
    let project = || {
        let test = Test::event("PreToolUse").config("preToolUse: {uneditableFiles: [keep]}\n");
        test.file("e/.conclaude.yaml", "").file("README.md", "").payload("tool_name", "Bash")
    };
    let copied = project();
    std::fs::copy(program, copied.root().join("other")).unwrap();
    std::os::unix::fs::symlink(program, copied.root().join("link")).unwrap();
    let mut test = copied;
    for command in [
        "python3 -c \"open('.conclaude.yaml','w').write('')\"",
        "perl -e 'unlink \".conclaude.yaml\"'",
        "frobnicate --fix .conclaude.yaml",
        "cp -rT e .",
        "conclaude audit export -o .conclaude.yaml",
        "conclaude report --output=.conclaude.yaml",
        "./bin/conclaud? uninstall",
        "./other uninstall",
        "./link trust --yes",
        "cp /usr/bin/conclaude ./zz && ./zz uninstall",
        "ln -s /usr/bin/conclaude zz; ./zz audit reset --yes",
        "cat /usr/bin/conclaude > zz; ./zz $(echo trust)",
        "xargs conclaude < README.md",
        "npx -y conclaude@latest trust --yes",
        &format!("rm -f {program}"),
        &format!("mv {program} /tmp/elsewhere"),
        &format!("cp /bin/true {program}"),
        &format!("chmod -x {program}"),
        "cp /usr/bin/conclaude zz && PATH=. zz uninstall",
        "xargs -a list conclaude",
        "python3 -c \"import os; os.execlp('conclaude', 'x', 'uninstall')\"",
        "python3 -c \"import json; json.dump({}, open('.conclaude' + '.yaml', 'w'))\"",
        "python3 -c \"import os; c='conclaude uninstall'; os.system(c)\"",
    ] {
        let answer = test.payload("tool_input", json!({"command": command})).run();
        assert!(answer.tool("deny").contains("conclaude's own"), "{command}");
        test = answer.again();
    }
    for command in [
        "conclaude validate .conclaude.yaml",
        "echo ls > run.sh; chmod +x run.sh; ./run.sh $X *.txt",
        "conclaude explain PreToolUse --file .conclaude.yaml",
        "cat .conclaude.yaml",
        "./gradlew install",
        "./configure && make install",
        "./link validate",
        "npm init -y",
        "conclaude report -o report.html",
        "python3 -c \"print('README.md')\"",
        "frobnicate README.md",
    ] {
        test = test.payload("tool_input", json!({"command": command})).run().silent().again();
    }
}

/// A later command went through the link, and the settings came with the folder that they were in.
#[cfg(unix)]
#[test]
fn a_link_to_a_folder_leads_a_later_command_to_nothing_protected() {
    let config = "preToolUse: {uneditableFiles: ['src/gen/**'], unreadableFiles: ['private/**']}\n";
    let mut test = Test::event("PreToolUse").config(config).payload("tool_name", "Bash");
    for file in
        ["src/gen/a.py", "src/b.py", "private/k.txt", "docs/a.md", "n/settings.json", ".claude/settings.json"]
    {
        test = test.file(file, "");
    }
    for command in [
        "ln -s src d; rm -rf d/gen",
        "ln -s src d && echo z > d/gen/a.py",
        "ln -s private l; cat l/k.txt",
        "ln -s private d; cd d; cat k.txt",
        "ln -s .claude z; echo {} > z/settings.json",
        "cp -rT n .claude",
        "CDPATH=src; cd gen; echo z > a.py",
        "export CDPATH=src; cd gen && rm a.py",
        "jobs -x cat private/k.txt",
        "jobs -x rm src/gen/a.py",
    ] {
        let answer = test.payload("tool_input", json!({"command": command})).run();
        assert!(!answer.stdout.is_empty(), "{command}");
        test = answer.again();
    }
    for command in [
        "ln -s docs d; cat d/a.md",
        "ln -s src d",
        "jobs -l",
        "jobs",
        "cd docs && cat a.md",
        "mkdir -p .claude/commands",
    ] {
        test = test.payload("tool_input", json!({"command": command})).run().silent().again();
    }
    std::fs::remove_dir_all(test.root().join(".claude")).unwrap();
    for command in ["mv n .claude", "ln -s n .claude", "cp -r n .claude"] {
        let answer = test.payload("tool_input", json!({"command": command})).run();
        assert!(answer.tool("deny").contains("conclaude's own"), "{command}");
        test = answer.again();
    }
}

#[test]
fn code_that_replaces_our_folder_or_runs_us_after_many_words_is_asked_about() {
    let run = |command: &str| {
        let test = tool("{}\n", "Bash", json!({ "command": command }));
        test.file(".claude/settings.json", "{}").file("a.txt", "").run()
    };
    for command in [
        "python3 -c \"from pathlib import Path; Path('.claude').replace('x')\"",
        "python3 -c \"from os import replace; replace('.claude', 'x')\"",
        "python3 -c \"import os as o; o.replace('.claude', 'x')\"",
        "tmux new -d 'conclaude --a a --b b --c c --d d allow 3; conclaude allow 3'",
        "tmux new -d 'conclaude allow 3; ls --help'",
        "python3 -c \"import subprocess as s; s.run(['conclaude',\n 'allow', '3'])\"",
    ] {
        let question = run(command).tool("ask");
        assert!(question.contains("conclaude's own"), "{command}: {question}");
    }
    for command in [
        "python3 -c \"print(open('a.txt').read().replace('.', ','))\"",
        "tmux new -d 'conclaude validate; ls'",
        "tmux new -d 'conclaude install --dry-run'",
    ] {
        run(command).silent();
    }
}
