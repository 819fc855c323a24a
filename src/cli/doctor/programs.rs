//! Whether the programs of configured commands exist, including those in scripts of `package.json`. Otherwise agents are blocked
//! by something that they cannot fix.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Check, Installation, short};
use conclaude_core::config::{CommandConfig, DEFAULT_SHELL};
use conclaude_core::dialect::claude::variables;
use conclaude_core::messages;
use conclaude_engine::install::package_scripts::ScriptCall;
use conclaude_engine::install::registration::on_path;
use conclaude_os::{environment, files};
use shell_effects::{SimpleCommand, is_builtin, placeholder, quoted_if_needed};

/// A manifest is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// How deeply scripts that run scripts are followed.
const MAX_DEPTH: usize = 8;

/// Builtins and programs that tell whether a program exists. A script that asks handles its absence.
const ASKING: [&str; 4] = ["command", "which", "type", "hash"];

pub(super) fn programs(installation: &Installation) -> Vec<Check> {
    let mut search = ProgramSearch::default();
    let mut checks: Vec<Check> = Vec::new();
    for (event, section) in &installation.loaded.config.sections {
        for (pattern, commands) in section.entries() {
            for (at, command) in commands.iter().enumerate() {
                let keys = [event.row().section, "commands", pattern.as_str(), &at.to_string()];
                let origin = installation.loaded.origins.of(&keys);
                let place = origin.map(|origin| {
                    format!(" ({}:{})", short(origin.path, &installation.root.folder), origin.line)
                });
                let found = search.of_command(command, &installation.root.work);
                for missing in found {
                    let check = missing.check(command.run.as_str(), &place.clone().unwrap_or_default());
                    if !checks.iter().any(|other| other.text == check.text) {
                        checks.push(check);
                    }
                }
            }
        }
    }
    if checks.is_empty() && !search.present.is_empty() {
        let names = search.present.join(", ");
        checks.push(Check::good("commands", format!("the programs of the commands are found: {names}")));
    }
    checks
}

/// A missing program of a command.
struct MissingProgram {
    /// The missing program, in words that follow the command's name.
    what: String,
    fix: String,
}

impl MissingProgram {
    fn check(&self, run: &str, place: &str) -> Check {
        Check::warning(
            "commands",
            format!("`{}`{place} {}", messages::short(run), self.what),
            self.fix.clone(),
        )
    }
}

#[derive(Default)]
struct ProgramSearch {
    /// Each program that was found, once.
    present: Vec<String>,
}

/// A script, and where it runs.
struct ScriptPlace<'a> {
    text: &'a str,
    folder: PathBuf,
    /// The package manager that runs it, which adds the programs of the packages.
    manager: Option<&'a str>,
    depth: usize,
}

/// The script with the value of `CLAUDE_PROJECT_DIR`, which Claude Code sets for hooks. A path with special characters of the
/// shell is skipped: it is one word only in quotes.
fn in_project(script: &str, work: &Path) -> String {
    let Some(path) = work.to_str() else { return script.to_owned() };
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if !path.chars().all(is_plain) {
        return script.to_owned();
    }
    script
        .replace(&format!("${{{}}}", variables::PROJECT_DIR), path)
        .replace(&format!("${}", variables::PROJECT_DIR), path)
}

impl ProgramSearch {
    fn of_command(&mut self, command: &CommandConfig, work: &Path) -> Vec<MissingProgram> {
        let shell = command.shell.as_ref().map_or(DEFAULT_SHELL, |shell| shell.as_str());
        let name = shell.rsplit('/').next().unwrap_or(shell);
        let is_there =
            if shell.contains('/') { files::is_program(Path::new(shell)) } else { on_path(shell).is_some() };
        if !is_there {
            return vec![MissingProgram {
                what: format!("runs in the shell `{shell}`, which is not found"),
                fix: format!("install {name}, or change `shell`"),
            }];
        }
        if !placeholder::is_quoted_for(name) {
            return Vec::new();
        }
        let folder = command.cwd.as_ref().map_or_else(|| work.to_owned(), |cwd| work.join(cwd.as_path()));
        let text = in_project(command.run.as_str(), work);
        self.of_script(ScriptPlace { text: &text, folder, manager: None, depth: 0 })
    }

    fn of_script(&mut self, mut script: ScriptPlace<'_>) -> Vec<MissingProgram> {
        let read = shell_effects::read(script.text, None);
        let asked: Vec<String> = read
            .commands
            .iter()
            .filter(|command| command.words.first().is_some_and(|first| ASKING.contains(&first.as_str())))
            .flat_map(|command| command.words.iter().skip(1).cloned())
            .collect();
        let mut missing = Vec::new();
        for command in read.commands.iter().filter(|command| command.is_known && !command.inside) {
            let Some(program) = command.words.first() else { continue };
            if program == "cd" {
                let Some(target) = command.words.get(1) else { break };
                script.folder.push(target);
                if !script.folder.is_dir() {
                    break;
                }
            }
            let is_function = script.text.contains(&format!("{program}()"))
                || script.text.contains(&format!("function {program}"));
            if is_builtin(program) || asked.contains(program) || is_function {
                continue;
            }
            if !script.has(program) {
                missing.push(script.missing(program));
                continue;
            }
            if !self.present.contains(program) {
                self.present.push(program.clone());
            }
            missing.extend(self.started_by(command, &script));
        }
        missing
    }

