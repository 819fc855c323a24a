//! The screen: a head, the rows, the details of one of them, a foot. It draws only its arguments.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::app::App;
use super::line::{Detail, Mark};
use super::model::Model;
use super::rows::TimelineRow;
use super::words::Clock;
use conclaude_core::text::count;

/// The screen besides the rows.
pub(crate) struct View<'a> {
    pub(crate) model: &'a Model,
    pub(crate) rows: &'a [TimelineRow],
    pub(crate) clock: &'a Clock,
    pub(crate) project: &'a str,
    /// A notice about parts that are being read, or could not be read.
    pub(crate) notice: Option<&'a str>,
    /// Advice if there is nothing to show.
    pub(crate) empty: &'a [String],
    pub(crate) has_colours: bool,
}

/// With fewer rows the details replace the list.
const MIN_SPLIT: u16 = 12;

/// With fewer columns the names of details have no column of their own.
const MIN_COLUMNS: u16 = 60;

/// The text at the start of a row keeps at least this many columns.
const MIN_LEFT: usize = 26;

const HELP: [(&str, &str); 10] = [
    ("↑ ↓  k j", "select the row above, below"),
    ("PgUp PgDn", "a page; in the details, scroll them"),
    ("Home End  g G", "the first row, the last row"),
    ("f", "follow the newest row, or stop that"),
    ("Enter", "open or close the details of the row"),
    ("/", "show only rows with a text; Enter keeps, Esc clears it"),
    ("Esc", "close the details, then clear the filter"),
    ("?", "this help"),
    ("q  Ctrl-C", "quit"),
    ("✓ ✗ ⚠ ● ○ ·", "good, blocked or failed, warning, running, quiet, note"),
];

pub(crate) fn draw(screen: &View<'_>, app: &mut App, area: Rect, buffer: &mut Buffer) {
    let Rect { width, height, .. } = area;
    if width < 4 || height == 0 {
        return;
    }
    let (head, foot) = (u16::from(height >= 3), u16::from(height >= 2));
    let body = Rect { y: head, height: height - head - foot, ..area };
    if head > 0 {
        draw_head(screen, app, Rect { height: 1, ..area }, buffer);
    }
    if foot > 0 {
        draw_foot(screen, app, Rect { y: height - 1, height: 1, ..area }, buffer);
    }
    let selected = app.selected(screen.rows);
    if app.shows_help {
        return draw_help(app, body, buffer);
    }
    if screen.rows.is_empty() {
        return draw_empty(screen, app, body, buffer);
    }
    if !app.shows_details {
        return draw_rows(screen, app, body, buffer);
    }
    let lower = if body.height >= MIN_SPLIT { body.height / 2 } else { body.height };
    let list = Rect { height: body.height - lower, ..body };
    draw_rows(screen, app, list, buffer);
    let details = Rect { y: body.y + list.height, height: lower, ..body };
    let shown = screen.rows.get(selected).map(|row| screen.model.details(&row.id, screen.clock));
    draw_details(&shown.unwrap_or_default(), app, details, buffer);
}

/// Draws a text at the start of a row and one at its end. The first is cut; the second is left out if there is no room.
fn draw_ends((left, right): (&str, &str), style: Style, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, style);
    let room = usize::from(area.width);
    let is_right_shown = right.width() + MIN_LEFT.min(left.width() + 2) <= room;
    let room_left = if is_right_shown { room.saturating_sub(right.width() + 1) } else { room };
    put(buffer, (area.x, area.y), Label { text: &fit(left, room_left), width: room_left }, style);
    if is_right_shown {
        put(
            buffer,
            (area.right() - columns(right), area.y),
            Label { text: right, width: right.width() },
            style,
        );
    }
}

fn draw_head(screen: &View<'_>, app: &App, area: Rect, buffer: &mut Buffer) {
    let totals = screen.model.totals(screen.clock);
    let follows = if app.follows { "following" } else { "not following" };
    let counts = format!(
        "{}, {}, {} at work · {follows} ",
        totals.sessions_in_words(),
        count(totals.agents as u64, "agent"),
        totals.working
    );
    let title = format!(" conclaude watch · {}", screen.project);
    draw_ends((&title, &counts), Style::new().add_modifier(Modifier::BOLD), area, buffer);
}

