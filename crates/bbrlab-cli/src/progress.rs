//! A progress bar, shown only on a terminal, and the message about results of another version that
//! will be recomputed.

use std::io::{IsTerminal as _, Write as _};

use bbrlab_lab::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The number of steps into which the length of a progress bar is divided.
const STEPS: u64 = 1000;

/// A progress bar, hidden with `--quiet` or if standard error is not a terminal.
pub(crate) struct Bar {
    shown: ProgressBar,
    name: String,
    is_quiet: bool,
}

impl Bar {
    pub(crate) fn new(name: &str, quiet: bool) -> Self {
        let is_seen = !quiet && std::io::stderr().is_terminal();
        let target =
            if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{prefix} [{bar:40}] {msg}  {eta}")
            .expect("the template is well formed")
            .progress_chars("=> ");
        bar.set_style(style);
        bar.set_prefix(name.to_owned());
        Self { shown: bar, name: name.to_owned(), is_quiet: quiet }
    }

    pub(crate) fn show(&self, progress: Progress) {
        let Progress { outdated, .. } = progress;
        if outdated > 0 && !self.is_quiet {
            let which = if outdated == 1 {
                "1 run in this folder is from another version or commit and will be recomputed"
                    .to_owned()
            } else {
                format!(
                    "{outdated} runs in this folder are from another version or commit and will be recomputed"
                )
            };
            // The command continues if standard error cannot be written.
            self.shown.suspend(|| {
                let _ = writeln!(anstream::stderr(), "{}: {which}", self.name);
            });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "`STEPS` is exact as an `f64`, and the share is between 0 and 1"
        )]
        self.shown.set_position((progress.share * STEPS as f64) as u64);
        self.shown.set_message(format!("{}/{} runs", progress.done, progress.total));
    }

    pub(crate) fn end(self) {
        self.shown.finish_and_clear();
    }
}

/// A progress bar for the steps of a build. Without a terminal, prints one line per step.
#[cfg(target_os = "linux")]
pub(crate) struct StepBar {
    shown: ProgressBar,
    /// Whether lines are printed instead of a bar.
    has_lines: bool,
    /// The number of the step that was shown last.
    step: u32,
}

#[cfg(target_os = "linux")]
impl StepBar {
    pub(crate) fn new(quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal && !quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let shown = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {msg}")
            .expect("the template is well formed")
            .progress_chars("=> ");
        shown.set_style(style);
        Self { shown, has_lines: !is_terminal && !quiet, step: 0 }
    }

    pub(crate) fn show(&mut self, progress: &bbrlab_kernel::Progress) {
        let prefix = format!("{}/{} {}", progress.step, progress.steps, progress.title);
        if self.has_lines && progress.step != self.step {
            // The command continues if standard error cannot be written.
            let _ = writeln!(anstream::stderr(), "{prefix}");
        }
        self.step = progress.step;
        self.shown.set_prefix(prefix);
        self.shown.set_message(progress.done.clone());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "`STEPS` is exact as an `f64`, and the share is between 0 and 1"
        )]
        self.shown.set_position((progress.share * STEPS as f64) as u64);
    }

    pub(crate) fn end(self) {
        self.shown.finish_and_clear();
    }
}
