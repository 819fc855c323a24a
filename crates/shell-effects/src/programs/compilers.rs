//! Compilers, assemblers and linkers: what they write, and the source code that they are given.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::programs::arguments::Call;
use crate::programs::languages::SourceLanguage;
use crate::programs::program::{Program, special};

pub(crate) const COMPILERS: &[Program] = &[
    special(&["c++", "cc", "clang", "clang++", "g++"], "", compile).language(SourceLanguage::Compiled),
    special(&["cpp"], "", preprocess).interprets(SourceLanguage::Compiled),
    special(&["as", "ld", "ld.bfd", "ld.gold", "ld.lld", "lld"], "", link),
];

/// Options of compilers, assemblers and linkers whose value is a file that they write: as the next word, or in the same one.
const COMPILED_TO: &[&str] =
    &["-o", "-MF", "-MJ", "--output", "-Map", "--dependency-file", "-serialize-diagnostics"];
const COMPILED_TO_ATTACHED: &[&str] =
    &["--output=", "-Map=", "--Map=", "--dependency-file=", "-a=", "-al=", "--MD="];

/// Starts of options that load code, or more options.
const LOADING: [&str; 9] =
    ["-fplugin", "-specs=", "--specs=", "-B", "@", "-Wl,-plugin", "-Wl,--plugin", "-fuse-ld=/", "-load"];

/// A compiler: source files that this script wrote are read as code, and so is its input.
fn compile(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    link(analyzer, call);
    let loads = |field: &&Field| LOADING.iter().any(|start| field.text.starts_with(start));
    for field in call.fields.iter().skip(1).filter(loads) {
        analyzer.acts_by(&field.text, call.command);
    }
    // `-wrapper PROGRAM,ARGUMENT`.
    for words in call.fields.windows(2) {
        if let [option, wrapper] = words
            && matches!(option.text.as_str(), "-wrapper" | "--wrapper")
        {
            let words: Vec<Field> = wrapper.text.split(',').map(Field::literal).collect();
            analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
    }
    if call.arguments.operands.iter().any(|operand| operand.text == "-")
        || call.fields.iter().any(|field| field.text == "-")
    {
        analyzer.code_from_input("c", Language::Other);
    }
}

/// The preprocessor, which reads its input if it has no file.
fn preprocess(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    compile(analyzer, call);
    if call.arguments.operands.is_empty() {
        analyzer.code_from_input("c", Language::Other);
    }
}

/// A program that writes what is compiled. Its options may be some for another one: `-Wa,-al=FILE`, `-Wl,-Map,FILE`.
fn link(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    let words = call.fields.iter().skip(1).flat_map(|field| {
        let parts = field.text.strip_prefix("-Wa,").or_else(|| field.text.strip_prefix("-Wl,"));
        match parts {
            Some(parts) => parts.split(',').map(|part| field.with(part)).collect(),
            None => vec![field.clone()],
        }
    });
    let words: Vec<Field> = words.collect();
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let attached = COMPILED_TO_ATTACHED.iter().find_map(|option| text.strip_prefix(option));
        let dumped =
            || text.strip_prefix("-fdump-").and_then(|rest| rest.split_once('=')).map(|(_, file)| file);
        let joined = || text.strip_prefix("-o").filter(|file| !file.is_empty() && !file.starts_with("bjc"));
        let file = match attached.or_else(dumped).or_else(joined) {
            Some(file) => Some(word.with(file)),
            None if COMPILED_TO.contains(&text) => words.get(at + 1).cloned(),
            None => None,
        };
        if let Some(file) = file.filter(|file| file.text != "-") {
            analyzer.touch(Access::Write, &file, call.command);
        }
    }
}
