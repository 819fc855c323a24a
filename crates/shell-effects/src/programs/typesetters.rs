//! Programs that typeset a text. The text may name other files and commands.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::program::{Program, special};

#[rustfmt::skip]
pub(crate) const TYPESETTERS: &[Program] = &[
    special(&["chem", "eqn", "grap", "groff", "neqn", "nroff", "pic", "soelim", "tbl", "troff"], "-f= -F= -I= -m= -M= -n= -o= -r= -T= -d= -L= -P= -w= -W= -K= -D=", typeset),
];

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
