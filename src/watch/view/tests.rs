use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::keys::Key;
use super::super::model::tests::example;
use super::super::model::{Limits, Model};
use super::super::rows::RowId;
use super::*;
use conclaude_core::config::PriceTable;

/// What is on a screen of this size after these keys.
fn screen(model: &Model, clock: &Clock, size: (u16, u16), keys: &[Key]) -> String {
    let backend = drawn(&Drawing { model, clock, size, has_colours: true }, keys);
    let lines = backend.buffer().content().chunks(usize::from(size.0));
    let line = |cells: &[ratatui::buffer::Cell]| -> String {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned()
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

struct Drawing<'a> {
    model: &'a Model,
    clock: &'a Clock,
    size: (u16, u16),
    has_colours: bool,
}

/// The screen after these keys.
fn drawn(drawing: &Drawing<'_>, keys: &[Key]) -> TestBackend {
    let Drawing { model, clock, size, has_colours } = *drawing;
    let mut app = App::new();
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let empty = [
        "Nothing to watch yet.".to_owned(),
        "`conclaude init` registers it, which is a long sentence.".to_owned(),
    ];
    let mut keys = keys.iter();
    loop {
        let rows = model.rows(clock, &app.filter);
        let screen =
            View { model, rows: &rows, clock, project: "greeting", notice: None, empty: &empty, has_colours };
        terminal.draw(|frame| draw(&screen, &mut app, frame.area(), frame.buffer_mut())).unwrap();
        match keys.next() {
            Some(key) => app.key(*key, &rows),
            None => return terminal.backend().clone(),
        };
    }
}

fn typed(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

#[test]
fn the_screen_at_80_by_24() {
    let (model, clock) = example();
    insta::assert_snapshot!(screen(&model, &clock, (80, 24), &[]), @r#"
     conclaude watch · greeting           1 session, 1 agent, 2 at work · following
     ● session s1 · Execute step 01-01 of the project greeting.    2026-01-31 12:00
       ● main thread · Agent Write greeting                                    19 s
         · 12:00:00 prompt: Execute step 01-01 of the project greeting.
         ✓ 12:00:02 PreToolUse Agent of coder step 01-01 allowed               0 ms
       ● coder "Write g…" · step 01-01 1/3 GREEN · Bash npm run fix · 1 block … 6 s
         ✗ 12:00:05 PreToolUse Write Cargo.lock denied: Lock files are generated. (…
         ✓ 12:00:09 des run RED PASS: `npm test` exited with code 1           2.3 s
    >    ✗ 12:00:13 SubagentStop blocked (1 of 3): `npm run lint` exited wit… 2.0 s
           ✗ `npm run lint` exited with code 1                                1.2 s
           ✓ `npm test` passed                                             1 m 01 s












     q quit · ? help · ↑↓ select · Enter details · / filter · f follow
    "#);
}

#[test]
fn the_screen_at_120_by_40_with_details() {
    let (model, clock) = example();
    insta::assert_snapshot!(screen(&model, &clock, (120, 40), &[Key::Enter]), @r#"
     conclaude watch · greeting                                                   1 session, 1 agent, 2 at work · following
     ● session s1 · Execute step 01-01 of the project greeting.                                            2026-01-31 12:00
       ● main thread · Agent Write greeting                                                                            19 s
         · 12:00:00 prompt: Execute step 01-01 of the project greeting.
         ✓ 12:00:02 PreToolUse Agent of coder step 01-01 allowed                                                       0 ms
       ● coder "Write greeting" · step 01-01 1/3 GREEN · Bash npm run fix · 1 block · 1 denial                          6 s
         ✗ 12:00:05 PreToolUse Write Cargo.lock denied: Lock files are generated. (.conclaude.yaml:7)
         ✓ 12:00:09 des run RED PASS: `npm test` exited with code 1                                                   2.3 s
    >    ✗ 12:00:13 SubagentStop blocked (1 of 3): `npm run lint` exited with code 1                                  2.0 s
           ✗ `npm run lint` exited with code 1                                                                        1.2 s
           ✓ `npm test` passed                                                                                     1 m 01 s









    ── details ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
     time            2026-01-31 12:00:13
     took            2.0 s
     event           SubagentStop
     decision        blocked
     blocks          1 of 3
     command         `npm run lint` exited with code 1 (1.2 s)
     command         `npm test` passed (1 m 01 s)
     step            steps/01-01.json
     agent           coder
     agent id        a1
     session         s1
     record          7; `conclaude why 7` explains it






     Esc closes the details · PgUp PgDn scroll them                                                         q quit · ? help
    "#);
}

#[test]
fn the_screen_at_40_by_10() {
    let (model, clock) = example();
    insta::assert_snapshot!(screen(&model, &clock, (40, 10), &[]), @r#"
     conclaude watch · greeting
     ● session s1 · Execu… 2026-01-31 12:00
       ● main thread · Agent Write gr… 19 s
         · prompt: Execute step 01-01 of th…
         ✓ PreToolUse Agent of coder … 0 ms
       ● coder "Write g…" · step 01-01… 6 s
         ✗ PreToolUse Write Cargo.lock deni…
         ✓ des run RED PASS: `npm te… 2.3 s
    >    ✗ SubagentStop blocked (1 o… 2.0 s
     q quit · ? help · ↑↓ select · Enter d…
    "#);
    insta::assert_snapshot!(screen(&model, &clock, (40, 10), &[Key::Enter, Key::PageDown]), @"
     conclaude watch · greeting
    ── details ─────────────────────────────
     command: `npm test` passed (1 m 01 s)
     step: steps/01-01.json
     agent: coder
     agent id: a1
     session: s1
     record: 7; `conclaude why 7` explains
     it
     Esc closes the details · PgUp PgDn scr…
    ");
}

#[test]
fn the_help_and_the_filter() {
    let (model, clock) = example();
    insta::assert_snapshot!(screen(&model, &clock, (80, 12), &typed("?")), @"
    conclaude watch · greeting           1 session, 1 agent, 2 at work · following
    ↑ ↓  k j        select the row above, below
    PgUp PgDn       a page; in the details, scroll them
    Home End  g G   the first row, the last row
    f               follow the newest row, or stop that
    Enter           open or close the details of the row
    /               show only rows with a text; Enter keeps, Esc clears it
    Esc             close the details, then clear the filter
    ?               this help
    q  Ctrl-C       quit
    ✓ ✗ ⚠ ● ○ ·     good, blocked or failed, warning, running, quiet, note
    any other key closes the help                                           q quit
    ");
    insta::assert_snapshot!(screen(&model, &clock, (80, 8), &typed("/lint")), @r#"
     conclaude watch · greeting           1 session, 1 agent, 2 at work · following
     ● session s1 · Execute step 01-01 of the project greeting.    2026-01-31 12:00
       ● coder "Write g…" · step 01-01 1/3 GREEN · Bash npm run fix · 1 block … 6 s
    >    ✗ 12:00:13 SubagentStop blocked (1 of 3): `npm run lint` exited wit… 2.0 s
           ✗ `npm run lint` exited with code 1                                1.2 s
           ✓ `npm test` passed                                             1 m 01 s

     /lint▏                                          Enter keeps it · Esc clears it
    "#);
    let nothing = [typed("/zzz"), vec![Key::Enter]].concat();
    insta::assert_snapshot!(screen(&model, &clock, (80, 4), &nothing), @r#"
    conclaude watch · greeting           1 session, 1 agent, 2 at work · following
    No row contains "zzz". Esc clears the filter.

    /zzz  0 rows                                   Esc clears it · q quit · ? help
    "#);
}

#[test]
fn the_help_can_be_read_on_a_small_screen() {
    let (model, clock) = example();
    insta::assert_snapshot!(screen(&model, &clock, (30, 5), &typed("?")), @"
    conclaude watch · greeting
    ↑ ↓  k j
      select the row above, below
    PgUp PgDn         24 more: ↓
    any other key closes the help
    ");
    let down = [typed("?"), vec![Key::PageDown, Key::Down, Key::Down]].concat();
    insta::assert_snapshot!(screen(&model, &clock, (30, 5), &down), @"
    conclaude watch · greeting
    Home End  g G
      the first row, the last row
    f                 19 more: ↓
    any other key closes the help
    ");
}

#[test]
fn where_there_is_nothing_it_says_what_to_do() {
    let (_, clock) = example();
    insta::assert_snapshot!(screen(&Model::new(Limits::RECENT, None, PriceTable::default()), &clock, (40, 6), &[]), @"
    conclaude watch · greeting
    Nothing to watch yet.
    `conclaude init` registers it, which
    is a long sentence.

    q quit · ? help · ↑↓ select · Enter d…
    ");
}

#[test]
fn no_size_is_too_small() {
    let (model, clock) = example();
    for (width, height) in [(1, 1), (3, 9), (4, 1), (5, 2), (12, 3), (20, 4), (200, 1)] {
        for keys in [typed(""), typed("?"), typed("/x"), vec![Key::Enter, Key::End, Key::PageDown]] {
            let size = (width, height);
            let screen = drawn(&Drawing { model: &model, clock: &clock, size, has_colours: true }, &keys);
            assert_eq!(screen.buffer().content.len(), usize::from(width * height));
        }
    }
}

#[test]
fn colours_are_of_the_terminals_palette_and_only_where_they_are_wanted() {
    let (model, clock) = example();
    let colours = |has_colours: bool| -> std::collections::BTreeSet<String> {
        let drawing = Drawing { model: &model, clock: &clock, size: (80, 24), has_colours };
        let drawn = drawn(&drawing, &[]);
        let cells = drawn.buffer().content();
        cells.iter().flat_map(|cell| [format!("{:?}", cell.fg), format!("on {:?}", cell.bg)]).collect()
    };
    assert_eq!(colours(false).into_iter().collect::<Vec<_>>(), ["Reset", "on Reset"]);
    assert_eq!(colours(true).into_iter().collect::<Vec<_>>(), ["Cyan", "Green", "Red", "Reset", "on Reset"]);
}

#[test]
fn wide_characters_are_cut_and_wrapped_by_their_columns() {
    assert_eq!(fit("日本語", 6), "日本語");
    assert_eq!(fit("日本語", 5), "日本…");
    assert_eq!(fit("日本語", 4), "日…");
    assert_eq!(fit("abc", 0), "");
    assert_eq!(wrapped("ab cd\nef", 3), ["ab", "cd", "ef"]);
    assert_eq!(wrapped("abcdef", 4), ["abcd", "ef"]);
    assert_eq!(wrapped("日本語", 1), ["日", "本", "語"]);
    assert_eq!(wrapped("", 5), [""]);
}

#[test]
fn the_documentation_shows_a_real_screen() {
    let page = include_str!("../../../docs/explanation/watch.md");
    let shown = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let (model, clock) = example();
    assert_eq!(shown, screen(&model, &clock, (80, 13), &[]) + "\n");
}

#[test]
fn a_long_task_is_shortened_before_what_became_of_the_agent() {
    let task = "Find all usages of the deprecated API in the whole repository";
    let row = TimelineRow {
        id: RowId::Thread("s1".into(), Some("a1".into())),
        depth: 1,
        task: Some(task.into()),
        mark: Mark::Good,
        time: None,
        text: format!("general-purpose \"{task}\" · stopped · 1 block"),
        figures: Vec::new(),
        right: "58 s".into(),
        came: None,
    };
    let area = Rect::new(0, 0, 80, 1);
    let mut buffer = Buffer::empty(area);
    draw_row(&row, false, area, &mut buffer);
    let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
    assert_eq!(line.trim(), "✓ general-purpose \"Find all usages of the depreca…\" · stopped · 1 block 58 s");
}
