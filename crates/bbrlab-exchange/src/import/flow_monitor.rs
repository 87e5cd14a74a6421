//! Reads XML of ns-3's `FlowMonitor`, which has one flow per direction of a connection.
//!
//! The direction with fewer bytes carries the ACKs, and is left out. `FlowMonitor` counts IP
//! packets at the IP layer, each transmission and each reception once. The payload is therefore
//! computed: the received bytes minus the headers, which have 52 bytes per packet of TCP (with
//! timestamps) and 28 per packet of UDP.
//!
//! Sources: ns-3 3.44, `src/flow-monitor/model/flow-monitor.cc`, `ipv4-flow-classifier.cc`,
//! `ipv4-flow-probe.h`, `src/stats/model/histogram.cc`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::path::Path;

use bbrlab_lab::LabError;
use bbrlab_run::{Delay, FlowSummary};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::FLOWS_MAX;
use super::measurement::{MeasuredFlow, Measurement, mbps};
use super::source::{Source, wrong_at};

/// The codes with which `FlowMonitor` reports drops by queues: by the queue of a device, and by a
/// queue discipline.
const QUEUE_REASONS: [u64; 2] = [3, 4];

/// The largest size of one element's text, in bytes. ns-3 writes some 400 bytes.
const ELEMENT_BYTES_MAX: usize = 1 << 16;

/// The protocol numbers of TCP and UDP in IP headers.
const TCP: u64 = 6;
const UDP: u64 = 17;

/// The statistics that `FlowMonitor` wrote about one flow.
#[derive(Clone, Debug, Default)]
struct Stats {
    first_tx_ns: f64,
    first_rx_ns: f64,
    last_rx_ns: f64,
    delay_sum_ns: f64,
    rx_bytes: u64,
    tx_packets: u64,
    rx_packets: u64,
    lost_packets: u64,
    queue_drops: u64,
    /// The bins of the flow's delay histogram: for each, its middle in seconds and its number of
    /// packets.
    delays: Vec<(f64, u64)>,
}

/// The addresses and ports of a flow's two ends, and its protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ends {
    from: (String, u64),
    to: (String, u64),
    protocol: u64,
}

impl Ends {
    fn back(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone(), protocol: self.protocol }
    }
}

/// Reads a document of `FlowMonitor`.
///
/// # Errors
/// Fails if the document is damaged, comes from another program, or has too many flows.
pub(crate) fn read(source: Source) -> Result<Measurement, LabError> {
    let Source { path, content, .. } = source;
    let (stats, ends) = parse(&path, Lines::new(content))?;
    if stats.is_empty() {
        let reason = "found no `Flow` with statistics, expected XML of ns-3's FlowMonitor";
        return Err(wrong_at(&path, 1, reason));
    }
    let mut flows = Vec::new();
    let (mut acks, mut other, mut lost) = (0_u64, 0_u64, 0_u64);
    for (id, flow) in &stats {
        let Some(own) = ends.get(id).filter(|it| [TCP, UDP].contains(&it.protocol)) else {
            other += 1;
            continue;
        };
        let back = ends.iter().find(|(_, ends)| **ends == own.back());
        let back = back.and_then(|(id, _)| stats.get(id).map(|back| (*id, back.rx_bytes)));
        let is_acks = own.protocol == TCP
            && back.is_some_and(|(number, bytes)| (bytes, *id) > (flow.rx_bytes, number));
        if is_acks {
            acks += 1;
        } else if flow.rx_packets == 0 {
            other += 1;
        } else {
            lost += flow.lost_packets;
            flows.push(measured(own, flow));
        }
    }
    let mut notes = vec![
        "`throughput_mbps` counts IP packets, duplicates included; `goodput_mbps` counts them without \
         headers (52 B with TCP, 28 B with UDP); FlowMonitor's files have no cwnd, RTT or retransmissions"
            .to_owned(),
        "`delay_ms` has the delays of packets from the sender's IP layer to the receiver's".to_owned(),
    ];
    if lost > 0 {
        notes.push(format!(
            "FlowMonitor counts {lost} lost packets: all drops, and packets not seen for 10 s; \
             `drops` are only those of queues"
        ));
    }
    if acks > 0 {
        notes.push(format!("left out {acks} flows of ACKs"));
    }
    if other > 0 {
        notes.push(format!("left out {other} flows without ports or without packets"));
    }
    let tool = "flowmonitor";
    Ok(Measurement { tool, version: String::new(), begin_s: None, flows, notes })
}

