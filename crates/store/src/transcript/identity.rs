//! The identity of a subagent: the name that patterns are compared with.

use std::path::Path;

use serde::Deserialize;

use super::CallLookup;
use conclaude_core::agent::{Agent, UNKNOWN};
use conclaude_core::dialect::claude::{agents, layout};
use conclaude_core::types::HookPayload;
use conclaude_os::files;
use conclaude_os::files::expand_home;
use conclaude_os::log;

/// The agent of a subagent event. Reads transcripts only if the payload does not name the type.
#[must_use]
pub fn identify(payload: &HookPayload) -> Agent {
    let transcript = payload.agent_transcript();
    let kind =
        payload.agent_type().map(str::to_owned).or_else(|| from_transcripts(payload, transcript.as_deref()));
    let id = payload.agent_id().map(str::to_owned);
    let name = kind.clone().or_else(|| id.clone()).unwrap_or_else(|| UNKNOWN.to_owned());
    Agent { name, kind, id, description: None, transcript }
}

/// A stop of an agent that nobody started: compaction (no type, no transcript) and Claude Code's own hook agents.
#[must_use]
pub fn is_phantom(payload: &HookPayload) -> bool {
    let HookPayload::SubagentStop(stop) = payload else { return false };
    if stop.agent_id.as_deref().is_some_and(agents::is_of_hook) {
        return true;
    }
    let typeless = stop.agent_type.as_deref().is_some_and(|kind| kind.trim().is_empty());
    typeless && !payload.agent_transcript().is_some_and(|path| expand_home(&path).exists())
}

/// Claude Code's file about an agent, next to its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// The call that started the agent.
    pub tool_use_id: Option<String>,
    pub agent_type: Option<String>,
    /// The short description of its task, from the call.
    pub description: Option<String>,
    /// 1 for an agent of the main thread, more for an agent that another agent called.
    pub spawn_depth: Option<u32>,
}

