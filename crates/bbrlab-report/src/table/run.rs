//! The tables of one run: its parameters, its links and its flows.

use std::fmt::Write as _;

use bbrlab_run::{
    Delay, FlowGroup, FlowSummary, KindOfTime, LimitedBy, LinkSummary, QueueDelay, RunSummary,
    SIMULATOR, TinSummary, Wait, WaitSummary,
};

use super::block::{Block, html, page};
use super::format::TableFormat;
use super::layout::{Align, Table};
use super::tables::Tables;
use crate::answers::{has_shares_apart, has_steady_apart};
use crate::number::{count, figure, fixed};
use crate::swept_key::value_text;

/// With more flows than this, the table of single flows is omitted.
const FLOWS_SHOWN: usize = 20;
/// With more links than this, a line gives the number of the links that are not shown.
const LINKS_SHOWN: usize = 8;

/// Returns the summary of a run as text: its parameters, its links and its flows.
#[must_use]
pub fn run_table(run: &RunSummary, width: Option<usize>) -> String {
    run_tables(run).formatted(TableFormat::Text(width))
}

/// Returns the tables of [`run_table`].
#[must_use]
pub fn run_tables(run: &RunSummary) -> Tables {
    Tables(blocks(run))
}

/// Returns the summary of a run as HTML without colours and fonts, which needs no style sheet.
#[must_use]
pub fn run_html(run: &RunSummary) -> String {
    html(&blocks(run))
}

/// Returns the summary of a run as HTML, for a report whose style sheet has the classes of the
/// tables.
pub(crate) fn run_page(run: &RunSummary) -> String {
    page(&blocks(run))
}

fn blocks(run: &RunSummary) -> Vec<Block> {
    let hash: String = run.scenario_hash.chars().take(12).collect();
    let origin = match run.other_backend() {
        Some(backend) if run.is_measured() => backend,
        Some(backend) => format!("{backend}, seed {}", run.seed),
        None => format!("{}, seed {}", run.profile, run.seed),
    };
    let mut blocks = vec![Block::Line(format!("{}  ({origin}, hash {hash})", run.scenario))];
    if !run.point.is_empty() {
        blocks.push(Block::Line(format!("at {}", point_text(&run.point))));
    }
    let mut facts = format!(
        "{} s {}, {} data packets, {} events",
        trimmed(run.sim_s),
        match run.kind_of_time() {
            KindOfTime::Measured => "measured".to_owned(),
            KindOfTime::Simulated => "simulated".to_owned(),
            other @ (KindOfTime::Real | KindOfTime::Virtual) => format!("of {other}"),
        },
        count(run.data_packets),
        count(run.events)
    );
    if let Some(cpu_s) = run.cpu_s {
        write!(facts, ", {} s of CPU", figure(cpu_s)).expect("writing to a string cannot fail");
    }
    blocks.push(Block::Line(facts));
    blocks.extend(lateness(run));
    if let Some(digest) = &run.digest {
        blocks.push(Block::Line(format!("digest {digest}")));
    }
    if !run.links.is_empty() {
        blocks.push(Block::Gap);
        links(&mut blocks, &run.links);
        tins(&mut blocks, &run.links);
    }
    if !run.waits.is_empty() {
        blocks.push(Block::Gap);
        waits(&mut blocks, &run.waits);
    }
    let has_several = |group: &FlowGroup| group.fct_ms.all() > 1;
    if run.flows.len() > 1 || run.flow_groups.iter().any(has_several) {
        blocks.extend([Block::Gap, Block::Table(groups(run))]);
    }
    if run.flows.len() <= FLOWS_SHOWN {
        blocks.extend([Block::Gap, Block::Table(flows(&run.flows))]);
    } else {
        blocks.push(Block::Line(format!(
            "{} flows, summarised by group; each of them is in summary.parquet and in --json",
            count(run.flows.len() as u64)
        )));
    }
    delays(&mut blocks, &run.flow_groups);
    // Only a run of one flow needs this line: with several flows, the table of groups contains
    // these counts.
    if let [flow] = run.flows.as_slice()
        && is_disordered(flow.out_of_order_packets, flow.duplicate_packets)
    {
        let duplicates = count(flow.duplicate_packets);
        blocks.push(Block::Line(match flow.out_of_order_packets {
            None => format!("{duplicates} packets were duplicates"),
            late => {
                format!(
                    "{} packets arrived out of order, {duplicates} were duplicates",
                    count(late)
                )
            }
        }));
    }
    // The table of links does not count corrupt packets that hosts discard, so a line gives the
    // number of packets that were lost at random or corrupt.
    let at_links: u64 = run.links.iter().filter_map(|link| link.random_losses).sum();
    if let [flow] = run.flows.as_slice()
        && flow.random_losses > Some(at_links)
    {
        let lost = count(flow.random_losses);
        blocks.push(Block::Line(format!("{lost} packets were lost at random or corrupt")));
    }
    for group in run.flow_groups.iter().filter(|group| group.rejected > Some(0)) {
        blocks.push(Block::Sentence(format!(
            "{} flows of {} were rejected, because `at_most` others were active; {} were admitted",
            count(group.rejected),
            group.group,
            count(group.flows)
        )));
    }
    if run.flows.len() > 1 {
        let fairness = match (run.jain, run.jain_ss) {
            (None, _) if lasting(run) < 2 => {
                "no Jain's index: needs two flows without `arrivals`".to_owned()
            }
            // Jain's index needs samples of all flows. The simulator samples all flows, but other
            // back ends do not sample flows of datagrams.
            (None, _) if !matches!(run.backend.as_str(), "" | SIMULATOR) && overlap(run) => {
                "no Jain's index: this back end does not sample all flows".to_owned()
            }
            (None, _) => "no Jain's index: the flows were never all active at once".to_owned(),
            (jain, None) => format!("Jain's index {}", fixed(jain, 4)),
            (jain, steady) => {
                format!("Jain's index {} (steady state {})", fixed(jain, 4), fixed(steady, 4))
            }
        };
        let line = format!("goodput {} Mbit/s, {fairness}", figure(run.goodput_mbps));
        blocks.extend([Block::Gap, Block::Line(line)]);
    }
    blocks
}

