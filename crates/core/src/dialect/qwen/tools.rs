//! The tools of Qwen Code.

use crate::dialect::tool::Tool;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(&["run_shell_command"], "Bash", &[]).in_directory("directory"),
    Tool::new(&["monitor"], "Monitor", &[]).in_directory("directory"),
    Tool::new(&["write_file"], "Write", &[]),
    Tool::new(&["edit"], "Edit", &[]),
    Tool::new(&["notebook_edit"], "NotebookEdit", &[]),
    Tool::new(&["read_file"], "Read", &[("absolute_path", "file_path"), ("path", "file_path")]),
    Tool::new(&["grep_search"], "Grep", &[]),
    Tool::new(&["glob"], "Glob", &[]),
    Tool::new(&["agent"], "Agent", &[]),
];
