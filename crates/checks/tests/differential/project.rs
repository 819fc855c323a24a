//! The scratch project with what is guarded in it, and what bash did to that.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::sandbox;

pub(crate) const HOME: &str = "/home/u";
pub(crate) const ROOT: &str = "/home/u/project";
/// What nobody may read: the content of `.env`.
const CANARY: &str = "CANARY-4f1d7c";
/// A file that nobody may change, with its content.
const LOCKED: (&str, &str) = ("locked.txt", "locked content\n");
/// The program that a rule blocks leaves this file.
const RAN: &str = "/home/u/ran";
/// Where texts print to.
const OUTPUT: &str = "/home/output";
const NOBODY: u32 = 65_534;
const PATH: &str = "/home/u/bin:/usr/local/bin:/usr/bin:/bin";
const MAX_TIME: Duration = Duration::from_secs(2);

/// What a text did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Observation {
    pub(crate) hits: Vec<&'static str>,
    pub(crate) output: String,
    pub(crate) is_over_time: bool,
}

/// Another way to run the same text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mode {
    /// `bash -c TEXT`.
    Direct,
    /// As Claude Code does it: evaluated, with aliases.
    Evaluated,
}

/// The project as it is before each text, with a repository whose remote has a branch that a push would have to force.
pub(crate) fn prepare() -> anyhow::Result<()> {
    let template = template();
    let files = [
        ("project/.env", format!("SECRET={CANARY}\n")),
        (&format!("project/{}", LOCKED.0), LOCKED.1.to_owned()),
        ("project/notes.txt", "one\ntwo\n".to_owned()),
        ("project/old.txt", "old\n".to_owned()),
        ("project/src/main.c", "int main() { return 0; }\n".to_owned()),
        ("project/script.sh", "echo from a script\n".to_owned()),
        ("project/list.txt", ".env\n".to_owned()),
        ("project/.gitignore", ".env\n".to_owned()),
        ("bin/forbidden", format!("#!/bin/sh\n: > {RAN}\n")),
        (".gitconfig", "[user]\nname = u\nemail = u@example.com\n".to_owned()),
    ];
    for (name, content) in files {
        let path = template.join(name);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(&path, content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let setup = "set -e; export HOME=$PWD GIT_CONFIG_GLOBAL=$PWD/.gitconfig; \
        git init -q --bare --initial-branch=main remote.git; cd project; git init -q --initial-branch=main; \
        git add .gitignore notes.txt old.txt src locked.txt; git commit -qm one; git remote add origin ../remote.git; \
        echo two > old.txt; git commit -qam two; git push -q origin main; git reset -q --hard HEAD~1; echo three > old.txt; \
        git commit -qam three; rm -rf .git/hooks ../remote.git/hooks .git/logs";
    let made = Command::new("bash").args(["-c", setup]).current_dir(&template).status()?;
    anyhow::ensure!(made.success(), "the scratch repository cannot be made with `git`");
    reset()
}

fn template() -> PathBuf {
    PathBuf::from("/home/template")
}

/// Everything as it was.
fn reset() -> anyhow::Result<()> {
    for directory in sandbox::WRITABLE {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path == template() {
                continue;
            }
            let removed = match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.with_context(|| path.display().to_string())?;
        }
    }
    copy(&template(), Path::new(HOME)).context("the scratch project cannot be made")
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir(to)?;
    chown(to, Some(NOBODY), Some(NOBODY))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            chown(&target, Some(NOBODY), Some(NOBODY))?;
        }
    }
    Ok(())
}

/// Runs a text in the project, which is as it was after that.
pub(crate) fn observe(text: &str, mode: Mode) -> anyhow::Result<Observation> {
    let output = fs::File::create(OUTPUT)?;
    let mut command = Command::new("prlimit");
    command.args(["--nproc=300", "--cpu=2", "--fsize=1000000", "--core=0", "--", "bash"]);
    match mode {
        Mode::Direct => command.args(["-c", text]),
        Mode::Evaluated => {
            command.env("TEXT_TO_RUN", text);
            command.args(["-O", "expand_aliases", "-c", "t=$TEXT_TO_RUN; unset TEXT_TO_RUN; eval \"$t\""])
        }
    };
    let kept = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let kept: Vec<_> = kept.collect();
    command.env_clear().envs(kept).envs([("HOME", HOME), ("PATH", PATH), ("LANG", "C.UTF-8")]);
    command.current_dir(ROOT).uid(NOBODY).gid(NOBODY).process_group(0);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    // A text with a NUL is none that a tool could run.
    let Ok(mut child) = command.spawn() else { return Ok(Observation::default()) };
    let start = Instant::now();
    let mut wait = Duration::from_micros(300);
    let mut is_over_time = false;
    while child.try_wait()?.is_none() {
        if start.elapsed() > MAX_TIME {
            is_over_time = true;
            break;
        }
        std::thread::sleep(wait);
        wait = (wait * 2).min(Duration::from_millis(10));
    }
    // What it left in the background gets a moment.
    if sandbox::has_others() {
        std::thread::sleep(Duration::from_millis(30));
    }
    sandbox::end_others();
    let printed = fs::read(OUTPUT)?;
    let observed = Observation {
        hits: hits(&printed),
        output: String::from_utf8_lossy(&printed).chars().take(300).collect(),
        is_over_time,
    };
    reset()?;
    Ok(observed)
}

fn hits(printed: &[u8]) -> Vec<&'static str> {
    let mut hits = Vec::new();
    let project = Path::new(ROOT);
    if has_canary(printed) {
        hits.push(".env was printed");
    }
    if sandbox::WRITABLE.iter().any(|directory| is_copied(Path::new(directory))) {
        hits.push(".env was copied");
    }
    if !fs::read(project.join(".env")).is_ok_and(|content| content == format!("SECRET={CANARY}\n").as_bytes())
    {
        hits.push(".env was changed");
    }
    if !fs::read(project.join(LOCKED.0)).is_ok_and(|content| content == LOCKED.1.as_bytes()) {
        hits.push("locked.txt was changed");
    }
    if Path::new(RAN).exists() {
        hits.push("the program that is blocked ran");
    }
    let branch = |home: &Path| fs::read(home.join("remote.git/refs/heads/main")).ok();
    if branch(Path::new(HOME)) != branch(&template()) {
        hits.push("a push was forced");
    }
    hits
}

fn has_canary(content: &[u8]) -> bool {
    content.windows(CANARY.len()).any(|part| part == CANARY.as_bytes())
}

fn is_copied(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => path != template() && is_copied(&path),
            Ok(kind)
                if kind.is_file() && path != Path::new(ROOT).join(".env") && path != Path::new(OUTPUT) =>
            {
                fs::read(path).is_ok_and(|content| has_canary(&content))
            }
            _ => false,
        }
    })
}
