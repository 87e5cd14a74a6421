//! Processors for kernels. A kernel and its programs take turns, so a kernel that is pinned to a
//! processor runs faster, provided that no other kernel is pinned to the same one.

use std::fs::{self, File};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cache::kernels_folder;

/// A processor to which no other kernel is pinned until this is dropped.
#[derive(Debug)]
pub struct FreeCpu {
    /// The processor's number.
    pub number: usize,
    _lock: File,
}

impl FreeCpu {
    /// Takes a processor that this process may use and that no kernel uses, the last one first.
    /// Returns `None` if all are taken, or locks do not work here.
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
