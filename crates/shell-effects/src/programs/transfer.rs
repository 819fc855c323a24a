//! `curl` and `wget`: files that are sent and received.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;

pub(crate) fn curl(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    // A value behind `@` is a file that is sent.
    for data in
        arguments.values(&["-d", "--data", "--data-ascii", "--data-binary", "--json", "-H", "--header"])
    {
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
        if let Some(path) = url.text.strip_prefix("file://") {
            analyzer.touch(Access::Read, &url.with(path), call.command);
        }
        if keeps_names {
            analyzer.by_option("-O", |analyzer| downloaded(analyzer, call, url, directory.as_ref()));
        }
    }
}

pub(crate) fn wget(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    if let Some(file) = arguments.value(&["-O", "--output-document"]) {
        if file.text != "-" {
            fetched(analyzer, call, file);
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

/// A file of the same name as the last part of the address.
fn downloaded(analyzer: &mut Analyzer<'_>, call: &Call<'_>, url: &Field, directory: Option<&Field>) {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = match path.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => "index.html",
    };
    // A `?` in an address is no pattern.
    let file = match url.kind {
        FieldKind::Unknown => Field::unknown(name),
        _ => Field::literal(name),
    };
    let file = directory.map_or_else(|| file.clone(), |directory| inside(directory, &file));
    fetched(analyzer, call, &file);
}

/// A file whose content comes from elsewhere.
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