/// Returns the line about the lateness of packets; `None` if no packet's lateness was measured.
fn lateness(run: &RunSummary) -> Option<Block> {
    let late = &run.lateness_us;
    late.mean.map(|mean| {
        Block::Line(format!(
            "packets left links late by {} us on average, 99 % by at most {}, all by at most {}",
            figure(mean),
            figure(late.p99),
            figure(late.max)
        ))
    })
}

/// Returns the number of flows, not counting the flows of classes with `arrivals`. Only groups of
/// classes with `arrivals` have a count of rejected flows, which identifies them.
fn lasting(run: &RunSummary) -> usize {
    let comes_and_goes = |flow: &&FlowSummary| {
        let group = run.flow_groups.iter().find(|group| group.group == flow.group);
        group.is_some_and(|group| group.rejected.is_some())
    };
    run.flows.iter().filter(|flow| !comes_and_goes(flow)).count()
}

/// Whether there is a time at which all flows were active.
fn overlap(run: &RunSummary) -> bool {
    let starts = run.flows.iter().filter_map(|flow| flow.start_s);
    let stops = run.flows.iter().filter_map(|flow| flow.stop_s);
    starts.fold(0.0, f64::max) < stops.fold(f64::INFINITY, f64::min)
}

/// Returns the swept keys of a sweep point with their values, in one line.
pub(crate) fn point_text(point: &bbrlab_run::SweepPoint) -> String {
    let pairs: Vec<String> =
        point.iter().map(|(key, value)| format!("{key} = {}", value_text(value))).collect();
    pairs.join(", ")
}

/// A function that returns a count of a link, such as its drops.
type CountOf = fn(&LinkSummary) -> Option<u64>;

