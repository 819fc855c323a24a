//! Programs that report about the system. Some print an unknown number, hash or name. It has no `/` and is not `..`, so a path
//! with it stays in its directory.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::programs::action::Output;
use crate::programs::arguments::Call;
use crate::programs::harmless;
use crate::programs::name_printers;
use crate::programs::program::{Program, each, nothing, reads, special, wraps};

pub(crate) const NUMBER: &str = "[0-9]*";
pub(crate) const NAME: &str = "[A-Za-z0-9]*";
pub(crate) const HASH: &str = "[0-9A-Fa-f]*";

#[rustfmt::skip]
pub(crate) const SYSTEM: &[Program] = &[
    nothing(&["file"], "-C! --compile! -f=r -m=r -F= -e= -P= --files-from=r --magic-file=r --separator= --exclude= --parameter="),
    special(&["date"], "-f=r -d= -r= -s=c --file=r --date= --reference= --set=c", set_clock).output(Output::Like(date)),
    nothing(&["dig"], "-f=r -k=r -b= -c= -p= -q= -t= -x= -y="),
    nothing(&["du"], "-d= -t= -X=r -B= --files0-from=r --exclude-from=r --exclude= --max-depth= --block-size= --threshold="),
    nothing(&["info"], "--init-file=c --dribble=w --restore=f -o=w -f=r -d= -n= -k= --output=w --file=r"),
    nothing(&["logger"], "-f=r -p= -t= -n= -P= -i? --file=r --priority= --tag= --server= --port="),
    special(&["mktemp"], "-p= -t= --suffix= --tmpdir?", make_temporary).output(Output::Like(temporary)).keeps_paths(),
    nothing(&["pgrep", "pkill"], "-F=r -u= -U= -g= -G= -P= -s= -t= --pidfile=r"),
    nothing(&["tree"], "-R! -o=w -L= -P= -I= --fromfile? --filelimit= --charset= --timefmt="),
    nothing(&["curlftpfs", "mount", "umount"], "").changes_paths(),
    Program::new(&[
        "archivemount", "bindfs", "cryfs", "encfs", "fuse-overlayfs", "fuse-zip", "fusermount", "fusermount3", "gocryptfs", "lndir", "losetup",
        "mergerfs", "mount.cifs", "mount.davfs", "mount.nfs", "ntfs-3g", "overlayroot", "pivot_root", "s3fs", "squashfuse", "sshfs", "stow",
        "switch_root", "systemd-mount", "systemd-umount", "udisksctl", "unionfs", "unionfs-fuse",
    ]).changes_paths(),
    wraps(&["arch"], "-arch= -d= -e=", 0).output(Output::Like(name)),
    nothing(&["whoami"], "").output(Output::Like(name)),
    nothing(&[
        "cal", "clear", "df", "dir", "expr", "factor", "free", "getconf",
        "getent", "groups", "host", "htop", "ifconfig", "ip", "killall", "locale", "lsattr", "lsblk", "lscpu", "lsof",
        "nc", "netstat", "nslookup", "ping", "port", "printenv", "ps",
        "reset", "ss", "stat", "stty", "sync", "top", "tput", "tr", "tty", "uptime", "vdir", "whatis",
        "whereis", "yes",
    ], ""),
    special(&["run-parts"], "-a= -u= --arg= --umask= --regex=", run_parts),
    special(&["man"], "-C=f -L= -m= -M= -S= -s= -e= -P=x -r= -E= -p= -k? -K? -R= --pager=x --config-file=f --locale= --manpath= --sections= --encoding= -H?x --html?x", manual).takes_commands().harmless(harmless::MAN),
    reads(&["blkid"], "-c= -L= -n= -o= -s= -t= -U= -u= --output= --match-tag= --label= --uuid="),
    reads(&["smartctl"], "-d= -T= -b= -r= -n= -q= -t= -l= --device= --badsum= --report= --nocheck= --log="),
    special(&["fdisk", "sfdisk", "wipefs"], "", partitions),
    special(&["sgdisk"], "", gpt_partitions),
    each(&[
        "mke2fs", "mkfs", "mkfs.bfs", "mkfs.btrfs", "mkfs.cramfs", "mkfs.erofs", "mkfs.exfat", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4",
        "mkfs.f2fs", "mkfs.fat", "mkfs.jfs", "mkfs.minix", "mkfs.msdos", "mkfs.ntfs", "mkfs.reiserfs", "mkfs.ubifs", "mkfs.udf",
        "mkfs.vfat", "mkfs.xfs", "mkswap",
    ], "-t= --type= -L= -b= -N= -m= -U= -O= -E=", Access::Write, 0),
    special(&["basename"], "-s= --suffix=", name_printers::basename).prints_name(),
    special(&["dirname"], "", name_printers::dirname),
    special(&["readlink"], "", name_printers::read_link).keeps_paths(),
    special(&["realpath"], "--relative-to= --relative-base=", name_printers::real_path).keeps_paths(),
    special(&["ls"], "-I= -T= -w= --ignore= --hide= --color? --format= --sort= --time= --time-style= --width= --block-size=", name_printers::list).keeps_paths(),
    nothing(&["hostname"], "-F=c -b! --file=c --boot!").output(Output::Like(host_name)),
    nothing(&["id"], "").output(Output::Like(id)),
    nothing(&["nproc"], "").output(Output::Like(number)),
    nothing(&["seq"], "").output(Output::Like(sequence)),
    nothing(&["sleep"], "").output(Output::Nothing),
    nothing(&["uname"], "").output(Output::Like(system_name)),
    Program::new(&["dmesg"]).options("-C! -c! -D! -E! -n=c --clear! --read-clear! --console-off! --console-on! --console-level=c"),
    Program::new(&["apt-cache"]).options("-o=c -c=f --option=c --config-file=f"),
    Program::new(&["dpkg"]).options("-i! --install! --unpack! -x! --extract! -r! --remove! -P! --purge! -b! --build! -e! --control! --configure! --pre-invoke=c --post-invoke=c --status-logger=c --log=c --root=c --admindir=c --instdir=c"),
    Program::new(&["rpm"]).options("--pipe=c --define=c -D=c --predefine=c --rcfile=c --macros=c --load=c -E=c --eval=c --dbpath=c --root=c"),
    Program::new(&["journalctl"]).options("--relinquish-var! --smart-relinquish-var! --sync! --cursor-file=c --vacuum-size=c --vacuum-time=c --vacuum-files=c --rotate! --flush! --setup-keys! --update-catalog!"),
    Program::new(&["uuidgen"]).output(Output::Like(hash)),
];

