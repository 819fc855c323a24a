//! The first cases for `conclaude test`, beside the config.

use std::path::Path;

use super::{InitRequest, diff};
use crate::cli::out::Out;
use conclaude_core::config::TEST_FILES;
use conclaude_engine::install::first_cases::TEXT;
use conclaude_engine::install::user_file::UserFile;

/// Writes them where there are none: cases are worth more than what we suggest.
pub(super) fn write(request: &InitRequest, folder: &Path, out: &mut Out<'_>) -> anyhow::Result<()> {
    let [name, _] = TEST_FILES;
    if TEST_FILES.iter().any(|name| folder.join(name).symlink_metadata().is_ok()) {
        return Ok(());
    }
    let file = UserFile { path: folder.join(name) };
    if request.dry_run {
        diff::print(out, &file.path, "", TEXT)?;
        return Ok(());
    }
    file.write(Some(TEXT))?;
    writeln!(out, "wrote {}: cases for `conclaude test`", file.path.display())?;
    Ok(())
}
