//! `validate packets`: packet logs of a real host, replayed on all cores and added up in the folder's order.

use std::convert::Infallible;
use std::path::PathBuf;

use bbrlab_oracle::packets::{self, Episode, PacketsError, PacketsReport};

use crate::error::LabError;
use crate::pool::{Pool, Worker};
use crate::stop::Stop;

/// What the replay of some folders came to.
#[derive(Clone, Debug)]
pub struct PacketReplays {
    /// All that could be replayed.
    pub report: PacketsReport,
    /// What could not, in the folders' order.
    pub damaged: Vec<PacketsError>,
}

/// Replays the episodes of folders.
///
/// # Errors
/// If a folder has no list of episodes, or it cannot be understood.
///
/// # Panics
/// If our stack fails an assertion: an error of ours.
pub fn validate_packets(
    dirs: &[PathBuf],
    jobs: usize,
    stop: &Stop,
) -> Result<PacketReplays, LabError> {
    let folders: Vec<Vec<Episode>> = dirs
        .iter()
        .map(|dir| packets::episodes(dir).map_err(|error| LabError::Usage(error.to_string())))
        .collect::<Result<_, _>>()?;
    let episodes: Vec<(&Episode, &[Episode])> = folders
        .iter()
        .flat_map(|folder| folder.iter().map(move |episode| (episode, folder.as_slice())))
        .collect();
    // An episode without a beginning takes longest, and is last in the list.
    let weight = |place: usize| place as u64;
    let work = |&(episode, folder): &(&Episode, &[Episode]), _: &Worker<'_>| {
        Ok::<_, Infallible>(packets::validate_episode(episode, folder))
    };
    let Ok(outcomes) = (Pool { jobs, stop }).each(&episodes, weight, work, |_| {});
    if stop.is_wished() {
        return Err(LabError::Interrupted("interrupted; nothing was judged".to_owned()));
    }
    let mut report = PacketsReport::default();
    let mut damaged = Vec::new();
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(episode) => report.add(episode),
            Err(error) => damaged.push(error),
        }
    }
    Ok(PacketReplays { report, damaged })
}
