//! Requests to stop. The first Ctrl-C or SIGTERM requests that the runs stop; the second ends the
//! program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A request to stop. All clones of a request share one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    /// The request to stop all of the work, if this request is only for a part of it.
    outer: Option<Arc<Stop>>,
}

impl Stop {
    /// Creates a `Stop` in which no stop is requested yet. Only a call of [`Self::request`]
    /// requests the stop; Ctrl-C and SIGTERM do not.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a `Stop` in which no stop is requested yet. The user requests the stop with Ctrl-C
    /// or SIGTERM.
    ///
    /// # Errors
    /// Fails if the system rejects a signal handler.
    pub fn on_interrupt() -> std::io::Result<Self> {
        let stop = Self::new();
        for signal in [SIGINT, SIGTERM] {
            // The handler that ends the program must be registered first: at the first signal, this
            // handler finds the flag unset, and the second handler sets the flag. At the second
            // signal, the first handler finds the flag set and ends the program.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.requested))?;
            flag::register(signal, Arc::clone(&stop.requested))?;
        }
        Ok(stop)
    }

    /// Creates a request to stop a part of the work. A request to stop all of the work also stops
    /// the part; a request to stop the part does not stop the remaining work.
    #[must_use]
    pub fn inner(&self) -> Self {
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
