//! Tests `validate linux` on excerpts of the recorded Linux runs, and on more test points if all
//! recordings are available.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_linux::{LinuxError, LinuxOptions, LinuxReport, validate_linux};

fn excerpt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux-reference")
}

/// Returns the folder of the excerpt with test points that have queue disciplines.
fn managed_excerpt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux-aqm")
}

/// Returns the folder of the excerpt with test points that were drawn at random.
fn random_excerpt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux-random")
}

fn validate(dir: PathBuf, only: &[&str], seeds: u64) -> Result<LinuxReport, LinuxError> {
    let options = LinuxOptions {
        only: only.iter().map(|&part| part.to_owned()).collect(),
        seeds: Some(seeds),
        jobs: 2,
        ..LinuxOptions::default()
    };
    validate_linux(&[dir], &options, |_| {})
}

/// Describes each comparison that exceeds its tolerance.
fn beyond(report: &LinuxReport) -> Vec<String> {
    let of_points = report.points.iter().flat_map(|point| {
        point.comparisons.iter().filter(|comparison| !comparison.passes()).map(|comparison| {
            format!(
                "{} {}: ours {:.3}, Linux {:.3}",
                point.scenario,
                comparison.metric.name(),
                comparison.ours,
                comparison.linux
            )
        })
    });
    of_points.collect()
}

#[test]
fn twelve_points_agree_with_a_real_stack_in_every_metric() {
    let report = validate(excerpt(), &[], 2).unwrap();
    assert_eq!(report.points.len(), 12);
    assert_eq!(beyond(&report), Vec::<String>::new());
}

#[test]
fn ten_points_with_queue_disciplines_agree_with_linuxs_in_every_metric() {
    let report = validate(managed_excerpt(), &[], 5).unwrap();
    assert_eq!(report.points.len(), 10);
    assert_eq!(beyond(&report), Vec::<String>::new());
}

#[test]
fn eight_points_drawn_at_random_agree_with_a_real_stack_in_every_metric() {
    let report = validate(random_excerpt(), &[], 10).unwrap();
    assert_eq!(report.points.len(), 8);
    assert_eq!(beyond(&report), Vec::<String>::new());
}

/// The reference has only five runs of the Linux kernel per test point, each with its own seed. If
/// flows compete, the mean over five runs may differ by chance from the mean over many runs.
/// Therefore up to 3 % of the comparisons of a metric, and one of the 28 comparisons of Jain's
/// index, may exceed the tolerance.
#[test]
fn sixty_points_drawn_at_random_agree_with_a_real_stack() {
    let Some(reference) =
        bbrlab_oracle::reference("sixty_points_drawn_at_random_agree_with_a_real_stack")
    else {
        return;
    };
    let dir = reference.join("linux-random");
    if !dir.is_dir() {
        println!("skipped: no linux-random in the reference");
        return;
    }
    let report = validate(dir, &[], 10).unwrap();
    assert_eq!((report.points.len(), report.skipped.len()), (60, 0));
    for (metric, summary) in &report.summary {
        let name = metric.name();
        let least = if name == "jain" { 0.96 } else { 0.97 };
        assert!(summary.within >= least, "{name}: {summary:?}, {:?}", beyond(&report));
    }
}

#[test]
fn points_without_chance_agree_with_linuxs_disciplines_to_a_percent() {
    let Some(reference) = bbrlab_oracle::reference(
        "points_without_chance_agree_with_linuxs_disciplines_to_a_percent",
    ) else {
        return;
    };
    let only = ["9_codel_cubic_10M", "9_fqcodel_cubic_10M", "9_fq_cubic_10M", "9_cake_cubic_10M"];
    let report = validate(reference.join("linux-aqm"), &only, 1).unwrap();
    assert!(report.points.len() >= 11);
    for point in &report.points {
        for comparison in &point.comparisons {
            let off = (point.scenario.as_str(), comparison.metric.name(), comparison.difference);
            assert!(comparison.difference < 0.01, "{off:?}");
        }
    }
}

