//! Programs with subcommands: package managers, containers, clouds, and others that run a command in another environment.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::program::{
    Action, Launch, Output, Place, Program, ShellTexts, Stdin, Subcommand, special, tool,
};

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
const COMPOSE: Flags = "-f= -p= --file= --project-name= --project-directory= --profile= --env-file= --ansi= --progress= \
    --parallel= --context=";
const KUBECTL: Flags = "-n= -s= -v= --namespace= --context= --cluster= --user= --kubeconfig= --server= --token= --as= \
    --as-group= --as-uid= --certificate-authority= --client-certificate= --client-key= \
    --request-timeout= --tls-server-name= --username= --password= --cache-dir= --profile= \
    --profile-output= --kuberc= --v= --vmodule=";
const PIP: Flags = "--python= --log= --proxy= --retries= --timeout= --cert= --client-cert= --cache-dir= --exists-action= \
    --trusted-host=";

#[rustfmt::skip]
pub(crate) const TOOLS: &[Program] = &[
    Program::new(&["asdf"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]).output(Output::Settings(ENVIRONMENT)),
    Program::new(&["aws-vault"]).subcommands(&[Subcommand::runs(&["exec"], "-d= -t= --duration= --mfa-token= --region=", 1)]),
    Program::new(&["bundle"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]),
    Program::new(&["bunx"]).subcommands(&[Subcommand::runs(&[""], "-p= --package=", 0)]),
    Program::new(&["chamber"]).subcommands(&[Subcommand::runs(&["exec"], "", 1)]),
    Program::new(&["concurrently"]).options("-n= -c= -p= -k? --names= --prefix-colors=").action(texts(&[], true, Place::Here)),
    Program::new(&["conda", "mamba", "micromamba"])
        .subcommands(&[Subcommand::runs(&["run"], "-n= -p= --name= --prefix= --cwd=", 0)])
        .output(Output::Settings(CONDA)),
    Program::new(&["corepack"]).subcommands(&[Subcommand::runs(&[""], "", 0)]),
    Program::new(&["cross-env"]).subcommands(&[Subcommand::launches(&[""], "", CROSS_ENV_LAUNCH)]),
    Program::new(&["direnv"]).subcommands(&[Subcommand::runs(&["exec"], "", 1)]).output(Output::Settings(&["export", "hook"])),
    Program::new(&["docker"]).before_subcommand("-c= -H= -l= --config= --context= --host= --log-level= --tlscacert= --tlscert= --tlskey=")
        .subcommands(&[
            Subcommand::elsewhere(&["exec", "compose exec", "container exec"], EXEC),
            Subcommand::elsewhere(&["run", "create", "compose run", "container create", "container run"], RUN),
            Subcommand::group(&["compose"], COMPOSE),
        ])
        .output(Output::Settings(COMPLETION)),
    Program::new(&["docker-compose"]).before_subcommand(COMPOSE).subcommands(&[
        Subcommand::elsewhere(&["exec"], EXEC),
        Subcommand::elsewhere(&["run"], RUN),
    ]),
    Program::new(&["doppler"]).subcommands(&[Subcommand::runs(&["run"], "-p= -c= -t= --project= --config= --token=", 0)]),
    Program::new(&["dotenv"]).subcommands(&[
        Subcommand::runs(&["run"], "", 0),
        Subcommand::runs(&[""], "-f= -e= -v= --file=", 0),
    ]),
    Program::new(&["hatch"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]),
    Program::new(&["hyperfine"]).options("-w= -r= -m= -M= -p= -c= -s= -L= -P= -D= -n= -S= -u= --warmup= --runs= --min-runs= --max-runs= --prepare= --cleanup= --setup= --export-json=w --export-csv=w --export-markdown=w --shell= --command-name=")
        .action(texts(&["-p", "-c", "-s", "--prepare", "--cleanup", "--setup"], true, Place::Here)),
    Program::new(&["infisical"]).subcommands(&[Subcommand::runs(&["run"], "--env= --path= --token= --projectId=", 0)]),
    Program::new(&["kubectl", "oc"]).before_subcommand(KUBECTL)
        .subcommands(&[Subcommand::elsewhere(&["exec"], POD)])
        .output(Output::Settings(COMPLETION)),
    Program::new(&["lxc"]).subcommands(&[Subcommand::elsewhere(&["exec"], "--cwd= --env= --user= --group=")]),
    Program::new(&["mise"])
        .subcommands(&[Subcommand::launches(&["exec", "x"], "-j= -C= --cd= --jobs= -c= --command=", MISE_LAUNCH)])
        .output(Output::Settings(ENVIRONMENT)),
    Program::new(&["nerdctl"]).before_subcommand("-a= -H= -n= --address= --host= --namespace= --data-root= --snapshotter=").subcommands(&[
        Subcommand::elsewhere(&["exec"], EXEC),
        Subcommand::elsewhere(&["run"], RUN),
        Subcommand::group(&["compose"], COMPOSE),
    ]),
    Program::new(&["nix"]).subcommands(&[Subcommand::launches(&["develop", "shell"], "-f= -I= --option= --arg= --argstr=", NIX_LAUNCH)]),
    Program::new(&["nix-shell"]).options("-p= -A= -I= --run= --command= --packages= --attr= --arg= --argstr= --keep=")
        .action(texts(&["-c", "--run", "--command"], false, Place::Here)),
    Program::new(&["nodemon"]).options("-x= -w= -e= -i= -d= --exec= --watch= --ext= --ignore= --delay=").action(texts(&["-x", "--exec"], false, Place::Here)),
    Program::new(&["npm"]).before_subcommand("-C= -w= --prefix= --registry= --loglevel= --userconfig= --globalconfig= --cache= --workspace= --otp= --tag=")
        .subcommands(&[Subcommand::launches(&["exec", "x"], NPX, NPX_LAUNCH)])
        .output(Output::Settings(COMPLETION)),
    Program::new(&["npx"]).subcommands(&[Subcommand::launches(&[""], NPX, NPX_LAUNCH)]),
    Program::new(&["op"]).subcommands(&[Subcommand::runs(&["run"], "--env-file= --account=", 0)]),
    Program::new(&["pdm"]).subcommands(&[Subcommand::runs(&["run"], "-p= --project=", 0)]),
    Program::new(&["pipenv"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]),
    Program::new(&["pipx"]).subcommands(&[Subcommand::runs(&["run"], "--spec= --python=", 0)]),
    Program::new(&["pnpm"]).before_subcommand("-C= -F= --dir= --filter= --loglevel= --reporter=").subcommands(&[
        Subcommand::runs(&["dlx"], "--package=", 0),
        Subcommand::runs(&["exec"], "", 0),
    ]).output(Output::Settings(COMPLETION)),
    Program::new(&["podman"]).before_subcommand("-c= --connection= --identity= --log-level= --root= --runroot= --runtime= --storage-driver= --storage-opt= --tmpdir= --url=")
        .subcommands(&[
            Subcommand::elsewhere(&["exec"], EXEC),
            Subcommand::elsewhere(&["run", "create", "container run"], RUN),
            Subcommand::group(&["compose"], COMPOSE),
        ]),
    Program::new(&["poetry"]).before_subcommand("-C= -P= --directory= --project=")
        .subcommands(&[Subcommand::runs(&["run"], "", 0)])
        .output(Output::Settings(COMPLETION)),
    Program::new(&["pyenv", "rbenv"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]).output(Output::Settings(VERSIONS)),
    Program::new(&["rye"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]),
    Program::new(&["ssh"]).subcommands(&[Subcommand::launches(&[""], SSH, Launch::new(1, Place::RemoteShell))]).stdin(Stdin::Shell),
    Program::new(&["uv"]).before_subcommand("--directory= --project= --config-file= --cache-dir= --color= --python= -p=")
        .subcommands(&[Subcommand::runs(&["run", "tool run"], UV, 0)])
        .output(Output::Settings(COMPLETION)),
    Program::new(&["uvx"]).subcommands(&[Subcommand::runs(&[""], UV, 0)]),
    Program::new(&["vagrant"]).options("-c= --command=").action(texts(&["-c", "--run", "--command"], false, Place::Elsewhere)),
    Program::new(&["watchexec"])
        .subcommands(&[Subcommand::runs(&[""], "-w= -e= -f= -i= -s= -d= --watch= --exts= --filter= --ignore= --signal= --debounce= --shell=", 0)]),
    Program::new(&["yarn"]).before_subcommand("--cwd=").subcommands(&[
        Subcommand::runs(&["dlx"], "-p= --package=", 0),
        Subcommand::runs(&["exec"], "", 0),
    ]),
    tool(&["apt", "apt-get"], "-o= -c= -t= -a= --option= --config-file= --target-release= --host-architecture="),
    tool(&["aws"], "--profile= --region= --output= --endpoint-url= --query= --ca-bundle= --color= --cli-read-timeout= --cli-connect-timeout= --cli-binary-format="),
    tool(&["az"], "-o= --output= --query= --subscription="),
    tool(&["cargo"], "+ -C= -Z= --config= --color="),
    tool(&["dnf", "yum"], "-c= --config= --installroot= --releasever= --setopt="),
    tool(&["firebase"], "-P= --project= --token= --account= --config="),
    tool(&["fly", "flyctl"], "-t= --access-token="),
    tool(&["gcloud"], "--account= --billing-project= --configuration= --flags-file= --format= --impersonate-service-account= --project= --verbosity="),
    tool(&["gh"], "-R= --repo= --hostname=").output(Output::Settings(COMPLETION)),
    tool(&["go"], "-C="),
    tool(&["helm"], "-n= --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-as-user= --kube-as-group= --kube-ca-file= --kube-tls-server-name= --kube-token= --registry-config= --repository-cache= --repository-config= --burst-limit= --qps=")
        .output(Output::Settings(COMPLETION)),
    tool(&["heroku"], "-a= --app= -r= --remote="),
    tool(&["hg"], "-R= --repository= --cwd= --config= --encoding="),
    tool(&["jj"], "-R= --repository= --at-operation= --color= --config="),
    special(&["make"], MAKE, make).before_subcommand(MAKE),
    tool(&["pip", "pip3"], PIP).output(Output::Settings(COMPLETION)),
    tool(&["pulumi"], "-C= -v= --cwd= --color= --profiling= --tracing="),
    tool(&["rustup"], "+").output(Output::Settings(COMPLETION)),
    tool(&["systemctl"], "-H= -M= -t= -p= -P= -s= -n= -o= --host= --machine= --type= --state= --property= --signal= --lines= --output= --root= --image= --job-mode="),
    tool(&["terraform", "tofu"], ""),
    tool(&["terragrunt"], "--working-dir= --config= --terragrunt-working-dir= --terragrunt-config="),
    tool(&["vercel"], "-A= -Q= -S= -t= --cwd= --local-config= --global-config= --scope= --token="),
    Program::new(&["dircolors", "keychain"]).output(Output::Settings(&[])),
    Program::new(&["atuin", "fnm", "opam", "starship", "zoxide"]).output(Output::Settings(ENVIRONMENT)),
    Program::new(&["goenv", "jenv", "nodenv"]).output(Output::Settings(VERSIONS)),
    Program::new(&["brew"]).output(Output::Settings(&["shellenv"])),
    Program::new(&["docker-machine", "luarocks", "minikube"]).output(Output::Settings(MACHINE)),
    Program::new(&["argocd", "flux", "glab", "k3d", "kind"]).output(Output::Settings(COMPLETION)),
];

