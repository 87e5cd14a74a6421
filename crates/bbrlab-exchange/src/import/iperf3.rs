//! Reads iperf3's JSON: `iperf3 --json` of the client or the server, and `--json-stream`.
//!
//! iperf3 counts payload. A sender counts the bytes that the socket accepted and reads cwnd, RTT
//! and retransmissions from `tcp_info`; its RTT is the kernel's smoothed RTT. A receiver counts the
//! bytes that it read. At the end of a test, client and server send each other their sums over the
//! test, such as the number of bytes.
//!
//! Sources: iperf3 3.12 to 3.18, `src/iperf_api.c`.

use std::path::Path;

use bbrlab_lab::LabError;
use bbrlab_run::{Cwnd, FlowSummary, SeriesRow, Srtt, percentile};
use serde::Deserialize;

use super::measurement::{MeasuredFlow, Measurement, bits_per_s, mbps, small, wire_bytes};
use super::source::wrong;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Start {
    #[serde(default)]
    connected: Vec<Connected>,
    version: Option<String>,
    timestamp: Option<Timestamp>,
    tcp_mss_default: Option<u64>,
    tcp_mss: Option<u64>,
    #[serde(rename = "test_start")]
    test: Option<TestStart>,
}

#[derive(Debug, Deserialize)]
struct Connected {
    socket: i64,
    local_host: String,
    local_port: u16,
    remote_host: String,
    remote_port: u16,
}

#[derive(Debug, Deserialize)]
struct Timestamp {
    timesecs: f64,
}

