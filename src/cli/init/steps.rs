//! The slash command that starts a step.

use std::path::Path;

use super::{InitRequest, diff, files, free_name};
use crate::cli::out::Out;
use conclaude_engine::install::step_command::{PATH, TEXT};
use conclaude_engine::install::user_file::UserFile;

/// Writes it, but never over another one without `--force`, and then with a copy.
pub(super) fn write(request: &InitRequest, folder: &Path, out: &mut Out<'_>) -> anyhow::Result<()> {
    let file = UserFile { path: folder.join(PATH) };
    let path = file.path.display();
    match file.read()? {
        Some(text) if text == TEXT => {
            writeln!(out, "{path} is there already")?;
            return Ok(());
        }
        Some(_) if !request.force => {
            writeln!(
                out,
                "warning: {path} is another command, and is left as it is; `--force` replaces it, and keeps a copy"
            )?;
            return Ok(());
        }
        before if request.dry_run => {
            diff::print(out, &file.path, before.as_deref().unwrap_or_default(), TEXT)?;
            return Ok(());
        }
        Some(before) => {
            let copy = free_name(&file.path);
            files::write_atomically(&copy, before.as_bytes())?;
            writeln!(out, "the command as it was is kept in {}", copy.display())?;
        }
        None => {}
    }
    file.write(Some(TEXT))?;
    writeln!(out, "wrote {path}: `/step 01` in Claude Code starts the step whose file name starts with 01")?;
    Ok(())
}
