//! Claude Code's own tools, and what they do with the files, commands and URLs in their input.

use std::borrow::Cow;

use serde_json::{Map, Value};
use shell_effects::{Access, apply_patch};

pub mod mcp;
pub mod notation;

use super::agents;

/// The effect of a tool call, according to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolUse<'a> {
    File {
        access: Access,
        path: &'a str,
    },
    /// A patch, which may write and delete several files.
    Patch(&'a str),
    Shell(&'a str),
    /// Code of another shell, whose syntax is not read.
    PowerShell(&'a str),
    Other,
}

/// The tool that reads a file.
pub const READ: &str = "Read";

pub const WRITE: &str = "Write";

/// The tool that changes a file. Permission rules for it apply to all tools that write.
pub const EDIT: &str = "Edit";

/// The field of [`EDIT`] with a patch instead of a file and its text, for other clients.
pub const PATCH: &str = "patch";

/// The tool that runs shell commands.
pub const SHELL: &str = "Bash";

/// Runs a shell command in the background, like `Bash`. With `ws` it opens a socket instead and runs nothing.
const MONITOR: &str = "Monitor";
const POWER_SHELL: &str = "PowerShell";

/// Requests to run a shell command outside the sandbox.
const UNSANDBOXED: &str = "dangerouslyDisableSandbox";

/// Whether a shell command requests to run outside the sandbox.
pub fn runs_unsandboxed(input: &Map<String, Value>) -> bool {
    !matches!(input.get(UNSANDBOXED), None | Some(Value::Null | Value::Bool(false)))
}

/// The field with the command.
pub const COMMAND: &str = "command";

/// The tools with a command.
pub const WITH_COMMAND: [&str; 3] = [SHELL, MONITOR, POWER_SHELL];

/// Whether rules for `Bash` also apply to this tool, as Claude Code's own permissions do for Monitor. A rule that allows a
/// command of `sh` does not allow the same text in another language.
pub fn is_ruled_as_shell(tool: &str, is_allowing: bool) -> bool {
    tool == MONITOR || tool == POWER_SHELL && !is_allowing
}

/// The tool that starts agents.
pub const AGENT: &str = "Agent";

/// The tools with a file, and the field that names it.
const FILE_TOOLS: [(&str, &str, Access); 6] = [
    (WRITE, "file_path", Access::Write),
    (EDIT, "file_path", Access::Write),
    ("MultiEdit", "file_path", Access::Write),
    ("NotebookEdit", "notebook_path", Access::Write),
    (READ, "file_path", Access::Read),
    ("NotebookRead", "notebook_path", Access::Read),
];

/// A search, and the field that may name a single file.
const SEARCH: (&str, &str) = ("Grep", "path");

/// The search for names of files. Its field of that name is a directory.
const NAME_SEARCH: &str = "Glob";

/// Shows files to the user. Their contents leave the project.
const SEND: &str = "SendUserFile";

/// Tools that publish or load the files in their input. Each has its own fields for them.
pub const NAMING: [&str; 3] = ["Artifact", "Projects", "ReadMcpResourceTool"];

/// The tools that may write files; a shell may also read them.
pub fn writing() -> impl Iterator<Item = &'static str> {
    with_access(Access::Write).chain(WITH_COMMAND)
}

/// The tools that may read files.
pub fn reading() -> impl Iterator<Item = &'static str> {
    with_access(Access::Read).chain([SEARCH.0, SEND]).chain(WITH_COMMAND).chain(NAMING)
}

fn with_access(wanted: Access) -> impl Iterator<Item = &'static str> {
    FILE_TOOLS.iter().filter(move |(.., access)| *access == wanted).map(|(tool, ..)| *tool)
}

/// The tools that a permission rule for [`EDIT`] applies to.
fn ruled_as_edit() -> impl Iterator<Item = &'static str> {
    with_access(Access::Write)
}

/// The tools that a permission rule for [`READ`] applies to.
fn ruled_as_read() -> impl Iterator<Item = &'static str> {
    with_access(Access::Read).chain([SEARCH.0, NAME_SEARCH])
}

