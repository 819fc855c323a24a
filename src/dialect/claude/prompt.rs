//! What the prompts of Claude Code's main thread are: its own notifications, and slash commands.

/// Whether Claude Code wrote it itself, about an agent in the background.
pub(crate) fn is_notification(prompt: &str) -> bool {
    prompt.trim_start().starts_with("<task-notification>")
}

/// The agent that a prompt of Claude Code itself is about: a `<task-notification>` names it as `<task-id>`.
pub(crate) fn task_of(prompt: &str) -> Option<&str> {
    let rest = prompt.trim_start().strip_prefix("<task-notification>")?;
    let (_, rest) = rest.split_once("<task-id>")?;
    rest.split_once("</task-id>").map(|(id, _)| id.trim())
}

/// The name and the arguments of a slash command. A path is none.
pub(crate) fn slash_command(prompt: &str) -> Option<(&str, &str)> {
    let rest = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = |c: char| c.is_alphanumeric() || "-_:.".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, arguments.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clients_own_notification_names_an_agent() {
        assert_eq!(
            task_of("<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>"),
            Some("a1")
        );
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
