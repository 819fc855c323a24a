//! The sessions, which are the same for every client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use crate::client::{ALL, Client, ClientKind};
use crate::model::{AGENT_KEY, Script, Turn};
use crate::project::Project;
use crate::session::Session;
use crate::wire::ToolCall;

type Play = fn(&Client, &ClientKind);

const SESSIONS: [(&str, Play); 3] = [("guarded", guarded), ("stop", blocked_stop), ("gate", gates)];

/// The clients have timers of their own: what fails is played once more.
const TRIES: usize = 2;

/// Plays those whose name has all of these parts.
pub(crate) fn play(client: &Client, parts: &[String]) -> ExitCode {
    let mut failed = Vec::new();
    let mut count = 0;
    for kind in &ALL {
        for (name, session) in SESSIONS {
            let name = format!("{}-{name}", kind.name);
            if !parts.iter().all(|part| name.contains(part.as_str())) {
                continue;
            }
            count += 1;
            let passes = (1..=TRIES).any(|_| {
                let start = Instant::now();
                let went = catch_unwind(AssertUnwindSafe(|| session(client, kind)));
                let word = if went.is_ok() { "ok" } else { "FAILED" };
                println!("{word:<6} {name:<20} {:>5.1} s", start.elapsed().as_secs_f64());
                went.is_ok()
            });
            if !passes {
                failed.push(name);
            }
        }
    }
    println!("other_clients: {} of {count} sessions passed", count - failed.len());
    if failed.is_empty() && count > 0 {
        return ExitCode::SUCCESS;
    }
    println!("other_clients: failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

fn says(text: &str) -> Turn {
    Turn { text: text.into(), ..Turn::default() }
}

fn uses(tool: ToolCall) -> Turn {
    Turn { tools: vec![tool], ..Turn::default() }
}

/// The last words of an agent.
fn reports(kind: &ClientKind, text: &str) -> Turn {
    match kind.stop {
        Some(stop) => uses(stop(text)),
        None => says(text),
    }
}

/// A write that is denied, whose reason the model reads, and one that is innocent.
fn guarded(client: &Client, kind: &ClientKind) {
    let project = Project::new("preToolUse: {uneditableFiles: [kept.txt]}\n");
    let main = vec![
        uses((kind.write)(&project, "kept.txt")),
        uses((kind.shell)("echo changed > kept.txt")),
        uses((kind.write)(&project, "free.txt")),
        uses((kind.shell)("echo free > other.txt")),
        says("All done."),
    ];
    let session = Session::play(client, kind, &project, Script { main, agent: Vec::new() });
    session.expect(false, 1, "kept.txt");
    session.expect(false, 1, "uneditable");
    session.expect(false, 2, "uneditable");
    assert_eq!(project.read("kept.txt").as_deref(), Some("kept\n"));
    for turn in [3, 4] {
        assert!(!session.sent(false, turn).contains("conclaude"), "an innocent call passes silently");
    }
    assert_eq!(project.read("free.txt").as_deref(), Some("written\n"));
    assert_eq!(project.read("other.txt").as_deref(), Some("free\n"));
}

/// A stop that is blocked twice, and then allowed.
fn blocked_stop(client: &Client, kind: &ClientKind) {
    let project = Project::new(
        "maxBlocks: 2\nstop: {commands: [{run: 'echo ran >> runs.txt; echo NOT-YET; false'}]}\n",
    );
    let main = ["One.", "Two.", "Three.", "Four.", "Five."].map(says).to_vec();
    let session = Session::play(client, kind, &project, Script { main, agent: Vec::new() });
    session.expect(false, 1, "NOT-YET");
    session.expect(false, 1, "block 1 of 2");
    session.expect(false, 2, "block 2 of 2");
    assert_eq!(session.turns(false), 3, "the third stop is allowed");
    assert_eq!(project.read("runs.txt").as_deref(), Some("ran\nran\nran\n"));
}

fn marked(step: &str) -> String {
    format!(
        "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: {step} -->\n<!-- DES-AGENT: coder -->\n{AGENT_KEY}: do it."
    )
}

/// A call whose step does not exist is denied; a write outside the step's scope is denied; a stop without the phases is blocked.
fn gates(client: &Client, kind: &ClientKind) {
    let project = Project::new("des: {phases: [BUILD, CHECK]}\n");
    let new = ["des", "new", "steps/01-01.json", "--task-id", "01-01", "--project-id", "greeting"];
    project.runs("conclaude", &[&new[..], &["--allow", "src/**"]].concat());
    project.commit();
    let mut main = vec![uses((kind.agent)(&marked("steps/77-77.json")).remove(0))];
    main.extend((kind.agent)(&marked("steps/01-01.json")).into_iter().map(uses));
    let after = main.len();
    main.extend(["All done.", "Really.", "Really now."].map(says));
    // The shell of Codex is a login shell, which has a PATH of its own.
    let conclaude = project.at("bin/conclaude").display().to_string();
    let phase = |name: &str| format!("{conclaude} des run steps/01-01.json {name} -- true");
    let agent = vec![
        uses((kind.write)(&project, "outside.txt")),
        reports(kind, "I am done."),
        uses((kind.shell)(&format!("{} && {}", phase("BUILD"), phase("CHECK")))),
        reports(kind, "I am done, really."),
        reports(kind, "There is nothing more."),
    ];
    let session = Session::play(client, kind, &project, Script { main, agent });
    session.expect(false, 1, "STEP_FILE_MISSING");
    session.expect(true, 1, "SCOPE_VIOLATION");
    assert_eq!(project.read("outside.txt"), None, "what was denied was not written");
    session.expect(true, 2, "may not stop yet");
    session.expect(true, 2, "SILENT_COMPLETION");
    assert_eq!(session.turns(true), 4, "it may stop with its phases");
    session.expect(false, after, "I am done, really.");
}
