//! `conclaude watch` in a real terminal, beside real hooks.

use insta::assert_snapshot;
use serde_json::json;

use crate::common::tmux::Tmux;
use crate::common::trail::long_trail;
use crate::common::transcripts::Transcripts;
use crate::common::wait;
use crate::common::workflow::{MARKERS, todo};
use crate::common::{Test, agent_call, binary};

const CONFIG: &str = r#"
subagentStop:
  commands:
    coder:
      - {run: "while [ ! -e go ]; do sleep 0.05; done; test -e fixed", message: Linting failed, onFailure: block}
preToolUse:
  uneditableFiles: ["*.lock"]
"#;

/// Adds a line to the transcript of the main thread, or of the agent, as of now.
fn say(test: &Test, agent: Option<&str>, mut line: serde_json::Value) {
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    line["timestamp"] = json!(jiff::Timestamp::now().to_string());
    line["cwd"] = json!(test.root());
    transcripts.raw(agent, &format!("{line}\n"));
    if let Some(id) = agent {
        let meta = json!({"agentType": "coder", "description": "Write greeting", "toolUseId": "toolu_1", "spawnDepth": 1});
        std::fs::write(
            transcripts.path(agent).with_file_name(format!("agent-{id}.meta.json")),
            meta.to_string(),
        )
        .unwrap();
    }
}

fn prompt(text: &str) -> serde_json::Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// Creates a file that a command waits for.
fn make(test: &Test, name: &str) {
    std::fs::write(test.root().join(name), "").unwrap();
}

#[test]
fn sessions_appear_as_they_happen() {
    let test = Test::stop().config(CONFIG).step(&todo());
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows_all(&["Nothing to watch yet", "`conclaude doctor`", "0 sessions, 0 agents"]);

    say(&test, None, prompt("Execute step 01-01."));
    tmux.shows("session session- · Execute step 01-01.");
    say(&test, None, serde_json::from_str(&agent_call("Agent", "toolu_1", "coder")).unwrap());
    tmux.shows("main thread · Agent");

    // The gate lets the agent in, and remembers its step; then the agent is denied a file.
    let test = test.call_agent(MARKERS).run().status(0).again();
    tmux.shows("PreToolUse Agent of coder step 01-01 allowed");
    say(&test, Some("a1b2c3"), prompt(MARKERS));
    tmux.shows("coder \"Write greeting\" · step 01-01 0/14 PREPARE · at work");
    let test = test.writes("Write", "file_path", "Cargo.lock").run().status(2).again();
    tmux.shows_all(&["✗ ", "PreToolUse Write Cargo.lock denied: Writing Cargo.lock"]);

    // A command runs, and is seen to; its end blocks the stop.
    let test = stops(test);
    let hook = test.spawn();
    tmux.shows_all(&["runs `while", "step 01-01 0/14 PREPARE · SubagentStop runs"]);
    make(&test, "go");
    let test = test.outcome_of(hook).status(2).again();
    tmux.until("the block, which is followed", |screen| {
        screen.contains("SubagentStop blocked (1 of 3)")
            && !screen.contains("runs `")
            && screen.contains("✗ Linting failed: `while [ ! -e go ]; do sleep 0.05; done;")
            && screen.lines().any(|line| line.starts_with('>') && line.contains("blocked"))
    });
    drop(test);
}

/// The agent wants to stop, which is no call of a tool.
fn stops(test: Test) -> Test {
    test.without("tool_name").without("tool_use_id").without("tool_input").stops()
}

/// A project in which an agent was denied a file, and blocked.
fn blocked_agent() -> Test {
    let test = Test::stop().config(CONFIG).file("go", "");
    let test = test.writes("Write", "file_path", "Cargo.lock").run().status(2).again();
    stops(test).run().status(2).again()
}

