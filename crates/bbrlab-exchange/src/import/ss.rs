//! Reads logs of repeated calls of `ss -ti`: the state of the kernel's sockets, with time stamps.
//!
//! In the log, a time in Unix seconds precedes the sockets that were listed at this time. The time
//! is on a line of its own, as `date +%s.%N` writes it, or at the start of each line, as `ts %.s`
//! does; a word such as `time:` may precede it. `ss` omits counts that are zero, so an absent
//! `retrans` or `unacked` is 0. Other absent fields are unknown.
//!
//! Sources: iproute2 6.12, `misc/ss.c`, `tcp_stats_print`.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::Path;

use bbrlab_lab::{LabError, plain};
use bbrlab_run::{Cwnd, FlowSummary, MaybeKnown, SeriesRow, Srtt, mean, percentile};

use super::measurement::{MeasuredFlow, Measurement, bits_per_s, mbps, small, wire_bytes};
use super::source::{Source, wrong, wrong_at};

/// Sockets with fewer payload bytes than this are left out. Such sockets usually belong to shell
/// sessions, or are control connections of measurement tools.
const PAYLOAD_MIN: u64 = 100_000;

/// The largest number of sockets that are read from a log.
const SOCKETS_MAX: usize = 10_000;

/// Numbers below this bound can be time stamps in Unix seconds. The bound is a time in the year
/// 2286.
const UNIX_MAX: f64 = 1e10;

/// Words in the output of `ss` that have no value and are not the name of a congestion control.
const FLAGS: [&str; 8] =
    ["ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "reord_seen", "rehash"];

/// Reads a log of `ss`.
///
/// # Errors
/// Fails if the log has no time stamps, or a time stamp is earlier than the one before it.
pub(crate) fn read(source: Source) -> Result<Measurement, LabError> {
    let Source { path, content, .. } = source;
    let mut log = Log::default();
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.map_err(|error| wrong_at(&path, number, &plain(&error)))?;
        log.line(&path, number, &line)?;
    }
    log.end_socket(&path, log.lines)?;
    let begin_s = log.begin_s.ok_or_else(|| wrong(&path, NO_TIME))?;
    let (mut flows, mut small_ones) = (Vec::new(), 0);
    for (ends, samples) in log.sockets {
        match flow(ends, &samples) {
            Some(flow) => flows.push(flow),
            None => small_ones += 1,
        }
    }
    flows.sort_by(|one, other| {
        let start = |flow: &MeasuredFlow| flow.summary.start_s.unwrap_or(0.0);
        start(one).total_cmp(&start(other)).then_with(|| one.ends.cmp(&other.ends))
    });
    let mut notes = Vec::new();
    if small_ones > 0 {
        notes.push(format!(
            "{small_ones} sockets with less than {PAYLOAD_MIN} bytes of payload are left out"
        ));
    }
    Ok(Measurement { tool: "ss", version: String::new(), begin_s: Some(begin_s), flows, notes })
}

const NO_TIME: &str = "found a socket before any time, expected Unix seconds (`date +%s.%N`) on a line before the sockets";

/// The content of the part of the log that has been read.
#[derive(Default)]
struct Log {
    /// The first time stamp, in Unix seconds.
    begin_s: Option<f64>,
    /// Seconds from the first time stamp to the last one read.
    time_s: f64,
    /// The socket whose words are being collected: its two ends, and the words so far.
    open: Option<([String; 2], Vec<String>)>,
    sockets: BTreeMap<[String; 2], Vec<Sample>>,
    lines: u64,
}

impl Log {
    fn line(&mut self, path: &Path, number: u64, line: &str) -> Result<(), LabError> {
        self.lines = number;
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let label = words.first().is_some_and(|word| {
            ["time", "time:", "#", "date", "date:"].contains(&word.to_ascii_lowercase().as_str())
        });
        if label && words.get(1).copied().and_then(unix_time).is_some() {
            words.remove(0);
        }
        if let Some(unix_s) = words.first().copied().and_then(unix_time) {
            self.end_socket(path, number)?;
            self.set_time(path, number, unix_s)?;
            words.remove(0);
        }
        let addresses: Vec<&&str> = words.iter().filter(|word| is_address(word)).take(2).collect();
        if let [local, peer] = addresses.as_slice() {
            self.end_socket(path, number)?;
            if self.begin_s.is_none() {
                return Err(wrong_at(path, number, NO_TIME));
            }
            let ends = [(**local).to_owned(), (**peer).to_owned()];
            let after = words.iter().position(|word| word == *peer).map_or(0, |at| at + 1);
            self.open = Some((ends, words[after..].iter().map(|&word| word.to_owned()).collect()));
        } else if let Some((_, open)) = &mut self.open {
            open.extend(words.iter().map(|&word| word.to_owned()));
        }
        Ok(())
    }

