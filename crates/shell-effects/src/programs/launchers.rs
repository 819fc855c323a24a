//! Programs with a subcommand that runs another command: here in another environment, in a container, or on another machine.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream;
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::subcommands;

struct Launcher {
    program: &'static str,
    /// Behind the options of the program.
    subcommand: &'static str,
    flags: Flags,
    /// How many operands come before the command.
    operands: usize,
    runs: Runs,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Here,
    /// Where it sees other files.
    Elsewhere,
    /// The same, as a text for a shell.
    Shell,
}

const fn here(program: &'static str, subcommand: &'static str, flags: Flags, operands: usize) -> Launcher {
    Launcher { program, subcommand, flags, operands, runs: Runs::Here }
}

const fn elsewhere(program: &'static str, subcommand: &'static str, flags: Flags) -> Launcher {
    Launcher { program, subcommand, flags, operands: 1, runs: Runs::Elsewhere }
}

const EXEC: Flags = "-e= -u= -w= --env= --env-file= --user= --workdir= --detach-keys= --index=";
const NPX: Flags = "-p= -w= -c= --package= --workspace= --call=";
const POD: Flags = "-c= -n= -f= --container= --namespace= --context= --filename= --pod-running-timeout=";
const RUN: Flags = "-a= -c= -e= -h= -l= -m= -p= -u= -v= -w= --add-host= --attach= --blkio-weight= --cap-add= --cap-drop= \
    --cgroup-parent= --cidfile= --cpu-period= --cpu-quota= --cpu-shares= --cpus= --cpuset-cpus= --device= --dns= \
    --entrypoint= --env= --env-file= --expose= --gpus= --group-add= --health-cmd= --hostname= --ip= --ipc= --label= --link= \
    --log-driver= --log-opt= --mac-address= --memory= --memory-swap= --mount= --name= --network= --network-alias= --net= \
    --oom-score-adj= --pid= --pids-limit= --platform= --publish= --pull= --restart= --runtime= --security-opt= --shm-size= \
    --stop-signal= --stop-timeout= --storage-opt= --sysctl= --tmpfs= --ulimit= --user= --userns= --uts= --volume= \
    --volume-driver= --volumes-from= --workdir=";
const SSH: Flags = "-B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -p= -Q= -R= -S= -W= -w=";
const UV: Flags = "-p= -m= --with= --with-editable= --with-requirements= --from= --python= --extra= --group= --only-group= --no-group= \
    --env-file= --directory= --project= --package= --index= --index-url= --extra-index-url= --color= --config-file= --cache-dir=";

const LAUNCHERS: &[Launcher] = &[
    here("asdf", "exec", "", 0),
    here("aws-vault", "exec", "-d= -t= --duration= --mfa-token= --region=", 1),
    here("bundle", "exec", "", 0),
    here("bunx", "", "-p= --package=", 0),
    here("chamber", "exec", "", 1),
    here("conda", "run", "-n= -p= --name= --prefix= --cwd=", 0),
    here("corepack", "", "", 0),
    here("cross-env", "", "", 0),
    here("direnv", "exec", "", 1),
    elsewhere("docker", "compose exec", EXEC),
    elsewhere("docker", "compose run", RUN),
    elsewhere("docker", "container exec", EXEC),
    elsewhere("docker", "container run", RUN),
    elsewhere("docker", "exec", EXEC),
    elsewhere("docker", "run", RUN),
    elsewhere("docker-compose", "exec", EXEC),
    elsewhere("docker-compose", "run", RUN),
    here("doppler", "run", "-p= -c= -t= --project= --config= --token=", 0),
    here("dotenv", "", "-f= -e= -v= --file=", 0),
    here("dotenv", "run", "", 0),
    here("hatch", "run", "", 0),
    here("infisical", "run", "--env= --path= --token= --projectId=", 0),
    elsewhere("kubectl", "exec", POD),
    elsewhere("lxc", "exec", "--cwd= --env= --user= --group="),
    here("mamba", "run", "-n= -p= --name= --prefix= --cwd=", 0),
    here("micromamba", "run", "-n= -p= --name= --prefix= --cwd=", 0),
    here("mise", "exec", "-j= -C= --cd= --jobs= -c= --command=", 0),
    here("mise", "x", "-j= -C= --cd= --jobs= -c= --command=", 0),
    elsewhere("nerdctl", "exec", EXEC),
    elsewhere("nerdctl", "run", RUN),
    here("nix", "develop", "-f= -I= --option= --arg= --argstr=", 0),
    here("nix", "shell", "-f= -I= --option= --arg= --argstr=", 0),
    here("npm", "exec", NPX, 0),
    here("npm", "x", NPX, 0),
    here("npx", "", NPX, 0),
    elsewhere("oc", "exec", POD),
    here("op", "run", "--env-file= --account=", 0),
    here("pdm", "run", "-p= --project=", 0),
    here("pipenv", "run", "", 0),
    here("pipx", "run", "--spec= --python=", 0),
    here("pnpm", "dlx", "--package=", 0),
    here("pnpm", "exec", "", 0),
    elsewhere("podman", "exec", EXEC),
    elsewhere("podman", "run", RUN),
    here("poetry", "run", "", 0),
    here("pyenv", "exec", "", 0),
    here("rbenv", "exec", "", 0),
    here("rye", "run", "", 0),
    Launcher { program: "ssh", subcommand: "", flags: SSH, operands: 1, runs: Runs::Shell },
    here("uv", "run", UV, 0),
    here("uv", "tool run", UV, 0),
    here("uvx", "", UV, 0),
    here(
        "watchexec",
        "",
        "-w= -e= -f= -i= -s= -d= --watch= --exts= --filter= --ignore= --signal= --debounce= --shell=",
        0,
    ),
    here("yarn", "dlx", "-p= --package=", 0),
    here("yarn", "exec", "", 0),
];

