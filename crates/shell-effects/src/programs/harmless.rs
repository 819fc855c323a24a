//! Options that neither run, load nor write anything, of programs that can do so by others. A rule that allows such a program allows
//! these; any other option it must name.

use crate::programs::arguments::{Flags, ValueForm, value_form};

/// An option that the list of its program does not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnlistedOption<'a> {
    /// Without its value, and without the flags that are joined with it.
    pub name: &'a str,
    /// The word that it is in.
    pub word: &'a str,
    /// A short flag after others in one word.
    pub flag: Option<char>,
}

/// The options that are not in `list`. `options` says which of those take a value. Like [`Flags`], with these differences: the text
/// after `=` is how a value must start, `=d` is a path inside of the current directory, and `=n` a name. `.` says that the options
/// end at the first operand, `..` at the second one, and `.run` where a script starts. `@` and `+` allow words that start so.
pub(crate) fn unlisted<'a>(list: Flags, options: Flags, words: &'a [String]) -> Vec<UnlistedOption<'a>> {
    let mut found = Vec::new();
    let (mut at, mut operands) = (0, Vec::new());
    while let Some(word) = words.get(at) {
        at += 1;
        if word == "--" {
            break;
        }
        if word.len() < 2 || !word.starts_with('-') {
            if is_special(list, word) {
                found.push(UnlistedOption { name: word, word, flag: None });
            }
            operands.push(word.as_str());
            if ends(list, &operands) {
                break;
            }
            continue;
        }
        let next = words.get(at).map(String::as_str);
        let read = if word.starts_with("--") || list.starts_with("- ") {
            long(list, options, word, next)
        } else {
            short(list, options, word, next)
        };
        at += usize::from(read.takes_next);
        found.extend(read.unlisted);
        // What follows is for the module or the code.
        if read.unlisted.is_some() && has(list, ".") && matches!(word.as_str(), "-m" | "-c") {
            break;
        }
    }
    found
}

struct ReadOption<'a> {
    unlisted: Option<UnlistedOption<'a>>,
    takes_next: bool,
}

fn long<'a>(list: Flags, options: Flags, word: &'a str, next: Option<&'a str>) -> ReadOption<'a> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let takes_next = value.is_none()
        && (value_form(list, name) == ValueForm::Next
            || !is_listed(list, name) && value_form(options, name) == ValueForm::Next);
    let value = value.or(if takes_next { next } else { None });
    // `-j4`.
    let counted = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_count = !name.starts_with("--") && counted.len() < name.len() && is_listed(list, counted);
    let is_fine = is_count || accepts(list, name, value);
    let unlisted = if is_fine { None } else { Some(UnlistedOption { name, word, flag: None }) };
    ReadOption { unlisted, takes_next }
}

fn short<'a>(list: Flags, options: Flags, word: &'a str, next: Option<&'a str>) -> ReadOption<'a> {
    for (at, c) in word.char_indices().skip(1) {
        let rest = word.get(at + c.len_utf8()..).unwrap_or_default();
        let name = format!("-{c}");
        let unlisted = Some(UnlistedOption { name: word.get(..2).unwrap_or(word), word, flag: Some(c) });
        if !is_listed(list, &name) && !c.is_ascii_digit() {
            return ReadOption {
                unlisted,
                takes_next: rest.is_empty() && value_form(options, &name) == ValueForm::Next,
            };
        }
        let takes_next = value_form(list, &name) == ValueForm::Next && rest.is_empty();
        let value = if takes_next { next } else { Some(rest).filter(|rest| !rest.is_empty()) };
        if value_form(list, &name) == ValueForm::Nothing {
            continue;
        }
        let unlisted = if accepts(list, &name, value) { None } else { unlisted };
        return ReadOption { unlisted, takes_next };
    }
    ReadOption { unlisted: None, takes_next: false }
}

fn has(list: Flags, token: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == token)
}

fn is_listed(list: Flags, name: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one.split(['=', '?']).next() == Some(name))
}

/// Whether the list has the option with such a value.
fn accepts(list: Flags, name: &str, value: Option<&str>) -> bool {
    let mut entries = list.split_ascii_whitespace().filter_map(|one| match one.split_once(['=', '?']) {
        Some((known, kind)) if known == name => Some((true, kind)),
        None if one == name => Some((false, "")),
        _ => None,
    });
    entries.any(|(takes_value, kind)| match (value, kind) {
        (None, _) => true,
        (Some(value), "d") => is_inside(value),
        (Some(value), "n") => is_name(value),
        (Some(value), _) if !takes_value => is_name(value),
        (Some(value), start) => value.starts_with(start),
    })
}

fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~', '$']) && !path.contains("://") && path.split('/').all(|part| part != "..")
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ',' | ':' | ' '))
}

/// Whether an operand is more than one: a file of options, or a command for a pager. `false` switches off the option before it.
fn is_special(list: Flags, word: &str) -> bool {
    match word.chars().next() {
        Some('@') => word.len() > 1 && !has(list, "@"),
        Some('+') => {
            let command = word.trim_start_matches('+');
            let moves = command.chars().all(|c| c.is_ascii_digit() || matches!(c, 'F' | 'G' | 'g'))
                || command.starts_with('/') && !command.contains(char::is_control);
            word.len() > 1 && !moves && !has(list, "+")
        }
        _ => word == "false",
    }
}

/// Whether the options end after these operands.
fn ends(list: Flags, operands: &[&str]) -> bool {
    let Some(first) = operands.first() else { return false };
    has(list, ".")
        || has(list, "..") && operands.len() > 1
        || has(list, ".run") && (operands.len() > 1 && *first == "run" || first.contains(['.', '/']))
}

pub(crate) const BAZEL: Flags = "-c=n -j= -k -s? -t -h --jobs= --keep_going --test_output= --test_filter= --test_arg= --nocache_test_results \
    --cache_test_results= --runs_per_test= --test_timeout= --test_tag_filters= --build_tag_filters= --compilation_mode= --verbose_failures \
    --color= --curses= --noshow_progress --show_progress --test_summary= --test_size_filters= --build_tests_only --flaky_test_attempts= \
    --nobuild --features= --define= --local_test_jobs= --announce_rc --output=n --noimplicit_deps --test_verbose_timeout_warnings";
pub(crate) const BLACK: Flags = "-v -q -h -l= -t= -S -C -W= --check --diff --color --no-color --line-length= --target-version= \
    --skip-string-normalization --skip-magic-trailing-comma --preview --unstable --fast --safe --workers= --exclude= --extend-exclude= \
    --force-exclude= --include= --quiet --verbose --required-version= --stdin-filename= --pyi --ipynb --version --help --line-ranges= \
    --no-cache";
pub(crate) const BUN: Flags = ".run @ -t= -v -h --coverage --bail? --timeout= --watch --hot --only --todo --rerun-each= \
    --test-name-pattern= --silent --if-present --filter= --verbose --no-install --smol --seed= --randomize --concurrent \
    --coverage-reporter=n --help --version --dots --only-failures --pass-with-no-tests --frozen-lockfile --production --dev -d -D -g -y \
    --exact --minify --target=n";
pub(crate) const CARGO: Flags = "+ @ -p= -j= -v -q -r -F= -V -h -i= -e= -d -E= -C=d --workspace --all --all-targets --all-features \
    --no-default-features --features= --package= --exclude= --bin= --bins --lib --test= --tests --example= --examples --bench= --benches \
    --doc --release --profile= --no-run --no-fail-fast --jobs= --locked --offline --frozen --verbose --quiet --color= --message-format= \
    --target=n --keep-going --no-deps --check --list --version --help --ignore-rust-version --depth= --invert= --edges= --duplicates \
    --prefix= --format= --format-version= --document-private-items --dry-run --precise= --recursive --limit= --dev --build --optional \
    --rename= --filterset= --partition= --retries= --no-capture --nocapture --success-output= --failure-output= --status-level= --test-threads= \
    --run-ignored= --final-status-level= --fail-fast --manifest-path=d --allow-dirty --allow-staged --aggressive --no-verify --tree";
pub(crate) const COVERAGE: Flags = "-m -i -h -p -a -q --show-missing --include= --omit= --fail-under= --skip-covered --skip-empty \
    --precision= --sort= --format=n --contexts= --ignore-errors --no-skip-covered --branch --source= --parallel-mode --append --help \
    --version --keep --timid --concurrency=n --module";
pub(crate) const CTEST: Flags = "- -R= -E= -L= -LE= -V -VV -Q -N -j= -C=n -I= -h --test-dir=d --output-on-failure --verbose --extra-verbose \
    --parallel --tests-regex= --exclude-regex= --rerun-failed --stop-on-failure --timeout= --repeat= --no-tests= --progress \
    --show-only --build-config=n --preset=n --schedule-random --label-regex= --quiet --version --help --no-label-summary";
pub(crate) const DENO: Flags = ".run @ -q -h -V --quiet --no-check --check --watch --filter= --fail-fast? --parallel --frozen \
    --cached-only --no-remote --no-npm --doc --shuffle? --trace-leaks --ignore= --reporter=n --permit-no-files --help --version \
    --line-width= --indent-width= --single-quote --compact --json";
