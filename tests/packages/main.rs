//! The packages of `scripts/package`, installed as users install them: each in an empty folder and an empty home, from a registry on
//! loopback or from files. They need Linux, npm, and what `tests/packages/tools` installs, so they run by name only:
//! `tests/packages/tools && cargo test --test packages`. `CONCLAUDE_PACKAGE_BINARY` is the program that is packed.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "these are tests"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use scratch::{Packages, ProgramResult, Scratch};

mod scratch;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The limit for a user who has never seen conclaude.
const TO_FIRST_BLOCK: Duration = Duration::from_secs(60);

#[test]
fn all_packages_are_made_in_one_run_with_their_checksums() {
    let made = Packages::made();
    let checked = made.run("sha256sum", &["-c", "SHA256SUMS"]);
    let wheel = format!(
        "conclaude-{VERSION}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
    );
    let expected = format!(
        "{wheel}: OK\nconclaude-x86_64-unknown-linux-musl.tar.gz: OK\nnpm/conclaude-{VERSION}.tgz: OK\nnpm/conclaude-cli-linux-x64-{VERSION}.tgz: OK\n"
    );
    assert_eq!(checked.stdout, expected);
    let listed = made.run("tar", &["-tzf", "conclaude-x86_64-unknown-linux-musl.tar.gz"]).stdout;
    let has =
        |file: &str| listed.lines().any(|line| line == format!("conclaude-x86_64-unknown-linux-musl/{file}"));
    for file in [
        "conclaude",
        "LICENSE",
        "README.md",
        "conclaude.schema.json",
        "man/conclaude.1",
        "man/conclaude-install.1",
        "man/conclaude-des-run.1",
        "completions/conclaude.bash",
        "completions/conclaude.zsh",
        "completions/conclaude.fish",
        "completions/conclaude.elv",
        "completions/conclaude.ps1",
    ] {
        assert!(has(file), "{file} is not in {listed}");
    }
    let package =
        made.run("tar", &["-xzOf", &format!("npm/conclaude-{VERSION}.tgz"), "package/package.json"]).stdout;
    let package: Value = serde_json::from_str(&package).unwrap();
    let optional = package["optionalDependencies"].as_object().unwrap();
    assert_eq!(optional.len(), 6);
    assert!(optional.values().all(|version| version == VERSION), "{optional:?}");
    assert_eq!(package.get("scripts"), None, "nothing runs when it is installed");
}

/// cargo-dist makes the archives of a release.
#[test]
fn archives_of_a_release_hold_what_ours_hold() {
    let scratch = Scratch::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/package");
    let binary = Packages::made().binary.to_str().unwrap();
    scratch.run(script, &["--binary", binary, "--files", "archive"]).ok();
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut made: Vec<String> = fs::read_dir(scratch.path("archive")).unwrap().map(name).collect();
    made.sort();
    let dist = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/dist-workspace.toml")).unwrap();
    let prefix = "    \"target/archive/";
    let included = dist.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_suffix("\","));
    assert_eq!(included.collect::<Vec<_>>(), made);
    let ours = Packages::made().run("tar", &["-tzf", "conclaude-x86_64-unknown-linux-musl.tar.gz"]).stdout;
    let entries = ours.lines().filter_map(|line| line.split('/').nth(1)).filter(|entry| !entry.is_empty());
    let ours: BTreeSet<&str> = entries.collect();
    let released = made.iter().map(String::as_str).chain(["LICENSE", "conclaude"]);
    assert_eq!(ours, released.collect());
}

