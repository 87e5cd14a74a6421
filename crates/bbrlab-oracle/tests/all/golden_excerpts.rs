//! Tests with the excerpts of kernel traces in the repository. Our algorithms and services must
//! reproduce every row, and altered algorithms must not.

use std::path::{Path, PathBuf};

use bbrlab_cc::bbr1::{Bbr, LinuxSteps, Plain, Variant};
use bbrlab_cc::{CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, RateSample};
use bbrlab_oracle::golden::{self, GoldenTrace, Report, Tally};
use expect_test::{Expect, expect};

fn excerpts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden")
}

fn trace(file: &str) -> GoldenTrace {
    let traces = golden::plan(&excerpts(), &[]).expect("the excerpts have a manifest");
    traces.into_iter().find(|trace| trace.file == file).expect("the manifest lists the file")
}

fn check_caught(tally: &Tally, expected: &Expect) {
    let first = tally.first.as_ref().expect("something differs");
    let text = format!(
        "{} of {} rows, first: row {}, {}: expected {}, got {}",
        tally.mismatches, tally.rows, first.row, first.field, first.expected, first.got
    );
    expected.assert_eq(&text);
}

#[test]
fn every_row_of_the_excerpts_is_reproduced() {
    let traces = golden::plan(&excerpts(), &[]).expect("the excerpts have a manifest");
    let outcomes =
        traces.iter().map(|trace| golden::replay(trace).expect("the excerpts are intact"));
    let report = Report::from_outcomes(outcomes);
    assert_eq!(report.first, None);
    assert_eq!(report.mismatches, 0);
    let listed: u64 = traces.iter().map(|trace| trace.rows).sum();
    assert_eq!(report.rows, listed);
    assert!(report.unsupported.is_empty());
}

#[test]
fn report_lists_what_was_compared() {
    let traces = golden::plan(&excerpts(), &["prr".to_owned(), "cubic".to_owned()]).unwrap();
    let report = Report::from_outcomes(traces.iter().map(|trace| golden::replay(trace).unwrap()));
    expect![[r#"
        [
            ByAlgorithm {
                name: "cubic",
                traces: 3,
                rows: 11549,
                mismatches: 0,
                columns: [
                    "ret",
                    "o_cwnd",
                    "o_cwnd_cnt",
                    "o_ssthresh",
                    "s_cnt",
                    "s_last_max_cwnd",
                    "s_last_cwnd",
                    "s_last_time",
                    "s_bic_origin_point",
                    "s_bic_K",
                    "s_delay_min",
                    "s_epoch_start",
                    "s_ack_cnt",
                    "s_tcp_cwnd",
                    "s_sample_cnt",
                    "s_found",
                    "s_round_start",
                    "s_end_seq",
                    "s_last_ack",
                    "s_curr_rtt",
                ],
            },
            ByAlgorithm {
                name: "prr",
                traces: 1,
                rows: 2000,
                mismatches: 0,
                columns: [
                    "o_cwnd",
                    "o_cwnd_cnt",
                    "o_ssthresh",
                    "o_prior_cwnd",
                    "o_prr_delivered",
                    "o_prr_out",
                ],
            },
        ]
    "#]]
    .assert_debug_eq(&report.by_algorithm);
}

/// BBR v1 with a bandwidth-probing gain that is 1/256 too high.
#[derive(Clone, Debug, Default)]
struct GainOff;

impl Variant for GainOff {
    type Steps = LinuxSteps;

    const GAIN_CYCLE_Q8: [u32; 8] = [321, 192, 256, 256, 256, 256, 256, 256];
}

#[test]
fn a_gain_changed_by_one_256th_is_caught() {
    let trace = trace("bbr1/c08_lowrate_hz250.csv.gz");
    let unchanged = golden::replay_with(&trace, &Bbr::new(Plain)).unwrap();
    assert_eq!(unchanged.mismatches, 0);
    let tally = golden::replay_with(&trace, &Bbr::new(GainOff)).unwrap();
    check_caught(
        &tally,
        &expect!["364 of 2000 rows, first: row 55, o_pacing_rate: expected 59170, got 59355"],
    );
}

/// BBR v1 with a wrong number of random draws: in each call of `cong_control`, it makes one draw
/// too many if `more` is true, and otherwise uses none of the recorded draws.
#[derive(Clone, Debug)]
struct DrawsOff {
    bbr: Bbr<Plain>,
    more: bool,
}

/// A source of random numbers that always returns 0 and uses no recorded draw.
struct NoDraw;

impl Draw for NoDraw {
    fn below(&mut self, _bound: u32) -> u32 {
        0
    }
}

impl CongestionControl for DrawsOff {
    fn hooks(&self) -> Hooks {
        self.bbr.hooks()
    }
    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        self.bbr.init(conn, draw)
    }
    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        self.bbr.cwnd_event(conn, event, draw)
    }
    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        self.bbr.set_state(conn, new, draw)
    }
    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.bbr.ssthresh(conn)
    }
    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.bbr.undo_cwnd(conn)
    }
    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        if !self.more {
            return self.bbr.cong_control(conn, rs, &mut NoDraw);
        }
        let ctl = self.bbr.cong_control(conn, rs, draw);
        draw.below(7);
        ctl
    }
    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        self.bbr.min_tso_segs(conn)
    }
    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        self.bbr.sndbuf_expand(conn)
    }
    fn bw(&self, conn: &Conn) -> u64 {
        self.bbr.bw(conn)
    }
    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.bbr.snapshot(field);
    }
}

#[test]
fn one_draw_too_many_is_caught() {
    let trace = trace("bbr1/c08_lowrate_hz250.csv.gz");
    let tally =
        golden::replay_with(&trace, &DrawsOff { bbr: Bbr::new(Plain), more: true }).unwrap();
    check_caught(&tally, &expect!["1771 of 2000 rows, first: row 3, rnd0: expected -1, got 0"]);
}

#[test]
fn one_draw_too_few_is_caught() {
    let trace = trace("bbr1/c08_lowrate_hz250.csv.gz");
    let tally =
        golden::replay_with(&trace, &DrawsOff { bbr: Bbr::new(Plain), more: false }).unwrap();
    check_caught(&tally, &expect!["325 of 2000 rows, first: row 45, rnd0: expected 2, got -1"]);
}