/// Adds the table of links that flows share. A column for a kind of loss is omitted if no link has
/// such losses.
fn links(blocks: &mut Vec<Block>, links: &[LinkSummary]) {
    let (private, shared): (Vec<&LinkSummary>, Vec<&LinkSummary>) =
        links.iter().partition(|link| link.is_private());
    let shown = &shared[..shared.len().min(LINKS_SHOWN)];
    let has = |of: CountOf| shown.iter().any(|link| of(link) > Some(0));
    let counts: [(&str, CountOf); 4] = [
        ("lost", |link| link.random_losses),
        ("policed", |link| link.policer_drops),
        ("thinned", |link| link.thinned_acks),
        ("marked", |link| link.marks),
    ];
    let counts: Vec<(&str, CountOf)> = counts.into_iter().filter(|&(_, of)| has(of)).collect();
    let mut table = Table::new()
        .column("link", "", Align::Left)
        .column("rate", "Mbit/s", Align::Right)
        .column("used", "%", Align::Right)
        .column("arrived", "packets", Align::Right)
        .column("dropped", "packets", Align::Right)
        .column("", "%", Align::Right)
        .in_full("dropped", "%");
    for &(title, _) in &counts {
        table = table.column(title, "packets", Align::Right);
    }
    table = table
        .column("queue mean", "packets", Align::Right)
        .column("p95", "", Align::Right)
        .in_full("queue p95", "packets")
        .column("max", "", Align::Right)
        .in_full("queue max", "packets")
        .column("delay mean", "ms", Align::Right)
        .column("p95", "", Align::Right)
        .in_full("delay p95", "ms");
    for link in shown {
        let mut cells = vec![
            link.name.clone(),
            figure(link.rate_mbps),
            fixed(link.utilization.map(|share| share * 100.0), 1),
            count(link.arrivals),
            count(link.drops),
            fixed(link.drop_ratio.map(|share| share * 100.0), 2),
        ];
        cells.extend(counts.iter().map(|(_, of)| count(of(link))));
        cells.extend([
            fixed(link.queue_packets.mean, 1),
            fixed(link.queue_packets.p95, 0),
            fixed(link.queue_packets.max, 0),
            fixed(link.queue_delay_ms.mean, 2),
            fixed(link.queue_delay_ms.p95, 2),
        ]);
        table.row(cells);
    }
    if !table.is_empty() {
        blocks.push(Block::Table(table));
    }
    for (more, what) in [
        (shared.len() - shown.len(), "more shared links"),
        (private.len(), "links of single flows"),
    ] {
        if more > 0 {
            blocks.push(Block::Sentence(format!("and {} {what}", count(more as u64))));
        }
    }
}

/// Adds the table of the times that packets waited at links with the keys `slot` or `grant`, for
/// the next slot or for the grant of a request to send.
fn waits(blocks: &mut Vec<Block>, waits: &[WaitSummary]) {
    let mut table = Table::new()
        .column("waits", "", Align::Left)
        .column("arrived", "packets", Align::Right)
        .column("dropped", "packets", Align::Right)
        .column("wait mean", "ms", Align::Right)
        .column("p95", "", Align::Right)
        .in_full("wait p95", "ms")
        .column("max", "", Align::Right)
        .in_full("wait max", "ms");
    for wait in waits.iter().take(LINKS_SHOWN) {
        let mut cells = vec![wait.name.clone(), count(wait.arrivals), count(wait.drops)];
        let Wait { mean, p95, max } = wait.wait_ms;
        cells.extend([mean, p95, max].map(|ms| fixed(ms, 2)));
        table.row(cells);
    }
    blocks.push(Block::Table(table));
    if waits.len() > LINKS_SHOWN {
        let more = count((waits.len() - LINKS_SHOWN) as u64);
        blocks.push(Block::Line(format!("and {more} more")));
    }
}