#[test]
fn the_readme_in_a_package_has_no_link_into_the_repository() {
    let made = Packages::made();
    let wheel = format!(
        "conclaude-{VERSION}-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
    );
    let read = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())";
    let metadata = format!("conclaude-{VERSION}.dist-info/METADATA");
    for (program, arguments) in [
        ("tar", &["-xzOf", &*format!("npm/conclaude-{VERSION}.tgz"), "package/README.md"] as &[&str]),
        (
            "tar",
            &[
                "-xzOf",
                "conclaude-x86_64-unknown-linux-musl.tar.gz",
                "conclaude-x86_64-unknown-linux-musl/README.md",
            ],
        ),
        ("python3", &["-c", read, &wheel, &metadata]),
    ] {
        let text = made.run(program, arguments).stdout;
        assert!(
            text.contains(concat!("](", env!("CARGO_PKG_HOMEPAGE"), "/install.html)")),
            "{arguments:?}: {text}"
        );
        assert!(text.contains(concat!("](", env!("CARGO_PKG_HOMEPAGE"), "/assets/block.svg)")), "{text}");
        let relative = text.split("](").skip(1).find(|rest| !rest.starts_with("https://"));
        assert_eq!(relative, None, "{arguments:?}");
        assert!(!text.contains("<!--"), "{arguments:?}: {text}");
    }
}

#[test]
fn a_binary_of_another_version_is_refused() {
    let scratch = Scratch::new();
    scratch.program("conclaude", "#!/bin/sh\necho conclaude 0.2.9\n");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/package");
    let done = scratch.run(script, &["--binary", "conclaude", "--out", "out"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr.contains(
            &format!("conclaude` is `conclaude 0.2.9`, and Cargo.toml has version {VERSION}")
                .replace("conclaude` is", "conclaude is")
        ),
        "{}",
        done.stderr
    );
    assert!(!scratch.path("out/SHA256SUMS").exists());
}

#[test]
fn npm_install_to_the_first_block() {
    let scratch = Scratch::with_registry();
    let started = Instant::now();
    scratch.run("npm", &["install", "--save-dev", "conclaude"]).ok();
    first_block(&scratch, &["npx", "conclaude"]);
    assert!(started.elapsed() < TO_FIRST_BLOCK, "{:?}", started.elapsed());
    eprintln!("npm install to the first block: {:?}", started.elapsed());
    hooks_start_nothing_else(&scratch);
}

#[test]
fn npx_runs_it_without_installing_and_says_that_hooks_need_more() {
    let scratch = Scratch::with_registry();
    assert_eq!(
        scratch.run("npx", &["--yes", "conclaude", "--version"]).ok(),
        format!("conclaude {VERSION}\n")
    );
    scratch.write(".conclaude.yaml", "maxBlocks: 3\n");
    let said = scratch.run("npx", &["--yes", "conclaude", "install"]).ok();
    assert!(said.contains("is in a cache") && said.contains("npm install -g conclaude"), "{said}");
    assert!(!scratch.settings().contains("_npx"), "{}", scratch.settings());
    let start = scratch.hook_in("SessionStart", &scratch.folder, "/usr/bin:/bin");
    assert!(
        start.stdout.contains("npm install -g conclaude")
            && start.stdout.contains("uv tool install conclaude")
    );
}

#[test]
fn pnpm_install_to_the_first_block() {
    let scratch = Scratch::with_registry();
    scratch.run("pnpm", &["add", "--save-dev", "conclaude"]).ok();
    assert!(scratch.path("node_modules/conclaude").is_symlink(), "this is pnpm's layout");
    first_block(&scratch, &["pnpm", "exec", "conclaude"]);
    hooks_start_nothing_else(&scratch);
}

#[test]
fn the_wheel_in_a_virtual_environment_to_the_first_block() {
    let scratch = Scratch::new();
    scratch.run("python3", &["-m", "venv", ".venv"]).ok();
    let wheels = Packages::made().out.to_str().unwrap().to_owned();
    scratch
        .run(".venv/bin/pip", &["install", "--quiet", "--no-index", "--find-links", &wheels, "conclaude"])
        .ok();
    first_block(&scratch, &[".venv/bin/conclaude"]);
    hooks_start_nothing_else(&scratch);
}

#[test]
fn uv_tool_install_to_the_first_block() {
    let scratch = Scratch::new();
    let wheels = Packages::made().out.to_str().unwrap().to_owned();
    let started = Instant::now();
    scratch
        .run("uv", &["tool", "install", "--offline", "--no-index", "--find-links", &wheels, "conclaude"])
        .ok();
    first_block(&scratch, &["conclaude"]);
    assert!(started.elapsed() < TO_FIRST_BLOCK, "{:?}", started.elapsed());
    eprintln!("uv tool install to the first block: {:?}", started.elapsed());
    assert!(scratch.settings().contains("exec conclaude SubagentStop"), "it is on the PATH, and native");
}

#[test]
fn npm_install_globally_registers_the_program_beside_the_launcher() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "--global", "conclaude"]).ok();
    first_block(&scratch, &["conclaude"]);
    // `sh` without a program on the PATH but the launcher: Node is not found, so it is not started.
    let launcher = scratch.home("prefix/bin");
    assert!(scratch.hook_in("SubagentStop", &scratch.folder, &launcher).is_block());
}