#[derive(Debug, Default, Deserialize)]
struct TestStart {
    protocol: Option<String>,
    blksize: Option<u64>,
    reverse: Option<u8>,
    omit: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Interval {
    #[serde(default)]
    streams: Vec<StreamInterval>,
}

#[derive(Debug, Deserialize)]
struct StreamInterval {
    socket: i64,
    start: f64,
    end: f64,
    bytes: u64,
    retransmits: Option<u64>,
    snd_cwnd: Option<u64>,
    rtt: Option<u64>,
    packets: Option<u64>,
    lost_packets: Option<u64>,
    #[serde(default)]
    omitted: bool,
    sender: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct End {
    #[serde(default)]
    streams: Vec<StreamEnd>,
    sender_tcp_congestion: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamEnd {
    sender: Option<Sum>,
    receiver: Option<Sum>,
    udp: Option<Sum>,
}

#[derive(Debug, Default, Deserialize)]
struct Sum {
    socket: Option<i64>,
    seconds: Option<f64>,
    bytes: Option<u64>,
    retransmits: Option<u64>,
    packets: Option<u64>,
    lost_packets: Option<u64>,
    out_of_order: Option<u64>,
    jitter_ms: Option<f64>,
    mean_rtt: Option<f64>,
}

/// The parts of iperf3's document that the import uses.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) start: Option<Start>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) end: Option<End>,
    pub(crate) error: Option<String>,
    pub(crate) title: Option<String>,
}

/// Converts the document to flows.
///
/// # Errors
/// Fails if the document contains no interval.
pub(crate) fn measurement(path: &Path, parts: Parts) -> Result<Measurement, LabError> {
    let Parts { start, intervals, end, error, title } = parts;
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    let mut notes = Vec::new();
    if let Some(error) = error {
        if intervals.is_empty() {
            return Err(wrong(path, &format!("iperf3 failed: {error}")));
        }
        notes.push(format!(
            "iperf3 failed ({error}), so the file has only the values before the failure"
        ));
    }
    let test = start.test.as_ref();
    let is_udp = test.and_then(|test| test.protocol.as_deref()) == Some("UDP");
    let omit_s = test.and_then(|test| test.omit).unwrap_or(0.0);
    let rows: Vec<StreamInterval> =
        intervals.into_iter().flat_map(|interval| interval.streams).collect();
    let mut flows = Vec::new();
    for socket in sockets(&start, &rows) {
        let of_flow: Vec<&StreamInterval> =
            rows.iter().filter(|row| row.socket == socket).collect();
        let sums = end.streams.iter().find(|sums| {
            [&sums.sender, &sums.receiver, &sums.udp]
                .into_iter()
                .flatten()
                .any(|sum| sum.socket == Some(socket))
        });
        let connected = start.connected.iter().find(|connected| connected.socket == socket);
        let stream = Stream { start: &start, is_udp, omit_s, connected, sums };
        if let Some(mut flow) = stream.flow(&of_flow) {
            let cc =
                if is_udp { Some("udp".to_owned()) } else { end.sender_tcp_congestion.clone() };
            flow.summary.cc = cc.unwrap_or_default();
            flow.summary.name.clone_from(&title);
            flows.push(flow);
        }
    }
    let version = start.version.unwrap_or_default();
    let version = version.strip_prefix("iperf ").unwrap_or(&version).to_owned();
    let begin_s = start.timestamp.map(|timestamp| timestamp.timesecs);
    Ok(Measurement { tool: "iperf3", version, begin_s, flows, notes })
}

/// Returns the sockets of all streams: first in the order in which they connected, then those that
/// only the intervals name.
fn sockets(start: &Start, rows: &[StreamInterval]) -> Vec<i64> {
    let mut sockets: Vec<i64> = start.connected.iter().map(|connected| connected.socket).collect();
    for row in rows {
        if !sockets.contains(&row.socket) {
            sockets.push(row.socket);
        }
    }
    sockets
}

/// The data about one stream of a test, except its intervals, which are separate arguments.
struct Stream<'a> {
    start: &'a Start,
    is_udp: bool,
    /// The length in seconds of the part at the start of the test that the sums leave out (iperf3's
    /// `--omit`). After this part, the times of the intervals restart at 0.
    omit_s: f64,
    connected: Option<&'a Connected>,
    sums: Option<&'a StreamEnd>,
}

impl Stream<'_> {
    fn flow(&self, rows: &[&StreamInterval]) -> Option<MeasuredFlow> {
        let (mut series, mut payload) = (Vec::new(), vec![(0.0, 0)]);
        let (mut total, mut again) = (0, rows.iter().find_map(|row| row.retransmits).map(|_| 0));
        let (mut sent, mut lost) = (None, None);
        for row in rows {
            let shift_s = if row.omitted { 0.0 } else { self.omit_s };
            let (from_s, to_s) = (row.start + shift_s, row.end + shift_s);
            total += row.bytes;
            again = again.and_then(|again: u64| Some(again + row.retransmits?));
            sent = row.packets.map(|packets| sent.unwrap_or(0) + packets);
            lost = row.lost_packets.map(|packets| lost.unwrap_or(0) + packets);
            payload.push((to_s, total));
            let is_receiver = row.sender == Some(false);
            series.push(SeriesRow {
                time_s: to_s,
                cwnd_packets: bbrlab_run::MaybeKnown(self.packets(row.snd_cwnd).and_then(small)),
                srtt_us: row.rtt.filter(|&rtt| rtt > 0).and_then(small),
                retransmitted_packets: bbrlab_run::MaybeKnown(again),
                received_bytes: bbrlab_run::MaybeKnown(is_receiver.then_some(total)),
                throughput_bps: self
                    .wire(row.bytes)
                    .and_then(|wire| bits_per_s(wire, to_s - from_s)),
                sent_packets: bbrlab_run::MaybeKnown(sent),
                lost_packets: bbrlab_run::MaybeKnown(lost),
                ..SeriesRow::default()
            });
        }
        let stop_s = series.last()?.time_s;
        let summary = self.summary(rows, &series, stop_s);
        Some(MeasuredFlow {
            summary,
            rows: series,
            payload,
            ends: self.ends(rows),
            ..MeasuredFlow::default()
        })
    }

