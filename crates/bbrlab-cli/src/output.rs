//! Results on standard output, messages on standard error, and the exit status.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use bbrlab_lab::{LabError, Stop, Unwritten, plain};
use serde::Serialize;

/// The reason why a subcommand, such as `run`, did not end with success.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The lab has returned this error.
    Lab(LabError),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The command has printed all results, and ends with this exit status.
    Status(u8),
}

impl From<LabError> for Stopped {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

/// The result of a subcommand.
pub(crate) type Verdict = Result<(), Stopped>;

/// Converts a struct to a JSON value.
pub(crate) fn value(record: impl Serialize) -> serde_json::Value {
    serde_json::to_value(record).expect("JSON can represent every value of this struct")
}

/// The smallest width for which tables are laid out, in characters. On a narrower terminal the
/// tables' lines wrap.
const NARROWEST: usize = 40;

/// The caller of the command: a user, or a program such as the Python package.
enum Caller {
    /// A user, who sees standard output and standard error.
    User {
        out: io::BufWriter<io::Stdout>,
        /// The beginning of a command line that starts this command in another process: the path of
        /// the program, or `python -m bbrlab` if Python runs the command.
        again: Vec<OsString>,
        /// The handle through which Ctrl-C requests a stop; empty before the first call of
        /// [`Output::stop`].
        stop: OnceCell<Stop>,
    },
    /// Another program, which gets the printed text and can stop the command.
    Program { text: Vec<u8>, stop: Stop },
}

/// The destination of results and messages, and the source of a request to stop.
pub(crate) struct Output {
    caller: Caller,
}

impl Output {
    /// Creates the output for a user. `again` is the beginning of a command line that starts this
    /// command in another process.
    pub(crate) fn of_user(again: Vec<OsString>) -> Self {
        let out = io::BufWriter::new(io::stdout());
        Self { caller: Caller::User { out, again, stop: OnceCell::new() } }
    }

    /// Creates the output for another program, which requests a stop through `stop`.
    pub(crate) fn of_program(stop: Stop) -> Self {
        Self { caller: Caller::Program { text: Vec::new(), stop } }
    }

    /// Returns the width of the terminal in columns, for tables; `None` if standard output is not a
    /// terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        let Caller::User { .. } = self.caller else { return None };
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0).max(NARROWEST))
    }

    /// Returns the handle through which a command is stopped early; results that are already
    /// complete are kept. After the first call, Ctrl-C requests the stop; before the first call,
    /// Ctrl-C ends the program at once. All calls return handles of the same request, so that
    /// Ctrl-C between two runs also stops the second run.
    pub(crate) fn stop(&self) -> Result<Stop, LabError> {
        match &self.caller {
            Caller::User { stop, .. } => {
                if let Some(stop) = stop.get() {
                    return Ok(stop.clone());
                }
                let new = Stop::on_interrupt().map_err(|error| {
                    LabError::Failed(format!("cannot listen for Ctrl-C: {}", plain(&error)))
                })?;
                Ok(stop.get_or_init(|| new).clone())
            }
            Caller::Program { stop, .. } => Ok(stop.clone()),
        }
    }

    /// Returns the beginning of a command line that starts this command in another process: the
    /// path of the program, or `python -m bbrlab` if Python runs the command. The list is empty if
    /// another program is the caller.
    pub(crate) fn again(&self) -> &[OsString] {
        match &self.caller {
            Caller::User { again, .. } => again,
            Caller::Program { .. } => &[],
        }
    }

    fn out(&mut self) -> &mut dyn Write {
        match &mut self.caller {
            Caller::User { out, .. } => out,
            Caller::Program { text, .. } => text,
        }
    }

    /// Prints a text to standard output; for another program, appends the text to its result.
    pub(crate) fn text(&mut self, text: &str) -> Verdict {
        self.out().write_all(text.as_bytes()).map_err(Stopped::Output)
    }

    /// Prints the JSON document of a command that was called with `--json`.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Verdict {
        let written = serde_json::to_writer_pretty(self.out(), document);
        written.map_err(|error| Stopped::Output(error.into()))?;
        self.text("\n")
    }

    /// Prints the JSON document piece by piece with `write`, so that the whole document need not be
    /// in memory.
    pub(crate) fn json_by(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Unwritten>,
    ) -> Verdict {
        write(self.out()).map_err(|error| match error {
            Unwritten::Io(error) => Stopped::Output(error),
            Unwritten::Without(error) => Stopped::Lab(error),
        })
    }

    /// Prints a message on standard error. The command continues even if printing fails.
    pub(crate) fn note(&mut self, text: &str) {
        if let Caller::User { out, .. } = &mut self.caller {
            let _ = out.flush();
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// Prints a note for each folder of a sweep in which runs are missing.
    pub(crate) fn notes_of_missing(&mut self, folders: &[PathBuf]) {
        for text in folders.iter().flat_map(|folder| bbrlab_lab::missing_runs(folder)) {
            self.note(&format!("note: {text}"));
        }
    }

    /// Returns the text that was printed for another program; empty if the caller is a user.
    pub(crate) fn answer(self) -> Vec<u8> {
        match self.caller {
            Caller::User { .. } => Vec::new(),
            Caller::Program { text, .. } => text,
        }
    }

    /// Reports how the subcommand ended, and returns the exit status.
    pub(crate) fn end(mut self, result: Verdict) -> u8 {
        let flushed = self.out().flush().map_err(Stopped::Output);
        if let Caller::User { out, .. } = self.caller {
            // If the flush failed, dropping the buffer would try to write the unwritten text a
            // second time.
            let (_, _) = out.into_parts();
        }
        match result.and(flushed) {
            Ok(()) => 0,
            Err(Stopped::Status(status)) => status,
            // A closed pipe is not an error: the reader closed the pipe, as in
            // `bbrlab list | head -1`.
            Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Err(Stopped::Output(error)) => {
                complain(&format!("cannot write to standard output: {}", plain(&error)));
                1
            }
            Err(Stopped::Lab(error)) => {
                match &error {
                    // Errors in scenarios are rendered with their own heading and with the position
                    // of each mistake in the scenario.
                    LabError::Scenario(errors) => {
                        let _ = writeln!(anstream::stderr(), "{}", errors.render(true));
                    }
                    error => complain(&error.to_string()),
                }
                error.exit_status()
            }
        }
    }
}

fn complain(text: &str) {
    const RED: &str = "\x1b[1;31m";
    const RESET: &str = "\x1b[0m";
    let _ = writeln!(anstream::stderr(), "{RED}error{RESET}: {text}");
}

#[cfg(test)]
mod tests {
    use super::Output;

    #[test]
    fn a_request_to_stop_between_two_runs_is_kept() {
        let output = Output::of_user(Vec::new());
        let [first, second] = [output.stop().unwrap(), output.stop().unwrap()];
        assert!(!second.is_requested());
        first.request();
        assert!(second.is_requested());
        assert!(output.stop().unwrap().is_requested());
    }
}
