//! Chooses processors for kernels. The threads of a kernel and its programs take turns and never
//! run at the same time, so one processor is enough for all of them. Pinning to one processor makes
//! a kernel faster, if no other kernel is pinned to this processor.

use std::fs::{self, File};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cache::kernels_folder;

/// A processor that is reserved for one kernel until this value is dropped.
#[derive(Debug)]
pub struct FreeCpu {
    /// The processor's number.
    pub number: usize,
    _lock: File,
}

impl FreeCpu {
    /// Reserves a processor that this process may use and that no other kernel has reserved. If
    /// there are several, reserves the processor with the highest number. Returns `None` if all are
    /// reserved, or if the file system has no locks.
    #[must_use]
    pub fn take() -> Option<Self> {
        let folder = kernels_folder().ok()?.join(".cpus");
        fs::create_dir_all(&folder).ok()?;
        let allowed = sched_getaffinity(None).ok()?;
        let numbers = (0..CpuSet::MAX_CPU).rev().filter(|&number| allowed.is_set(number));
        numbers.into_iter().find_map(|number| {
            let name = folder.join(number.to_string());
            let file = File::options().create(true).truncate(false).write(true).open(name).ok()?;
            file.try_lock().ok()?;
            Some(Self { number, _lock: file })
        })
    }
}
