//! The tables of one run: what it was, its links, its flows.

use std::fmt::Write as _;

use bbrlab_run::{FlowSummary, LimitedBy, LinkSummary, RunSummary};

use super::layout::{Align, Table, WIDTH, cut};
use crate::number::{count, figure, fixed};

/// With more flows than this, only the slowest and the fastest are shown.
const FLOWS_SHOWN: usize = 20;
/// With more links than this, the rest are only counted.
const LINKS_SHOWN: usize = 8;

/// The summary of a run: what it was, its links, its flows.
#[must_use]
pub fn run_table(run: &RunSummary) -> String {
    let mut text = String::new();
    let line = |text: &mut String, line: &str| {
        writeln!(text, "{}", cut(line, WIDTH)).expect("writing to a string cannot fail");
    };
    let hash: String = run.scenario_hash.chars().take(12).collect();
    line(
        &mut text,
        &format!("{}  ({}, seed {}, hash {hash})", run.scenario, run.profile, run.seed),
    );
    if !run.point.is_empty() {
        line(&mut text, &format!("at {}", point_text(&run.point)));
    }
    let mut facts = format!(
        "{} s simulated, {} data packets, {} events",
        trimmed(run.sim_s),
        count(run.data_packets),
        count(run.events)
    );
    if let Some(cpu_s) = run.cpu_s {
        write!(facts, ", {} s of CPU", figure(cpu_s)).expect("writing to a string cannot fail");
    }
    line(&mut text, &facts);
    if let Some(digest) = &run.digest {
        line(&mut text, &format!("digest {digest}"));
    }
    if !run.links.is_empty() {
        text.push('\n');
        text.push_str(&links(&run.links));
    }
    text.push('\n');
    text.push_str(&flows(&run.flows));
    if run.flows.len() > 1 {
        let total: f64 = run.flows.iter().filter_map(|flow| flow.goodput_mbps).sum();
        line(
            &mut text,
            &format!(
                "\ntotal goodput {} Mbit/s, Jain's index {} (steady state {})",
                figure(total),
                fixed(run.jain, 4),
                fixed(run.jain_ss, 4)
            ),
        );
    }
    text
}

/// Swept keys and values in a line.
pub(crate) fn point_text(point: &bbrlab_run::SweepPoint) -> String {
    let pairs: Vec<String> =
        point.iter().map(|(key, value)| format!("{key} = {}", value_text(value))).collect();
    pairs.join(", ")
}

/// A swept value as the scenario wrote it.
pub(crate) fn value_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn links(links: &[LinkSummary]) -> String {
    let mut table = Table::new()
        .column("link", "", Align::Left)
        .column("rate", "Mbit/s", Align::Right)
        .column("used", "%", Align::Right)
        .column("arrived", "packets", Align::Right)
        .column("dropped", "packets", Align::Right)
        .column("", "%", Align::Right)
        .column("queue mean", "packets", Align::Right)
        .column("p95", "", Align::Right)
        .column("max", "", Align::Right)
        .column("delay mean", "ms", Align::Right)
        .column("p95", "", Align::Right);
    for link in links.iter().take(LINKS_SHOWN) {
        table.row(vec![
            link.name.clone(),
            figure(link.rate_mbps),
            fixed(link.utilization.map(|share| share * 100.0), 1),
            count(link.arrivals),
            count(link.drops),
            fixed(link.drop_ratio.map(|share| share * 100.0), 2),
            fixed(link.queue_packets.mean, 1),
            fixed(link.queue_packets.p95, 0),
            fixed(link.queue_packets.max, 0),
            fixed(link.queue_delay_ms.mean, 2),
            fixed(link.queue_delay_ms.p95, 2),
        ]);
    }
    let mut text = table.render();
    if links.len() > LINKS_SHOWN {
        writeln!(text, "and {} more links", count((links.len() - LINKS_SHOWN) as u64))
            .expect("writing to a string cannot fail");
    }
    text
}

