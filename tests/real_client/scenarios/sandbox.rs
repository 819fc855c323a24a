//! Rules that the client's sandbox and its permission rules enforce (`enforce`).

use serde_json::json;

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, Tool, Turn, agent, bash, edit, read, says, uses, write};
use crate::session_result::SessionResult;

const CODER: &str = "CODER-PART";

const CONFIG: &str = "\
enforce: [sandbox, permissions]
preToolUse:
  unreadableFiles: ['.env*', '!.env.example']
  uneditableFiles:
    - '*.lock'
    - {pattern: package-lock.json, message: 'npm writes it: run `npm install`.'}
    - src/gen/
";

const SECRET: &str = "hunter2";

/// Where the rules for reading and for locks are.
const READ_RULE: &str = ".conclaude.yaml:3";
const LOCK_RULE: &str = ".conclaude.yaml:5";

/// A project with protected files, whose rules the sandbox enforces.
fn project() -> Project {
    files(Project::new()).config(CONFIG).enforced()
}

fn files(project: Project) -> Project {
    project
        .file(".env", &format!("KEY={SECRET}\n"))
        .file(".env.example", "KEY=an-example\n")
        .file(".gitignore", ".env\n")
        .file("Cargo.lock", "locked\n")
        .file("sub/x.lock", "locked\n")
        .file("package-lock.json", "{}\n")
        .file("src/gen/api.ts", "generated\n")
        .file("leak.py", "print(open('.env').read())\n")
        .file("Makefile", "leak:\n\tpython3 leak.py\n")
}

/// Nothing that is protected was changed.
#[track_caller]
fn is_intact(project: &Project) {
    assert_eq!(project.read(".env").unwrap(), format!("KEY={SECRET}\n"));
    for (name, content) in [
        ("Cargo.lock", "locked\n"),
        ("sub/x.lock", "locked\n"),
        ("package-lock.json", "{}\n"),
        ("src/gen/api.ts", "generated\n"),
        (".conclaude.yaml", CONFIG),
    ] {
        assert_eq!(project.read(name).as_deref(), Some(content), "{name}");
    }
}

/// A session in which the model makes these calls, one after the other.
fn calls(client: &Client, project: &Project, tools: &[Tool]) -> SessionResult {
    client.play(project, script(tools))
}

fn script(tools: &[Tool]) -> Script {
    let turns: Vec<Turn> = tools.iter().map(|tool| uses([tool.clone()])).chain([says("Done.")]).collect();
    Script::main(turns)
}

fn python(code: &str) -> Tool {
    bash(&format!("python3 -c \"{code}\""))
}

/// Ways to a secret that no text shows.
pub(super) fn reading(client: &Client) {
    let project = project();
    let tools = [
        python("print(open('.env').read())"),
        bash("python3 leak.py"),
        bash("make leak"),
        bash("eval \"$(echo Y2F0IC5lbnY= | base64 -d)\""),
        bash(
            "python3 -c \"import os; os.symlink('.env', 'alias')\" && python3 -c \"print(open('alias').read())\"",
        ),
        bash("F=.en; python3 -c \"print(open('${F}v').read())\" || true"),
    ];
    let seen = calls(client, &project, &tools);
    for turn in 1..=tools.len() {
        seen.sent(MAIN, turn)
            .lacks(SECRET)
            .has("Permission denied")
            .has_once("The sandbox refused reading")
            .has(READ_RULE);
    }
    is_intact(&project);
    let trail = project.conclaude(&["audit", "export", "--jsonl"]);
    let denied = trail.lines().filter(|line| line.contains("\"by\":\"sandbox\"")).count();
    assert_eq!(denied, tools.len(), "each is recorded once:\n{trail}");
}

/// Ways to change a protected file that no text shows.
pub(super) fn writing(client: &Client) {
    let project = project();
    let tools = [
        python("open('Cargo.lock', 'w').write('bad')"),
        // What the hook reads as moving and deleting, it denies itself.
        python("import os; getattr(os, 'ren' + 'ame')('sub/x.lock', 'sub/y')"),
        python("import os; getattr(os, 're' + 'move')('src/gen/api.ts')"),
        bash("python3 -c \"open('package-lock.json', 'a').write('bad')\""),
    ];
    let seen = calls(client, &project, &tools);
    is_intact(&project);
    for turn in 1..=2 {
        seen.sent(MAIN, turn).has_once("The sandbox refused changing").has(LOCK_RULE);
    }
    seen.sent(MAIN, 3).has(".conclaude.yaml:7");
    seen.sent(MAIN, 4).has("npm writes it: run `npm install`.").has(".conclaude.yaml:6");
}

