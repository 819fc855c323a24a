//! Programs with subcommands: package managers, containers, clouds, and others that run a command in another environment.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::action::{Action, Launch, Output, Place, ShellTexts, Stdin, Subcommand};
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::harmless;
use crate::programs::languages::SourceLanguage;
use crate::programs::makefiles::{MAKE, make};
use crate::programs::program::{OperandKind, Program, special, tool};
use crate::programs::{launchers, own_programs, start_up};

const EXEC: Flags = "--privileged! -e= -u= -w= --env= --env-file= --user= --workdir= --detach-keys= --index=";
const NPX: Flags = "-p= -w= -c= --package= --workspace= --call=";
const POD: Flags = "-c= -n= -f= --container= --namespace= --context= --filename= --pod-running-timeout=";
const RUN: Flags = "-a= -c= -e= -h= -l= -m= -p= -u= -v=c -w= --privileged! --add-host= --attach= --blkio-weight= --cap-add=c --cap-drop= \
    --cgroup-parent= --cidfile=w --cpu-period= --cpu-quota= --cpu-shares= --cpus= --cpuset-cpus= --device=c --dns= \
    --entrypoint= --env= --env-file= --expose= --gpus= --group-add= --health-cmd= --hostname= --ip= --ipc= --label= --link= \
    --log-driver= --log-opt= --mac-address= --memory= --memory-swap= --mount=c --name= --network= --network-alias= --net= \
    --oom-score-adj= --pid=c --pids-limit= --platform= --publish= --pull= --restart= --runtime= --security-opt=c --shm-size= \
    --stop-signal= --stop-timeout= --storage-opt= --sysctl= --tmpfs= --ulimit= --user= --userns=c --uts= --volume=c \
    --volume-driver= --volumes-from=c --workdir=";
const SSH: Flags = "-B= -b= -c= -D= -E=c -e= -F=f -I=c -i= -J= -L= -l= -m= -O= -o= -p= -Q= -R= -S= -W= -w=";
const NPM: Flags = "-C=p --prefix=p --dir=p --cwd=p --shell=c --call=c --local-prefix=c --global-prefix=c --viewer=c --editor=c \
    --init-module=c --cache=c --use-yarnrc=c --script-shell=x --node-options=c --userconfig=c --globalconfig=c --git=x --logs-dir=w --registry=c --browser=c";
const NPM_BEFORE: Flags = "-C=d -L= -w= --prefix=d --registry= --location= --loglevel= --userconfig= --globalconfig= --cache= --workspace= --otp= --tag=";
/// With the abbreviations of `create`, `edit`, `init` and `innit` that npm takes.
#[rustfmt::skip]
const NPM_ACTING: &[&str] = &[
    "access", "add-user", "adduser", "audit fix", "deprecate", "dist-tag add", "dist-tag rm", "login", "logout", "owner add", "owner rm", "publish",
    "set-script", "token", "unpublish", "config del", "config delete", "config edit", "config fix", "config rm", "config set", "cr", "cre", "crea", "creat", "create", "ed", "edi",
    "edit", "ini", "init", "inn", "inni", "innit", "pkg delete", "pkg fix", "pkg set", "set",
];
const PNPM: Flags = "-C=d -F= --dir=d --filter= --loglevel= --reporter=";
const YARN: Flags = "--cwd=d";
const UV: Flags = "-p= -m= --module= --with= --with-editable= --with-requirements= --from= --python= --extra= --group= --only-group= --no-group= \
    --env-file= --directory=d --project= --package= --index= --index-url= --extra-index-url= --color= --config-file= --cache-dir=";
const COMPOSE: Flags = "-f=c -p= --file=c --project-name= --project-directory=p --profile= --env-file= --ansi= --progress= \
    --parallel= --context=";
const ENTERING: &[&str] = &["exec", "compose exec", "container exec"];
const RUNNING: &[&str] = &["run", "create", "compose run", "container create", "container run"];
/// Other subcommands and options of programs for containers that run something, choose another host, or write files here.
#[rustfmt::skip]
const CONTAINERS: &[&str] = &[
    "attach", "build --iidfile=", "build --metadata-file=", "build -o=", "builder build -o=", "buildx build --iidfile=", "buildx build --metadata-file=", "buildx bake", "buildx build -o=", "compose attach", "compose config -o=", "compose cp",
    "container attach", "container cp", "container export -o=", "context create", "context export", "context import", "context update",
    "context use", "cp", "debug", "export -o=", "image build -o=", "image save -o=", "init", "kube play", "machine ssh", "play kube",
    "plugin create", "plugin enable", "plugin install", "plugin set", "plugin upgrade", "save -o=", "sbom -o=", "service create", "service update",
    "stack deploy", "stack up", "system dial-stdio", "volume create -o=", "volume create --opt=", "volume import",
];
const KUBECTL: Flags = "-n= -s= -v= --namespace= --context= --cluster= --user= --kubeconfig= --server= --token= --as= \
    --as-group= --as-uid= --certificate-authority= --client-certificate= --client-key= \
    --request-timeout= --tls-server-name= --username= --password= --cache-dir= --profile= \
    --profile-output= --kuberc= --v= --vmodule=";
