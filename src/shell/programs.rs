//! The programs that are known, one row each.

use super::Access::{self, Delete, MakeDirectory, Read, Write};
use super::arguments::{Call, Flags};
use super::walk::Walk;
use super::{archives, builtins, copy, editors, git, interpreters, search, transfer, wrappers};

#[derive(Clone, Copy)]
pub(super) struct Program {
    /// What it is called.
    alias: &'static str,
    /// What it is, where that has another name.
    pub(super) name: &'static str,
    pub(super) flags: Flags,
    /// With one of these flags all operands are files.
    pub(super) whole: &'static [&'static str],
    pub(super) action: Action,
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Metadata, text, or the state of the shell.
    Nothing,
    /// Every operand after the first so many.
    Each(Access, usize),
    /// The same, with all that is in a directory if it is recursive.
    Trees(Access, usize),
    Special(fn(&mut Walk<'_>, &Call<'_>)),
}

const fn row(name: &'static str, flags: Flags, action: Action) -> Program {
    Program { alias: name, name, flags, whole: &[], action }
}

const fn nothing(name: &'static str) -> Program {
    row(name, "", Action::Nothing)
}

impl Program {
    const fn whole(mut self, flags: &'static [&'static str]) -> Program {
        self.whole = flags;
        self
    }

    const fn named(mut self, name: &'static str) -> Program {
        self.name = name;
        self
    }
}

/// The program of a command's first word: by its name, or by its path in a directory for programs.
pub(super) fn find(word: &str) -> Option<&'static Program> {
    let name = match word.rsplit_once('/') {
        Some((directory, name)) if directory.ends_with("bin") && !directory.ends_with(".bin") => name,
        Some(_) => return None,
        None => word,
    };
    let at = PROGRAMS.binary_search_by(|program| program.alias.cmp(name)).ok()?;
    PROGRAMS.get(at)
}

const AWK: Flags = "-F= -v= -f=r -i= -l= -e= --field-separator= --assign= --file=r --include=";
const BASE32: Flags = "-w= --wrap= -i=r -o=w --input=r --output=w";
const BAT: Flags = "-l= -r= -H= --language= --theme= --style= --line-range= --wrap= --tabs= --highlight-line= \
    --pager= --paging= --color=";
const CP: Flags =
    "-t= -S= --target-directory= --suffix= --backup? --sparse= --reflink? --no-preserve= --preserve?";
const CURL: Flags = "-o= -d= -F= -T=r -K=r -c=w -D=w -b= -H= -X= -u= -A= -e= -x= -m= -w= -E=r -U= -r= -C= -y= -Y= -z= \
    -Q= -t= -P= --output= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --json= \
    --form= --form-string= --upload-file=r --config=r --cookie-jar=w --dump-header=w --cookie= \
    --header= --request= --user= --user-agent= --referer= --proxy= --max-time= --write-out= --cert=r \
    --key=r --cacert=r --capath= --netrc-file=r --output-dir= --url= --retry= --retry-delay= \
    --retry-max-time= --connect-timeout= --limit-rate= --range= --resolve= --interface= --trace=w \
    --trace-ascii=w --stderr=w --max-redirs= --proxy-user= --unix-socket= --etag-save=w \
    --etag-compare=r --hsts=w --alt-svc=w --libcurl=w --max-filesize= --noproxy= --oauth2-bearer= \
    --aws-sigv4= --ciphers= --create-file-mode= --variable=";
const CUT: Flags = "-d= -f= -b= -c= --delimiter= --fields= --bytes= --characters= --output-delimiter=";
const DIFF: Flags =
    "-U= -C= --unified= --context= -I= --label= -x= -X=r --exclude= --exclude-from=r --color? -W=";
const GREP: Flags = "-e= -f=r -m= -A= -B= -C= -D= -d= --regexp= --file=r --max-count= --after-context= \
    --before-context= --context= --include= --exclude= --exclude-from=r --exclude-dir= --label= \
    --color? --colour? --binary-files= --devices= --directories=";
