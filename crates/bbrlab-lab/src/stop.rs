//! Interrupts: Ctrl-C and SIGTERM ask the runs to come to an end; a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user wants it to end. Clones share the wish.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A wish that only [`Self::wish`] can utter.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A wish that the user utters by Ctrl-C.
    ///
    /// # Errors
    /// If the system refuses a signal handler.
    pub fn on_interrupt() -> std::io::Result<Self> {
        let stop = Self::new();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal only raises the flag, the second finds it raised.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.0))?;
            flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    /// Asks for the end.
    pub fn wish(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end has been asked for.
    #[must_use]
    pub fn is_wished(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
