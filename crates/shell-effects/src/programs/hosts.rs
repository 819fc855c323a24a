//! Programs that run a command on another machine, in a container or in another environment, and nothing else that is known here.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::programs::action::{Action, Launch, Output, Place, ShellTexts, Stdin, Subcommand};
use crate::programs::arguments::{Call, Flags};
use crate::programs::program::{Program, special, wraps};
use crate::programs::wrappers::wrapped;

const REMOTE: Launch = Launch::new(0, Place::RemoteShell);
/// The command comes after the name of the machine.
const REMOTE_HOST: Launch = Launch::new(1, Place::RemoteShell);
const CONTAINER: Launch = Launch::new(0, Place::Elsewhere);
/// The command comes only after `--`, or in an option.
const AFTER_DASHES: Launch = Launch { starts: &["--"], ..REMOTE };

const CRICTL: Flags = "-c= -r= -i= -t= --config= --runtime-endpoint= --image-endpoint= --timeout=";
const GCLOUD: Flags = "--account= --billing-project= --configuration= --flags-file= --format= --impersonate-service-account= --project= --verbosity=";

#[rustfmt::skip]
pub(crate) const HOSTS: &[Program] = &[
    Program::new(&["az"]).options("--scripts=").before_subcommand("-o= --output= --query= --subscription=")
        .subcommands(&[Subcommand::launches(&["vm run-command invoke"], "", Launch { code: &["--scripts"], ..AFTER_DASHES })]),
    special(&["bwrap"], "", bubblewrap).ends_at_operand().changes_paths(),
    Program::new(&["crictl"]).before_subcommand(CRICTL).subcommands(&[Subcommand::elsewhere(&["exec"], "-r= --transport=")]),
    Program::new(&["ddev"]).subcommands(&[
        Subcommand::launches(&["exec"], "-d= -s= --dir= --service=", CONTAINER),
        Subcommand::launches(&["mysql"], "", Launch { program: &["mysql"], ..CONTAINER }),
        Subcommand::launches(&["psql"], "", Launch { program: &["psql"], ..CONTAINER }),
        Subcommand::launches(&["drush"], "", Launch { program: &["drush"], ..CONTAINER }),
    ]),
    Program::new(&["devcontainer"]).subcommands(&[Subcommand::launches(&["exec"], "--workspace-folder= --config= --container-id= --id-label= --remote-env= --docker-path=", CONTAINER)]),
    Program::new(&["distrobox"]).subcommands(&[Subcommand::launches(&["enter"], "-n= -a= --name= --additional-flags=", Launch { takes_dashes: true, ..Launch::new(1, Place::Here) })]),
    Program::new(&["eb"]).subcommands(&[Subcommand::launches(&["ssh"], "-c= -e= -n= --command= --custom= --number=", Launch { code: &["-c", "--command"], ..AFTER_DASHES })]),
    Program::new(&["env-cmd"]).subcommands(&[Subcommand::runs(&[""], "-f=r -e= -r= --file=r --environments= --rc-file=r", 0)]),
    wraps(&["flatpak-spawn"], "--env= --directory=d --forward-fd=", 0),
    Program::new(&["fly", "flyctl"]).before_subcommand("-t= --access-token=").subcommands(&[
        Subcommand::launches(&["ssh console", "console"], "-a= -C= -c= -r= -s= -u= --app= --command= --config= --machine= --region= --user=", Launch { code: &["-C", "--command"], ..AFTER_DASHES }),
        Subcommand::launches(&["postgres connect", "pg connect", "mpg connect"], "-a= -d= -u= --app= --database= --user=", Launch { program: &["psql"], ..CONTAINER }),
    ]),
    Program::new(&["gcloud"]).options("--command=").before_subcommand(GCLOUD).subcommands(&[
        Subcommand::launches(&["compute ssh", "alpha compute ssh", "beta compute ssh"], "--zone= --project= --command= --ssh-key-file= --container=", Launch { code: &["--command"], ..AFTER_DASHES }),
        Subcommand::launches(&["sql connect"], "", Launch { program: &["psql"], ..Launch::new(1, Place::Elsewhere) }),
    ]),
    Program::new(&["heroku"]).before_subcommand("-a= --app= -r= --remote=").subcommands(&[
        Subcommand::launches(&["run", "run:detached", "run:inside"], "-a= -r= -s= -e= --app= --remote= --size= --type= --env=", REMOTE),
        Subcommand::launches(&["pg:psql", "psql"], "-a= -r= --app= --remote=", Launch { program: &["psql"], ..CONTAINER }),
    ]),
    Program::new(&["incus", "lxc"]).subcommands(&[Subcommand::elsewhere(&["exec"], "--cwd= --env= --user= --group=")]),
    Program::new(&["k3s", "microk8s"]).subcommands(&[
        Subcommand::launches(&["kubectl"], "", Launch { program: &["kubectl"], ..Launch::new(0, Place::Here) }),
        Subcommand::launches(&["crictl"], "", Launch { program: &["crictl"], ..Launch::new(0, Place::Here) }),
        Subcommand::launches(&["ctr"], "", Launch { program: &["ctr"], ..Launch::new(0, Place::Here) }),
    ]),
    Program::new(&["lando"]).subcommands(&[
        Subcommand::launches(&["ssh"], "-c= -s= -u= --command= --service= --user=", Launch { code: &["-c", "--command"], ..AFTER_DASHES }),
        Subcommand::launches(&["mysql"], "", Launch { program: &["mysql"], ..CONTAINER }),
        Subcommand::launches(&["psql"], "", Launch { program: &["psql"], ..CONTAINER }),
    ]),
    Program::new(&["lima"]).subcommands(&[Subcommand::launches(&[""], "--shell= --workdir=", CONTAINER)]),
    Program::new(&["limactl"]).subcommands(&[Subcommand::elsewhere(&["shell"], "--shell= --workdir=")]),
    Program::new(&["minikube"]).before_subcommand("-p= --profile=").subcommands(&[
        Subcommand::launches(&["kubectl"], "", Launch { program: &["kubectl"], ..Launch::new(0, Place::Here) }),
        Subcommand::launches(&["ssh"], "-n= --node=", REMOTE),
    ]).output(Output::Settings(&["completion", "docker-env", "podman-env"])),
    Program::new(&["multipass"]).subcommands(&[Subcommand::elsewhere(&["exec"], "-d= --working-directory=")]),
    Program::new(&["pct"]).subcommands(&[Subcommand::elsewhere(&["exec"], "")]),
    Program::new(&["pixi"]).subcommands(&[Subcommand::runs(&["run"], "-e= --environment= --manifest-path=", 0)]),
    Program::new(&["pscale"]).subcommands(&[Subcommand::launches(&["shell"], "--org=", Launch { program: &["mysql"], ..Launch::new(2, Place::Elsewhere) })]),
    Program::new(&["rails"]).options("-r=c -I=c -m=c --template=c").subcommands(&[Subcommand::launches(&["dbconsole"], "-e= --environment= --db=", Launch { program: &["psql"], ..CONTAINER })])
        .stdin(Stdin::Queries),
    Program::new(&["railway"]).subcommands(&[
        Subcommand::runs(&["run"], "-s= -e= -p= --service= --environment= --project=", 0),
        Subcommand::launches(&["ssh"], "-s= -e= -p= --service= --environment= --project=", REMOTE),
    ]),
    Program::new(&["salt"]).subcommands(&[Subcommand::launches(&[""], "", Launch { starts: &["cmd.run", "cmd.shell"], ..REMOTE })]),
    Program::new(&["saml2aws"]).subcommands(&[Subcommand::runs(&["exec"], "-a= -p= --idp-account= --exec-profile= --profile=", 0)]),
    Program::new(&["tailscale", "tsh"]).subcommands(&[Subcommand::launches(&["ssh"], "-l= -p= --login= --port= --proxy= --user= --cluster=", REMOTE_HOST)]),
    Program::new(&["teller"]).before_subcommand("-c= --config=").subcommands(&[Subcommand::runs(&["run"], "-c= --config=", 0)]),
    Program::new(&["toolbox"]).subcommands(&[Subcommand::runs(&["run"], "-c= -d= -r= --container= --distro= --release=", 0)]),
    Program::new(&["vagrant"]).options("-c= --command=")
        .action(Action::Texts(ShellTexts { options: &["-c", "--run", "--command"], are_operands: false, place: Place::RemoteShell })),
    Program::new(&["wsl"]).subcommands(&[Subcommand::launches(&[""], "-d= -u= --distribution= --user= --cd=", CONTAINER)]),
];

