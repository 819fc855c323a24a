//! Programs with subcommands: which of their options take a value, before the subcommand and behind it.

use crate::programs::arguments::Flags;

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

/// What git takes of the options of `git diff`; `-U`, `-M`, `-B` and their like have a value only in the same word.
macro_rules! diff {
    () => {
        "-S= -G= -O=r -l= -I= -U? -M? -C? -B? -X? --diff-filter= --output= --anchored= --diff-algorithm= --word-diff-regex= --ws-error-highlight= --src-prefix= --dst-prefix= --line-prefix= --inter-hunk-context= --ignore-matching-lines= --find-object= --skip-to= --rotate-to= --output-indicator-new= --output-indicator-old= --output-indicator-context= --color-moved-ws="
    };
}

const DIFF: Flags = diff!();
const LOG: Flags = concat!(
    diff!(),
    " -n= -L= --author= --committer= --grep= --grep-reflog= --since= --after= --until= --before= --since-as-filter= --max-count= --max-age= --min-age= --skip= --glob= --exclude= --exclude-hidden= --date= --encoding= --diff-merges= --decorate-refs= --decorate-refs-exclude="
);
const BLAME: Flags =
    "-L= -S=r -C? -M? --ignore-rev= --ignore-revs-file=r --contents=r --date= --since= --until= --abbrev?";
const APPLY: Flags = "-p= -C= -S? --exclude= --include= --build-fake-ancestor=w --whitespace= --directory= --quoted-cr= --patch-format= --resolvemsg= --empty=";

/// The options of a subcommand of git that take a value, sorted: `-f` and `-s` take one in some, and none in others. What is not
/// listed takes none, so that what follows is not overlooked.
const OF_GIT: &[(&str, Flags)] = &[
    ("am", APPLY),
    ("annotate", BLAME),
    ("apply", APPLY),
    (
        "archive",
        "-o= --output= --format= --prefix= --add-file=r --add-virtual-file= --mtime= --remote= --exec=",
    ),
    ("blame", BLAME),
    ("branch", "-u= --set-upstream-to= --sort= --format= --points-at="),
    ("bundle", "--version="),
    ("cat-file", "--path="),
    ("checkout", "-b= -B= --orphan= --conflict= --pathspec-from-file=r"),
    ("clean", "-e= --exclude="),
    (
        "clone",
        "-b= -o= -u= -c= -j= --branch= --origin= --upload-pack= --config= --jobs= --depth= --filter= --template= --separate-git-dir= --reference= --reference-if-able= --shallow-since= --shallow-exclude= --server-option= --bundle-uri= --ref-format=",
    ),
    (
        "commit",
        "-m= -F= -C= -c= -t= -S? -u? --message= --file= --author= --date= --template= --reuse-message= --reedit-message= --fixup= --squash= --cleanup= --trailer= --pathspec-from-file=",
    ),
    ("config", "-f= --file= --blob= --type= --default= --value= --comment="),
    ("diff", DIFF),
    ("diff-files", DIFF),
    ("diff-index", DIFF),
    ("diff-tree", DIFF),
    ("difftool", concat!(diff!(), " -t= -x= --tool= --extcmd=")),
    (
        "format-patch",
        concat!(
            diff!(),
            " -n? -o= -v= --output-directory= --suffix= --start-number= --reroll-count= --filename-max-length= --cover-from-description= --description-file=r --subject-prefix= --add-header= --to= --cc= --in-reply-to= --signature= --signature-file=r --base= --interdiff= --range-diff= --creation-factor="
        ),
    ),
    (
        "grep",
        "-A= -B= -C= -e= -f= -m= -O? --after-context= --before-context= --context= --max-count= --max-depth= --threads=",
    ),
    ("hash-object", "-t= --path="),
    ("init", "-b= --initial-branch= --template= --separate-git-dir= --object-format= --ref-format="),
    ("log", LOG),
    ("ls-files", "-x= -X= --exclude= --exclude-from= --exclude-per-directory= --with-tree= --format="),
    (
        "merge",
        "-m= -F= -s= -X= -S? --message= --file= --strategy= --strategy-option= --into-name= --cleanup=",
    ),
    ("push", "-o= --push-option= --repo= --receive-pack= --exec="),
    ("range-diff", concat!(diff!(), " --creation-factor=")),
    ("rebase", "-s= -X= -x= -C= -S? --exec= --onto= --strategy= --strategy-option= --whitespace="),
    ("reflog", LOG),
    ("reset", "--pathspec-from-file=r"),
    ("restore", "-s= --source= --conflict= --pathspec-from-file=r"),
    ("rm", "--pathspec-from-file=r"),
    ("shortlog", concat!(diff!(), " -w? --group= --author= --grep= --since= --until=")),
    ("show", LOG),
    ("stash", "-m= --message= --pathspec-from-file=r"),
    ("switch", "-c= -C= --create= --force-create= --orphan= --conflict="),
    ("tag", "-m= -F= -u= -n? --message= --file= --local-user= --sort= --format= --points-at="),
    ("whatchanged", LOG),
    ("worktree", "-b= -B= --reason="),
];

fn found(table: &[(&str, Flags)], name: &str) -> Option<Flags> {
    let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(at).map(|(_, flags)| *flags)
}

/// The options before the subcommand of this program, if it has subcommands.
pub(crate) fn before(program: &str) -> Option<Flags> {
    found(PROGRAMS, program)
}

/// The options behind a subcommand that has subcommands itself.
pub(crate) fn below(program: &str, subcommand: &str) -> Option<Flags> {
    let is_compose = matches!(program, "docker" | "podman" | "nerdctl") && subcommand == "compose";
    is_compose.then_some(COMPOSE)
}

/// The options of a subcommand that take a value, as far as they are known.
pub(crate) fn of(program: &str, subcommand: &str) -> Flags {
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
