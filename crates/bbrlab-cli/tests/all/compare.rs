//! Tests of `bbrlab compare`: comparisons of the values of a swept key, and the choice of metrics.

#![cfg(unix)]

use crate::shell::{Shell, printed};
use expect_test::expect;

/// A sweep over two congestion controls and two buffers, with six seeds per point.
const SWEEP: &str = r#"
duration = "4s"
repeat = 6
[bottleneck]
rate = "4Mbit/s"
loss = 0.01
[[flows]]
cc = "reno"
rtt = "20ms"
[sweep]
"flows.cc" = ["reno", "cubic"]
"bottleneck.buffer" = ["10pkt", "20pkt"]
"#;

fn shell(name: &str) -> Shell {
    let shell = Shell::new(&format!("compare-{name}"));
    shell.write("sweep.toml", SWEEP);
    let run = ["run", "sweep.toml", "--out", "s", "--quiet", "--no-pictures"];
    assert!(shell.output(&run).status.success());
    shell
}

#[test]
fn the_values_of_a_swept_key_are_compared_seed_by_seed() {
    let shell = shell("paired");
    shell.check(
        &["compare", "s", "--paired", "cc", "--metric", "goodput_mbps,rtt_ms.mean"],
        &expect![[r#"
            flows.cc = reno and cubic at bottleneck.buffer = 10pkt: 6 pairs of runs with equal seeds
            metric                                reno  cubic     difference     %  to decide
                                                                                        seeds
            ─────────────────────────────────────────────────────────────────────────────────
            goodput_mbps                          3.48   3.63  0.146 ±0.0562  +4.2
            flow_groups.<flows.cc>.goodput_mbps   3.48   3.63  0.146 ±0.0562  +4.2
            flow_groups.<flows.cc>.rtt_ms.mean   36.61  36.65   0.0473 ±1.05  +0.1    over 60
            to decide: seeds with which the interval would leave out zero, if mean and spread stay

            flows.cc = reno and cubic at bottleneck.buffer = 20pkt: 6 pairs of runs with equal seeds
            metric                                reno  cubic      difference     %  to decide
                                                                                         seeds
            ──────────────────────────────────────────────────────────────────────────────────
            goodput_mbps                          3.58   3.67  0.0854 ±0.0655  +2.4
            flow_groups.<flows.cc>.goodput_mbps   3.58   3.67  0.0854 ±0.0655  +2.4
            flow_groups.<flows.cc>.rtt_ms.mean   44.98  44.27    -0.712 ±3.64  -1.6    over 60
            to decide: seeds with which the interval would leave out zero, if mean and spread stay
            --- exit 0
        "#]],
    );
    shell.check(
        &["compare", "s", "--paired", "bottleneck.buffer", "--metric", "links.bottleneck.drops"],
        &expect![[r#"
            bottleneck.buffer = 10pkt and 20pkt at flows.cc = reno: 6 pairs of runs with equal seeds
            metric                  10pkt  20pkt    difference     %  to decide
                                                                          seeds
            ───────────────────────────────────────────────────────────────────
            links.bottleneck.drops  21.00  19.83  -1.17 ±10.10  -5.6    over 60
            to decide: seeds with which the interval would leave out zero, if mean and spread stay

            bottleneck.buffer = 10pkt and 20pkt at flows.cc = cubic: 6 pairs of runs with equal seeds
            metric                  10pkt  20pkt    difference      %
            ─────────────────────────────────────────────────────────
            links.bottleneck.drops  12.83   1.67  -11.17 ±1.81  -87.0
            --- exit 0
        "#]],
    );
    let json =
        ["compare", "s", "--paired", "flows.cc", "--metric", "jain,goodput_ss_mbps", "--json"];
    let document: serde_json::Value =
        serde_json::from_slice(&shell.output(&json).stdout).expect("it is JSON");
    assert_eq!(document["paired"], "flows.cc");
    let pair = &document["points"][1]["pairs"][0];
    assert_eq!(pair["values"], serde_json::json!(["reno", "cubic"]));
    assert_eq!(pair["seeds"], serde_json::json!([1, 2, 3, 4, 5, 6]));
    assert_eq!(pair["metrics"]["goodput_ss_mbps"]["n"], 0);
}

#[test]
fn metrics_of_folders_are_chosen_by_name() {
    let shell = shell("metric");
    shell.check(
        &["compare", "s", "s", "--metric", "jain,rtt_ms.mean"],
        &expect![[r#"
            at flows.cc = reno, bottleneck.buffer = 10pkt
            metric                            s      s  difference    %
            ───────────────────────────────────────────────────────────
            flow_groups.reno.rtt_ms.mean  36.61  36.61           0  0.0

            at flows.cc = reno, bottleneck.buffer = 20pkt
            metric                            s      s  difference    %
            ───────────────────────────────────────────────────────────
            flow_groups.reno.rtt_ms.mean  44.98  44.98           0  0.0

            at flows.cc = cubic, bottleneck.buffer = 10pkt
            metric                             s      s  difference    %
            ────────────────────────────────────────────────────────────
            flow_groups.cubic.rtt_ms.mean  36.65  36.65           0  0.0

            at flows.cc = cubic, bottleneck.buffer = 20pkt
            metric                             s      s  difference    %
            ────────────────────────────────────────────────────────────
            flow_groups.cubic.rtt_ms.mean  44.27  44.27           0  0.0
            --- exit 0
        "#]],
    );
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["compare", "s"], args].concat());
        let text = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(wanted), "{text}");
    };
    refused(
        &["s", "--metric", "goodputs"],
        "unknown metric `goodputs`; similar metrics: goodput_mbps",
    );
    refused(
        &["--paired", "cc", "--metric", "true_loss_pct"],
        "`true_loss_pct` is a metric in mahmud2020's tables",
    );
    refused(&["--paired", "rtt"], "`rtt` is not swept; swept keys are flows.cc, bottleneck.buffer");
    refused(&["s", "--paired", "cc"], "--paired: expected one folder of a sweep");
    refused(&[], "expected two folders or more, found only s; --paired KEY compares");
}

/// A sweep of the first flow's congestion control. At the sweep point `cubic`, both flows use CUBIC
/// and are one group.
const NEXT_TO_CUBIC: &str = r#"duration = "4s"
repeat = 5
[bottleneck]
rate = "5Mbit/s"
buffer = "20pkt"
[[flows]]
cc = "reno"
rtt = "20ms"
start_jitter = "500ms"
[[flows]]
cc = "cubic"
rtt = "20ms"
start_jitter = "500ms"
[sweep]
"flows[0].cc" = ["reno", "bbr1", "cubic"]
"#;

#[test]
#[expect(clippy::too_many_lines, reason = "most lines are expected outputs")]
fn groups_that_a_swept_value_joins_have_a_note() {
    let shell = Shell::new("joined-groups");
    shell.write("next.toml", NEXT_TO_CUBIC);
    let args = ["run", "next.toml", "--quiet", "--no-pictures", "--out", "next"];
    assert!(shell.output(&args).status.success());
    shell.check(&["table", "next", "--metric", "share"], &expect![[r#"
        cc     seeds    flows[0]       cubic
                         share %     share %
        ────────────────────────────────────
        reno       5  52.1 ±40.3  47.9 ±40.3
        bbr1       5  75.9 ±21.1  24.1 ±21.1
        cubic      5       100.0           –
        1 of 3 points have fewer groups of flows, because some have equal names there: their columns are not those of the same flows; `group = "NAME"` in [[flows]] keeps groups apart
        --- exit 0
    "#]]);
    shell.check(
        &["table", "next", "--paired", "cc", "--against", "cubic", "--metric", "share"],
        &expect![[r#"
            flows[0].cc  metric                     cubic  value  pairs     difference      %
            ─────────────────────────────────────────────────────────────────────────────────
            reno         flow_groups.cubic.share %  100.0  47.85      5  -52.15 ±40.29  -52.1
            bbr1         flow_groups.cubic.share %  100.0  24.05      5  -75.95 ±21.06  -75.9
            not the same flows: `cubic` is 2 flows in cubic and 1 flow in reno; `group = "NAME"` in [[flows]] keeps groups apart
            not the same flows: `cubic` is 2 flows in cubic and 1 flow in bbr1; `group = "NAME"` in [[flows]] keeps groups apart
            --- exit 0
        "#]],
    );
    shell.check(&["compare", "next", "--paired", "cc", "--metric", "share"], &expect![[r#"
        flows[0].cc = reno and bbr1: 5 pairs of runs with equal seeds
        metric                              reno   bbr1     difference      %  to decide
                                                                                   seeds
        ────────────────────────────────────────────────────────────────────────────────
        flow_groups.<flows[0].cc>.share %  52.15  75.95   23.80 ±26.39  +45.6   about 10
        flow_groups.cubic.share %          47.85  24.05  -23.80 ±26.39  -49.7   about 10
        to decide: seeds with which the interval would leave out zero, if mean and spread stay

        flows[0].cc = reno and cubic: 5 pairs of runs with equal seeds
        metric                      reno  cubic    difference       %
        ─────────────────────────────────────────────────────────────
        flow_groups.cubic.share %  47.85  100.0  52.15 ±40.29  +109.0
        not the same flows: `cubic` is 1 flow in reno and 2 flows in cubic; `group = "NAME"` in [[flows]] keeps groups apart
        --- exit 0
    "#]]);
    shell.check(
        &[
            "table",
            "next",
            "--paired",
            "cc",
            "--metric",
            "share",
            "--omit",
            "metric",
            "--legend",
            "flows[0].cc=Control",
            "--latex",
        ],
        &expect![[r#"
            % \usepackage{booktabs}
            \begin{tabular}{lrr@{}lrrrr}
              \toprule
              Control & reno & \multicolumn{2}{r}{value} & pairs & difference & relative difference & to decide \\
               &  & \multicolumn{2}{r}{} &  &  & \% & seeds \\
              \midrule
              bbr1 & 52.15 & 75 & .95 & 5 & 23.80\,$\pm$\,26.39 & +45.6 & about 10 \\
              bbr1 & 47.85 & 24 & .05 & 5 & $-$23.80\,$\pm$\,26.39 & $-$49.7 & about 10 \\
              cubic & 47.85 & 100 & .0 & 5 & 52.15\,$\pm$\,40.29 & +109.0 &  \\
              \bottomrule
            \end{tabular}

            % to decide: seeds with which the interval would leave out zero, if mean and spread stay
            % not the same flows: `cubic` is 1 flow in reno and 2 flows in cubic; `group = "NAME"` in [[flows]] keeps groups apart
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "next", "--paired", "cc", "--metric", "share", "--csv"],
        &expect![[r#"
            flows[0].cc,metric,reno,value,pairs,difference,difference ±,relative difference (%),to decide (seeds)
            bbr1,flow_groups.<flows[0].cc>.share %,52.15,75.95,5,23.80,26.39,+45.6,about 10
            bbr1,flow_groups.cubic.share %,47.85,24.05,5,-23.80,26.39,-49.7,about 10
            cubic,flow_groups.cubic.share %,47.85,100.0,5,52.15,40.29,+109.0,
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "next", "--paired", "cc", "--against", "vegas"],
        &expect![[r#"
        --- stderr
        error: next: --against: `flows[0].cc` is never `vegas`; its values are reno, bbr1, cubic
        --- exit 2
    "#]],
    );
    // Both folders have a group of flows with the name `cubic`. The group has two flows in one
    // folder and one flow in the other.
    for cc in ["reno", "cubic"] {
        let set = format!("flows[0].cc={cc}");
        let args = ["run", "next.toml", "--set", &set, "--quiet", "--no-pictures", "--out", cc];
        assert!(shell.output(&args).status.success());
    }
    shell.check(&["compare", "reno", "cubic", "--metric", "share"], &expect![[r#"
        metric                      reno  cubic    difference       %
        ─────────────────────────────────────────────────────────────
        flow_groups.reno.share %   52.15      –             –       –
        flow_groups.cubic.share %  47.85  100.0  52.15 ±40.29  +109.0
        not the same flows: `cubic` is 1 flow in folder 1 and 2 flows in folder 2; `group = "NAME"` in [[flows]] keeps groups apart
        --- stderr
        note: `flows[0].cc` differs: "reno", "cubic"
        --- exit 0
    "#]]);
}
