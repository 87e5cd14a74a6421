//! `validate packets`: replays packet logs of real hosts on all cores and adds up the results.
//!
//! The results are added folder by folder, in the order in which the user names the folders. Within
//! a folder, the order is that of the folder's list of packet logs, `episodes.csv`.

use std::convert::Infallible;
use std::path::PathBuf;

use bbrlab_backends::{LabError, Stop};
use bbrlab_oracle::LogError;
use bbrlab_oracle::packets::{self, Episode, Episodes, PacketsReport};

use crate::pool::{Pool, Worker};

/// The results of replaying the logs in some folders.
#[derive(Clone, Debug)]
pub struct PacketReplays {
    /// The results of all episodes (packet logs) that could be replayed. The report also lists the
    /// episodes that were omitted, and the episodes of which only the receiver was replayed.
    pub report: PacketsReport,
    /// The reasons why some packet logs could not be replayed, in the folders' order.
    pub damaged: Vec<LogError>,
}

/// Replays all episodes (packet logs) that the lists in these folders name.
///
/// # Errors
/// Fails if a folder has no list of episodes, or the list cannot be parsed.
///
/// # Panics
/// Panics if an assertion in our stack fails, which is a bug.
pub fn validate_packets(
    dirs: &[PathBuf],
    jobs: usize,
    stop: &Stop,
) -> Result<PacketReplays, LabError> {
    let folders: Vec<Episodes> = dirs
        .iter()
        .map(|dir| packets::episodes(dir).map_err(|error| LabError::Usage(error.to_string())))
        .collect::<Result<_, _>>()?;
    let episodes: Vec<(&Episode, &[Episode])> = folders
        .iter()
        .flat_map(|folder| {
            folder.known.iter().map(move |episode| (episode, folder.known.as_slice()))
        })
        .collect();
    // The pool begins with the pieces of the highest weight. Packet logs that lack the beginning of
    // the run take longest and are last in the list, so use the index as the weight.
    let weight = |place: usize| place as u64;
    let work = |&(episode, folder): &(&Episode, &[Episode]), _: &Worker<'_>| {
        Ok::<_, Infallible>(packets::validate_episode(episode, folder))
    };
    let Ok(outcomes) = (Pool { jobs, stop }).each(&episodes, weight, work, |_| {});
    if stop.is_requested() {
        return Err(LabError::Interrupted("interrupted; nothing was compared".to_owned()));
    }
    let unsupported =
        folders.iter().flat_map(|folder| folder.unsupported.iter().cloned()).collect();
    let mut report = PacketsReport { unsupported, ..PacketsReport::default() };
    let mut damaged = Vec::new();
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(episode) => report.add(episode),
            Err(error) => damaged.push(error),
        }
    }
    Ok(PacketReplays { report, damaged })
}
