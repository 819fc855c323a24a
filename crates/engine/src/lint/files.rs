//! Patterns and paths of files that the project does not have.

use std::path::{Component, Path};

use super::coverage::{alternatives, is_literal};
use super::{CommandEntry, LintContext, command_keys, commands};
use conclaude_checks::paths;
use conclaude_core::config::{ConclaudeConfig, FileGlob, Piece, Remark, pieces};
use conclaude_core::dialect::claude::tools;
use conclaude_core::event::Subject;
use conclaude_core::file_pattern::{FilePattern, Location};

/// Larger projects are not searched.
const MAX_FILES: usize = 50_000;

pub(super) fn check(config: &ConclaudeConfig, context: &LintContext, found: &mut Vec<Remark>) {
    if commands(config).all(|entry| entry.command.files.is_none()) {
        return;
    }
    let project = all_files(&context.root);
    for CommandEntry { event, pattern, index, command } in commands(config) {
        let Some(list) = &command.files else { continue };
        let (section, index) = (event.row().section, index.to_string());
        let keys = command_keys(section, pattern, &index, "files");
        let is_without = |tool: &String| is_literal(tool) && !tools::may_write_files(tool);
        if event.row().subject == Subject::Field("tool_name") && alternatives(pattern).iter().all(is_without)
        {
            let remark = Remark::new(keys, format!("{section}: this command never runs"));
            let why = format!("`files` needs written files, and `{pattern}` writes none");
            found.push(remark.because(why).help("remove `files`"));
            continue;
        }
        let globs: Vec<&str> = list.iter().map(FileGlob::as_str).collect();
        if globs.iter().all(|glob| glob.starts_with('!')) {
            let remark = Remark::new(keys, format!("{section}: this command never runs"));
            let help = format!("write `files: [\"*\", \"{}\"]`", globs.join("\", \""));
            found.push(remark.because("its `files` only exclude files").help(help));
            continue;
        }
        for (at, glob) in globs.iter().enumerate() {
            let Some(project) = &project else { continue };
            if glob.starts_with('!') || matches_any(glob, project) {
                continue;
            }
            let at = at.to_string();
            let remark = Remark::new(
                keys.iter().copied().chain([at.as_str()]),
                format!("{section}: `{glob}` matches no file"),
            );
            found.push(remark.because("the project has none like that").help(hint(glob, project)));
        }
    }
}

/// `@path` in a text for prompts.
pub(super) fn of_prompts(config: &ConclaudeConfig, context: &LintContext, found: &mut Vec<Remark>) {
    const SECTION: &str = "userPromptSubmit";
    for (number, rule) in config.prompts.rules() {
        for piece in pieces(rule.value.prompt.as_str()) {
            let Piece::File(path) = piece else { continue };
            let real = paths::real_path(&context.root.join(path));
            let goes_up = Path::new(path).components().any(|part| part == Component::ParentDir);
            let why =
                if goes_up || !real.starts_with(paths::real_path(&context.root)) || path.starts_with('~') {
                    "only files of the project are, by a path without `..`"
                } else if real.is_file() {
                    continue;
                } else {
                    "the project has no such file"
                };
            let keys = [SECTION, "contextRules", &number.to_string(), "prompt"];
            let remark = Remark::new(keys, format!("{SECTION}: `@{path}` is not inserted"));
            found.push(
                remark
                    .because(why)
                    .help("write its path from the project's root; `@@` at the start of a word is an `@`"),
            );
        }
    }
}

fn matches_any(glob: &str, files: &[Location]) -> bool {
    // Files outside of the project are not checked.
    glob.starts_with('~')
        || FilePattern::new(glob, None).map_or(true, |pattern| files.iter().any(|file| pattern.covers(file)))
}

/// The pattern that was probably meant.
fn hint(glob: &str, files: &[Location]) -> String {
    let name = glob.rsplit('/').next().unwrap_or(glob);
    if glob.contains('/') && name != "**" && matches_any(name, files) {
        return format!("`{name}` matches files elsewhere: a pattern with `/` counts from the root");
    }
    "write the path from the project's root, or a name for any depth".into()
}

/// Whether the project has a directory that a pattern covers, or too many to know.
pub(super) fn has_folder(root: &Path, pattern: &str) -> bool {
    let Ok(pattern) = FilePattern::new(pattern, None) else { return true };
    let Some(files) = all_files(root) else { return true };
    let folders = files.iter().filter_map(|file| {
        let (folder, _) = file.relative.as_deref()?.rsplit_once('/')?;
        let absolute = root.join(folder).to_string_lossy().into_owned();
        Some(Location {
            absolute,
            relative: Some(folder.to_owned()),
            is_directory: true,
            ..Location::default()
        })
    });
    folders.into_iter().any(|folder| pattern.covers(&folder))
}

/// All files. `None` if there are too many.
fn all_files(root: &Path) -> Option<Vec<Location>> {
    let (mut found, mut pending) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).ok()?.flatten() {
            let path = entry.path();
            // Links are not followed: they may form cycles.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name() != ".git" {
                    pending.push(path);
                }
                continue;
            }
            let relative = path.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned());
            found.push(Location {
                absolute: path.to_string_lossy().into_owned(),
                relative,
                ..Location::default()
            });
            if found.len() > MAX_FILES {
                return None;
            }
        }
    }
    Some(found)
}