/// The file in the input of any tool.
pub fn named_file(input: &Map<String, Value>) -> Option<&str> {
    FILE_TOOLS.iter().find_map(|(_, field, _)| input.get(*field)?.as_str())
}

/// Like `named_file`, else the first file that a patch writes.
pub fn first_file(input: &Map<String, Value>) -> Option<String> {
    let in_patch = || {
        let files = apply_patch::files(input.get(PATCH)?.as_str()?)?;
        files.into_iter().find(|file| file.access == Access::Write).map(|file| file.path)
    };
    named_file(input).map(str::to_owned).or_else(in_patch)
}

/// Whether a call has a patch instead of a file.
pub fn is_patch(tool: &str, input: &Map<String, Value>) -> bool {
    tool == EDIT && !input.contains_key("file_path") && input.get(PATCH).is_some_and(Value::is_string)
}

/// The field with the file of a tool.
pub fn file_field(tool: &str) -> Option<&'static str> {
    if tool == SEARCH.0 || tool == NAME_SEARCH {
        return Some(SEARCH.1);
    }
    FILE_TOOLS.iter().find(|(name, ..)| *name == tool).map(|(_, field, _)| *field)
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

/// A short description of a call without a file or a command.
pub fn described(input: &Map<String, Value>) -> Option<&str> {
    let fields = ["description", "subject", "pattern", "url", "query", "skill"];
    fields.iter().find_map(|field| input.get(*field)?.as_str())
}

/// Tools that only read, or call others that have their own events.
const READING_TOOLS: [&str; 10] =
    ["Agent", "Task", "Read", "Glob", "Grep", "LS", "ToolSearch", "TodoWrite", "WebFetch", "WebSearch"];

/// Tools that only deliver the result of an agent.
const REPORTING: [&str; 2] = ["StructuredOutput", "SubagentHandback"];

/// Whether a tool only delivers the result of an agent.
pub fn only_reports(tool: &str) -> bool {
    REPORTING.contains(&tool)
}

/// Whether a tool starts an agent; until 2.1.63 it was called `Task`.
pub fn starts_agent(tool: &str) -> bool {
    current_name(tool) == AGENT
}

/// Whether a tool can change anything.
pub fn may_write(tool: &str) -> bool {
    !READING_TOOLS.contains(&tool)
}

/// The field with the file that a tool writes.
pub fn written_field(tool: &str) -> Option<&'static str> {
    FILE_TOOLS
        .iter()
        .find(|(name, _, access)| *name == tool && *access == Access::Write)
        .map(|(_, field, _)| *field)
}

/// Tools that ask the user: their result is the user's answer. Allowing them would answer for the user.
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
    SEND,
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

/// Former and current names.
pub const RENAMED: [(&str, &str); 1] = [("Task", "Agent")];

/// The current name of a tool. In a matcher it includes the former name.
pub fn current_name(tool: &str) -> &str {
    RENAMED.iter().find(|(former, _)| *former == tool).map_or(tool, |(_, current)| current)
}

/// The name that a tool had before.
pub fn former_name(tool: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(_, current)| *current == tool).map(|(former, _)| *former)
}

/// Whether the tool lists of an agent's file include one that changes files. A shell does not count, since read-only agents
/// have one too.
pub fn can_write(allowed: Option<&[String]>, denied: &[String]) -> bool {
    let writes = |tool: &String| tool == "*" || written_field(tool).is_some();
    let is_denied = [WRITE, EDIT].iter().all(|tool| denied.iter().any(|one| one == tool));
    allowed.is_none_or(|tools| tools.iter().any(writes)) && !is_denied
}

/// Whether a call of this tool may write files, as far as known.
pub fn may_write_files(tool: &str) -> bool {
    !KNOWN.contains(&tool) || writing().any(|writing| writing == tool)
}

