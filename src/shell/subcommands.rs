//! Programs with subcommands: which of their options take a value, before the subcommand and behind it.

use super::arguments::Flags;

/// Programs with subcommands, sorted, and the options before the subcommand that take a value in the next word. `+` stands for
/// words that start with a `+` and choose a toolchain.
const PROGRAMS: &[(&str, Flags)] = &[
    ("apt", APT),
    ("apt-get", APT),
    (
        "aws",
        "--profile= --region= --output= --endpoint-url= --query= --ca-bundle= --color= --cli-read-timeout= --cli-connect-timeout= --cli-binary-format=",
    ),
    ("az", "-o= --output= --query= --subscription="),
    ("bun", "--cwd= -c= --config="),
    ("cargo", "+ -C= -Z= --config= --color="),
    ("dnf", "-c= --config= --installroot= --releasever= --setopt="),
    ("docker", "-c= -H= -l= --config= --context= --host= --log-level= --tlscacert= --tlscert= --tlskey="),
    ("docker-compose", COMPOSE),
    ("firebase", "-P= --project= --token= --account= --config="),
    ("fly", "-t= --access-token="),
    ("flyctl", "-t= --access-token="),
    (
        "gcloud",
        "--account= --billing-project= --configuration= --flags-file= --format= --impersonate-service-account= --project= --verbosity=",
    ),
    ("gh", "-R= --repo= --hostname="),
    (
        "git",
        "-C= -c= --git-dir= --work-tree= --namespace= --super-prefix= --config-env= --attr-source= --list-cmds=",
    ),
    ("go", "-C="),
    (
        "helm",
        "-n= --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-as-user= --kube-as-group= --kube-ca-file= --kube-tls-server-name= --kube-token= --registry-config= --repository-cache= --repository-config= --burst-limit= --qps=",
    ),
    ("heroku", "-a= --app= -r= --remote="),
    ("hg", "-R= --repository= --cwd= --config= --encoding="),
    ("jj", "-R= --repository= --at-operation= --color= --config="),
    ("kubectl", KUBECTL),
    ("make", "-C= -f= -I= -o= -W= --directory= --file= --makefile= --include-dir="),
    ("nerdctl", "-a= -H= -n= --address= --host= --namespace= --data-root= --snapshotter="),
    (
        "npm",
        "-C= -w= --prefix= --registry= --loglevel= --userconfig= --globalconfig= --cache= --workspace= --otp= --tag=",
    ),
    ("oc", KUBECTL),
    ("pip", PIP),
    ("pip3", PIP),
    ("pnpm", "-C= -F= --dir= --filter= --loglevel= --reporter="),
    (
        "podman",
        "-c= --connection= --identity= --log-level= --root= --runroot= --runtime= --storage-driver= --storage-opt= --tmpdir= --url=",
    ),
    ("poetry", "-C= -P= --directory= --project="),
    ("pulumi", "-C= -v= --cwd= --color= --profiling= --tracing="),
    (
        "redis-cli",
        "-h= -p= -s= -a= -u= -r= -i= -n= -d= -D= -t= --user= --pass= --sni= --cacert= --cert= --key=",
    ),
    ("rustup", "+"),
    (
        "systemctl",
        "-H= -M= -t= -p= -P= -s= -n= -o= --host= --machine= --type= --state= --property= --signal= --lines= --output= --root= --image= --job-mode=",
    ),
    ("terraform", ""),
    ("terragrunt", "--working-dir= --config= --terragrunt-working-dir= --terragrunt-config="),
    ("tofu", ""),
    ("uv", "--directory= --project= --config-file= --cache-dir= --color= --python= -p="),
    ("vercel", "-A= -Q= -S= -t= --cwd= --local-config= --global-config= --scope= --token="),
    ("yarn", "--cwd="),
    ("yum", "-c= --config= --installroot= --releasever= --setopt="),
];

const APT: Flags = "-o= -c= -t= -a= --option= --config-file= --target-release= --host-architecture=";
const COMPOSE: Flags = "-f= -p= --file= --project-name= --project-directory= --profile= --env-file= --ansi= --progress= --parallel= --context=";
const KUBECTL: Flags = "-n= -s= -v= --namespace= --context= --cluster= --user= --kubeconfig= --server= --token= --as= --as-group= --as-uid= --certificate-authority= --client-certificate= --client-key= --request-timeout= --tls-server-name= --username= --password= --cache-dir= --profile= --profile-output= --kuberc= --v= --vmodule=";
const PIP: Flags = "--python= --log= --proxy= --retries= --timeout= --cert= --client-cert= --cache-dir= --exists-action= --trusted-host=";

/// The options of a subcommand of git that take a value.
const OF_GIT: &[(&str, Flags)] = &[
    ("branch", "-u= --set-upstream-to= --sort= --format= --points-at="),
    ("checkout", "-b= -B= --orphan= --conflict= --pathspec-from-file="),
    ("clean", "-e= --exclude="),
    (
        "commit",
        "-m= -F= -C= -c= -t= -S? -u? --message= --file= --author= --date= --template= --reuse-message= --reedit-message= --fixup= --squash= --cleanup= --trailer= --pathspec-from-file=",
    ),
    ("config", "-f= --file= --blob= --type= --default= --value= --comment="),
    (
        "merge",
        "-m= -F= -s= -X= -S? --message= --file= --strategy= --strategy-option= --into-name= --cleanup=",
    ),
    ("push", "-o= --push-option= --repo= --receive-pack= --exec="),
    ("rebase", "-s= -X= -x= -C= -S? --exec= --onto= --strategy= --strategy-option= --whitespace="),
    ("reset", "--pathspec-from-file="),
    ("restore", "-s= --source= --conflict= --pathspec-from-file="),
    ("stash", "-m= --message= --pathspec-from-file="),
    ("switch", "-c= -C= --create= --force-create= --orphan= --conflict="),
    ("tag", "-m= -F= -u= -n? --message= --file= --local-user= --sort= --format= --points-at="),
    ("worktree", "-b= -B= --reason="),
];

fn found(table: &[(&str, Flags)], name: &str) -> Option<Flags> {
    let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(at).map(|(_, flags)| *flags)
}

/// The options before the subcommand of this program, if it has subcommands.
pub(super) fn before(program: &str) -> Option<Flags> {
    found(PROGRAMS, program)
}

/// The options behind a subcommand that has subcommands itself.
pub(super) fn below(program: &str, subcommand: &str) -> Option<Flags> {
    let is_compose = matches!(program, "docker" | "podman" | "nerdctl") && subcommand == "compose";
    is_compose.then_some(COMPOSE)
}

/// The options of a subcommand that take a value, as far as they are known.
pub(super) fn of(program: &str, subcommand: &str) -> Flags {
    let flags = if program == "git" { found(OF_GIT, subcommand) } else { None };
    flags.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(PROGRAMS.is_sorted_by_key(|(name, _)| name));
        assert!(OF_GIT.is_sorted_by_key(|(name, _)| name));
    }
}