pub(crate) const DOTNET: Flags = "-c=n -f=n -v=n -h --configuration=n --framework=n --verbosity=n --filter= --no-build --no-restore --nologo \
    -nologo --list-tests --blame --blame-hang --blame-hang-timeout= --interactive --os=n --arch=n -a=n --help --version --info --list-sdks \
    --list-runtimes --no-incremental --no-dependencies --self-contained --logger=console --logger=trx -l=console -l=trx --collect=XPlat \
    --verify-no-changes --outdated --include-transitive --vulnerable --use-current-runtime";
pub(crate) const EMACS: Flags = "- -nw -q -Q -n -c -t -r -batch --batch -nl -nsl --no-init-file --quick --no-window-system --no-splash --no-wait \
    --create-frame --tty --reuse-frame --no-site-file --no-site-lisp --version --help";
pub(crate) const ESLINT: Flags = "--no-fix -h -v -f=n --ext= --no-eslintrc --no-config-lookup --max-warnings= --quiet --no-color --color --debug \
    --cache --no-cache --cache-strategy=n --ignore-pattern= --no-ignore --report-unused-disable-directives \
    --report-unused-disable-directives-severity= --no-error-on-unmatched-pattern --no-inline-config --print-config= --format=n --env=n \
    --global= --rule= --stdin --stdin-filename= --no-warn-ignored --pass-on-no-patterns --pass-on-unpruned-suppressions \
    --exit-on-fatal-error --version --help --env-info --stats --concurrency= --fix-dry-run";
pub(crate) const FLAKE8: Flags = "-v -h -q -j= --version --help --max-line-length= --max-complexity= --select= --ignore= --extend-ignore= \
    --extend-select= --exclude= --extend-exclude= --filename= --format= --statistics --count --show-source --no-show-source --exit-zero \
    --per-file-ignores= --jobs= --benchmark --hang-closing --disable-noqa --max-doc-length= --indent-size= --color= --quiet --verbose \
    --stdin-display-name= --doctests --isolated";
pub(crate) const GDB: Flags = "- -q -quiet --quiet -silent -batch --batch -nx --nx -nh -n -p= -pid= --pid= -c= -core= --core= -args --args -tui --tui \
    -nw -version --version -help --help -h -b --no-lldbinit -X -a= --arch= -f= --file= -w --wait-for";
pub(crate) const GO: Flags = "- .run @ -v -run= -count= -race -short -timeout= -cover -coverpkg= -covermode= -bench= -benchmem -benchtime= \
    -cpu= -parallel= -p= -failfast -json -list= -shuffle= -skip= -tags= -vet= -msan -asan -a -n -x -trimpath -m -u -f= -e -deps -test \
    -compiled -find -retracted -versions -h -help --help -mod=vendor -mod=readonly -all -src -s -l -d -t -tool -go= -compat= -diff -buildvcs= -C=d \
    -fullpath -fuzztime= -changed -k";
pub(crate) const GOFMT: Flags = "- -l -d -s -e -r= -lang= -extra -local=";
pub(crate) const GOLANGCI: Flags = "-v -h -E= -D= -j= -e= -p= --enable= --disable= --timeout= --verbose --fast --fast-only --new \
    --new-from-rev= --new-from-merge-base= --no-config --tests= --build-tags= --presets= --enable-only= --concurrency= \
    --max-issues-per-linter= --max-same-issues= --out-format=n --color= --issues-exit-code= --disable-all --enable-all --show-stats \
    --allow-parallel-runners --help --version --sort-results --print-issued-lines= --print-linter-name= --exclude= --skip-dirs= \
    --skip-files= --whole-files";
pub(crate) const GRADLE: Flags = "-q -i -d -s -S -w -a -m -x= -t -h -v --quiet --info --debug --stacktrace --full-stacktrace --warn \
    --warning-mode= --no-daemon --daemon --stop --offline --parallel --no-parallel --build-cache --no-build-cache --configuration-cache \
    --no-configuration-cache --continue --dry-run --rerun-tasks --rerun --refresh-dependencies --console= --max-workers= --tests= \
    --exclude-task= --continuous --version --help --status --profile --all --configuration= --dependency= --no-rebuild -p=d --project-dir=d";