/// `man FILE` formats a file, and runs what it asks for.
fn manual(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for page in &call.arguments.operands {
        analyzer.reads(page, call.command);
        if page.text.contains('/') {
            analyzer.acts_by(&page.text, call.command);
        }
    }
}

/// `date MMDDhhmm` sets the clock, as `date -s` does.
fn set_clock(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if let Some(time) = call.arguments.operands.iter().find(|operand| !operand.text.starts_with('+')) {
        analyzer.acts_by(&time.text, call.command);
    }
}

/// `run-parts DIRECTORY` runs each program in it.
fn run_parts(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.arguments.has(&["--list", "--test"]) {
        return;
    }
    for directory in &call.arguments.operands {
        analyzer.reads(directory, call.command);
        let all = Field::new(format!("{}/*", directory.text.trim_end_matches('/')), FieldKind::Glob);
        analyzer.written_programs_in(directory, call.command);
        for program in analyzer.matched_files(&all).into_iter().filter(Field::is_literal) {
            analyzer.wrap(call.command, |analyzer| analyzer.run_fields(&[program]));
        }
    }
}

/// `mktemp TEMPLATE`, in a directory that an option or a variable names.
fn make_temporary(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let templates = &call.arguments.operands;
    let named = call.arguments.value(&["-p", "--tmpdir"]).cloned();
    let of_variable = || {
        if !templates.is_empty() {
            return None;
        }
        analyzer.state.exports.values("TMPDIR").next().map(Field::literal)
    };
    let directory = named.or_else(of_variable);
    let usual = [Field::literal("tmp.mktemp")];
    let templates = match &directory {
        Some(_) if templates.is_empty() => usual.as_slice(),
        _ => templates,
    };
    analyzer.in_directory(&directory, |analyzer| {
        templates.iter().for_each(|template| analyzer.touch(Access::Write, template, call.command));
    });
}

