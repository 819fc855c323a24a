//! Test runners, linters and builders. What they do to files is unknown; rules that allow them compare their options.

use crate::programs::harmless;
use crate::programs::program::Program;

#[rustfmt::skip]
pub(crate) const CHECKERS: &[Program] = &[
    Program::new(&["actionlint"]).options("- -shellcheck=x --shellcheck=x -pyflakes=x --pyflakes=x -config-file=f -init-config! --init-config!"),
    Program::new(&["ansible-playbook"]).options("-M=c --module-path=c --ssh-common-args=c --ssh-extra-args=c --scp-extra-args=c --sftp-extra-args=c --vault-password-file=x --vault-id=c --become-password-file=x --connection-password-file=x"),
    Program::new(&["bandit"]).options("-o=c -c=f -b=f --output=c --ini=f --configfile=f --baseline=f"),
    Program::new(&["bazel", "bazelisk"]).harmless(harmless::BAZEL),
    Program::new(&["cmake"]).options("- -P=f -C=f -E! --install=c --toolchain=f --graphviz=c --trace-redirect=c --profiling-output=c --debugger-pipe=c"),
    Program::new(&["coverage"]).harmless(harmless::COVERAGE),
    Program::new(&["ctest"]).harmless(harmless::CTEST),
    Program::new(&["dotnet"]).harmless(harmless::DOTNET),
    Program::new(&["esbuild"]).options("--servedir=c --serve! --metafile=c --tsconfig=c --mangle-cache=c"),
    Program::new(&["flake8"]).harmless(harmless::FLAKE8),
    Program::new(&["golangci-lint"]).harmless(harmless::GOLANGCI),
    Program::new(&["just"]).harmless(harmless::JUST),
    Program::new(&["kustomize"]).options("-o=c --output=c --enable-helm! --enable-exec! --enable-alpha-plugins! --helm-command=x --load-restrictor=c"),
    Program::new(&["markdownlint", "markdownlint-cli2"]).harmless(harmless::MARKDOWNLINT),
    Program::new(&["mocha"]).harmless(harmless::MOCHA),
    Program::new(&["ninja"]).options("-f=f -C=p -t=c"),
    Program::new(&["nox"]).harmless(harmless::NOX),
    Program::new(&["pandoc"]).options("-o=c --output=c -F=x --filter=x -L=f --lua-filter=f --pdf-engine=x --pdf-engine-opt=c --extract-media=c -d=f --defaults=f --data-dir=c --log=c --template=f --syntax-definition=f"),
    Program::new(&["pdflatex", "lualatex", "xelatex"]).options("- -shell-escape! --shell-escape! -enable-write18! --enable-write18! -output-directory=c --output-directory=c -aux-directory=c -ini! -fmt=c -jobname=c"),
    Program::new(&["phpunit"]).harmless(harmless::PHPUNIT),
    Program::new(&["playwright"]).harmless(harmless::PLAYWRIGHT),
    Program::new(&["pre-commit"]).harmless(harmless::PRE_COMMIT),
    Program::new(&["pyright", "basedpyright"]).harmless(harmless::PYRIGHT),
    Program::new(&["rake"]).harmless(harmless::RAKE),
    Program::new(&["rspec"]).harmless(harmless::RSPEC),
    Program::new(&["semgrep"]).harmless(harmless::SEMGREP),
    Program::new(&["sphinx-build"]).options("-c=c -D=c -A=c -w=c -d=c -C! --conf-dir=c --define=c --warning-file=c --doctree-dir=c"),
    Program::new(&["task"]).harmless(harmless::TASK),
    Program::new(&["tox"]).harmless(harmless::TOX),
    Program::new(&["vite"]).options("-c=c --root=p"),
    Program::new(&["webpack", "rollup"]).options("-c=c -o=c -d=c -r=c -p=c --config=c --output-path=c --file=c --dir=c --watch.onStart=c --watch.onEnd=c"),
    Program::new(&["xsltproc"]).options("-o=c --output=c --writesubtree=c"),
    Program::new(&["yamllint"]).options("-c=f -d=c"),
];
