use std::time::Duration;

/// What was measured of a case.
pub struct Figures {
    pub name: &'static str,
    pub minimum: Duration,
    pub median: Duration,
    /// The largest resident set, in bytes.
    pub memory: u64,
}

impl Figures {
    pub fn minimum_ms(&self) -> f64 {
        self.minimum.as_secs_f64() * 1e3
    }

    pub fn median_ms(&self) -> f64 {
        self.median.as_secs_f64() * 1e3
    }
}
