//! The state of the screen: the selected row, its details, the filter. Keys change it; nothing is read or drawn here.

use super::keys::Key;
use super::rows::{RowId, TimelineRow};

/// The action that a key requests from the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopStep {
    GoOn,
    Quit,
}

#[derive(Debug)]
pub(crate) struct App {
    selected: Option<RowId>,
    /// Its last index, in case the row is gone.
    at: usize,
    /// The first row on the screen.
    top: usize,
    pub(crate) follows: bool,
    pub(crate) shows_details: bool,
    /// How many lines of the details are above the screen.
    pub(crate) scroll: usize,
    pub(crate) shows_help: bool,
    pub(crate) filter: String,
    /// The filter is being typed.
    pub(crate) is_typing: bool,
    /// Rows of the list on the screen, as last drawn.
    pub(crate) page: usize,
}

/// The longest filter, in characters.
const MAX_FILTER: usize = 100;

impl App {
    pub(crate) fn new() -> App {
        App {
            selected: None,
            at: 0,
            top: 0,
            follows: true,
            shows_details: false,
            scroll: 0,
            shows_help: false,
            filter: String::new(),
            is_typing: false,
            page: 1,
        }
    }

    /// The selected row among these, which may have changed.
    pub(crate) fn selected(&mut self, rows: &[TimelineRow]) -> usize {
        let newest = |rows: &[TimelineRow]| {
            let dated = rows.iter().enumerate().filter_map(|(at, row)| Some((row.came?, at)));
            dated.max().map(|(_, at)| at)
        };
        let found = match (&self.selected, self.follows) {
            (_, true) => newest(rows),
            (Some(id), false) => rows.iter().position(|row| row.id == *id),
            (None, false) => None,
        };
        self.select(rows, found.unwrap_or(self.at));
        self.at
    }

    fn select(&mut self, rows: &[TimelineRow], at: usize) {
        self.at = at.min(rows.len().saturating_sub(1));
        let id = rows.get(self.at).map(|row| row.id.clone());
        if id != self.selected {
            self.scroll = 0;
        }
        self.selected = id;
    }

    /// The first row to draw, so that the selected one is visible.
    pub(crate) fn top(&mut self, height: usize, rows: usize) -> usize {
        self.page = height.max(1);
        let last = rows.saturating_sub(height);
        let lowest = self.at.saturating_sub(height.saturating_sub(1));
        self.top = self.top.clamp(lowest, self.at.max(lowest)).min(last.max(lowest));
        self.top
    }

    pub(crate) fn key(&mut self, key: Key, rows: &[TimelineRow]) -> LoopStep {
        if key == Key::Interrupt {
            return LoopStep::Quit;
        }
        if self.is_typing {
            self.type_filter(key);
            return LoopStep::GoOn;
        }
        if self.shows_help {
            return self.key_in_help(key);
        }
        match key {
            Key::Char('q') => return LoopStep::Quit,
            Key::Char('?') => (self.shows_help, self.scroll) = (true, 0),
            Key::Char('/') => self.is_typing = true,
            Key::Char('f') => self.follows = !self.follows,
            Key::Enter => self.shows_details = !self.shows_details,
            Key::Esc if self.shows_details => self.shows_details = false,
            Key::Esc => self.filter.clear(),
            key => self.move_by_key(key, rows),
        }
        LoopStep::GoOn
    }

