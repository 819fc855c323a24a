//! What a client's own tools do, under the same rules: one table of actions, and how each client asks for them.

use serde_json::{Value, json};

use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::{Outcome, Test};

const CONFIG: &str = "\
extends: ['pack:secrets', 'pack:git-safety', 'pack:destructive-commands', 'pack:lockfiles']
preToolUse:
  uneditableFiles: [kept.txt, 'gen/**', 'src/**/*.lock.rs']
  unreadableFiles: [private.txt]
  preventAdditions: ['dist/**']
  toolUsageValidation:
    - {tool: Bash, commandPattern: 'make deploy*', action: block, message: NO-DEPLOY}
    - {tool: 'mcp__files__delete*', action: block, message: NO-MCP}
    - {tool: 'mcp__prod__*', action: block, message: NO-PROD}
    - {tool: 'Write(docs/frozen/**)', action: block, message: FROZEN}
    - {tool: 'Edit(docs/frozen/**)', action: block, message: FROZEN}
";

/// What a model does with a tool.
#[derive(Clone, Copy, Debug)]
enum Act {
    Shell(&'static str),
    Read(&'static str),
    /// Writes a file, which may be new.
    Write(&'static str),
    /// Changes a file that exists.
    Edit(&'static str),
    /// A tool of an MCP server, with a path.
    Mcp(&'static str, &'static str, &'static str),
}

use Act::{Edit, Mcp, Read, Shell, Write};

const DENIED: &[Act] = &[
    Shell("make deploy"),
    Shell("cd src && make deploy-all"),
    Shell("bash -c 'make deploy'"),
    Shell("env X=1 make deploy"),
    Shell("echo x > kept.txt"),
    Shell("echo x >> ./kept.txt"),
    Shell("tee kept.txt < a"),
    Shell("sed -i s/a/b/ kept.txt"),
    Shell("cp a kept.txt"),
    Shell("mv a kept.txt"),
    Shell("rm kept.txt"),
    Shell("rm -r gen"),
    Shell("cd src && echo x > ../kept.txt"),
    Shell("touch gen/new"),
    Shell("echo x > dist/new.js"),
    Shell("cat .env"),
    Shell("head -3 private.txt"),
    Shell("grep x private.txt"),
    Shell("cat < private.txt"),
    Shell("git push --force"),
    Shell("git reset --hard HEAD~3 && git push -f"),
    Shell("rm -rf /"),
    Shell("rm -rf ~"),
    Shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: kept.txt\n@@\n-a\n+b\n*** End Patch\nEOF"),
    Shell("apply_patch '*** Begin Patch\n*** Delete File: gen/a\n*** End Patch'"),
    Shell("cd src; apply_patch <<EOF\n*** Begin Patch\n*** Add File: ../dist/a.js\n+x\n*** End Patch\nEOF"),
    Write("kept.txt"),
    Write("./kept.txt"),
    Write("src/../kept.txt"),
    Write("gen/deep/new.rs"),
    Write("dist/new.js"),
    Write("docs/frozen/a.md"),
    Write("src/x/y.lock.rs"),
    Edit("kept.txt"),
    Edit("gen/a"),
    Edit("package-lock.json"),
    Edit("docs/frozen/old.md"),
    Mcp("files", "delete_note", "x"),
    Mcp("prod", "query", "x"),
    Mcp("prod", "run_all_now", "x"),
    Mcp("files", "delete_all", "x"),
    Read("private.txt"),
    Read("./private.txt"),
];

const INNOCENT: &[Act] = &[
    Shell("make"),
    Shell("make test"),
    Shell("echo make deploy"),
    Shell("ls -la"),
    Shell("git status"),
    Shell("git diff HEAD"),
    Shell("git commit -m 'a change'"),
    Shell("git push"),
    Shell("cargo test"),
    Shell("npm run build"),
    Shell("python3 -m pytest"),
    Shell("python3 --version"),
    Shell("bash --version"),
    Shell("bash scripts/check.sh"),
    Shell("cat kept.txt"),
    Shell("grep -r TODO src"),
    Shell("echo x > a"),
    Shell("echo x > src/new.rs"),
    Shell("mkdir -p out/x"),
    Shell("rm a"),
    Shell("cp kept.txt a"),
    Shell("sed -n 1,5p kept.txt"),
    Shell("find . -name '*.rs'"),
    Shell(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n-*** Delete File: kept.txt\n+b\n*** End Patch\nEOF",
    ),
    Read("kept.txt"),
    Read("src/a.rs"),
    Read("a"),
    Write("src/new.rs"),
    Write("docs/new.md"),
    Write("a"),
    Write("src/deep/er/new.rs"),
    Write("notes.txt"),
    Write("docs/frozen.md"),
    Edit("src/a.rs"),
    Edit("a"),
    Edit("docs/free.md"),
    Edit("src/lock.rs"),
    Mcp("files", "write_note", "x"),
    Mcp("files", "read_note", "x"),
    Mcp("production", "query", "x"),
    Mcp("tickets", "list", "x"),
    Mcp("files", "undelete", "x"),
];

/// How a client asks for it: the tool and its input. None where it has no tool for that.
fn asked(client: &str, act: Act) -> Option<(String, Value)> {
    let (name, input) = match (client, act) {
        ("codex" | "copilot", Shell(command)) => ("Bash", json!({"command": command})),
        (_, Shell(command)) => ("run_shell_command", json!({"command": command, "description": "a command"})),
        ("codex", Read(path)) => ("view_image", json!({"path": path})),
        ("codex", Write(path)) => ("apply_patch", patch(&format!("*** Add File: {path}\n+x"))),
        ("codex", Edit(path)) => ("apply_patch", patch(&format!("*** Update File: {path}\n@@\n-x\n+y"))),
        ("copilot", Read(path)) => ("Read", json!({"path": path})),
        ("copilot", Write(path)) => ("Write", json!({"path": path, "file_text": "x"})),
        ("copilot", Edit(path)) => ("Edit", json!({"path": path, "old_str": "x", "new_str": "y"})),
        (_, Read(path)) => ("read_file", json!({"file_path": path})),
        (_, Write(path)) => ("write_file", json!({"file_path": path, "content": "x"})),
        ("qwen", Edit(path)) => ("edit", json!({"file_path": path, "old_string": "x", "new_string": "y"})),
        (_, Edit(path)) => ("replace", json!({"file_path": path, "old_string": "x", "new_string": "y"})),
        (_, Mcp(server, tool, path)) => {
            let name = match client {
                "copilot" => format!("{server}-{tool}"),
                "gemini" => format!("mcp_{server}_{tool}"),
                _ => format!("mcp__{server}__{tool}"),
            };
            return Some((name, json!({"path": path})));
        }
    };
    Some((name.to_owned(), input))
}

fn patch(body: &str) -> Value {
    json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

fn project() -> Test {
    let test = Test::event("PreToolUse").config(CONFIG);
    let files = ["kept.txt", "private.txt", "a", "gen/a", "src/a.rs", "src/lock.rs", "docs/free.md"];
    let test = files.into_iter().fold(test, |test, file| test.file(file, "x\n"));
    test.file("docs/frozen/old.md", "x\n").file("package-lock.json", "{}").file("scripts/check.sh", "true\n")
}

fn tool_use(client: &str, test: Test, name: &str, input: Value) -> Outcome {
    let event = event_name(client, "PreToolUse");
    let mut payload = capture(client, &format!("{event}.json"), &test);
    payload["tool_name"] = name.into();
    payload["tool_input"] = input;
    call(client, event, test, &payload)
}

/// Whether the answer denies the tool in the client's form, with a reason.
fn is_denied(client: &str, done: &Outcome) -> bool {
    let Ok(answer) = serde_json::from_str::<Value>(&done.stdout) else { return false };
    let output = &answer["hookSpecificOutput"];
    let (is_denied, reason) = match client {
        "gemini" => (answer["decision"] == "deny", &answer["reason"]),
        _ => (output["permissionDecision"] == "deny", &output["permissionDecisionReason"]),
    };
    let exit = if client == "copilot" { 0 } else { 2 };
    is_denied && done.code == Some(exit) && reason.as_str().is_some_and(|reason| reason.len() > 3)
}

fn rows(acts: &[Act], client: &str, check: impl Fn(&Outcome) -> bool) {
    let rows: Vec<(Act, String, Value)> =
        acts.iter().filter_map(|act| asked(client, *act).map(|(name, input)| (*act, name, input))).collect();
    assert!(rows.len() >= 40, "{client}: {}", rows.len());
    let mut test = project();
    let mut wrong = Vec::new();
    for (act, name, input) in rows {
        let done = tool_use(client, test, &name, input);
        if !check(&done) {
            wrong.push(format!("{act:?}: exit {:?}, {}{}", done.code, done.stdout, done.stderr));
        }
        test = done.again();
    }
    assert!(wrong.is_empty(), "{client}:\n{}", wrong.join("\n"));
}

#[test]
fn what_rules_forbid_is_denied_in_every_client() {
    for client in CLIENTS {
        rows(DENIED, client, |done| is_denied(client, done));
    }
}

#[test]
fn what_is_innocent_passes_silently_in_every_client() {
    for client in CLIENTS {
        rows(INNOCENT, client, |done| {
            done.code == Some(0) && done.stdout.is_empty() && done.stderr.is_empty()
        });
    }
}

#[test]
fn a_patch_is_denied_for_any_of_its_files_and_the_reason_names_it() {
    for (body, named) in [
        ("*** Add File: a2\n+x\n*** Delete File: kept.txt", "kept.txt"),
        ("*** Update File: a\n*** Move to: gen/b\n@@\n x", "gen/b"),
        ("*** Update File: kept.txt\n*** Move to: elsewhere.txt\n@@\n x", "kept.txt"),
        ("*** Update File: a\n@@\n-x\n+y\n  *** Add File: dist/x  ", "dist/x"),
    ] {
        let done = tool_use("codex", project(), "apply_patch", patch(body));
        assert!(is_denied("codex", &done) && done.stdout.contains(named), "{body}: {}", done.stdout);
        // Copilot's models write it without anything around it.
        let text = patch(body)["command"].clone();
        let done = tool_use("copilot", project(), "Edit", text);
        assert!(is_denied("copilot", &done) && done.stdout.contains(named), "{body}: {}", done.stdout);
    }
}

#[test]
fn a_patch_that_cannot_be_read_is_not_let_through() {
    let many: String = (0..10_000).map(|n| format!("*** Add File: f{n}\n+x\n")).collect();
    let long = format!("*** Add File: big\n+{}", "x".repeat(1 << 20));
    for body in ["", "*** Add File: ", "nonsense", &many] {
        let done = tool_use("codex", project(), "apply_patch", patch(body));
        assert!(is_denied("codex", &done), "{}: {}", &body[..body.len().min(40)], done.stdout);
        assert!(done.stdout.contains(
            "In Codex nobody can be asked, so it is denied: run it yourself, or permit it: conclaude allow 1"
        ));
    }
    let cut = json!({"command": "*** Add File: a\n+x\n"});
    assert!(is_denied("codex", &tool_use("codex", project(), "apply_patch", cut)));
    tool_use("codex", project(), "apply_patch", patch(&long)).silent();
}

#[test]
fn a_name_of_an_mcp_tool_is_read_in_every_way() {
    for (client, name, is_forbidden) in [
        ("copilot", "files-delete-note", true),
        ("copilot", "prod-a-b", true),
        ("copilot", "my-prod-x", false),
        ("gemini", "mcp_files_delete_note", true),
        ("gemini", "mcp_prod_db_query", true),
        ("gemini", "mcp_preprod_query", false),
        ("codex", "mcp__prod__query", true),
        ("qwen", "mcp__prod__query", true),
    ] {
        let done = tool_use(client, project(), name, json!({}));
        assert_eq!(is_denied(client, &done), is_forbidden, "{client} {name}: {}", done.stdout);
    }
}

#[test]
fn rules_may_use_the_name_that_the_client_has() {
    for (client, act) in
        [("codex", Write("x")), ("copilot", Shell("ls")), ("qwen", Shell("ls")), ("gemini", Edit("a"))]
    {
        let (name, input) = asked(client, act).unwrap();
        let config =
            format!("preToolUse: {{toolUsageValidation: [{{tool: {name}, action: block, message: NO}}]}}");
        let done = tool_use(client, project().config(&config), &name, input);
        assert!(is_denied(client, &done), "{client} {name}: {}", done.stdout);
    }
}

#[test]
fn relative_paths_start_where_the_tool_runs() {
    for (client, field) in [("qwen", "directory"), ("gemini", "dir_path")] {
        let test = project();
        let below =
            if client == "qwen" { test.root().join("src").display().to_string() } else { "src".into() };
        let denied = json!({"command": "echo x > ../kept.txt", field: below});
        assert!(is_denied(client, &tool_use(client, test, "run_shell_command", denied)), "{client}");
        let free = json!({"command": "echo x > dist/new.js", field: "src"});
        tool_use(client, project(), "run_shell_command", free).silent();
    }
}

#[test]
fn a_search_of_copilot_names_one_path_or_several() {
    for (paths, is_forbidden) in [
        (json!("private.txt"), true),
        (json!(["src", "private.txt"]), true),
        (json!(["src", "docs"]), false),
        (json!("src"), false),
    ] {
        let done = tool_use("copilot", project(), "Grep", json!({"pattern": "x", "paths": paths}));
        assert_eq!(is_denied("copilot", &done), is_forbidden, "{paths}: {}", done.stdout);
    }
}

#[test]
fn a_shell_that_waits_for_input_is_not_let_through_in_codex() {
    let waiting = [
        "bash",
        "sh -i",
        "zsh -l",
        "tcsh",
        "python3",
        "node",
        "cd src && python3",
        "env X=1 bash",
        "node -r ./x",
        "irb",
        "R",
        "deno repl",
        "bash < /dev/tty",
        "python3 -i x.py",
    ];
    for command in waiting {
        let done = tool_use("codex", project(), "Bash", json!({"command": command}));
        assert!(is_denied("codex", &done), "{command}: {}", done.stdout);
        // Other clients have nothing that types into it.
        tool_use("copilot", project(), "Bash", json!({"command": command})).silent();
    }
    for command in [
        "bash -c ls",
        "python3 x.py",
        "python3 -m pytest",
        "node -e '1'",
        "node -r ./x y.js",
        "csh -c ls",
        "R -e 1",
        "python3 <<EOF\nprint(1)\nEOF",
        "echo ls | bash",
        "bash < /dev/null",
        "python3 -V",
        "node --version",
    ] {
        tool_use("codex", project(), "Bash", json!({"command": command})).silent();
    }
    // Without rules there is nothing to protect.
    let test = project().config("stop: {commands: []}");
    tool_use("codex", test, "Bash", json!({"command": "bash"})).silent();
}
