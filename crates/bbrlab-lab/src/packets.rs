//! `validate packets`: packet logs of a real host, replayed on all cores and added up in the folder's order.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bbrlab_oracle::packets::{self, Episode, EpisodeReport, PacketsError, PacketsReport};

use crate::error::LabError;
use crate::stop::Stop;

/// What the replay of some folders came to.
#[derive(Clone, Debug)]
pub struct Packets {
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
pub fn validate_packets(dirs: &[PathBuf], jobs: usize, stop: &Stop) -> Result<Packets, LabError> {
    let folders: Vec<Vec<Episode>> = dirs
        .iter()
        .map(|dir| packets::episodes(dir).map_err(|error| LabError::Usage(error.to_string())))
        .collect::<Result<_, _>>()?;
    let episodes: Vec<(&Episode, &[Episode])> = folders
        .iter()
        .flat_map(|folder| folder.iter().map(move |episode| (episode, folder.as_slice())))
        .collect();
    let outcomes: Mutex<Vec<Option<Result<EpisodeReport, PacketsError>>>> =
        Mutex::new(vec![None; episodes.len()]);
    // An episode without a beginning takes longest, and is last in the list: begin there.
    let left = AtomicUsize::new(episodes.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, episodes.len().max(1)) {
            scope.spawn(|| {
                while !stop.is_wished() {
                    let Ok(before) =
                        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                            left.checked_sub(1)
                        })
                    else {
                        break;
                    };
                    let (episode, folder) = episodes[before - 1];
                    let outcome = packets::validate_episode(episode, folder);
                    outcomes.lock().expect("no holder panics")[before - 1] = Some(outcome);
                }
            });
        }
    });
    if stop.is_wished() {
        return Err(LabError::Interrupted("interrupted; nothing was judged".to_owned()));
    }
    let mut report = PacketsReport::default();
    let mut damaged = Vec::new();
    for outcome in outcomes.into_inner().expect("no holder panics").into_iter().flatten() {
        match outcome {
            Ok(episode) => report.add(episode),
            Err(error) => damaged.push(error),
        }
    }
    Ok(Packets { report, damaged })
}
