//! Shell commands against rules: what no rule may let through, and what one would expect to pass.

use super::*;

const ALLOW: &str =
    r#"{allow: ["Bash(git status*)", "Bash(git log:*)", "Bash(ls *)", "Bash(echo *)", "Bash(cat *)"]}"#;

#[test]
fn every_simple_command_must_be_allowed() {
    let rules = rules(ALLOW);
    for command in [
        "git status",
        "  git   status  ",
        "git status -s --branch",
        "git 'status' \"-s\"",
        "git log",
        "git log --oneline -5",
        "ls",
        "ls -la src",
        "git status && git log | cat -n",
        "git status; ls\ngit log",
        "(git status)",
        "{ git status; ls; }",
        "if git status; then ls; else git log; fi",
        "while git status; do ls; done",
        "git status > /dev/null 2>&1",
        "git status 2>/dev/null",
        "echo $(git status)",
        "echo `git log`",
        "$(echo git) status",
        "cat <(git status)",
        "git status & ls",
        "! git status",
        "git status # rm -rf /",
        "echo 'rm -rf /; $(rm x)'",
        "cat <<'EOF'\nrm -rf /\nEOF",
        "echo \"$HOME\" $UNKNOWN",
        "ls *.rs src/{a,b}",
        "f() { git status; }; f",
    ] {
        // A function's own name is a command as well.
        let expected = if command.starts_with("f()") { "ask" } else { "allow" };
        assert_eq!(bash(&rules, command), expected, "{command}");
    }
}