#[rustfmt::skip]
const KUBECTL_ACTING: &[&str] = &[
    "attach", "config delete-cluster", "config delete-context", "config delete-user", "config rename-context", "config set", "config set-cluster",
    "config set-context", "config set-credentials", "config unset", "config use-context", "cp", "debug", "edit", "krew install",
    "krew upgrade", "kustomize -o=",
];
const PIP: Flags = "--python= --log= --proxy= --retries= --timeout= --cert= --client-cert= --cache-dir= --exists-action= \
    --trusted-host=";

#[rustfmt::skip]
pub(crate) const TOOLS: &[Program] = &[
    Program::new(&["ansible"]).options("-a= -e= -f= -i= -l= -m= -u= -t=c --tree=c -M=c --module-path=c --ssh-common-args=c --ssh-extra-args=c --scp-extra-args=c --sftp-extra-args=c --vault-password-file=x --vault-id=c --become-password-file=x --connection-password-file=x --playbook-dir=c --args= --module-name= --inventory= --limit= --extra-vars= --forks= --user=")
        .action(texts(&["-a", "--args"], false, Place::Elsewhere)),
    Program::new(&["asdf"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]).output(Output::Settings(ENVIRONMENT)),
    Program::new(&["aws-vault"]).subcommands(&[Subcommand::runs(&["exec"], "-d= -t= --duration= --mfa-token= --region=", 1)]),
    Program::new(&["bundle"]).options("--gemfile=p").acting(&["config set"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]).locks(&["Gemfile.lock"]),
    Program::new(&["bunx"]).builds_project().subcommands(&[Subcommand::runs(&[""], "-p= --package=", 0)]).runs_package_scripts(),
    Program::new(&["chamber"]).subcommands(&[Subcommand::runs(&["exec"], "", 1)]),
    Program::new(&["concurrently"]).options("-n= -c= -p= -k? --names= --prefix-colors=").action(texts(&[], true, Place::Here)).runs_package_scripts(),
    Program::new(&["conda", "mamba", "micromamba"])
        .subcommands(&[Subcommand::runs(&["run"], "-n= -p= --name= --prefix= --cwd=d", 0)])
        .output(Output::Settings(CONDA)),
    Program::new(&["corepack"]).subcommands(&[Subcommand::runs(&[""], "", 0)]).runs_package_scripts(),
    Program::new(&["cross-env"]).subcommands(&[Subcommand::launches(&[""], "", CROSS_ENV_LAUNCH)]),
    Program::new(&["direnv"]).subcommands(&[Subcommand::runs(&["exec"], "", 1)]).output(Output::Settings(&["export", "hook"])),
    Program::new(&["docker"]).acting(CONTAINERS).before_subcommand("-c= -H=c -l= --config=c --context= --host=c --log-level= --tlscacert= --tlscert= --tlskey=")
        .subcommands(&[
            Subcommand::elsewhere(ENTERING, EXEC),
            Subcommand::elsewhere(RUNNING, RUN),
            Subcommand::group(&["compose"], COMPOSE),
        ])
        .output(Output::Settings(COMPLETION)).copies_from_containers(),
    Program::new(&["docker-compose", "podman-compose"]).acting(&["attach", "config -o=", "cp"]).before_subcommand(COMPOSE).subcommands(&[
        Subcommand::elsewhere(&["exec"], EXEC),
        Subcommand::elsewhere(&["run"], RUN),
    ]).composes(),
    Program::new(&["doppler"]).subcommands(&[Subcommand::runs(&["run"], "-p= -c= -t= --project= --config= --token=", 0)]),
    Program::new(&["dotenv", "dotenv-cli"]).subcommands(&[
        Subcommand::runs(&["run"], "", 0),
        Subcommand::runs(&[""], "-f= -e= -v= --file=", 0),
    ]),
    Program::new(&["hatch"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]),
    Program::new(&["hyperfine"]).options("-w= -r= -m= -M= -p= -c= -s= -L= -P= -D= -n= -S= -u= --warmup= --runs= --min-runs= --max-runs= --prepare= --cleanup= --setup= --export-json=w --export-csv=w --export-markdown=w --shell= --command-name=")
        .action(texts(&["-p", "-c", "-s", "--prepare", "--cleanup", "--setup"], true, Place::Here)),
    Program::new(&["infisical"]).subcommands(&[Subcommand::runs(&["run"], "--env= --path= --token= --projectId=", 0)]),
    Program::new(&["kubectl", "oc"]).harmless(harmless::KUBECTL).acting(KUBECTL_ACTING).options("--kubeconfig=c --kuberc=c --cache-dir=c --profile-output=c").before_subcommand(KUBECTL)
        .subcommands(&[Subcommand::elsewhere(&["exec", "rsh"], POD)])
        .output(Output::Settings(COMPLETION)).copies_from_containers(),
    Program::new(&["mise"]).before_subcommand("-C=d --cd=d -E= --env= -j= --jobs=")
        .subcommands(&[Subcommand::launches(&["exec", "x"], "-j= -C=d --cd=d --jobs= -c= --command=", MISE_LAUNCH)])
        .output(Output::Settings(ENVIRONMENT)),
    Program::new(&["nerdctl"]).acting(CONTAINERS).before_subcommand("-a= -H= -n= --address= --host= --namespace= --data-root= --snapshotter=").subcommands(&[
        Subcommand::elsewhere(ENTERING, EXEC),
        Subcommand::elsewhere(RUNNING, RUN),
        Subcommand::group(&["compose"], COMPOSE),
    ]).copies_from_containers(),
    Program::new(&["nix"]).subcommands(&[Subcommand::launches(&["develop", "shell"], "-f= -I= --option= --arg= --argstr=", NIX_LAUNCH)]).locks(&["flake.lock"]),
    Program::new(&["nix-shell"]).options("-p= -A= -I= --run= --command= --packages= --attr= --arg= --argstr= --keep=")
        .action(texts(&["-c", "--run", "--command"], false, Place::Here)),
    Program::new(&["nodemon"]).options("-x= -w= -e= -i= -d= --exec= --watch= --ext= --ignore= --delay=").action(texts(&["-x", "--exec"], false, Place::Here)),
    Program::new(&["npm"]).options(NPM).acting(NPM_ACTING).before_subcommand(NPM_BEFORE)
        .subcommands(&[
            Subcommand::launches(&["exec", "exe", "x"], NPX, NPX_LAUNCH),
            Subcommand::runs(&["explore", "explor", "explo"], "--shell=", 1),
            Subcommand::group(&["config", "confi", "conf", "con", "c"], NPM_BEFORE),
        ])
        .output(Output::Settings(COMPLETION)).runs_package_scripts().installed(&["root", "root -g"]).directories(&["prefix", "prefix -g", "bin", "bin -g"]).locks(&["package-lock.json", "npm-shrinkwrap.json"]),
    Program::new(&["lerna"]).subcommands(&[Subcommand::runs(&["exec"], "--scope= --ignore= --concurrency= --since=", 0)]).runs_package_scripts(),
    Program::new(&["ni", "npm-run-all", "npm-run-all2", "nr", "nx", "run-p", "run-s", "rush", "turbo", "wireit"]).runs_package_scripts(),
    Program::new(&["npx", "pnpx"]).builds_project().subcommands(&[Subcommand::launches(&[""], NPX, NPX_LAUNCH)]).runs_package_scripts(),
    Program::new(&["op"]).subcommands(&[Subcommand::runs(&["run"], "--env-file= --account=", 0)]),
    Program::new(&["pdm"]).subcommands(&[Subcommand::runs(&["run"], "-p= --project=", 0)]).locks(&["pdm.lock"]),
    Program::new(&["pipenv"]).directories(&["--venv", "--where"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]).locks(&["Pipfile.lock"]),
    Program::new(&["pipx"]).subcommands(&[Subcommand::runs(&["run"], "--spec= --python=", 0)]),
    Program::new(&["pnpm"]).options(NPM).acting(&["config delete", "config set", "create", "set"]).before_subcommand(PNPM).subcommands(&[
        Subcommand::group(&["config", "c"], ""),
        Subcommand::runs(&["dlx"], "--package=", 0),
        Subcommand::runs(&["exec"], "", 0),
        Subcommand::launches(&["node"], "", NODE_LAUNCH),
        Subcommand::launches(&[""], PNPM, Launch { own: own_programs::PNPM, ..Launch::new(0, Place::Here) }),
    ]).output(Output::Settings(COMPLETION)).runs_package_scripts().installed(&["root", "root -g"]).directories(&["bin", "bin -g", "store path"]).locks(&["pnpm-lock.yaml"]),
    Program::new(&["podman"]).acting(CONTAINERS).before_subcommand("-c= --connection= --identity= --log-level= --root= --runroot= --runtime= --storage-driver= --storage-opt= --tmpdir= --url=")
        .subcommands(&[
            Subcommand::elsewhere(ENTERING, EXEC),
            Subcommand::elsewhere(RUNNING, RUN),
            Subcommand::runs(&["unshare"], "", 0),
            Subcommand::group(&["compose"], COMPOSE),
        ]).copies_from_containers(),
    Program::new(&["poetry"]).directories(&["env info -p", "env info --path"]).before_subcommand("-C=d -P= --directory=d --project=")
        .subcommands(&[Subcommand::runs(&["run"], "", 0)])
        .output(Output::Settings(COMPLETION)).locks(&["poetry.lock"]),
    Program::new(&["pyenv", "rbenv"]).subcommands(&[Subcommand::runs(&["exec"], "", 0)]).output(Output::Settings(VERSIONS)),
    Program::new(&["rye"]).subcommands(&[Subcommand::runs(&["run"], "", 0)]),
    Program::new(&["ssh"]).harmless(harmless::SSH).subcommands(&[Subcommand::launches(&[""], SSH, Launch::new(1, Place::RemoteShell))]).stdin(Stdin::Shell).start_up(&["~/.ssh/config"]),
    special(&["tmux"], "-c= -f= -L= -S= -T=", tmux).start_up(&["~/.tmux.conf", "~/.config/tmux/tmux.conf"]),
    special(&["screen"], "-c=r -e= -h= -p= -s= -S= -t= -T= -X=", screen).ends_at_operand(),
    Program::new(&["uv"]).options("--directory=p --project=p").before_subcommand("--directory=d --project= --config-file= --cache-dir= --color= --python= -p=")
        .subcommands(&[Subcommand::launches(&["run", "tool run"], UV, UV_LAUNCH)])
        .output(Output::Settings(COMPLETION)).locks(&["uv.lock"]),
    Program::new(&["uvx"]).subcommands(&[Subcommand::runs(&[""], UV, 0)]),
    Program::new(&["watchexec"])
        .subcommands(&[Subcommand::runs(&[""], "-w= -e= -f= -i= -s= -d= --watch= --exts= --filter= --ignore= --signal= --debounce= --shell=", 0)]),
    Program::new(&["yarn", "yarnpkg"]).options(NPM).acting(&["config delete", "config set", "config unset", "create", "plugin import", "policies set-version", "set version"]).before_subcommand(YARN).subcommands(&[
        Subcommand::runs(&["dlx"], "-p= --package=", 0),
        Subcommand::runs(&["exec"], "", 0),
        Subcommand::launches(&["node"], "", NODE_LAUNCH),
        Subcommand::launches(&["workspace"], "", Launch { program: &["yarn"], ..Launch::new(1, Place::Here) }),
        Subcommand::launches(&["workspaces foreach", "workspaces run"], "-j= --jobs= --include= --exclude= --from=", Launch { program: &["yarn"], ..Launch::new(0, Place::Here) }),
        Subcommand::launches(&[""], YARN, Launch { own: own_programs::YARN, ..Launch::new(0, Place::Here) }),
    ]).runs_package_scripts().locks(&["yarn.lock"]),
    // Only their lock files are known.
    Program::new(&["composer"]).options("-d=p --working-dir=p").acting(&["config"]).locks(&["composer.lock"]),
    Program::new(&["dart", "flutter"]).locks(&["pubspec.lock"]),
    Program::new(&["mix"]).locks(&["mix.lock"]),
    Program::new(&["pod"]).locks(&["Podfile.lock"]),
    tool(&["alembic"], "-c= -n= -x= --config= --name="),
    tool(&["apt", "apt-get"], "-o= -c= -t= -a= --option= --config-file= --target-release= --host-architecture=").options("-o=c -c=f --option=c --config-file=f"),
    tool(&["aws"], "--profile= --region= --output= --endpoint-url= --query= --ca-bundle= --color= --cli-read-timeout= --cli-connect-timeout= --cli-binary-format="),
    tool(&["cargo"], "+ -C=d -Z= --config= --color=").action(Action::Special(cargo)).harmless(harmless::CARGO).acting(&["install", "login", "logout", "owner", "publish", "rustc", "rustdoc", "uninstall", "yank"]).builds_project().options("--target= --config=c --target-dir=c --artifact-dir=c --out-dir=c --manifest-path=p --root=w").locks(&["Cargo.lock"]),
    tool(&["dnf", "yum"], "-c= --config= --installroot= --releasever= --setopt=").options("-c=f --config=f --installroot=c --setopt=c"),
    tool(&["flask"], "-A= -e= --app= --env-file=").stdin(Stdin::Queries),
    tool(&["flyway"], "- -url= -user= -password= -configFiles= -locations="),
    tool(&["goose"], "- -dir= -table= -certfile= -ssl-cert= -ssl-key="),
    tool(&["gradle"], "-p= -b= -c= -g= -I= -x= --project-dir= --build-file= --settings-file= --init-script= --console=").harmless(harmless::GRADLE).options("-p=p --project-dir=p").operands(OperandKind::Target).builds_project(),
    tool(&["knex"], "--knexfile= --knexpath= --cwd= --client= --connection= --env="),
    tool(&["liquibase"], "--url= --username= --password= --changelog-file= --defaults-file= --driver= --classpath="),
    tool(&["mvn"], "-f= -P= -s= -gs= -t= -T= -l= -pl= -rf= --file= --settings= --threads= --activate-profiles= --projects=").harmless(harmless::MVN).options("- -f=p --file=p -l=w --log-file=w").operands(OperandKind::Target).builds_project(),
    tool(&["s5cmd"], "--endpoint-url= --profile= --credentials-file= --numworkers= --log= --retry-count="),
    tool(&["firebase"], "-P= --project= --token= --account= --config="),
    special(&["gh"], "-R= --repo= -q= --jq= -X= --method= -F= -f= --field= --raw-field= --input= --hostname=", gh).acting(GH).before_subcommand("-R= --repo= --hostname=").subcommands(GH_ALIASES).output(Output::Settings(COMPLETION)),
    tool(&["go"], "-C=d").directories(&["env GOROOT", "env GOPATH", "env GOCACHE", "env GOMODCACHE", "env GOTOOLDIR"]).harmless(harmless::GO).options("- -exec=x -toolexec=x -vettool=x -o=o -coverprofile=c -cpuprofile=c -memprofile=c -blockprofile=c -mutexprofile=c \
        -trace=c -outputdir=c -overlay=c -pkgdir=c -C=p").acting(&["env -u", "install"]).builds_project().locks(&["go.sum"]),
    tool(&["helm"], "-n= --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-as-user= --kube-as-group= --kube-ca-file= --kube-tls-server-name= --kube-token= --registry-config= --repository-cache= --repository-config= --burst-limit= --qps=")
        .options("--kubeconfig=c --post-renderer=x --output-dir=c --registry-config=c --repository-config=c --repository-cache=c")
        .output(Output::Settings(COMPLETION)),
    tool(&["hg"], "-R= --repository= --cwd= --config= --encoding=").options("--config=c"),
    Program::new(&["svn"]).options("--config-option=c --config-dir=c --diff-cmd=x --diff3-cmd=x --editor-cmd=x"),
    Program::new(&["py.test", "pytest"]).options("--junitxml=c --junit-xml=c --basetemp=c --log-file=c --resultlog=c --debug?c -c=c --config-file=c -o=c \
        --override-ini=c --pdbcls=c --cov-report= -p= -k= -m= -n= -W= -r=").harmless(harmless::PYTEST),
    Program::new(&["tsc"]).options("--outDir=w --outFile=w --declarationDir=w --tsBuildInfoFile=w --generateTrace=c --generateCpuProfile=c").only_checks(&["--noEmit"]).builds_project().harmless(harmless::TSC),
    Program::new(&["mypy"]).options("--python-executable=x --cache-dir=c --junit-xml=c --html-report=c --txt-report=c --xml-report=c --install-types!").only_checks(&[""]).harmless(harmless::MYPY),
    Program::new(&["pylint"]).options("--init-hook=c --load-plugins=c --output=c").only_checks(&[""]).harmless(harmless::PYLINT),
    Program::new(&["jest"]).builds_project().harmless(harmless::JEST),
    Program::new(&["vitest"]).builds_project().harmless(harmless::VITEST),
    tool(&["jj"], "-R= --repository= --at-operation= --color= --config="),
    special(&["make"], MAKE, make).harmless(harmless::MAKE).operands(OperandKind::Target).before_subcommand(MAKE).language(SourceLanguage::Make),
    tool(&["pip", "pip3"], PIP).acting(&["config edit", "config set", "config unset"]).options("--python=x --log=c --report=c -t=w --target=w --prefix=w --root=w -d=w --dest=w -w=w --wheel-dir=w -i=c --index-url=c --extra-index-url=c --find-links=c --src=w --global-option=c --build-option=c").output(Output::Settings(COMPLETION)),
    tool(&["pulumi"], "-C= -v= --cwd= --color= --profiling= --tracing="),
    tool(&["rustup"], "+").output(Output::Settings(COMPLETION)),
    tool(&["systemctl"], "-H= -M= -t= -p= -P= -s= -n= -o= --host= --machine= --type= --state= --property= --signal= --lines= --output= --root= --image= --job-mode=").options("-H=c -M=c --host=c --machine=c"),
    tool(&["terraform", "tofu"], "").options("- -out=c --out=c -chdir=c -generate-config-out=c -state-out=c -backup=c -plugin-dir=c -from-module=c -state=c").locks(&[".terraform.lock.hcl"]),
    tool(&["terragrunt"], "--working-dir= --config= --terragrunt-working-dir= --terragrunt-config="),
    special(&["vercel"], VERCEL, vercel).before_subcommand(VERCEL),
    Program::new(&["activate-global-python-argcomplete", "dircolors", "keychain", "register-python-argcomplete", "register-python-argcomplete3"]).output(Output::Settings(&[])),
    Program::new(&["atuin", "fnm", "opam", "starship", "zoxide"]).output(Output::Settings(ENVIRONMENT)),
    Program::new(&["goenv", "jenv", "nodenv"]).output(Output::Settings(VERSIONS)),
    Program::new(&["brew"]).output(Output::Settings(&["shellenv"])).installed(&["--prefix"]),
    Program::new(&["rustc"]).harmless(harmless::RUSTC).installed(&["--print sysroot"]),
    special(&["java"], "", java),
    Program::new(&["docker-machine", "luarocks"]).output(Output::Settings(MACHINE)),
    Program::new(&["argocd", "flux", "glab", "k3d", "kind"]).output(Output::Settings(COMPLETION)),
];

