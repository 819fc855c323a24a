//! How package managers run the scripts of `package.json`.

/// The package managers that do.
const MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

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
    MANAGERS.contains(&program) || RUNNERS.contains(&program)
}

/// Whether `npm run test` may be written `npm test`. `bun test` is bun's own runner, not a script.
pub(super) fn is_run_optional(manager: &str, script: &str) -> bool {
    match manager {
        "npm" => matches!(script, "test" | "start" | "stop" | "restart"),
        "yarn" | "pnpm" => !script.is_empty(),
        "bun" => !matches!(script, "" | "test" | "build" | "install"),
        _ => false,
    }
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
    /// None where the words run no script of this package.
    #[must_use]
    pub fn of(words: &'a [String]) -> Option<ScriptCall<'a>> {
        let mut words = words.iter().map(String::as_str);
        let manager = words.next().filter(|manager| MANAGERS.contains(manager))?;
        let rest: Vec<&str> = words.take_while(|word| *word != "--").collect();
        let is_elsewhere = |word: &&str| ELSEWHERE.contains(&word.split('=').next().unwrap_or(word));
        if rest.iter().any(is_elsewhere) {
            return None;
        }
        let mut plain = rest.iter().filter(|word| !word.starts_with('-'));
        let first = *plain.next()?;
        let (name, is_named) = match (manager, first) {
            (_, "run" | "run-script") => (*plain.next()?, true),
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
    use super::ScriptCall;

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
