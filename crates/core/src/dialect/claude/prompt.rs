//! Prompts of Claude Code's main thread, and other messages in its transcript that look like prompts.

/// The start of lines with the output or the name of a command of Claude Code itself.
const LOCAL: [&str; 3] = ["<local-command-", "<command-name>", "<bash-"];

const INTERRUPTED: &str = "[Request interrupted by user";

const OTHER_SESSION: &str = "Another Claude session sent a message:";

/// Whether UserPromptSubmit fires for it.
pub fn is_submitted(prompt: &str) -> bool {
    let is_other = prompt.trim_start().starts_with(OTHER_SESSION);
    !is_local_command(prompt) && !is_interruption(prompt) && !is_other
}

/// Whether it is Claude Code's own notification about a background agent.
pub fn is_notification(prompt: &str) -> bool {
    prompt.trim_start().starts_with("<task-notification>")
}

/// The agent of such a notification.
pub fn task_of(prompt: &str) -> Option<&str> {
    in_notification(prompt, "<task-id>", "</task-id>")
}

/// The status of that agent: `completed`, `failed`, `killed`.
pub fn task_status(prompt: &str) -> Option<&str> {
    in_notification(prompt, "<status>", "</status>")
}

fn in_notification<'a>(prompt: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = prompt.trim_start().strip_prefix("<task-notification>")?;
    let (_, rest) = rest.split_once(start)?;
    rest.split_once(end).map(|(text, _)| text.trim())
}

/// Whether it is Claude Code's note that the user has interrupted it.
pub fn is_interruption(prompt: &str) -> bool {
    prompt.trim_start().starts_with(INTERRUPTED)
}

/// Whether it is the output or the name of a built-in command, and not a request.
pub fn is_local_command(prompt: &str) -> bool {
    LOCAL.iter().any(|start| prompt.trim_start().starts_with(start))
}

/// The name and the arguments of a slash command. A path is not a command.
pub fn slash_command(prompt: &str) -> Option<(&str, &str)> {
    let rest = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = |c: char| c.is_alphanumeric() || "-_:.".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    Some((name, arguments.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clients_own_notification_names_an_agent() {
        let own = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>";
        assert_eq!((task_of(own), task_status(own)), (Some("a1"), Some("completed")));
        assert_eq!(task_of("look: <task-notification><task-id>a1</task-id>"), None);
        assert_eq!(task_of("hello"), None);
    }

    #[test]
    fn a_slash_command_is_a_name_with_arguments() {
        assert_eq!(slash_command("/deploy staging now"), Some(("deploy", "staging now")));
        assert_eq!(slash_command(" /plugin:do-it\nx"), Some(("plugin:do-it", "x")));
        assert_eq!(slash_command("/deploy"), Some(("deploy", "")));
        for prompt in ["deploy", "/", "/ deploy", "/etc/hosts is broken", "//x", "look at /deploy"] {
            assert_eq!(slash_command(prompt), None, "{prompt}");
        }
    }
}
