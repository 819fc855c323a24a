//! What Claude Code's own tools do with the files that their input names.

use serde_json::{Map, Value};

use super::agents;
use shell_effects::Access;

/// What a tool call does, as far as its input says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolUse<'a> {
    File {
        access: Access,
        path: &'a str,
    },
    Shell(&'a str),
    /// Code of another shell, whose syntax is not read.
    PowerShell(&'a str),
    Other,
}

/// The tool that runs shell commands.
pub const SHELL: &str = "Bash";

/// Runs a shell command as `Bash` does, in the background; with `ws` instead it opens a socket and runs nothing.
const MONITOR: &str = "Monitor";
const POWER_SHELL: &str = "PowerShell";

/// The field with the command of a tool that has one.
pub const COMMAND: &str = "command";

/// The tools with a command.
pub const WITH_COMMAND: [&str; 3] = [SHELL, MONITOR, POWER_SHELL];

/// Whether rules for `Bash` are for this tool as well, as those of Claude Code's own permissions are for Monitor. One that allows a
/// command of `sh` does not allow the same text in another language.
pub fn is_ruled_as_shell(tool: &str, is_allowing: bool) -> bool {
    tool == MONITOR || tool == POWER_SHELL && !is_allowing
}

/// The tool that starts agents.
pub const AGENT: &str = "Agent";

/// The tools with a file, and the field that names it.
const FILE_TOOLS: [(&str, &str, Access); 6] = [
    ("Write", "file_path", Access::Write),
    ("Edit", "file_path", Access::Write),
    ("MultiEdit", "file_path", Access::Write),
    ("NotebookEdit", "notebook_path", Access::Write),
    ("Read", "file_path", Access::Read),
    ("NotebookRead", "notebook_path", Access::Read),
];

/// A search, and the field that may name a single file.
const SEARCH: (&str, &str) = ("Grep", "path");

/// The tools that may write files; a shell may also read them.
pub fn writing() -> impl Iterator<Item = &'static str> {
    with_access(Access::Write).chain(WITH_COMMAND)
}

/// The tools that may read files.
pub fn reading() -> impl Iterator<Item = &'static str> {
    with_access(Access::Read).chain([SEARCH.0]).chain(WITH_COMMAND)
}

fn with_access(wanted: Access) -> impl Iterator<Item = &'static str> {
    FILE_TOOLS.iter().filter(move |(.., access)| *access == wanted).map(|(tool, ..)| *tool)
}

/// The file that a tool's input names, whichever tool it is.
pub fn named_file(input: &Map<String, Value>) -> Option<&str> {
    FILE_TOOLS.iter().find_map(|(_, field, _)| input.get(*field)?.as_str())
}

/// The field of a tool's input that names its file.
pub fn file_field(tool: &str) -> Option<&'static str> {
    let found = FILE_TOOLS.iter().find(|(name, ..)| *name == tool).map(|(_, field, _)| *field);
    found.or_else(|| matches!(tool, "Grep" | "Glob").then_some("path"))
}

/// The tool whose input this looks like.
pub fn guess(input: &Map<String, Value>) -> Option<&'static str> {
    let fields = [
        (COMMAND, SHELL),
        ("notebook_path", "NotebookEdit"),
        ("old_string", "Edit"),
        ("file_path", "Write"),
        (agents::PROMPT, AGENT),
    ];
    fields.into_iter().find(|(field, _)| input.contains_key(*field)).map(|(_, tool)| tool)
}

/// What a call is about that names no file and no command, in a few words.
pub fn described(input: &Map<String, Value>) -> Option<&str> {
    let fields = ["description", "subject", "pattern", "url", "query", "skill"];
    fields.iter().find_map(|field| input.get(*field)?.as_str())
}

/// Tools that only look, or call others that are seen by themselves.
const LOOKING: [&str; 10] =
    ["Agent", "Task", "Read", "Glob", "Grep", "LS", "ToolSearch", "TodoWrite", "WebFetch", "WebSearch"];

/// Whether a tool starts an agent; until 2.1.63 it was called `Task`.
pub fn starts_agent(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Whether a tool can change anything.
pub fn may_write(tool: &str) -> bool {
    !LOOKING.contains(&tool)
}

/// The field that names the file which a tool writes.
pub fn written_field(tool: &str) -> Option<&'static str> {
    FILE_TOOLS
        .iter()
        .find(|(name, _, access)| *name == tool && *access == Access::Write)
        .map(|(_, field, _)| *field)
}

