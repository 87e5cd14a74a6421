//! Values that the system reports: peak memory, processor name, date. These values are written only
//! to `run.json` and to the terminal, so the bytes of the other result files do not depend on the
//! machine.

use std::fs;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
#[must_use]
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns the processor's name, or its architecture if the name is unknown. Only the first call
/// reads the name, because reading takes a millisecond or more.
#[must_use]
pub fn processor() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| {
            let line = info.lines().find(|line| line.starts_with("model name"))?;
            line.split_once(':').map(|(_, name)| name.trim().to_owned())
        });
        name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    })
}

/// Returns the number of processors that this program may use. Later calls return the number that
/// the first call found.
#[must_use]
pub fn processors() -> usize {
    static NUMBER: OnceLock<usize> = OnceLock::new();
    *NUMBER.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns the present time, such as `2026-11-21T18:05:00Z`.
#[must_use]
pub(crate) fn date() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the date is recorded for the user; no run depends on it"
    )]
    let now = SystemTime::now();
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of(seconds)
}

/// Formats seconds since 1970 as a date in UTC. The calculation uses years that start in March, so
/// that a leap day is the last day of its year. From 1 March of the year 0 to 1 January 1970, there
/// are 719,468 days.
fn date_of(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let of_day = seconds % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::{date_of, peak_rss_bytes};

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date_of(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_of(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date_of(1_795_284_305), "2026-11-21T18:05:05Z");
    }

    #[test]
    fn a_process_uses_memory() {
        assert!(peak_rss_bytes().is_none_or(|bytes| bytes > 100_000));
    }
}
