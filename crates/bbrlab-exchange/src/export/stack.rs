//! Sets the keys of `[stack]` that `sysctl`, routes and iperf3 can set on a testbed, and refuses
//! the other keys with reasons.
//!
//! The code names every field, so a new field does not compile until this file sets or refuses it.

use bbrlab_lab::{switches_linux_lacks, tcp_sysctls};
use bbrlab_run::{Place, Run};
use bbrlab_stack::{EcnMode, SenderQdisc, SocketBuffer, Stack};

use super::parts::{Refusals, Testbed};

/// Adds to `testbed` the settings for the keys of `[stack]` that a testbed can have, and refuses
/// the other keys.
pub(super) fn stack(run: &Run, testbed: &mut Testbed, refusals: &mut Refusals<'_>) {
    let Stack {
        sndbuf,
        rcvbuf,
        tcp_rmem: _,
        tcp_wmem: _,
        notsent_lowat,
        slow_start_after_idle: _,
        rwnd,
        rcvlowat,
        hz,
        sender_qdisc,
        tso,
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
    } = run.stack;
    let usual = Stack::default();
    let has_ecn = run.classes.iter().any(|class| class.settings.ecn == EcnMode::On);
    let mut sysctls = tcp_sysctls(&run.stack, has_ecn);
    sysctls.extend(notsent_lowat.map(|bytes| ("tcp_notsent_lowat", bytes.to_string())));
    testbed.sysctls =
        sysctls.iter().map(|(name, value)| format!("net.ipv4.{name}={value}")).collect();
    testbed.initial_cwnd = (initial_cwnd != usual.initial_cwnd).then_some(initial_cwnd);
    if min_rto != usual.min_rto {
        testbed.remarks.push("stack.min_rto: needs Linux 6.11 or newer".to_owned());
    }
    if hz != usual.hz {
        testbed.remarks.push(format!("stack.hz = {hz}: the kernel's CONFIG_HZ decides"));
    }
    if clock_step != usual.clock_step {
        testbed.remarks.push("stack.clock_step: the hosts' clocks have their own steps".to_owned());
    }
    if sender_qdisc == SenderQdisc::Fq {
        testbed.remarks.push(
            "stack.sender_qdisc = \"fq\": written as the root qdisc of the sending hosts"
                .to_owned(),
        );
    }
    let one_size = "iperf3 has one option for the buffers of both hosts; set `stack.tcp_rmem` and \
                    `stack.tcp_wmem` instead, which this export writes as sysctls";
    let is_whole = min_rto.0 > 0 && min_rto.0 % 1000 == 0;
    for (is_wrong, key, reason) in [
        (sndbuf != SocketBuffer::Auto, "sndbuf", one_size),
        (rcvbuf != SocketBuffer::Auto, "rcvbuf", one_size),
        (rwnd.is_some(), "rwnd", "iperf3 does not bound the advertised window"),
        (rcvlowat != usual.rcvlowat, "rcvlowat", "iperf3 does not set SO_RCVLOWAT"),
        (tso != usual.tso, "tso", "is not written by this export"),
        (recovery != usual.recovery, "recovery", "Linux has only its own recovery"),
        (delack != usual.delack, "delack", "is not written by this export"),
        (!is_whole, "min_rto", "sysctl sets whole microseconds, at least 1"),
    ] {
        if is_wrong {
            refusals.refuse(Place::Stack, key, reason);
        }
    }
    for key in switches_linux_lacks(&run.stack) {
        refusals.refuse(Place::Stack, key, "Linux has no such setting");
    }
}
