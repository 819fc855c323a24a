//! A config that is broken, and settings that come and go.

use crate::client::Client;
use crate::project::Project;
use crate::script::{MAIN, Script, agent, bash, says, uses};

const CODER: &str = "CODER-PART";

/// The agent says in its step file that it could not do it.
const ADMIT: &str = r#"conclaude des fail steps/01-01.json --reason "it is too hard""#;

pub(super) fn broken_config(client: &Client) {
    // With the default phases, which are those of a broken config too.
    let project = Project::new().agents(&["coder"]).default_step().installed();
    let head = project.conclaude(&["des", "prompt", "steps/01-01.json", "--agent", "coder"]);
    let project = project.config("subagentStop:\n  comands: {}\n");
    let seen = client.play(
        &project,
        Script::main([
            uses([agent("coder", &head.replace("01-01.json", "77-77.json"))]),
            uses([agent("coder", &format!("{head}\nCODER-PART: do it."))]),
            says("It did not work."),
        ])
        .agent(CODER, [says("I am done, trust me."), uses([bash(ADMIT)]), says("I could not do it.")]),
    );
    let start = seen.hooks("SessionStart");
    assert!(
        start.iter().any(|hook| hook["stdout"].as_str().unwrap().contains("unknown key `comands`")),
        "reported at once"
    );
    // In full at the start, and then in one line.
    seen.shown()
        .lacks("unknown key `comands`")
        .has("invalid config")
        .has("`conclaude validate` shows every problem");
    seen.sent(MAIN, 1).has("✗ STEP_FILE_MISSING");
    seen.sent(CODER, 1).has("may not stop yet").has("✗ SILENT_COMPLETION");
    assert_eq!(seen.turns(CODER), 3, "an admitted failure may stop");
    seen.sent(MAIN, 2).has("I could not do it.").has("failed, and says so: it is too hard");
}

/// Written by the user, in the user's style.
const SETTINGS: &str = r#"{ "cleanupPeriodDays": 30,
   "hooks": {
      "Stop": [ { "hooks": [ {"type": "command", "command": "echo x >> other-hook-ran"} ] } ] },

  "includeCoAuthoredBy":   false
}"#;

pub(super) fn uninstall(client: &Client) {
    const FILE: &str = ".claude/settings.json";
    let config = "subagentStop: {commands: {coder: [{run: 'echo \"linted for: $CONCLAUDE_SUBAGENT_NAME\"', showStdout: true}]}}";
    let project = Project::new().agents(&["coder"]).file(FILE, SETTINGS).config(config).installed();
    assert_ne!(project.read(FILE).as_deref(), Some(SETTINGS));
    let script = || {
        Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("All is done.")])
            .agent(CODER, [says("The code is written.")])
    };
    let seen = client.play(&project, script());
    seen.shown().has_once("linted for: coder");
    assert_eq!(project.read("other-hook-ran").as_deref(), Some("x\n"), "the user's own hook still runs");

    project.conclaude(&["uninstall"]);
    assert_eq!(project.read(FILE).as_deref(), Some(SETTINGS), "byte for byte");
    let seen = client.play(&project, script());
    seen.shown().lacks("conclaude");
    seen.all_sent(MAIN).lacks("linted for");
    assert_eq!(project.read("other-hook-ran").as_deref(), Some("x\nx\n"), "and goes on to run");
}

/// A guard of the user's as a hook, in the words of a shell script.
fn guarded(script: &str) -> Project {
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh \"$CLAUDE_PROJECT_DIR\"/guard.sh"}]}]}}"#;
    Project::new().file("guard.sh", script).file(".claude/settings.json", settings)
}

/// Plays the same session as the hook answers, and as conclaude does once it has taken the hook over.
fn before_and_after(client: &Client, script: &str) {
    let project = guarded(script);
    let before = project.read(".claude/settings.json");
    let session = || Script::main([uses([bash("touch pushed")]), says("I may not.")]);
    for is_imported in [false, true] {
        if is_imported {
            project.conclaude(&["init", "--import"]);
        }
        let seen = client.play(&project, session());
        assert!(!project.has("pushed"), "imported: {is_imported}");
        seen.sent(MAIN, 1).has("PreToolUse:Bash hook error").has("no pushing on Fridays").lacks("conclaude");
    }
    project.conclaude(&["uninstall"]);
    assert_eq!(project.read(".claude/settings.json"), before, "byte for byte");
}

pub(super) fn imported_exit_code(client: &Client) {
    before_and_after(client, "echo no pushing on Fridays >&2\nexit 2\n");
}

pub(super) fn imported_answer(client: &Client) {
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no pushing on Fridays"}}"#;
    before_and_after(client, &format!("cat <<'END'\n{answer}\nEND\n"));
}