/// Tools that are there to ask the user: to allow them is to answer in the user's name.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

pub fn asks_user(tool: &str) -> bool {
    ASKING.contains(&tool)
}

/// The tools that Claude Code 2.1.325 and versions before it have. A newer one may have others.
pub const KNOWN: &[&str] = &[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "ClaudeDesign",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "ProposeGoal",
    "ProposeSkills",
    "PushNotification",
    "REPL",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RefreshMcpTools",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "SubagentHandback",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "propose_skills",
];

/// What was called otherwise once.
pub const RENAMED: [(&str, &str); 1] = [("Task", "Agent")];

/// The name of a tool today; in a matcher it means the former one too.
pub fn current_name(tool: &str) -> &str {
    RENAMED.iter().find(|(former, _)| *former == tool).map_or(tool, |(_, current)| current)
}

/// The name that a tool had before.
pub fn former_name(tool: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(_, current)| *current == tool).map(|(former, _)| *former)
}

/// Whether the lists of an agent's file leave it a tool that changes files. A shell could, but agents that only look around
/// have one too.
pub fn can_write(allowed: Option<&[String]>, denied: &[String]) -> bool {
    let writes = |tool: &String| tool == "*" || written_field(tool).is_some();
    let is_denied = ["Write", "Edit"].iter().all(|tool| denied.iter().any(|one| one == tool));
    allowed.is_none_or(|tools| tools.iter().any(writes)) && !is_denied
}

/// Whether a call of this tool may write files, as far as that is known.
pub fn may_write_files(tool: &str) -> bool {
    !KNOWN.contains(&tool) || writing().any(|writing| writing == tool)
}

/// Whether a call of this tool may name files or a command, as far as that is known.
pub fn may_touch_files(tool: &str) -> bool {
    may_write_files(tool) || reading().any(|reading| reading == tool)
}

/// The field of a tool's input that should name its file or its command and is no text that could do that, and what would be done
/// to the file. Claude Code sends no such input.
pub fn malformed(tool: &str, input: &Map<String, Value>) -> Option<(&'static str, Option<Access>)> {
    let file = FILE_TOOLS.iter().find(|(name, ..)| *name == tool);
    let (field, access, is_required) = match file {
        Some((_, field, access)) => (*field, Some(*access), true),
        None if WITH_COMMAND.contains(&tool) => (COMMAND, None, tool != MONITOR || !input.contains_key("ws")),
        None if tool == SEARCH.0 => (SEARCH.1, Some(Access::Read), false),
        None => return None,
    };
    let is_usable = match input.get(field) {
        Some(Value::String(text)) => !text.contains('\0') && (file.is_none() || !text.trim().is_empty()),
        Some(Value::Null) | None => !is_required,
        Some(_) => false,
    };
    (!is_usable).then_some((field, access))
}

/// What a call of a tool does.
pub fn what<'a>(tool: &str, input: &'a Map<String, Value>) -> ToolUse<'a> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    if WITH_COMMAND.contains(&tool) {
        let shell = if tool == POWER_SHELL { ToolUse::PowerShell } else { ToolUse::Shell };
        return field(COMMAND).map_or(ToolUse::Other, shell);
    }
    let found = FILE_TOOLS.iter().find(|(name, ..)| *name == tool);
    let file =
        found.and_then(|(_, name, access)| Some(ToolUse::File { access: *access, path: field(name)? }));
    // Searching one file reads it.
    let searched = (tool == SEARCH.0).then(|| field(SEARCH.1)).flatten();
    file.or_else(|| searched.map(|path| ToolUse::File { access: Access::Read, path }))
        .unwrap_or(ToolUse::Other)
}

/// The file that a search names by its `glob`, which is a name without wildcards.
pub fn searched(tool: &str, input: &Map<String, Value>) -> Option<String> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let name =
        field("glob").filter(|name| tool == SEARCH.0 && !name.contains(['*', '?', '[', '{', '!', '\0']))?;
    let folder = field(SEARCH.1).filter(|folder| !folder.contains('\0'));
    Some(folder.map_or_else(|| name.to_owned(), |folder| format!("{}/{name}", folder.trim_end_matches('/'))))
}