/// What cannot be read of a transcript is counted where its session is shown, and a session that cannot be read at all is shown.
#[test]
fn broken_lines_of_transcripts_are_counted_in_the_view() {
    let test = Test::stop().config("{}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(None, "Fix the parser.")
        .raw(None, "not json\n{\"type\":\"from-the-future\",\"x\":1}\n")
        .line(None, json!({"type": "user", "message": null}))
        .raw(None, "{\"type\":\"user\",\"message\":{\"content\":\"no time\"}}\n")
        .raw(None, &format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "x".repeat(33 << 20)))
        .says(None, "Done.")
        .raw(None, "{\"type\":\"user\",\"mess");
    Transcripts::of(&root, "broken-2").raw(None, "{\"type\":\"user\",\n");
    let shown = test.shows(&["watch", "--once"]);
    let rows: Vec<&str> = shown.lines().map(|line| line.split("  (").next().unwrap_or_default()).collect();
    assert_snapshot!(rows.join("\n"), @"
    exit 0
    ----- stdout
    ○ session session- · Fix the parser.
      ⚠ 6 lines not read: 1 line half-written at the end of a file, not read (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:8); 1 line not JSON (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:2); 1 lin…
      ○ main thread · idle
        · 12:00:01 prompt: Fix the parser.
    ● session broken-2 · (no prompt could be read)
      ⚠ 1 line not read: 1 line not JSON (first: [ROOT]/.home/.claude/projects/[PROJECT]/broken-2.jsonl:1)
      ⚠ main thread · none of it can be read
    ");
}

#[test]
fn keys_open_details_help_and_filter_and_the_terminal_is_as_it_was() {
    let test = blocked_agent();
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows("SubagentStop blocked (1 of 3)");

    tmux.keys(&["Enter"]);
    tmux.shows_all(&["── details", " decision        blocked"]);
    tmux.keys(&["j"]);
    tmux.shows_all(&[
        "rule            subagentStop.commands \"coder\" in .conclaude.yaml:5",
        "not following",
    ]);
    tmux.keys(&["Escape"]);
    tmux.until("no details", |screen| !screen.contains("── details"));

    tmux.keys(&["?"]);
    tmux.shows("this help");
    tmux.keys(&["Escape"]);
    tmux.until("no help", |screen| !screen.contains("this help"));

    tmux.keys(&["/", "d", "e", "n", "i", "e", "d", ":"]);
    tmux.until("the rows with that text", |screen| {
        screen.contains("/denied:") && !screen.contains("SubagentStop")
    });
    tmux.keys(&["Escape"]);
    tmux.shows("SubagentStop blocked");
    tmux.keys(&["f"]);
    tmux.until("all rows, the newest selected", |screen| {
        screen.contains("SubagentStop blocked") && screen.contains("· following")
    });

    for (width, height) in [(40, 10), (120, 30), (12, 3), (80, 24)] {
        tmux.resize(width, height);
        let screen = tmux.until("the size", |screen| {
            let foot = screen.lines().nth(usize::from(height) - 1).unwrap_or_default();
            let selected = screen.lines().filter(|line| line.starts_with('>')).count();
            foot.starts_with(" q quit") && selected == 1 && screen.lines().count() == usize::from(height)
        });
        assert!(screen.lines().all(|line| line.chars().count() <= usize::from(width)), "{screen}");
    }

    tmux.keys(&["q"]);
    let after = tmux.shows("exit 0");
    assert!(after.starts_with("the shell before\nexit 0"), "{after}");
    let (before, after) = tmux.settings();
    assert_eq!(before, after);
}

#[test]
fn details_show_what_a_failed_command_printed() {
    let config = "stop: {commands: [{run: 'echo checking; echo \"a.ts(3,7): error TS2322\" >&2; exit 1'}]}\n";
    let test = Test::event("Stop").without("agent_id").config(config).run().status(2).again();
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows("Stop blocked");
    tmux.keys(&["Enter"]);
    tmux.shows_all(&["── details", " output          checking", "a.ts(3,7): error TS2322"]);
}

#[test]
fn signals_and_control_c_leave_the_terminal_as_it_was() {
    let test = blocked_agent();
    for (signal, code) in
        [(Some(libc::SIGTERM), 143), (Some(libc::SIGHUP), 129), (Some(libc::SIGINT), 130), (None, 0)]
    {
        let tmux = Tmux::start(&test.root(), "watch");
        tmux.shows("SubagentStop blocked");
        match signal {
            // SAFETY: a signal to a process that this test has started, and whose end it waits for.
            Some(signal) => assert_eq!(unsafe { libc::kill(tmux.pid(), signal) }, 0),
            None => tmux.keys(&["C-c"]),
        }
        let after = tmux.shows(&format!("exit {code}"));
        assert!(after.starts_with("the shell before\n"), "{after}");
        let (before, after) = tmux.settings();
        assert_eq!(before, after, "{signal:?}");
    }
}

#[test]
fn it_ends_with_its_terminal_also_where_the_hangup_is_ignored() {
    let test = blocked_agent();
    for shell in ["", "trap \"\" HUP; "] {
        let tmux = Tmux::start_in(&test.root(), shell, "watch");
        tmux.shows("SubagentStop blocked");
        let pid = tmux.pid();
        tmux.close();
        // SAFETY: signal 0 is none.
        wait::until("the end of the view", || unsafe { libc::kill(pid, 0) } != 0 || is_zombie(pid));
    }
}

/// It has ended, and nobody has asked for its status yet.
fn is_zombie(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let test = blocked_agent();
    assert_snapshot!(test.shows(&["watch"]), @"
    exit 1
    ----- stderr
    conclaude: `conclaude watch` draws on a terminal, and its output is not a terminal: `conclaude watch --once` prints what there is to see
    ");
    assert_snapshot!(Test::stop().shows(&["watch", "--once"]), @"
    exit 0
    ----- stdout
    Nothing to watch yet: there is no record in [ROOT]/.conclaude/audit, and Claude Code has no transcript of this project.
    Records are written at gates, guards and commands, transcripts by every session of Claude Code in this folder.
    `conclaude doctor` checks whether Claude Code calls conclaude here, `conclaude init` registers it.
    ");
    assert_snapshot!(test.shows(&["watch", "--once", "--session", "nothing"]), @r#"
    exit 1
    ----- stdout
    No session of this project has an id that starts with "nothing": `conclaude watch --once --all` lists them.
    Records are written at gates, guards and commands, transcripts by every session of Claude Code in this folder.
    `conclaude doctor` checks whether Claude Code calls conclaude here, `conclaude init` registers it.
    "#);
    assert_snapshot!(test.shows(&["watch", "--session", "x", "--all"]), @"
    exit 1
    ----- stderr
    error: the argument '--session <ID>' cannot be used with '--all'

    Usage: conclaude watch --session <ID>

    For more information, try '--help'.
    ");
}

/// What is shown, without dates and times of day.
fn timeless(shown: &str) -> String {
    let times = regex_lite::Regex::new(r"\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
    times.replace_all(shown, "[TIME]").into_owned()
}

#[test]
fn one_frame_for_scripts() {
    let test = blocked_agent();
    let shown = test.shows(&["watch", "--once"]);
    assert_snapshot!(timeless(&shown), @"
    exit 0
    ----- stdout
    ● session session-  ([TIME])
      ● coder · at work · 1 block · 1 denial  ([DURATION])
        ✗ [TIME] PreToolUse Write Cargo.lock denied: Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. (.conclaude.yaml:7)  ([DURATION])
        ✗ [TIME] SubagentStop blocked (1 of 3): Linting failed: `while [ ! -e go ]; do sleep 0.05; done; test -e fixed` exited with code 1  ([DURATION])
          ✗ Linting failed: `while [ ! -e go ]; do sleep 0.05; done; test -e fixed` exited with code 1  ([DURATION])
    ");
    let one = test.shows(&["watch", "--once", "--session", "session-"]);
    assert_eq!(one.lines().count(), shown.lines().count());
}

#[test]
fn it_says_how_many_sessions_are_not_shown() {
    let test = Test::stop().config("{}");
    for number in 0..12 {
        Transcripts::of(&test.root(), &format!("session-{number:02}"))
            .prompt(None, "Do it.")
            .says(None, "Done.");
    }
    let last = |arguments: &[&str]| test.shows(arguments).lines().last().unwrap().to_owned();
    assert_eq!(last(&["watch", "--once"]), "10 of 12 sessions: `--all` shows the others");
    let all = test.shows(&["watch", "--once", "--all"]);
    assert!(!all.contains(" of 12 sessions"), "{all}");
    assert_eq!(all.matches("session session-").count(), 12);
}

#[test]
fn an_agent_beside_the_main_thread_is_a_thread_of_its_session() {
    let test = Test::stop().config("{}");
    let mut lines = Transcripts::of(&test.root(), "session-1");
    lines
        .prompt(None, "Do it.")
        .says(None, "Done.")
        .prompt(Some("a1"), "Task of the agent.")
        .says(Some("a1"), "ok");
    let (own, main) = (lines.path(Some("a1")), lines.path(None));
    std::fs::rename(own, main.with_file_name("agent-a1.jsonl")).unwrap();
    for arguments in [
        &["watch", "--once"][..],
        &["watch", "--once", "--all"],
        &["watch", "--once", "--session", "session-1"],
    ] {
        let shown = test.shows(arguments);
        assert!(!shown.contains("prompt: Task of the agent."), "it is no prompt of the user: {shown}");
        assert!(!shown.contains(" of 2 sessions"), "{shown}");
        let thread = shown.lines().find(|line| line.contains("a1 · ")).unwrap_or_else(|| panic!("{shown}"));
        assert!(thread.contains("1k tok"), "{thread}");
    }
}

#[test]
fn sessions_of_all_projects_have_the_names_of_their_projects() {
    let test = Test::stop().config("{}").file("inner/.conclaude.yaml", "{}").file("inner/one/x", "");
    let root = test.root();
    Transcripts::of(&root, "outer-session").prompt(None, "Outer work.").says(None, "Done.");
    let elsewhere = root.join("inner");
    Transcripts::of(&elsewhere, "inner-session").below(&root).prompt(None, "Inner work.").says(None, "Done.");
    Transcripts::of(&root.join("gone"), "gone-session")
        .below(&root)
        .prompt(None, "Lost work.")
        .says(None, "Done.");
    let shown = test.shows(&["watch", "--once", "--all-projects"]);
    for (project, rest) in [
        (root.file_name().unwrap().to_str().unwrap(), "session outer-se · Outer work."),
        ("inner", "session inner-se · Inner work."),
    ] {
        assert!(shown.contains(&format!("{project} · {rest}")), "{shown}");
    }
    assert!(shown.contains("session gone-ses · Lost work."), "{shown}");
}

#[test]
fn a_trail_that_was_tampered_with_is_marked() {
    let test = blocked_agent();
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let trail = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, trail.replacen("denied", "allowed", 1)).unwrap();
    let shown = test.shows(&["watch", "--once"]);
    assert_snapshot!(timeless(&shown), @"
    exit 0
    ----- stdout
    ● session session-  ([TIME])
      ● coder · at work · 1 block  ([DURATION])
        ✗ [TIME] PreToolUse Write Cargo.lock allowed: tampered with here: record 1 was changed: its hash does not match its content  ([DURATION])
        ✗ [TIME] SubagentStop blocked (1 of 3): Linting failed: `while [ ! -e go ]; do sleep 0.05; done; test -e fixed` exited with code 1  ([DURATION])
          ✗ Linting failed: `while [ ! -e go ]; do sleep 0.05; done; test -e fixed` exited with code 1  ([DURATION])
    ✗ 1 record cannot be trusted: `conclaude audit verify` names the first
    ");
}

#[test]
fn transcripts_that_are_broken_or_of_another_version_are_counted() {
    let test = Test::stop();
    say(&test, None, prompt("Do it."));
    say(&test, None, json!({"type": "of-tomorrow"}));
    Transcripts::of(&test.root(), "session-1").raw(None, "no JSON\n{\"type\":\"user\",\"timest");
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows("session session- · Do it.");
    tmux.keys(&["g", "Enter"]);
    tmux.shows_all(&["── details", "⚠ 3 lines not read: 1 line half-written", "1 line not JSON"]);
    tmux.keys(&["PageDown"]);
    tmux.shows("1 line of a kind that this version does not know");
}

#[test]
fn no_colours_where_the_user_wants_none() {
    let test = blocked_agent();
    let tmux = Tmux::start_in(&test.root(), "NO_COLOR=1; export NO_COLOR; ", "watch");
    tmux.shows_all(&["SubagentStop blocked", " q quit"]);
    let plain = tmux.escapes();
    assert!(!plain.contains("38;5;"), "{plain:?}");
    let tmux = Tmux::start(&test.root(), "watch");
    tmux.shows_all(&["SubagentStop blocked", " q quit"]);
    wait::until("colours", || tmux.escapes().contains("38;5;"));
}

#[test]
fn a_note_of_what_runs_is_locked_as_long_as_the_command_runs() {
    let test = Test::stop().config(
        "subagentStop: {commands: {coder: [{run: 'cat .conclaude/state/running/*.json', show: always}]}}",
    );
    let done = test.run().status(0);
    assert_snapshot!(done.system_message(), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ cat .conclaude/state/running/*.json
      {"session":"session-1","agent_id":"a1b2c3","agent":"coder","event":"SubagentStop","command":"cat .conclaude/state/running/*.json","started":"[TIME]"}
    "#);
    let note = std::fs::File::open(done.root().join(".conclaude/state/running/0.json")).unwrap();
    note.try_lock().unwrap();
    let unaudited = "audit: {enabled: false}\nsubagentStop: {commands: {coder: [{run: 'true'}]}}";
    let done = Test::stop().config(unaudited).run().status(0);
    assert!(!done.root().join(".conclaude/state/running").exists());
}

#[test]
fn a_trail_of_any_length_takes_little_memory() {
    let test = Test::stop();
    long_trail(&test.root(), 20_000);
    let mut shell = test.program("sh");
    // The trail alone has more. The size of the program itself does not count.
    shell.args(["-c", "ulimit -d 8192; exec \"$0\" watch --once --all"]).arg(binary());
    let done = test.run_as(shell).status(0);
    assert_eq!(done.stdout.lines().filter(|line| line.contains("session session-")).count(), 4);
    assert_eq!(done.stdout.matches("450 earlier lines left out").count(), 40);
    assert!(done.stdout.contains("`npm run lint -- 20` passed"), "the last of all");
}

#[test]
fn a_file_of_the_project_is_shown_without_the_project() {
    let test = Test::event("PreToolUse").config(CONFIG).payload("tool_name", "Write");
    let file = test.root().join("packages/a/Cargo.lock");
    let answer = test.payload("tool_input", json!({"file_path": file, "content": "x"})).run();
    answer.tool("deny");
    assert_snapshot!(timeless(&answer.again().shows(&["watch", "--once"])), @"
    exit 0
    ----- stdout
    ● session session-  ([TIME])
      ● coder · at work · 1 denial  ([DURATION])
        ✗ [TIME] PreToolUse Write packages/a/Cargo.lock denied: Writing packages/a/Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. (.conclaude.yaml:7)  ([DURATION])
    ");
}
