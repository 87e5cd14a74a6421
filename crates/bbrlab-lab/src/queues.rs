//! `validate queues`: replays packet logs of queue disciplines on all cores and adds up the results
//! in the folders' order.

use std::convert::Infallible;
use std::path::PathBuf;

use bbrlab_backends::{LabError, Stop};
use bbrlab_oracle::LogError;
use bbrlab_oracle::queues::{self, Episode, QueuesReport};

use crate::pool::{Pool, Worker};

/// The results of replaying the logs in some folders.
#[derive(Clone, Debug)]
pub struct QueueReplays {
    /// The results of all episodes (packet logs of queues) that could be replayed.
    pub report: QueuesReport,
    /// The reasons why some packet logs could not be replayed, in the folders' order.
    pub damaged: Vec<LogError>,
}

/// Replays all recorded queue experiments (episodes) that the lists in these folders name. An
/// episode is a log of packets at one or more points of a network.
///
/// # Errors
/// Fails if a folder has no list of episodes, or the list cannot be parsed.
///
/// # Panics
/// Panics if an assertion in a discipline fails, which is a bug.
pub fn validate_queues(
    dirs: &[PathBuf],
    jobs: usize,
    stop: &Stop,
) -> Result<QueueReplays, LabError> {
    let mut episodes: Vec<Episode> = Vec::new();
    for dir in dirs {
        episodes.extend(queues::episodes(dir).map_err(|error| LabError::Usage(error.to_string()))?);
    }
    let weight = |_: usize| 1;
    let work =
        |episode: &Episode, _: &Worker<'_>| Ok::<_, Infallible>(queues::validate_episode(episode));
    let Ok(outcomes) = (Pool { jobs, stop }).each(&episodes, weight, work, |_| {});
    if stop.is_requested() {
        return Err(LabError::Interrupted("interrupted; nothing was compared".to_owned()));
    }
    let mut replays = QueueReplays { report: QueuesReport::default(), damaged: Vec::new() };
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(episode) => replays.report.add(episode),
            Err(error) => replays.damaged.push(error),
        }
    }
    Ok(replays)
}
