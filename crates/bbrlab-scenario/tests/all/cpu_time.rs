//! How much work an input makes: CPU time, which other programs on the machine hardly change.

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds that this thread has used.
pub(crate) fn cpu_s() -> i64 {
    clock_gettime(ClockId::ThreadCPUTime).tv_sec
}