const VERCEL: Flags =
    "-A= -Q= -S= -t= --cwd=d --local-config= --global-config= --scope= --token= --environment= --git-branch=";

/// `java OPTIONS CLASS`: commands for when it fails, and agents, which are files.
fn java(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for field in call.fields.iter().skip(1) {
        let after = |starts: &[&str]| starts.iter().find_map(|start| field.text.strip_prefix(start));
        if let Some(code) = after(&["-XX:OnError=", "-XX:OnOutOfMemoryError="]) {
            let code = field.with(code);
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        } else if let Some(agent) = after(&["-javaagent:", "-agentpath:", "@"]) {
            let file = field.with(agent.split('=').next().unwrap_or_default());
            analyzer.reads(&file, call.command);
            analyzer.acts_by(&field.text, call.command);
        }
    }
    analyzer.unknown_program(call.fields);
}

/// Subcommands that define a command, install a program, or write files.
#[rustfmt::skip]
const GH: &[&str] = &[
    "alias import", "alias set", "attestation download", "auth login", "auth logout", "auth refresh", "auth setup-git", "auth token", "codespace cp", "codespace ssh", "config set", "extension create", "extension exec",
    "extension install", "extension upgrade", "gist clone", "gpg-key add", "release delete", "release download", "repo clone", "repo delete",
    "run delete", "run download", "secret delete", "secret set", "ssh-key add", "variable delete", "variable set",
];
const GH_ALIASES: &[Subcommand] = &[
    Subcommand::group(&["attestation", "at"], ""),
    Subcommand::group(&["codespace", "cs"], ""),
    Subcommand::group(&["extension", "extensions", "ext"], ""),
];