fn flows(flows: &[FlowSummary]) -> String {
    let with_fct = flows.iter().any(|flow| flow.fct_ms.mean.is_some());
    let mut table = Table::new()
        .column("flow", "", Align::Right)
        .column("cc", "", Align::Left)
        .column("goodput", "Mbit/s", Align::Right)
        .column("steady", "Mbit/s", Align::Right)
        .column("retrans", "pkt", Align::Right)
        .column("", "%", Align::Right)
        .column("RTO", "", Align::Right)
        .column("RTT base", "ms", Align::Right)
        .column("mean", "ms", Align::Right)
        .column("p95", "ms", Align::Right)
        .column("cwnd", "pkt", Align::Right)
        .column("limited by", "% of its time", Align::Left);
    if with_fct {
        table = table.column("FCT", "ms", Align::Right);
    }
    let shown: Vec<&FlowSummary> =
        if flows.len() <= FLOWS_SHOWN { flows.iter().collect() } else { extremes(flows) };
    for flow in &shown {
        let mut cells = vec![
            flow.id.to_string(),
            flow.cc.clone(),
            fixed(flow.goodput_mbps, 2),
            fixed(flow.goodput_ss_mbps, 2),
            count(flow.retransmitted_packets),
            fixed(flow.sent_packets.and_then(|sent| share(flow.retransmitted_packets, sent)), 2),
            count(flow.rto_count),
            trimmed(flow.rtt_base_ms),
            fixed(flow.rtt_ms.mean, 1),
            fixed(flow.rtt_ms.p95, 1),
            fixed(flow.cwnd_packets.mean, 0),
            limits(&flow.limited_by),
        ];
        if with_fct {
            cells.push(figure(flow.fct_ms.mean));
        }
        table.row(cells);
    }
    let mut text = table.render();
    if shown.len() < flows.len() {
        writeln!(
            text,
            "{} of {} flows: the ten slowest and the ten fastest",
            shown.len(),
            count(flows.len() as u64)
        )
        .expect("writing to a string cannot fail");
    }
    text
}

/// The ten slowest and the ten fastest, slowest first.
fn extremes(flows: &[FlowSummary]) -> Vec<&FlowSummary> {
    let mut by_goodput: Vec<&FlowSummary> = flows.iter().collect();
    by_goodput.sort_by(|one, other| {
        let key = |flow: &FlowSummary| flow.goodput_mbps.unwrap_or(0.0);
        key(one).total_cmp(&key(other)).then(one.id.cmp(&other.id))
    });
    let half = FLOWS_SHOWN / 2;
    let tail = by_goodput.split_off(by_goodput.len() - half);
    by_goodput.truncate(half);
    by_goodput.extend(tail);
    by_goodput
}

/// The two limits that applied longest, in per cent of the flow's active time.
fn limits(limited_by: &LimitedBy) -> String {
    let mut shares = [
        ("cwnd", limited_by.cwnd),
        ("pacing", limited_by.pacing),
        ("rwnd", limited_by.rwnd),
        ("sndbuf", limited_by.sndbuf),
        ("app", limited_by.app),
    ];
    // Stable: equal shares keep the order above.
    shares.sort_by(|one, other| other.1.unwrap_or(0.0).total_cmp(&one.1.unwrap_or(0.0)));
    let told: Vec<String> = shares
        .iter()
        .filter_map(|&(name, share)| share.map(|share| (name, share * 100.0)))
        .take(2)
        .filter(|&(_, percent)| percent >= 0.5)
        .map(|(name, percent)| format!("{name} {percent:.0}"))
        .collect();
    if told.is_empty() { "–".to_owned() } else { told.join(", ") }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

/// Without decimals where there are none.
fn trimmed(value: f64) -> String {
    let text = fixed(value, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_run;
    use super::{WIDTH, run_table};
    use expect_test::expect;

    #[test]
    fn a_run_is_told_by_its_links_and_flows() {
        let mut run = sample_run();
        run.point.insert("bottleneck.buffer".to_owned(), "2bdp".into());
        expect![[r#"
            two-flows  (linux, seed 1, hash 3fa9c2d17b60)
            at bottleneck.buffer = 2bdp
            100 s simulated, 412,345 data packets, 1,204,331 events, 0.0710 s of CPU
            digest 5b1c0e55aa0099ff

            link          rate  used  arrived  dropped        queue mean  p95  max  delay mean    p95
                        Mbit/s     %  packets  packets     %     packets                    ms
            ─────────────────────────────────────────────────────────────────────────────────────────
            bottleneck   50.00  99.1  413,349    1,004  0.24        61.2  118  249       14.80  28.50

            flow  cc     goodput  steady  retrans        RTO  RTT base  mean   p95  cwnd  limited by
                          Mbit/s  Mbit/s      pkt     %             ms    ms    ms   pkt  % of its time
            ────────────────────────────────────────────────────────────────────────────────────────────────
               0  bbr1     24.61   24.86      502  0.25    0        30  47.3  71.4   143  pacing 88, cwnd 11
               1  cubic    21.97   22.22      502  0.25    0        30  47.3  71.4   143  pacing 88, cwnd 11

            total goodput 46.58 Mbit/s, Jain's index 0.9871 (steady state 0.9910)
        "#]].assert_eq(&run_table(&run));
    }

    #[test]
    fn a_thousand_flows_are_told_by_their_extremes() {
        let mut run = sample_run();
        let flow = run.flows[0].clone();
        run.flows = (0..1000)
            .map(|id| {
                let mut flow = flow.clone();
                flow.id = id;
                flow.goodput_mbps = Some(f64::from(id % 97));
                flow
            })
            .collect();
        let text = run_table(&run);
        assert!(text.contains("20 of 1,000 flows"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
