//! `[stack]` on a testbed: what `sysctl`, routes and iperf3 can set, and reasons for the rest.
//!
//! Every field is taken apart by name, so a new one does not compile until it is decided.

use bbrlab_lab::tcp_sysctls;
use bbrlab_run::{Place, Run};
use bbrlab_stack::{
    EcnMode, LossSwitches, PacingSwitches, RateSwitches, SenderQdisc, SocketBuffer, SocketSwitches,
    Stack,
};

use super::parts::{Refusals, Testbed};

/// Sets what a testbed can set, and refuses the other keys of `[stack]`.
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
        socket,
        recovery,
        loss,
        rate,
        pacing,
        delack,
        min_rto,
        initial_cwnd,
        clock_step,
    } = run.stack;
    let usual = Stack::default();
    let has_ecn = run.classes.iter().any(|class| class.ecn == EcnMode::On);
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
        testbed.remarks.push("stack.clock_step: the clocks of the hosts decide".to_owned());
    }
    if sender_qdisc == SenderQdisc::Fq {
        testbed.remarks.push(
            "stack.sender_qdisc = \"fq\": written as the root qdisc of the sending hosts"
                .to_owned(),
        );
    }
    let one_size = "iperf3 has one option for the buffers of both hosts; write `tcp_rmem` and \
                    `tcp_wmem`";
    let is_whole = min_rto.0 > 0 && min_rto.0 % 1000 == 0;
    for (is_wrong, key, reason) in [
        (sndbuf != SocketBuffer::Auto, "sndbuf", one_size),
        (rcvbuf != SocketBuffer::Auto, "rcvbuf", one_size),
        (rwnd.is_some(), "rwnd", "iperf3 does not bound the advertised window"),
        (rcvlowat != usual.rcvlowat, "rcvlowat", "iperf3 does not set SO_RCVLOWAT"),
        (tso != usual.tso, "tso", "is not written by this export"),
        (recovery != usual.recovery, "recovery", "Linux has only its own recovery"),
        (delack != usual.delack, "delack", "is not written by this export"),
        (!is_whole, "min_rto", "sysctl has whole microseconds, from 1 on"),
    ] {
        if is_wrong {
            refusals.refuse(Place::Stack, key, reason);
        }
    }
    for key in switches(&socket, &loss, rate, &pacing) {
        refusals.refuse(Place::Stack, key, "Linux has no such switch");
    }
}

/// Returns the keys of switches that differ from Linux, and that Linux cannot change.
fn switches(
    socket: &SocketSwitches,
    loss: &LossSwitches,
    rate: RateSwitches,
    pacing: &PacingSwitches,
) -> Vec<&'static str> {
    let mut keys = Vec::new();
    let mut same = |is_same: bool, key: &'static str| {
        if !is_same {
            keys.push(key);
        }
    };
    let SocketSwitches {
        sockbuf,
        nagle: _,
        dsack: _,
        paws,
        tcp_options,
        handshake,
        rtt_clock,
        rtt_retrans,
        cc_rtt,
    } = socket;
    let plain = SocketSwitches::default();
    same(*sockbuf == plain.sockbuf, "sockbuf");
    same(*paws != Some(false), "paws");
    same(*tcp_options == plain.tcp_options, "tcp_options");
    same(*handshake == plain.handshake, "handshake");
    same(*rtt_clock == plain.rtt_clock, "rtt_clock");
    same(*rtt_retrans == plain.rtt_retrans, "rtt_retrans");
    same(*cc_rtt == plain.cc_rtt, "cc_rtt");
    let LossSwitches {
        rack: _,
        tlp: _,
        undo,
        rule3,
        rwnd_bounds,
        pipe_keeps_sacked_retrans,
        partial_ack,
        rto,
        rto_impatient,
        rto_estimate,
        exit_sets_ssthresh,
        cwnd_validation,
    } = loss;
    let plain = LossSwitches::default();
    same(*undo != Some(false), "undo");
    same(*rule3 == plain.rule3, "nextseg_rule3");
    same(*rwnd_bounds == plain.rwnd_bounds, "rwnd_bounds");
    same(
        *pipe_keeps_sacked_retrans == plain.pipe_keeps_sacked_retrans,
        "pipe_keeps_sacked_retrans",
    );
    same(*partial_ack == plain.partial_ack, "partial_ack_sends");
    same(*rto == plain.rto, "rto");
    same(*rto_impatient == plain.rto_impatient, "rto_impatient");
    same(*rto_estimate == plain.rto_estimate, "rto_estimate");
    same(*exit_sets_ssthresh == plain.exit_sets_ssthresh, "exit_sets_ssthresh");
    same(*cwnd_validation == plain.cwnd_validation, "cwnd_validation");
    let RateSwitches { ack_interval, is_sticky, loss, invalid, min_rtt, is_blind } = rate;
    let plain = RateSwitches::default();
    same(ack_interval == plain.ack_interval, "rate_ack_interval");
    same(is_sticky == plain.is_sticky, "rate_sample_sticky");
    same(loss == plain.loss, "rate_loss_abs");
    same(invalid == plain.invalid, "rate_invalid");
    same(min_rtt == plain.min_rtt, "rate_min_rtt");
    same(is_blind == plain.is_blind, "rate_samples");
    let PacingSwitches { pacing, counts_headers, pace_initial_window, app_write } = pacing;
    let plain = PacingSwitches::default();
    same(*pacing == plain.pacing, "pacing");
    same(*counts_headers == plain.counts_headers, "pacing_counts_headers");
    same(*pace_initial_window == plain.pace_initial_window, "pace_initial_window");
    same(*app_write == plain.app_write, "app_write");
    keys
}
