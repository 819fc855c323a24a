//! Where Claude Code keeps its files: transcripts, worktrees, settings and agents.
//!
//! A session's transcript is `<session>.jsonl`; those of its subagents are `<session>/subagents/agent-<id>.jsonl`, each with an
//! `agent-<id>.meta.json` beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The project's folder for Claude Code, and the user's folder in the home directory.
pub const FOLDER: &str = ".claude";

/// In the project's root.
pub const SETTINGS: &str = ".claude/settings.json";
pub const LOCAL_SETTINGS: &str = ".claude/settings.local.json";
pub const AGENTS: &str = ".claude/agents";
/// The checkouts of agents with `isolation: worktree`, and of sessions that were started in one.
pub const WORKTREES: &str = ".claude/worktrees";

/// In the user's own folder.
pub const USER_SETTINGS: &str = "settings.json";
pub const USER_AGENTS: &str = "agents";

/// The settings of administrators, which override all others.
pub const MANAGED_FOLDER: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };
pub const MANAGED_SETTINGS: &str = "managed-settings.json";
pub const MANAGED_PARTS: &str = "managed-settings.d";
/// Settings from the organization's server, kept in the user's own folder. They count like managed ones.
pub const SERVED_SETTINGS: &str = "remote-settings.json";

const SUBAGENTS: &str = "subagents";
const AGENT: &str = "agent-";
const TRANSCRIPT: &str = ".jsonl";
const META: &str = ".meta.json";

/// The folder with the transcripts of a session's subagents.
pub fn subagents(main: &Path) -> PathBuf {
    main.with_extension("").join(SUBAGENTS)
}

/// The transcript of an agent, in the folder of its session.
pub fn transcript_of(subagents: &Path, id: &str) -> PathBuf {
    subagents.join(format!("{AGENT}{id}{TRANSCRIPT}"))
}

/// The transcript of an agent next to that of the main thread, as versions before 2.1 stored it.
pub fn transcript_beside(main: &Path, id: &str) -> PathBuf {
    main.with_file_name(format!("{AGENT}{id}{TRANSCRIPT}"))
}

/// The path of a subagent's transcript, derived from a payload. Nothing is derived from a path or an id of another form, since it
/// could point anywhere.
pub fn derived_transcript(main: &str, agent_id: &str) -> Option<String> {
    let folder = main.strip_suffix(TRANSCRIPT)?;
    let unsafe_id = agent_id.contains(['/', '\\', '\0']) || agent_id.contains("..");
    if unsafe_id || folder.contains('\0') {
        return None;
    }
    Some(format!("{folder}/{SUBAGENTS}/{AGENT}{agent_id}{TRANSCRIPT}"))
}

/// The agent of this transcript.
pub fn agent_id(transcript: &Path) -> Option<&str> {
    file_name(transcript)?.strip_prefix(AGENT)?.strip_suffix(TRANSCRIPT)
}

/// The agent that this file describes.
pub fn agent_of_meta(meta: &Path) -> Option<&str> {
    file_name(meta)?.strip_prefix(AGENT)?.strip_suffix(META)
}

/// The session's folder for a subagent's transcript. The transcript may also be directly in it.
pub fn session_folder(transcript: &Path) -> Option<&Path> {
    let folder = transcript.parent()?;
    if folder.file_name() == Some(OsStr::new(SUBAGENTS)) { folder.parent() } else { Some(folder) }
}

/// Whether a subagent's transcript is in the folder of its session. Versions before 2.1 stored it next to that of the main
/// thread.
pub fn is_in_session_folder(transcript: &Path) -> bool {
    transcript.parent().and_then(Path::file_name) == Some(OsStr::new(SUBAGENTS))
}

/// Claude Code's file about an agent, next to its transcript.
pub fn meta_of(transcript: &Path) -> PathBuf {
    transcript.with_extension(META.trim_start_matches('.'))
}

/// Whether this is a file of lines, as transcripts are.
pub fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == TRANSCRIPT.trim_start_matches('.'))
}

/// The worktree of an agent.
pub fn worktree(root: &Path, agent_id: &str) -> PathBuf {
    root.join(WORKTREES).join(format!("{AGENT}{agent_id}"))
}

/// The project of this worktree, which belongs to an agent or a session.
pub fn project_of_worktree(folder: &Path) -> Option<&Path> {
    folder.parent().filter(|parent| parent.ends_with(WORKTREES))?.parent()?.parent()
}

/// Whether a worktree was made for an agent.
pub fn is_of_agent(worktree: &Path) -> bool {
    worktree.file_name().is_some_and(|name| name.to_string_lossy().starts_with(AGENT))
}

/// The path inside a worktree, for a path from the root. Empty for the worktree's top level.
pub fn inside_worktree(relative: &str) -> Option<&str> {
    let below = relative.strip_prefix(WORKTREES)?.strip_prefix('/')?;
    Some(below.split_once('/').map_or("", |(_, inside)| inside))
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_an_agent_lead_to_each_other() {
        let main = Path::new("/p/s.jsonl");
        let transcript = transcript_of(&subagents(main), "a1");
        assert_eq!(transcript, Path::new("/p/s/subagents/agent-a1.jsonl"));
        assert_eq!(derived_transcript("/p/s.jsonl", "a1").as_deref(), transcript.to_str());
        assert_eq!(agent_id(&transcript), Some("a1"));
        let beside = transcript_beside(main, "a1");
        assert_eq!((beside.as_path(), agent_id(&beside)), (Path::new("/p/agent-a1.jsonl"), Some("a1")));
        assert_eq!(meta_of(&transcript), Path::new("/p/s/subagents/agent-a1.meta.json"));
        assert_eq!(agent_of_meta(&meta_of(&transcript)), Some("a1"));
        assert_eq!(session_folder(&transcript), Some(Path::new("/p/s")));
        assert_eq!(
            (agent_id(main), agent_of_meta(&transcript), agent_id(&meta_of(&transcript))),
            (None, None, None)
        );
    }

    #[test]
    fn a_worktree_leads_to_its_project() {
        let tree = worktree(Path::new("/p"), "a1");
        assert_eq!(tree, Path::new("/p/.claude/worktrees/agent-a1"));
        assert_eq!(project_of_worktree(&tree), Some(Path::new("/p")));
        assert!(is_of_agent(&tree) && !is_of_agent(Path::new("/p/.claude/worktrees/mine")));
        assert_eq!(project_of_worktree(Path::new("/p/worktrees/agent-a1")), None);
    }
}
