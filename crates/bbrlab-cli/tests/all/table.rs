//! Tests of `bbrlab table`, which prints the tables of existing results, in each format.

use std::fs;

use crate::shell::{FOUR, ONE, Shell, printed};
use expect_test::expect;

#[test]
fn a_folder_has_the_table_of_run_and_several_that_of_compare() {
    let shell = Shell::new("table");
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    let stdout = |args: &[&str]| {
        let output = shell.output(args);
        assert!(output.status.success(), "{}", printed(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    for (file, folder) in [("one.toml", "one"), ("four.toml", "four")] {
        let by_run = stdout(&["run", file, "--quiet", "--no-pictures", "--out", folder]);
        // `run` also prints the CPU time, which `table` omits, because `summary.json` does not
        // contain it.
        let lines: Vec<&str> = by_run.lines().map(without_cpu).collect();
        assert_eq!(format!("{}\n", lines.join("\n")), stdout(&["table", folder]), "{folder}");
    }
    stdout(&["run", "one.toml", "--set", "flows.cc=cubic", "--quiet", "--out", "other"]);
    assert_eq!(stdout(&["compare", "one", "other"]), stdout(&["table", "one", "other"]));
    shell.check(
        &["table", "four", "--latex"],
        &expect![[r#"
            % \usepackage{booktabs}
            \begin{tabular}{lrrrrrrrr}
              \toprule
              buffer & seeds & goodput & queue delay & retrans & RTT mean & used & dropped & lost \\
               &  & Mbit/s & ms & pkt & ms & \% & \% & pkt \\
              \midrule
              1bdp & 2 & 3.65\,$\pm$\,0.37 & 14.19\,$\pm$\,3.17 & 22\,$\pm$\,6 & 37.96\,$\pm$\,3.40 & 97.2 & 6.01\,$\pm$\,0.11 & 0.5\,$\pm$\,6.4* \\
              2bdp & 2 & 3.70\,$\pm$\,0.07 & 24.62\,$\pm$\,2.50 & 14\,$\pm$\,6 & 48.37\,$\pm$\,2.03 & 97.2 & 3.77\,$\pm$\,0.21 & 0.5\,$\pm$\,6.4* \\
              \bottomrule
            \end{tabular}

            \par{\footnotesize *: the interval goes beyond the possible values (below 0, a share above 100 \%, or Jain's index above 1)\par}
            % few seeds: an interval from 2 seeds is wide, and its width varies much; 5 or more are better
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "four", "--markdown"],
        &expect![[r#"
            | buffer | seeds | goodput (Mbit/s) | queue delay (ms) | retrans (pkt) | RTT mean (ms) | used (%) | dropped (%) | lost (pkt) |
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            | 1bdp | 2 | 3.65 ±0.37 | 14.19 ±3.17 | 22 ±6 | 37.96 ±3.40 | 97.2 | 6.01 ±0.11 | 0.5 ±6.4\* |
            | 2bdp | 2 | 3.70 ±0.07 | 24.62 ±2.50 | 14 ±6 | 48.37 ±2.03 | 97.2 | 3.77 ±0.21 | 0.5 ±6.4\* |

            *: the interval goes beyond the possible values (below 0, a share above 100 %, or Jain's index above 1)

            few seeds: an interval from 2 seeds is wide, and its width varies much; 5 or more are better
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "four", "--csv"],
        &expect![[r#"
            buffer,seeds,goodput (Mbit/s),goodput ± (Mbit/s),queue delay (ms),queue delay ± (ms),retrans (pkt),retrans ± (pkt),RTT mean (ms),RTT mean ± (ms),used (%),dropped (%),dropped ± (%),lost (pkt),lost ± (pkt)
            1bdp,2,3.65,0.37,14.19,3.17,22,6,37.96,3.40,97.2,6.01,0.11,0.5,6.4
            2bdp,2,3.70,0.07,24.62,2.50,14,6,48.37,2.03,97.2,3.77,0.21,0.5,6.4
            --- exit 0
        "#]],
    );
    // The CSV of a run has its tables of links and flows, but not the line with the CPU time that
    // the printed tables have.
    let csv = stdout(&["table", "one", "--csv"]);
    let heads: Vec<&str> = csv.split("\n\n").filter_map(|table| table.lines().next()).collect();
    expect![[r#"
        link,rate (Mbit/s),used (%),arrived (packets),dropped (packets),dropped (%),queue mean (packets),queue p95 (packets),queue max (packets),delay mean (ms),delay p95 (ms)
        flow,cc,goodput (Mbit/s),steady (Mbit/s),retrans (pkt),retrans (%),RTO,RTT base (ms),RTT mean (ms),RTT p95 (ms),cwnd (pkt),limited by (% of its time)
    "#]]
    .assert_eq(&format!("{}\n", heads.join("\n")));
    for head in heads {
        let mut names: Vec<&str> = head.split(',').collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{head}");
    }
    let compared = stdout(&["table", "one", "other", "--csv"]);
    assert!(
        compared.starts_with("metric,one,other,difference,relative difference (%)\n"),
        "{compared}"
    );
    // All points of a sweep are in one table.
    let args = ["run", "four.toml", "--set", "flows.cc=cubic", "--quiet", "--out", "cubic"];
    stdout(&args);
    let compared = stdout(&["table", "four", "cubic", "--csv"]);
    let head = "point,metric,four,cubic,difference,difference ±,relative difference (%),to decide (seeds)\n";
    assert!(compared.starts_with(head) && !compared.contains("\n\n"), "{compared}");
    for buffer in ["1bdp", "2bdp"] {
        let row = format!("\nbottleneck.buffer = {buffer},links.bottleneck.drops,");
        assert!(compared.contains(&row), "{compared}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "most lines are expected outputs")]
fn columns_are_chosen_and_have_words_of_their_own() {
    let shell = Shell::new("table-chosen");
    shell.write("four.toml", FOUR);
    for (folder, cc) in [("four", "bbr1"), ("cubic", "cubic")] {
        let set = format!("flows.cc={cc}");
        let args = ["run", "four.toml", "--set", &set, "--quiet", "--no-pictures", "--out", folder];
        assert!(shell.output(&args).status.success());
    }
    let metric = "queue_delay_ms.mean,flows.cwnd_packets.mean";
    let words = ["--legend", "queue_delay_ms.mean=Delay", "--legend", "1bdp=1 BDP"];
    shell.check(
        &[&["table", "four", "--metric", metric][..], &words].concat(),
        &expect![[r#"
        buffer  seeds        Delay  flows.cwnd_packets.mean
                                ms                  packets
        ───────────────────────────────────────────────────
        1 BDP       2  14.19 ±3.17              20.59 ±3.01
        2bdp        2  24.62 ±2.50              21.97 ±4.73
        few seeds: an interval from 2 seeds is wide, and its width varies much; 5 or more are better
        --- exit 0
    "#]],
    );
    shell.check(
        &[
            &["table", "four", "cubic", "--csv", "--metric", "jain,drops,goodput_mbps"][..],
            &["--legend", "cubic=CUBIC"],
        ]
        .concat(),
        &expect![[r#"
            point,metric,four,CUBIC,difference,difference ±,relative difference (%),to decide (seeds)
            bottleneck.buffer = 1bdp,goodput_mbps,3.65,3.69,0.0348,0.442,+1.0,about 15
            bottleneck.buffer = 1bdp,links.bottleneck.drops,21.00,4.50,-16.50,6.35,-78.6,
            bottleneck.buffer = 1bdp,flow_groups.bbr1.goodput_mbps,3.65,,,,,
            bottleneck.buffer = 1bdp,flow_groups.bbr1.drops,21.00,,,,,
            bottleneck.buffer = 1bdp,flow_groups.cubic.goodput_mbps,,3.69,,,,
            bottleneck.buffer = 1bdp,flow_groups.cubic.drops,,4.50,,,,
            bottleneck.buffer = 2bdp,goodput_mbps,3.70,3.70,0,,0.0,
            bottleneck.buffer = 2bdp,links.bottleneck.drops,13.00,9.00,-4.00,,-30.8,
            bottleneck.buffer = 2bdp,flow_groups.bbr1.goodput_mbps,3.70,,,,,
            bottleneck.buffer = 2bdp,flow_groups.bbr1.drops,13.00,,,,,
            bottleneck.buffer = 2bdp,flow_groups.cubic.goodput_mbps,,3.70,,,,
            bottleneck.buffer = 2bdp,flow_groups.cubic.drops,,9.00,,,,
            --- stderr
            note: `flows[0].cc` differs: "bbr1", "cubic"
            --- exit 0
        "#]],
    );
    shell.check(&["table", "four", "--omit", "seeds,lost,used", "--csv"], &expect![[r#"
        buffer,goodput (Mbit/s),goodput ± (Mbit/s),queue delay (ms),queue delay ± (ms),retrans (pkt),retrans ± (pkt),RTT mean (ms),RTT mean ± (ms),dropped (%),dropped ± (%)
        1bdp,3.65,0.37,14.19,3.17,22,6,37.96,3.40,6.01,0.11
        2bdp,3.70,0.07,24.62,2.50,14,6,48.37,2.03,3.77,0.21
        --- exit 0
    "#]]);
    shell.check(&["table", "four", "--omit", "seed"], &expect![[r#"
        --- stderr
        error: --omit: unknown `seed`; headings are buffer, seeds, goodput, queue delay, retrans, RTT mean, used, dropped, lost; did you mean `seeds`?
        --- exit 2
    "#]]);
    shell.check(
        &["table", "four", "--where", "buffer=1bdp", "--metric", "throughput"],
        &expect![[r#"
            --- stderr
            error: unknown metric `throughput`; similar metrics: goodput_mbps
            --- exit 2
        "#]],
    );
    shell.check(
        &["table", "four", "--where", "buffer=1bdp", "--metric", "queue delay", "--csv"],
        &expect![[r#"
            scenario,seeds,queue delay (ms),queue delay ± (ms)
            four,2,14.19,3.17
            --- exit 0
        "#]],
    );
    shell.check(&["table", "four", "--legend", "seeds="], &expect![[r#"
        --- stderr
        error: invalid value 'seeds=' for '--legend <NAME=TEXT>': expected NAME=TEXT, such as bbr1=BBRv1; `--omit NAME` leaves a column out

        For more information, try '--help'.
        --- exit 2
    "#]]);
    shell.check(
        &["table", "four", "--group", "vegas"],
        &expect![[r#"
        --- stderr
        error: --group: unknown `vegas`; groups of flows are bbr1
        --- exit 2
    "#]],
    );
    shell.check(
        &["table", "four", "cubic", "--group", "bbr1"],
        &expect![[r#"
        --- stderr
        error: --group: expected one folder of a sweep, found several folders
        --- exit 2
    "#]],
    );
    shell.check(
        &["table", "four", "--metric", "goodput_mbsp"],
        &expect![[r#"
        --- stderr
        error: unknown metric `goodput_mbsp`; similar metrics: goodput_mbps, goodput_active_mbps
        --- exit 2
    "#]],
    );
    shell.check(&["table", "four", "--legend", "bufer=B"], &expect![[r#"
        --- stderr
        error: --legend: unknown `bufer`; headings are buffer, seeds, goodput, queue delay, retrans, RTT mean, used, dropped, lost; did you mean `buffer`?
        --- exit 2
    "#]]);
}

/// Returns a line of a table without the CPU time at its end.
fn without_cpu(line: &str) -> &str {
    let end = line.strip_suffix(" s of CPU").and_then(|line| line.rfind(", "));
    &line[..end.unwrap_or(line.len())]
}

#[test]
fn wrong_folders_and_formats_are_refused() {
    let shell = Shell::new("table-wrong");
    shell.write("one.toml", ONE);
    shell.write("four.toml", FOUR);
    fs::create_dir(shell.folder().join("empty")).unwrap();
    for (file, folder) in [("one.toml", "one"), ("four.toml", "all/four")] {
        let args = ["run", file, "--quiet", "--no-pictures", "--out", folder];
        assert!(shell.output(&args).status.success());
    }
    let refused = |args: &[&str], wanted: &str| {
        let output = shell.output(&[&["table"][..], args].concat());
        let text = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(wanted), "{text}");
    };
    refused(&[], "<RUN>...");
    refused(&["nowhere"], "nowhere: expected a folder of results");
    refused(&["empty"], "empty: expected a folder of results");
    refused(&["all"], "name one of them, such as all/four");
    refused(&["one", "--csv", "--latex"], "cannot be used with");
    refused(&["one", "--csv", "--wide"], "cannot be used with");
    refused(&["one", "--json"], "unexpected argument '--json'");
}