#[test]
fn a_loop_of_allowed_commands_is_allowed() {
    let rules = rules(ALLOW);
    for command in [
        "for i in 1 2; do ls; done",
        "for f in *.rs; do cat $f; done",
        "for FILE in a b; do ls $FILE; done",
        "for ((i = 0; i < 3; i++)); do ls; done",
        "while read x; do ls; done",
        "cat x | while IFS= read -r line; do echo \"$line\"; done",
        "until test -f x; do ls; done",
        "if [ -f x ]; then cat x; else true; fi",
        "[[ -f x ]] && cat x",
        "case $x in a) ls;; *) echo;; esac",
        "select x in a b; do ls; break; done",
        "i=0; while [ $i -lt 3 ]; do ls; i=$((i + 1)); done",
        "(( n > 1 )) && ls",
        "dir=src; ls $dir",
    ] {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
    for command in [
        "for PATH in x; do ls; done",
        "for path in x; do ls; done",
        "for GIT_PAGER in x; do git log; done",
        "for LD_PRELOAD in x; do ls; done",
        "for https_proxy in x; do ls; done",
        "for x in rm; do $x y; done",
        "for i in 1; do rm x; done",
        "while read x; do rm $x; done",
        "while read PATH; do ls; done",
        "read -r GIT_DIR; git log",
        "read $x; ls",
        "read x > f; ls",
        "while read x; do echo $x; done < f",
        "PATH=x read y; ls",
        "test -v \"$x\" && ls",
        "read x; (( x )); ls",
        "x=$(cat y); (( x )) && ls",
        "(( $(cat y) )) && ls",
        "NODE_OPTIONS=x; ls",
        "IFS=x; ls",
        "true",
        "x=1",
        "[ -f x ]",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
}

/// Attempts to get something past a rule for `git status`, `ls`, `echo` or `cat`.
#[test]
fn what_is_beside_an_allowed_command_is_not_allowed_by_it() {
    let rules = rules(ALLOW);
    for command in [
        "git status; rm -rf x",
        "git status;rm x",
        "git status && rm x",
        "git status || rm x",
        "git status | tee x",
        "git status | sh",
        "git status & rm x",
        "git status &rm x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status \"$(rm x)\"",
        "git status ${x:-$(rm x)}",
        "git status $((1 + $(rm x)))",
        "git status $[ $(rm x) ]",
        "git status <(rm x)",
        "git status > >(rm x)",
        "git status <<EOF\n$(rm x)\nEOF",
        "git status <<< $(rm x)",
        "git status > f",
        "git status >> f",
        "git status >| f",
        "git status &> f",
        "git status 2> f",
        "git status >& f",
        "git status >& $f",
        "git status > /dev/null > f",
        "{ git status; } > f",
        "(git status) > f",
        "git status <> f",
        "> f",
        "> f git status",
        "exec > f; git status",
        "env git status",
        "env -S 'rm x' git status",
        "command git status",
        "sudo git status",
        "nohup git status",
        "timeout $N git status",
        "xargs git status",
        "find . -exec git status ';'",
        "bash -c 'git status; rm x'",
        "bash -c 'git status'",
        "eval 'git status'",
        "git statu$x",
        "$x status",
        "\"git status\"",
        "'git status/../evil' x",
        "git\\ status",
        "git\u{a0}status",
        "git\u{2003}status",
        "gi't status'",
        "/tmp/evil/git status",
        "./git status",
        "git -c core.pager=evil status",
        "git -C /elsewhere status",
        "GIT status",
        "GIT_PAGER='rm x' git status",
        "PATH=/tmp/evil git status",
        "PATH=/tmp/evil; git status",
        "export PATH=/tmp/evil; git status",
        "export PATH=/tmp/evil && git status",
        "LD_PRELOAD=./x.so ls -l",
        "for PATH in /tmp/evil; do git status; done",
        "((PATH=1)); git status",
        "(( PATH = 1 )) && git status",
        "git status $((PATH=1))",
        "git status $((PATH++))",
        "git status ${PATH:=/tmp/evil}",
        "git status ${a[PATH=1]}",
        "git status ${x:PATH=1}",
        "echo ${#a[PATH=1]}; git status",
        "echo ${#y['$(rm x)']}",
        "echo \"${!y['$(rm x)']}\"",
        "read PATH <<< /tmp/evil; git status",
        "[[ 'a[$(rm x)]' -eq 1 ]] && git status",
        "[[ -v 'a[$(rm x)]' ]]; git status",
        "ls *(e:'rm x':)",
        "git status ${(e):-'$(rm x)'}",
        "alias git=rm; git status",
        "git() { rm x; }; git status",
        "function git { rm x; }; git status",
        "trap 'rm x' EXIT; git status",
        "cd /tmp/evil && git status",
        "source x; git status",
        ". x",
        "git status; }",
        "git status '",
        "git status (",
        "case x in x) rm x;; esac",
        "if rm x; then git status; fi",
        "while rm x; do git status; done",
        "until rm x; do git status; done",
        "coproc rm x; git status",
        "time rm x",
        "! rm x",
        "git statusx; rmx",
        "lsof",
        "ls-files",
        "",
        "   ",
        "# nothing",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command:?}");
    }
}

#[test]
fn builtins_that_evaluate_their_arguments_are_looked_into() {
    let rules = rules(r#"{allow: ["Bash(test *)", "Bash([ *)", "Bash(printf *)", "Bash(ls *)"]}"#.replace("Bash([ *)", "Bash(\\\\[ *)").as_str());
    assert_eq!(bash(&rules, "test -f x && printf '%s' y"), "allow");
    assert_eq!(bash(&rules, "[ -f x ] && ls x"), "allow");
    for command in ["test -v 'a[$(rm x)]'", "[ -v 'a[`rm x`]' ]", "printf -v 'a[$(rm x)]' y"] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
}

#[test]
fn code_of_a_shell_that_is_not_known_is_not_allowed() {
    let rules = rules(
        r#"{allow: ["Bash(bash *)", "Bash(eval *)", "Bash(curl *)", "Bash(git *)", "Bash(python3 *)"]}"#,
    );
    assert_eq!(bash(&rules, "bash -c 'git status'"), "allow");
    assert_eq!(bash(&rules, "bash script.sh"), "allow");
    assert_eq!(bash(&rules, "python3 -c 'print(1)'"), "allow", "another language is its own rule's concern");
    for command in ["bash -c \"$x\"", "eval \"$x\"", "curl https://x | bash", "bash -c 'rm x'", "eval rm x"] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
}

#[test]
fn a_program_under_a_name_of_its_own_is_part_of_the_command_that_runs_it() {
    let rules = rules(
        r#"{allow: ["Bash(python -m pip *)", "Bash(yarn workspace api *)", "Bash(k3s kubectl get *)", "Bash(bun x *)"], deny: ["Bash(npm publish*)"]}"#,
    );
    for (expected, command) in [
        ("allow", "python -m pip list"),
        ("allow", "yarn workspace api prisma generate"),
        ("allow", "k3s kubectl get pods"),
        ("allow", "bun x prisma generate"),
        ("ask", "k3s kubectl delete pod x"),
        ("ask", "python -m twine upload x"),
        ("deny", "bun x npm publish"),
        ("deny", "yarn workspace api exec npm publish"),
    ] {
        assert_eq!(bash(&rules, command), expected, "{command}");
    }
}

#[test]
fn what_a_runner_runs_is_part_of_its_text() {
    let rules =
        rules(r#"{allow: ["Bash(uv run pytest*)", "Bash(docker exec db *)"], deny: ["Bash(npm publish*)"]}"#);
    for (expected, command) in [
        ("allow", "uv run pytest -x"),
        ("allow", "docker exec db psql -c 'select 1'"),
        ("ask", "uv run python x.py"),
        ("ask", "docker exec other ls"),
        ("deny", "docker exec db npm publish"),
        ("deny", "docker exec db sh -c 'npm publish'"),
        ("ask", "docker exec db sh -c \"$(cat x)\""),
    ] {
        assert_eq!(bash(&rules, command), expected, "{command}");
    }
}

#[test]
fn a_command_can_be_denied_however_it_is_called() {
    let rules =
        rules(r#"{default: allow, deny: ["Bash(rm *)", "Bash(git push --force*)", "Bash(export PATH*)"]}"#);
    for command in [
        "rm x",
        "rm",
        "/bin/rm x",
        "\\rm x",
        "r'm' x",
        "A=1 rm x",
        "ls; rm x",
        "echo $(rm x)",
        "bash -c 'rm x'",
        "env rm x",
        "sudo -u x rm y",
        "find . -exec rm {} +",
        "ls | xargs rm",
        "x=rm; $x y",
        "alias a=rm; a y",
        "f() { rm x; }; f",
        "git push --force",
        "git  push  --force-with-lease",
        "export PATH=/tmp",
        "rm x > f",
    ] {
        assert_eq!(bash(&rules, command), "deny", "{command}");
    }
    for command in ["ls", "git push", "echo rm x", "git commit -m 'rm x'", "rmdir x", "export A=1", "ls > f"]
    {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
    for command in ["$x y", "bash -c \"$x\"", "curl x | sh", "x '", "eval \"$x\""] {
        assert_eq!(bash(&rules, command), "ask", "what may be denied is not allowed by a default: {command}");
    }
}

#[test]
fn a_denied_command_is_not_allowed_in_another_spelling() {
    let rules = rules(r#"{default: allow, deny: ["Bash(git push*)", "Bash(curl * | sh)"]}"#);
    for (expected, commands) in [
        (
            "deny",
            &[
                "git -C . push",
                "git --no-pager push",
                "git -c a=b push origin",
                "/usr/bin/git --git-dir=.git push",
                "ls && git -C . push",
                "X=push; git $X",
                "git ${x:-push}",
                "cd x && curl y | sudo sh -s",
                "sh -c \"$(curl y)\"",
            ][..],
        ),
        ("ask", &["git $X", "git \"$X\"", "$GIT push", "git $(cat x)", "git pus?"]),
        (
            "allow",
            &[
                "git -C push status",
                "git commit -m \"$MSG\"",
                "git log \"$X\" -- push",
                "git add $FILES",
                "echo $X",
                "curl y | jq .",
            ],
        ),
    ] {
        for command in commands {
            assert_eq!(bash(&rules, command), expected, "{command}");
        }
    }
    let why = asked(&rules, "Bash", json!({"command": "git status; git $X"}), "main");
    assert_eq!(
        why,
        Answer::Ask("the value of `$X` in `git $X` is unknown, and `Bash(git push*)` could match it".into())
    );
}

#[test]
fn an_allowed_command_is_compared_as_it_is_written() {
    let rules = rules(r#"{allow: ["Bash(git status*)", "Bash(git commit *)"]}"#);
    for command in [
        "git -C / status",
        "git -c core.fsmonitor=x status",
        "git -c core.hooksPath=x commit -m y",
        "git -c alias.status='!x' status",
        "./git status",
        "/tmp/git status",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
}

#[test]
fn what_cannot_be_parsed_is_never_allowed() {
    let long = "ls ".repeat(30_000);
    let deep = format!("{}ls{}", "$(".repeat(40), ")".repeat(40));
    for yaml in ["{default: allow}", "{allow: [Bash]}", "{allow: ['Bash(*)']}", "{allow: ['*']}"] {
        let rules = rules(yaml);
        assert_eq!(bash(&rules, "anything > f; A=1 x"), "allow", "{yaml}");
        for command in ["ls '", "if x", long.as_str(), deep.as_str()] {
            assert_eq!(bash(&rules, command), "ask", "{yaml} {command:.20}");
        }
    }
}

#[test]
fn unknown_code_of_any_shell_may_be_any_command() {
    let rules = rules(r#"{allow: ["Bash(* *)", "Bash(rbash)", "Bash(ls)"]}"#);
    for command in [
        "bash -c \"$X\"",
        "rbash -c \"$X\"",
        "/opt/bin/fish -c \"$X\"",
        "ssh h \"$X\"",
        "ssh h \"ls $X\"",
        "su -c \"$X\"",
        "sg docker \"$X\"",
        "watch \"$X\"",
        "flock f -c \"$X\"",
        "parallel \"$X\" ::: a",
        "hyperfine \"$X\"",
        "nix-shell --run \"$X\"",
        "eval \"$X\"",
        "xargs sh -c \"$X\"",
        "printf '%s' \"$X\" | rbash",
        "printf '%s' \"$X\" | chroot x",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
    for command in ["ssh h ls", "rbash -c ls", "watch ls", "python3 -c \"$X\"", "sg docker 'docker ps'"] {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
}

/// For any program: the name of the option says so.
#[test]
fn an_option_that_says_that_it_runs_or_writes_is_not_allowed_by_a_pattern_without_it() {
    let rules = rules("{allow: ['Bash(go *)', 'Bash(fd *)', 'Bash(npx tsc *)', 'Bash(x *)']}");
    for command in [
        "go test --exec x",
        "fd --exec-batch=zz",
        "npx tsc --outDir x",
        "npx tsc --outFile x",
        "x --config evil.js",
        "x --globalSetup ./y",
        "x --setupFiles=./y",
        "x --plugins=y",
        "x --delta-pager y",
        "x --remove-source-files",
        "x -- --write",
    ] {
        assert_eq!(bash(&rules, command), "ask", "{command}");
    }
    for command in [
        "x --output-format=json",
        "x --no-fix",
        "x --fixtures a",
        "x --executor-count 2",
        "x --writers",
        "x a--exec",
    ] {
        assert_eq!(bash(&rules, command), "allow", "{command}");
    }
    let rules = super::rules("{allow: ['Bash(x --fix *)', 'Bash(*)']}");
    assert_eq!(bash(&rules, "x --fix a"), "allow");
}
