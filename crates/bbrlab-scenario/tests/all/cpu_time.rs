//! Measures CPU time instead of elapsed time, because other programs on the machine hardly change
//! the CPU time.

use cpu_time::ThreadTime;

/// Returns the CPU seconds that this thread has used.
pub(crate) fn cpu_s() -> u64 {
    ThreadTime::now().as_duration().as_secs()
}
