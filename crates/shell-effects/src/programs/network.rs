//! Sent and received files: `curl`, `wget`, `rsync`, `scp`, and the keys of ssh.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::{Arguments, Call, Flags};
use crate::programs::files::{Destination, written};
use crate::programs::program::{Program, special};
use crate::programs::start_up;
use crate::{Access, AdditionalFiles, percent_decoded};

const CURL: Flags = "--next! --preproxy=c --socks4=c --socks4a=c --socks5=c --socks5-hostname=c --connect-to=c --abstract-unix-socket=c --engine=c --doh-url=c --quote=c --ssl-sessions=w --keylog=w -o= -d= -F= -T=r -K=f -c=w -D=w -b= -H= -X= -u= -A= -e= -x=c -m= -w= -E=r -U= -r= -C= -y= -Y= -z= -Q=c \
    -t= -P= --output= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --json= --form= \
    --form-string= --upload-file=r --config=f --cookie-jar=w --dump-header=w --cookie= --header= \
    --request= --user= --user-agent= --referer= --proxy=c --max-time= --write-out= --cert=r --key=r \
    --cacert= --capath= --netrc-file=r --output-dir= --url=c --retry= --retry-delay= --retry-max-time= \
    --connect-timeout= --limit-rate= --range= --resolve=c --interface= --trace=w --trace-ascii=w \
    --stderr=w --max-redirs= --proxy-user= --unix-socket=c --etag-save=w --etag-compare=r --hsts=w \
    --alt-svc=w --libcurl=w --max-filesize= --noproxy= --oauth2-bearer= --aws-sigv4= --ciphers= \
    --create-file-mode= --variable= --proto-default=";
const RSYNC: Flags = "-e= -f= -T=c -B= -M=c --rsh= --exclude= --include= --exclude-from=r --include-from=r --files-from=l \
    --log-file=w --filter= --rsync-path=c --bwlimit= --port= --password-file=r --chmod= --chown= --info= \
    --del! --remote-option=c --timeout= --partial-dir=c --temp-dir=c --read-batch=c --compare-dest= --link-dest= --out-format= --suffix= \
    --backup-dir=c";
const WGET: Flags = "-O= -o=w -a=w -P= -i=r -U= -t= -T= -w= -Q= -e=c -D= -R= -A= -I= -X= -l= --output-document= \
    --output-file=w --append-output=w --directory-prefix= --input-file=r --post-file=r --body-file=r \
    --post-data= --body-data= --method= --header= --user= --password= --user-agent= --referer= \
    --load-cookies=r --save-cookies=w --tries= --timeout= --wait= --limit-rate= --config=f \
    --ca-certificate=r --certificate=r --private-key=r --accept= --reject= --domains= --level= --rejected-log=w \
    --hsts-file=w --warc-file=w --warc-dedup=r --warc-tempdir=w --ca-directory= --crl-file=r --execute=c \
    --use-askpass=x";

#[rustfmt::skip]
pub(crate) const NETWORK: &[Program] = &[
    special(&["curl"], CURL, curl).start_up(&["~/.curlrc", "~/.config/curlrc", "$CURL_HOME/.curlrc", "$XDG_CONFIG_HOME/curlrc"]),
    special(&["rsync"], RSYNC, rsync),
    special(&["scp", "sftp"], "-i= -P= -o= -l= -c= -F=f -J= -S=x -D=x -X= -b=f -B= -R= -s=", scp).start_up(&["~/.ssh/config"]),
    special(&["ssh-keygen"], "-f= -b= -t= -C= -N= -P= -m= -F= -R= -a= -I= -s=r -V= -n= -D= -O= -Z= -z= -w= -M=", keys),
    special(&["wget"], WGET, wget).start_up(&["~/.wgetrc", "$WGETRC"]),
];

