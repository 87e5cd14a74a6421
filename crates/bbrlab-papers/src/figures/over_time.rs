//! Draws panels that show runs over time, from the time series in the runs' folders.

use bbrlab_lab::{LabError, RunFiles};
use bbrlab_report::{Drawing, PlateLine, PlateTimes};
use bbrlab_run::{FlowSummary, QueueSeries, Series};

use super::cache::RunCache;
use super::declared::{At, Named, OverTime, Quantity, Who};
use super::names;
use super::place::{combinations, has, is_at};
use crate::known::{known, start_s};
use crate::papers::{Experiment, Key, paper_of};
use crate::rows::RunAt;

/// The size of a data packet's IP and TCP headers, including timestamps, in bytes.
const HEADERS: f64 = 52.0;

/// Bits per mebibit. The thesis (`lanigan2020`) divides bits per second by 1024 twice.
const MEBI: f64 = 1_048_576.0;

/// Returns the combinations of values of the keys `each` for which there are runs. Each of these
/// combinations has its own panel.
pub(super) fn panels(runs: &[RunAt], at: &At, each: &[String]) -> Vec<Vec<Key>> {
    let meant = runs.iter().map(|run| run.keys.as_slice()).filter(|keys| is_at(keys, at));
    combinations(meant, each)
}

/// Returns the lines of a panel, or `None` if there is no run for the panel.
pub(super) fn lines(
    experiment: &Experiment,
    runs: &[RunAt],
    over_time: &OverTime,
    at: &At,
    (each, here): (&[String], &[Key]),
    cache: &mut RunCache,
) -> Result<Option<Drawing>, LabError> {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let meant: Vec<&RunAt> =
        runs.iter().filter(|run| is_at(&run.keys, at) && has(&run.keys, each, here)).collect();
    let of_runs = combinations(meant.iter().map(|run| run.keys.as_slice()), &over_time.by);
    let titled = each.iter().zip(here).find_map(|(name, value)| match value {
        Key::Word(word) if name == "algorithm" => Some(word.as_str()),
        _ => None,
    });
    let mut times = PlateTimes::default();
    for of in &of_runs {
        // If several runs have the same values of the keys `by`, draw the first.
        let Some(run) = meant.iter().find(|run| has(&run.keys, &over_time.by, of)) else {
            continue;
        };
        let files = cache.open(&run.folder)?;
        times.to_s = times.to_s.max(files.summary.sim_s);
        let of_run = OfRun { experiment, paper, files: &files, titled };
        let run_name = if of_runs.len() > 1 || over_time.shows.len() == 1 {
            names::joined(paper, &over_time.by, of)
        } else {
            String::new()
        };
        for &(quantity, ref who) in &over_time.shows {
            let what = if over_time.shows.len() > 1 { words_of(quantity) } else { "" };
            for (flow, points) in of_run.lines(quantity, who) {
                let parts = [run_name.as_str(), what, flow.as_str()];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let printed = over_time.printed.as_deref();
                let published =
                    printed.map_or_else(Vec::new, |metric| printed_points(experiment, run, metric));
                times.lines.push(PlateLine { name: parts.join(", "), points, published });
            }
        }
    }
    if times.lines.is_empty() {
        return Ok(None);
    }
    if let Some((from_s, to_s)) = over_time.window_s {
        (times.from_s, times.to_s) = (from_s, to_s);
    }
    times.levels = printed(experiment, &over_time.levels);
    times.moments = printed(experiment, &over_time.moments);
    Ok(Some(Drawing::OverTime(times)))
}

/// Returns the values that the paper prints for a metric at certain times of a run, each with its
/// time in seconds.
fn printed_points(experiment: &Experiment, run: &RunAt, metric: &str) -> Vec<(f64, f64)> {
    let rows = experiment.rows.iter().filter(|row| {
        run.keys.iter().all(|(name, here)| row.get(name).is_none_or(|there| here.is(there)))
    });
    let number = |row: &toml::Table, name: &str| {
        let value = row.get(name)?;
        value
            .as_float()
            .or_else(|| value.as_integer().map(|it| f64::from(i32::try_from(it).unwrap_or(0))))
    };
    rows.filter_map(|row| Some((number(row, "time_s")?, number(row, metric)?))).collect()
}