pub(crate) const ISORT: Flags = "-c -q -v -h -l= -w= -p= -o= -j= -m= --check --check-only --diff --profile= --df --quiet --verbose --skip= \
    --sg= --skip-glob= --line-length= --show-files --filter-files --stdout --known-first-party= --src= --color --gitignore --jobs= \
    --version --line-width= --multi-line= --trailing-comma --tc --force-sort-within-sections --float-to-top --show-config \
    --extend-skip= --extend-skip-glob= --py= --python-version= --atomic --only-modified";
pub(crate) const JEST: Flags = "-t= -b -i -w= -h -o -f --testNamePattern= --testPathPattern= --testPathPatterns= --bail? --coverage --collectCoverage \
    --verbose --silent --watch --watchAll --ci --runInBand --maxWorkers= --onlyChanged --onlyFailures --changedSince= \
    --passWithNoTests --no-coverage --no-cache --no-watchman --detectOpenHandles --forceExit --colors --color --no-color \
    --noStackTrace --listTests --showConfig --json --testTimeout= --runTestsByPath --findRelatedTests --logHeapUsage \
    --errorOnDeprecated --expand --randomize --seed= --shard= --selectProjects= --ignoreProjects= --testPathIgnorePatterns= \
    --coverageThreshold= --reporters=default --workerIdleMemoryLimit= --maxConcurrency= --collectCoverageFrom= --version --help --debug";
pub(crate) const JUST: Flags = "-l -n -q -s= -u -v -V -h -y --list --dry-run --quiet --show= --summary --unsorted --verbose --version --help --yes \
    --color= --evaluate --variables --groups --list-heading= --list-prefix= --no-deps --no-dotenv --no-highlight --highlight --one \
    --time --timestamp --usage= --explain --check";
pub(crate) const KUBECTL: Flags = "-n= -A -o=n -o=jsonpath= -o=custom-columns= -o=go-template= -l= -w -v= -f=d -L= -c= -p -R -h -i -t -q \
    --namespace= --all-namespaces --output=n --output=jsonpath= --output=custom-columns= --output=go-template= --selector= \
    --field-selector= --watch --watch-only --show-labels --sort-by= --no-headers --label-columns= --show-kind --chunk-size= \
    --ignore-not-found --context= --cluster= --request-timeout= --tail= --since= --since-time= --previous --follow --container= \
    --all-containers --timestamps --prefix --limit-bytes= --max-log-requests= --show-events --containers --short --client --help \
    --dry-run= --recursive --server-print --subresource= --timeout= --for= --stdin --tty --replicas= --filename=d --template= \
    --show-managed-fields --all --api-group= --namespaced= --verbs= --categories= --minify --flatten --types= --to-revision= --revision= \
    --current-replicas= --use-protocol-buffers --no-wait --wait= --cascade= --grace-period= --now --allow-missing-template-keys";
pub(crate) const LESS: Flags = "-N -R -S -F -X -i -I -n -M -m -q -Q -s -e -E -r -G -g -J -w -W -a -A -c -C -f -u -U -V -K -p= -x= -y= -z= \
    -h= -b= -j= -~ --help --version --quit-if-one-screen --no-init --RAW-CONTROL-CHARS --raw-control-chars --chop-long-lines \
    --LINE-NUMBERS --line-numbers --ignore-case --IGNORE-CASE --quit-at-eof --QUIT-AT-EOF --use-color --pattern= --tabs= --mouse --wheel-lines= \
    --incsearch --squeeze-blank-lines --force --quit-on-intr --silent --quiet --long-prompt --LONG-PROMPT --header= --wordwrap";
pub(crate) const MAKE: Flags = "-n -s -k -B -i -w -d -q -r -R -p -j? -l? -O? -W= -C=d --directory=d -h -v --jobs? --keep-going --silent --quiet \
    --dry-run --just-print --always-make --no-print-directory --print-directory --debug? --trace --version --help --output-sync? \
    --load-average? --no-builtin-rules --no-builtin-variables --warn-undefined-variables --question --ignore-errors --print-data-base --max-load?";
pub(crate) const MAN: Flags = "-k -f -K -w -W -a -i -I -s= -S= -u -d -L= -V -7 -e= -E= --apropos --whatis --where --path --locale= --regex \
    --wildcard --names-only --all --ignore-case --match-case --section= --sections= --no-hyphenation --nh --nj --no-justification \
    --ascii --no-subpages --help --usage --version --global-apropos --where-cat --update --extension= --encoding=";