/// The files that curl sends.
fn sent_files(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    // A value after `@` is a file that is sent.
    for data in arguments.values(&[
        "-d",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--json",
        "-H",
        "--header",
        "-w",
        "--write-out",
    ]) {
        if let Some(file) = data.text.strip_prefix('@') {
            analyzer.reads(&data.with(file), call.command);
        }
    }
    for data in arguments.values(&["--data-urlencode"]) {
        if let Some((_, file)) = data.text.split_once('@').filter(|(name, _)| !name.contains('=')) {
            analyzer.reads(&data.with(file), call.command);
        }
    }
    for form in arguments.values(&["-F", "--form"]) {
        if let Some((_, value)) = form.text.split_once('=')
            && let Some(file) = value.strip_prefix(['@', '<'])
        {
            let file = file.split(';').next().unwrap_or_default();
            analyzer.reads(&form.with(file), call.command);
        }
    }
    for cookies in arguments.values(&["-b", "--cookie"]).filter(|value| !value.text.contains('=')) {
        analyzer.reads(cookies, call.command);
    }
}

fn curl(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    sent_files(analyzer, call);
    for other in arguments.operands.iter().skip(1) {
        analyzer.acts_by(&other.text, call.command);
    }
    curl_configs(analyzer, call);
    for format in arguments.values(&["-w", "--write-out"]) {
        for (at, name) in format.text.match_indices("%output{") {
            let file =
                format.text.get(at + name.len()..).unwrap_or_default().split('}').next().unwrap_or_default();
            let file = format.with(file.trim_start_matches(">>"));
            analyzer.by_option("-w", |analyzer| analyzer.touch(Access::Write, &file, call.command));
        }
    }
    let takes_files =
        arguments.values(&["--proto-default"]).any(|scheme| scheme.text.eq_ignore_ascii_case("file"));
    let directory = arguments.value(&["--output-dir"]).cloned();
    for file in arguments.values(&["-o", "--output"]).filter(|file| file.text != "-") {
        let file = match &directory {
            Some(directory) => inside(directory, file),
            None => file.clone(),
        };
        analyzer.by_option("-o", |analyzer| fetched(analyzer, call, &file));
    }
    let keeps_names =
        arguments.has(&["-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"]);
    let urls: Vec<&Field> = arguments.operands.iter().chain(arguments.values(&["--url"])).collect();
    for url in urls {
        let plain = if takes_files && !url.text.contains("://") { Some(url.clone()) } else { None };
        if let Some(file) = file_of(url).or(plain) {
            let uploads = arguments.has(&["-T", "--upload-file"]);
            let access = if uploads { Access::Write } else { Access::Read };
            analyzer.touch(access, &file, call.command);
        }
        if keeps_names {
            analyzer.by_option("-O", |analyzer| downloaded(analyzer, call, url, directory.as_ref()));
        }
    }
}

/// The file in an address such as `file:///a%20b`. Braces or brackets mean several files.
fn file_of(url: &Field) -> Option<Field> {
    let (scheme, rest) = url.text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.get(rest.find('/')?..)?,
        None => rest,
    };
    if path.contains(['{', '[']) {
        return Some(Field::unknown(url.shown()));
    }
    Some(url.with(percent_decoded(path).into_owned()))
}

/// `curl -K FILE`: lines with options, if this script wrote them.
fn curl_configs(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for file in call.arguments.values(&["-K", "--config"]) {
        let content = if file.text == "-" { analyzer.input().clone() } else { analyzer.content(file) };
        analyzer.reads(file, call.command);
        let Stream::Text(printed) = content else {
            if matches!(content, Stream::Unknown | Stream::Files(_)) {
                analyzer.reads(&Field::unknown(format!("the files of {}", file.shown())), call.command);
            }
            continue;
        };
        curl_config(analyzer, &printed.text.text);
    }
    if call.fields.get(1).is_none_or(|first| first.text != "-q") {
        for text in start_up::texts(analyzer, call.program) {
            curl_config(analyzer, &text.text);
        }
    }
}

/// The options in the text of a file, one on each line.
fn curl_config(analyzer: &mut Analyzer<'_>, text: &str) {
    // It would be read again.
    let mut words = vec![Field::literal("curl"), Field::literal("-q")];
    if !text.is_empty() {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let (name, value) = line.split_once(['=', ':', ' ', '\t']).unwrap_or((line, ""));
            let name = name.trim();
            let is_short = name.starts_with('-') && !name.starts_with("--");
            words.push(Field::literal(if is_short {
                name.to_owned()
            } else {
                format!("--{}", name.trim_start_matches('-'))
            }));
            let value = value.trim_matches([' ', '\t', '=', ':', '"']);
            words.extend(Some(value).filter(|value| !value.is_empty()).map(Field::literal));
        }
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
}

