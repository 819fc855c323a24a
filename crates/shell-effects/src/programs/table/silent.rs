//! Programs that touch the content of no file: metadata, text, or the state of the shell.

/// Sorted by name.
#[rustfmt::skip]
pub(crate) const SILENT: &[&str] = &[
    ":", "[", "[[", "arch", "basename", "bg", "break", "cal", "clear", "continue", "curlftpfs", "df", "dir",
    "dirname", "dirs", "disown", "exit", "expr", "factor", "false", "fc", "fg", "file", "free", "getconf",
    "getent", "groups", "hash", "help", "host", "hostname", "htop", "id", "ifconfig", "ip", "jobs", "kill",
    "killall", "let", "locale", "logout", "ls", "lsblk", "lscpu", "lsof", "man", "mount", "nc", "netstat",
    "nproc", "nslookup", "ping", "port", "printenv", "ps", "pwd", "readlink", "realpath", "reset", "return",
    "seq", "shopt", "sleep", "ss", "stat", "stty", "suspend", "sync", "test", "times", "top", "tput", "tr",
    "true", "tty", "ulimit", "umask", "umount", "unalias", "uname", "unfunction", "uptime", "vdir",
    "wait", "whatis", "whereis", "whoami", "yes",
];
