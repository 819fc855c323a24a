//! What Claude Code's notation compares of a tool's input: `Bash(npm publish*)`, `Edit(./docs/**)`, `WebFetch(domain:example.com)`.

use super::command_pattern::CommandPattern;
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::file_pattern::FilePattern;
use shell_effects::Access;
use shell_effects::glob::{Glob, GlobError, Kind};

#[derive(Clone, Debug)]
pub enum InputPattern {
    Any,
    Command(CommandPattern),
    File { pattern: FilePattern, writes: bool },
    Domain(Glob),
    Field { name: &'static str, glob: Glob },
}

impl InputPattern {
    /// # Errors
    /// Names a broken pattern, which the config would not have been read with.
    pub fn of(input: &ToolInputPattern, home: Option<&str>) -> Result<InputPattern, GlobError> {
        let name = |glob: &str| Glob::new(glob, Kind::Name);
        Ok(match input {
            ToolInputPattern::Any => InputPattern::Any,
            ToolInputPattern::Command { glob, prefix } => {
                InputPattern::Command(CommandPattern::new(name(glob)?, *prefix))
            }
            ToolInputPattern::File { pattern, writes } => {
                InputPattern::File { pattern: FilePattern::of_rule(pattern, home)?, writes: *writes }
            }
            ToolInputPattern::Domain(glob) => InputPattern::Domain(name(glob)?),
            ToolInputPattern::Field { name: field, glob } => {
                InputPattern::Field { name: field, glob: name(glob)? }
            }
        })
    }
}

/// Whether a shell command that touches a file so does what a rule for reading or writing is about.
pub fn is_about(access: Access, writes: bool) -> bool {
    match access {
        Access::Read => !writes,
        Access::Link => true,
        Access::Write | Access::Format | Access::Update | Access::Delete | Access::MakeDirectory => writes,
    }
}