/// Adds the table of tins, which are the traffic classes of `cake`, for shared links on which
/// packets arrived at more than one tin.
fn tins(blocks: &mut Vec<Block>, links: &[LinkSummary]) {
    let is_used = |tin: &&TinSummary| tin.arrivals > Some(0);
    let shown = links
        .iter()
        .filter(|link| !link.is_private() && link.tins.iter().filter(is_used).count() > 1)
        .take(LINKS_SHOWN)
        .flat_map(|link| link.tins.iter().map(move |tin| (link, tin)))
        .collect::<Vec<_>>();
    if shown.is_empty() {
        return;
    }
    let has_marks = shown.iter().any(|(_, tin)| tin.marks > Some(0));
    let mut table = Table::new()
        .column("link", "", Align::Left)
        .column("tin", "", Align::Left)
        .column("used", "%", Align::Right)
        .column("arrived", "packets", Align::Right)
        .column("departed", "packets", Align::Right)
        .column("dropped", "packets", Align::Right);
    if has_marks {
        table = table.column("marked", "packets", Align::Right);
    }
    table = table
        .column("sojourn mean", "ms", Align::Right)
        .column("p95", "", Align::Right)
        .in_full("sojourn p95", "ms")
        .column("max", "", Align::Right)
        .in_full("sojourn max", "ms");
    for (link, tin) in shown {
        let mut cells = vec![
            link.name.clone(),
            tin.name.clone(),
            fixed(tin.utilization.map(|share| share * 100.0), 1),
            count(tin.arrivals),
            count(tin.departures),
            count(tin.drops),
        ];
        if has_marks {
            cells.push(count(tin.marks));
        }
        let sojourn = &tin.sojourn_ms;
        cells.extend([sojourn.mean, sojourn.p95, sojourn.max].map(|ms| fixed(ms, 2)));
        table.row(cells);
    }
    blocks.extend([Block::Gap, Block::Table(table)]);
}

/// Adds the table of one-way delays (of messages) and queueing delays (of packets), for groups of
/// flows in which such delays are measured. Columns without a value for any group are omitted.
fn delays(blocks: &mut Vec<Block>, groups: &[FlowGroup]) {
    let is_measured = |group: &&FlowGroup| {
        group.delay_ms.n > Some(0)
            || group.loss_ratio.is_some()
            || group.path_queue_delay_ms.mean.is_some()
    };
    let shown: Vec<&FlowGroup> = groups.iter().filter(is_measured).collect();
    if shown.is_empty() {
        return;
    }
    let has = |of: fn(&FlowGroup) -> Option<f64>| shown.iter().any(|group| of(group).is_some());
    let has_messages = has(|group| group.delay_ms.mean);
    let has_losses = has(|group| group.loss_ratio);
    let has_bound = has(|group| group.late_ratio);
    let has_waits = has(|group| group.path_queue_delay_ms.mean);
    let mut table = Table::new().column("group", "", Align::Left);
    if has_messages {
        table = table
            .column("messages", "", Align::Right)
            .column("delay mean", "ms", Align::Right)
            .column("p50", "", Align::Right)
            .column("p95", "", Align::Right)
            .column("p99", "", Align::Right)
            .column("max", "", Align::Right)
            .column("jitter", "ms", Align::Right);
    }
    if has_losses {
        table = table.column("lost", "%", Align::Right);
    }
    if has_bound {
        table = table.column("late", "%", Align::Right);
    }
    if has_waits {
        table = table
            .column("path queue mean", "ms", Align::Right)
            .column("p50", "", Align::Right)
            .column("p95", "", Align::Right)
            .column("p99", "", Align::Right);
    }
    for group in shown {
        let mut cells = vec![group.group.clone()];
        if has_messages {
            let Delay { n, mean, p50, p95, p99, max } = group.delay_ms;
            cells.push(count(n));
            cells.extend([mean, p50, p95, p99, max, group.jitter_ms].map(|ms| fixed(ms, 2)));
        }
        let percent = |share: Option<f64>| fixed(share.map(|share| share * 100.0), 2);
        if has_losses {
            cells.push(percent(group.loss_ratio));
        }
        if has_bound {
            cells.push(percent(group.late_ratio));
        }
        if has_waits {
            let QueueDelay { mean, p50, p95, p99 } = group.path_queue_delay_ms;
            cells.extend([mean, p50, p95, p99].map(|ms| fixed(ms, 2)));
        }
        table.row(cells);
    }
    blocks.extend([Block::Gap, Block::Table(table)]);
}