/// Returns the printed value of each element of `named`, with the element's label. Elements without
/// a printed value are left out.
fn printed(experiment: &Experiment, named: &[Named]) -> Vec<(f64, String)> {
    let of = |named: &Named| {
        let is_it = |row: &&toml::Table| {
            let keys: Vec<(String, Key)> = row
                .iter()
                .filter_map(|(name, value)| match value {
                    toml::Value::String(word) => Some((name.clone(), Key::word(word.clone()))),
                    toml::Value::Float(number) => Some((name.clone(), Key::Number(*number))),
                    _ => None,
                })
                .collect();
            row.contains_key(&named.metric) && is_at(&keys, &named.at)
        };
        let value = experiment.rows.iter().find(is_it)?.get(&named.metric)?;
        let whole = |it: i64| f64::from(i32::try_from(it).unwrap_or(0));
        let figure = value.as_float().or_else(|| value.as_integer().map(whole))?;
        Some((figure, named.words.clone()))
    };
    named.iter().filter_map(of).collect()
}

/// A run whose values are drawn over time, with its experiment.
struct OfRun<'a> {
    experiment: &'a Experiment,
    paper: &'a str,
    files: &'a RunFiles,
    /// The algorithm that the panel's title names.
    titled: Option<&'a str>,
}

type Points = Vec<(f64, Option<f64>)>;