    /// The needs of another program that the command starts, or of a script in `package.json` that it runs.
    fn started_by(&mut self, command: &SimpleCommand, script: &ScriptPlace<'_>) -> Vec<MissingProgram> {
        if let Some(launch) = Launch::of(&command.words) {
            if launch.is_found(&script.folder) {
                return Vec::new();
            }
            let Launch { launcher: Launcher { name: launcher, .. }, program } = launch;
            return vec![MissingProgram {
                what: format!("starts `{program}` with {launcher}, and it is not installed"),
                fix: format!("install {program} in the project, or change the command"),
            }];
        }
        let Some(call) = ScriptCall::of(&command.words) else { return Vec::new() };
        let manifest = files::read_text(&script.folder.join("package.json"), MAX_BYTES).unwrap_or_default();
        let Ok(json) = serde_json::from_str::<Value>(&manifest) else { return Vec::new() };
        let scripts = json.get("scripts");
        let Some(text) = scripts.and_then(|scripts| scripts.get(call.name)).and_then(Value::as_str) else {
            if !call.is_named {
                return Vec::new();
            }
            return vec![MissingProgram {
                what: format!("runs the script `{}`, which package.json does not have", call.name),
                fix: "change the command, or add the script".into(),
            }];
        };
        // Without node_modules its programs are in archives.
        let is_archived = script.folder.ancestors().any(|folder| folder.join(".pnp.cjs").exists());
        if is_archived || script.depth >= MAX_DEPTH {
            return Vec::new();
        }
        let folder = script.folder.clone();
        self.of_script(ScriptPlace { text, folder, manager: Some(call.manager), depth: script.depth + 1 })
    }
}

impl ScriptPlace<'_> {
    fn has(&self, program: &str) -> bool {
        if program.contains('/') {
            // The target of `~` and similar is unknown.
            return program.starts_with('~') || files::is_program(&self.folder.join(program));
        }
        let is_in_packages =
            |folder: &Path| files::is_program(&folder.join("node_modules/.bin").join(program));
        (self.manager.is_some() && self.folder.ancestors().any(is_in_packages)) || on_path(program).is_some()
    }

    /// The file that would be started, if it could be.
    fn not_executable(&self, program: &str) -> Option<PathBuf> {
        let mut candidates = Vec::new();
        if program.contains('/') {
            candidates.push(self.folder.join(program.trim_start_matches("./")));
        } else if let Some(path) = environment::os_value("PATH") {
            candidates.extend(std::env::split_paths(&path).map(|folder| folder.join(program)));
        }
        candidates.into_iter().find(|path| path.is_file() && !files::is_program(path))
    }

    fn missing(&self, program: &str) -> MissingProgram {
        if let Some(path) = self.not_executable(program) {
            return MissingProgram {
                what: format!("starts `{program}`, which is not executable"),
                fix: format!("chmod +x {}", quoted_if_needed(&path.to_string_lossy())),
            };
        }
        let Some(manager) = self.manager else {
            let is_path = program.contains('/');
            return MissingProgram {
                what: format!("starts `{program}`, which is not found"),
                fix: if is_path {
                    "change the command, or add that file".into()
                } else {
                    format!("install {program}, or change the command")
                },
            };
        };
        let has_packages = self.folder.ancestors().any(|folder| folder.join("node_modules").is_dir());
        MissingProgram {
            what: format!(
                "runs `{}` in package.json, and `{program}` is not found",
                messages::short(self.text)
            ),
            fix: if has_packages {
                format!("install {program}, or change the script")
            } else {
                format!("{manager} install")
            },
        }
    }
}

/// A program that starts programs of the project's packages.
struct Launcher {
    name: &'static str,
    subcommand: Option<&'static str>,
    /// Options that may come before the program. With another one it is unclear which program that is, or a download is intended.
    options: &'static [&'static str],
    /// The folder in which packages of the project have their programs.
    programs: &'static str,
    /// A folder that must exist. Without it, the programs are elsewhere, or the call creates it.
    needed: Option<&'static str>,
}

const fn of_python(name: &'static str) -> Launcher {
    Launcher { name, subcommand: Some("run"), options: &[], programs: ".venv/bin", needed: Some(".venv") }
}

const LAUNCHERS: [Launcher; 3] = [
    Launcher {
        name: "npx",
        subcommand: None,
        options: &["--no-install", "--no", "--"],
        programs: "node_modules/.bin",
        needed: None,
    },
    of_python("uv"),
    of_python("poetry"),
];

/// A call that starts a program of the project's packages.
struct Launch<'a> {
    launcher: &'static Launcher,
    program: &'a str,
}

impl<'a> Launch<'a> {
    /// `None` if it is unclear which program that is.
    fn of(words: &'a [String]) -> Option<Launch<'a>> {
        let (name, mut rest) = words.split_first()?;
        let launcher = LAUNCHERS.iter().find(|launcher| launcher.name == name)?;
        if let Some(subcommand) = launcher.subcommand {
            rest = rest.strip_prefix(&[subcommand.to_owned()])?;
        }
        let (first, after) = rest.split_first()?;
        let is_option = launcher.options.contains(&first.as_str());
        let program = if is_option { after.first()? } else { first };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if program.starts_with('-') || !program.chars().all(is_plain) {
            return None;
        }
        Some(Launch { launcher, program })
    }

    fn is_found(&self, folder: &Path) -> bool {
        let programs = self.launcher.programs;
        let is_there = |folder: &Path| files::is_program(&folder.join(programs).join(self.program));
        let is_unknown = self.launcher.needed.is_some_and(|needed| !folder.join(needed).is_dir());
        let is_archived = folder.ancestors().any(|folder| folder.join(".pnp.cjs").exists());
        is_unknown || is_archived || folder.ancestors().any(is_there) || on_path(self.program).is_some()
    }
}