/// Claude Code goes by the answer and ignores the exit code. After the import the user is told of the failure too.
pub(super) fn failed_answer(client: &Client) {
    const FILE: &str = ".claude/settings.json";
    let answer = r#"{"systemMessage":"looked at it","hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"touch changed","description":"d"},"additionalContext":"it was changed"}}"#;
    let hook = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh guard.sh"}]}]}}"#;
    let script = || Script::main([uses([bash("touch asked-for")]), says("It is done.")]);
    let project = Project::new()
        .file("guard.sh", &format!("cat <<'END'\n{answer}\nEND\necho broken >&2\nexit 1\n"))
        .file(FILE, hook)
        .committed();
    let before = client.play(&project, script());
    before.shown().has("looked at it").lacks("broken");
    project.conclaude(&["init", "--import"]);
    let after = client.play(&project, script());
    for seen in [&before, &after] {
        seen.sent(MAIN, 1).has_once("it was changed");
        assert!(project.has("changed") && !project.has("asked-for"), "the tool got the changed input");
    }
    after.shown().has("looked at it").has("exited with code 1; its answer still counts: broken");
}

const LINTS: &str = "subagentStop: {commands: {coder: [{run: 'echo \"linted for: $CONCLAUDE_SUBAGENT_NAME\" | tee -a ran', showStdout: true, timeout: 60}]}}";

fn one_agent() -> Script {
    Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("All is done.")])
        .agent(CODER, [says("The code is written.")])
}

pub(super) fn trust(client: &Client) {
    let project = Project::new().agents(&["coder"]).config(LINTS).committed();
    project.conclaude(&["install", "--user"]);
    let seen = client.play(&project, one_agent());
    assert!(!project.has("ran"), "nothing of a project that nobody trusts runs");
    for text in [seen.shown(), seen.sent(MAIN, 1)] {
        text.has("did not run").has("is not trusted").has("conclaude trust");
    }
    project.conclaude(&["trust", "--yes"]);
    let seen = client.play(&project, one_agent());
    seen.shown().has_once("linted for: coder").lacks("trust");
    // A registration of the project's own counts instead, and does not add up with it.
    project.conclaude(&["install"]);
    let seen = client.play(&project, one_agent());
    seen.shown().has_once("linted for: coder");
    assert_eq!(
        project.read("ran").as_deref(),
        Some("linted for: coder\nlinted for: coder\n"),
        "once in each session"
    );
}

pub(super) fn comments(client: &Client) {
    const FILE: &str = ".claude/settings.json";
    let project = Project::new().agents(&["coder"]).config(LINTS).installed();
    let plain = project.read(FILE).unwrap();
    for ignored in [format!("// mine\n{plain}"), plain.replacen("]\n  }\n}", "]\n  },\n}", 1)] {
        assert_ne!(ignored, plain);
        let project = Project::new().agents(&["coder"]).file(FILE, &ignored).config(LINTS);
        client.play(&project, one_agent()).shown().lacks("linted for");
        assert!(!project.has("ran"));
    }
    let project = project.file(FILE, &format!("\u{feff}{plain}"));
    client.play(&project, one_agent()).shown().has_once("linted for: coder");
}

pub(super) fn missing_program(client: &Client) {
    let project = Project::new().agents(&["coder"]).config(LINTS).installed().without_conclaude();
    let seen = client.play(&project, one_agent());
    assert!(!project.has("ran"));
    seen.result().has("All is done.");
    seen.shown().lacks("conclaude").lacks("not found");
    seen.all_sent(MAIN).lacks("not found");
    let answered = |event: &str| {
        let hooks = seen.hooks(event);
        assert!(!hooks.is_empty(), "{event} is registered, and came");
        for hook in &hooks {
            assert_eq!((&hook["exit_code"], &hook["stderr"]), (&0.into(), &"".into()), "{event}: {hook}");
        }
        hooks.iter().map(|hook| hook["stdout"].as_str().unwrap()).collect::<String>()
    };
    for event in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"] {
        assert_eq!(answered(event), "", "{event}");
    }
    let said = answered("SessionStart");
    assert_eq!(said.matches("systemMessage").count(), 1, "{said}");
    assert!(said.contains("not installed on this machine") && said.contains("To install it: "), "{said}");
}

pub(super) fn switched_off(client: &Client) {
    const LOCAL: &str = r#"{"env": {"CONCLAUDE": "0"}}"#;
    let project = Project::new().agents(&["coder"]).config(LINTS).installed();
    let project = project.file(".claude/settings.local.json", LOCAL);
    let seen = client.play(&project, one_agent());
    assert!(!project.has("ran"));
    let said: String =
        seen.hooks("SessionStart").iter().map(|hook| hook["stdout"].as_str().unwrap()).collect();
    assert_eq!(said.matches("switched off for this session by CONCLAUDE=0").count(), 1, "{said}");
    seen.shown().lacks("conclaude");
}

pub(super) fn out_of_sync(client: &Client) {
    let project = Project::new().agents(&["coder"]).config("des: {enabled: false}").installed().config(LINTS);
    let seen = client.play(&project, one_agent());
    let start = seen.hooks("SessionStart");
    let said = start.iter().map(|hook| hook["stdout"].as_str().unwrap()).collect::<String>();
    assert!(
        said.contains("PreToolUse is not registered") && said.contains("conclaude install --project"),
        "{said}"
    );
    project.conclaude(&["install", "--project"]);
    let seen = client.play(&project, one_agent());
    assert!(seen.hooks("SessionStart").iter().all(|hook| hook["stdout"] == ""), "fixed");
    // Now that events have really arrived, the doctor has nothing to object to.
    let report = project.conclaude(&["doctor"]);
    assert!(report.contains("healthy") && !report.contains("never\n  PreToolUse"), "{report}");
}
