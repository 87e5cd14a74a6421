//! The settings of TCP that `sysctl` can change.

use bbrlab_stack::{BufferBounds, Stack};
use bbrlab_units::Span;

/// Returns the settings with which a Linux host behaves like `stack`: names below `net.ipv4` with
/// values. All other settings must have the kernel's defaults. `has_ecn` is whether the host's
/// flows use ECN.
#[must_use]
pub fn tcp_sysctls(stack: &Stack, has_ecn: bool) -> Vec<(&'static str, String)> {
    let bounds = |it: BufferBounds| format!("{} {} {}", it.least, it.initial, it.most);
    let mut all = vec![
        ("tcp_rmem", bounds(stack.tcp_rmem)),
        ("tcp_wmem", bounds(stack.tcp_wmem)),
        ("tcp_no_metrics_save", "1".to_owned()),
    ];
    let others = [
        (has_ecn, "tcp_ecn", 1),
        (!stack.slow_start_after_idle, "tcp_slow_start_after_idle", 0),
        (!stack.sack, "tcp_sack", 0),
        (!stack.socket.dsack, "tcp_dsack", 0),
        (stack.loss.rack == Some(false), "tcp_recovery", 0),
        (stack.loss.tlp == Some(false), "tcp_early_retrans", 0),
        (stack.min_rto != Span::from_millis(200), "tcp_rto_min_us", stack.min_rto.0 / 1000),
    ];
    let others = others.into_iter().filter(|&(is_other, ..)| is_other);
    all.extend(others.map(|(_, name, value)| (name, value.to_string())));
    all
}
