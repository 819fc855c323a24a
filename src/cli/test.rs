//! `conclaude test`: plays cases that say what the config does. No command is run.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anstyle::AnsiColor;
use anyhow::anyhow;

use super::out::{ExactText, Out, Paint};
use conclaude_core::config::{Case, ConfigError, Style, TEST_FILES, TestFile};
use conclaude_core::dialect::{self, Dialect, claude};
use conclaude_core::exit::Exit;
use conclaude_core::text::count;
use conclaude_core::yaml::Located;
use conclaude_os::files;
use conclaude_store::load;
use conclaude_store::root::{FILE_NAMES as ROOT_FILES, Root};

mod junit;
mod play;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());

/// The limit of a file of cases is that of a config.
const MAX_BYTES: u64 = 1 << 20;

pub(super) const EXAMPLE: &str = "A case of .conclaude.test.yaml:
  cases:
    - name: env files are protected
      event: PreToolUse
      tool: Write
      input: {file_path: .env}
      expect: {denies: uneditable}

Commands are not executed: `results: {\"npm run lint\": 1}` says how they end. The config beside the file counts, without your
own and the local one. Exits with 0 if all cases pass, and with 1 if not.";

#[derive(clap::Args)]
pub(super) struct TestRequest {
    /// Files with cases [default: .conclaude.test.yaml of the project]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The client whose events the cases are that name none: claude, codex, copilot, qwen or gemini [default: claude]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Write the results as JUnit XML as well
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// A case that was played.
struct CaseResult {
    name: String,
    line: usize,
    /// The differences, line by line. Empty if the case passed.
    difference: Vec<String>,
    took: Duration,
}

/// The cases of a file.
struct Suite {
    path: PathBuf,
    cases: Vec<CaseResult>,
}

pub(super) fn run(request: &TestRequest) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    let client = match &request.client {
        Some(name) => dialect::find(name)?,
        None => &claude::DIALECT,
    };
    let paths = if request.files.is_empty() { vec![default_file()?] } else { request.files.clone() };
    let mut suites = Vec::new();
    let mut broken: Vec<(PathBuf, String)> = Vec::new();
    for path in paths {
        match suite(&path, client)? {
            Ok(suite) => {
                print(&mut out, &suite)?;
                suites.push(suite);
            }
            Err(error) => {
                invalid(&mut out, &error)?;
                broken.push((path, error.report(Style::Plain)));
            }
        }
    }
    if let Some(path) = &request.junit {
        files::write_atomically(path, junit::of(&suites, &broken).as_bytes())
            .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    }
    if suites.is_empty() {
        out.flush()?;
        return Ok(Exit::Failure);
    }
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    let failed = all().filter(|case| !case.difference.is_empty()).count();
    let cases = count(all().count() as u64, "case");
    match failed {
        0 if broken.is_empty() => writeln!(out, "{GOOD}{cases} passed{GOOD:#}")?,
        0 => writeln!(out, "{cases} passed; what could not be read is above")?,
        failed => writeln!(out, "{BAD}{failed} of {cases} failed{BAD:#}")?,
    }
    out.flush()?;
    Ok(if failed == 0 && broken.is_empty() { Exit::Success } else { Exit::Failure })
}

fn default_file() -> anyhow::Result<PathBuf> {
    let folder = super::root()?.folder;
    let found = TEST_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let here = std::env::current_dir()?;
    let found = found.map(|path| path.strip_prefix(&here).map(Path::to_owned).unwrap_or(path));
    let [preferred, _] = TEST_FILES;
    found.ok_or_else(|| {
        anyhow!("there is no {preferred} in {}: `conclaude init` writes a first one, `conclaude test --help` shows a case",
            folder.display())
    })
}

fn suite(path: &Path, client: &'static Dialect) -> anyhow::Result<Result<Suite, ConfigError>> {
    let text = files::read_text(path, MAX_BYTES)
        .map_err(|error| anyhow!("cannot read {}: {error}", path.display()))?;
    let file = match TestFile::parse(&text, path) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let folder = path.canonicalize()?.parent().map(Path::to_owned).unwrap_or_default();
    // Cases need a valid config.
    let root = Root::find(Some(&folder), &folder);
    let loaded = root.config.as_deref().map(|path| load::one(path, &root).complete());
    if let Some(Err(error)) = loaded {
        return Ok(Err(error));
    }
    let play = |case: &Located<Case>| {
        let started = Instant::now();
        let impossible = play::impossible(&case.value);
        let difference = match play::play(&case.value, &folder, client) {
            _ if !impossible.is_empty() => impossible,
            Ok(actual) => play::difference(&case.value, &actual),
            Err(why) => vec![format!("it could not be played: {why}")],
        };
        let name = case.value.name.as_str().to_owned();
        CaseResult { name, line: case.line, difference, took: started.elapsed() }
    };
    Ok(Ok(Suite { path: path.to_owned(), cases: file.cases.iter().map(play).collect() }))
}

fn invalid(out: &mut Out<'_>, error: &ConfigError) -> io::Result<()> {
    let style = if Out::shows_colours() { Style::Colour } else { Style::Plain };
    writeln!(out, "{}\n", super::out::ColouredText(&error.report(style)))?;
    let problems = count(error.located().len() as u64, "problem");
    let is_config =
        error.path().file_name().is_some_and(|name| ROOT_FILES.iter().any(|known| name == *known));
    if is_config {
        return writeln!(out, "{BAD}error{BAD:#}: {}", error.summary());
    }
    writeln!(out, "{BAD}error{BAD:#}: {} is not a file of cases: {problems}", error.path().display())
}

fn print(out: &mut Out<'_>, suite: &Suite) -> io::Result<()> {
    writeln!(out, "{}", suite.path.display())?;
    for case in &suite.cases {
        if case.difference.is_empty() {
            writeln!(out, "  {GOOD}✓{GOOD:#} {}", case.name)?;
            continue;
        }
        writeln!(out, "  {BAD}✗{BAD:#} {} (line {})", case.name, case.line)?;
        for line in &case.difference {
            match line.chars().next() {
                Some('-') => writeln!(out, "      {BAD}{}{BAD:#}", ExactText(line))?,
                Some('+') => writeln!(out, "      {GOOD}{}{GOOD:#}", ExactText(line))?,
                _ => writeln!(out, "      {}", ExactText(line))?,
            }
        }
    }
    Ok(())
}
