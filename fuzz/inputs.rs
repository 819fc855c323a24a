//! What is done with an input of each kind, by the fuzz targets and by `tests/thorough/corpus.rs` alike. None of it may panic,
//! and what must always hold is asserted.

#![allow(dead_code, reason = "each target uses one of them")]

use std::path::Path;

use conclaude_checks::des::check::check;
use conclaude_checks::des::markers::Markers;
use conclaude_checks::des::phases::TDD_14;
use conclaude_checks::des::scope::AllowedFiles;
use conclaude_checks::des::step::Step;
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::text;
use conclaude_core::types::HookPayload;
use conclaude_store::audit::{Filter, Reader, Stats, Trail, verify};
use conclaude_store::transcript;

/// What comes on stdin.
pub(super) fn payload(bytes: &[u8]) {
    for event in
        ["SubagentStop", "SubagentStart", "PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit", "Setup"]
    {
        match HookPayload::parse(event, bytes) {
            Ok(payload) => {
                assert_eq!(payload.hook_event_name(), event);
                assert!(!payload.session_id().trim().is_empty() && !payload.cwd().trim().is_empty());
                let _ = (
                    transcript::identity::is_phantom(&payload),
                    payload.agent_transcript(),
                    payload.is_first_stop(),
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// `.conclaude.yaml`.
pub(super) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new("/x/.conclaude.yaml");
    match ConclaudeConfig::parse(&text, path) {
        Ok(config) => drop((config.max_blocks(), config.warnings())),
        Err(error) => assert!(error.to_string().contains("/x/.conclaude.yaml:"), "a place: {error}"),
    }
}

/// A transcript of the client.
pub(super) fn transcript(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    std::fs::write(file.path(), bytes).expect("room for it");
    let path = file.path();
    let _ = transcript::last_agent_call(path, None);
    let _ = transcript::last_agent_call(path, Some("toolu_1"));
    let _ = transcript::call_of(path, None, Some("coder"));
    let _ = (transcript::last_time(path), transcript::is_foreign(path), transcript::writes(path));
    let _ = transcript::worked_since(path, "2026-01-01T00:00:00.000Z");
    let mut stream = transcript::stream::Stream::of(bytes, path);
    let read = stream.each(|entry| {
        let _ = (entry.prompt(), entry.calls().count());
        entry.results().for_each(|result| drop((result.answer(100), result.is_denied_by_hook())));
        Ok(())
    });
    assert!(read.is_ok(), "bytes in memory can always be read");
    assert!(stream.counts.bytes <= bytes.len() as u64);
    if let Some(prompt) = transcript::first_prompt(path) {
        marker(prompt.text.as_bytes());
    }
}

/// A prompt with markers.
pub(super) fn marker(bytes: &[u8]) {
    let prompt = String::from_utf8_lossy(bytes);
    let markers = Markers::of(&prompt);
    assert!(markers.apply() || markers.findings().is_empty(), "an ad-hoc task has no findings");
    let asks = prompt.to_ascii_lowercase().contains("<!-- des-validation: required -->");
    assert!(!asks || markers.apply(), "what asks for the gates gets them");
    let clean = text::clean(&prompt);
    assert!(!clean.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
}

/// A step file.
pub(super) fn step(bytes: &[u8]) {
    let Ok(step) = Step::parse(&String::from_utf8_lossy(bytes)) else { return };
    let phases: Vec<String> = TDD_14.iter().map(|name| (*name).to_owned()).collect();
    let findings = check(&step, &phases);
    let proved = !findings.iter().any(conclaude_core::finding::Finding::blocks);
    // What proves the work is done, has failed honestly, or has no phases.
    assert!(!proved || matches!(step.state().as_str(), "DONE" | "FAILED" | "PARTIAL"), "{}", step.state());
    let _ = (step.rules(), step.danger(), step.acceptance_criteria(), step.name(), step.max_turns());
    if let Ok(Ok(allowed)) = step.allowed_file_patterns().map(AllowedFiles::new) {
        assert!(!allowed.is_limited() || !allowed.permits("../src/a.rs"));
    }
}

/// A shell command.
pub(super) fn shell(bytes: &[u8]) {
    let command = String::from_utf8_lossy(bytes);
    let script = shell_effects::read(&command, Some("/home/u"));
    assert!(script.effects.iter().all(|effect| effect.command < script.commands.len()));
    assert!(script.commands.len() + script.effects.len() < 100_000, "work is bounded");
    let is_blank = command.chars().all(|c| matches!(c, ' ' | '\t' | '\n'));
    assert!(!is_blank || script == shell_effects::Script::default());
    // What is written is among the effects, and a subshell changes nothing about it.
    let inside = shell_effects::read(&format!("(\n{command}\n)"), Some("/home/u"));
    // A backslash at the end and an open here-document reach into what follows.
    let is_whole = !command.ends_with('\\') && !command.contains("<<") && command.len() < 1000;
    if is_whole && script.doubts.is_empty() && inside.doubts.is_empty() {
        let written = |script: &shell_effects::Script| {
            script.effects.iter().filter_map(shell_effects::Effect::literal).collect::<Vec<_>>()
        };
        assert_eq!(written(&script), written(&inside));
    }
}

/// A file of the audit trail.
pub(super) fn audit(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let trail = Trail::of(folder.path(), None);
    std::fs::create_dir_all(trail.folder()).expect("a folder");
    std::fs::write(trail.folder().join("audit-0000000001.jsonl"), bytes).expect("room for it");
    let verdict = verify(&trail).expect("it can be read");
    let mut stats = Stats::default();
    let mut reader = Reader::new(&trail);
    let mut believed = 0;
    let count = |entry: &conclaude_store::audit::TrailEntry| {
        stats.add(&entry.record);
        believed += u64::from(entry.doubt.is_none());
        Ok(())
    };
    let all = reader.each(&Filter::default(), count).expect("it can be read");
    assert!(verdict.good <= believed && believed <= all);
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
    assert!(verdict.good <= lines);
}