/// A new user's way from the program to a block, through what was registered.
fn first_block(scratch: &Scratch, conclaude: &[&str]) {
    let run = |arguments: &[&str]| scratch.run(conclaude[0], &[&conclaude[1..], arguments].concat());
    assert_eq!(run(&["--version"]).ok(), format!("conclaude {VERSION}\n"));
    run(&["init", "--yes"]).ok();
    run(&["doctor"]).ok();
    scratch.write(".conclaude.yaml", BLOCKING);
    let done = scratch.hook("SubagentStop");
    assert!(done.is_block(), "{done:?}");
    assert!(
        !scratch.settings().contains(scratch.folder.to_str().unwrap()),
        "the line is the same on every machine"
    );
}

const BLOCKING: &str = "subagentStop: {commands: [{run: exit 1, onFailure: block}]}\n";

/// The line needs no PATH, and works in any folder.
fn hooks_start_nothing_else(scratch: &Scratch) {
    let elsewhere = tempfile::tempdir().unwrap();
    let done = scratch.hook_in("SubagentStop", elsewhere.path(), "/nowhere");
    assert!(done.is_block(), "{done:?}");
    for folder in ["node_modules", ".venv"] {
        let _ = fs::rename(scratch.path(folder), scratch.path("gone"));
    }
    let stop = scratch.hook_in("SubagentStop", elsewhere.path(), "/usr/bin:/bin");
    assert_eq!((stop.code, stop.stdout.as_str(), stop.stderr.as_str()), (Some(0), "", ""));
    let start = scratch.hook_in("SessionStart", elsewhere.path(), "/usr/bin:/bin");
    assert!(
        start.stdout.contains("npm install -g conclaude")
            && start.stdout.contains("uv tool install conclaude"),
        "{start:?}"
    );
    let path = format!("{}:/usr/bin:/bin", Packages::made().binary.parent().unwrap().display());
    assert!(
        scratch.hook_in("SubagentStop", elsewhere.path(), &path).is_block(),
        "then that on the PATH counts"
    );
}

#[test]
fn a_program_of_another_platform_is_never_started() {
    let scratch = Scratch::with_registry();
    scratch.run("pnpm", &["add", "conclaude"]).ok();
    scratch.write(".conclaude.yaml", BLOCKING);
    scratch.run("pnpm", &["exec", "conclaude", "install"]).ok();
    let packages = scratch.path("node_modules/conclaude").canonicalize().unwrap().join("../@conclaude");
    let foreign = |name: &str| {
        let folder = packages.join(name);
        fs::create_dir_all(&folder).unwrap();
        // Read as a script by a shell, it would block.
        fs::write(folder.join("conclaude"), "exit 2\n").unwrap();
        fs::set_permissions(folder.join("conclaude"), PermissionsExt::from_mode(0o755)).unwrap();
    };
    foreign("cli-linux-arm64");
    foreign("cli-darwin-arm64");
    assert!(scratch.hook("SubagentStop").is_block(), "both architectures are there, and `uname` decides");
    let own = packages.join("cli-linux-x64");
    fs::remove_file(&own).or_else(|_| fs::remove_dir_all(&own)).unwrap();
    fs::remove_dir_all(packages.join("cli-linux-arm64")).unwrap();
    let done = scratch.hook_in("SubagentStop", &scratch.folder, "/usr/bin:/bin");
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");
}