const MAKE: Flags = "-C= -f= -I= -o= -W= -E= --directory= --file= --makefile= --include-dir= --eval=";

/// `make` runs what its makefile says. That is known if this command wrote it.
fn make(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    for code in call.arguments.values(&["-E", "--eval"]) {
        analyzer.inline_code("make", code.shown());
    }
    // The value of a variable is expanded, and after `!=` it is a command.
    for operand in call.arguments.operands.iter().filter(|operand| operand.text.contains('=')) {
        if operand.text.contains(['$', '!']) {
            analyzer.inline_code("make", operand.shown());
        }
    }
    for name in ["MAKEFLAGS", "GNUMAKEFLAGS"] {
        let values: Vec<String> = analyzer.state.exports.values(name).map(str::to_owned).collect();
        values.into_iter().for_each(|flags| analyzer.inline_code("make", flags));
    }
    let named: Vec<Field> = call.arguments.values(&["-f", "--file", "--makefile"]).cloned().collect();
    let files = if named.is_empty() {
        ["GNUmakefile", "makefile", "Makefile"].map(Field::literal).to_vec()
    } else {
        named
    };
    let lists: Vec<String> = analyzer.state.exports.values("MAKEFILES").map(str::to_owned).collect();
    let included: Vec<Field> =
        lists.iter().flat_map(|list| list.split_whitespace()).map(Field::literal).collect();
    analyzer.in_directory(call.arguments.values(&["-C", "--directory"]), |analyzer| {
        for file in files.iter().chain(&included) {
            if file.text == "-" || is_input(file) {
                analyzer.code_from_input("make", Language::Other);
            } else if is_descriptor(file) {
                analyzer.code_from_process("make", Language::Other, &[]);
            } else {
                analyzer.written_code(file, call.command, "make", Language::Other);
            }
        }
        included_makefiles(analyzer, call.command);
    });
}