fn draw_foot(screen: &View<'_>, app: &App, area: Rect, buffer: &mut Buffer) {
    let keys = "q quit · ? help · ↑↓ select · Enter details · / filter · f follow";
    let (left, right) = if app.is_typing {
        (format!(" /{}▏", app.filter), "Enter keeps it · Esc clears it ")
    } else if !app.filter.is_empty() {
        let rows = count(screen.rows.len() as u64, "row");
        (format!(" /{}  {rows}", app.filter), "Esc clears it · q quit · ? help ")
    } else if let Some(notice) = screen.notice {
        (format!(" {notice}"), "q quit · ? help ")
    } else if app.shows_help {
        (" any other key closes the help".to_owned(), "q quit ")
    } else if app.shows_details {
        (" Esc closes the details · PgUp PgDn scroll them".to_owned(), "q quit · ? help ")
    } else {
        (format!(" {keys}"), "")
    };
    draw_ends((&left, right), Style::new().add_modifier(Modifier::DIM), area, buffer);
}

fn draw_help(app: &mut App, area: Rect, buffer: &mut Buffer) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    // On a narrow screen the keys are above what they do.
    let names = if area.width >= MIN_COLUMNS { 16 } else { 0 };
    let width = usize::from(area.width).saturating_sub(names + 2);
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (keys, what) in HELP {
        let mut first = if names > 0 { Some(keys) } else { None };
        if names == 0 {
            lines.push((keys, String::new()));
        }
        lines.extend(wrapped(what, width).into_iter().map(|line| (first.take().unwrap_or_default(), line)));
    }
    let height = usize::from(area.height);
    app.page = height.max(1);
    app.scroll = app.scroll.min(lines.len().saturating_sub(height));
    for (y, (keys, what)) in (area.y..area.bottom()).zip(lines.iter().skip(app.scroll)) {
        put(buffer, (area.x + 1, y), Label { text: keys, width: usize::from(area.width) }, bold);
        let indent = if names == 0 { 2 } else { u16::try_from(names).unwrap_or(0) };
        put(buffer, (area.x + 1 + indent, y), Label { text: what, width }, Style::new());
    }
    let below = lines.len().saturating_sub(app.scroll + height);
    if below > 0 {
        let more = format!(" {below} more: ↓ ");
        let x = area.right().saturating_sub(columns(&more));
        put(buffer, (x, area.bottom().saturating_sub(1)), Label { text: &more, width: more.width() }, bold);
    }
}

fn draw_empty(screen: &View<'_>, app: &App, area: Rect, buffer: &mut Buffer) {
    let nothing = [format!("No row contains \"{}\". Esc clears the filter.", app.filter)];
    let texts = if app.filter.is_empty() { screen.empty } else { &nothing };
    let width = usize::from(area.width.saturating_sub(2));
    let lines = texts.iter().flat_map(|text| wrapped(text, width));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        put(buffer, (area.x + 1, y), Label { text: &line, width }, Style::new());
    }
}