    fn summary(&self, rows: &[&StreamInterval], series: &[SeriesRow], stop_s: f64) -> FlowSummary {
        let none = Sum::default();
        let sender = self.sums.and_then(|sums| sums.sender.as_ref()).unwrap_or(&none);
        let receiver = self.sums.and_then(|sums| sums.receiver.as_ref()).unwrap_or(&none);
        let udp = self.sums.and_then(|sums| sums.udp.as_ref()).unwrap_or(&none);
        let kept: Vec<&&StreamInterval> = rows.iter().filter(|row| !row.omitted).collect();
        let counted = |field: fn(&StreamInterval) -> Option<u64>| -> Option<u64> {
            kept.iter().map(|row| field(row)).sum()
        };
        let counted_bytes = kept.iter().map(|row| row.bytes).sum();
        let counted_s = kept.iter().map(|row| row.end).fold(0.0, f64::max)
            - kept.iter().map(|row| row.start).fold(f64::INFINITY, f64::min);
        // If the receiving host did not send its number of bytes, the number is absent or, for TCP,
        // may be 0.
        let received = receiver.bytes.or(udp.bytes).filter(|&bytes| bytes > 0 || self.is_udp);
        let (bytes, seconds) = match (received, sender.bytes) {
            (Some(bytes), _) => (bytes, receiver.seconds.or(udp.seconds)),
            (None, Some(bytes)) => (bytes, sender.seconds),
            (None, None) => (counted_bytes, Some(counted_s)),
        };
        let seconds = seconds.filter(|&seconds| seconds > 0.0).unwrap_or(counted_s);
        let ms: Vec<f64> =
            series.iter().filter_map(|row| row.srtt_us).map(|us| f64::from(us) / 1e3).collect();
        let mut sorted = ms.clone();
        sorted.sort_by(f64::total_cmp);
        let windows: Vec<f64> =
            series.iter().filter_map(|row| row.cwnd_packets.0).map(f64::from).collect();
        let (packets, lost) = (
            udp.packets.or(if self.is_udp { counted(|row| row.packets) } else { None }),
            udp.lost_packets.or(if self.is_udp { counted(|row| row.lost_packets) } else { None }),
        );
        FlowSummary {
            start_s: Some(0.0),
            stop_s: Some(stop_s),
            throughput_mbps: self.wire(bytes).and_then(|wire| mbps(wire, seconds)),
            goodput_mbps: mbps(bytes, seconds),
            sent_packets: packets,
            delivered_packets: packets
                .zip(lost)
                .map(|(packets, lost)| packets.saturating_sub(lost)),
            out_of_order_packets: udp.out_of_order,
            retransmitted_packets: sender.retransmits.or_else(|| counted(|row| row.retransmits)),
            srtt_ms: Srtt {
                mean: sender
                    .mean_rtt
                    .filter(|&us| us > 0.0)
                    .map(|us| us / 1e3)
                    .or_else(|| bbrlab_run::mean(&ms)),
                p95: percentile(&sorted, 950),
            },
            cwnd_packets: Cwnd {
                mean: bbrlab_run::mean(&windows),
                max: windows.iter().copied().reduce(f64::max),
            },
            jitter_ms: udp.jitter_ms,
            loss_ratio: packets.zip(lost).and_then(|(packets, lost)| ratio(lost, packets)),
            ..FlowSummary::default()
        }
    }

    /// Returns the payload bytes of a full packet; `None` if the file does not contain them.
    fn mss(&self) -> Option<u64> {
        let mss = if self.is_udp {
            self.start.test.as_ref().and_then(|test| test.blksize)
        } else {
            self.start.tcp_mss.or(self.start.tcp_mss_default)
        };
        mss.filter(|&mss| mss > 0)
    }

    fn packets(&self, bytes: Option<u64>) -> Option<u64> {
        Some(bytes? / self.mss()?)
    }

    /// Converts payload bytes to bytes on the wire; `None` if the size of a full packet is unknown.
    /// The headers of a UDP datagram are 24 bytes shorter than those of a TCP segment with
    /// timestamps.
    fn wire(&self, bytes: u64) -> Option<u64> {
        let is_ipv6 = self.connected.is_some_and(|ends| ends.local_host.contains(':'));
        let mss = self.mss()?;
        let wire = wire_bytes(bytes, mss, is_ipv6);
        Some(if self.is_udp { wire - bytes.div_ceil(mss) * 24 } else { wire })
    }

    /// Returns the two ends of the connection, the sender's first; `None` if the file does not
    /// contain them.
    fn ends(&self, rows: &[&StreamInterval]) -> Option<[String; 2]> {
        let Connected { local_host, local_port, remote_host, remote_port, .. } = self.connected?;
        let is_reverse = self.start.test.as_ref().and_then(|test| test.reverse) == Some(1);
        let is_sender = rows.iter().find_map(|row| row.sender).unwrap_or(!is_reverse);
        let (local, remote) =
            (format!("{local_host}:{local_port}"), format!("{remote_host}:{remote_port}"));
        Some(if is_sender { [local, remote] } else { [remote, local] })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a flow has fewer than 2^52 packets")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