impl OfRun<'_> {
    /// Returns the lines of a quantity, each with the name of its flow or sender. The name is empty
    /// for the link and for the sum over all flows. If only one flow is drawn, the name is also
    /// empty, unless `who` is [`Who::Second`].
    fn lines(&self, quantity: Quantity, who: &Who) -> Vec<(String, Points)> {
        let groups: Vec<(String, Vec<u32>)> = match who {
            Who::Link => return vec![(String::new(), self.queue())],
            Who::Together => {
                let all = self.files.summary.flows.iter().map(|flow| flow.id).collect();
                vec![(String::new(), all)]
            }
            Who::Senders => self.senders(),
            _ => {
                let flows = self.flows(who);
                let is_alone = flows.len() == 1 && *who != Who::Second;
                let name = |flow: &FlowSummary| match who {
                    Who::HighAndLow => self.with_rate(flow),
                    _ if is_alone => String::new(),
                    _ => self.name(flow),
                };
                flows.iter().map(|flow| (name(flow), vec![flow.id])).collect()
            }
        };
        groups.into_iter().map(|(name, flows)| (name, self.points(quantity, &flows))).collect()
    }

    fn flows(&self, who: &Who) -> Vec<&FlowSummary> {
        let all = &self.files.summary.flows;
        let unreported = paper_of(self.paper).and_then(|paper| paper.study.unreported.as_ref());
        let hidden = unreported.filter(|it| self.experiment.form == Some(it.form.as_str()));
        let reported = &all[hidden.map_or(0, |it| it.flows)..];
        match who {
            Who::First => all.iter().take(1).collect(),
            Who::Second => all.iter().skip(1).take(1).collect(),
            Who::Cc(cc) => all.iter().find(|flow| flow.cc == *cc).into_iter().collect(),
            Who::HighAndLow => {
                let rate = |flow: &&FlowSummary| flow.goodput_mbps.unwrap_or_default();
                let high = all.iter().max_by(|one, other| rate(one).total_cmp(&rate(other)));
                let low = all.iter().min_by(|one, other| rate(one).total_cmp(&rate(other)));
                high.into_iter().chain(low).collect()
            }
            _ => reported.iter().collect(),
        }
    }

    /// Returns the label of a flow, which also determines its colour in all panels. The label is
    /// the flow's algorithm if several flows are reported and only this one uses the algorithm.
    /// Otherwise, the label is the flow's name or number, preceded by the algorithm if flows use
    /// different algorithms and the panel's title does not name this algorithm.
    fn name(&self, flow: &FlowSummary) -> String {
        let reported = self.flows(&Who::Flows);
        let algorithm = names::of_algorithm(self.paper, &flow.cc);
        if reported.len() > 1 && reported.iter().filter(|other| other.cc == flow.cc).count() == 1 {
            return algorithm;
        }
        let place = reported.iter().position(|other| other.id == flow.id).unwrap_or_default();
        let name = flow.name.as_deref().map_or_else(|| format!("flow {}", place + 1), names::flow);
        let is_mixed = reported.iter().any(|other| other.cc != flow.cc);
        let is_told = self.titled == Some(flow.cc.as_str());
        if is_mixed && !is_told { format!("{algorithm}, {name}") } else { name }
    }

    fn with_rate(&self, flow: &FlowSummary) -> String {
        let high = self.flows(&Who::HighAndLow).first().is_some_and(|high| high.id == flow.id);
        let which = if high { "highest-goodput flow" } else { "lowest-goodput flow" };
        which.to_owned()
    }

    fn senders(&self) -> Vec<(String, Vec<u32>)> {
        let run = &self.files.run;
        let of = |class: usize| {
            let flows = &self.files.summary.flows;
            let ids = flows.iter().map(|flow| flow.id);
            ids.filter(|id| run.flows[*id as usize].class as usize == class).collect()
        };
        (0..run.classes.len()).map(|class| (format!("sender {}", class + 1), of(class))).collect()
    }

    fn points(&self, quantity: Quantity, flows: &[u32]) -> Points {
        let series = &self.files.series;
        let rows = |flow: u32| -> Vec<usize> {
            (0..series.len()).filter(|&row| series.flow[row] == flow).collect()
        };
        let payload = f64::from(self.files.run.class(0).mss);
        let per_bin = |bin_s: f64, scale: f64, counter: fn(&Series, usize) -> u64| {
            let mut sum: Points = Vec::new();
            for &flow in flows {
                let own = binned(series, &rows(flow), bin_s, self.files.summary.sim_s, counter);
                if sum.is_empty() {
                    sum = own.iter().map(|&(at_s, _)| (at_s, None)).collect();
                }
                for (all, (_, own)) in sum.iter_mut().zip(own) {
                    if let Some(own) = own {
                        all.1 = Some(all.1.unwrap_or_default() + own * scale);
                    }
                }
            }
            sum
        };
        let levels = |level: fn(&Series, usize) -> Option<f64>| -> Points {
            let of = flows.first().map(|&flow| rows(flow)).unwrap_or_default();
            of.iter().map(|&row| (series.time_s[row], level(series, row))).collect()
        };
        match quantity {
            Quantity::RunningMean => self.running_mean(flows.first().copied().unwrap_or_default()),
            Quantity::Throughput(bin_s) => {
                per_bin(bin_s, 8.0 / 1e6, |series, row| known(series.received_bytes[row]))
            }
            Quantity::Sent(bin_s) => per_bin(bin_s, 1.0, sent),
            Quantity::SentRate(bin_s) => per_bin(bin_s, payload * 8.0 / 1e6, sent),
            Quantity::LostPerSecond(bin_s) => per_bin(bin_s, 1.0, lost),
            Quantity::Retransmitted(bin_s) => {
                per_bin(bin_s, 1.0, |series, row| known(series.retransmitted_packets[row]))
            }
            #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
            Quantity::Lost => levels(|series, row| Some(lost(series, row) as f64)),
            Quantity::Rtt => levels(|series, row| series.rtt_us[row].map(|us| f64::from(us) / 1e3)),
            Quantity::MinRtt => {
                levels(|series, row| series.min_rtt_us[row].map(|us| f64::from(us) / 1e3))
            }
            Quantity::Cwnd => levels(|series, row| Some(known(series.cwnd_packets[row]).into())),
            Quantity::Inflight => {
                levels(|series, row| Some(known(series.inflight_packets[row]).into()))
            }
            Quantity::InflightHi => {
                levels(|series, row| series.inflight_hi_packets[row].map(f64::from))
            }
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            Quantity::PacingRate => {
                levels(|series, row| series.pacing_rate_bps[row].map(|bps| bps as f64 / 1e6))
            }
            Quantity::Queue => self.queue(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 bytes")]
    fn running_mean(&self, flow: u32) -> Points {
        let series = &self.files.series;
        let payload = f64::from(self.files.run.class(flow).mss);
        let start_s = start_s(&self.files.summary.flows[flow as usize]);
        let rows = (0..series.len()).filter(|&row| series.flow[row] == flow);
        let mean = |row: usize| {
            let since_s = series.time_s[row] - start_s;
            let ip_bytes = known(series.received_bytes[row]) as f64 * (payload + HEADERS) / payload;
            (series.time_s[row], (since_s > 0.0).then(|| ip_bytes * 8.0 / MEBI / since_s))
        };
        rows.map(mean).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
    fn queue(&self) -> Points {
        let queue: &QueueSeries = &self.files.queue;
        let links = &self.files.summary.links;
        let link = links.iter().position(|link| link.name == "bottleneck").unwrap_or_default();
        let rows = (0..queue.len()).filter(|&row| queue.link[row] as usize == link);
        rows.map(|row| (queue.time_s[row], Some(queue.packets[row] as f64))).collect()
    }
}

fn sent(series: &Series, row: usize) -> u64 {
    series.sent_packets[row].0.unwrap_or_default()
}

fn lost(series: &Series, row: usize) -> u64 {
    series.lost_packets[row].0.unwrap_or_default()
}

/// Computes the growth of a counter per second in each bin. A value's time is the middle of its
/// bin. The value is `None` in bins before the flow's first row and after its last.
#[expect(clippy::cast_precision_loss, reason = "counters below 2^52")]
fn binned(
    series: &Series,
    rows: &[usize],
    bin_s: f64,
    end_s: f64,
    counter: fn(&Series, usize) -> u64,
) -> Points {
    let by = |at_s: f64| {
        let after = rows.partition_point(|&row| series.time_s[row] <= at_s + 1e-9);
        after.checked_sub(1).map_or(0, |place| counter(series, rows[place]))
    };
    let first_s = rows.first().map_or(f64::INFINITY, |&row| series.time_s[row]);
    let last_s = rows.last().map_or(0.0, |&row| series.time_s[row]);
    let mut points = Vec::new();
    let mut at_s = 0.0;
    while at_s + bin_s <= end_s + 1e-9 {
        let is_active = at_s + bin_s > first_s && at_s <= last_s;
        let grown = by(at_s + bin_s) - by(at_s);
        points.push((at_s + bin_s / 2.0, is_active.then(|| grown as f64 / bin_s)));
        at_s += bin_s;
    }
    points
}

/// Returns the name of a quantity for the labels of lines, in panels that show several quantities.
fn words_of(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::RunningMean | Quantity::SentRate(_) => "throughput",
        Quantity::Throughput(_) => "goodput",
        Quantity::Sent(_) => "sent",
        Quantity::LostPerSecond(_) | Quantity::Lost => "lost",
        Quantity::Retransmitted(_) => "retransmitted",
        Quantity::Rtt => "RTT",
        Quantity::MinRtt => "minimum RTT",
        Quantity::Cwnd => "cwnd",
        Quantity::Inflight => "inflight",
        Quantity::InflightHi => "inflight_hi",
        Quantity::PacingRate => "pacing rate",
        Quantity::Queue => "queue",
    }
}

/// Returns the title of a panel's y axis, which follows from the panel's first quantity. If the
/// panel shows several quantities and the first one is a throughput, cwnd or a kind of inflight,
/// the title is only the unit.
pub(super) fn title_of(over_time: &OverTime) -> &'static str {
    match over_time.shows[0].0 {
        Quantity::RunningMean => "throughput (running mean), Mibit/s",
        Quantity::Throughput(_) | Quantity::SentRate(_) if over_time.shows.len() > 1 => "Mbit/s",
        Quantity::Throughput(_) | Quantity::SentRate(_) => "throughput, Mbit/s",
        Quantity::Sent(_) => "sent, packets/s",
        Quantity::LostPerSecond(_) => "lost, packets/s",
        Quantity::Retransmitted(_) => "retransmissions, packets/s",
        Quantity::Lost => "lost so far, packets",
        Quantity::Rtt => "RTT, ms",
        Quantity::MinRtt => "minimum RTT (estimate), ms",
        Quantity::Cwnd | Quantity::Inflight | Quantity::InflightHi if over_time.shows.len() > 1 => {
            "packets"
        }
        Quantity::Cwnd => "cwnd, packets",
        Quantity::Inflight => "inflight, packets",
        Quantity::InflightHi => "inflight_hi, packets",
        Quantity::PacingRate => "pacing rate, Mbit/s",
        Quantity::Queue => "queue, packets",
    }
}

/// Whether the y axis begins near the values instead of at zero. The function returns true for
/// RTTs, because RTTs are far from zero.
pub(super) fn is_far_from_zero(over_time: &OverTime) -> bool {
    matches!(over_time.shows[0].0, Quantity::Rtt | Quantity::MinRtt)
}