fn wget(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    wget_settings(analyzer, call);
    if let Some(file) = arguments.value(&["-O", "--output-document"]) {
        if file.text != "-" {
            analyzer.by_option("-O", |analyzer| fetched(analyzer, call, file));
        }
        return;
    }
    if arguments.has(&["--spider"]) {
        return;
    }
    let directory = arguments.value(&["-P", "--directory-prefix"]).cloned();
    for url in &arguments.operands {
        downloaded(analyzer, call, url, directory.as_ref());
    }
}

/// `wget -e NAME=VALUE` and lines of `.wgetrc`, which work like options.
fn wget_settings(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut settings: Vec<String> =
        call.arguments.values(&["-e", "--execute"]).map(|setting| setting.text.clone()).collect();
    if !call.arguments.has(&["--no-config"]) {
        for text in start_up::texts(analyzer, call.program) {
            settings.extend(text.text.lines().map(str::to_owned));
        }
    }
    for file in call.arguments.values(&["--config"]) {
        if let Stream::Text(printed) = analyzer.content(file) {
            settings.extend(printed.text.text.lines().map(str::to_owned));
        }
    }
    let mut words = vec![Field::literal("wget"), Field::literal("--no-config")];
    for setting in &settings {
        if setting.trim_start().starts_with('#') {
            continue;
        }
        let Some((name, value)) = setting.split_once('=') else { continue };
        let name = name.trim().to_ascii_lowercase().replace('_', "-");
        let option = if name == "logfile" { "output-file" } else { &name };
        words.push(Field::literal(format!("--{option}={}", value.trim())));
    }
    if words.len() > 2 {
        words.extend(call.arguments.operands.iter().cloned());
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
}

/// A file named like the last part of the address.
fn downloaded(analyzer: &mut Analyzer<'_>, call: &Call<'_>, url: &Field, directory: Option<&Field>) {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = match path.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => "index.html",
    };
    // A `?` in an address is not a pattern.
    let file = match url.kind {
        FieldKind::Unknown => Field::unknown(name),
        _ => Field::literal(name),
    };
    let file = directory.map_or_else(|| file.clone(), |directory| inside(directory, &file));
    fetched(analyzer, call, &file);
}

/// A file with content from elsewhere.
fn fetched(analyzer: &mut Analyzer<'_>, call: &Call<'_>, file: &Field) {
    analyzer.touch(Access::Write, file, call.command);
    analyzer.wrote(file, Stream::Unknown, false, vec![call.command]);
}

fn inside(directory: &Field, file: &Field) -> Field {
    if file.text.starts_with('/') {
        return file.clone();
    }
    let joined = format!("{}/{}", directory.text.trim_end_matches('/'), file.text);
    if directory.is_literal() { file.with(joined) } else { Field::unknown(joined) }
}

/// `rsync -e CODE`: the code connects to the other machine.
fn rsync(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for code in call.arguments.values(&["-e", "--rsh"]) {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
    }
    synchronise(analyzer, call);
}

