//! The settings of the TCP stack that the kernel lacks.

use bbrlab_kernel::Manifest;
use bbrlab_run::Place;
use bbrlab_stack::{
    DelAck, LossSwitches, PacingSwitches, RateSwitches, Recovery, SocketSwitches, Stack,
};
use bbrlab_units::Span;

use crate::backends::refused::Refusals;

/// The clock's step of the guest.
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
        socket,
        recovery,
        loss,
        rate,
        pacing,
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
        "does not keep to a bound of the advertised window",
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
        "counts no segments for delayed ACKs",
        Some("`delack = \"linux\"`"),
    );
    all.unless(
        min_rto.0 % 1000 == 0 && min_rto.0 > 0,
        at,
        "min_rto",
        "has whole microseconds there",
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
    switches(socket, loss, *rate, pacing, all);
}

/// The switches for which the kernel has no setting must have Linux's values.
fn switches(
    socket: &SocketSwitches,
    loss: &LossSwitches,
    rate: RateSwitches,
    pacing: &PacingSwitches,
    all: &mut Refusals,
) {
    let at = Place::Stack;
    let other = "has no such switch";
    let linux = Some("the value of `profile = \"linux\"`");
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
    let mut same = |is_same: bool, key: &'static str| all.unless(is_same, at, key, other, linux);
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
}
