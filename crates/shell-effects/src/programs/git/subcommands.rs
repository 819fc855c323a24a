//! The subcommands of git: their options, and what they do.

use super::GitCall;
use crate::analysis::analyzer::Analyzer;
use crate::programs::action::{Subcommand, SubcommandAction};
use crate::programs::arguments::Flags;

/// The options of `git diff` that many subcommands accept; `-U`, `-M`, `-B` and similar have a value only in the same word.
macro_rules! diff {
    () => {
        "--ext-diff! --textconv! -S= -G= -O=r -l= -I= -U? -M? -C? -B? -X? --diff-filter= --output= --anchored= --diff-algorithm= --word-diff-regex= --ws-error-highlight= --src-prefix= --dst-prefix= --line-prefix= --inter-hunk-context= --ignore-matching-lines= --find-object= --skip-to= --rotate-to= --output-indicator-new= --output-indicator-old= --output-indicator-context= --color-moved-ws="
    };
}

const DIFF: Flags = diff!();
const LOG: Flags = concat!(
    diff!(),
    " -n= -L= --author= --committer= --grep= --grep-reflog= --since= --after= --until= --before= --since-as-filter= --max-count= --max-age= --min-age= --skip= --glob= --exclude= --exclude-hidden= --date= --encoding= --diff-merges= --decorate-refs= --decorate-refs-exclude="
);
const BLAME: Flags = "--textconv! -L= -S=r -C? -M? --ignore-rev= --ignore-revs-file=r --contents=r --date= --since= --until= --abbrev?";
const APPLY: Flags = "-p= -C= -S? --exclude= --include= --build-fake-ancestor=w --whitespace= --directory= --quoted-cr= --patch-format= --resolvemsg= --empty=";

const fn git(
    names: &'static [&'static str],
    options: Flags,
    run: fn(&GitCall, &mut Analyzer<'_>),
) -> Subcommand {
    Subcommand { names, options, action: SubcommandAction::Git(run) }
}

/// It changes the checkout or the index.
const fn checkout(
    names: &'static [&'static str],
    options: Flags,
    run: fn(&GitCall, &mut Analyzer<'_>),
) -> Subcommand {
    Subcommand { names, options, action: SubcommandAction::GitCheckout(run) }
}