/// `scp -S PROGRAM`: the program connects to the other machine.
fn scp(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    ssh_options(analyzer, call.program, &call.arguments);
    for program in call.arguments.values(&["-S", "-D"]) {
        let words = [program.clone()];
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
    synchronise(analyzer, call);
}

/// `rsync` and `scp`: names with a colon are on another machine.
fn synchronise(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let Some((target, sources)) = call.arguments.operands.split_last() else { return };
    for source in sources.iter().filter(|source| is_local(source)) {
        analyzer.touch_tree(Access::Read, source, call.command);
        if call.arguments.has(&["--remove-source-files"]) {
            analyzer.touch_tree(Access::Delete, source, call.command);
        }
    }
    if !is_local(target) {
        return;
    }
    let deletes = call.arguments.flags.iter().any(|(name, _)| name.starts_with("--delete"));
    if deletes && !call.arguments.has(&["-n", "--dry-run"]) {
        analyzer.by_option("--delete", |analyzer| analyzer.touch_tree(Access::Delete, target, call.command));
    }
    if call.arguments.has(&["-r", "-a", "--recursive", "--archive", "--delete"]) {
        return copied_directories(analyzer, call, sources, target);
    }
    let matched: Vec<Field> = sources.iter().flat_map(|source| analyzer.matched_files(source)).collect();
    for source in &matched {
        let name = source.text.rsplit([':', '/']).next().unwrap_or_default();
        if !is_local(source) {
            let inside = inside(target, &Field::literal(name));
            for file in [target, &inside] {
                analyzer.wrote(file, Stream::Unknown, false, vec![call.command]);
            }
        }
        written(analyzer, call, &source.with(name), &Destination { path: target, is_directory: None });
    }
}

/// Whether a name has no colon that ends the name of another machine.
fn is_local(field: &Field) -> bool {
    !field.text.split('/').next().unwrap_or_default().contains(':')
}

/// Directories that come into a target here. What has no slash at its end comes under its own name.
fn copied_directories(analyzer: &mut Analyzer<'_>, call: &Call<'_>, sources: &[Field], target: &Field) {
    analyzer.touch_tree(Access::Write, target, call.command);
    let brings = AdditionalFiles { directory: true, names: false };
    for source in sources {
        let name = source.text.rsplit([':', '/']).next().unwrap_or_default();
        let path = match name {
            "" | "." | ".." => target.clone(),
            name => inside(target, &source.with(name)),
        };
        analyzer.with_additional_files(brings, |analyzer| analyzer.touch(Access::Write, &path, call.command));
    }
}

/// Settings of ssh whose command runs here.
const COMMANDS: [&str; 3] = ["knownhostscommand", "localcommand", "proxycommand"];

/// `ssh -o ProxyCommand=CODE`.
pub(crate) fn ssh_options(analyzer: &mut Analyzer<'_>, program: &Program, arguments: &Arguments) {
    let mut settings: Vec<Field> = arguments.values(&["-o"]).cloned().collect();
    for text in start_up::texts(analyzer, program) {
        settings.extend(text.text.lines().map(Field::literal));
    }
    for file in arguments.values(&["-F"]) {
        if let Stream::Text(printed) = analyzer.content(file) {
            settings.extend(printed.text.text.lines().map(Field::literal));
        }
    }
    settings.iter().for_each(|setting| ssh_setting(analyzer, setting, MAX_INCLUDED));
}

/// Files with settings of ssh include each other. Deeper ones are not read.
const MAX_INCLUDED: usize = 3;

/// A setting of ssh: `NAME VALUE` or `NAME=VALUE`, each of them perhaps in quotes.
fn ssh_setting(analyzer: &mut Analyzer<'_>, setting: &Field, included: usize) {
    let text = setting.text.trim_start_matches(|c: char| c == '"' || c.is_whitespace());
    let Some((name, value)) = text.split_once(|c: char| matches!(c, '=' | '"') || c.is_whitespace()) else {
        return;
    };
    let is_separator = |c: char| c == '=' || c.is_whitespace();
    let value = value.trim_matches(is_separator);
    let code = match name.to_ascii_lowercase().as_str() {
        name if COMMANDS.contains(&name) && value != "none" => {
            // Quotes inside of a command are the shell's.
            let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            Some(inner.unwrap_or(value))
        }
        // `Match host x exec "CODE"`
        "match" => value.split_once("exec").map(|(_, code)| {
            let code = code.trim_matches(is_separator);
            code.strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or(code)
        }),
        "include" if included > 0 => {
            for file in value.split(|c: char| matches!(c, '=' | '"') || c.is_whitespace()) {
                let Stream::Text(printed) = analyzer.content(&Field::literal(file)) else { continue };
                let lines = printed.text.text.lines().map(Field::literal);
                lines.for_each(|line| ssh_setting(analyzer, &line, included - 1));
            }
            None
        }
        _ => None,
    };
    if let Some(code) = code {
        let code = setting.with(code);
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    }
}

/// `ssh-keygen`: shows a key, or makes one.
fn keys(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let shows = call.arguments.has(&["-l", "-y", "-e", "-B", "-L", "-F", "-Q", "-Y"]);
    // It makes and tests primes.
    if call.arguments.has(&["-M"]) {
        call.arguments.operands.iter().for_each(|file| analyzer.touch(Access::Write, file, call.command));
    }
    for file in call.arguments.values(&["-f"]) {
        if !shows {
            analyzer.touch(Access::Write, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}
