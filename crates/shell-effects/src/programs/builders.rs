//! Compilers, assemblers and linkers: what they write, and the source code that they are given. Programs that typeset a text, and
//! other builders, test runners and linters.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::harmless;
use crate::programs::languages::SourceLanguage;
use crate::programs::program::{OperandKind, Program, special};

pub(crate) const COMPILERS: &[Program] = &[
    special(&["c++", "cc", "clang", "clang++", "g++"], "", compile).language(SourceLanguage::Compiled),
    special(&["cpp"], "", preprocess).interprets(SourceLanguage::Compiled),
    special(&["as", "ld", "ld.bfd", "ld.gold", "ld.lld", "lld"], "", link),
];

/// Programs that typeset a text. The text may name other files and commands.
#[rustfmt::skip]
pub(crate) const TYPESETTERS: &[Program] = &[
    special(&["chem", "eqn", "grap", "groff", "neqn", "nroff", "pic", "soelim", "tbl", "troff"], "-f= -F= -I= -m= -M= -n= -o= -r= -T= -d= -L= -P= -w= -W= -K= -D=", typeset),
];

/// Test runners, linters and builders. What they do to files is unknown; rules that allow them compare their options.
#[rustfmt::skip]
pub(crate) const CHECKERS: &[Program] = &[
    Program::new(&["actionlint"]).options("- -shellcheck=x --shellcheck=x -pyflakes=x --pyflakes=x -config-file=f -init-config! --init-config!"),
    Program::new(&["ansible-playbook"]).options("-M=c --module-path=c --ssh-common-args=c --ssh-extra-args=c --scp-extra-args=c --sftp-extra-args=c --vault-password-file=x --vault-id=c --become-password-file=x --connection-password-file=x"),
    Program::new(&["bandit"]).options("-o=c -c=f -b=f --output=c --ini=f --configfile=f --baseline=f"),
    Program::new(&["bazel", "bazelisk"]).harmless(harmless::BAZEL),
    Program::new(&["cmake"]).options("- -B=p --build=p --prefix=p -P=f -C=f -E! --install=c --toolchain=f --graphviz=c --trace-redirect=c --profiling-output=c --debugger-pipe=c").operands(OperandKind::Directory),
    Program::new(&["coverage"]).harmless(harmless::COVERAGE),
    Program::new(&["ctest"]).harmless(harmless::CTEST),
    Program::new(&["dotnet"]).builds_project().harmless(harmless::DOTNET),
    Program::new(&["esbuild"]).options("--servedir=c --serve! --metafile=c --tsconfig=c --mangle-cache=c"),
    Program::new(&["flake8"]).only_checks(&[""]).harmless(harmless::FLAKE8),
    Program::new(&["golangci-lint"]).harmless(harmless::GOLANGCI),
    Program::new(&["just"]).options("-d=p -f=p --working-directory=p --justfile=p").operands(OperandKind::Target).harmless(harmless::JUST),
    Program::new(&["kustomize"]).options("-o=c --output=c --enable-helm! --enable-exec! --enable-alpha-plugins! --helm-command=x --load-restrictor=c"),
    Program::new(&["markdownlint", "markdownlint-cli2"]).harmless(harmless::MARKDOWNLINT),
    Program::new(&["mocha"]).builds_project().harmless(harmless::MOCHA),
    Program::new(&["ninja"]).options("-f=f -C=p -t=c").operands(OperandKind::Target),
    Program::new(&["nox"]).harmless(harmless::NOX),
    Program::new(&["pandoc"]).options("-o=c --output=c -F=x --filter=x -L=f --lua-filter=f --pdf-engine=x --pdf-engine-opt=c --extract-media=c -d=f --defaults=f --data-dir=c --log=c --template=f --syntax-definition=f"),
    Program::new(&["pdflatex", "lualatex", "xelatex"]).options("- -shell-escape! --shell-escape! -enable-write18! --enable-write18! -output-directory=c --output-directory=c -aux-directory=c -ini! -fmt=c -jobname=c"),
    Program::new(&["phpunit"]).harmless(harmless::PHPUNIT),
    Program::new(&["playwright"]).builds_project().harmless(harmless::PLAYWRIGHT),
    Program::new(&["pre-commit"]).harmless(harmless::PRE_COMMIT),
    Program::new(&["pyright", "basedpyright"]).only_checks(&[""]).harmless(harmless::PYRIGHT),
    Program::new(&["rake"]).harmless(harmless::RAKE),
    Program::new(&["rspec"]).harmless(harmless::RSPEC),
    Program::new(&["semgrep"]).harmless(harmless::SEMGREP),
    Program::new(&["sphinx-build"]).options("-c=c -D=c -A=c -w=c -d=c -C! --conf-dir=c --define=c --warning-file=c --doctree-dir=c"),
    Program::new(&["task"]).options("-d=p --dir=p -t=p --taskfile=p").operands(OperandKind::Target).harmless(harmless::TASK),
    Program::new(&["tox"]).harmless(harmless::TOX),
    Program::new(&["vite"]).options("-c=c --root=p"),
    Program::new(&["webpack", "rollup"]).options("-c=c -o=c -d=c -r=c -p=c --config=c --output-path=c --file=c --dir=c --watch.onStart=c --watch.onEnd=c"),
    Program::new(&["xsltproc"]).options("-o=c --output=c --writesubtree=c"),
    Program::new(&["yamllint"]).options("-c=f -d=c"),
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

/// `groff FILES`: their text names other files (`.so FILE`) and, with `-U`, runs commands (`.sy CODE`).
fn typeset(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut texts = vec![analyzer.input().clone()];
    for file in &call.arguments.operands {
        analyzer.reads(file, call.command);
        texts.push(analyzer.content(file));
    }
    for text in texts {
        let Stream::Text(printed) = text else { continue };
        for line in printed.text.text.lines() {
            let (request, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let file = Field::literal(rest.trim().trim_matches('"'));
            match request.trim_start_matches(['.', '\'']) {
                "copy" | "mso" | "so" => analyzer.reads(&file, call.command),
                "pso" | "sy" => analyzer.as_part(|analyzer| {
                    analyzer.subshell(|analyzer| analyzer.code(&Field::literal(rest), "sh"));
                }),
                // Its code is between two equal characters of any kind.
                "sh" => {
                    let inner = rest.trim().get(1..rest.trim().len().saturating_sub(1)).unwrap_or_default();
                    let code = Field::literal(inner);
                    analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
                }
                "open" | "opena" => {
                    let file = rest.split_whitespace().nth(1).unwrap_or_default();
                    analyzer.touch(Access::Write, &Field::literal(file), call.command);
                }
                _ => {}
            }
        }
    }
}
