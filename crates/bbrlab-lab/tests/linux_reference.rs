//! `validate linux` over an excerpt of the reference, and over more of it where that is available.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_lab::linux::{LinuxError, LinuxOptions, LinuxReport, validate_linux};

fn excerpt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux-reference")
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

/// The comparisons that are beyond their tolerance, in words.
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
fn lone_flows_agree_from_one_bdp_of_buffer_on() {
    let Some(reference) = bbrlab_oracle::reference("lone_flows_agree_from_one_bdp_of_buffer_on")
    else {
        return;
    };
    // With half a BDP of buffer or less, only 87 to 92 % of the samples of cwnd agree: `docs/fidelity.md`.
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
        let cwnd = point.cwnd.expect("a single flow of a deterministic control");
        assert!(cwnd.passes(), "{}: {:.3}", point.scenario, cwnd.share);
    }
}

/// The message for a folder whose summary is the excerpt's, changed.
fn message(name: &str, change: impl Fn(&str) -> String) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    let text = fs::read_to_string(excerpt().join("summary.csv")).unwrap();
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
    assert_eq!(nothing, "no scenario has 9_none in its name");
}