    fn set_time(&mut self, path: &Path, number: u64, unix_s: f64) -> Result<(), LabError> {
        let time_s = unix_s - *self.begin_s.get_or_insert(unix_s);
        if time_s < self.time_s {
            let back_s = self.time_s - time_s;
            return Err(wrong_at(
                path,
                number,
                &format!("found a time {back_s} s before the previous one, expected rising times"),
            ));
        }
        self.time_s = time_s;
        Ok(())
    }

    /// Stores a sample: the values of the socket whose words were collected.
    fn end_socket(&mut self, path: &Path, number: u64) -> Result<(), LabError> {
        let Some((ends, words)) = self.open.take() else { return Ok(()) };
        let Some(sample) = Sample::of(self.time_s, &words) else { return Ok(()) };
        if self.sockets.len() >= SOCKETS_MAX && !self.sockets.contains_key(&ends) {
            return Err(wrong_at(
                path,
                number,
                &format!(
                    "found more than {SOCKETS_MAX} sockets, expected at most that many; filter with `ss dst ADDRESS`"
                ),
            ));
        }
        self.sockets.entry(ends).or_default().push(sample);
        Ok(())
    }
}

fn unix_time(word: &str) -> Option<f64> {
    let word = word.trim_end_matches(':');
    let is_number =
        word.len() >= 9 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.parse().ok().filter(|&unix_s: &f64| is_number && unix_s < UNIX_MAX)
}

/// Whether a word is an address with a port, such as `10.0.0.1:5201` or `[::1]:80`.
fn is_address(word: &str) -> bool {
    let Some((host, port)) = word.rsplit_once(':') else { return false };
    let is_host = host.contains('.') || host.starts_with('[') || host.matches(':').count() >= 2;
    is_host && !host.contains('(') && port.parse::<u16>().is_ok()
}

/// The state of a socket at one time.
#[derive(Debug, Default, PartialEq)]
struct Sample {
    time_s: f64,
    cc: Option<String>,
    mss: Option<u64>,
    cwnd: Option<u64>,
    ssthresh: Option<u64>,
    srtt_us: Option<u64>,
    min_rtt_us: Option<u64>,
    bw_bps: Option<u64>,
    pacing_rate_bps: Option<u64>,
    inflight: Option<u64>,
    delivered: Option<u64>,
    sent: Option<u64>,
    retransmitted: Option<u64>,
    acked_bytes: Option<u64>,
    received_bytes: Option<u64>,
}

impl Sample {
    /// Reads the words after a socket's addresses; `None` if there is no information about TCP.
    fn of(time_s: f64, words: &[String]) -> Option<Self> {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        let mut cc = None;
        for (at, word) in words.iter().enumerate() {
            if let Some((key, value)) = word.split_once(':') {
                values.entry(key).or_insert(value);
            } else if ["pacing_rate", "delivery_rate"].contains(&word.as_str()) {
                values.extend(words.get(at + 1).map(|value| (word.as_str(), value.as_str())));
            } else if cc.is_none()
                && is_name(word)
                && values.keys().all(|key| *key == "users" || *key == "ino")
            {
                cc = Some(word.clone());
            }
        }
        values.get("rto").or(values.get("cwnd"))?;
        let count = |key: &str| values.get(key).and_then(|value| value.parse::<u64>().ok());
        let zero = |key: &str| count(key).unwrap_or(0);
        let (out_now, total) = values
            .get("retrans")
            .and_then(|value| value.split_once('/'))
            .map_or(("0", "0"), |pair| pair);
        let out_now = out_now.parse().unwrap_or(0);
        let bbr = values.get("bbr").or(values.get("bbr2")).or(values.get("bbr3"));
        let of_bbr = |key: &str| {
            let inner = bbr?.trim_matches(['(', ')']);
            inner.split(',').find_map(|pair| pair.strip_prefix(key)?.strip_prefix(':'))
        };
        let rtt = values.get("rtt").and_then(|value| value.split('/').next());
        Some(Self {
            time_s,
            cc,
            mss: count("mss"),
            cwnd: count("cwnd"),
            ssthresh: count("ssthresh"),
            srtt_us: rtt.and_then(micros),
            min_rtt_us: of_bbr("mrtt").or(values.get("minrtt").copied()).and_then(micros),
            bw_bps: of_bbr("bw").and_then(rate),
            pacing_rate_bps: values.get("pacing_rate").and_then(|value| rate(value)),
            inflight: Some(
                (zero("unacked") + out_now).saturating_sub(zero("sacked") + zero("lost")),
            ),
            delivered: count("delivered"),
            sent: count("data_segs_out"),
            retransmitted: total.parse().ok(),
            acked_bytes: count("bytes_acked"),
            received_bytes: count("bytes_received"),
        })
    }

