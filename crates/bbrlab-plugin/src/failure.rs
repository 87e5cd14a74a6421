//! The first failure of a call into a shared object. After the first failure, no function of the
//! shared object except `destroy` is called, and all runs that use the shared object end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Failure {
    is_there: AtomicBool,
    first: Mutex<Option<String>>,
}

impl Failure {
    pub(crate) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, text: String) {
        let mut first = self.first.lock().expect("no thread panics while holding the lock");
        if first.is_none() {
            *first = Some(text);
            self.is_there.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.first.lock().expect("no thread panics while holding the lock").clone()
    }
}