/// Whether some packets arrived out of order or were duplicates.
fn is_disordered(out_of_order: Option<u64>, duplicates: Option<u64>) -> bool {
    out_of_order > Some(0) || duplicates > Some(0)
}

/// Returns the table of groups of flows. Columns without a value for any group are omitted.
fn groups(run: &RunSummary) -> Table {
    let groups = &run.flow_groups;
    let has_transfers = groups.iter().any(FlowGroup::has_transfers);
    let has_never_begun = groups.iter().any(|group| group.fct_ms.never_begun > Some(0));
    let is_active_in_part = groups.len() > 1 && groups.iter().any(FlowGroup::is_active_in_part);
    let has_shares_apart = groups.len() > 1 && groups.iter().any(has_shares_apart);
    let has_steady_apart = groups.len() > 1 && groups.iter().any(has_steady_apart);
    let has_losses = groups.iter().any(|group| group.random_losses > Some(0));
    let is_policed = groups.iter().any(|group| group.policer_drops > Some(0));
    let mut table = Table::new()
        .column("group", "", Align::Left)
        .column("flows", "", Align::Right)
        .column("goodput", "Mbit/s", Align::Right);
    if is_active_in_part {
        table = table.column("while active", "Mbit/s", Align::Right);
    }
    table = table.column("share", "%", Align::Right);
    if has_shares_apart {
        table = table.column("all active", "%", Align::Right);
    }
    if has_steady_apart {
        table = table.column("steady", "%", Align::Right).in_full("share steady", "%");
    }
    if has_transfers {
        table = table
            .column("FCT p50", "ms", Align::Right)
            .column("p95", "ms", Align::Right)
            .in_full("FCT p95", "ms")
            .column("p99", "ms", Align::Right)
            .in_full("FCT p99", "ms")
            .column("slowdown p50", "", Align::Right)
            .column("completed", "", Align::Right)
            .column("unfinished", "", Align::Right);
    }
    if has_never_begun {
        table = table.column("never begun", "", Align::Right);
    }
    table = table.column("retrans", "pkt", Align::Right);
    let is_disordered = groups
        .iter()
        .any(|group| is_disordered(group.out_of_order_packets, group.duplicate_packets));
    if is_disordered {
        table = table.column("out of order", "pkt", Align::Right).column(
            "duplicate",
            "pkt",
            Align::Right,
        );
    }
    table = table.column("dropped", "pkt", Align::Right);
    if has_losses {
        table = table.column("lost", "pkt", Align::Right);
    }
    if is_policed {
        table = table.column("policed", "pkt", Align::Right);
    }
    table = table
        .column("RTT mean", "ms", Align::Right)
        .column("p95", "ms", Align::Right)
        .in_full("RTT p95", "ms");
    for group in groups {
        let mut cells = vec![group.group.clone(), count(group.flows), fixed(group.goodput_mbps, 2)];
        if is_active_in_part {
            cells.push(fixed(group.goodput_active_mbps, 2));
        }
        cells.push(fixed(group.share.map(|share| share * 100.0), 1));
        if has_shares_apart {
            cells.push(fixed(group.share_active.map(|share| share * 100.0), 1));
        }
        if has_steady_apart {
            cells.push(fixed(group.share_ss.map(|share| share * 100.0), 1));
        }
        if has_transfers {
            cells.extend([
                figure(group.fct_ms.p50),
                figure(group.fct_ms.p95),
                figure(group.fct_ms.p99),
                fixed(group.slowdown.p50, 2),
                count(group.fct_ms.n),
                count(group.fct_ms.unfinished),
            ]);
        }
        if has_never_begun {
            cells.push(count(group.fct_ms.never_begun));
        }
        cells.push(count(group.retransmitted_packets));
        if is_disordered {
            cells.extend([count(group.out_of_order_packets), count(group.duplicate_packets)]);
        }
        cells.push(count(group.drops));
        if has_losses {
            cells.push(count(group.random_losses));
        }
        if is_policed {
            cells.push(count(group.policer_drops));
        }
        cells.extend([fixed(group.rtt_ms.mean, 1), fixed(group.rtt_ms.p95, 1)]);
        table.row(cells);
    }
    table
}