/// `gh api` changes things on the server by some of its options. An expression may read the environment.
fn gh(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    const CHANGING: [&str; 7] = ["-F", "-f", "-X", "--field", "--input", "--method", "--raw-field"];
    const FIELDS: [&str; 4] = ["-F", "-f", "--field", "--raw-field"];
    analyzer.unknown_program(call.fields);
    let is_graphql = call.arguments.operands.get(1).is_some_and(|second| second.text == "graphql");
    let is_query = |value: &str| !value.to_ascii_lowercase().contains("mutation") && !value.contains("=@");
    let is_api = call.arguments.operands.first().is_some_and(|first| first.text == "api");
    for (name, value) in &call.arguments.flags {
        let value = value.as_ref().map_or("", |value| value.text.as_str());
        let asks = is_graphql && FIELDS.contains(&name.as_str()) && is_query(value);
        let changes =
            is_api && CHANGING.contains(&name.as_str()) && !value.eq_ignore_ascii_case("get") && !asks;
        let reads = matches!(name.as_str(), "-q" | "--jq") && value.to_ascii_lowercase().contains("env");
        if changes || reads {
            analyzer.acts_by(name, call.command);
        }
    }
}

/// `cargo clippy -- FLAGS`: the flags are those of the compiler. Those about lints run nothing.
fn cargo(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    let Some(rest) = launchers::after(call.program, "clippy", call.fields.get(1..).unwrap_or_default())
    else {
        return;
    };
    let mut flags = rest.iter().skip_while(|word| word.text != "--").skip(1);
    let is_lint = |word: &&Field| {
        let flag = word.text.get(..2).unwrap_or_default();
        !word.text.starts_with('-') || matches!(flag, "-A" | "-D" | "-F" | "-W") || word.text == "--no-deps"
    };
    if let Some(flag) = flags.find(|word| !is_lint(word)) {
        analyzer.acts_by(&flag.text, call.command);
    }
}