const GZIP: Flags = "-S= -o=w -T= --suffix= --threads=";
const HEAD: Flags = "-n= -c= --lines= --bytes= --pid= -s= --sleep-interval=";
const INSTALL: Flags =
    "-t= -S= -m= -o= -g= --target-directory= --suffix= --mode= --owner= --group= --backup?";
const JQ: Flags = "-f=r --from-file=r --arg= --argjson= --slurpfile= --rawfile= --indent= -L=";
const MV: Flags = "-t= -S= --target-directory= --suffix= --backup?";
const NODE: Flags = "-e= -p= -r= --eval= --print= --require= --import= --loader= --env-file=r --env-file-if-exists=r \
    -C= --conditions=";
const OD: Flags = "-A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format=";
const OPENSSL: Flags = "-in=r -out=w -o=w -f=r -e= -k= -pass= -passin= -inkey=r -key=r -cert=r -CAfile=r --output=w -r= \
    --recipient= -i=r -t= -b= -C= -N= -u=";
const PATCH: Flags = "-i=r -o=w -p= -d= -B= -D= -F= -r=w -V= -z= --input=r --output=w --strip= --directory= --fuzz= \
    --reject-file=w";
const PRETTIER: Flags = "--config= --config-path= -c= --edition= -l= --line-length= --parser= --style? --stdin-filepath= \
    --ignore-path=";
const RG: Flags = "-e= -f=r -g= -t= -T= -m= -A= -B= -C= -r= -d= -j= -M= -E= -G= --regexp= --file=r --glob= --iglob= \
    --type= --type-not= --max-count= --max-depth= --replace= --sort= --sortr= --threads= --encoding= \
    --ignore-file=r --after-context= --before-context= --context= --color= --colors= --max-columns= \
    --pre= --engine= --type-add= --context-separator=";
const RSYNC: Flags = "-e= -f= -T= -B= -M= --rsh= --exclude= --include= --exclude-from=r --include-from=r \
    --files-from=r --log-file=w --filter= --rsync-path= --bwlimit= --port= --password-file=r \
    --chmod= --chown= --info= --timeout= --partial-dir= --temp-dir= --compare-dest= --link-dest= \
    --out-format= --suffix= --backup-dir=";
const SED: Flags = "-e= -f=r -i? -I? -l= --expression= --file=r --in-place? --line-length=";
const SHUF: Flags = "-n= -o=w --head-count= --output=w --random-source=r -i= --input-range=";
const SORT: Flags = "-o=w -k= -t= -S= -T= --output=w --key= --field-separator= --buffer-size= --temporary-directory= \
    --files0-from=r --compress-program= --parallel=";
const SPLIT: Flags = "-a= -b= -C= -l= -n= --bytes= --lines= --number= --suffix-length=";
const SU: Flags = "-c= --command= -n= --interval= -w= -s= -g=";
const UNIQ: Flags = "-f= -s= -w= --skip-fields= --skip-chars= --check-chars= --group? --all-repeated?";
const WGET: Flags = "-O= -o=w -a=w -P= -i=r -U= -t= -T= -w= -Q= -e= -D= -R= -A= -I= -X= -l= --output-document= \
    --output-file=w --append-output=w --directory-prefix= --input-file=r --post-file=r --body-file=r \
    --post-data= --body-data= --method= --header= --user= --password= --user-agent= --referer= \
    --load-cookies=r --save-cookies=w --tries= --timeout= --wait= --limit-rate= --config=r \
    --ca-certificate=r --certificate=r --private-key=r --accept= --reject= --domains= --level=";
const YQ: Flags = "-f= --from-file=r -o= -p= --output-format= --input-format= --indent= -I=";

