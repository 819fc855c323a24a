//! The tools of Copilot CLI 1.0.102. It has Claude Code's names for them where the event has, and its own elsewhere; the fields are
//! its own.

use crate::dialect::tool::Tool;

const FILE: &[(&str, &str)] = &[("path", "file_path")];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["Write", "create"],
        ours: "Write",
        fields: &[("path", "file_path"), ("file_text", "content")],
    },
    Tool {
        names: &["Edit", "edit"],
        ours: "Edit",
        fields: &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")],
    },
    Tool { names: &["Read", "view"], ours: "Read", fields: FILE },
];