/// `vercel env pull FILE` writes the file.
fn vercel(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    match call.arguments.operands.as_slice() {
        [env, pull, rest @ ..] if env.text == "env" && pull.text == "pull" => {
            let usual = Field::literal(".env.local");
            analyzer.touch(Access::Write, rest.first().unwrap_or(&usual), call.command);
        }
        _ => analyzer.unknown_program(call.fields),
    }
}

/// Subcommands of tmux that run or type their operands, which are shell code. They are not in its entry: rules would expect all
/// options of each.
#[rustfmt::skip]
const TMUX_RUNNING: &[&str] = &[
    "new", "new-session", "neww", "new-window", "split-window", "splitw", "respawn-pane", "respawnp", "respawn-window", "respawnw",
    "run-shell", "run", "pipe-pane", "pipep", "if-shell", "if", "send-keys", "send", "display-popup", "popup",
];

/// The options of all these subcommands.
const TMUX_OPTIONS: Flags = "-s= -n= -c=d -x= -y= -e= -t= -F= -f= -w= -h= -d? -l= -p= -b= -T=";

/// `tmux new -d COMMAND`, `tmux send-keys TEXT Enter`.
fn tmux(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    tmux_configs(analyzer, call);
    let words = call.fields.get(1..).unwrap_or_default();
    for command in words.split(|word| word.text == ";" || word.text == "\\;") {
        let Some(at) = command.iter().position(|word| TMUX_RUNNING.contains(&word.text.as_str())) else {
            continue;
        };
        let (subcommand, rest) = (command.get(at), command.get(at + 1..).unwrap_or_default());
        let arguments = arguments::parse(TMUX_OPTIONS, rest);
        let sends_keys = subcommand.is_some_and(|word| word.text.starts_with("send"));
        let code = tmux_code(&arguments.operands, sends_keys);
        analyzer.as_part(|analyzer| {
            analyzer.in_directory(arguments.values(&["-c"]), |analyzer| {
                analyzer.subshell(|analyzer| analyzer.code(&code, "sh"));
            });
        });
    }
    analyzer.unknown_program(call.fields);
}