/// The words behind a subcommand, with the options of the program before it.
fn behind<'f>(program: &str, subcommand: &str, words: &'f [Field]) -> Option<&'f [Field]> {
    let mut rest = words;
    let mut flags = subcommands::before(program).unwrap_or_default();
    for part in subcommand.split_whitespace() {
        let (_, length) = arguments::parse_up_to(flags, rest, true);
        let (found, behind) = rest.get(length..)?.split_first()?;
        if found.text != part {
            return None;
        }
        flags = subcommands::below(program, part).unwrap_or_default();
        rest = behind;
    }
    Some(rest)
}

pub(crate) fn launch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let mut rows = LAUNCHERS.iter().filter(|row| row.program == call.name);
    let found = rows.find_map(|row| Some((row, behind(row.program, row.subcommand, words)?)));
    let Some((row, rest)) = found else { return analyzer.unknown_program(call.fields) };
    let (options, length) = arguments::parse_up_to(row.flags, rest, true);
    if let Some(code) =
        options.value(&["-c", "--call", "--command"]).filter(|_| row.runs == Runs::Here && takes_code(row))
    {
        return analyzer.inside(call.command, row.runs, |analyzer| {
            analyzer.subshell(|analyzer| analyzer.code(code, "sh"))
        });
    }
    let command = command_of(row, rest, length);
    let before = call.fields.get(..call.fields.len() - command.len()).unwrap_or_default();
    // A key is used by ssh, and shown to nobody.
    let is_key = |field: &Field| row.runs == Runs::Shell && options.values(&["-i"]).any(|key| key == field);
    let before: Vec<Field> = before.iter().filter(|field| !is_key(field)).cloned().collect();
    analyzer.unknown_program(&before);
    if row.runs == Runs::Shell && length < rest.len() {
        let code = stream::joined(command, " ");
        analyzer.inside(call.command, row.runs, |analyzer| {
            if command.is_empty() {
                // The shell over there reads what is sent.
                analyzer.code_from_input("ssh", true);
            } else {
                analyzer.subshell(|analyzer| analyzer.code(&code, "ssh"));
            }
        });
    } else if !command.is_empty() {
        analyzer.inside(call.command, row.runs, |analyzer| analyzer.run_fields(command));
    }
}

fn takes_code(row: &Launcher) -> bool {
    matches!(row.program, "npx" | "npm" | "mise")
}

/// The words of the command: behind `--` where that is given, else behind the operands.
fn command_of<'f>(row: &Launcher, rest: &'f [Field], length: usize) -> &'f [Field] {
    let dashes = rest.iter().skip(length).position(|field| field.text == "--").map(|at| length + at + 1);
    let flag = || {
        let is_command = |field: &Field| matches!(field.text.as_str(), "-c" | "--command");
        rest.iter().position(is_command).filter(|_| row.program == "nix").map(|at| at + 1)
    };
    let takes_dashes = row.operands > 0 || matches!(row.program, "mise" | "nix");
    let start = match dashes.filter(|_| takes_dashes && row.runs != Runs::Shell).or_else(flag) {
        Some(start) => start,
        None if row.program == "nix" => rest.len(),
        None => (length + row.operands).min(rest.len()),
    };
    let command = rest.get(start..).unwrap_or_default();
    // Some take variables before it.
    let assigned =
        command.iter().take_while(|field| row.program == "cross-env" && field.text.contains('=')).count();
    command.get(assigned..).unwrap_or_default()
}

/// Programs with texts that a shell runs: `nix-shell --run CODE`, `hyperfine CODE`, `nodemon -x CODE`.
pub(crate) fn texts(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let flags: &[&str] = match call.name {
        "hyperfine" => &["-p", "-c", "-s", "--prepare", "--cleanup", "--setup"],
        "nodemon" => &["-x", "--exec"],
        "concurrently" => &[],
        _ => &["-c", "--run", "--command"],
    };
    let operands = call.arguments.operands.iter();
    let operands = operands.filter(|_| matches!(call.name, "hyperfine" | "concurrently"));
    let runs = if call.name == "vagrant" { Runs::Elsewhere } else { Runs::Here };
    let codes: Vec<&Field> = call.arguments.values(flags).chain(operands).collect();
    if codes.is_empty() {
        return analyzer.unknown_program(call.fields);
    }
    for code in codes {
        analyzer
            .inside(call.command, runs, |analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
    }
}

impl Analyzer<'_> {
    /// Runs a command that is part of the text of another one.
    fn inside(&mut self, command: usize, runs: Runs, run: impl FnOnce(&mut Self)) {
        let elsewhere = usize::from(runs != Runs::Here);
        self.inside += 1;
        self.elsewhere += elsewhere;
        self.wrap(command, run);
        self.inside -= 1;
        self.elsewhere -= elsewhere;
    }
}
