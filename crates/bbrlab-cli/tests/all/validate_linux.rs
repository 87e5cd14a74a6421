//! Tests of `bbrlab validate linux`: the document of `--json`, and the messages for wrong input.

use std::path::Path;

use crate::shell::Shell;
use expect_test::expect;

fn excerpt() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../bbrlab-linux/tests/data/linux-reference")
        .canonicalize()
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_document_has_points_skipped_and_summary() {
    let shell = Shell::new("validate-linux");
    let args =
        ["validate", "linux", &excerpt(), "--only", "8_short_cubic", "--seeds", "1", "--json"];
    let output = shell.output(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys(&document), "points skipped summary");
    assert_eq!(
        keys(&document["summary"]),
        "goodput utilization mean_rtt p95_rtt mean_queue retransmissions drops jain fct"
    );
    assert_eq!(keys(&document["summary"]["fct"]), "n median p95 worst");
    assert_eq!(document["summary"]["fct"]["n"], 1);
    assert_eq!(document["summary"]["goodput"]["median"], serde_json::Value::Null);
    assert_eq!(document["points"][0]["scenario"], "8_short_cubic_10M_20ms_150KB_b1");
}

#[test]
fn bad_input_is_named_and_nothing_is_run() {
    let shell = Shell::new("validate-linux-wrong");
    shell.check(
        &["validate", "linux", "nowhere"],
        &expect![[r#"
            --- stderr
            error: nowhere/summary.csv: No such file or directory
            --- exit 2
        "#]],
    );
    std::fs::create_dir_all(shell.folder().join("half")).unwrap();
    shell.write("half/summary.csv", "kernel,scenario\n");
    shell.check(
        &["validate", "linux", "half"],
        &expect![[r#"
            --- stderr
            error: half/summary.csv:1: found no column `family`
            --- exit 2
        "#]],
    );
    shell.write(
        "half/summary.csv",
        "kernel,scenario,family,seed,flow,cc,start_s,flow_rtt_ms,rate_mbps,buffer_pkts,duration_s,settings\n\
         6.12,x,8_new,1,0,cubic,0.1,30,50,124,10,colour=blue\n",
    );
    shell.check(
        &["validate", "linux", "half"],
        &expect![[r#"
            --- stderr
            error: half/summary.csv: x: unknown key `colour` in column `settings`
            --- exit 2
        "#]],
    );
}