/// What this command wrote and a makefile may include: other makefiles, and any file if a written one includes something.
fn included_makefiles(analyzer: &mut Analyzer<'_>, command: usize) {
    let is_makefile = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        name.contains("makefile")
            || !name.contains('.')
            || [".mk", ".make", ".inc"].iter().any(|end| name.ends_with(end))
    };
    let written = analyzer.state.disk.written_files();
    let includes_any = written.iter().any(|(path, file)| is_makefile(path) && file.contains("include"));
    for (path, file) in &written {
        if includes_any || is_makefile(path) {
            analyzer.run_written(file, command, "make", Language::Other);
        }
    }
}

const NPX_LAUNCH: Launch = Launch { code: &["-c", "--call"], ..Launch::new(0, Place::Here) };
const MISE_LAUNCH: Launch =
    Launch { code: &["-c", "--command"], takes_dashes: true, ..Launch::new(0, Place::Here) };
const NIX_LAUNCH: Launch =
    Launch { starts: &["-c", "--command"], takes_dashes: true, ..Launch::new(0, Place::Here) };
const CROSS_ENV_LAUNCH: Launch = Launch { takes_variables: true, ..Launch::new(0, Place::Here) };

const fn texts(options: &'static [&'static str], are_operands: bool, place: Place) -> Action {
    Action::Texts(ShellTexts { options, are_operands, place })
}