#[test]
fn a_virtual_environment_of_another_system_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write(".conclaude.yaml", BLOCKING);
    fs::create_dir_all(scratch.path(".venv/bin")).unwrap();
    fs::copy(&Packages::made().binary, scratch.path(".venv/bin/conclaude")).unwrap();
    scratch.run(".venv/bin/conclaude", &["install"]).ok();
    assert!(scratch.hook_in("SubagentStop", &scratch.folder, "/nowhere").is_block());
    fs::write(scratch.path(".venv/bin/conclaude"), "exit 2\n").unwrap();
    symlink("/opt/homebrew/bin/python3.12", scratch.path(".venv/bin/python")).unwrap();
    let done = scratch.hook_in("SubagentStop", &scratch.folder, "/usr/bin:/bin");
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");
}

#[test]
fn the_line_of_every_client_runs_the_projects_program() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "conclaude"]).ok();
    scratch.write(".conclaude.yaml", BLOCKING);
    scratch.run("npx", &["conclaude", "install", "--client", "all"]).ok();
    for (file, event) in [
        (".claude/settings.json", "SubagentStop"),
        (".codex/hooks.json", "SubagentStop"),
        (".github/hooks/conclaude.json", "SubagentStop"),
        (".qwen/settings.json", "SubagentStop"),
        (".gemini/settings.json", "BeforeTool"),
    ] {
        let line = scratch.line(file, event);
        assert!(line.contains("node_modules/conclaude/.."), "{file}: {line}");
        // All of them say so if the project cannot be written, which proves that the program runs.
        let done = scratch.line_in(&line, &scratch.folder, "/nowhere", "not JSON");
        assert!(done.stderr.contains("conclaude"), "{file}: {done:?}");
    }
    let before = scratch.settings();
    scratch.run("npx", &["conclaude", "install", "--client", "all"]).ok();
    assert_eq!(scratch.settings(), before, "installing twice changes nothing");
    scratch.run("npx", &["conclaude", "uninstall", "--client", "all"]).ok();
    for file in [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".github/hooks/conclaude.json",
        ".gemini/settings.json",
    ] {
        assert!(!scratch.path(file).exists(), "{file}");
    }
}

#[test]
fn a_monorepos_packages_are_found_above_the_folder_of_the_session() {
    let scratch = Scratch::with_registry();
    scratch.run("git", &["init", "--quiet"]).ok();
    scratch.run("npm", &["install", "conclaude"]).ok();
    let package = scratch.path("packages/a");
    fs::create_dir_all(package.join(".claude")).unwrap();
    fs::write(package.join(".conclaude.yaml"), BLOCKING).unwrap();
    let own = scratch.path("node_modules/.bin/conclaude");
    scratch.run_in(&package, own.to_str().unwrap(), &["install"]).ok();
    let line = scratch.line("packages/a/.claude/settings.json", "SubagentStop");
    assert!(line.contains("/../../node_modules/conclaude/.."), "{line}");
    assert!(scratch.line_in(&line, &package, "/nowhere", &scratch.payload(&package)).is_block());
}

#[test]
fn for_all_projects_of_a_user_no_program_of_a_project_is_run() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "conclaude"]).ok();
    let refused = scratch.run("npx", &["conclaude", "install", "--user"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("npm install -g conclaude"), "{refused:?}");
    assert!(!Path::new(&scratch.home(".claude/settings.json")).exists());
    scratch.run("npm", &["install", "--global", "conclaude"]).ok();
    scratch.run("npx", &["conclaude", "install", "--user"]).ok();
    let line = scratch.line_of(Path::new(&scratch.home(".claude/settings.json")), "SubagentStop");
    assert!(!line.contains("CLAUDE_PROJECT_DIR") && line.contains("/prefix/lib/node_modules/"), "{line}");
    // A hostile project, whose folder comes first on the PATH, as with `npx claude`.
    scratch.program("node_modules/.bin/conclaude", "#!/bin/sh\ntouch ran\n");
    let path = format!("{}:/usr/bin:/bin", scratch.path("node_modules/.bin").display());
    let done = scratch.line_in(&line, &scratch.folder, &path, &scratch.payload(&scratch.folder));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!scratch.path("ran").exists());
}