/// Runs the commands in the files that tmux reads when it starts.
fn tmux_configs(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut texts: Vec<Field> = start_up::texts(analyzer, call.program);
    for file in call.arguments.values(&["-f"]) {
        if let Stream::Text(printed) = analyzer.content(file) {
            texts.push(printed.text.clone());
        }
    }
    for line in texts.iter().flat_map(|text| text.text.lines()) {
        let code = Field::literal(format!("tmux {line}"));
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    }
}

/// The shell code in the operands of a subcommand. Sent keys are typed as they are; other words are quoted.
fn tmux_code(operands: &[Field], sends_keys: bool) -> Field {
    if let [code] = operands {
        return code.clone();
    }
    let is_typed = |word: &&Field| !matches!(word.text.as_str(), "Enter" | "C-m" | "KPEnter" | "Space");
    let word = |word: &Field| if sends_keys { word.text.clone() } else { word.as_word() };
    Field::literal(operands.iter().filter(is_typed).map(word).collect::<Vec<_>>().join(" "))
}

/// `screen -dm COMMAND`, `screen -X stuff TEXT`.
fn screen(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.rest;
    if let Some(at) = call.fields.iter().position(|field| field.text == "stuff")
        && let Some(code) = call.fields.get(at + 1)
    {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
    } else if !words.is_empty() {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(words));
    }
}

