//! The table of a sweep: one row per point. The first columns are the swept keys whose values
//! differ between points.

use std::collections::BTreeMap;

use bbrlab_run::{Group, RunSummary};
use serde_json::Value;

use super::block::{Block, html, page};
use super::format::TableFormat;
use super::layout::{Align, Table};
use super::tables::Tables;
use crate::answers::{
    Answer, Metric, WORTH_SHOWING_MS, flow_groups, group_names, link_position, link_value,
    links_to_name, places, position, text_of, value,
};
use crate::chosen_answers::{add_of_flows, chosen_answers};
use crate::chosen_groups::check_groups_of_sweep;
use crate::number::NONE;
use crate::points::Points;
use crate::swept_key::value_text;

/// Writes the table of all runs of a sweep, or of one point with several seeds: means with 95 %
/// intervals. `width` is the terminal's width in characters. Without `width`, the table has all its
/// columns.
#[must_use]
pub fn sweep_table(runs: &[RunSummary], width: Option<usize>) -> String {
    let Ok(points) = Points::of(runs);
    points.table(width)
}

/// Writes the table of [`sweep_table`] as HTML.
#[must_use]
pub fn sweep_html(runs: &[RunSummary]) -> String {
    let Ok(points) = Points::of(runs);
    html(&blocks(&points, &points.usual, &[]))
}

/// Returns the table of a sweep as HTML, for a report whose style sheet has the classes of the
/// table.
pub(crate) fn sweep_page(runs: &[RunSummary]) -> String {
    let Ok(points) = Points::of(runs);
    page(&blocks(&points, &points.usual, &[]))
}

/// Returns the table of the chosen metrics of a run or of all runs of a sweep; without a choice,
/// the usual metrics. `flow_groups` are the names of the groups of flows that are shown; all if
/// empty. If groups but no metrics are chosen, the table has only those usual metrics that groups
/// have.
///
/// # Errors
/// Fails if a metric or a group is unknown; the error's text lists similar names.
pub fn chosen_sweep_tables(
    runs: &[RunSummary],
    metrics: &[String],
    flow_groups: &[String],
) -> Result<Tables, String> {
    let mut points = if metrics.is_empty() {
        let Ok(points) = Points::of(runs);
        points
    } else {
        Points::with_every_metric(runs)
    };
    check_groups_of_sweep(&points.groups, flow_groups)?;
    add_of_flows(&mut points, runs, metrics.iter());
    let mut answers = if metrics.is_empty() {
        points.usual.clone()
    } else {
        chosen_answers(metrics, &points.groups, &points.usual)?
    };
    if !flow_groups.is_empty() && metrics.is_empty() {
        answers.retain(|answer| answer.metric.is_per_group());
    }
    Ok(Tables(blocks(&points, &answers, flow_groups)))
}

/// Whether the user's choice `wanted` includes the group of flows with the index `place`. The group
/// has a name in the whole sweep (`name`), and a name at each sweep point. The group is included if
/// `wanted` contains one of these names, or if `wanted` is empty.
fn is_shown(groups: &[Group], place: usize, name: &str, wanted: &[String]) -> bool {
    wanted.is_empty()
        || wanted.iter().any(|wanted| wanted == name)
        || groups.iter().any(|group| {
            flow_groups(group).nth(place).is_some_and(|own| wanted.iter().any(|it| it == own))
        })
}

impl Points {
    /// Writes a table with a row for each sweep point: means with 95 % intervals. `width` is as in
    /// [`sweep_table`].
    #[must_use]
    pub fn table(&self, width: Option<usize>) -> String {
        self.tables().formatted(TableFormat::Text(width))
    }

    /// Returns the table that [`Self::table`] writes as text.
    #[must_use]
    pub fn tables(&self) -> Tables {
        Tables(blocks(self, &self.usual, &[]))
    }
}

