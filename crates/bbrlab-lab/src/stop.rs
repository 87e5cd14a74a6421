//! Interrupts: Ctrl-C and SIGTERM ask the runs to come to an end; a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user wants it to end. Clones share the wish.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    wished: Arc<AtomicBool>,
    /// Whose wish is a wish here, too.
    outer: Option<Arc<Stop>>,
}

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
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.wished))?;
            flag::register(signal, Arc::clone(&stop.wished))?;
        }
        Ok(stop)
    }

    /// The end of a part: wished by whoever wishes the end of the whole, but not the other way round.
    #[must_use]
    pub(crate) fn inner(&self) -> Self {
        Self { wished: Arc::default(), outer: Some(Arc::new(self.clone())) }
    }

    /// Asks for the end.
    pub fn wish(&self) {
        self.wished.store(true, Ordering::Relaxed);
    }

    /// Whether the end has been asked for.
    #[must_use]
    pub fn is_wished(&self) -> bool {
        self.wished.load(Ordering::Relaxed)
            || self.outer.as_ref().is_some_and(|outer| outer.is_wished())
    }
}
