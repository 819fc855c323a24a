//! The schema for editors that a config names in its first line. It is in `.conclaude/`, which git ignores. In a fresh clone the
//! first subcommand or session writes it.

use std::io;
use std::path::Path;

use super::starter::SCHEMA;
use conclaude_core::config;
use conclaude_os::files;
use conclaude_store::{root, store};

/// No schema is larger.
const MAX_BYTES: u64 = 4 << 20;

/// The schema of the cases for `conclaude test`.
const TEST_SCHEMA: &str = ".conclaude/test.schema.json";

/// Writes the schemas below the folder of a config.
pub fn write(folder: &Path) -> io::Result<()> {
    store::make_folder(folder, &folder.join(store::FOLDER))?;
    files::write_atomically(&folder.join(TEST_SCHEMA), config::test_schema_text().as_bytes())?;
    files::write_atomically(&folder.join(SCHEMA), config::schema_text().as_bytes())
}

/// Writes the schema if the config names it, and it is missing or of another version.
///
/// # Errors
/// If it cannot be written. The config works without it.
pub fn refresh(config: &Path) -> io::Result<()> {
    let Some(folder) = config.parent() else { return Ok(()) };
    let is_named = root::read(config).is_ok_and(|text| names_it(&text));
    let is_current =
        || files::read_text(&folder.join(SCHEMA), MAX_BYTES).is_ok_and(|text| text == config::schema_text());
    if is_named && !is_current() { write(folder) } else { Ok(()) }
}

/// Like `refresh`, but describes a failure in words.
pub fn refreshed(config: Option<&Path>) -> Option<String> {
    let error = refresh(config?).err()?;
    Some(format!("the schema for editors cannot be written: {error}"))
}

/// Whether one of the comments at the top names our schema in the form that editors expect.
fn names_it(text: &str) -> bool {
    let comments = text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with('#'));
    let mut named = comments.filter_map(|line| {
        line.trim_start_matches('#')
            .trim_start()
            .strip_prefix("yaml-language-server:")?
            .trim()
            .strip_prefix("$schema=")
    });
    named.any(|path| path.strip_prefix("./").unwrap_or(path) == SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_config_that_names_the_schema_gets_it() {
        for (text, is) in [
            ("# yaml-language-server: $schema=./.conclaude/schema.json\nmaxBlocks: 3\n", true),
            ("# yaml-language-server: $schema=.conclaude/schema.json", true),
            ("# mine\n\n# yaml-language-server: $schema=./.conclaude/schema.json\n", true),
            ("# yaml-language-server: $schema=https://example.com/schema.json\n", false),
            ("maxBlocks: 3\n# yaml-language-server: $schema=./.conclaude/schema.json\n", false),
            ("", false),
        ] {
            assert_eq!(names_it(text), is, "{text}");
        }
    }
}
