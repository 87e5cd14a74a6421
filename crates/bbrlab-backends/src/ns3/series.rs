//! The time series of flows and queues, from the driver's samples.

use std::borrow::Cow;

use bbrlab_run::{MaybeKnown, QueueRow, QueueSeries, Run, Sample, Series, SeriesRow};

use super::network::Network;
use crate::tables::Table;

/// Returns a text equal to `text`, which comes from the driver's output. If `known` has an equal
/// text, the function returns a reference to it, otherwise a copy of `text`.
fn kept(text: &str, known: &[&'static str]) -> Cow<'static, str> {
    let found = known.iter().find(|name| **name == text);
    found.map_or_else(|| Cow::Owned(text.to_owned()), |name| Cow::Borrowed(*name))
}

/// Returns the rows of `series.parquet`; empty if the run has no series.
pub(super) fn of_flows(run: &Run, table: &Table) -> Series {
    let mut series = Series::default();
    if !run.flow_series || run.sample == Sample::Off {
        return series;
    }
    for row in table.rows() {
        let (Some(time_s), Some(flow)) = (row.number("t"), row.small("flow")) else { continue };
        let states = ["slow_start", "avoidance", "cwr", "recovery", "loss"];
        series.push(SeriesRow {
            time_s,
            flow,
            cwnd_packets: MaybeKnown(row.small("cwnd")),
            ssthresh_packets: row.small("ssthresh"),
            inflight_packets: MaybeKnown(row.small("unacked")),
            pacing_rate_bps: row.count("pacing_Bps").map(|bytes| bytes.saturating_mul(8)),
            srtt_us: row.small("srtt_us"),
            rtt_us: row.small("sample_us"),
            sent_packets: MaybeKnown(row.count("data_segs")),
            delivered_packets: MaybeKnown(row.count("delivered")),
            retransmitted_packets: MaybeKnown(row.count("retrans_total")),
            received_bytes: MaybeKnown(row.count("rx_bytes")),
            ca_state: kept(row.text("ca_state"), &states),
            state: kept(row.text("state"), &["STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"]),
            ..SeriesRow::default()
        });
    }
    series
}

/// Returns the rows of `queue.parquet`. Only the links that flows can share have rows.
pub(super) fn of_queues(run: &Run, table: &Table, network: &Network) -> QueueSeries {
    let mut series = QueueSeries::default();
    if !run.queue_series || run.sample == Sample::Off {
        return series;
    }
    for row in table.rows() {
        let wire = row.count("wire").and_then(|number| usize::try_from(number).ok());
        let place = network.served.iter().position(|it| Some(it.wire) == wire);
        let shared = place.filter(|&place| network.served[place].owner.is_none());
        let link = shared.and_then(|place| u32::try_from(place).ok());
        let (Some(time_s), Some(link)) = (row.number("t"), link) else { continue };
        series.push(QueueRow {
            time_s,
            link,
            packets: row.count("qlen").unwrap_or(0),
            bytes: MaybeKnown(row.count("backlog")),
            arrivals: MaybeKnown(row.count("arrivals")),
            drops: MaybeKnown(row.count("drops")),
            marks: MaybeKnown(row.count("marks")),
            ..QueueRow::default()
        });
    }
    series
}