// First operands that ask for settings.
const ENVIRONMENT: &[&str] = &["activate", "env", "init"];
const VERSIONS: &[&str] = &["init", "virtualenv-init"];
const CONDA: &[&str] = &["shell", "shell.bash", "shell.posix", "shell.zsh"];
const MACHINE: &[&str] = &["completion", "docker-env", "env", "path"];
const COMPLETION: &[&str] = &["completion", "completions", "generate-shell-completion"];

/// Options before the first operand that take a value.
const SETTINGS_FLAGS: Flags = "-p= --profile= -s= --storage-path= -C= --cd=";

/// Whether a command prints settings for a shell, which is what it is for.
pub(crate) fn prints_settings(analyzer: &Analyzer<'_>, words: &[Field]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    // A program of the project may have the same name.
    let name = match first.text.rsplit_once('/') {
        Some((directory, name)) if directory.is_empty() || directory.starts_with('/') => name,
        Some(_) => return false,
        None => first.text.as_str(),
    };
    let Some(Program { output: Output::Settings(asking), .. }) = analyzer.program(name) else { return false };
    let (_, skipped) = arguments::parse_up_to(SETTINGS_FLAGS, rest, true);
    asking.is_empty() || rest.get(skipped).is_some_and(|word| asking.contains(&word.text.as_str()))
}