/// Programs that change or show the partitions of a disk.
fn partitions(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let shows = call.arguments.has(SHOWING_PARTITIONS) || call.arguments.has(&["-d", "-n"]);
    disks(analyzer, call, if shows { Access::Read } else { Access::Write });
}

/// `sgdisk`, whose `-d` and `-n` delete and make partitions.
fn gpt_partitions(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let shows = call.arguments.has(SHOWING_PARTITIONS) && !call.arguments.has(&["-d", "-n"]);
    disks(analyzer, call, if shows { Access::Read } else { Access::Write });
}

const SHOWING_PARTITIONS: &[&str] = &["-l", "--list", "--dump", "-J", "--json", "-p", "--print", "--no-act"];

fn disks(analyzer: &mut Analyzer<'_>, call: &Call<'_>, access: Access) {
    for disk in &call.arguments.operands {
        match access {
            Access::Read => analyzer.reads(disk, call.command),
            _ => analyzer.touch(access, disk, call.command),
        }
    }
}

/// The output of longer commands is unknown.
const MAX_WORDS: usize = 8;

impl Analyzer<'_> {
    /// A shell pattern for the output of a command, from its text.
    pub(crate) fn pattern_of_output(&self, command: &str) -> Option<String> {
        let words: Vec<&str> = command.split_whitespace().take(MAX_WORDS + 1).collect();
        // Another line has another command.
        if words.len() > MAX_WORDS || command.contains('\n') {
            return None;
        }
        let (name, arguments) = words.split_first()?;
        // Then it may be any directory.
        if command.contains("TMPDIR")
            && (self.state.get("TMPDIR").is_some() || self.state.exports.has("TMPDIR"))
        {
            return None;
        }
        match self.program(name)?.output {
            Output::Like(pattern) => pattern(arguments),
            _ => None,
        }
    }
}

/// Directories for temporary files, as the start of a template. What is in a variable is below such a directory too.
const TEMPORARY: &[&str] =
    &["/tmp/", "/var/tmp/", "/dev/shm/", "$TMPDIR/", "${TMPDIR}/", "${TMPDIR:-/tmp}/", "${TMPDIR-/tmp}/"];

/// A new file below a directory for temporary files: the usual one, or where a template or an option says.
fn temporary(arguments: &[&str]) -> Option<String> {
    const USUAL: &str = "tmp.mktemp";
    let (mut directory, mut is_below, mut template) = (None, false, None);
    let mut words = arguments.iter().map(|argument| argument.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        match word {
            "-d" | "--directory" | "-q" | "--quiet" => {}
            "-t" | "-dt" | "-td" | "--tmpdir" => is_below = true,
            "-p" | "-dp" => directory = Some(temporary_directory(words.next()?)?),
            _ if template.is_none() && !word.starts_with('-') => template = Some(word),
            _ => directory = Some(temporary_directory(word.strip_prefix("--tmpdir=")?)?),
        }
    }
    let is_plain = |name: &str| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !name.contains("..")
    };
    let (directory, name) = match template {
        None if is_below => return None,
        None => (directory, USUAL),
        Some(template) if is_below || directory.is_some() => {
            (directory, if template.contains('/') || !is_plain(template) { return None } else { USUAL })
        }
        Some(template) => {
            let start = TEMPORARY.iter().find(|start| template.starts_with(**start))?;
            (temporary_directory(start), template.strip_prefix(start).filter(|name| is_plain(name))?)
        }
    };
    Some(format!("{}{name}", directory.unwrap_or("/tmp/")))
}

/// A directory for temporary files, with a `/` at its end.
fn temporary_directory(written: &str) -> Option<&'static str> {
    let written = written.trim_matches(['"', '\'']).trim_end_matches('/');
    let found = TEMPORARY.iter().find(|known| known.trim_end_matches('/') == written)?;
    Some(if found.starts_with('$') { "/tmp/" } else { found })
}

fn number(arguments: &[&str]) -> Option<String> {
    if arguments.is_empty() { Some(NUMBER.to_owned()) } else { None }
}

fn sequence(arguments: &[&str]) -> Option<String> {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    if arguments.iter().all(is_number) { Some(NUMBER.to_owned()) } else { None }
}