impl Meta {
    /// The file for this transcript, if it exists and can be read.
    #[must_use]
    pub fn of_transcript(transcript: &Path) -> Option<Meta> {
        let text = files::read_text(&layout::meta_of(transcript), 1 << 20).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// The agents above a nested agent, nearest first: the transcript of each contains the call of the next. Empty for an agent of
/// the main thread.
#[must_use]
pub fn ancestors(transcript: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut here = transcript.to_owned();
    // The client nests agents a few levels deep. The limit ends a loop of files.
    for _ in 0..8 {
        let Some(meta) =
            Meta::of_transcript(&here).filter(|meta| meta.spawn_depth.is_some_and(|depth| depth > 1))
        else {
            break;
        };
        let Some((call, folder)) = meta.tool_use_id.zip(here.parent().map(Path::to_owned)) else { break };
        let Some((id, path)) = super::caller(&folder, &here, &call) else { break };
        found.push(id);
        here = path;
    }
    found
}

/// The type in the call that started the agent: the call that the payload or its `.meta.json` names, else the most recent one.
fn from_transcripts(payload: &HookPayload, own: Option<&str>) -> Option<String> {
    let meta = own.and_then(|path| Meta::of_transcript(&expand_home(path))).unwrap_or_default();
    let main = expand_home(payload.transcript_path());
    let by_id = |id: Option<&str>| id.and_then(|id| call_type(&main, Some(id)));
    by_id(payload.agent_call_id())
        .or_else(|| by_id(meta.tool_use_id.as_deref()))
        .or(meta.agent_type.filter(|kind| !kind.trim().is_empty()))
        .or_else(|| call_type(&main, None))
}

fn call_type(main: &Path, id: Option<&str>) -> Option<String> {
    match super::last_agent_call(main, id) {
        Ok(CallLookup::Call(call)) => {
            // The call still names the agent. The user should know about the broken line.
            if super::has_malformed_line(main) {
                warn_malformed(main);
            }
            Some(call.subagent_type)
        }
        Ok(CallLookup::Nothing) => {
            log::debug(|| format!("no Agent call found in {}", main.display()));
            None
        }
        Ok(CallLookup::TooLong) => {
            log::warn(|| format!("a line of {} is too long to be read for the agent's call", main.display()));
            None
        }
        Ok(CallLookup::Malformed) => {
            warn_malformed(main);
            None
        }
        Err(error) => {
            log::debug(|| format!("cannot read the transcript {}: {error}", main.display()));
            None
        }
    }
}

fn warn_malformed(main: &Path) {
    log::warn(|| format!("malformed transcript {}: a line is not JSON", main.display()));
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn stop(main: &Path, extra: &str) -> HookPayload {
        let json = format!(
            r#"{{"session_id":"s","transcript_path":{:?},"cwd":"/","hook_event_name":"SubagentStop"{extra}}}"#,
            main.display().to_string()
        );
        HookPayload::parse("SubagentStop", json.as_bytes()).unwrap()
    }

    fn project(main: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, main).unwrap();
        (folder, path)
    }

    const CALLS: &str = concat!(
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Agent","input":{"subagent_type":"coder"}}]}}"#,
        "\n",
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Agent","input":{"subagent_type":"tester"}}]}}"#,
        "\n"
    );

    fn write_meta(folder: &Path, id: &str, meta: &str) {
        let subagents = folder.join("s/subagents");
        std::fs::create_dir_all(&subagents).unwrap();
        std::fs::write(subagents.join(format!("agent-{id}.meta.json")), meta).unwrap();
    }

    #[test]
    fn the_payload_names_the_agent_first() {
        let (_folder, main) = project(CALLS);
        assert_eq!(identify(&stop(&main, r#","agent_type":"reviewer","agent_id":"a1""#)).name, "reviewer");
        assert_eq!(identify(&stop(&main, r#","subagent_type":"reviewer""#)).name, "reviewer");
    }

    #[test]
    fn then_the_call_that_its_meta_file_names_then_the_most_recent() {
        let (folder, main) = project(CALLS);
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1""#)).name, "tester");
        write_meta(folder.path(), "a1", r#"{"toolUseId":"t1"}"#);
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1""#)).name, "coder");
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1","tool_use_id":"t2""#)).name, "tester");
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1","tool_use_id":"t9""#)).name, "coder");
        write_meta(folder.path(), "a1", r#"{"toolUseId":"gone","agentType":"helper"}"#);
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1""#)).name, "helper");
        write_meta(folder.path(), "a1", "not json");
        assert_eq!(identify(&stop(&main, r#","agent_id":"a1""#)).name, "tester");
    }

    #[test]
    fn then_the_id_then_unknown() {
        let (_folder, main) = project("{}\n");
        let agent = identify(&stop(&main, r#","agent_id":"a1""#));
        assert_eq!((agent.name.as_str(), agent.kind), ("a1", None));
        assert_eq!(identify(&stop(&main, "")).name, UNKNOWN);
        assert_eq!(identify(&stop(Path::new("/does/not/exist.jsonl"), "")).name, UNKNOWN);
    }

    #[test]
    fn phantoms_are_distinguished_from_agents() {
        let (folder, main) = project("{}\n");
        assert!(is_phantom(&stop(&main, r#","agent_id":"hook-agent-1","agent_type":"x""#)));
        assert!(is_phantom(&stop(&main, r#","agent_id":"a1","agent_type":"""#)));
        assert!(is_phantom(&stop(&main, r#","agent_type":"""#)));
        assert!(!is_phantom(&stop(&main, r#","agent_id":"a1""#)), "an older client sends no type");
        assert!(!is_phantom(&stop(&main, r#","agent_id":"a1","agent_type":"coder""#)));
        let own = folder.path().join("own.jsonl");
        std::fs::write(&own, "").unwrap();
        let extra = format!(r#","agent_type":"","agent_transcript_path":{:?}"#, own.display().to_string());
        assert!(!is_phantom(&stop(&main, &extra)));
    }
}