    /// The help is longer than a small screen.
    fn key_in_help(&mut self, key: Key) -> LoopStep {
        match key {
            Key::Char('q') => return LoopStep::Quit,
            Key::Up | Key::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            Key::Down | Key::Char('j') => self.scroll = self.scroll.saturating_add(1),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(self.page),
            Key::PageDown | Key::Char(' ') => self.scroll = self.scroll.saturating_add(self.page),
            _ => (self.shows_help, self.scroll) = (false, 0),
        }
        LoopStep::GoOn
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Esc => {
                self.filter.clear();
                self.is_typing = false;
            }
            Key::Enter => self.is_typing = false,
            Key::Backspace => drop(self.filter.pop()),
            Key::Char(c) if self.filter.chars().count() < MAX_FILTER => self.filter.push(c),
            _ => {}
        }
    }

    fn move_by_key(&mut self, key: Key, rows: &[TimelineRow]) {
        let last = rows.len().saturating_sub(1);
        // A page of the details, if they are shown, else of the list.
        let to = match (key, self.shows_details) {
            (Key::PageUp, true) => {
                self.scroll = self.scroll.saturating_sub(self.page);
                return;
            }
            (Key::PageDown, true) => {
                self.scroll = self.scroll.saturating_add(self.page);
                return;
            }
            (Key::Up | Key::Char('k'), _) => self.at.saturating_sub(1),
            (Key::Down | Key::Char('j'), _) => self.at + 1,
            (Key::PageUp, false) => self.at.saturating_sub(self.page),
            (Key::PageDown, false) => self.at + self.page,
            (Key::Home | Key::Char('g'), _) => 0,
            (Key::End | Key::Char('G'), _) => last,
            _ => return,
        };
        self.follows = false;
        self.select(rows, to.min(last));
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::line::Mark;
    use super::*;

    fn rows(numbers: &[u64]) -> Vec<TimelineRow> {
        let row = |number: &u64| TimelineRow {
            task: None,
            id: RowId::Line(*number),
            depth: 2,
            mark: Mark::None,
            time: None,
            text: number.to_string(),
            figures: Vec::new(),
            right: String::new(),
            came: Some(Timestamp::from_second(i64::try_from(*number).unwrap()).unwrap()),
        };
        numbers.iter().map(row).collect()
    }

    fn press(app: &mut App, rows: &[TimelineRow], codes: &[Key]) -> LoopStep {
        codes.iter().map(|key| app.key(*key, rows)).last().unwrap()
    }

    #[test]
    fn the_newest_row_is_followed_until_another_is_selected() {
        let mut app = App::new();
        assert_eq!(app.selected(&rows(&[1, 5, 3])), 1);
        assert_eq!(app.selected(&rows(&[1, 5, 6, 3])), 2);
        press(&mut app, &rows(&[1, 5, 6, 3]), &[Key::Up]);
        assert!(!app.follows);
        assert_eq!(app.selected(&rows(&[0, 1, 5, 6, 9, 3])), 2, "the same row, wherever it is now");
        assert_eq!(app.selected(&rows(&[0, 1])), 1, "it is gone: the one that is there now");
        press(&mut app, &rows(&[0, 1]), &[Key::Char('f')]);
        assert_eq!(app.selected(&rows(&[7, 1])), 0);
        assert_eq!(app.selected(&[]), 0);
    }

    #[test]
    fn keys_move_within_the_rows() {
        let (mut app, rows) = (App::new(), rows(&[1, 2, 3, 4, 5, 6, 7, 8]));
        app.selected(&rows);
        app.top(3, rows.len());
        for (code, at, top) in [
            (Key::Home, 0, 0),
            (Key::Up, 0, 0),
            (Key::Char('j'), 1, 0),
            (Key::PageDown, 4, 2),
            (Key::Char('k'), 3, 2),
            (Key::End, 7, 5),
            (Key::Down, 7, 5),
            (Key::PageUp, 4, 4),
            (Key::Char('g'), 0, 0),
            (Key::Char('G'), 7, 5),
        ] {
            press(&mut app, &rows, &[code]);
            assert_eq!((app.selected(&rows), app.top(3, rows.len())), (at, top), "{code:?}");
        }
        assert_eq!(app.top(0, 0), 7, "a screen without room");
    }

    #[test]
    fn what_is_typed_after_a_slash_is_the_filter() {
        let (mut app, rows) = (App::new(), rows(&[1]));
        let typed = [Key::Char('/'), Key::Char('q'), Key::Char('f'), Key::Backspace];
        assert_eq!(press(&mut app, &rows, &typed), LoopStep::GoOn);
        assert_eq!((app.filter.as_str(), app.is_typing), ("q", true));
        press(&mut app, &rows, &[Key::Enter]);
        assert_eq!((app.filter.as_str(), app.is_typing), ("q", false));
        press(&mut app, &rows, &[Key::Enter, Key::Esc]);
        assert_eq!((app.filter.as_str(), app.shows_details), ("q", false), "the details go first");
        press(&mut app, &rows, &[Key::Esc]);
        assert_eq!(app.filter, "");
        press(&mut app, &rows, &[Key::Char('/'), Key::Char('x'), Key::Esc]);
        assert_eq!((app.filter.as_str(), app.is_typing), ("", false));
    }

    #[test]
    fn q_and_control_c_quit_wherever_the_user_is() {
        let (mut app, rows) = (App::new(), rows(&[1]));
        assert_eq!(press(&mut app, &rows, &[Key::Char('q')]), LoopStep::Quit);
        assert_eq!(press(&mut app, &rows, &[Key::Char('?'), Key::Char('q')]), LoopStep::Quit);
        press(&mut app, &rows, &[Key::Char('/')]);
        assert_eq!(app.key(Key::Interrupt, &rows), LoopStep::Quit);
        assert_eq!(press(&mut app, &rows, &[Key::Esc, Key::Char('?'), Key::Esc]), LoopStep::GoOn);
        assert!(!app.shows_help);
    }

    #[test]
    fn details_are_scrolled_by_pages_and_start_again_with_another_row() {
        let (mut app, rows) = (App::new(), rows(&[1, 2]));
        app.selected(&rows);
        app.top(10, rows.len());
        press(&mut app, &rows, &[Key::Enter, Key::PageDown]);
        assert_eq!((app.scroll, app.selected(&rows)), (10, 1));
        press(&mut app, &rows, &[Key::PageUp, Key::PageDown, Key::Up]);
        assert_eq!((app.scroll, app.selected(&rows)), (0, 0));
    }
}