/// The model asks for a command outside of the sandbox, or in the background.
pub(super) fn escaping(client: &Client) {
    let project = project();
    let leak = "python3 -c \"import os; d = open('.env').read(); open('found', 'w').write(d)\"";
    let outside = Tool {
        name: "Bash",
        input: json!({"command": leak, "description": "d", "dangerouslyDisableSandbox": true}),
    };
    let behind = Tool {
        name: "Bash",
        input: json!({"command": format!("{leak}; touch ended"), "description": "d", "run_in_background": true}),
    };
    let waits = bash("for i in 1 2 3 4 5 6 7 8 9; do test -e ended && break; sleep 0.3; done; echo waited");
    // Our own commands run outside of the sandbox: another program with that name does not.
    let program = "mkdir evil && echo 'python3 leak.py > found' > evil/conclaude && chmod +x evil/conclaude";
    let hijacked = "PATH=$PWD/evil:$PATH conclaude des start steps/a.json BUILD";
    let tools = [outside, behind, waits, bash(program), bash(hijacked), bash(&format!("export {hijacked}"))];
    let seen = calls(client, &project, &tools);
    assert!(!project.read("found").unwrap_or_default().contains(SECRET), "nothing was read");
    assert!(project.has("ended"), "the second ran, in the background");
    seen.all_sent(MAIN).lacks(SECRET);
    is_intact(&project);
}

/// The same inside a subagent, which is told the rule.
pub(super) fn subagent(client: &Client) {
    let project = files(Project::new()).agents(&["coder"]).config(CONFIG).enforced();
    let seen = client.play(
        &project,
        Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("Done.")])
            .agent(CODER, [uses([python("print(open('.env').read())")]), says("I may not.")]),
    );
    seen.sent(CODER, 1).lacks(SECRET).has_once("The sandbox refused reading .env").has(READ_RULE);
}

/// The client's own tools are refused by permission rules, before conclaude is asked.
pub(super) fn tools(client: &Client) {
    // They have no exceptions, so a rule with one is left to the hook.
    let config = CONFIG.replace(", '!.env.example'", "");
    let project = files(Project::new()).config(&config).enforced();
    let tools = [
        read(&project.path(".env")),
        write(&project.path("src/gen/new.ts"), "bad\n"),
        edit(&project.path("package-lock.json"), "{}", "bad"),
    ];
    let seen = calls(client, &project, &tools);
    assert_eq!(project.read("package-lock.json").as_deref(), Some("{}\n"));
    assert!(!project.has("src/gen/new.ts"));
    seen.sent(MAIN, 1).lacks(SECRET).has_once("A permission rule refused reading .env").has(READ_RULE);
    seen.sent(MAIN, 2).has_once("A permission rule refused changing src/gen/new.ts").has(".conclaude.yaml:7");
    seen.sent(MAIN, 3).has("npm writes it: run `npm install`.");
}

/// Nothing changes conclaude's own files.
pub(super) fn own_files(client: &Client) {
    let project = project();
    let before = project.read(".claude/settings.local.json");
    // The guards ask about code that names these files, so it does not.
    let tools = [
        python("open('.con' + max('abc') + 'laude.yaml', 'a').write('x')"),
        python("open('.claude/settings.l' + chr(111) + 'cal.json', 'a').write('x')"),
        python("open('.con' + max('abc') + 'laude/x', 'w').write('x')"),
    ];
    let seen = calls(client, &project, &tools);
    is_intact(&project);
    assert_eq!(project.read(".claude/settings.local.json"), before);
    assert!(!project.has(".conclaude/x"));
    seen.sent(MAIN, 1).has("conclaude's own files");
}

/// A file that a pattern matches is protected once it is there.
pub(super) fn created_later(client: &Client) {
    let project = project();
    let make = python("open('new.lo' + max('abc') + 'k', 'w').write('first')");
    let change = python("open('new.lo' + max('abc') + 'k', 'a').write('bad')");
    // Claude Code reads changed settings about a second later.
    let seen = calls(client, &project, &[make, bash("sleep 2; echo waited"), change]);
    assert_eq!(project.read("new.lock").as_deref(), Some("first"));
    seen.sent(MAIN, 3).has_once("The sandbox refused changing new.lock").has(LOCK_RULE);
}

/// Neither a `.gitignore` of the model, nor a path outside of the project, nor an ignored directory lets anything out.
pub(super) fn elsewhere(client: &Client) {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("key");
    std::fs::write(&file, SECRET).unwrap();
    let path = file.to_str().unwrap();
    let config = CONFIG.replace("['.env*'", &format!("['{path}', '.env*'"));
    let config = format!("{config}    - dist/**\n");
    let project = files(Project::new())
        .file(".gitignore", ".env\ndist/\n")
        .file("dist/js/app.js", "built\n")
        .config(&config)
        .enforced();
    let tools = [
        python("open('.gitignore', 'a').write('sub/' + chr(10))"),
        bash("sleep 2; echo waited"),
        python("open('sub/x.lo' + max('abc') + 'k', 'w').write('bad')"),
        python(&format!("print(open('{path}').read())")),
        python("open('d' + max('hi') + 'st/js/app.js', 'w').write('bad')"),
    ];
    let seen = calls(client, &project, &tools);
    assert!(project.read(".gitignore").unwrap().contains("sub/"));
    assert_eq!(project.read("dist/js/app.js").as_deref(), Some("built\n"));
    assert_eq!(project.read("sub/x.lock").as_deref(), Some("locked\n"));
    seen.all_sent(MAIN).lacks(SECRET);
    seen.sent(MAIN, 3).has_once("The sandbox refused changing sub/x.lock").has(LOCK_RULE);
    seen.sent(MAIN, 4).has_once("The sandbox refused reading").has(READ_RULE);
}

