//! What Claude Code's own tools do with the files that their input names.

use serde_json::{Map, Value};

use crate::shell::Access;

/// What a tool call does, as far as its input says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use<'a> {
    File { access: Access, path: &'a str },
    Shell(&'a str),
    Other,
}

/// The tools with a file, and the field that names it.
const FILE_TOOLS: [(&str, &str, Access); 6] = [
    ("Write", "file_path", Access::Write),
    ("Edit", "file_path", Access::Write),
    ("MultiEdit", "file_path", Access::Write),
    ("NotebookEdit", "notebook_path", Access::Write),
    ("Read", "file_path", Access::Read),
    ("NotebookRead", "notebook_path", Access::Read),
];

/// Those that write, and those that read; a shell does both.
pub(crate) const WRITING: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"];
pub(crate) const READING: &[&str] = &["Read", "NotebookRead", "Grep", "Bash"];

/// The field of a tool's input that names its file.
pub(crate) fn file_field(tool: &str) -> Option<&'static str> {
    let found = FILE_TOOLS.iter().find(|(name, ..)| *name == tool).map(|(_, field, _)| *field);
    found.or_else(|| matches!(tool, "Grep" | "Glob").then_some("path"))
}

/// The tool whose input this looks like.
pub(crate) fn guess(input: &Map<String, Value>) -> Option<&'static str> {
    let fields = [
        ("command", "Bash"),
        ("notebook_path", "NotebookEdit"),
        ("old_string", "Edit"),
        ("file_path", "Write"),
        ("prompt", "Agent"),
    ];
    fields.into_iter().find(|(field, _)| input.contains_key(*field)).map(|(_, tool)| tool)
}

/// Tools that only look, or call others that are seen by themselves.
const LOOKING: [&str; 10] =
    ["Agent", "Task", "Read", "Glob", "Grep", "LS", "ToolSearch", "TodoWrite", "WebFetch", "WebSearch"];

/// Whether a tool starts an agent; until 2.1.63 it was called `Task`.
pub(crate) fn starts_agent(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Whether a tool can change anything.
pub(crate) fn may_write(tool: &str) -> bool {
    !LOOKING.contains(&tool)
}

/// The field that names the file which a tool writes.
pub(crate) fn written_field(tool: &str) -> Option<&'static str> {
    FILE_TOOLS
        .iter()
        .find(|(name, _, access)| *name == tool && *access == Access::Write)
        .map(|(_, field, _)| *field)
}

/// The tools that Claude Code 2.1.325 and versions before it have. A newer one may have others.
pub(crate) const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "ListAgents",
    "ListMcpResourcesTool",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// How the tools of MCP servers start: `mcp__server__tool`.
pub(crate) const MCP: &str = "mcp__";

/// What was called otherwise once.
pub(crate) const RENAMED: [(&str, &str); 1] = [("Task", "Agent")];

/// Whether a call of this tool may name files or a command, as far as that is known.
pub(crate) fn may_touch_files(tool: &str) -> bool {
    !KNOWN.contains(&tool) || WRITING.contains(&tool) || READING.contains(&tool)
}

/// What a call of a tool does.
pub(crate) fn what<'a>(tool: &str, input: &'a Map<String, Value>) -> Use<'a> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    if tool == "Bash" {
        return field("command").map_or(Use::Other, Use::Shell);
    }
    let found = FILE_TOOLS.iter().find(|(name, ..)| *name == tool);
    let file = found.and_then(|(_, name, access)| Some(Use::File { access: *access, path: field(name)? }));
    // Searching one file reads it.
    let searched = (tool == "Grep").then(|| field("path")).flatten();
    file.or_else(|| searched.map(|path| Use::File { access: Access::Read, path })).unwrap_or(Use::Other)
}
