//! The backend of ratatui without the parts that read keys or start a program: the position of the cursor, and the size of a
//! terminal that does not report it.

use std::io::{self, Stdout};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

pub(super) struct TerminalScreen(CrosstermBackend<Stdout>);

/// The size of a terminal that does not report it.
const USUAL: Size = Size { width: 80, height: 24 };

impl TerminalScreen {
    pub(super) fn new(stdout: Stdout) -> TerminalScreen {
        TerminalScreen(CrosstermBackend::new(stdout))
    }
}

impl Backend for TerminalScreen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    /// Only inline viewports need it.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    #[cfg(unix)]
    fn size(&self) -> io::Result<Size> {
        let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout())?;
        let is_known = size.ws_col > 0 && size.ws_row > 0;
        Ok(if is_known { Size::new(size.ws_col, size.ws_row) } else { USUAL })
    }

    #[cfg(not(unix))]
    fn size(&self) -> io::Result<Size> {
        Ok(self.0.size().unwrap_or(USUAL))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}
