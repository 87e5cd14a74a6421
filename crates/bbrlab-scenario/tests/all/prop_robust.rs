//! Checks that no text and no setting makes the reader panic, hang or take too long.

use crate::cpu_time::cpu_s;
use bbrlab_cost::Estimate;
use bbrlab_scenario::{BUILTINS, Scenario};
use proptest::prelude::*;

/// The time limit per input. On an idle machine each input takes less than a second. The limit
/// allows for a shared machine, but is exceeded if the time grows with the square of the length.
const SECONDS: u64 = 15;

/// Reads a scenario. If the scenario is valid, resolves its last run, writes the text of its first
/// run, and estimates the cost of its first run. Checks that these steps together take little CPU
/// time.
fn read(text: &str, sets: &[String]) {
    let began = cpu_s();
    match Scenario::parse("s", "s.toml", text, None, sets) {
        Ok(scenario) => {
            let _ = (
                scenario.run(scenario.runs() - 1),
                scenario.run_toml(0),
                Estimate::of_run(&scenario, 0),
            );
        }
        Err(errors) => {
            let told = errors.render(true);
            assert!(told.len() < 100_000, "{} bytes of message", told.len());
        }
    }
    assert!(cpu_s() - began < SECONDS, "{} s for {} bytes", cpu_s() - began, text.len());
}

/// Words that occur in valid and invalid scenarios.
fn word() -> impl Strategy<Value = String> {
    let words = [
        "\"",
        "'",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ",",
        ".",
        "\n",
        " ",
        "-",
        "0",
        "1",
        "9999999999999999999",
        "1e9",
        "1e-30",
        "inf",
        "nan",
        "true",
        "\"50Mbit/s\"",
        "\"-1ms\"",
        "\"0s\"",
        "\"1e20bdp\"",
        "\"10%\"",
        "bottleneck",
        "flows",
        "links",
        "sweep",
        "points",
        "stack",
        "access",
        "rate",
        "buffer",
        "delay",
        "cc",
        "rtt",
        "path",
        "loss",
        "\"bbr1\"",
        "\"reno\"",
        "count",
        "start",
        "start_step",
        "stop",
        "write",
        "train",
        "frames",
        "arrivals",
        "requests",
        "video",
        "sizes",
        "\"50/s\"",
        "\"pareto\"",
        "ü",
        "\u{0}",
        "\u{7f}",
        "1970-01-01",
        "repeat",
        "seed",
        "sample",
        "duration",
        "name",
        "\"a\"",
        "\"\"\"",
        "\\",
        "#",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_is_answered(text in "\\PC{0,400}") {
        read(&text, &[]);
    }

    #[test]
    fn random_words_are_answered(words in prop::collection::vec(word(), 0..80)) {
        read(&words.concat(), &[]);
    }

    #[test]
    fn spoilt_scenarios_are_answered(
        which in 0..BUILTINS.len(),
        cuts in prop::collection::vec((0_usize..1000, 0_usize..12, word()), 1..5),
    ) {
        let mut text = BUILTINS[which].text.to_owned();
        for (place, length, word) in cuts {
            let mut start = place * text.len() / 1000;
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, &word);
        }
        read(&text, &[]);
    }

    #[test]
    fn random_settings_are_answered(
        which in 0..BUILTINS.len(),
        key in "[a-z_.\\[\\]0-9\"]{0,20}",
        known in prop::sample::select(vec!["bottleneck.rate", "flows.cc", "flows[0].rtt", "duration", "sweep.points", "stack", ""]),
        words in prop::collection::vec(word(), 0..4),
    ) {
        let value = words.concat();
        read(BUILTINS[which].text, &[format!("{key}={value}"), format!("{known}={value}")]);
        read(BUILTINS[which].text, &[format!("{known}={value}")]);
        read(BUILTINS[which].text, &[value]);
    }
}

#[test]
fn the_largest_files_are_answered_in_time() {
    let right = "duration = \"10s\"\n[bottleneck]\nrate = \"50Mbit/s\"\n";
    let flow = "[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    let sized = |piece: &str| piece.repeat(1_000_000 / piece.len());
    let list = |n: usize| (0..n).map(|n| format!("\"{n}pkt\"")).collect::<Vec<_>>().join(",");
    for text in [
        format!("{right}{}", sized(flow)),
        format!("{right}{}", sized("[[flows]]\nccc = \"reno\"\n")),
        format!("{right}{flow}[sweep]\n\"bottleneck.buffer\" = [{}]\n", list(90_000)),
        format!("{right}{flow}[sweep]\n\"bottleneck.bufer\" = [{}]\n", list(90_000)),
        format!(
            "{right}{}[sweep]\n\"bottleneck.buffer\" = [{}]\n",
            flow.repeat(10_000),
            list(1000)
        ),
        format!(
            "{right}{flow}{}",
            (0..60_000).map(|n| format!("k{n} = {n}\n")).collect::<Vec<_>>().concat()
        ),
        format!("{right}{flow}x = \"{}\"\n", "y".repeat(1_000_000)),
        format!(
            "{right}{flow}path = [{}]\n",
            (0..30_000).map(|n| format!("\"a{n}\",")).collect::<Vec<_>>().concat()
        ),
        format!(
            "{right}{flow}{}",
            (0..20_000)
                .map(|n| format!("[[links]]\nname = \"n{n}\"\ndelay = \"1ms\"\n"))
                .collect::<Vec<_>>()
                .concat()
        ),
        sized("["),
        sized("a."),
        sized("[a]\n"),
        format!("a = {}", sized("{a=")),
        format!("a = {}", sized("[")),
        format!("duration = \"{}s\"", sized("9")),
        format!("seed = {}", sized("9")),
        sized("\n"),
        sized("x = 1 "),
        sized("\"\"\""),
    ] {
        read(&text, &[]);
    }
}
