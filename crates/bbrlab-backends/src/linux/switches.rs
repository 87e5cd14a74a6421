//! The switches of the stack for which Linux has no setting.

use bbrlab_stack::{LossSwitches, PacingSwitches, RateSwitches, SocketSwitches, Stack};

/// Returns the keys of switches that do not behave like Linux, and that no setting of Linux
/// changes.
///
/// Every field is listed by name, so a new one does not compile until it is decided.
#[must_use]
pub fn switches_linux_lacks(stack: &Stack) -> Vec<&'static str> {
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
    } = &stack.socket;
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
    } = &stack.loss;
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
    let RateSwitches { ack_interval, is_sticky, loss, invalid, min_rtt, is_blind } = stack.rate;
    let plain = RateSwitches::default();
    same(ack_interval == plain.ack_interval, "rate_ack_interval");
    same(is_sticky == plain.is_sticky, "rate_sample_sticky");
    same(loss == plain.loss, "rate_loss_abs");
    same(invalid == plain.invalid, "rate_invalid");
    same(min_rtt == plain.min_rtt, "rate_min_rtt");
    same(is_blind == plain.is_blind, "rate_samples");
    let PacingSwitches { pacing, counts_headers, pace_initial_window, app_write } = &stack.pacing;
    let plain = PacingSwitches::default();
    same(*pacing == plain.pacing, "pacing");
    same(*counts_headers == plain.counts_headers, "pacing_counts_headers");
    same(*pace_initial_window == plain.pace_initial_window, "pace_initial_window");
    same(*app_write == plain.app_write, "app_write");
    keys
}