const NPX_LAUNCH: Launch = Launch { code: &["-c", "--call"], ..Launch::new(0, Place::Here) };
const NODE_LAUNCH: Launch = Launch { program: &["node"], ..Launch::new(0, Place::Here) };
const UV_LAUNCH: Launch = Launch { modules: &["-m", "--module"], ..Launch::new(0, Place::Here) };
const MISE_LAUNCH: Launch =
    Launch { code: &["-c", "--command"], takes_dashes: true, ..Launch::new(0, Place::Here) };
const NIX_LAUNCH: Launch =
    Launch { starts: &["-c", "--command"], takes_dashes: true, ..Launch::new(0, Place::Here) };
const CROSS_ENV_LAUNCH: Launch = Launch { takes_variables: true, ..Launch::new(0, Place::Here) };

const fn texts(options: &'static [&'static str], are_operands: bool, place: Place) -> Action {
    Action::Texts(ShellTexts { options, are_operands, place })
}

// First operands that request settings.
const ENVIRONMENT: &[&str] = &["activate", "env", "init"];
const VERSIONS: &[&str] = &["init", "virtualenv-init"];
const CONDA: &[&str] = &["shell", "shell.bash", "shell.posix", "shell.zsh"];
const MACHINE: &[&str] = &["completion", "docker-env", "env", "path"];
const COMPLETION: &[&str] = &["completion", "completions", "generate-shell-completion"];