    /// Returns the acknowledged payload bytes if `is_sender`, otherwise the received payload bytes.
    fn payload(&self, is_sender: bool) -> Option<u64> {
        if is_sender { self.acked_bytes } else { self.received_bytes }
    }
}

/// Whether a word can be the name of a congestion control: it has only lower-case letters, digits
/// and underscores, begins with a letter, and is none of the [`FLAGS`].
fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    word.bytes().all(is_plain)
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && !FLAGS.contains(&word)
}

/// Converts a text with milliseconds, such as `0.324`, to microseconds; `None` if it is not a
/// number from 0 on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an RTT in microseconds fits 64 bits"
)]
fn micros(ms: &str) -> Option<u64> {
    let ms: f64 = ms.parse().ok()?;
    (ms >= 0.0).then_some((ms * 1e3).round() as u64)
}

/// Converts a rate such as `33.1Mbps`, or a bare number of bit/s, to bit/s; `None` for any
/// other text.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate in bit/s fits 64 bits"
)]
fn rate(text: &str) -> Option<u64> {
    let text = text.strip_suffix("bps").unwrap_or(text);
    let (number, factor) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G') => (&text[..at], 1e9),
        (at, 'T') => (&text[..at], 1e12),
        _ => (text, 1.0),
    };
    let number: f64 = number.parse().ok()?;
    (number >= 0.0).then_some((number * factor).round() as u64)
}