/// Whether a call of this tool may name files or a command, as far as known.
pub fn may_touch_files(tool: &str) -> bool {
    may_write_files(tool) || reading().any(|reading| reading == tool)
}

/// The field that should name the file or the command but does not contain a usable text, and the access to the file. Claude
/// Code does not send such input.
pub fn malformed(tool: &str, input: &Map<String, Value>) -> Option<(&'static str, Option<Access>)> {
    if is_patch(tool, input) {
        let is_read = input.get(PATCH).and_then(Value::as_str).and_then(apply_patch::files).is_some();
        return if is_read { None } else { Some((PATCH, Some(Access::Write))) };
    }
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
    if is_usable { None } else { Some((field, access)) }
}

/// The effect of a tool call.
pub fn what<'a>(tool: &str, input: &'a Map<String, Value>) -> ToolUse<'a> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    if WITH_COMMAND.contains(&tool) {
        let shell = if tool == POWER_SHELL { ToolUse::PowerShell } else { ToolUse::Shell };
        return field(COMMAND).map_or(ToolUse::Other, shell);
    }
    if is_patch(tool, input) {
        return field(PATCH).map_or(ToolUse::Other, ToolUse::Patch);
    }
    let found = FILE_TOOLS.iter().find(|(name, ..)| *name == tool);
    let file =
        found.and_then(|(_, name, access)| Some(ToolUse::File { access: *access, path: field(name)? }));
    // Searching one file reads it.
    let searched = if tool == SEARCH.0 { field(SEARCH.1) } else { None };
    file.or_else(|| searched.map(|path| ToolUse::File { access: Access::Read, path }))
        .unwrap_or(ToolUse::Other)
}

/// The files of a search besides its `path`: its `glob`, if that is a name without wildcards, or the `paths` of another client.
pub fn searched(tool: &str, input: &Map<String, Value>) -> Vec<String> {
    if tool != SEARCH.0 {
        return Vec::new();
    }
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let listed = match input.get("paths") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    let listed =
        listed.iter().filter_map(Value::as_str).filter(|name| !name.contains('\0')).map(str::to_owned);
    let named = field("glob").filter(|name| !name.contains(['*', '?', '[', '{', '!', '\0']));
    let folder = field(SEARCH.1).filter(|folder| !folder.contains('\0'));
    let in_folder = |name: &str| {
        folder.map_or_else(|| name.to_owned(), |folder| format!("{}/{name}", folder.trim_end_matches('/')))
    };
    listed.chain(named.map(in_folder)).collect()
}

/// Whether an edit replaces text, so that its file must have existed. Since a past session it may have been deleted.
pub fn replaces_text(input: &Map<String, Value>) -> bool {
    input.get("old_string").and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// The files that a call sends to the user. `None` if there are too many.
pub fn sent<'a>(tool: &str, input: &'a Map<String, Value>) -> Option<Vec<Cow<'a, str>>> {
    if tool == SEND { mcp::named_files(input) } else { Some(Vec::new()) }
}

/// The host of the input's `url`, in lower case. `None` for a URL that two readers could understand differently.
pub fn host_of(input: &Map<String, Value>) -> Option<String> {
    host(input.get("url")?.as_str()?)
}

fn host(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    // Such a URL hides its host; some readers take a backslash for a slash.
    if authority.contains(['@', '\\', '%']) {
        return None;
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) => return None,
        None => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_name =
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if is_name { Some(host.to_ascii_lowercase()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_everybody_reads_as_one() {
        for (url, expected) in [
            ("https://example.com/a?b#c", Some("example.com")),
            ("HTTP://Example.COM:8080", Some("example.com")),
            ("https://example.com.", Some("example.com")),
            ("https://example.com?@evil.org", Some("example.com")),
            ("https://example.com@evil.org/", None),
            ("https://evil.org\\@example.com/", None),
            ("https://example.com:80@evil.org", None),
            ("https://ex%61mple.com", None),
            ("https://exämple.com", None),
            ("ftp://example.com", None),
            ("example.com", None),
            ("https:///x", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }
}
