//! The tools of Gemini CLI.

use super::CALLING;
use crate::dialect::tool::Tool;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(&["run_shell_command"], "Bash", &[]).in_directory("dir_path"),
    Tool::new(&["write_file"], "Write", &[]),
    Tool::new(&["replace"], "Edit", &[]),
    Tool::new(&["read_file"], "Read", &[("absolute_path", "file_path")]),
    Tool::new(&["read_many_files"], "Grep", &[("include", "paths")]),
    Tool::new(&["grep_search"], "Grep", &[("dir_path", "path")]),
    Tool::new(&["glob"], "Glob", &[("dir_path", "path")]),
    Tool::new(&[CALLING], "Agent", &[("agent_name", "subagent_type")]),
];