pub(crate) const MARKDOWNLINT: Flags = "-h -V -q -j -s -i= --help --version --quiet --json --stdin --ignore= --disable= --enable= --dot --no-globs";
pub(crate) const MOCHA: Flags = "-b -g= -f= -i -t= -s= -c -C -w -p -j= -R=n -u=n -h -V -A -G --bail --grep= --fgrep= --invert --timeout= \
    --slow= --color --no-color --colors --watch --parallel --jobs= --reporter=n --recursive --exit --full-trace --check-leaks \
    --forbid-only --forbid-pending --retries= --sort --dry-run --ui=n --extension= --exclude= --ignore= --spec= --allow-uncaught \
    --async-only --delay --diff --no-diff --inline-diffs --list-reporters --list-interfaces --version --help --no-timeouts --pass-on-failing-test-suite";
pub(crate) const MORE: Flags = "-d -l -f -p -c -s -u -n= -V -h -e --help --version --squeeze --no-pause";
pub(crate) const MVN: Flags = "- -DskipITs -q -B -o -e -X -U -V -v -h -am -amd -fae -ff -fn -nsu -ntp -pl= -rf= -T= -P= -Dtest= -DskipTests -DskipTests= \
    -Dmaven.test.skip= -DfailIfNoTests= -Dsurefire.failIfNoSpecifiedTests= -Dverbose -Dincludes= -Dcheckstyle.skip -Dstyle.color= --quiet --batch-mode --offline --errors \
    --debug --update-snapshots --show-version --version --help --also-make --also-make-dependents --fail-at-end --fail-fast --fail-never \
    --no-transfer-progress --projects= --resume-from= --threads= --activate-profiles= --no-snapshot-updates --non-recursive -N";
pub(crate) const MYPY: Flags = "-v -h -V -p= -m= --strict --ignore-missing-imports --follow-imports= --no-incremental --incremental --show-error-codes \
    --hide-error-codes --pretty --no-pretty --show-column-numbers --show-error-context --show-error-end --show-absolute-path --no-error-summary --no-color-output --color-output \
    --exclude= --python-version= --platform= --namespace-packages --no-namespace-packages --explicit-package-bases --check-untyped-defs \
    --disallow-untyped-defs --disallow-incomplete-defs --disallow-any-generics --disallow-any-explicit --disallow-any-unimported --disallow-untyped-calls --disallow-untyped-decorators \
    --disallow-subclassing-any --no-implicit-optional --implicit-optional --no-implicit-reexport --implicit-reexport --strict-optional \
    --no-strict-optional --strict-equality --strict-bytes --warn-unused-ignores --no-warn-unused-ignores --warn-return-any --warn-redundant-casts --warn-unreachable \
    --warn-unused-configs --no-warn-no-return --local-partial-types --allow-redefinition --allow-untyped-globals --allow-untyped-defs --disable-error-code= \
    --enable-error-code= --package= --module= --version --help --stats --skip-version-check --no-site-packages --scripts-are-modules \
    --soft-error-limit= --verbose --extra-checks --output=json --fast-exit --report-deprecated-as-note";
pub(crate) const NODE: Flags = ". -v -h -c --max-old-space-size= --max-semi-space-size= --stack-size= --test --watch --no-warnings \
    --trace-warnings --trace-deprecation --no-deprecation --enable-source-maps --stack-trace-limit= --unhandled-rejections= --version \
    --help --expose-gc --throw-deprecation --pending-deprecation --preserve-symlinks --check --test-name-pattern= --test-skip-pattern= --test-only \
    --test-concurrency= --test-timeout= --test-reporter=n --test-shard= --experimental-test-coverage --experimental-vm-modules \
    --experimental-strip-types --experimental-transform-types --no-experimental-strip-types --experimental-modules \
    --experimental-json-modules --experimental-specifier-resolution=n --experimental-sqlite --experimental-test-module-mocks --input-type=n --v8-options \
    --trace-uncaught --abort-on-uncaught-exception --test-force-exit --disable-warning=n --harmony --conditions=n -C=n --tsconfig=d -T";
pub(crate) const NOX: Flags = "-s= -e= -k= -t= -l -r -R -h -p= -v -x --session= --sessions= --keywords= --tags= --list --list-sessions \
    --reuse-existing-virtualenvs --reuse-venv= --no-install --stop-on-first-error --error-on-missing-interpreters --non-interactive --nocolor \
    --no-color --forcecolor --python= --pythons= --verbose --version --help --json --usage=";
pub(crate) const PERL: Flags = ". -w -W -c -v -V -h -T -t -X -s -n -p -a -l? -0? -F? -I=d";
pub(crate) const PHP: Flags = ". -l -v -i -m -h -n -q -w -s --version --help --ri= --rf= --rc= --info --modules --ini --syntax-check \
    -d=memory_limit -d=display_errors -d=error_reporting -d=xdebug.mode -d=max_execution_time -d=date.timezone --no-php-ini";
