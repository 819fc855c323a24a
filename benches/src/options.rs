use std::path::PathBuf;

const HELP: &str = "\
benches/run [options]

  --rounds N            rounds of every case (default 500)
  --only TEXT           only cases with this in their name, and those to compare with
  --json FILE           write the figures as JSON (default target/bench.json)
  --compare FILE        show what changed against such a file
  --instructions        count instructions with valgrind instead of measuring time
  --check FILE          with --instructions: fail if a count is more than 5 % above the committed one
  --update FILE         with --instructions: write the counts there
  --limits              fail where a figure misses a limit of docs/explanation/performance.md
  --installed FILE      measure some cases with this program too, as `cargo install` builds it
";

#[derive(Default)]
pub struct Options {
    pub binary: PathBuf,
    pub rounds: usize,
    pub only: Option<String>,
    pub json: PathBuf,
    pub compare: Option<PathBuf>,
    pub instructions: bool,
    pub check: Option<PathBuf>,
    pub update: Option<PathBuf>,
    pub limits: bool,
    pub installed: Option<PathBuf>,
}

impl Options {
    pub fn parse() -> Result<Options, String> {
        let mut options = Options { rounds: 500, json: "target/bench.json".into(), ..Options::default() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--binary" => options.binary = value()?.into(),
                "--rounds" => {
                    options.rounds = value()?.parse().map_err(|error| format!("--rounds: {error}"))?;
                }
                "--only" => options.only = Some(value()?),
                "--json" => options.json = value()?.into(),
                "--compare" => options.compare = Some(value()?.into()),
                "--instructions" => options.instructions = true,
                "--check" => options.check = Some(value()?.into()),
                "--update" => options.update = Some(value()?.into()),
                "--limits" => options.limits = true,
                "--installed" => options.installed = Some(value()?.into()),
                "--help" | "-h" => return Err(HELP.into()),
                other => return Err(format!("unknown option {other}\n\n{HELP}")),
            }
        }
        options.binary =
            options.binary.canonicalize().map_err(|error| format!("{:?}: {error}", options.binary))?;
        Ok(options)
    }
}