/// What an exception frees can be read, by everybody.
pub(super) fn exception(client: &Client) {
    let project = project();
    let tools = [python("print(open('.env.example').read())"), read(&project.path(".env.example"))];
    let seen = calls(client, &project, &tools);
    for turn in 1..=tools.len() {
        seen.sent(MAIN, turn).has("an-example").lacks("refused");
    }
}

/// What the user has set about the sandbox stays, and counts.
pub(super) fn users_own(client: &Client) {
    const LOCAL: &str = ".claude/settings.local.json";
    const OWN: &str = r#"{
    "permissions": { "deny": [ "Read(./private/**)" ] },
    "sandbox": { "filesystem": { "denyRead": [ "./private" ] }, "network": { "allowedDomains": ["example.org"] } }
}
"#;
    let project = files(Project::new()).file("private/a", SECRET).file(LOCAL, OWN).config(CONFIG).enforced();
    let text = project.read(LOCAL).unwrap();
    assert!(text.contains("example.org") && text.contains("./private"), "{text}");
    let tools = [python("print(open('private/a').read())"), python("print(open('.env').read())")];
    let seen = calls(client, &project, &tools);
    seen.all_sent(MAIN).lacks(SECRET);
    seen.sent(MAIN, 1).lacks("conclaude");
    seen.sent(MAIN, 2).has_once("The sandbox refused reading .env");
    project.conclaude(&["uninstall", "--enforce"]);
    assert_eq!(project.read(LOCAL).as_deref(), Some(OWN), "byte for byte");
}

/// A session with other settings: the sandbox may be off, so guards ask again.
pub(super) fn overridden(client: &Client) {
    let project = project();
    let leak = python("print(open('.env').read())");
    let off = r#"{"sandbox": {"enabled": false}}"#;
    let seen = client.play_with_settings(&project, off, script(&[leak]));
    seen.sent(MAIN, 1).lacks(SECRET).has("its effect on that file is unknown");
}

/// Without `bwrap` the client says so and does not start, and `doctor` says what to install.
pub(super) fn missing(client: &Client) {
    let project = project().without_programs(&["bwrap", "socat"]);
    let said = client.play_failing(&project, script(&[bash("true")]));
    assert!(said.contains("sandbox"), "{said}");
    let output = project.program("conclaude").arg("doctor").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("`bwrap` is not installed") && text.contains("apt-get install bubblewrap"),
        "{text}"
    );
}

/// Everyday work goes on: builds, tests, git, and the steps of a workflow.
pub(super) fn everyday(client: &Client) {
    let project = files(Project::new())
        .config(&format!("{CONFIG}des:\n  phases: [BUILD]\n  evidence: {{BUILD: 'test -e src/a.txt'}}\n"))
        .default_step()
        .enforced();
    project.conclaude(&["doctor", "--yes"]);
    let tools = [
        bash("echo a > src/a.txt && ls src && git status --short"),
        bash("git add -A && git commit -qm 'More' && git log --oneline | head -1"),
        bash("conclaude des run steps/01-01.json BUILD"),
        bash("cd src && conclaude des start ../steps/01-01.json BUILD"),
    ];
    let seen = calls(client, &project, &tools);
    seen.sent(MAIN, 1).has("a.txt");
    seen.sent(MAIN, 2).has("More");
    seen.sent(MAIN, 3).has("BUILD is EXECUTED: PASS");
    seen.sent(MAIN, 4).has("as a command of its own");
    seen.all_sent(MAIN).lacks("effect on that file is unknown");
}

/// The subcommands that run outside of the sandbox take no commands from a config that Claude has made.
pub(super) fn other_config(client: &Client) {
    let project = files(Project::new())
        .config(&format!("{CONFIG}des:\n  phases: [BUILD]\n  evidence: {{BUILD: 'true'}}\n"))
        .default_step()
        .enforced();
    let config = "open('evil/.con' + max('abc') + 'laude.yaml', 'w').write('des: {phases: [BUILD], evidence: {BUILD: cp ../.e*v found}}')";
    let tools = [
        bash("mkdir -p evil/steps && cp steps/01-01.json evil/steps/"),
        python(config),
        bash("cd evil"),
        bash("conclaude des run steps/01-01.json BUILD"),
    ];
    let seen = calls(client, &project, &tools);
    assert!(project.has("evil/.conclaude.yaml") && !project.has("evil/found"));
    seen.sent(MAIN, 4).has("this is not the project of the session");
}