pub(crate) const PHPUNIT: Flags = "-v -h --filter= --exclude-filter= --group= --exclude-group= --testsuite= --exclude-testsuite= --stop-on-failure \
    --stop-on-error --stop-on-defect --stop-on-warning --testdox --debug --verbose --colors --colors= --no-coverage --list-tests --list-suites --list-groups \
    --order-by= --random-order --random-order-seed= --repeat= --columns= --no-progress --no-output --no-logging --display-deprecations \
    --display-warnings --display-notices --display-errors --display-skipped --display-incomplete --display-all-issues \
    --fail-on-warning --fail-on-risky --fail-on-deprecation --fail-on-notice --fail-on-skipped --fail-on-incomplete --fail-on-empty-test-suite \
    --process-isolation --teamcity --version --help --covers= --uses= --strict-coverage --strict-global-state --disallow-test-output --no-interaction \
    --enforce-time-limit --default-time-limit= --reverse-list --cache-result --do-not-cache-result --coverage-text";
pub(crate) const PLAYWRIGHT: Flags = "-g= -x -j= -h -V --headed --debug --grep= --grep-invert= --project= --workers= --reporter=n --retries= \
    --max-failures= --timeout= --repeat-each= --shard= --list --forbid-only --fully-parallel --quiet --trace=n --last-failed \
    --only-changed? --pass-with-no-tests --no-deps --browser=n --with-deps --dry-run --version --help";
pub(crate) const PRE_COMMIT: Flags = "-a -v -h -s= -o= --all-files --files --hook-stage= --show-diff-on-failure --from-ref= --to-ref= \
    --source= --origin= --color= --verbose --help --version --fail-fast --freeze --bleeding-edge";
pub(crate) const PRETTIER: Flags = "@ -c -l -u -h --check --list-different --ignore-unknown --no-config --log-level= --loglevel= --no-color \
    --color --version --help --no-editorconfig --with-node-modules --no-error-on-unmatched-pattern --parser=n --single-quote --no-semi \
    --semi --tab-width= --print-width= --trailing-comma= --end-of-line= --arrow-parens= --prose-wrap= --use-tabs --bracket-spacing \
    --no-bracket-spacing --bracket-same-line --stdin-filepath= --cache --cache-strategy=n --support-info --file-info= --find-config-path= \
    --ignore-path=d --debug-check --config-precedence=n --jsx-single-quote --quote-props=n --html-whitespace-sensitivity=n";
pub(crate) const PYLINT: Flags = "-j= -r= -E -e= -d= -v -h -s= -f=n --version --help --jobs= --reports= --errors-only --disable= --enable= \
    --score= --fail-under= --fail-on= --recursive= --ignore= --ignore-paths= --ignore-patterns= --output-format=n --msg-template= \
    --max-line-length= --py-version= --persistent= --verbose --list-msgs --list-extensions --list-msgs-enabled --help-msg= --confidence= --max-args= \
    --good-names= --ignored-modules= --ignored-classes= --exit-zero --from-stdin --disable-all --min-similarity-lines= --clear-cache-post-run=";
pub(crate) const PYRIGHT: Flags = "-h -w -p=d --project=d --version --help --stats --outputjson --verbose --warnings --level= --pythonversion= \
    --pythonplatform= --dependencies --skipunannotated --watch --threads?";
pub(crate) const PYTEST: Flags = "-v -q -x -s -l -h -V -k= -m= -r= -n= -W= -p=no: --verbose --quiet --exitfirst --capture= --showlocals \
    --no-showlocals --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --sw-skip --stepwise-skip --tb= --maxfail= --durations= \
    --durations-min= --co --collect-only --no-header --no-summary --color= --strict --strict-markers --strict-config --markers \
    --fixtures --fixtures-per-test --version --help --cov? --cov-fail-under= --cov-branch --no-cov --no-cov-on-fail --cov-append \
    --cov-report=term --numprocesses= --maxprocesses= --dist= --timeout= --reruns= --reruns-delay= --asyncio-mode= --disable-warnings \
    --disable-pytest-warnings --deselect= --ignore= --ignore-glob= --import-mode=n --full-trace --show-capture= --setup-show \
    --setup-plan --setup-only --runxfail --benchmark-skip --benchmark-only --benchmark-disable --cache-show? --randomly-seed= \
    --randomly-dont-reorganize --random-order --hypothesis-seed= --hypothesis-profile= --hypothesis-show-statistics --create-db --reuse-db --nomigrations \
    --no-migrations --log-level= --log-cli-level= --code-highlight= --verbosity= --no-fold-skipped --force-short-summary \
    --last-failed-no-failures= --lfnf= --doctest-modules --doctest-glob= --doctest-continue-on-failure --keep-duplicates --pyargs \
    --browser=n --headed --slowmo= --screenshot=n --video=n --tracing=n --rootdir=d --instafail --count= --forked --picked --testmon --runslow --slow \
    --run-slow --integration --update-snapshots=none --snapshot-details --xfail-tb --setup-timeout=";
