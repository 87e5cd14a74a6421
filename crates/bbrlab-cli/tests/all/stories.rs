//! Checks that the command's output answers questions of users, one question per test.

use crate::shell::Shell;
use serde_json::Value;

/// Returns the document of `run --json`.
fn answer(shell: &Shell, args: &[&str]) -> Value {
    let args = [&["run"], args, &["--json", "--quiet", "--no-pictures"]].concat();
    let output = shell.output(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the table that `run` prints.
fn table(shell: &Shell, args: &[&str]) -> String {
    let args = [&["run"], args, &["--quiet", "--no-pictures"]].concat();
    String::from_utf8(shell.output(&args).stdout).unwrap()
}

/// Returns the mean of a metric at each sweep point, with the value of the swept key.
fn means(document: &Value, key: &str, metric: &str) -> Vec<(String, f64)> {
    let groups = document["groups"].as_array().unwrap();
    let of = |group: &Value| {
        let value = &group["point"][key];
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mean = group["metrics"][metric]["mean"].as_f64();
        (value, mean.unwrap_or_else(|| panic!("{metric} is missing from {group}")))
    };
    groups.iter().map(of).collect()
}

/// Returns the words in the first two lines of a printed table, which are its headings.
fn heads(table: &str) -> Vec<&str> {
    table.lines().take(2).flat_map(str::split_whitespace).collect()
}

#[test]
fn the_share_of_bbr3_with_cubic_over_six_buffers() {
    let shell = Shell::new("story-share");
    let args = ["examples.bbr3-vs-cubic", "--set", "duration=20s", "--set", "repeat=2"];
    let document = answer(&shell, &args);
    let shares =
        |group: &str| means(&document, "bottleneck.buffer", &format!("flow_groups.{group}.share"));
    let (bbr3, cubic) = (shares("bbr3"), shares("cubic"));
    assert_eq!(bbr3.len(), 6);
    for (one, other) in bbr3.iter().zip(&cubic) {
        assert!((one.1 + other.1 - 1.0).abs() < 1e-9, "{one:?} and {other:?}");
    }
    // The answer: BBRv3's share is more than half in the shallowest buffer. The share in the
    // deepest buffer is smaller than the share in the shallowest buffer.
    assert!(bbr3[0].1 > 0.5 && bbr3[5].1 < bbr3[0].1, "{bbr3:?}");
    let metrics = document["groups"][0]["metrics"].as_object().unwrap();
    assert!(metrics.len() < 110, "{} metrics", metrics.len());
    let text = table(&shell, &args);
    assert!(heads(&text).starts_with(&["buffer", "seeds", "bbr3", "cubic"]), "{text}");
    assert!(text.contains("share %") && !text.contains("not shown"), "{text}");
}

#[test]
fn how_long_do_downloads_take_with_three_algorithms() {
    let shell = Shell::new("story-fct");
    let args = ["examples.completion-times", "--set", "duration=60s"];
    let document = answer(&shell, &args);
    for run in document["runs"].as_array().unwrap() {
        let group = &run["flow_groups"][0];
        let [p50, p95, p99] = ["p50", "p95", "p99"].map(|p| group["fct_ms"][p].as_f64().unwrap());
        // 1 MB takes 335 ms at 25 Mbit/s, plus at least three round trips before the link is full.
        assert!(400.0 < p50 && p50 <= p95 && p95 <= p99, "{group}");
        assert!(group["slowdown"]["p50"].as_f64().unwrap() > 1.0, "{group}");
        assert!(run["links"][0]["random_losses"].as_u64().unwrap() > 0);
        // The link's random losses include SYNs and ACKs; the flow's random losses include only
        // data packets.
        let losses = |of: &Value| of["random_losses"].as_u64().unwrap();
        assert!(losses(&run["links"][0]) >= losses(&run["flows"][0]));
    }
    let median =
        |at: usize| document["runs"][at]["flow_groups"][0]["fct_ms"]["p50"].as_f64().unwrap();
    assert!(
        median(0) > median(1) && median(0) > median(2),
        "CUBIC has the longest median completion time at 1 % loss"
    );
    let text = table(&shell, &args);
    assert!(heads(&text).starts_with(&["cc", "FCT", "p50", "FCT", "p95", "FCT", "p99"]), "{text}");
}

#[test]
fn how_unfair_are_20_ms_against_100_ms() {
    let shell = Shell::new("story-rtt");
    let args = ["examples.rtt-unfairness", "--set", "duration=20s", "--set", "repeat=1"];
    let document = answer(&shell, &args);
    let near = means(&document, "flows.cc", "flow_groups.20ms.share");
    assert!(near[0].0 == "reno" && near[0].1 > 0.6, "{near:?}");
    for run in document["runs"].as_array().unwrap() {
        let rates: Vec<f64> = run["flows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["goodput_mbps"].as_f64().unwrap())
            .collect();
        assert!(run["goodput_mbps"].as_f64().unwrap() <= 50.0, "{run}");
        assert!(rates.len() == 2 && rates.iter().all(|&rate| rate > 0.0), "{rates:?}");
    }
    let text = table(&shell, &args);
    assert!(text.contains("20ms") && text.contains("100ms") && text.contains("share %"), "{text}");
}

#[test]
fn what_does_random_loss_cost_from_a_thousandth_to_a_tenth() {
    let shell = Shell::new("story-loss");
    shell.write(
        "loss.toml",
        r#"
        title = "random loss"
        duration = "10s"
        [bottleneck]
        rate = "10Mbit/s"
        buffer = "1bdp"
        [[flows]]
        cc = "bbr1"
        rtt = "40ms"
        [sweep]
        "bottleneck.loss" = [0.001, 0.01, 0.1]
        "flows.cc" = ["cubic", "bbr1"]
        "#,
    );
    let document = answer(&shell, &["loss.toml"]);
    for run in document["runs"].as_array().unwrap() {
        let link = &run["links"][0];
        let [arrivals, departures, queued, drops, losses] =
            ["arrivals", "departures", "queued_at_end", "drops", "random_losses"]
                .map(|count| link[count].as_u64().unwrap());
        assert_eq!(arrivals, departures + queued + drops, "{link}");
        assert!(losses > 0 && losses <= departures && link["policer_drops"].is_null(), "{link}");
        let ratio = run["point"]["bottleneck.loss"].as_f64().unwrap();
        #[expect(clippy::cast_precision_loss, reason = "a count of packets is far below 2^52")]
        let found = losses as f64 / departures as f64;
        assert!(found > ratio / 3.0 && found < ratio * 3.0, "{found} at {ratio}");
    }
    assert!(table(&shell, &["loss.toml"]).lines().next().unwrap().contains("lost"));
}

#[test]
fn what_happens_when_the_rate_drops() {
    let shell = Shell::new("story-drop");
    let args = ["examples.rate-drop", "--set", "flows.cc=bbr1"];
    let document = answer(&shell, &args);
    let run = &document["runs"][0];
    // The rate is 40 Mbit/s for 20 s and 10 Mbit/s for 10 s: 30 Mbit/s on average.
    assert!((run["links"][0]["rate_mbps"].as_f64().unwrap() - 30.0).abs() < 1e-9, "{run}");
    let goodput = run["goodput_mbps"].as_f64().unwrap();
    assert!((20.0..30.0).contains(&goodput), "{goodput}");
    assert!(run["jain"].is_null(), "Jain's index is null for a single flow");
    let text = table(&shell, &args);
    assert!(text.contains("goodput") && text.contains("30.00"), "{text}");
}
