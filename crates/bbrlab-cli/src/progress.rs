//! A progress bar, on a terminal only, and the messages before the first run.

use std::io::{IsTerminal as _, Write as _};

use bbrlab_lab::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Number of steps of a full bar.
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
            reason = "a share between 0 and 1"
        )]
        self.shown.set_position((progress.share * STEPS as f64) as u64);
        self.shown.set_message(format!("{}/{} runs", progress.done, progress.total));
    }

    pub(crate) fn end(self) {
        self.shown.finish_and_clear();
    }
}
