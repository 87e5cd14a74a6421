//! Converts the guest kernel's samples to the time series of flows and queues.

use std::borrow::Cow;

use bbrlab_run::{MaybeKnown, QueueRow, QueueSeries, Run, Sample, Series, SeriesRow};

use crate::tables::{Row, Table};

/// Gains of BBR as multiples of 1/256. [linux] `tcp_bbr.c`: `bbr_high_gain`, `bbr_drain_gain`.
const HIGH_GAIN: u64 = 739;
const DRAIN_GAIN: u64 = 88;
const UNIT_GAIN: u64 = 256;

/// Returns the rows of `series.parquet`; empty if the run has no series.
pub(super) fn of_flows(run: &Run, table: &Table) -> Series {
    let mut series = Series::default();
    if !run.flow_series || run.sample == Sample::Off {
        return series;
    }
    let mut before = vec![[0_u64; 3]; run.flows.len()];
    for row in table.rows() {
        let (Some(time_s), Some(flow)) = (row.number("t"), row.small("flow")) else { continue };
        let Some(before) = before.get_mut(flow as usize) else { continue };
        let bits = |column: &str| row.count(column).map(|bytes| bytes.saturating_mul(8));
        let inflight = row
            .small("unacked")
            .zip(row.small("retrans"))
            .zip(row.small("sacked").zip(row.small("lost")))
            .map(|((out, retrans), (sacked, lost))| {
                (out + retrans).saturating_sub(sacked).saturating_sub(lost)
            });
        series.push(SeriesRow {
            time_s,
            flow,
            cwnd_packets: MaybeKnown(row.small("cwnd")),
            ssthresh_packets: row.small("ssthresh"),
            inflight_packets: MaybeKnown(inflight),
            pacing_rate_bps: bits("pacing_Bps"),
            bw_bps: bits("bbr_bw_Bps"),
            min_rtt_us: row.small("bbr_min_rtt_us").or(row.small("min_rtt_us")),
            srtt_us: row.small("srtt_us").filter(|&us| us > 0),
            sent_packets: MaybeKnown(row.count("data_segs")),
            // The kernel's count of delivered packets includes the SYN.
            delivered_packets: MaybeKnown(row.count("delivered").map(|all| all.saturating_sub(1))),
            retransmitted_packets: MaybeKnown(row.count("retrans_total")),
            received_bytes: MaybeKnown(row.count("rx_bytes")),
            limited_by: limited_by(row, before),
            ca_state: ca_state(row).into(),
            state: bbr_state(row).into(),
            inflight_hi_packets: row.small("bbr_inflight_hi"),
            inflight_lo_packets: row.small("bbr_inflight_lo"),
            bw_hi_bps: bits("bbr_bw_hi_Bps"),
            bw_lo_bps: bits("bbr_bw_lo_Bps"),
            ..SeriesRow::default()
        });
    }
    series
}

/// Returns the limit that, according to the kernel, applied for more than half of the busy time
/// since the previous row; `app` if there was no busy time. The kernel does not distinguish the
/// limits `pacing` and `cwnd`, so the result for both is empty.
fn limited_by(row: Row<'_>, before: &mut [u64; 3]) -> Cow<'static, str> {
    let now = ["busy_us", "rwnd_limited_us", "sndbuf_limited_us"]
        .map(|column| row.count(column).unwrap_or(0));
    let was = std::mem::replace(before, now);
    let [busy, rwnd, sndbuf] = [0, 1, 2].map(|at| now[at].saturating_sub(was[at]));
    if busy == 0 {
        "app".into()
    } else if 2 * rwnd > busy {
        "rwnd".into()
    } else if 2 * sndbuf > busy {
        "sndbuf".into()
    } else {
        "".into()
    }
}

/// Returns the congestion-avoidance state. [linux] `enum tcp_ca_state`.
fn ca_state(row: Row<'_>) -> &'static str {
    let is_below = match (row.count("cwnd"), row.count("ssthresh")) {
        (Some(cwnd), Some(ssthresh)) => cwnd < ssthresh,
        (_, None) => true,
        (None, _) => false,
    };
    match row.count("ca_state") {
        Some(0 | 1) if is_below => "slow_start",
        Some(0 | 1) => "avoidance",
        Some(2) => "cwr",
        Some(3) => "recovery",
        Some(4) => "loss",
        _ => "",
    }
}

/// Returns the state of BBR v1, which its two gains determine.
fn bbr_state(row: Row<'_>) -> &'static str {
    match (row.count("bbr_pacing_gain_x256"), row.count("bbr_cwnd_gain_x256")) {
        (Some(HIGH_GAIN), _) => "STARTUP",
        (Some(DRAIN_GAIN), _) => "DRAIN",
        (Some(UNIT_GAIN), Some(UNIT_GAIN)) => "PROBE_RTT",
        (Some(_), Some(_)) => "PROBE_BW",
        _ => "",
    }
}

/// Returns the rows of `queue.parquet`. `links` has, for each of the guest kernel's queues, the
/// index of its link in the run's summary; `None` for queues without a series.
pub(super) fn of_queues(table: &Table, links: &[Option<u32>]) -> QueueSeries {
    let mut series = QueueSeries::default();
    for row in table.rows() {
        let number = row.count("queue").and_then(|number| usize::try_from(number).ok());
        let link = number.and_then(|number| links.get(number).copied().flatten());
        let (Some(time_s), Some(link)) = (row.number("t"), link) else { continue };
        let (packets, drops) = (row.count("qlen").unwrap_or(0), row.count("drops"));
        let arrivals =
            row.count("packets").zip(drops).map(|(departures, drops)| departures + drops + packets);
        series.push(QueueRow {
            time_s,
            link,
            packets,
            bytes: MaybeKnown(row.count("backlog")),
            arrivals: MaybeKnown(arrivals),
            drops: MaybeKnown(drops),
            marks: MaybeKnown(row.count("marks")),
            ..QueueRow::default()
        });
    }
    series
}