/// Returns the flow of a socket; `None` if the socket's payload is unknown or less than
/// [`PAYLOAD_MIN`].
fn flow(ends: [String; 2], samples: &[Sample]) -> Option<MeasuredFlow> {
    let last = samples.last()?;
    let is_sender = last.acked_bytes.unwrap_or(0) >= last.received_bytes.unwrap_or(0);
    if last.payload(is_sender)? < PAYLOAD_MIN {
        return None;
    }
    let first_bytes = samples.iter().find_map(|sample| sample.payload(is_sender))?;
    let mss = last.mss.unwrap_or(1448);
    let is_ipv6 = ends[0].starts_with('[');
    let wire = |bytes: u64| wire_bytes(bytes, mss, is_ipv6);
    let (mut rows, mut payload) = (Vec::new(), Vec::new());
    let mut before: Option<(f64, u64)> = None;
    for sample in samples {
        let bytes = sample.payload(is_sender).map(|bytes| bytes.saturating_sub(first_bytes));
        payload.extend(bytes.map(|bytes| (sample.time_s, bytes)));
        let throughput_bps = bytes.zip(before).and_then(|(bytes, (time_s, earlier))| {
            bits_per_s(wire(bytes.saturating_sub(earlier)), sample.time_s - time_s)
        });
        before = bytes.map(|bytes| (sample.time_s, bytes)).or(before);
        let of_sender = |value: Option<u64>| value.filter(|_| is_sender);
        rows.push(SeriesRow {
            time_s: sample.time_s,
            cwnd_packets: MaybeKnown(of_sender(sample.cwnd).and_then(small)),
            ssthresh_packets: of_sender(sample.ssthresh).and_then(small),
            inflight_packets: MaybeKnown(of_sender(sample.inflight).and_then(small)),
            pacing_rate_bps: of_sender(sample.pacing_rate_bps),
            bw_bps: of_sender(sample.bw_bps),
            min_rtt_us: of_sender(sample.min_rtt_us).and_then(small),
            srtt_us: of_sender(sample.srtt_us).and_then(small),
            sent_packets: MaybeKnown(of_sender(sample.sent)),
            delivered_packets: MaybeKnown(of_sender(sample.delivered)),
            retransmitted_packets: MaybeKnown(of_sender(sample.retransmitted)),
            received_bytes: MaybeKnown(bytes.filter(|_| !is_sender)),
            throughput_bps,
            ..SeriesRow::default()
        });
    }
    let (start_s, stop_s) = (samples.first()?.time_s, last.time_s);
    let bytes = payload.last().map_or(0, |point| point.1);
    let mut srtts: Vec<f64> =
        rows.iter().filter_map(|row| row.srtt_us).map(|us| f64::from(us) / 1e3).collect();
    srtts.sort_by(f64::total_cmp);
    let windows: Vec<f64> =
        rows.iter().filter_map(|row| row.cwnd_packets.0).map(f64::from).collect();
    let summary = FlowSummary {
        cc: samples
            .iter()
            .find_map(|sample| sample.cc.clone())
            .filter(|_| is_sender)
            .unwrap_or_default(),
        start_s: Some(start_s),
        stop_s: Some(stop_s),
        throughput_mbps: mbps(wire(bytes), stop_s - start_s),
        goodput_mbps: mbps(bytes, stop_s - start_s),
        sent_packets: last.sent.filter(|_| is_sender),
        delivered_packets: last.delivered.filter(|_| is_sender),
        retransmitted_packets: last.retransmitted.filter(|_| is_sender),
        srtt_ms: Srtt { mean: mean(&srtts), p95: percentile(&srtts, 950) },
        cwnd_packets: Cwnd { mean: mean(&windows), max: windows.iter().copied().reduce(f64::max) },
        ..FlowSummary::default()
    };
    let ends = if is_sender {
        ends
    } else {
        let [local, peer] = ends;
        [peer, local]
    };
    let name = Some(ends.join(" > "));
    let summary = FlowSummary { name, ..summary };
    Some(MeasuredFlow { summary, rows, payload, ends: Some(ends), ..MeasuredFlow::default() })
}

#[cfg(test)]
mod tests {
    use super::{Sample, is_address, rate, unix_time};

    const LINES: [&str; 2] = [
        "bbr wscale:7,7 rto:221 rtt:20.6/0.3 mss:1448 cwnd:90 bytes_acked:1000 data_segs_out:70",
        "bbr:(bw:48.2Mbps,mrtt:20.05,pacing_gain:1) pacing_rate 47.7Mbps delivered:66 unacked:9 \
         retrans:1/4 lost:2 sacked:3 minrtt:20.05",
    ];

    #[test]
    fn the_words_of_a_socket_are_read() {
        let words: Vec<String> =
            LINES.iter().flat_map(|line| line.split(' ')).map(str::to_owned).collect();
        let expected = Sample {
            time_s: 1.5,
            cc: Some("bbr".to_owned()),
            mss: Some(1448),
            cwnd: Some(90),
            ssthresh: None,
            srtt_us: Some(20_600),
            min_rtt_us: Some(20_050),
            bw_bps: Some(48_200_000),
            pacing_rate_bps: Some(47_700_000),
            inflight: Some(5),
            delivered: Some(66),
            sent: Some(70),
            retransmitted: Some(4),
            acked_bytes: Some(1000),
            received_bytes: None,
        };
        assert_eq!(Sample::of(1.5, &words), Some(expected));
    }

    #[test]
    fn times_addresses_and_rates_are_told_from_other_words() {
        assert_eq!(unix_time("1795853974.123"), Some(1_795_853_974.123));
        assert_eq!(unix_time("1448"), None);
        assert!(is_address("10.0.0.1:5201") && is_address("[::ffff:10.0.0.1]:80"));
        assert!(!is_address("rtt:20.6/0.3") && !is_address("wscale:7,7"));
        assert_eq!([rate("33.1Mbps"), rate("12"), rate("x")], [Some(33_100_000), Some(12), None]);
    }
}
