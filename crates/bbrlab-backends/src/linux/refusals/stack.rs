//! Refuses the settings of the TCP stack that the kernel does not support.

use bbrlab_kernel::Manifest;
use bbrlab_run::Place;
use bbrlab_stack::{DelAck, Recovery, Stack};
use bbrlab_units::Span;

use crate::linux::switches::switches_linux_lacks;
use crate::refused::Refusals;

/// The step by which the guest kernel's clock advances: 256 ns.
const CLOCK_STEP: Span = Span(256);

pub(super) fn of_stack(settings: &Stack, kernel: Option<&Manifest>, all: &mut Refusals) {
    let Stack {
        sndbuf: _,
        rcvbuf: _,
        tcp_rmem: _,
        tcp_wmem: _,
        notsent_lowat: _,
        slow_start_after_idle: _,
        rwnd,
        rcvlowat: _,
        hz,
        sender_qdisc: _,
        tso: _,
        sack: _,
        socket: _,
        recovery,
        loss: _,
        rate: _,
        pacing: _,
        delack,
        min_rto,
        initial_cwnd,
        clock_step,
    } = settings;
    let at = Place::Stack;
    all.unless(
        rwnd.is_none(),
        at,
        "rwnd",
        "does not keep the advertised window below a bound",
        Some("a fixed `rcvbuf`"),
    );
    let its_hz = kernel.map_or(1000, |kernel| kernel.hz);
    all.unless(
        *hz == its_hz,
        at,
        "hz",
        &format!("was built with {its_hz} ticks per second"),
        Some(&format!("`hz = {its_hz}`")),
    );
    all.unless(
        *recovery == Recovery::Linux,
        at,
        "recovery",
        "has its own recovery",
        Some("`recovery = \"linux\"`"),
    );
    all.unless(
        !matches!(delack, DelAck::Every { .. }),
        at,
        "delack",
        "does not count segments to decide when to send an ACK",
        Some("`delack = \"linux\"`"),
    );
    all.unless(
        min_rto.0 % 1000 == 0 && min_rto.0 > 0,
        at,
        "min_rto",
        "accepts only whole microseconds",
        Some("`min_rto = \"200ms\"`"),
    );
    all.unless(
        *initial_cwnd > 0,
        at,
        "initial_cwnd",
        "begins with one segment at least",
        Some("`initial_cwnd = 1`"),
    );
    all.unless(
        *clock_step == Span(1) || *clock_step == CLOCK_STEP,
        at,
        "clock_step",
        "has a clock with steps of 256 ns",
        Some("`clock_step = \"256ns\"`"),
    );
    for key in switches_linux_lacks(settings) {
        all.no(at, key, "has no such setting", Some("the key's value with `profile = \"linux\"`"));
    }
}