/// The options of `bwrap` with one value, and with two.
#[rustfmt::skip]
const BUBBLEWRAP: [&[&str]; 2] = [
    &["--args", "--argv0", "--userns", "--userns2", "--pidns", "--uid", "--gid", "--hostname", "--chdir", "--unsetenv", "--lock-file", "--sync-fd",
        "--remount-ro", "--exec-label", "--file-label", "--proc", "--dev", "--tmpfs", "--mqueue", "--dir", "--seccomp", "--add-seccomp-fd",
        "--block-fd", "--userns-block-fd", "--info-fd", "--json-status-fd", "--cap-add", "--cap-drop", "--perms", "--size"],
    &["--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try", "--bind-fd", "--ro-bind-fd", "--setenv", "--file",
        "--bind-data", "--ro-bind-data", "--symlink", "--chmod", "--overlay-src"],
];

/// `bwrap OPTIONS COMMAND`. It may show files at other paths.
fn bubblewrap(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut words = call.fields.get(1..).unwrap_or_default();
    while let Some(first) = words.first().filter(|first| first.text.starts_with("--")) {
        let is_in =
            |index: usize| BUBBLEWRAP.get(index).is_some_and(|names| names.contains(&first.text.as_str()));
        let count = if is_in(0) { 1 } else { 2 * usize::from(is_in(1)) };
        let values = words.get(1..=count).unwrap_or_default();
        if first.text.contains("bind")
            && let [from, to] = values
            && from.text != to.text
        {
            analyzer.touch(Access::Mount, from, call.command);
        }
        let ends = first.text == "--";
        words = words.get(1 + count..).unwrap_or_default();
        if ends {
            break;
        }
    }
    wrapped(analyzer, call, &[], words);
}