#[test]
fn lone_flows_agree_from_one_bdp_of_buffer_on() {
    let Some(reference) = bbrlab_oracle::reference("lone_flows_agree_from_one_bdp_of_buffer_on")
    else {
        return;
    };
    // Smaller buffers are not in this list, because with half a BDP or less, fewer samples of cwnd
    // agree: `docs/fidelity-differences.md` has the shares and the cause.
    let only = [
        "1_reno_10M_20ms_b2",
        "1_reno_10M_20ms_b4",
        "1_cubic_10M_20ms_b1",
        "1_cubic_10M_20ms_b4",
        "1_vegas_10M_20ms_b1",
        "1_vegas_10M_20ms_b2",
    ];
    let report = validate(reference.join("linux-reference"), &only, 1).unwrap();
    assert!(report.points.len() >= 6);
    assert_eq!(beyond(&report), Vec::<String>::new());
    for point in &report.points {
        let cwnd = point
            .cwnd
            .expect("cwnd is compared for a single flow whose control uses no random numbers");
        assert!(cwnd.passes(), "{}: {:.3}", point.scenario, cwnd.share);
    }
}

/// Returns the error message for a folder whose summary is a changed copy of the excerpt's summary.
fn message(name: &str, change: impl Fn(&str) -> String) -> String {
    message_of(&excerpt(), name, change)
}

fn message_of(excerpt: &Path, name: &str, change: impl Fn(&str) -> String) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    let text = fs::read_to_string(excerpt.join("summary.csv")).unwrap();
    fs::write(dir.join("summary.csv"), change(&text)).unwrap();
    let error = validate(dir.clone(), &[], 1).unwrap_err().to_string();
    error.replace(dir.to_str().unwrap(), "DIR")
}

#[test]
fn what_cannot_be_used_is_named() {
    let unknown = message("unknown-key", |text| text.replace("app_bytes=", "app_octets="));
    assert!(
        unknown.starts_with("DIR/summary.csv: 8_applim_")
            && unknown.ends_with("unknown key `app_octets` in column `settings`"),
        "{unknown}"
    );
    let unknown_cc = message("unknown-cc", |text| text.replace(",dctcp,", ",tcpx,"));
    assert_eq!(
        unknown_cc,
        "DIR/summary.csv: 8_ecn_dctcp_10M_20ms_ce5ms: unknown congestion control `tcpx`"
    );
    let damaged = message("damaged", |text| text[..text.len() - 40].to_owned());
    assert!(damaged.contains("cells, expected 49"), "{damaged}");
    let missing = validate(Path::new("/nowhere").to_owned(), &[], 1).unwrap_err().to_string();
    assert_eq!(missing, "/nowhere/summary.csv: No such file or directory");
    let nothing = validate(excerpt(), &["9_none"], 1).unwrap_err().to_string();
    assert_eq!(nothing, "no scenario name contains 9_none");
}

#[test]
fn words_of_tc_that_are_not_known_are_named() {
    let of = |name: &str, from: &str, to: &str| {
        message_of(&managed_excerpt(), name, |text| text.replace(from, to))
    };
    assert_eq!(
        of("unknown-word", "interval 100ms noecn", "gap 100ms noecn"),
        "9_codel_cubic_10M_20ms: found `gap`, expected limit, target, interval, ce_threshold, ecn, noecn"
    );
    assert_eq!(
        of("unknown-discipline", "qdisc=sfq", "qdisc=htb"),
        "9_sfq_bbr_vs_cubic_10M_20ms: found `htb`, expected pfifo, codel, fq_codel, pie, fq_pie, dualpi2, red, sfq, fq, cake, prio"
    );
    assert_eq!(
        of("damaged-burst", "burst 256k conform", "burst much conform"),
        "9_police_reno_100M_20ms_p10M_256KB: burst: found `much`, expected bytes such as 32k"
    );
    let drops = of("damaged-drops", ";police.drops=", ";police.drops=x");
    assert!(drops.ends_with("expected a whole number of `police.drops`"), "{drops}");
}
