//! Interrupts: Ctrl-C or SIGTERM asks the runs to stop; a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A request to stop. All clones share the request.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    /// The request to stop the whole work, if this one stops a part of it.
    outer: Option<Arc<Stop>>,
}

impl Stop {
    /// Creates a request that only [`Self::request`] makes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a request that the user makes with Ctrl-C or SIGTERM.
    ///
    /// # Errors
    /// If the system rejects a signal handler.
    pub fn on_interrupt() -> std::io::Result<Self> {
        let stop = Self::new();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal finds the flag unset and sets it, the second
            // finds it set and ends the program.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.requested))?;
            flag::register(signal, Arc::clone(&stop.requested))?;
        }
        Ok(stop)
    }

    /// Creates a request to stop a part of the work. A request to stop the whole also stops the
    /// part, but not the other way round.
    #[must_use]
    pub(crate) fn inner(&self) -> Self {
        Self { requested: Arc::default(), outer: Some(Arc::new(self.clone())) }
    }

    /// Requests the stop.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Whether a stop has been requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
            || self.outer.as_ref().is_some_and(|outer| outer.is_requested())
    }
}