/// Converts the statistics of a flow to bbrlab's metrics.
fn measured(ends: &Ends, stats: &Stats) -> MeasuredFlow {
    let is_udp = ends.protocol == UDP;
    let headers = stats.rx_packets.saturating_mul(if is_udp { 28 } else { 52 });
    let payload = stats.rx_bytes.saturating_sub(headers);
    let (start_s, stop_s) = (stats.first_tx_ns / 1e9, stats.last_rx_ns / 1e9);
    let seconds = stop_s - start_s;
    #[expect(clippy::cast_precision_loss, reason = "a flow has fewer than 2^52 packets")]
    let packets = stats.rx_packets as f64;
    let ends = [&ends.from, &ends.to].map(|(address, port)| format!("{address}:{port}"));
    let at = |share: f64| quantile_ms(&stats.delays, share);
    let summary = FlowSummary {
        name: Some(ends.join(" > ")),
        cc: if is_udp { "udp".to_owned() } else { String::new() },
        start_s: Some(start_s),
        stop_s: Some(stop_s.max(start_s)),
        throughput_mbps: mbps(stats.rx_bytes, seconds),
        goodput_mbps: mbps(payload, seconds),
        sent_packets: Some(stats.tx_packets),
        drops: Some(stats.queue_drops),
        delay_ms: Delay {
            n: Some(stats.rx_packets),
            mean: Some(stats.delay_sum_ns / packets / 1e6),
            p50: at(0.50),
            p95: at(0.95),
            p99: at(0.99),
            max: None,
        },
        ..FlowSummary::default()
    };
    let begin = stats.first_rx_ns.max(stats.first_tx_ns) / 1e9;
    let points = [(start_s, 0), (begin, 0), (stop_s, payload)];
    let payload = points.into_iter().filter(|_| seconds > 0.0).collect();
    MeasuredFlow { summary, payload, ends: Some(ends), ..MeasuredFlow::default() }
}

/// Returns a quantile of the delays in the bins, in ms; `None` if the bins are empty.
#[expect(clippy::cast_precision_loss, reason = "a flow has fewer than 2^52 packets")]
fn quantile_ms(bins: &[(f64, u64)], share: f64) -> Option<f64> {
    let all: u64 = bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.1));
    let mut below = 0_u64;
    bins.iter().find_map(|&(middle_s, count)| {
        below = below.saturating_add(count);
        (below as f64 >= share * all as f64 && all > 0).then_some(middle_s * 1e3)
    })
}

/// A reader that counts the lines read. For an element larger than [`ELEMENT_BYTES_MAX`], the
/// reader returns an error before it has read the whole element.
struct Lines {
    line: u64,
    /// The bytes of the current element that have been read.
    of_element: usize,
    content: Box<dyn BufRead + Send>,
}

impl Lines {
    fn new(content: Box<dyn BufRead + Send>) -> Self {
        Self { line: 1, of_element: 0, content }
    }

    fn is_too_large(&self) -> bool {
        self.of_element > ELEMENT_BYTES_MAX
    }
}

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Lines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_too_large() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.content.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        let piece = self.content.fill_buf().unwrap_or_default();
        self.line += line_breaks(&piece[..count.min(piece.len())]);
        self.of_element += count;
        self.content.consume(count);
    }
}

fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

type Parsed = (BTreeMap<u64, Stats>, BTreeMap<u64, Ends>);

fn parse(path: &Path, content: Lines) -> Result<Parsed, LabError> {
    let mut reader = Reader::from_reader(content);
    let mut buffer = Vec::new();
    let (mut stats, mut ends): Parsed = Parsed::default();
    let mut root = None;
    // The id of the flow whose element `Flow` is open, and whether the element `delayHistogram` in
    // this flow is open.
    let (mut flow, mut in_delays) = (None, false);
    loop {
        buffer.clear();
        reader.get_mut().of_element = 0;
        let event = reader.read_event_into(&mut buffer);
        let line = reader.get_ref().line;
        let damaged = |reason: &str| wrong_at(path, line, reason);
        if reader.get_ref().is_too_large() {
            return Err(damaged("found an element of more than 64 KiB, expected small ones"));
        }
        let event = event.map_err(|error| damaged(&format!("damaged XML: {error}")))?;
        let (element, is_open) = match &event {
            Event::Eof if root.is_some() => {
                return Err(damaged("found the end of the file before `</FlowMonitor>`"));
            }
            Event::Eof => return Ok((stats, ends)),
            Event::Start(element) => (element, true),
            Event::Empty(element) => (element, false),
            Event::End(end) => {
                match end.name().as_ref() {
                    "FlowMonitor" => return Ok((stats, ends)),
                    "Flow" => flow = None,
                    "delayHistogram" => in_delays = false,
                    _ => {}
                }
                continue;
            }
            _ => continue,
        };
        let name = element.name();
        let name = name.as_ref();
        if root.is_none() {
            if name != "FlowMonitor" {
                let found: String = name.chars().take(40).collect();
                return Err(damaged(&format!(
                    "found `<{found}>`, expected `<FlowMonitor>` of ns-3"
                )));
            }
            root = Some(());
            continue;
        }
        let values = attributes(element).map_err(|reason| damaged(&reason))?;
        let number = |key: &str| whole(&values, key).map_err(|reason| damaged(&reason));
        let time = |key: &str| time_ns(&values, key).map_err(|reason| damaged(&reason));
        match name {
            "Flow" if values.contains_key("rxBytes") => {
                let id = number("flowId")?;
                if stats.len() >= 2 * FLOWS_MAX {
                    let reason = format!("found more than {} flows", 2 * FLOWS_MAX);
                    return Err(damaged(&reason));
                }
                let of_flow = flow_stats(number, time)?;
                stats.insert(id, of_flow);
                flow = is_open.then_some(id);
            }
            "Flow" => {
                let port = |key: &str| if values.contains_key(key) { number(key) } else { Ok(0) };
                let address = |key: &str| values.get(key).cloned().unwrap_or_default();
                let of_flow = Ends {
                    from: (address("sourceAddress"), port("sourcePort")?),
                    to: (address("destinationAddress"), port("destinationPort")?),
                    protocol: port("protocol")?,
                };
                if ends.len() < 2 * FLOWS_MAX {
                    ends.insert(number("flowId")?, of_flow);
                }
            }
            "packetsDropped" => {
                let (reason, count) = (number("reasonCode")?, number("number")?);
                if let Some(stats) = flow.and_then(|id| stats.get_mut(&id))
                    && QUEUE_REASONS.contains(&reason)
                {
                    stats.queue_drops = stats.queue_drops.saturating_add(count);
                }
            }
            "delayHistogram" => in_delays = is_open,
            "bin" if in_delays => {
                let (start, width) = (decimal(&values, "start"), decimal(&values, "width"));
                let count = number("count")?;
                if let (Some(stats), Some(start), Some(width)) =
                    (flow.and_then(|id| stats.get_mut(&id)), start, width)
                    && count > 0
                {
                    stats.delays.push((start + width / 2.0, count));
                }
            }
            _ => {}
        }
    }
}

