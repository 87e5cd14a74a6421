//! The rows of the time series: a flow, or a link, at a moment.

use bbrlab_cc::Control;
use bbrlab_net::LinkStats;
use bbrlab_run::{QueueRow, SeriesRow};
use bbrlab_units::Time;

use crate::flow::Flow;

/// Bits in a byte.
const BITS: u64 = 8;

/// A flow at `now`.
pub(crate) fn row(now: Time, id: u32, flow: &Flow) -> SeriesRow {
    let conn = flow.sender.conn();
    let info = flow.info();
    let totals = flow.totals(now);
    let known = |value: u32| (value != u32::MAX).then_some(value);
    SeriesRow {
        time_s: now.as_secs_f64(),
        flow: id,
        cwnd_packets: conn.ctl.cwnd,
        ssthresh_packets: (conn.ctl.ssthresh < Control::INFINITE_SSTHRESH)
            .then_some(conn.ctl.ssthresh),
        inflight_packets: conn.inflight,
        pacing_rate_bps: flow.pacing_rate().map(|rate| rate.saturating_mul(BITS)),
        bw_bps: info.bw.map(|bw| bw.saturating_mul(BITS)),
        min_rtt_us: info.min_rtt_us.or(known(conn.min_rtt_us)),
        srtt_us: (conn.srtt_us > 0).then_some(conn.srtt_us >> 3),
        rtt_us: flow.meter.last_rtt_us,
        sent_packets: totals.sender.sent,
        delivered_packets: totals.delivered,
        lost_packets: totals.lost,
        retransmitted_packets: totals.sender.retransmitted,
        received_bytes: totals.receiver.bytes_read,
        state: info.state,
        inflight_hi_packets: info.inflight_hi,
        inflight_lo_packets: info.inflight_lo,
        bw_hi_bps: info.bw_hi.map(|bw| bw.saturating_mul(BITS)),
        bw_lo_bps: info.bw_lo.map(|bw| bw.saturating_mul(BITS)),
    }
}

/// A link at `now`.
pub(crate) fn queue_row(now: Time, link: u32, stats: &LinkStats) -> QueueRow {
    QueueRow {
        time_s: now.as_secs_f64(),
        link,
        packets: stats.backlog_packets(),
        bytes: stats.backlog_bytes,
        drops: stats.drops_full + stats.drops_aqm,
        marks: stats.marks,
    }
}
