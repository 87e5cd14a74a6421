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
        // `run` also prints the CPU time, which `table` omits, because the records in the folder do
        // not contain it.
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
              1bdp & 2 & 3.65\,$\pm$\,0.37 & 14.19\,$\pm$\,3.17 & 22\,$\pm$\,6 & 37.96\,$\pm$\,3.40 & 97.2 & 6.01\,$\pm$\,0.11 & 1\,$\pm$\,6 \\
              2bdp & 2 & 3.70\,$\pm$\,0.07 & 24.62\,$\pm$\,2.50 & 14\,$\pm$\,6 & 48.37\,$\pm$\,2.03 & 97.2 & 3.77\,$\pm$\,0.21 & 1\,$\pm$\,6 \\
              \bottomrule
            \end{tabular}
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "four", "--markdown"],
        &expect![[r#"
            | buffer | seeds | goodput (Mbit/s) | queue delay (ms) | retrans (pkt) | RTT mean (ms) | used (%) | dropped (%) | lost (pkt) |
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            | 1bdp | 2 | 3.65 ±0.37 | 14.19 ±3.17 | 22 ±6 | 37.96 ±3.40 | 97.2 | 6.01 ±0.11 | 1 ±6 |
            | 2bdp | 2 | 3.70 ±0.07 | 24.62 ±2.50 | 14 ±6 | 48.37 ±2.03 | 97.2 | 3.77 ±0.21 | 1 ±6 |
            --- exit 0
        "#]],
    );
    shell.check(
        &["table", "four", "--csv"],
        &expect![[r#"
            buffer,seeds,goodput (Mbit/s),goodput ± (Mbit/s),queue delay (ms),queue delay ± (ms),retrans (pkt),retrans ± (pkt),RTT mean (ms),RTT mean ± (ms),used (%),dropped (%),dropped ± (%),lost (pkt),lost ± (pkt)
            1bdp,2,3.65,0.37,14.19,3.17,22,6,37.96,3.40,97.2,6.01,0.11,1,6
            2bdp,2,3.70,0.07,24.62,2.50,14,6,48.37,2.03,97.2,3.77,0.21,1,6
            --- exit 0
        "#]],
    );
    // The CSV has the metrics of a run, but no CPU time.
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
    assert!(compared.starts_with("metric,one,other,difference,difference (%)\n"), "{compared}");
    // All points of a sweep are in one table.
    let args = ["run", "four.toml", "--set", "flows.cc=cubic", "--quiet", "--out", "cubic"];
    stdout(&args);
    let compared = stdout(&["table", "four", "cubic", "--csv"]);
    let head = "point,metric,four,cubic,difference,difference ±,difference (%),to decide (seeds)\n";
    assert!(compared.starts_with(head) && !compared.contains("\n\n"), "{compared}");
    for buffer in ["1bdp", "2bdp"] {
        let row = format!("\nbottleneck.buffer = {buffer},links.bottleneck.drops,");
        assert!(compared.contains(&row), "{compared}");
    }
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