fn name(arguments: &[&str]) -> Option<String> {
    if arguments.is_empty() { Some(NAME.to_owned()) } else { None }
}

fn host_name(arguments: &[&str]) -> Option<String> {
    if matches!(arguments, [] | ["-s"]) { Some(NAME.to_owned()) } else { None }
}

fn system_name(arguments: &[&str]) -> Option<String> {
    if matches!(arguments, [] | ["-m" | "-n" | "-r" | "-s"]) { Some(NAME.to_owned()) } else { None }
}

fn id(arguments: &[&str]) -> Option<String> {
    match arguments {
        ["-u" | "-g"] => Some(NUMBER.to_owned()),
        ["-un" | "-gn"] => Some(NAME.to_owned()),
        _ => None,
    }
}

fn hash(arguments: &[&str]) -> Option<String> {
    if arguments.is_empty() { Some(HASH.to_owned()) } else { None }
}

fn date(arguments: &[&str]) -> Option<String> {
    match arguments {
        [format] | ["-u" | "--utc", format] => date_format(format),
        _ => None,
    }
}

/// `date +FORMAT`, if its output has no blanks and nothing unknown.
fn date_format(format: &str) -> Option<String> {
    // As the shell passes it.
    let format = format.replace(['"', '\'', '\\'], "");
    let format = format.strip_prefix('+')?;
    let mut pattern = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => pattern.push_str(match chars.next()? {
                '-' | '0' => match chars.next()? {
                    'd' | 'm' | 'H' | 'M' | 'S' | 'j' | 'y' => NUMBER,
                    _ => return None,
                },
                'C' | 'F' | 'G' | 'H' | 'I' | 'M' | 'N' | 'R' | 'S' | 'T' | 'U' | 'V' | 'W' | 'Y' | 'd'
                | 'g' | 'j' | 'm' | 's' | 'u' | 'w' | 'y' => NUMBER,
                'A' | 'B' | 'Z' | 'a' | 'b' | 'h' => NAME,
                _ => return None,
            }),
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '+' | '=' | ',' | '@') => {
                pattern.push(c);
            }
            _ => return None,
        }
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, UnknownEnvironment};

    #[test]
    fn what_cannot_leave_its_directory_has_a_pattern() {
        let context = Context { home: None, environment: &UnknownEnvironment, programs: &[] };
        let analyzer = Analyzer::new(&context);
        for (command, expected) in [
            ("date +%s", Some("[0-9]*")),
            ("date -u '+%Y%m%d-%H'", Some("[0-9]*[0-9]*[0-9]*-[0-9]*")),
            ("date +.env", Some(".env")),
            ("date +'+main'", Some("+main")),
            ("date +\\+\"main\"", Some("+main")),
            ("date +%b-%-d", Some("[A-Za-z0-9]*-[0-9]*")),
            ("date", None),
            ("date +%D", None),
            ("date +../%s", None),
            ("date +%", None),
            ("date +%n", None),
            ("date +$X", None),
            ("seq 1 5", Some("[0-9]*")),
            ("seq -f ../%g 1 5", None),
            ("git rev-parse --short=8 HEAD", Some("[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*")),
            ("git rev-parse --show-toplevel", None),
            ("whoami", Some("[A-Za-z0-9]*")),
            ("hostname -f", None),
            ("mktemp", Some("/tmp/tmp.mktemp")),
            ("mktemp -d", Some("/tmp/tmp.mktemp")),
            ("mktemp -p .", None),
            ("mktemp -d -t build.XXXXXX", Some("/tmp/tmp.mktemp")),
            ("mktemp -dt 'build.XXXXXX'", Some("/tmp/tmp.mktemp")),
            ("mktemp -d /tmp/build.XXXXXX", Some("/tmp/build.XXXXXX")),
            ("mktemp -t ../x.XXXXXX", None),
            ("mktemp -d /tmp/../x.XXXXXX", None),
            ("mktemp -d ./x.XXXXXX", None),
            ("mktemp -d \"$x\"", None),
            ("cat x", None),
            ("", None),
        ] {
            assert_eq!(analyzer.pattern_of_output(command).as_deref(), expected, "{command}");
        }
    }
}