#[test]
fn the_launcher_passes_arguments_stdin_and_exit_code_on() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "conclaude"]).ok();
    scratch.write(".conclaude.yaml", BLOCKING);
    let mut command = scratch.command(&scratch.folder, "node_modules/.bin/conclaude", &["SubagentStop"]);
    let done = ProgramResult::with_input(&mut command, &scratch.payload(&scratch.folder));
    assert!(done.is_block(), "{done:?}");
    let done = scratch.run("node_modules/.bin/conclaude", &["explain", "--no such option"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("--no such option"), "{done:?}");
}

#[test]
fn the_launcher_passes_signals_on_and_ends_as_the_program_does() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "conclaude"]).ok();
    scratch
        .write(".conclaude.yaml", "subagentStop: {commands: [{run: 'echo $$ > started; exec sleep 60'}]}\n");
    let native = "node_modules/@conclaude/cli-linux-x64/conclaude";
    let ended = ["node_modules/.bin/conclaude", native].map(|program| {
        let _ = fs::remove_file(scratch.path("started"));
        let mut command = scratch.command(&scratch.folder, program, &["SubagentStop"]);
        let mut child = scratch::start(&mut command, &scratch.payload(&scratch.folder));
        scratch::until(|| fs::read_to_string(scratch.path("started")).is_ok_and(|text| text.ends_with('\n')));
        // SAFETY: it sends a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) }, 0);
        let status = child.wait().unwrap();
        let sleep = fs::read_to_string(scratch.path("started")).unwrap();
        scratch::until(|| !Path::new("/proc").join(sleep.trim()).exists());
        status
    });
    assert_eq!(ended[0], ended[1]);
    scratch.program(native, "#!/bin/sh\nkill -KILL $$\n");
    let mut command = scratch.command(&scratch.folder, "node_modules/.bin/conclaude", &[]);
    let status = scratch::start(&mut command, "").wait().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGKILL));
}

#[test]
fn without_the_optional_package_the_launcher_names_the_platform_and_other_ways() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "--omit=optional", "conclaude"]).ok();
    let done = scratch.run("node_modules/.bin/conclaude", &["--version"]);
    assert_eq!(done.code, Some(1));
    for text in ["linux-x64", "--omit=optional", "uv tool install conclaude"] {
        assert!(done.stderr.contains(text), "{}", done.stderr);
    }
    assert!(!done.stderr.contains("plugin"), "the plugin brings no program: {}", done.stderr);
    let other = "Object.defineProperty(process, 'platform', {value: 'sunos'}); require('./node_modules/conclaude/bin/conclaude.js')";
    let done = scratch.run("node", &["-e", other]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("there is no npm package for sunos-x64"), "{}", done.stderr);
}

#[test]
fn a_registered_stop_costs_at_most_three_times_the_bare_program() {
    let scratch = Scratch::with_registry();
    scratch.run("npm", &["install", "conclaude"]).ok();
    scratch.write(".conclaude.yaml", "subagentStop: {commands: {other: [{run: exit 1}]}}\n");
    scratch.run("npx", &["conclaude", "install"]).ok();
    let payload = scratch.payload(&scratch.folder);
    let line = scratch.line(".claude/settings.json", "SubagentStop");
    let program = scratch.path("node_modules/@conclaude/cli-linux-x64/conclaude");
    // The shortest of many: others on the machine can only make one longer.
    let mut shortest = [Duration::MAX; 2];
    for round in 0..200 {
        let mut bare = Command::new(&program);
        bare.arg("SubagentStop").current_dir(&scratch.folder).env("CLAUDE_PROJECT_DIR", &scratch.folder);
        let start = Instant::now();
        let done = match round % 2 {
            0 => ProgramResult::with_input(&mut bare, &payload),
            _ => scratch.line_in(&line, &scratch.folder, "/usr/bin:/bin", &payload),
        };
        let duration = start.elapsed();
        assert_eq!(done.code, Some(0), "{done:?}");
        shortest[round % 2] = shortest[round % 2].min(duration);
    }
    let [bare, registered] = shortest;
    eprintln!("SubagentStop: {bare:?} bare, {registered:?} registered");
    assert!(registered <= bare * 3, "{bare:?} bare, {registered:?} registered");
}
