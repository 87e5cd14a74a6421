//! The trace files of a scenario: traces of paths, and Mahimahi traces. Each line of a Mahimahi
//! trace is the time of a delivery opportunity of 1,500 bytes, in milliseconds.

use std::collections::BTreeMap;
use std::sync::Arc;

use bbrlab_link::Trace;
use bbrlab_run::Cdf;

use crate::language::cdf_file::{self, CdfFile};
use crate::language::document::At;
use crate::language::path_trace::{self, PathTrace};

/// A function that reads a file, given by its name in the scenario. The error of the reading
/// function completes a sentence that begins with "the file".
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The size of the largest accepted trace file, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// The longest period of a Mahimahi trace: a day.
const PERIOD_MAX_MS: u32 = 24 * 3600 * 1000;

/// The trace files read so far. The files are stored so that a sweep reads each file once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    read: BTreeMap<String, Result<Arc<Trace>, String>>,
    /// Mahimahi traces whose content is part of the scenario's text, by their positions in the
    /// text.
    inline: BTreeMap<(u32, u32), Arc<Trace>>,
    paths: BTreeMap<String, Result<Arc<PathTrace>, String>>,
    inline_paths: BTreeMap<(u32, u32), Arc<PathTrace>>,
    cdfs: BTreeMap<String, Result<Arc<CdfFile>, String>>,
}

impl Traces {
    /// Returns the Mahimahi trace in a file, or the reason why the file cannot be read or is not
    /// such a trace.
    pub(crate) fn read(&mut self, file: &str, files: ReadFile<'_>) -> Result<Arc<Trace>, String> {
        read(&mut self.read, file, files, parse)
    }

    /// Returns the trace of a path in a file, or the reason why the file cannot be read or is not
    /// such a trace.
    pub(crate) fn read_path(
        &mut self,
        file: &str,
        files: ReadFile<'_>,
    ) -> Result<Arc<PathTrace>, String> {
        read(&mut self.paths, file, files, |text| path_trace::parse(text.lines()))
    }

    /// Returns the distribution in a file, or the reason why the file cannot be read or has no
    /// distribution.
    pub(crate) fn read_cdf(&mut self, file: &str, files: ReadFile<'_>) -> Result<Arc<Cdf>, String> {
        read(&mut self.cdfs, file, files, cdf_file::parse).map(|read| read.cdf.clone())
    }

    /// Returns the distribution in a file, if it has been read.
    pub(crate) fn known_cdf(&self, file: &str) -> Option<Arc<Cdf>> {
        Some(self.cdfs.get(file)?.as_ref().ok()?.cdf.clone())
    }

    /// Returns sentences for users about ignored columns and rounded values, each with the file's
    /// name.
    pub(crate) fn notes(&self) -> Vec<String> {
        let of_paths = self
            .paths
            .iter()
            .filter_map(|(file, read)| read.as_ref().ok().map(|trace| (file, &trace.notes)));
        let of_cdfs = self
            .cdfs
            .iter()
            .filter_map(|(file, read)| read.as_ref().ok().map(|cdf| (file, &cdf.notes)));
        of_paths
            .chain(of_cdfs)
            .flat_map(|(file, notes)| notes.iter().map(move |note| format!("{file}: {note}")))
            .collect()
    }

    /// Returns the trace of a path in a file, if it has been read.
    pub(crate) fn known_path(&self, file: &str) -> Option<Arc<PathTrace>> {
        self.paths.get(file)?.clone().ok()
    }

    /// Returns the trace of a path whose lines are at this position in the scenario. Stores the
    /// trace, so that a sweep parses it only once.
    pub(crate) fn inline_path(&mut self, at: At, lines: &[&str]) -> Result<Arc<PathTrace>, String> {
        if let Some(known) = self.inline_paths.get(&(at.source, at.start)) {
            return Ok(known.clone());
        }
        let trace = Arc::new(path_trace::parse(lines.iter().copied())?);
        self.inline_paths.insert((at.source, at.start), trace.clone());
        Ok(trace)
    }

    /// Returns the Mahimahi trace in a file, if the file has been read.
    pub(crate) fn known(&self, file: &str) -> Option<Arc<Trace>> {
        self.read.get(file)?.clone().ok()
    }

    /// Returns the Mahimahi trace at this position in the scenario, if it has been read.
    pub(crate) fn inline(&self, at: At) -> Option<Arc<Trace>> {
        self.inline.get(&(at.source, at.start)).cloned()
    }

    /// Stores the Mahimahi trace at this position in the scenario, so that a sweep parses it only
    /// once.
    pub(crate) fn keep_inline(&mut self, at: At, trace: Arc<Trace>) {
        self.inline.insert((at.source, at.start), trace);
    }
}

/// Returns the parsed content of a file. A file that is already in `known` is not read again.
fn read<T>(
    known: &mut BTreeMap<String, Result<Arc<T>, String>>,
    file: &str,
    files: ReadFile<'_>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Arc<T>, String> {
    if let Some(known) = known.get(file) {
        return known.clone();
    }
    let text = files(file).and_then(|text| {
        check_file_size(text.len() as u64)?;
        Ok(text)
    });
    let result = text.and_then(|text| parse(&text)).map(Arc::new);
    known.insert(file.to_owned(), result.clone());
    result
}

/// Checks the size of a file that a scenario names, so that a [`ReadFile`] need not read a file
/// that is too large.
///
/// # Errors
/// Fails if the file is too large. The error completes a sentence that begins with "the file".
pub fn check_file_size(bytes: u64) -> Result<(), String> {
    if bytes > FILE_BYTES_MAX {
        return Err(format!("has {bytes} bytes; at most {FILE_BYTES_MAX} are allowed"));
    }
    Ok(())
}

/// The [`ReadFile`] of a scenario that must not name files: always returns an error.
pub(crate) fn no_files(_: &str) -> Result<String, String> {
    Err("cannot be read: this scenario must not name files".to_owned())
}

fn parse(text: &str) -> Result<Trace, String> {
    let mut opportunities_ms: Vec<u32> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        let Ok(at) = line.parse::<u32>() else {
            return Err(format!("has no whole number of milliseconds on line {number}"));
        };
        if at > PERIOD_MAX_MS {
            return Err(format!("has a time beyond one day on line {number}"));
        }
        if opportunities_ms.last().is_some_and(|&last| at < last) {
            return Err(format!("goes back in time on line {number}"));
        }
        opportunities_ms.push(at);
    }
    Trace::new(opportunities_ms).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&match parse(text) {
            Ok(trace) => format!("{:?} period {}", trace.opportunities_ms(), trace.period_ms()),
            Err(error) => error,
        });
    }

    #[test]
    fn a_trace_lasts_until_its_last_opportunity() {
        check("1\n1\n\n5\n", &expect!["[1, 1, 5] period 5"]);
    }

    #[test]
    fn broken_traces_are_refused() {
        check("", &expect!["has no delivery opportunity"]);
        check("0\n", &expect!["ends at 0 ms, so it has no period"]);
        check("1\nx\n", &expect!["has no whole number of milliseconds on line 2"]);
        check("5\n4\n", &expect!["goes back in time on line 2"]);
        check("99999999999", &expect!["has no whole number of milliseconds on line 1"]);
        check("-1", &expect!["has no whole number of milliseconds on line 1"]);
    }
}
