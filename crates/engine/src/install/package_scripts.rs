//! How package managers run the scripts of `package.json`.

/// The subcommands of package managers that run a script by its name.
pub(super) const RUN: [&str; 2] = ["run", "run-script"];

/// A program that installs packages and runs scripts of `package.json`. The guards' table of programs has its lock files.
pub(super) struct PackageManager {
    pub(super) name: &'static str,
    /// The words that run a tool of an installed package.
    pub(super) execute: &'static str,
    /// Whether `run` may be left out before this script.
    is_run_optional: fn(&str) -> bool,
}

const NPM: PackageManager = PackageManager {
    name: "npm",
    // npx alone would download a missing package.
    execute: "npx --no-install",
    is_run_optional: |script| matches!(script, "test" | "start" | "stop" | "restart"),
};

/// The package managers. If a project has lock files of several, the first one counts.
const MANAGERS: [PackageManager; 4] = [
    PackageManager { name: "pnpm", execute: "pnpm exec", is_run_optional: |script| !script.is_empty() },
    PackageManager { name: "yarn", execute: "yarn", is_run_optional: |script| !script.is_empty() },
    PackageManager {
        name: "bun",
        execute: "bunx",
        // These are bun's own.
        is_run_optional: |script| !matches!(script, "" | "test" | "build" | "install"),
    },
    NPM,
];

impl PackageManager {
    pub(super) fn named(name: &str) -> Option<&'static PackageManager> {
        MANAGERS.iter().find(|manager| manager.name == name)
    }

    /// The manager whose lock file exists, else the named one, else npm.
    pub(super) fn of_project(
        has_lock: impl Fn(&str) -> bool,
        named: Option<&str>,
    ) -> &'static PackageManager {
        let is_locked = |manager: &&PackageManager| {
            shell_effects::locks_of(manager.name).iter().any(|lock| has_lock(lock))
        };
        MANAGERS.iter().find(is_locked).or_else(|| PackageManager::named(named?)).unwrap_or(&NPM)
    }
}

/// Other programs that run scripts by their names.
const RUNNERS: [&str; 5] = ["run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently"];

/// Options of package managers with which the script is another package's.
const ELSEWHERE: [&str; 13] = [
    "--prefix",
    "-C",
    "--dir",
    "--cwd",
    "-w",
    "-ws",
    "--workspace",
    "--workspaces",
    "--filter",
    "-F",
    "-r",
    "--recursive",
    "--if-present",
];

/// Whether the program runs scripts by their names.
pub(super) fn runs_scripts(program: &str) -> bool {
    PackageManager::named(program).is_some() || RUNNERS.contains(&program)
}

/// Whether `npm run test` may be written `npm test`. `bun test` is bun's own runner, not a script.
pub(super) fn is_run_optional(manager: &str, script: &str) -> bool {
    PackageManager::named(manager).is_some_and(|manager| (manager.is_run_optional)(script))
}

/// A call of a package manager that runs a script.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptCall<'a> {
    pub manager: &'a str,
    pub name: &'a str,
    /// By `run NAME`: then it must be there. `pnpm NAME` may as well be something else.
    pub is_named: bool,
}

impl<'a> ScriptCall<'a> {
    /// `None` if the words run no script of this package.
    #[must_use]
    pub fn of(words: &'a [String]) -> Option<ScriptCall<'a>> {
        let mut words = words.iter().map(String::as_str);
        let manager = words.next().filter(|manager| PackageManager::named(manager).is_some())?;
        let rest: Vec<&str> = words.take_while(|word| *word != "--").collect();
        let is_elsewhere = |word: &&str| ELSEWHERE.contains(&word.split('=').next().unwrap_or(word));
        if rest.iter().any(is_elsewhere) {
            return None;
        }
        let mut plain = rest.iter().filter(|word| !word.starts_with('-'));
        let first = *plain.next()?;
        let (name, is_named) = match (manager, first) {
            (_, run) if RUN.contains(&run) => (*plain.next()?, true),
            ("npm", "t" | "tst") => ("test", true),
            ("npm", "test" | "start") => (first, true),
            _ if is_run_optional(manager, first) => (first, false),
            _ => return None,
        };
        Some(ScriptCall { manager, name, is_named })
    }
}

#[cfg(test)]
mod tests {
    use super::{MANAGERS, ScriptCall};

    #[test]
    fn the_guards_know_the_lock_files_of_each_manager() {
        for manager in &MANAGERS {
            assert!(!shell_effects::locks_of(manager.name).is_empty(), "{}", manager.name);
        }
    }

    #[test]
    fn a_script_is_found_where_the_manager_runs_one() {
        for (line, expected) in [
            ("npm run lint", Some(("lint", true))),
            ("pnpm --silent run-script lint -- --fix", Some(("lint", true))),
            ("npm t", Some(("test", true))),
            ("npm test", Some(("test", true))),
            ("npm stop", Some(("stop", false))),
            ("npm lint", None),
            ("yarn lint", Some(("lint", false))),
            ("bun lint", Some(("lint", false))),
            ("bun test", None),
            ("bun build", None),
            ("npm run lint --workspace=web", None),
            ("pnpm -C web lint", None),
            ("make lint", None),
            ("npm", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = ScriptCall::of(&words).map(|call| (call.name, call.is_named));
            assert_eq!(found, expected, "{line}");
        }
    }
}