/// Shells for which a program prints how its own words are completed.
const SHELLS: &[&str] = &["bash", "bash-completion", "fish", "powershell", "script", "sh", "show", "zsh"];

/// `cargo llvm-cov show-env`.
fn is_of_cargo(name: &str, words: &[Field]) -> bool {
    let starts: Vec<&str> = words.iter().take(2).map(|word| word.text.as_str()).collect();
    name == "cargo" && starts == ["llvm-cov", "show-env"]
}

/// Whether a program that is not known is asked how its own words are completed, and for nothing else: `NAME completion bash`,
/// `_NAME_COMPLETE=bash_source NAME`.
fn prints_completion(analyzer: &Analyzer<'_>, words: &[Field]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let is_shell = |word: &&str| SHELLS.contains(word);
    match texts.as_slice() {
        [] => analyzer.state.exports.variables().iter().any(|variable| {
            let name = variable.split('=').next().unwrap_or_default();
            name.starts_with('_') && name.ends_with("_COMPLETE")
        }),
        [asked, shell] if COMPLETION.contains(asked) => is_shell(shell),
        [asked] => match asked.split_once('=') {
            Some((option, shell)) => {
                matches!(option, "--completion" | "--completions" | "--show-completion") && is_shell(&shell)
            }
            None => matches!(*asked, "--alias" | "completion" | "completions"),
        },
        _ => false,
    }
}

/// Options with a value before the first operand.
const SETTINGS_FLAGS: Flags = "-p= --profile= -s= --storage-path= -C= --cd=";

/// Whether a command's purpose is to print settings for a shell.
pub(crate) fn prints_settings(analyzer: &Analyzer<'_>, words: &[Field]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    // A program of the project may have the same name.
    let name = match first.text.rsplit_once('/') {
        Some((directory, name)) if directory.is_empty() || directory.starts_with('/') => name,
        Some(_) => return false,
        None => first.text.as_str(),
    };
    let asking = match analyzer.program(name) {
        Some(Program { output: Output::Settings(asking), .. }) => asking,
        Some(_) => return is_of_cargo(name, rest),
        None if analyzer.is_usual(name) && analyzer.state.disk.named(name).is_empty() => {
            return prints_completion(analyzer, rest);
        }
        None => return false,
    };
    let (_, skipped) = arguments::parse_up_to(SETTINGS_FLAGS, rest, true);
    asking.is_empty() || rest.get(skipped).is_some_and(|word| asking.contains(&word.text.as_str()))
}