/// Returns the counts and times of a flow. `number` and `time` are functions that read an attribute
/// of the flow's element: as a whole number, or as a time in nanoseconds.
fn flow_stats(
    number: impl Fn(&str) -> Result<u64, LabError>,
    time: impl Fn(&str) -> Result<f64, LabError>,
) -> Result<Stats, LabError> {
    Ok(Stats {
        first_tx_ns: time("timeFirstTxPacket")?,
        first_rx_ns: time("timeFirstRxPacket")?,
        last_rx_ns: time("timeLastRxPacket")?,
        delay_sum_ns: time("delaySum")?,
        rx_bytes: number("rxBytes")?,
        tx_packets: number("txPackets")?,
        rx_packets: number("rxPackets")?,
        lost_packets: number("lostPackets")?,
        ..Stats::default()
    })
}

type Values = BTreeMap<String, String>;

fn attributes(element: &BytesStart<'_>) -> Result<Values, String> {
    let mut values = Values::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| format!("damaged XML: {error}"))?;
        let key = attribute.key.as_ref().to_owned();
        // ns-3 writes numbers and addresses, which need no escapes.
        values.insert(key, attribute.value.to_string());
    }
    Ok(values)
}

fn text<'v>(values: &'v Values, key: &str) -> Result<&'v str, String> {
    let found = values.get(key).map(String::as_str);
    found.ok_or_else(|| format!("`{key}`: found nothing, expected a number"))
}

fn whole(values: &Values, key: &str) -> Result<u64, String> {
    let text = text(values, key)?;
    text.parse().map_err(|_| format!("`{key}`: found {text:?}, expected a whole number"))
}

fn decimal(values: &Values, key: &str) -> Option<f64> {
    values.get(key)?.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// Returns a time such as `+1.5e+09ns`, in nanoseconds.
fn time_ns(values: &Values, key: &str) -> Result<f64, String> {
    let text = text(values, key)?;
    let number = text.strip_suffix("ns").and_then(|number| number.parse::<f64>().ok());
    let number = number.filter(|ns| ns.is_finite() && *ns >= 0.0 && *ns < 1e18);
    number.ok_or_else(|| format!("`{key}`: found {text:?}, expected a time such as \"+1.5e+09ns\""))
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read, Result};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{ELEMENT_BYTES_MAX, Lines, parse};

    /// A reader that returns these bytes, and then `x` without end. The counter counts the bytes
    /// read.
    struct Endless(&'static [u8], Arc<AtomicUsize>);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> Result<usize> {
            let mut count = self.0.read(into)?;
            if count == 0 {
                into.fill(b'x');
                count = into.len();
            }
            self.1.fetch_add(count, Ordering::Relaxed);
            Ok(count)
        }
    }

    #[test]
    fn an_element_is_not_read_further_than_its_limit() {
        for begin in [&b"<FlowMonitor>\n<Flow flowId=\""[..], b"<FlowMonitor>\n ", b"<!-- "] {
            let read = Arc::new(AtomicUsize::new(0));
            let content = BufReader::new(Endless(begin, Arc::clone(&read)));
            let told = parse(Path::new("f.xml"), Lines::new(Box::new(content))).unwrap_err();
            let told = told.to_string();
            assert!(told.ends_with("of more than 64 KiB, expected small ones"), "{told}");
            assert!(read.load(Ordering::Relaxed) < ELEMENT_BYTES_MAX + 20_000);
        }
    }
}