pub(crate) const PYTHON: Flags =
    ". -u -B -O -E -s -S -I -b -q -v -V -h -P -W=n -X=n --version --help --check-hash-based-pycs=n";
pub(crate) const RAKE: Flags = "-n -q -s -t -v -P -T? -A -D? -W? -j? -m -h -V -N --dry-run --quiet --silent --trace --verbose --prereqs --tasks \
    --all --describe --where --jobs --multitask --help --version --rules --backtrace? --job-stats? --nosearch --build-all -B -G --no-system";
pub(crate) const RSPEC: Flags = "-b -c -e= -E= -p? -t= -v -w -h -f=n -fd -fp -fj --backtrace --color --colour --force-color --no-color \
    --example= --example-matches= --fail-fast? --no-fail-fast --failure-exit-code= --format=n --only-failures --next-failure -n --order= \
    --seed= --profile? --no-profile --tag= --version --help --warnings --dry-run --pattern=d -P=d --exclude-pattern= --deprecation-out=stderr";
pub(crate) const RUBOCOP: Flags = "-D -E -F -L -P -S -d -h -l -q -v -V -f=n --display-cop-names --extra-details --fail-fast --list-target-files \
    --parallel --no-parallel --display-style-guide --debug --help --lint --version --format=n --only= --except= --fail-level= --cache= --force-exclusion \
    --lint --safe --no-color --color --show-cops? --list-enabled-cops --stdin= -s= --ignore-disable-comments --display-only-fail-level-offenses \
    --display-only-correctable --only-guide-cops --ignore-parent-exclusion --ignore-unrecognized-cops --no-server --format=n -x?";
pub(crate) const RUBY: Flags = ". -w -W? -v -c -h -d -U -E= -K? --version --help --verbose --yjit --jit --disable=n --enable=n --debug -I=d";
pub(crate) const RUFF: Flags = "@ -v -q -s -n -h -e --verbose --quiet --silent --no-cache --isolated --select= --ignore= --extend-select= \
    --extend-ignore= --extend-exclude= --exclude= --per-file-ignores= --statistics --show-files --show-settings --output-format= \
    --target-version= --preview --no-preview --diff --exit-zero --exit-non-zero-on-fix --no-fix --line-length= --respect-gitignore \
    --no-respect-gitignore --force-exclude --stdin-filename= --watch --check --help --version --color= --range= --show-fixes --all \
    --ignore-noqa --no-unsafe-fixes --exit-non-zero-on-format --unsafe-fixes --direction= --min-dots=";
pub(crate) const RUSTC: Flags = "-V -v -h -O -g -A= -D= -W= -F= --version --help --print= --explain= --edition= --crate-type= --crate-name= --cfg= \
    --check-cfg= --cap-lints= --color= --error-format= --test --verbose";
pub(crate) const SEMGREP: Flags = "-l= -q -v -h -j= -e= --lang= --pattern= --quiet --verbose --json --sarif --text --error --no-error --strict --severity= \
    --exclude= --include= --exclude-rule= --metrics= --timeout= --max-memory= --jobs= --no-git-ignore --max-target-bytes= --dryrun \
    --version --help --no-rewrite-rule-ids --disable-version-check --baseline-commit= --config=auto --config=p/ -f=p/ --time --validate";
pub(crate) const SSH: Flags = ".. -p= -v -q -t -T -4 -6 -n -x -X -Y -a -A -l= -C -N -G -V -b= -i= -o=BatchMode -o=ConnectTimeout \
    -o=StrictHostKeyChecking -o=LogLevel -o=ServerAliveInterval -o=ServerAliveCountMax -o=ConnectionAttempts";
pub(crate) const STYLELINT: Flags = "-h -v -q -s= -f=n --quiet --version --help --color --no-color --formatter=n --max-warnings= --mw= \
    --allow-empty-input --aei --ignore-pattern= --ip= --cache --cache-strategy=n --report-needless-disables --rd \
    --report-descriptionless-disables --dd --report-invalid-scope-disables --risd --disable-default-ignores --di --stdin \
    --stdin-filename= --ignore-disables --id --print-config --quiet-deprecation-warnings";