/// Sorted by name.
const PROGRAMS: &[Program] = &[
    row(".", "", Action::Special(builtins::source)),
    nothing(":"),
    row("Rscript", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    nothing("["),
    nothing("[["),
    row("ack", RG, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file", "--files"]),
    row("ag", RG, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file", "--files"]),
    row("age", OPENSSL, Action::Each(Read, 1)),
    row("alias", "", Action::Special(builtins::alias)),
    nothing("arch"),
    row("ash", "-c= -o=", Action::Special(interpreters::shell)),
    row("awk", AWK, Action::Special(editors::awk)),
    row("b2sum", "", Action::Each(Read, 0)),
    row("base32", BASE32, Action::Each(Read, 0)),
    row("base64", BASE32, Action::Each(Read, 0)),
    nothing("basename"),
    row("basenc", BASE32, Action::Each(Read, 0)),
    row("bash", "-c= -o=", Action::Special(interpreters::shell)),
    row("bat", BAT, Action::Each(Read, 0)),
    row("batcat", BAT, Action::Each(Read, 0)),
    nothing("bc"),
    nothing("bg"),
    nothing("bind"),
    row("biome", PRETTIER, Action::Special(editors::format)),
    row("black", PRETTIER, Action::Special(editors::format)),
    nothing("break"),
    row("bsdtar", "", Action::Special(archives::tar)),
    row("builtin", "", Action::Special(wrappers::wrapper)),
    row("bun", NODE, Action::Special(interpreters::interpreter)),
    row("bunzip2", GZIP, Action::Special(archives::compress)),
    row("busybox", "", Action::Special(wrappers::wrapper)),
    row("bzcat", "", Action::Each(Read, 0)),
    row("bzip2", GZIP, Action::Special(archives::compress)),
    row("caffeinate", "", Action::Special(wrappers::wrapper)),
    nothing("cal"),
    row("cat", "", Action::Special(builtins::cat)),
    row("cd", "", Action::Special(builtins::cd)),
    row("chattr", "--reference=r", Action::Trees(Write, 1)).whole(&["--reference"]),
    row("chdir", "", Action::Special(builtins::cd)).named("cd"),
    row("chflags", "-m= --mode=", Action::Each(Write, 0)),
    row("chgrp", "--reference=r", Action::Trees(Write, 1)).whole(&["--reference"]),
    row("chmod", "--reference=r", Action::Trees(Write, 1)).whole(&["--reference"]),
    row("chown", "--reference=r", Action::Trees(Write, 1)).whole(&["--reference"]),
    row("chroot", "", Action::Special(wrappers::wrapper)),
    row("chrt", "", Action::Special(wrappers::wrapper)),
    row("cksum", "", Action::Each(Read, 0)),
    row("clang-format", PRETTIER, Action::Special(editors::format)),
    nothing("clear"),
    row("cmp", "", Action::Each(Read, 0)),
    row("code", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("colordiff", "", Action::Each(Read, 0)),
    row("column", "-s= -c= -o= -N= -R= -t? --separator= --output-separator=", Action::Each(Read, 0)),
    row("comm", "", Action::Each(Read, 0)),
    row("command", "", Action::Special(wrappers::wrapper)),
    nothing("compgen"),
    nothing("complete"),
    nothing("continue"),
    row("cp", CP, Action::Special(copy::copy)),
    row("csplit", SPLIT, Action::Each(Read, 0)),
    row("curl", CURL, Action::Special(transfer::curl)),
    nothing("curlftpfs"),
    row("cut", CUT, Action::Each(Read, 0)),
    row("dash", "-c= -o=", Action::Special(interpreters::shell)),
    nothing("date"),
    nothing("dc"),
    row("dd", "", Action::Special(copy::dd)),
    row("declare", "", Action::Special(builtins::declare)),
    row("delta", "", Action::Each(Read, 0)),
    row("deno", NODE, Action::Special(interpreters::interpreter)),
    nothing("df"),
    row("diff", DIFF, Action::Each(Read, 0)),
    row("diff3", "", Action::Each(Read, 0)),
    nothing("dig"),
    nothing("dir"),
    nothing("dirname"),
    nothing("dirs"),
    nothing("disown"),
    row("doas", "", Action::Special(wrappers::wrapper)),
    nothing("du"),
    row("echo", "-v=", Action::Special(builtins::echo)),
    row("ed", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("egrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row("elixir", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("emacs", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("emacsclient", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    nothing("enable"),
    row("env", "", Action::Special(wrappers::env)),
    row("eslint", PRETTIER, Action::Special(editors::format)),
    row("eval", "", Action::Special(builtins::eval)),
    row("ex", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("exec", "", Action::Special(wrappers::wrapper)),
    nothing("exit"),
    row("expand", "-t= --tabs=", Action::Each(Read, 0)),
    row("export", "", Action::Special(builtins::declare)),
    nothing("expr"),
    nothing("factor"),
    nothing("false"),
    nothing("fc"),
    row("fd", "", Action::Special(search::fd)),
    row("fdfind", "", Action::Special(search::fd)),
    nothing("fg"),
    row("fgrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    nothing("file"),
    row("find", "", Action::Special(search::find)),
    row("fish", "-c= -o=", Action::Special(interpreters::shell)),
    row("flock", SU, Action::Special(wrappers::text_wrapper)),
    row("fmt", "-w= -p= -g= --width= --prefix=", Action::Each(Read, 0)),
    row("fold", "-w= -p= -g= --width= --prefix=", Action::Each(Read, 0)),
    nothing("free"),
    row("gawk", AWK, Action::Special(editors::awk)),
    row("gcat", "", Action::Special(builtins::cat)).named("cat"),
    row("gcp", CP, Action::Special(copy::copy)).named("cp"),
    nothing("getconf"),
    nothing("getent"),
    row("getopts", "-d= -n= -O= -s= -u= -C= -c=", Action::Special(builtins::read)),
    row("gfind", "", Action::Special(search::find)),
    row("ggrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row("ginstall", INSTALL, Action::Special(copy::copy)).named("install"),
    row("gio-trash", "", Action::Trees(Delete, 0)),
    row("git", "", Action::Special(git::git)),
    row("gln", MV, Action::Special(copy::copy)).named("ln"),
    row("glow", "", Action::Each(Read, 0)),
    row("gmv", MV, Action::Special(copy::copy)).named("mv"),
    row("gofmt", PRETTIER, Action::Special(editors::format)),
    row("goimports", PRETTIER, Action::Special(editors::format)),
    row("gojq", JQ, Action::Special(editors::query)),
    row("gpg", OPENSSL, Action::Each(Read, 1)),
    row("gpg2", OPENSSL, Action::Each(Read, 1)),
    row("grep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row("groovy", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    nothing("groups"),
    row("gsed", SED, Action::Special(editors::sed)),
    row("gtar", "", Action::Special(archives::tar)),
    row("gtimeout", "", Action::Special(wrappers::wrapper)),
    row("guile", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("gunzip", GZIP, Action::Special(archives::compress)),
    row("gzcat", "", Action::Each(Read, 0)),
    row("gzip", GZIP, Action::Special(archives::compress)),
    nothing("hash"),
    row("hd", "-n= -s= -e= -f=r", Action::Each(Read, 0)),
    row("head", HEAD, Action::Each(Read, 0)),
    row("helix", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    nothing("help"),
    row("hexdump", "-n= -s= -e= -f=r", Action::Each(Read, 0)),
    nothing("history"),
    nothing("host"),
    nothing("hostname"),
    nothing("htop"),
    row("hx", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("iconv", "-f= -t= -o=w --from-code= --to-code= --output=w", Action::Each(Read, 0)),
    nothing("id"),
    nothing("ifconfig"),
    nothing("info"),
    row("install", INSTALL, Action::Special(copy::copy)),
    row("ionice", "", Action::Special(wrappers::wrapper)),
    nothing("ip"),
    row("isort", PRETTIER, Action::Special(editors::format)),
    row("jaq", JQ, Action::Special(editors::query)),
    nothing("jobs"),
    row("join", "-a= -e= -j= -o= -t= -v= -1= -2=", Action::Each(Read, 0)),
    row("jq", JQ, Action::Special(editors::query)),
    row("julia", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    nothing("kill"),
    nothing("killall"),
    row("ksh", "-c= -o=", Action::Special(interpreters::shell)),
    row("less", "", Action::Each(Read, 0)),
    nothing("let"),
    row("link", "", Action::Special(copy::copy)),
    row("ln", MV, Action::Special(copy::copy)),
    row("local", "", Action::Special(builtins::declare)),
    nothing("locale"),
    nothing("logger"),
    nothing("logout"),
    row("look", "", Action::Each(Read, 0)),
    nothing("ls"),
    nothing("lsblk"),
    nothing("lscpu"),
    nothing("lsof"),
    row("ltrace", "", Action::Special(wrappers::wrapper)),
    row("lua", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("luajit", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    nothing("man"),
    row("mapfile", "-d= -n= -O= -s= -u= -C= -c=", Action::Special(builtins::read)),
    row("mawk", AWK, Action::Special(editors::awk)),
    row("md", "-m= --mode=", Action::Each(MakeDirectory, 0)),
    row("md5", "", Action::Each(Read, 0)),
    row("md5sum", "", Action::Each(Read, 0)),
    row("mdcat", "", Action::Each(Read, 0)),
    row("micro", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("mkdir", "-m= --mode=", Action::Each(MakeDirectory, 0)),
    row("mkfifo", "-m= --mode=", Action::Each(Write, 0)),
    row("mknod", "-m= --mode=", Action::Each(Write, 0)),
    row("mksh", "-c= -o=", Action::Special(interpreters::shell)),
    nothing("mktemp"),
    row("more", "", Action::Each(Read, 0)),
    row("most", "", Action::Each(Read, 0)),
    nothing("mount"),
    row("mv", MV, Action::Special(copy::copy)),
    row("nano", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("nawk", AWK, Action::Special(editors::awk)),
    nothing("nc"),
    nothing("netstat"),
    row("nice", "", Action::Special(wrappers::wrapper)),
    row("nl", "-b= -d= -f= -h= -i= -l= -n= -s= -v= -w=", Action::Each(Read, 0)),
    row("node", NODE, Action::Special(interpreters::interpreter)),
    row("nodejs", NODE, Action::Special(interpreters::interpreter)),
    row("nohup", "", Action::Special(wrappers::wrapper)),
    nothing("nproc"),
    nothing("nslookup"),
    row("numactl", "", Action::Special(wrappers::wrapper)),
    row("nvim", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("od", OD, Action::Each(Read, 0)),
    row("open", "", Action::Each(Read, 0)),
    row("openssl", OPENSSL, Action::Each(Read, 1)),
    row("osascript", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("parallel", "-a=r --arg-file=r", Action::Special(wrappers::xargs)),
    row("paste", "-d= --delimiters=", Action::Each(Read, 0)),
    row("patch", PATCH, Action::Special(editors::patch)),
    row("pbcopy", "", Action::Each(Read, 0)),
    row("pcregrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row(
        "perl",
        "-e= -E= -i? -I= -M? -m? -F? -0? -l? -x? -C? -d? -D?",
        Action::Special(interpreters::in_place),
    ),
    row("pg", "", Action::Each(Read, 0)),
    nothing("pgrep"),
    row("php", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("pico", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    nothing("ping"),
    nothing("pkill"),
    row("popd", "", Action::Special(builtins::popd)),
    nothing("port"),
    row("pr", "-h= -l= -o= -w= -W= --header= --length= --width=", Action::Each(Read, 0)),
    row("prettier", PRETTIER, Action::Special(editors::format)),
    row("print", "-v=", Action::Special(builtins::echo)),
    nothing("printenv"),
    row("printf", "-v=", Action::Special(builtins::echo)),
    nothing("ps"),
    row("ptx", "", Action::Each(Read, 0)),
    row("pushd", "", Action::Special(builtins::cd)),
    nothing("pwd"),
    row("pypy", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("pypy3", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python2", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.10", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.11", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.12", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.13", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.14", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.8", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("python3.9", "-c= -W= -X= -Q= -m=", Action::Special(interpreters::interpreter)),
    row("racket", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("rbash", "-c= -o=", Action::Special(interpreters::shell)),
    row("read", "-a= -d= -i= -n= -N= -p= -t= -u=", Action::Special(builtins::read)),
    row("readarray", "-d= -n= -O= -s= -u= -C= -c=", Action::Special(builtins::read)),
    nothing("readlink"),
    row("readonly", "", Action::Special(builtins::declare)),
    nothing("realpath"),
    nothing("reset"),
    nothing("return"),
    row("rev", "", Action::Each(Read, 0)),
    row("rg", RG, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file", "--files"]),
    row("rgrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row("rimraf", "", Action::Trees(Delete, 0)),
    row("rm", "", Action::Special(copy::remove)),
    row("rmdir", "", Action::Each(Delete, 0)),
    row("rsync", RSYNC, Action::Special(copy::synchronise)),
    row("ruby", "-e= -i? -I= -r= -F? -0? -C= -x?", Action::Special(interpreters::in_place)),
    row("runuser", SU, Action::Special(wrappers::text_wrapper)),
    row("rustfmt", PRETTIER, Action::Special(editors::format)),
    row("scala", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("scp", "-i=r -P= -o= -l= -c= -F=r -J= -S= -D= -X=", Action::Special(copy::synchronise)),
    row("script", SU, Action::Special(wrappers::text_wrapper)),
    row("sdiff", "", Action::Each(Read, 0)),
    row("sed", SED, Action::Special(editors::sed)),
    nothing("seq"),
    row("set", "", Action::Special(builtins::set)),
    row("setfacl", "-m= --mode=", Action::Each(Write, 0)),
    row("setsid", "", Action::Special(wrappers::wrapper)),
    row("sh", "-c= -o=", Action::Special(interpreters::shell)),
    row("sha1sum", "", Action::Each(Read, 0)),
    row("sha224sum", "", Action::Each(Read, 0)),
    row("sha256", "", Action::Each(Read, 0)),
    row("sha256sum", "", Action::Each(Read, 0)),
    row("sha384sum", "", Action::Each(Read, 0)),
    row("sha512sum", "", Action::Each(Read, 0)),
    row("shasum", "-a= --algorithm=", Action::Each(Read, 0)),
    row("shfmt", PRETTIER, Action::Special(editors::format)),
    row("shift", "", Action::Special(builtins::set)),
    nothing("shopt"),
    row("shred", "-n= -s= --iterations= --size=", Action::Each(Write, 0)),
    row("shuf", SHUF, Action::Each(Read, 0)),
    nothing("sleep"),
    row("sort", SORT, Action::Each(Read, 0)),
    row("source", "", Action::Special(builtins::source)),
    row("split", SPLIT, Action::Each(Read, 0)),
    row("sponge", "-m= --mode=", Action::Each(Write, 0)),
    row("srm", "", Action::Trees(Delete, 0)),
    nothing("ss"),
    row("ssh-keygen", OPENSSL, Action::Each(Read, 1)),
    nothing("stat"),
    row("stdbuf", "", Action::Special(wrappers::wrapper)),
    row("strace", "", Action::Special(wrappers::wrapper)),
    row("strings", "-n= -t= -e= --bytes= --radix=", Action::Each(Read, 0)),
    nothing("stty"),
    row("su", SU, Action::Special(wrappers::text_wrapper)),
    row("subl", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("sudo", "", Action::Special(wrappers::wrapper)),
    row("sudoedit", "", Action::Each(Write, 0)),
    row("sum", "", Action::Each(Read, 0)),
    nothing("suspend"),
    row("swift", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    nothing("sync"),
    row("tac", "-s= --separator=", Action::Each(Read, 0)),
    row("tail", HEAD, Action::Each(Read, 0)),
    row("tar", "", Action::Special(archives::tar)),
    row("taskset", "", Action::Special(wrappers::wrapper)),
    row("tclsh", "-r= -e= -d= -l= -f=r --eval=", Action::Special(interpreters::interpreter)),
    row("tee", "-m= --mode=", Action::Each(Write, 0)),
    nothing("test"),
    row("time", "", Action::Special(wrappers::wrapper)),
    row("timeout", "", Action::Special(wrappers::wrapper)),
    nothing("times"),
    nothing("top"),
    row("touch", "-d= -t= -r=r --date= --reference=r --time=", Action::Each(Write, 0)),
    row("toybox", "", Action::Special(wrappers::wrapper)),
    nothing("tput"),
    nothing("tr"),
    row("trap", "", Action::Special(builtins::trap)),
    row("trash", "", Action::Trees(Delete, 0)),
    row("trash-put", "", Action::Trees(Delete, 0)),
    nothing("tree"),
    nothing("true"),
    row("truncate", "-s= -r=r --size= --reference=r", Action::Each(Write, 0)),
    row("ts-node", NODE, Action::Special(interpreters::interpreter)),
    row("tsort", "", Action::Each(Read, 0)),
    row("tsx", NODE, Action::Special(interpreters::interpreter)),
    nothing("tty"),
    nothing("type"),
    row("typeset", "", Action::Special(builtins::declare)),
    nothing("ulimit"),
    nothing("umask"),
    nothing("umount"),
    nothing("unalias"),
    nothing("uname"),
    row("unbuffer", "", Action::Special(wrappers::wrapper)),
    row("unexpand", "-t= --tabs=", Action::Each(Read, 0)),
    nothing("unfunction"),
    row("uniq", UNIQ, Action::Special(editors::filter)),
    row("unlink", "", Action::Trees(Delete, 0)),
    nothing("unset"),
    row("unxz", GZIP, Action::Special(archives::compress)),
    row("unzip", "-d= -x= -P=", Action::Special(archives::unzip)),
    row("unzstd", GZIP, Action::Special(archives::compress)),
    nothing("uptime"),
    row("uudecode", "", Action::Each(Read, 0)),
    row("uuencode", "", Action::Each(Read, 0)),
    nothing("vdir"),
    row("vi", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("view", "", Action::Each(Read, 0)),
    row("vim", "-c= --cmd= -S=r -u= -s=r -w=w", Action::Special(editors::edit)),
    row("vimdiff", "", Action::Each(Read, 0)),
    row("visudo", "", Action::Each(Write, 0)),
    nothing("wait"),
    row("watch", SU, Action::Special(wrappers::text_wrapper)),
    row("wc", "", Action::Each(Read, 0)),
    row("wget", WGET, Action::Special(transfer::wget)),
    nothing("whatis"),
    nothing("whereis"),
    nothing("which"),
    nothing("who"),
    nothing("whoami"),
    row("wipe", "-n= -s= --iterations= --size=", Action::Each(Write, 0)),
    row("xargs", "-a=r --arg-file=r", Action::Special(wrappers::xargs)),
    row("xattr", "-m= --mode=", Action::Each(Write, 0)),
    row("xclip", "", Action::Each(Read, 0)),
    row("xdg-open", "", Action::Each(Read, 0)),
    row("xsel", "", Action::Each(Read, 0)),
    row("xxd", "-c= -g= -l= -o= -s= -n=", Action::Special(editors::filter)),
    row("xz", GZIP, Action::Special(archives::compress)),
    row("xzcat", "", Action::Each(Read, 0)),
    nothing("yes"),
    row("yq", YQ, Action::Special(editors::query)),
    row("zcat", "", Action::Each(Read, 0)),
    row("zgrep", GREP, Action::Each(Read, 1)).whole(&["-e", "-f", "--regexp", "--file"]),
    row("zip", "-i= -x= -t= -tt= -P= -b= -n=", Action::Special(archives::zip)),
    row("zless", "", Action::Each(Read, 0)),
    row("zmore", "", Action::Each(Read, 0)),
    row("zsh", "-c= -o=", Action::Special(interpreters::shell)),
    row("zstd", GZIP, Action::Special(archives::compress)),
    row("zstdcat", "", Action::Each(Read, 0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_so_that_they_are_found() {
        for program in PROGRAMS {
            assert_eq!(find(program.alias).map(|found| found.alias), Some(program.alias));
        }
    }
}
