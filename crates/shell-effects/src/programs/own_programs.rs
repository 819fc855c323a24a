//! Programs that other programs run by another name: modules of Python, scripts of a package, and images of containers.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::programs::action::Place;
use crate::programs::arguments::{self, Call};

/// Modules of Python that are programs, and the names of these. They are not a column of the table of programs, because some
/// have no entry.
const MODULES: &[(&str, &str)] = &[
    ("alembic", "alembic"),
    ("ansible", "ansible"),
    ("awscli", "aws"),
    ("celery", "celery"),
    ("chalice", "chalice"),
    ("coverage", "coverage"),
    ("django", "django-admin"),
    ("flask", "flask"),
    ("flit", "flit"),
    ("hatch", "hatch"),
    ("maturin", "maturin"),
    ("mypy", "mypy"),
    ("nox", "nox"),
    ("pdm", "pdm"),
    ("pip", "pip"),
    ("pipenv", "pipenv"),
    ("pipx", "pipx"),
    ("poetry", "poetry"),
    ("pre_commit", "pre-commit"),
    ("prisma", "prisma"),
    ("pyinfra", "pyinfra"),
    ("pylint", "pylint"),
    ("pytest", "pytest"),
    ("semantic_release", "semantic-release"),
    ("tox", "tox"),
    ("twine", "twine"),
    ("uv", "uv"),
    ("zappa", "zappa"),
];

/// The program that a module of Python is.
pub(crate) fn of_module(module: &Field) -> Option<Field> {
    let (_, program) = MODULES.iter().find(|(name, _)| *name == module.text)?;
    Some(module.with(*program))
}

/// `python -m MODULE ARGUMENTS`, where the module is a program.
pub(crate) fn run_module(analyzer: &mut Analyzer<'_>, call: &Call<'_>, module: &Field) {
    let Some(program) = of_module(module) else { return };
    let is_module =
        |field: &Field| field.text.strip_prefix('-').unwrap_or(&field.text).ends_with(&module.text);
    let Some(at) = call.fields.iter().skip(1).position(is_module) else { return };
    let mut words = vec![program];
    words.extend(call.fields.iter().skip(at + 2).cloned());
    analyzer.inside(call.command, Place::Here, |analyzer| analyzer.run_fields(&words));
}

/// Images whose entry point is a program, and its name. Some have no entry in the table of programs.
const IMAGES: &[(&str, &str)] = &[
    ("alpine/git", "git"),
    ("alpine/helm", "helm"),
    ("amazon/aws-cli", "aws"),
    ("bitnami/git", "git"),
    ("bitnami/kubectl", "kubectl"),
    ("hashicorp/terraform", "terraform"),
    ("migrate/migrate", "migrate"),
    ("pulumi/pulumi", "pulumi"),
    ("rclone/rclone", "rclone"),
];

/// The program that an image is.
pub(crate) fn of_image(image: &Field) -> Option<Field> {
    let name = image.text.split(['@', ':']).next().unwrap_or_default();
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    let (_, program) = IMAGES.iter().find(|(known, _)| *known == name)?;
    Some(image.with(*program))
}

/// What `yarn` does itself. Any other word is a script or a program of the package.
#[rustfmt::skip]
pub(crate) const YARN: &[&str] = &[
    "access", "add", "audit", "autoclean", "bin", "cache", "check", "config", "constraints", "create", "dedupe", "dlx", "exec", "explain",
    "generate-lock-entry", "global", "help", "import", "info", "init", "install", "licenses", "link", "list", "login", "logout", "node",
    "npm", "outdated", "owner", "pack", "patch", "patch-commit", "plugin", "policies", "prune", "publish", "rebuild", "remove", "restart",
    "run", "search", "self-update", "set", "stage", "start", "stop", "tag", "team", "test", "unlink", "unplug", "up", "upgrade",
    "upgrade-interactive", "version", "versions", "why", "workspace", "workspaces",
];

/// Like `YARN`, but for `pnpm`.
#[rustfmt::skip]
pub(crate) const PNPM: &[&str] = &[
    "add", "approve-builds", "audit", "bin", "c", "cache", "cat-file", "cat-index", "ci", "clean-install", "completion", "config", "create",
    "dedupe", "deploy", "dist-tag", "dlx", "docs", "doctor", "env", "exec", "fetch", "find-hash", "get", "help", "home", "i", "ic",
    "ignored-builds", "import", "info", "init", "install", "install-test", "it", "la", "licenses", "link", "list", "ll", "ln", "login",
    "logout", "ls", "m", "multi", "node", "outdated", "owner", "pack", "patch", "patch-commit", "patch-remove", "ping", "pkg", "prefix",
    "profile", "prune", "publish", "rb", "rebuild", "recursive", "remove", "restart", "rm", "root", "run", "run-script", "search",
    "self-update", "server", "set", "setup", "show", "star", "start", "stop", "store", "t", "team", "test", "token", "tst", "un",
    "uninstall", "unlink", "unpublish", "unstar", "up", "update", "upgrade", "v", "version", "view", "whoami", "why", "x",
];

/// Like `YARN`, but for `bun`.
#[rustfmt::skip]
const BUN: &[&str] = &[
    "a", "add", "audit", "build", "c", "completions", "create", "discord", "exec", "feedback", "getcompletes", "help", "i", "info", "init",
    "install", "link", "list", "outdated", "patch", "patch-commit", "pm", "publish", "remove", "repl", "rm", "run", "test", "unlink",
    "update", "upgrade", "why",
];

/// `bun x PROGRAM`, and `bun PROGRAM` of the package; whether it is one.
pub(crate) fn run_by_bun(analyzer: &mut Analyzer<'_>, call: &Call<'_>) -> bool {
    let words = call.fields.get(1..).unwrap_or_default();
    let (_, length) =
        arguments::parse_up_to(call.program.subcommand_options.unwrap_or_default(), words, true);
    let rest = words.get(length..).unwrap_or_default();
    let program = match rest {
        [x, program @ ..] if x.text == "x" => program,
        // A file is code.
        [first, ..]
            if first.is_literal()
                && !first.text.contains(['.', '/'])
                && !BUN.contains(&first.text.as_str()) =>
        {
            rest
        }
        _ => return false,
    };
    let (_, skipped) = arguments::parse_up_to("-p= --package=", program, true);
    let program = program.get(skipped..).unwrap_or_default();
    analyzer.inside(call.command, Place::Here, |analyzer| analyzer.run_fields(program));
    true
}