fn flows(flows: &[FlowSummary]) -> Table {
    let with_fct = flows.iter().any(|flow| flow.fct_ms.mean.is_some());
    let has_video = flows.iter().any(|flow| flow.stalled_s.is_some());
    let has_names = flows.iter().any(|flow| flow.name.is_some());
    let mut table = Table::new()
        .column("flow", "", if has_names { Align::Left } else { Align::Right })
        .column("cc", "", Align::Left)
        .column("goodput", "Mbit/s", Align::Right)
        .column("steady", "Mbit/s", Align::Right)
        .column("retrans", "pkt", Align::Right)
        .column("", "%", Align::Right)
        .in_full("retrans", "%")
        .column("RTO", "", Align::Right)
        .column("RTT base", "ms", Align::Right)
        .column("mean", "ms", Align::Right)
        .in_full("RTT mean", "ms")
        .column("p95", "ms", Align::Right)
        .in_full("RTT p95", "ms")
        .column("cwnd", "pkt", Align::Right)
        .column("limited by", "% of its time", Align::Left);
    if with_fct {
        table = table.column("FCT mean", "ms", Align::Right);
    }
    if has_video {
        table = table.column("stalled", "s", Align::Right);
    }
    for flow in flows {
        let mut cells = vec![
            flow.name.clone().unwrap_or_else(|| flow.id.to_string()),
            flow.cc.clone(),
            fixed(flow.goodput_mbps, 2),
            fixed(flow.goodput_ss_mbps, 2),
            count(flow.retransmitted_packets),
            fixed(
                flow.sent_packets
                    .zip(flow.retransmitted_packets)
                    .and_then(|(sent, again)| share(again, sent)),
                2,
            ),
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
        if has_video {
            cells.push(fixed(flow.stalled_s, 2));
        }
        table.row(cells);
    }
    table
}

/// Returns the one or two limits that applied to the sender for the longest time, each with its
/// share of the flow's active time in percent. Shares below 0.5 % are left out.
fn limits(limited_by: &LimitedBy) -> String {
    let mut shares = [
        ("cwnd", limited_by.cwnd),
        ("pacing", limited_by.pacing),
        ("rwnd", limited_by.rwnd),
        ("sndbuf", limited_by.sndbuf),
        ("app", limited_by.app),
    ];
    // The sort is stable, so equal shares stay in the order of the list above.
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

/// Writes a number with at most three decimals, without trailing zeros; a dash for `None`.
fn trimmed(value: impl Into<Option<f64>>) -> String {
    let text = fixed(value, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::super::block::text;
    use super::super::layout::WIDTH;
    use super::super::tests::sample_run;
    use super::{delays, groups, run_table, waits};
    use bbrlab_run::{
        Delay, GroupFct, LatenessUs, QueueDelay, Sojourn, TinSummary, Wait, WaitSummary,
    };
    use expect_test::expect;

    #[test]
    fn a_swept_table_is_shown_by_its_choice_and_its_other_keys() {
        let told = |value| super::value_text(&value);
        assert_eq!(told(serde_json::json!("fq_codel")), "fq_codel");
        assert_eq!(told(serde_json::json!(0.01)), "0.01");
        let red = serde_json::json!({ "discipline": "red", "ecn": true, "limit": "64KiB" });
        assert_eq!(told(red), "red ecn=true limit=64KiB");
        assert_eq!(told(serde_json::json!({ "every": 1 })), "every=1");
    }

    #[test]
    fn a_video_has_the_time_in_which_it_stalled() {
        let mut run = sample_run();
        assert!(!run_table(&run, None).contains("stalled"));
        run.flows[0].stalled_s = Some(1.25);
        let table = run_table(&run, None);
        assert!(table.contains("stalled") && table.contains("1.25"), "{table}");
    }

    #[test]
    fn only_a_measured_lateness_has_a_line() {
        let mut run = sample_run();
        run.lateness_us.packets = Some(0);
        assert!(!run_table(&run, None).contains("left links late"));
        run.lateness_us =
            LatenessUs { packets: Some(2), mean: Some(4.5), p99: Some(6.0), max: Some(6.0) };
        assert!(run_table(&run, None).contains("left links late by 4.50 us on average"));
    }

    #[test]
    fn one_flow_has_its_corrupt_packets_and_only_the_counts_that_are_known() {
        let mut run = sample_run();
        run.flows.truncate(1);
        run.flow_groups.truncate(1);
        run.flows[0].random_losses = Some(359);
        run.flows[0].out_of_order_packets = None;
        run.flows[0].duplicate_packets = Some(1197);
        let table = run_table(&run, None);
        assert!(table.contains("359 packets were lost at random or corrupt\n"), "{table}");
        assert!(table.contains("\n1,197 packets were duplicates\n"), "{table}");
        run.links[0].random_losses = Some(359);
        assert!(!run_table(&run, None).contains("corrupt"));
    }

    #[test]
    fn the_table_of_a_run_has_its_links_and_flows() {
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

            group  flows  goodput  share  retrans  out of order  duplicate  dropped  RTT mean   p95
                           Mbit/s      %      pkt           pkt        pkt      pkt        ms    ms
            ───────────────────────────────────────────────────────────────────────────────────────
            bbr1       1    24.60   52.9      502         3,950          7      502      47.3  71.4
            cubic      1    21.90   47.1      502         3,950          7      502      47.3  71.4

            flow  cc     goodput  steady  retrans        RTO  RTT base  mean   p95  cwnd  limited by
                          Mbit/s  Mbit/s      pkt     %             ms    ms    ms   pkt  % of its time
            ────────────────────────────────────────────────────────────────────────────────────────────────
               0  bbr1     24.61   24.86      502  0.25    0        30  47.3  71.4   143  pacing 88, cwnd 11
               1  cubic    21.97   22.22      502  0.25    0        30  47.3  71.4   143  pacing 88, cwnd 11

            goodput 46.50 Mbit/s, Jain's index 0.9871 (steady state 0.9910)
        "#]].assert_eq(&run_table(&run, Some(WIDTH)));
    }

    #[test]
    fn waits_are_shown_below_the_links() {
        let mut run = sample_run();
        let wait = |name: &str, drops, wait_ms| WaitSummary {
            name: name.to_owned(),
            arrivals: Some(413_349),
            departures: Some(413_349 - drops),
            queued_at_end: Some(0),
            drops: Some(drops),
            wait_ms,
        };
        let some = Wait { mean: Some(4.5), p95: Some(6.0), max: Some(6.02) };
        run.waits = vec![
            wait("bottleneck.grants", 12, some),
            wait("bottleneck.reverse.slots", 0, Wait::default()),
        ];
        let mut blocks = Vec::new();
        waits(&mut blocks, &run.waits);
        expect![[r#"
            waits                     arrived  dropped  wait mean   p95   max
                                      packets  packets         ms
            ─────────────────────────────────────────────────────────────────
            bottleneck.grants         413,349       12       4.50  6.00  6.02
            bottleneck.reverse.slots  413,349        0          –     –     –
        "#]]
        .assert_eq(&text(&blocks, Some(WIDTH)));
        assert!(run_table(&run, Some(WIDTH)).contains("bottleneck.reverse.slots"));
    }

    #[test]
    fn delays_are_shown_for_the_groups_in_which_they_are_measured() {
        let mut run = sample_run();
        assert!(!run_table(&run, Some(WIDTH)).contains("jitter"));
        let ms = Some(52.9);
        let delay_ms = Delay { n: Some(1414), mean: ms, p50: ms, p95: ms, p99: ms, max: ms };
        let path_queue_delay_ms = QueueDelay { mean: ms, p50: ms, p95: ms, p99: ms };
        run.flow_groups[0].delay_ms = delay_ms;
        run.flow_groups[0].loss_ratio = Some(0.187);
        run.flow_groups[1].path_queue_delay_ms = path_queue_delay_ms;
        let mut blocks = Vec::new();
        delays(&mut blocks, &run.flow_groups);
        expect![[r#"

            group  messages  delay mean    p50    p95    p99    max  jitter   lost  path queue mean    p50
                                     ms                                  ms      %               ms
            ──────────────────────────────────────────────────────────────────────────────────────────────
            bbr1      1,414       52.90  52.90  52.90  52.90  52.90       –  18.70                –      –
            cubic         –           –      –      –      –      –       –      –            52.90  52.90
            not shown: p95, p99 (--wide shows all columns)
        "#]]
        .assert_eq(&text(&blocks, Some(WIDTH)));
        assert!(run_table(&run, Some(WIDTH)).contains("jitter"));
    }

    #[test]
    fn transfers_that_never_began_are_counted() {
        let mut run = sample_run();
        assert!(!run_table(&run, Some(WIDTH)).contains("never begun"));
        let ms = Some(900.0);
        run.flows.truncate(1);
        run.flow_groups.truncate(1);
        run.flow_groups[0].fct_ms = GroupFct {
            n: Some(79),
            unfinished: Some(1),
            never_begun: Some(20),
            p50: ms,
            p95: ms,
            p99: ms,
            ..GroupFct::default()
        };
        expect![[r#"
            group  flows  goodput  share  FCT p50    p95    p99  slowdown p50  completed  unfinished  never begun  retrans  out of order  duplicate  dropped  RTT mean   p95
                           Mbit/s      %       ms     ms     ms                                                        pkt           pkt        pkt      pkt        ms    ms
            ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            bbr1       1    24.60   52.9    900.0  900.0  900.0             –         79           1           20      502         3,950          7      502      47.3  71.4
        "#]].assert_eq(&text(&[Block::Table(groups(&run))], None));
        assert!(run_table(&run, Some(WIDTH)).contains("never begun"));
    }

    #[test]
    fn tins_are_shown_if_more_than_one_was_used() {
        let tin = |name: &str, arrivals, mean| TinSummary {
            name: name.to_owned(),
            utilization: Some(0.25),
            arrivals: Some(arrivals),
            departures: Some(arrivals),
            drops: Some(0),
            marks: Some(0),
            sojourn_ms: Sojourn { mean, p95: mean, max: mean },
        };
        let mut run = sample_run();
        run.links[0].tins = vec![tin("bulk", 0, None), tin("best_effort", 900, Some(14.8))];
        assert!(!run_table(&run, Some(WIDTH)).contains("bulk"));
        run.links[0].tins.push(tin("voice", 40, Some(0.5)));
        let text = run_table(&run, Some(WIDTH));
        let from = text.find("link        tin").expect("a table of tins");
        expect![[r#"
            link        tin          used  arrived  departed  dropped  sojourn mean    p95    max
                                        %  packets   packets  packets            ms
            ─────────────────────────────────────────────────────────────────────────────────────
            bottleneck  bulk         25.0        0         0        0             –      –      –
            bottleneck  best_effort  25.0      900       900        0         14.80  14.80  14.80
            bottleneck  voice        25.0       40        40        0          0.50   0.50   0.50"#]]
        .assert_eq(text[from..].split("\n\n").next().unwrap());
    }

    #[test]
    fn one_lasting_flow_among_flows_that_come_and_go_has_no_fairness_index() {
        let mut run = sample_run();
        (run.jain, run.jain_ss) = (None, None);
        assert!(run_table(&run, None).contains("the flows were never all active"));
        run.backend = "linux".to_owned();
        assert!(run_table(&run, None).contains("this back end does not sample all flows"));
        run.flow_groups[1].rejected = Some(0);
        let text = run_table(&run, None);
        assert!(text.ends_with("no Jain's index: needs two flows without `arrivals`\n"), "{text}");
    }

    #[test]
    fn many_flows_are_summarised_by_group() {
        let mut run = sample_run();
        let flow = run.flows[0].clone();
        run.flows = (0..1000).map(|id| bbrlab_run::FlowSummary { id, ..flow.clone() }).collect();
        run.flow_groups[0].flows = 998;
        let text = run_table(&run, Some(WIDTH));
        assert!(text.contains("1,000 flows, summarised by group"), "{text}");
        assert!(text.lines().count() < 20, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
