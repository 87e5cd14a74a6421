//! Caches the files of runs, because several panels of a figure show the same runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bbrlab_lab::{LabError, RunFiles, read_run_files};

/// The files of the runs that were opened so far, by the folder of the run.
#[derive(Default)]
pub(super) struct RunCache(BTreeMap<PathBuf, Rc<RunFiles>>);

impl RunCache {
    /// Returns the files of a run. The first call for a folder opens its files.
    pub(super) fn open(&mut self, folder: &Path) -> Result<Rc<RunFiles>, LabError> {
        if let Some(known) = self.0.get(folder) {
            return Ok(Rc::clone(known));
        }
        let files = Rc::new(read_run_files(folder)?);
        self.0.insert(folder.to_owned(), Rc::clone(&files));
        Ok(files)
    }
}
