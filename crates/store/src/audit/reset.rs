//! A trail that is broken or too long is moved to another name, and another one goes on after it.

use std::io;
use std::path::PathBuf;

use super::append::body_of;
use super::chain::RESET;
use super::record::Record;
use super::trail::{ARCHIVE, Trail};
use super::writer::Writer;
use crate::store;

impl Trail {
    /// Moves the trail to another name, whole as it is, and starts a new one whose first record says so. The numbers and the
    /// chain go on, so that what was remembered by its number is still right. Returns the new path; none if there was no
    /// trail, not even the end of one.
    ///
    /// # Errors
    /// When it cannot be moved or started.
    pub fn reset(&self) -> io::Result<Option<PathBuf>> {
        if !self.folder.exists() && self.read_anchor().is_none() {
            return Ok(None);
        }
        let busy = || io::Error::other("another process holds the trail: try again");
        let _lock = self.lock()?.ok_or_else(busy)?;
        let archive = self.archive();
        let mut writer = Writer::after(self, self.last_position());
        std::fs::rename(&self.folder, &archive)?;
        store::make_folder(&self.root, &self.folder)?;
        let last = writer.last();
        let end = last.map(|last| format!("; it ended with record {}", last.seq)).unwrap_or_default();
        let what = serde_json::json!({
            "code": "AUDIT_RESET",
            "what": format!("the trail before this one was moved to {}{end}", archive.display()),
            "moved_to": archive,
            "last": last.map(|last| serde_json::json!({ "seq": last.seq, "hash": last.hash })),
        });
        let record = Record {
            event: RESET.into(),
            decision: "reset".into(),
            findings: vec![what],
            ..Record::default()
        };
        writer.write(&[body_of(&record)?])?;
        writer.write_pending()?;
        Ok(Some(archive))
    }

    /// A name with the time that no other archive has.
    fn archive(&self) -> PathBuf {
        let mut time = jiff::Timestamp::now();
        loop {
            let name = format!("{ARCHIVE}{}", time.strftime("%Y%m%dT%H%M%S%3fZ"));
            let path = self.folder.with_file_name(name);
            if !path.exists() {
                return path;
            }
            time += jiff::SignedDuration::from_millis(1);
        }
    }
}
