//! Guards and an agent that works in a git worktree of its own.

use serde_json::json;

use crate::common::Test;

#[test]
fn an_agent_in_a_worktree_may_write_where_the_environment_keeps_temporary_files() {
    let other = crate::common::scratch();
    let (temporary, elsewhere) = (other.path().join("tmp"), other.path().join("elsewhere"));
    std::fs::create_dir_all(&temporary).unwrap();
    let test = Test::event("PreToolUse").file(".claude/worktrees/agent-a1b2c3/x", "");
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let mut test = test.payload("cwd", worktree).payload("tool_name", "Write");
    for variable in ["TMPDIR", "CLAUDE_CODE_TMPDIR"] {
        let write = |test: Test, folder: &std::path::Path| {
            test.payload("tool_input", json!({"file_path": folder.join("notes.md")})).run()
        };
        let done = write(test.env(variable, temporary.to_str().unwrap()), &temporary).silent();
        let done = write(done.again(), &elsewhere);
        assert!(done.tool("deny").contains("worktreeFence"), "{variable}");
        // A variable that is all of the disk frees nothing.
        let done = write(done.again().env(variable, "/"), &temporary);
        assert!(done.tool("deny").contains("worktreeFence"), "{variable}");
        test = done.again().without_env(variable);
    }
}

/// A shell command of an agent in its worktree.
fn in_worktree(command: &str) -> Test {
    let test = Test::event("PreToolUse").file(".claude/worktrees/agent-a1b2c3/x", "").file("src/a.ts", "x\n");
    let root = test.root();
    let worktree = root.join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let command = command.replace("ROOT", &root.display().to_string());
    test.payload("cwd", worktree)
        .payload("tool_name", "Bash")
        .payload("tool_input", json!({ "command": command }))
}

#[test]
fn an_agent_in_a_worktree_does_not_remove_files_of_the_project_with_git() {
    for command in ["git -C ROOT rm -f src/a.ts", "git -C ROOT checkout -m src/a.ts"] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
    in_worktree("git rm -f x").run().silent();
}