/// `-f` and `-s` take a value in some subcommands only. An unlisted option takes none, so that its following word is not
/// overlooked.
#[rustfmt::skip]
pub(super) const SUBCOMMANDS: &[Subcommand] = &[
    checkout(&["add", "stage"], "--chmod= --pathspec-from-file=r", GitCall::add),
    checkout(&["am", "apply"], APPLY, GitCall::apply),
    git(&["annotate", "blame"], BLAME, GitCall::shown),
    git(&["archive"], "-o= --output= --format= --prefix= --add-file=r --add-virtual-file= --mtime= --remote= --exec=", GitCall::archive),
    checkout(&["bisect", "submodule"], "", GitCall::runs),
    git(&["branch"], "-D! -M! -C! -f! --force! --edit-description! -u= --set-upstream-to= --sort= --format= --points-at=", GitCall::nothing),
    git(&["bundle"], "--version=", GitCall::bundle),
    git(&["cat-file"], "--path= --batch? --batch-check? --batch-command?", GitCall::objects),
    checkout(&["checkout"], "-b= -B= --orphan= --conflict= --pathspec-from-file=r", GitCall::checkout),
    checkout(&["checkout-index"], "--prefix= --stage=", GitCall::checkout_index),
    git(&["credential-store"], "--file=w", GitCall::nothing),
    git(&["rev-list"], LOG, GitCall::log),
    checkout(&["clean"], "-e= --exclude=", GitCall::clean),
    git(&["clone"], "-b= -o= -u= -c=c -j= --branch= --origin= --upload-pack= --config=c --jobs= --depth= --filter= --template=c --separate-git-dir=w --reference= --reference-if-able= --shallow-since= --shallow-exclude= --server-option= --bundle-uri= --ref-format=", GitCall::create),
    checkout(&["commit"], "-m= -F=r -C= -c= -t=r -S? -u? --message= --file=r --author= --date= --template=r --reuse-message= --reedit-message= --fixup= --squash= --cleanup= --trailer= --pathspec-from-file=", GitCall::nothing),
    git(&["config"], "-e! --edit! --unset! --unset-all! --replace-all! --add! --rename-section! --remove-section! -f= --file= --blob= --type= --default= --value= --comment=", GitCall::config),
    git(&["diff", "diff-files", "diff-index"], DIFF, GitCall::diff),
    git(&["diff-tree"], DIFF, GitCall::shown),
    git(&["difftool"], concat!(diff!(), " -t= -x= --tool= --extcmd="), GitCall::difftool),
    git(&["remote"], "-t= -m= --mirror?", GitCall::remote),
    git(&["fetch", "fetch-pack", "ls-remote"], "--upload-pack= --exec= -o= --server-option= --sort=", GitCall::connects),
    checkout(&["pull"], "--upload-pack= --exec= -o= --server-option= --sort=", GitCall::connects),
    git(&["fast-import", "mktree"], "", GitCall::make_objects),
    checkout(&["filter-branch"], "-d= --setup= --subdirectory-filter= --env-filter= --tree-filter= --index-filter= --parent-filter= --msg-filter= --commit-filter= --tag-name-filter= --original= --state-branch=", GitCall::filters),
    checkout(&["format-patch"], concat!( diff!(), " -n? -o= -v= --output-directory= --suffix= --start-number= --reroll-count= --filename-max-length= --cover-from-description= --description-file=r --subject-prefix= --add-header= --to= --cc= --in-reply-to= --signature= --signature-file=r --base= --interdiff= --range-diff= --creation-factor=" ), GitCall::patches),
    git(&["grep"], "-A= -B= -C= -e= -f=r -m= -O? -O! --open-files-in-pager? --open-files-in-pager! --textconv! --after-context= --before-context= --context= --max-count= --max-depth= --threads=", GitCall::grepped),
    git(&["hash-object"], "-t= --path=", GitCall::hashed),
    git(&["init"], "-b= --initial-branch= --template=c --separate-git-dir=w --object-format= --ref-format=", GitCall::create),
    git(&["log", "reflog", "whatchanged"], LOG, GitCall::log),
    git(&["ls-files"], "-x= -X=r --exclude= --exclude-from=r --exclude-per-directory= --with-tree= --format=", GitCall::list_files),
    checkout(&["merge"], "-m= -F=r -s= -X= -S? --message= --file=r --strategy= --strategy-option= --into-name= --cleanup=", GitCall::strategies),
    checkout(&["mv"], "", GitCall::move_files),
    git(&["notes"], "-m= -F=r --message= --file=r --template=r", GitCall::nothing),
    git(&["push", "send-pack"], "-o= --push-option= --repo= --receive-pack= --exec=", GitCall::connects),
    git(&["range-diff"], concat!(diff!(), " --creation-factor="), GitCall::outputs),
    checkout(&["rebase"], "-s= -X= -x= -C= -S? --exec= --onto= --strategy= --strategy-option= --whitespace=", GitCall::runs),
    checkout(&["read-tree"], "--prefix= --index-output=w", GitCall::read_tree),
    checkout(&["reset"], "--pathspec-from-file=r", GitCall::reset),
    checkout(&["restore"], "-s= --source= --conflict= --pathspec-from-file=r", GitCall::restore),
    git(&["send-email"], "--sendmail-cmd=x --to-cmd=x --cc-cmd=x --header-cmd=x --from= --to= --cc= --bcc= --subject= --smtp-server=c --smtp-user= --smtp-pass= --identity= --in-reply-to= --reply-to=", GitCall::mails),
    checkout(&["rm"], "--pathspec-from-file=r", GitCall::remove),
    git(&["shortlog"], concat!(diff!(), " -w? --group= --author= --grep= --since= --until="), GitCall::log),
    git(&["show"], LOG, GitCall::shown),
    checkout(&["stash"], "-m= --message= --pathspec-from-file=r", GitCall::stash),
    checkout(&["switch"], "-c= -C= --create= --force-create= --orphan= --conflict=", GitCall::switch),
    git(&["interpret-trailers"], "--in-place! --trailer= --where= --if-exists= --if-missing=", GitCall::unknown),
    git(&["fast-export"], "--export-marks=w --import-marks=r --import-marks-if-exists=r", GitCall::unknown),
    git(&["instaweb"], "-d=x --httpd=x -b=x --browser=x -p= --port= -m=", GitCall::unknown),
    git(&["tag"], "-d! --delete! -f! --force! -m= -F=r -u= -n? --message= --file=r --local-user= --sort= --format= --points-at=", GitCall::nothing),
    checkout(&["update-index"], "--chmod=", GitCall::index),
    git(&["worktree"], "-b= -B= --reason=", GitCall::create),
    checkout(&["cherry-pick", "revert", "sparse-checkout"], "", GitCall::nothing),
    checkout(&["citool", "filter-repo", "gui", "lfs", "merge-file", "merge-index", "mergetool", "p4", "subtree", "svn"], "", GitCall::unknown),
    git(&["rev-parse"], "--path-format= --prefix=", GitCall::parsed),
    checkout(&["symbolic-ref", "update-ref"], "-m=", GitCall::changes_branch),
    // Their operands are not files, or do not change.
    git(&[
        "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry",
        "count-objects", "describe", "for-each-ref", "fsck", "gc", "help", "ls-tree", "maintenance", "merge-base",
        "name-rev", "prune", "repack", "rerere", "show-ref",
        "status", "var", "verify-commit", "version", "write-tree",
    ], "", GitCall::nothing),
];
