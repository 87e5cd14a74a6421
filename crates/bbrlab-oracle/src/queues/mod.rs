//! Replays packet logs of Linux queue disciplines. Our discipline gets each packet at the time at
//! which the kernel's discipline got the packet. Our discipline must forward, drop and mark the
//! same packets at the same times as the kernel's.
//!
//! The replay takes these data from the log:
//!
//! - the arrivals of packets, and the hashes of flows
//! - the random numbers that the kernel drew
//! - the order of the calls to the queue discipline that have the same time
//! - the times at which `pie`'s timer fires
//! - the delay, at most 1 µs, with which the link's timer fires
//!
//! Our discipline computes whether and when each packet departs, is dropped or is marked.

mod chance;
mod episode;
mod replay;
mod report;
mod row;
mod states;
mod tc;

use std::path::Path;

pub use episode::{Episode, Point};
pub use report::{EpisodeReport, FirstMismatch, QueuesReport};
pub use tc::{Child, police, qdisc, slot};

use crate::error::LogError;

/// Returns the episodes (packet logs) that a folder lists.
///
/// # Errors
/// Fails if `episodes.csv` is missing or damaged, or names an unknown discipline.
pub fn episodes(dir: &Path) -> Result<Vec<Episode>, LogError> {
    episode::load(dir)
}

/// Replays one episode.
///
/// # Errors
/// Fails if a file is missing or damaged.
pub fn validate_episode(episode: &Episode) -> Result<EpisodeReport, LogError> {
    let rows = row::load(&episode.packets_path())?;
    let events = chance::load(&episode.events_path())?;
    let mut report = EpisodeReport::new(&episode.name);
    for point in &episode.points {
        let at_point: Vec<row::Row> =
            rows.iter().filter(|row| row.point == point.name).cloned().collect();
        let fates = replay::replay(episode, point, &at_point, &events, |_, _, _| ());
        for (row, fate) in at_point.iter().zip(fates) {
            report.compare(row, &fate);
        }
    }
    Ok(report)
}

/// Replays one recorded episode and compares the discipline's internal state with the kernel's at
/// each logged call.
///
/// The kernel logs the state after each dequeue of `codel` and `fq_codel`, before each enqueue of
/// `pie`, after each update of `pie`'s probability, and at each enqueue of `red`.
///
/// # Errors
/// Fails if a file is missing or damaged.
pub fn validate_states(episode: &Episode) -> Result<EpisodeReport, LogError> {
    let rows = row::load(&episode.packets_path())?;
    let events = chance::load(&episode.events_path())?;
    let mut states = states::States::load(&episode.events_path(), "bn")?;
    for point in episode.points.iter().filter(|point| point.name == "bn") {
        let at_point: Vec<row::Row> =
            rows.iter().filter(|row| row.point == point.name).cloned().collect();
        replay::replay(episode, point, &at_point, &events, |moment, now_ns, discipline| {
            states.watch(moment, now_ns, discipline);
        });
    }
    // The log may contain a state from a firing of the discipline's timer after the last packet's
    // departure. The replay ends before this firing, so such a state does not count as missing.
    let ends = rows.iter().flat_map(|row| [Some(row.arrives), row.departs]).flatten();
    let left = states.left(ends.map(|call| call.ns).max().unwrap_or(0));
    let mut report = EpisodeReport::new(&episode.name);
    report.packets = states.compared + left;
    report.mismatches = states.mismatches + left;
    report.first = states.first;
    Ok(report)
}

/// Replays all recorded episodes of a folder.
///
/// # Errors
/// Fails if the folder is damaged.
pub fn validate(dir: &Path) -> Result<QueuesReport, LogError> {
    let mut report = QueuesReport::default();
    for episode in episodes(dir)? {
        report.add(validate_episode(&episode)?);
    }
    Ok(report)
}