#[test]
fn an_agent_in_a_worktree_leaves_the_projects_own_checkout_alone() {
    for command in [
        "git -C ROOT reset --soft HEAD~1",
        "git -C ROOT restore src/a.ts",
        "git -C ROOT merge topic",
        "git -C ROOT switch topic",
        "git -C ROOT apply x.diff",
        "git -C ROOT commit -am x",
        "git -C ROOT cherry-pick abc",
        "git --git-dir=ROOT/.git --work-tree=ROOT checkout topic",
        "git --git-dir=ROOT/.git reset topic",
        "GIT_DIR=ROOT/.git git reset topic",
        "cd ROOT && git merge topic",
        "cd ../../.. && git pull",
        "patch -d ROOT -p1 -i x.diff",
        "patch -d ROOT src/a.ts x.diff",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
    for command in [
        "git merge topic",
        "git commit -am x",
        "git -C . switch topic",
        "git -C ROOT log --oneline",
        "git -C ROOT diff HEAD",
        "git -C ROOT fetch",
        "git -C ROOT/.claude/worktrees/agent-a1b2c3 merge topic",
        "cd ROOT/.claude/worktrees/agent-a1b2c3 && git commit -am x",
        "mkdir -p sub && cd sub && git add .",
    ] {
        in_worktree(command).run().silent();
    }
}

#[test]
fn an_agent_in_a_worktree_names_the_directory_that_it_changes() {
    for command in [
        "git -C \"$R\" reset --hard",
        "git -C \"$(git worktree list | head -1)\" merge topic",
        "git --git-dir=\"$R\" checkout topic",
        "cd \"$(cat where)\" && echo x > a",
        "cd \"$R\" && git merge topic",
        "cd \"$R\" && rm a",
    ] {
        let reason = in_worktree(command).run().tool("ask");
        assert!(reason.contains("this agent's worktree"), "{command}: {reason}");
    }
    for command in ["git -C \"$R\" log", "cd \"$R\" && cat a", "cat \"$X/a\""] {
        in_worktree(command).run().silent();
    }
    for command in [
        "git -C ROOT format-patch -1",
        "git -C ROOT filter-branch -f HEAD",
        "git -C ROOT merge-file a b c",
        "git -C ROOT lfs pull",
        "git -C ROOT subtree pull --prefix x y z",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
}

#[test]
fn what_all_worktrees_share_is_outside_of_an_agents_worktree() {
    let test = in_worktree("echo x > \"$(git rev-parse --git-common-dir)/../src/a.ts\"");
    let root = test.root();
    std::fs::remove_dir_all(root.join(".claude/worktrees")).unwrap();
    for arguments in [
        ["init", "-q", "."].as_slice(),
        &["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x"],
        &["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3"],
    ] {
        let status = std::process::Command::new("git").current_dir(&root).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }
    let denied = test.run();
    assert!(denied.tool("deny").contains("worktreeFence"));
    let command = "cd \"$(git rev-parse --git-common-dir)/..\" && rm src/a.ts";
    let denied = denied.again().payload("tool_input", json!({ "command": command })).run();
    assert!(denied.tool("deny").contains("worktreeFence"));
}

#[test]
fn an_agent_in_a_worktree_does_not_leave_it_by_what_the_shell_knows_of_directories() {
    for command in [
        "builtin cd ../../..; touch zz",
        "command cd ../../.. && touch zz",
        "cd ${PWD%/*}; touch zz",
        "touch ${PWD%/.claude*}/zz",
        "touch \"$(dirname \"$PWD\")\"/zz",
        "touch \"$(dirname \"$(dirname \"$PWD\")\")\"/zz",
        "touch $(realpath ../../..)/zz",
        "root=$(cd ../../.. && pwd); touch $root/zz",
        "touch $(cd ../../..; pwd)/zz",
        "cd ROOT/src; cd -; touch $OLDPWD/zz",
        "pushd ROOT/src; popd; touch $OLDPWD/zz",
        "cd ROOT/src && cd - && touch ~-/zz",
        "touch ~+/../../../zz",
        "HOME=ROOT; cd; touch zz",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
    for command in [
        "touch ~+/zz",
        "touch \"$(pwd)/zz\"",
        "root=$(cd . && pwd); touch $root/zz",
        "cd ../../..; cd \"$OLDPWD\" && touch zz",
        "ls \"$(dirname \"$PWD\")\"",
        "echo ${PWD##*/} > name",
    ] {
        in_worktree(command).run().silent();
    }
}

#[test]
fn an_agent_in_a_worktree_writes_no_output_outside_of_it() {
    for command in [
        "gcc -o ../../../zz a.c",
        "git checkout-index --prefix=../../../zz/ -a",
        "git init --separate-git-dir ../../../zz",
        "patch -b -B ../../../zz a.txt",
        "tar xf - --transform 's,^,../../../src/,' -P",
        "fallocate -l 9 ../../../zz",
        "flock ../../../zz true",
        "find ../../../src -maxdepth 1 -name a.ts -execdir touch zz \\;",
        "python3 -m venv ../../../x",
        "python3 -m zipfile -c ../../../x.zip x",
        "npm install --prefix ../../../src",
        "npm pkg set a=b --prefix ../../..",
        "cd ../../.. && npm pkg set a=b",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
    for command in ["gcc -o a a.c", "flock x.lck true", "python3 -m venv .venv", "npm pkg set a=b"] {
        in_worktree(command).run().silent();
    }
}

#[test]
fn an_agent_in_a_worktree_may_link_to_what_the_project_has_installed() {
    in_worktree("ln -s ROOT/node_modules node_modules").run().silent();
    in_worktree("ln -sfn ../../../node_modules node_modules && npm test").run().silent();
    for command in [
        // What is written through it in the same command, where no link is yet.
        "ln -s ROOT/src src && echo x > src/a.ts",
        "ln -s ROOT/src/a.ts a.ts; echo x > a.ts",
        "ln -s ROOT/src src && cd src && rm a.ts",
        // Another name of the same file, which nobody can follow.
        "ln ROOT/src/a.ts a.ts",
        "ln -s x ROOT/src/link",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
}

/// Options by which a program works in another directory, or for a project there.
#[test]
fn an_agent_in_a_worktree_does_not_build_elsewhere_by_an_option() {
    for command in [
        "make -C ../../..",
        "make --directory=ROOT clean",
        "npm --prefix ../../.. install",
        "docker compose --project-directory ROOT up",
        "cargo build --manifest-path ../../../Cargo.toml",
        "cargo install --root ../../../x y",
        "mvn -f ../../../pom.xml clean",
        "pip install -t ../../../lib x",
        "pip install --target=ROOT/lib x",
        "cmake -B ../../../build",
        "cmake -B../../../build",
        "cmake --build ROOT/b",
        "gradle -p ../../.. build",
        "go build -C ROOT ./...",
        "uv sync --directory ../../..",
        "composer install --working-dir=../../..",
        "ninja -C ROOT/b",
        "just -d ../../.. -f ../../../justfile build",
        // A word that only looks like a subcommand that reads.
        "make -C ../../.. clean test",
        "make -C ../../.. test clean",
        "make -C ../../../sr* clean",
        "mvn -f ../../../pom.xml clean test",
        "gradle -p ../../.. clean test",
        "npm --prefix ../../.. install test",
        "npm --prefix ../../.. --foo test install",
        "npm --prefix ../../.. audit fix",
        "npm --prefix ../../.. version patch",
        "npm --prefix ../../.. run build test",
        "cargo fix --allow-dirty --manifest-path ../../../Cargo.toml -p config",
        "docker compose --project-directory ../../.. run web env",
        "pnpm -C ../../.. install test",
        "cmake -B ../../../build test",
    ] {
        assert!(in_worktree(command).run().tool("deny").contains("worktreeFence"), "{command}");
    }
    for command in [
        "make -C sub",
        "make -C ../../.. test",
        "make -j 4 -C ../../.. test",
        "npm --prefix ../../.. test",
        "npm --prefix ../../.. run test",
        "npm --prefix ../../.. test -- --watch",
        "npm --prefix ../../.. config get registry",
        "npm --prefix ../../.. audit --json",
        "mvn -q -f ../../../pom.xml test",
        "gradle -p ../../.. test --tests Foo",
        "cargo test --manifest-path ../../../Cargo.toml -p build",
        "cargo +nightly test --manifest-path ../../../Cargo.toml",
        "go test -C ROOT ./...",
        "docker compose --project-directory ../../.. config --services",
        "docker compose --project-directory ../../.. ls",
        "cargo build --manifest-path sub/Cargo.toml",
        "pip install -t lib x",
        "cmake -B build",
        "cmake -B /tmp/build",
        "gradle -p sub build",
    ] {
        in_worktree(command).run().silent();
    }
}