pub(crate) const SWIFT: Flags = "-c=n -v -q -j= -h --configuration=n --filter= --skip= --parallel --no-parallel --num-workers= --list-tests --enable-code-coverage \
    --show-codecov-path --skip-build --verbose --quiet --very-verbose --product= --target= --jobs= --version --help --sanitize=n \
    --test-product= --enable-testable-imports --skip-update --disable-automatic-resolution --show-bin-path --build-tests --package-path=d";
pub(crate) const TASK: Flags = "-l -a -n -v -s -f -p -y -h -w -C= -j --list --list-all --dry --verbose --silent --force --parallel --yes --help --version --watch \
    --summary --status --color --concurrency= --json --sort= -c --exit-code -x -d=d --dir=d";
pub(crate) const TOX: Flags = "-e= -q -v -p=n -l -a -r -h -f= -s= -m= --recreate --list --listenvs --listenvs-all --skip-missing-interpreters? --parallel? \
    --parallel-no-spinner --colored= --notest --skip-pkg-install --no-recreate-pkg --quiet --verbose --version --help --fail-fast \
    --skip-env= --no-list-dependencies --list-dependencies --exit-and-dump-after=";
pub(crate) const TSC: Flags = "- --noEmit -noEmit --watch -w --pretty --skipLibCheck --strict -h --help -v --version --listFiles --listFilesOnly \
    --diagnostics --extendedDiagnostics --traceResolution --showConfig --explainFiles --noErrorTruncation --preserveWatchOutput \
    --target= -t= --module= -m= --lib= --jsx= --moduleResolution= --esModuleInterop --allowJs --checkJs --noImplicitAny \
    --strictNullChecks --noUnusedLocals --noUnusedParameters --noImplicitReturns --resolveJsonModule --isolatedModules --types= \
    --noEmitOnError --verbose --dry --allowImportingTsExtensions --experimentalDecorators --downlevelIteration --ignoreConfig -p=d --project=d";
pub(crate) const VI: Flags = "-R -n -d -b -p? -o? -O? -N -C -y -Z -m -M -h -X -e -E -v -x -A -H -f -g -L -r -D --version --noplugin --clean \
    --help --not-a-term --literal --nofork --headless";
pub(crate) const VITEST: Flags = "-t= -h -w -v --run --watch --testNamePattern= --reporter=n --coverage --coverage.enabled --coverage.provider=n \
    --coverage.reporter=n --coverage.include= --coverage.exclude= --coverage.all --no-coverage --bail= --silent --pool=n --changed? \
    --passWithNoTests --hideSkippedTests --no-color --color --globals --isolate --no-isolate --no-file-parallelism --fileParallelism \
    --maxWorkers= --minWorkers= --maxConcurrency= --testTimeout= --hookTimeout= --retry= --shard= --project= --exclude= --logHeapUsage \
    --allowOnly --dom --typecheck --typecheck.only --sequence.shuffle --sequence.seed= --mode=n --version --help --clearScreen --no-watch --no-threads \
    --threads --single-thread --expandSnapshotDiff --disable-console-intercept --standalone --related --staged";

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: Flags, options: Flags, text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let found = unlisted(list, options, &words);
        found.iter().map(|one| one.word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_outside_of_the_list_are_found() {
        let list = "-v -k= -p=no: -C=d -r? --tb= --cov? --mode=n";
        for (text, expected) in [
            ("-v -k x tests", ""),
            ("-vk -x", ""),
            ("-vx", "-vx"),
            ("-p no:cache -pno:x", ""),
            ("-p evil", "-p"),
            ("-C sub -C /x -C ../x", "-C -C"),
            ("--tb=short --tb short --cov=src", ""),
            ("--mode=fast --mode=./x", "--mode=./x"),
            ("--evil x -- --more", "--evil"),
            ("-v @file +!x +G +12 +/x false", "@file +!x false"),
            ("-3 -", ""),
        ] {
            assert_eq!(names(list, "", text), expected, "{text}");
        }
        assert_eq!(names(". -u", "-r=", "-u x.py --evil"), "");
        assert_eq!(names(". -u", "-r=", "-r a -r b x.py --evil"), "-r -r");
        assert_eq!(names(". -u", "", "-m pytest -p x"), "-m");
        assert_eq!(names(".. -p=", "", "host -F f ls -l"), "-F");
        assert_eq!(names("- .run -v -count=", "", "test -count=1 -exec=x"), "-exec=x");
        assert_eq!(names("- .run -v", "", "run . -port 80"), "");
    }
}