fn draw_rows(screen: &View<'_>, app: &mut App, area: Rect, buffer: &mut Buffer) {
    let selected = app.selected(screen.rows);
    let top = app.top(usize::from(area.height), screen.rows.len());
    let shown = screen.rows.iter().enumerate().skip(top);
    for (y, (at, row)) in (area.y..area.bottom()).zip(shown) {
        let line = Rect { y, height: 1, ..area };
        draw_row(row, screen.has_colours, line, buffer);
        if at == selected {
            put(buffer, (line.x, y), Label { text: ">", width: 1 }, Style::new());
            buffer.set_style(line, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

fn draw_row(row: &TimelineRow, has_colours: bool, area: Rect, buffer: &mut Buffer) {
    let plain = if row.depth == 0 { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    let mut x = area.x + 1 + u16::try_from(row.depth * 2).unwrap_or(0);
    put(buffer, (x, area.y), Label { text: row.mark.symbol(), width: 1 }, row.mark.style(has_colours));
    x += 2;
    // A narrow screen has no room for the time.
    if area.width >= MIN_COLUMNS
        && let Some(time) = &row.time
    {
        put(buffer, (x, area.y), Label { text: time, width: 8 }, Style::new().add_modifier(Modifier::DIM));
        x += 9;
    }
    let room = usize::from(area.right().saturating_sub(x));
    let right = row.right.width();
    let is_right_shown = right > 0 && room > right + 12;
    let room = if is_right_shown { room - right - 2 } else { room };
    let figures = figures_that_fit(row, room);
    let columns_of_figures = columns(&figures);
    if columns_of_figures > 0 {
        let end = if is_right_shown { area.right() - columns(&row.right) - 3 } else { area.right() - 1 };
        let at = end.saturating_sub(columns_of_figures);
        let style = Style::new().add_modifier(Modifier::DIM);
        put(buffer, (at, area.y), Label { text: &figures, width: figures.width() }, style);
    }
    let room = if columns_of_figures > 0 { room - figures.width() - 2 } else { room };
    put(buffer, (x, area.y), Label { text: &fit(&with_short_task(row, room), room), width: room }, plain);
    if is_right_shown {
        put(
            buffer,
            (area.right() - columns(&row.right) - 1, area.y),
            Label { text: &row.right, width: right },
            Style::new(),
        );
    }
}

fn draw_details(details: &[Detail], app: &mut App, area: Rect, buffer: &mut Buffer) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let rule = format!("── details {}", "─".repeat(usize::from(area.width)));
    put(buffer, (area.x, area.y), Label { text: &rule, width: usize::from(area.width) }, bold);
    let names = if area.width >= MIN_COLUMNS { 16 } else { 0 };
    let width = usize::from(area.width).saturating_sub(names + 2);
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (name, value) in details {
        let text = if names > 0 { value.clone() } else { format!("{name}: {value}") };
        let mut first = Some(*name);
        lines.extend(wrapped(&text, width).into_iter().map(|line| (first.take().unwrap_or_default(), line)));
    }
    let height = usize::from(area.height.saturating_sub(1));
    app.page = height.max(1);
    app.scroll = app.scroll.min(lines.len().saturating_sub(height));
    let below = lines.len().saturating_sub(app.scroll + height);
    for (y, (name, line)) in (area.y + 1..area.bottom()).zip(lines.iter().skip(app.scroll)) {
        if names > 0 {
            put(buffer, (area.x + 1, y), Label { text: name, width: names - 1 }, bold);
        }
        put(
            buffer,
            (area.x + 1 + u16::try_from(names).unwrap_or(0), y),
            Label { text: line, width },
            Style::new(),
        );
    }
    if below > 0 {
        let more = format!(" {below} more: PgDn ");
        let x = area.right().saturating_sub(columns(&more) + 1);
        put(buffer, (x, area.y), Label { text: &more, width: more.width() }, bold);
    }
}

impl Mark {
    /// The colours of the terminal's own palette, which fits its background.
    fn style(self, has_colours: bool) -> Style {
        let colour = match self {
            _ if !has_colours => return Style::new().add_modifier(Modifier::BOLD),
            Mark::Good => Color::Green,
            Mark::Bad => Color::Red,
            Mark::Warning => Color::Yellow,
            Mark::Running => Color::Cyan,
            Mark::Quiet | Mark::None => return Style::new(),
        };
        Style::new().fg(colour).add_modifier(Modifier::BOLD)
    }
}

/// A text, and the columns that it may take.
#[derive(Clone, Copy)]
struct Label<'a> {
    text: &'a str,
    width: usize,
}

/// Writes where there is room: nothing outside of the buffer, and no control character.
fn put(buffer: &mut Buffer, (x, y): (u16, u16), label: Label<'_>, style: Style) {
    if x < buffer.area.right() && y < buffer.area.bottom() {
        buffer.set_stringn(x, y, label.text, label.width, style);
    }
}

fn columns(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// A task keeps at least this many columns.
const MIN_TASK: usize = 8;

/// The title of a session keeps this many columns next to its figures.
const MIN_TITLE: usize = 34;

/// As many figures as fit beside the text, the most important ones. The text comes first: only its task is shortened for them.
fn figures_that_fit(row: &TimelineRow, room: usize) -> String {
    let width = row.text.width();
    let task = row.task.as_ref().map_or(0, |task| task.width().saturating_sub(MIN_TASK));
    let needed = if row.depth == 0 { width.min(MIN_TITLE) } else { width.saturating_sub(task) };
    let mut shown: Vec<&str> = Vec::new();
    let mut used = needed + 2;
    for figure in &row.figures {
        used += figure.width() + if shown.is_empty() { 0 } else { 3 };
        if used > room {
            break;
        }
        shown.push(figure);
    }
    shown.reverse();
    shown.join(" · ")
}

/// The text of a row. If it does not fit, its task is shortened first: the state of the agent matters more.
fn with_short_task(row: &TimelineRow, room: usize) -> Cow<'_, str> {
    let over = row.text.width().saturating_sub(room);
    match &row.task {
        Some(task) if over > 0 => {
            let short = fit(task, task.width().saturating_sub(over).max(MIN_TASK));
            Cow::Owned(row.text.replacen(task.as_str(), &short, 1))
        }
        _ => Cow::Borrowed(&row.text),
    }
}

fn fit(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        fitted.push(c);
    }
    if room > 0 {
        fitted.push('…');
    }
    fitted
}

/// A text in lines of at most `width` columns, broken at spaces if there are any.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let (head, tail) = rest.split_at_checked(break_at(rest, room)).unwrap_or((rest, ""));
            lines.push(head.trim_end().to_owned());
            rest = tail.trim_start_matches(' ');
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

/// The end of the first line, in bytes.
fn break_at(text: &str, room: usize) -> usize {
    let (mut used, mut space) = (0, None);
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room {
            // One character is wider than the line: it takes a line of its own.
            return space.unwrap_or(if at == 0 { c.len_utf8() } else { at });
        }
        if c == ' ' {
            space = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