fn blocks(points: &Points, answers: &[Answer<'_>], wanted: &[String]) -> Vec<Block> {
    let groups = &points.groups;
    let keys = varying_keys(groups);
    let names = group_names(groups);
    let most_seeds = groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
    let mut table = Table::new();
    for key in &keys {
        table = table.column(&short_key(key, &keys), "", Align::Left);
    }
    if keys.is_empty() {
        table = table.column("scenario", "", Align::Left);
    }
    if most_seeds > 1 {
        table = table.column("seeds", "", Align::Right);
    }
    let mut columns: Vec<(&Answer, Of<'_>)> = Vec::new();
    for answer in answers {
        // If several links have a column of this metric, each column names its link. Without link
        // names, readers would take the values of one link for values of the whole path.
        let links = match answer.metric {
            Metric::Bottleneck(figure) => links_to_name(groups, figure),
            Metric::Run(_) | Metric::PerGroup(_) | Metric::PerFlow(_) => Vec::new(),
        };
        if !links.is_empty() {
            for link in links {
                columns.push((answer, Of::Link(link)));
                table = table
                    .column(link, &unit_of(answer), Align::Right)
                    .in_full(&format!("{link} {}", answer.title), answer.unit);
            }
            continue;
        }
        for place in places(groups, answer.metric) {
            let is_per_group = answer.metric.is_per_group();
            if is_per_group && !is_shown(groups, place, &names[place], wanted) {
                continue;
            }
            columns.push((answer, Of::Place(place)));
            table = if is_per_group && names.len() > 1 {
                let name = &names[place];
                table
                    .column(name, &unit_of(answer), Align::Right)
                    .in_full(&format!("{name} {}", answer.title), answer.unit)
            } else {
                table.column(answer.title, answer.unit, Align::Right)
            };
        }
    }
    for group in groups {
        let mut cells: Vec<String> = keys
            .iter()
            .map(|key| group.point.get(key).map_or_else(|| NONE.to_owned(), value_text))
            .collect();
        if keys.is_empty() {
            cells.push(group.scenario.clone());
        }
        if most_seeds > 1 {
            cells.push(group.seeds.len().to_string());
        }
        for &(answer, of) in &columns {
            let found = match of {
                Of::Place(place) => value(group, answer.metric, place),
                Of::Link(link) => link_value(group, link, answer.metric.name()),
            };
            cells.push(text_of(found, answer));
        }
        table.row(cells);
    }
    let is_beyond = table.has_beyond();
    let mut blocks = vec![Block::Table(table)];
    if is_beyond {
        blocks.push(Block::Beyond);
    }
    blocks.extend(of_some_seeds(groups, &columns, &names));
    let spread = groups.iter().filter(|group| group.identical_digests != Some(true));
    blocks.extend(few_seeds(spread.map(|group| group.seeds.len())));
    blocks.extend(waits(groups));
    blocks.extend(merged(groups));
    if !points.other_backends.is_empty() {
        blocks.push(Block::Sentence(format!("made by {}", points.other_backends.join(" and "))));
    }
    let unchanged = groups.iter().filter(|group| group.identical_digests == Some(true)).count();
    if unchanged > 0 {
        let which = if unchanged == groups.len() {
            "all points".to_owned()
        } else {
            format!("{unchanged} of {} points", groups.len())
        };
        blocks.push(Block::Sentence(format!(
            "no interval at {which}: the seeds gave identical digests; \
             `start_jitter` on flows makes runs differ"
        )));
    }
    blocks
}

/// Returns a sentence if some intervals come from fewer than `ENOUGH` seeds. `seeds` has the number
/// of seeds of each sweep point.
pub(super) fn few_seeds(seeds: impl Iterator<Item = usize>) -> Option<Block> {
    /// Number of seeds at which Student's factor, 2.8, is near the 2.0 of many seeds. The factor is
    /// 12.7 with two seeds and 4.3 with three.
    const ENOUGH: usize = 5;
    let least = seeds.filter(|&seeds| seeds > 1).min().filter(|&least| least < ENOUGH)?;
    Some(Block::Sentence(format!(
        "few seeds: an interval from {least} seeds is wide, and its width varies much; {ENOUGH} or more are better"
    )))
}

/// Returns a sentence if some means come from fewer runs than the sweep point has seeds, because a
/// metric has no value in the other runs. A completion time, for example, needs a completed
/// transfer.
fn of_some_seeds(
    groups: &[Group],
    columns: &[(&Answer<'_>, Of<'_>)],
    names: &[String],
) -> Option<Block> {
    let mut found: Vec<(u64, usize, String)> = Vec::new();
    for &(answer, of) in columns {
        let fewest = groups.iter().filter_map(|group| {
            let at = match of {
                Of::Place(place) => position(group, answer.metric, place),
                Of::Link(link) => link_position(group, link, answer.metric.name()),
            };
            let n = group.metrics.at(at?)?.n;
            (n > 0 && n < group.seeds.len() as u64).then_some((n, group.seeds.len()))
        });
        let Some((n, seeds)) = fewest.min() else { continue };
        let name = match of {
            Of::Place(place) if answer.metric.is_per_group() && names.len() > 1 => {
                format!("{} {}", names[place], answer.title)
            }
            Of::Place(_) => answer.title.to_owned(),
            Of::Link(link) => format!("{link} {}", answer.title),
        };
        found.push((n, seeds, name));
    }
    let &(n, seeds, _) = found.iter().min()?;
    let names: Vec<&str> = found.iter().map(|(_, _, name)| name.as_str()).collect();
    Some(Block::Sentence(format!(
        "some runs have no value, so the means of these columns do not include all seeds: {} (smallest number of seeds with a value: {n} of {seeds})",
        names.join(", ")
    )))
}

/// Returns a sentence if some sweep points have fewer groups of flows than others. A column then
/// does not show the same flows at all points.
fn merged(groups: &[Group]) -> Option<Block> {
    let most = groups.iter().map(|group| flow_groups(group).count()).max()?;
    let fewer = groups.iter().filter(|group| flow_groups(group).count() < most).count();
    (fewer > 0).then(|| {
        Block::Sentence(format!(
            "{fewer} of {} points have fewer groups of flows, because some have equal names there: their columns are not those of the same flows; \
             `group = \"NAME\"` in [[flows]] keeps groups apart",
            groups.len()
        ))
    })
}

/// Returns a sentence on the times that packets waited at links with the keys `slot` or `grant`.
/// Neither the columns of the table nor the metrics of queues include these times.
fn waits(groups: &[Group]) -> Option<Block> {
    let most = |name: &str| {
        let means = groups.iter().filter_map(|group| {
            group.metrics.position(name).and_then(|at| group.metrics.at(at)?.mean)
        });
        means.fold(0.0, f64::max)
    };
    let mut told: Vec<String> = Vec::new();
    let names = groups.first()?.metrics.names();
    for wait in names.filter_map(|name| name.strip_suffix(".wait_ms.mean")) {
        let (ms, drops) = (most(&format!("{wait}.wait_ms.mean")), most(&format!("{wait}.drops")));
        let dropped =
            if drops > 0.0 { format!(", which dropped {drops:.0} packets") } else { String::new() };
        if ms >= WORTH_SHOWING_MS || drops > 0.0 {
            let name = wait.strip_prefix("waits.").unwrap_or(wait);
            told.push(format!("{ms:.2} ms at {name}{dropped}"));
        }
    }
    (!told.is_empty()).then(|| {
        Block::Sentence(format!(
            "mean waiting times of packets, not included in the queue delay: {} (each number is the largest of all points)",
            told.join("; ")
        ))
    })
}

/// The subject of a column: a group of flows, the whole run, or a link.
#[derive(Clone, Copy)]
enum Of<'a> {
    /// The group of flows with this index; for a metric of the run, the index has no effect.
    Place(usize),
    /// The link with this name.
    Link(&'a str),
}

/// Returns title and unit of a group's column, which are shown below the group's name.
fn unit_of(answer: &Answer) -> String {
    format!("{} {}", answer.title, answer.unit).trim_end().to_owned()
}

/// Returns the last part of a key, such as `buffer` for `bottleneck.buffer`, if no other key has
/// the same last part; otherwise the whole key.
fn short_key(key: &str, keys: &[String]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let short = last(key);
    let is_alone = keys.iter().filter(|other| last(other) == short).count() == 1;
    if is_alone { short } else { key.to_owned() }
}

/// Returns the keys whose values differ between points, in the order of the sweep. If the values of
/// several keys change only together, only the first of these keys is included.
pub(crate) fn varying_keys(groups: &[Group]) -> Vec<String> {
    // For each key: the key, its first value, whether it also has other values, and the number of
    // sweep points that have the key.
    let mut keys: Vec<(&String, &Value, bool, usize)> = Vec::new();
    for group in groups {
        for (key, value) in &group.point {
            match keys.iter_mut().find(|(known, ..)| *known == key) {
                None => keys.push((key, value, false, 1)),
                Some((_, first, varies, count)) => {
                    *varies |= value != *first && value_text(value) != value_text(first);
                    *count += 1;
                }
            }
        }
    }
    let mut varying: Vec<String> = Vec::new();
    for (key, _, varies, count) in keys {
        let varies = varies || count < groups.len();
        if varies && !varying.iter().any(|other| change_together(groups, other, key)) {
            varying.push(key.clone());
        }
    }
    varying
}

/// Whether the values of the two keys correspond one to one.
fn change_together(groups: &[Group], one: &str, other: &str) -> bool {
    let mut with_one = BTreeMap::new();
    let mut with_other = BTreeMap::new();
    groups.iter().all(|group| {
        let value = |key: &str| group.point.get(key).map(value_text);
        let (one, other) = (value(one), value(other));
        let is_its = *with_one.entry(one.clone()).or_insert_with(|| other.clone()) == other;
        is_its && *with_other.entry(other).or_insert_with(|| one.clone()) == one
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_run;
    use super::sweep_table;
    use expect_test::expect;

    #[test]
    fn a_sweep_has_a_row_a_point_and_its_intervals_over_seeds() {
        let mut runs = Vec::new();
        for (at, buffer) in [(0u32, "0.5bdp"), (1, "1bdp")] {
            for cc in ["bbr1", "cubic"] {
                for seed in 1..=3u32 {
                    let mut run = sample_run();
                    run.seed = seed.into();
                    run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
                    run.point.insert("flows.cc".to_owned(), cc.into());
                    run.point.insert("duration".to_owned(), "100s".into());
                    run.scenario_hash = format!("{buffer}{cc}");
                    run.flows[0].goodput_mbps = Some(20.0 + f64::from(seed) + f64::from(at));
                    runs.push(run);
                }
            }
        }
        expect![[r#"
            buffer  cc     seeds     bbr1    cubic  goodput  queue delay         bbr1        cubic         bbr1
                                  share %  share %   Mbit/s           ms  retrans pkt  retrans pkt  RTT mean ms
            ───────────────────────────────────────────────────────────────────────────────────────────────────
            0.5bdp  bbr1       3     52.9     47.1    46.50        14.80          502          502        47.31
            0.5bdp  cubic      3     52.9     47.1    46.50        14.80          502          502        47.31
            1bdp    bbr1       3     52.9     47.1    46.50        14.80          502          502        47.31
            1bdp    cubic      3     52.9     47.1    46.50        14.80          502          502        47.31
            not shown: cubic RTT mean ms, used, dropped, Jain (--wide shows all columns)
            no interval at all points: the seeds gave identical digests; `start_jitter` on flows makes runs differ
        "#]]
        .assert_eq(&sweep_table(&runs, Some(100)));
    }

    #[test]
    fn another_back_end_is_named_with_its_version() {
        let mut runs = vec![sample_run(), sample_run()];
        for (seed, run) in (1..).zip(&mut runs) {
            run.seed = seed;
            run.backend = "linux".to_owned();
            run.backend_version = "6.12.117 (0d14d6df)".to_owned();
        }
        let text = sweep_table(&runs, Some(100));
        assert!(text.contains("\nmade by linux 6.12.117 (0d14d6df)\n"), "{text}");
        runs[1].backend_version = "6.1.176 (12345678)".to_owned();
        let text = sweep_table(&runs, Some(100));
        let both = "\nmade by linux 6.12.117 (0d14d6df) and linux 6.1.176 (12345678)\n";
        assert!(text.contains(both), "{text}");
    }

    #[test]
    fn a_group_whose_name_is_swept_has_the_name_of_its_flows() {
        let mut runs = vec![sample_run(), sample_run(), sample_run(), sample_run()];
        for (run, cc) in runs.iter_mut().zip(["bbr1", "bbr2", "bbr3", "reno"]) {
            run.point.insert("flows[0].cc".to_owned(), cc.into());
            run.flow_groups[0].group = cc.to_owned();
            run.scenario_hash = cc.to_owned();
        }
        let text = sweep_table(&runs, Some(100));
        assert!(text.starts_with("cc    flows[0]    cubic "), "{text}");
        // Now no swept key has the groups' names as values, so the names themselves are joined.
        for run in &mut runs {
            run.flow_groups[0].group.push('x');
        }
        let text = sweep_table(&runs, Some(100));
        assert!(text.starts_with("cc    bbr1x/…/renox    cubic "), "{text}");
    }

    /// Each of the seven runs has one transfer. Only in the first run does the transfer complete.
    #[test]
    fn means_that_do_not_come_from_all_seeds_are_named_and_small_counts_have_intervals() {
        let mut runs = Vec::new();
        for seed in 1..=7 {
            let mut run = sample_run();
            run.seed = seed;
            run.digest = Some(seed.to_string());
            let fct = &mut run.flow_groups[0].fct_ms;
            fct.n = Some(u64::from(seed == 1));
            fct.unfinished = Some(u64::from(seed > 1));
            fct.p50 = (seed == 1).then_some(4764.0);
            run.flow_groups[0].random_losses = Some(9);
            runs.push(run);
        }
        let text = sweep_table(&runs, None);
        // Six of seven transfers are unfinished: the mean is 0.857, and half the width of its
        // interval is 2.447 * 0.378 / sqrt(7) = 0.350.
        for part in [
            "0.9 ±0.3",
            "some runs have no value, so the means of these columns do not include all seeds: bbr1 FCT p50 (smallest number of seeds with a value: 1 of 7)",
            "lost or corrupt",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    #[test]
    fn few_seeds_and_intervals_beyond_the_possible_values_are_marked() {
        let mut runs = Vec::new();
        for (seed, share) in [(1, 0.97), (2, 1.0), (3, 0.99)] {
            let mut run = sample_run();
            run.seed = seed;
            run.digest = Some(seed.to_string());
            run.flow_groups[0].share = Some(share);
            run.flow_groups[1].share = Some(1.0 - share);
            runs.push(run);
        }
        expect![[r#"
            scenario   seeds        bbr1      cubic  goodput  queue delay         bbr1        cubic         bbr1
                                 share %    share %   Mbit/s           ms  retrans pkt  retrans pkt  RTT mean ms
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            two-flows      3  98.7 ±3.8*  1.3 ±3.8*    46.50        14.80          502          502        47.31
            not shown: cubic RTT mean ms, used, dropped, Jain (--wide shows all columns)
            *: the interval goes beyond the possible values (below 0, a share above 100 %, or Jain's index above 1)
            few seeds: an interval from 3 seeds is wide, and its width varies much; 5 or more are better
        "#]].assert_eq(&sweep_table(&runs, Some(100)));
        let point = crate::groups::groups(&runs).remove(0);
        let text = crate::table::group_table(&point);
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
        let cells = |name: &str| row(name).split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
        assert_eq!(cells("flow_groups.bbr1.share "), "0.987 0.949 1.02*");
        assert_eq!(cells("flow_groups.cubic.share "), "0.0133 -0.0246* 0.0513");
    }

    #[test]
    fn of_coupled_keys_the_first_is_shown() {
        let mut runs = vec![sample_run(), sample_run()];
        for (run, (delay, rtt)) in runs.iter_mut().zip([("10ms", "22ms"), ("40ms", "82ms")]) {
            run.point.insert("bottleneck.delay".to_owned(), delay.into());
            run.point.insert("bottleneck.bdp_rtt".to_owned(), rtt.into());
            run.scenario_hash = delay.to_owned();
        }
        let text = sweep_table(&runs, Some(100));
        assert!(text.starts_with("delay ") && !text.contains("bdp_rtt"), "{text}");
    }

    #[test]
    fn one_seed_a_point_shows_no_interval() {
        let mut runs = vec![sample_run(), sample_run()];
        for (run, rate) in runs.iter_mut().zip(["10Mbit/s", "20Mbit/s"]) {
            run.point.insert("bottleneck.rate".to_owned(), rate.into());
            run.scenario_hash = rate.to_owned();
            run.flows.truncate(1);
        }
        expect![[r#"
            rate         bbr1    cubic  goodput  queue delay         bbr1        cubic         bbr1        cubic
                      share %  share %   Mbit/s           ms  retrans pkt  retrans pkt  RTT mean ms  RTT mean ms
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            10Mbit/s     52.9     47.1    46.50        14.80          502          502        47.31        47.31
            20Mbit/s     52.9     47.1    46.50        14.80          502          502        47.31        47.31
            not shown: used, dropped (--wide shows all columns)
        "#]]
        .assert_eq(&sweep_table(&runs, Some(100)));
    }
}
