//! Results on standard output, messages on standard error, and the exit status.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bbrlab_lab::LabError;
use serde::Serialize;

/// Why a verb ended early.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// An error from the lab.
    Lab(LabError),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Everything has been printed; this is the exit status.
    Status(u8),
}

impl From<LabError> for Stopped {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

/// The result of a verb.
pub(crate) type Verdict = Result<(), Stopped>;

/// A record as a value in a map of a document.
pub(crate) fn value(record: impl Serialize) -> serde_json::Value {
    serde_json::to_value(record).expect("records of plain values")
}

/// A table is not made narrower than this: its lines wrap instead.
const NARROWEST: usize = 40;

/// Standard output and standard error.
pub(crate) struct Output {
    out: io::BufWriter<io::Stdout>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { out: io::BufWriter::new(io::stdout()) }
    }

    /// The width of the terminal that tables are for; none if standard output goes elsewhere.
    pub(crate) fn width() -> Option<usize> {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0).max(NARROWEST))
    }

    /// A result.
    pub(crate) fn text(&mut self, text: &str) -> Verdict {
        self.out.write_all(text.as_bytes()).map_err(Stopped::Output)
    }

    /// The one document of `--json`.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Verdict {
        let written = serde_json::to_writer_pretty(&mut self.out, document);
        written.map_err(|error| Stopped::Output(error.into()))?;
        self.text("\n")
    }

    /// A message about what is being done. It is no failure if standard error cannot be written to.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = self.out.flush();
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    /// Says of which sweeps runs are missing.
    pub(crate) fn notes_of_missing(&mut self, folders: &[PathBuf]) {
        for text in folders.iter().flat_map(|folder| bbrlab_lab::missing_runs(folder)) {
            self.note(&format!("note: {text}"));
        }
    }

    /// Reports how the verb ended, and gives the exit status.
    pub(crate) fn end(mut self, result: Verdict) -> ExitCode {
        let flushed = self.out.flush().map_err(Stopped::Output);
        // Do not try to write the rest a second time when the buffer is dropped.
        let (_, _) = self.out.into_parts();
        match result.and(flushed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(Stopped::Status(status)) => ExitCode::from(status),
            // The reader has closed the pipe (`bbrlab list | head -1`).
            Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::SUCCESS
            }
            Err(Stopped::Output(error)) => {
                complain(&format!("cannot write to standard output: {}", plain(&error)));
                ExitCode::from(1)
            }
            Err(Stopped::Lab(error)) => {
                match &error {
                    // These errors have a heading of their own and show the place.
                    LabError::Scenario(errors) => {
                        let _ = writeln!(anstream::stderr(), "{}", errors.render(true));
                    }
                    error => complain(&error.to_string()),
                }
                ExitCode::from(error.exit_status())
            }
        }
    }
}

fn complain(text: &str) {
    const RED: &str = "\x1b[1;31m";
    const RESET: &str = "\x1b[0m";
    let _ = writeln!(anstream::stderr(), "{RED}error{RESET}: {text}");
}

/// The system's error message without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}
