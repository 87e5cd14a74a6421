//! Checks that a mistake in a key of `[[links]]` gives the same message as in the same key of
//! `[bottleneck]`. The test tries values of every kind in each key that the two tables share, both
//! directly and as parts of inline tables.

use bbrlab_scenario::{Scenario, ScenarioError};

/// Values of every kind. For each key, most of these values are wrong.
const VALUES: &[&str] = &[
    "5",
    "-1",
    "0",
    "0.5",
    "nan",
    "1e400",
    "true",
    "1979-05-27",
    "\"\"",
    "\"x\"",
    "\"none\"",
    "\"5\"",
    "\"0s\"",
    "\"-1s\"",
    "\"1ns\"",
    "\"5ms\"",
    "\"9000000h\"",
    "\"0B\"",
    "\"1B\"",
    "\"9KB\"",
    "\"0pkt\"",
    "\"1pkt\"",
    "\"1bdp\"",
    "\"1e30bdp\"",
    "\"0Mbit/s\"",
    "\"9Mbit/s\"",
    "\"9MBps\"",
    "\"50%\"",
    "\"unlimited\"",
    "[]",
    "[1]",
    "[[]]",
    "[[\"0s\", 1]]",
    "[[\"1s\", \"5ms\"]]",
    "[[\"0s\", \"5ms\"], [\"0s\", \"6ms\"]]",
    "[\"9Mbit/s\", \"5Mbit/s\"]",
    "[\"5ms\", \"6ms\"]",
    "{}",
    "{ x = 1 }",
    "{ discipline = \"pie\", target = \"0s\" }",
];

/// Keys with inline tables. `VALUE` replaces one part of each table; the other parts are valid.
const TABLES: &[&str] = &[
    "rate = { trace = VALUE }",
    "rate = { opportunities_ms = VALUE }",
    "loss = { model = VALUE }",
    "loss = { model = \"bernoulli\", ratio = VALUE }",
    "loss = { model = \"gilbert-elliott\", p = VALUE, r = 0.3 }",
    "loss = { model = \"gilbert-elliott\", p = 0.1, r = 0.3, loss_bad = VALUE }",
    "trace = { rows = VALUE }",
    "trace = { rows = [VALUE] }",
    "trace = { every = VALUE }",
    "trace = { model = VALUE, rate = [\"1Mbit/s\", \"5Mbit/s\"], delay = [\"1ms\", \"2ms\"], every = \"1s\" }",
    "trace = { model = \"leo\", rate = VALUE, delay = [\"1ms\", \"2ms\"], every = \"1s\" }",
    "trace = { model = \"leo\", rate = [\"1Mbit/s\", \"5Mbit/s\"], delay = VALUE, every = \"1s\" }",
    "trace = { model = \"leo\", rate = [\"1Mbit/s\", \"5Mbit/s\"], delay = [\"1ms\", \"2ms\"], every = VALUE }",
    "trace = { model = \"leo\", rate = [\"1Mbit/s\", \"5Mbit/s\"], delay = [\"1ms\", \"2ms\"], every = \"1s\", outage = VALUE }",
    "burst = \"9KB\"\npeak_rate = { rate = VALUE }",
    "burst = \"9KB\"\npeak_rate = { rate = \"90Mbit/s\", mtu = VALUE }",
    "police = { rate = VALUE, burst = \"9KB\" }",
    "police = { rate = \"9Mbit/s\", burst = VALUE }",
    "jitter = { up_to = VALUE }",
    "jitter = { up_to = \"1ms\", keep_order = VALUE }",
    "reorder = { ratio = VALUE, by = \"1ms\" }",
    "reorder = { ratio = 0.1, by = VALUE }",
    "slot = { min_delay = VALUE }",
    "slot = { min_delay = \"1ms\", max_delay = VALUE }",
    "reverse_slot = { min_delay = \"1ms\", packets = VALUE }",
    "reverse_slot = { min_delay = \"1ms\", bytes = VALUE }",
    "airtime = { overhead = VALUE }",
    "airtime = { overhead = \"1us\", packets = VALUE }",
    "airtime = { overhead = \"1us\", time = VALUE }\nreverse_rate = \"forward\"",
    "grant = { delay = VALUE }",
    "grant = { delay = \"1ms\", every = VALUE }",
    "reverse_grant = { delay = \"1ms\", bytes = VALUE }",
    "reverse_grant = { delay = \"1ms\", limit = VALUE }",
    "queue = { discipline = VALUE }",
    "queue = { discipline = \"codel\", limit = VALUE }",
    "queue = { discipline = \"fq_codel\", quantum = VALUE }",
    "queue = { discipline = \"red\", max = VALUE }",
    "queue = { discipline = \"red\", probability = VALUE }",
    "queue = { discipline = \"dualpi2\", step_thresh = VALUE }",
    "queue = { discipline = \"cake\", tins = VALUE }",
    "queue = { discipline = \"cake\", ack_filter = VALUE }",
    "queue = { discipline = \"cake\", bandwidth = VALUE }",
    "queue = { discipline = \"prio\", priomap = VALUE }",
    "reverse_rate = \"9Mbit/s\"\nreverse_queue = { discipline = \"sfq\", divisor = VALUE }",
    "buffer_unit = \"B\"\nbuffer = VALUE",
    "device_queue = \"9pkt\"\nqueue = VALUE",
    "device_queue = \"9pkt\"\nbuffer = VALUE",
    "rate_change = \"keep\"\nrate = VALUE",
    "ack_thinning = 2\nreverse_rate = VALUE",
];

/// Returns the mistakes in a link with these lines. `head` has the lines that precede `lines` in
/// the link's table.
fn mistakes(head: &str, lines: &str) -> Vec<ScenarioError> {
    let name = if head.contains("[[links]]") { "a" } else { "bottleneck" };
    let text = format!(
        "duration = \"1s\"\n{head}\n{lines}\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\npath = [\"{name}\"]\n"
    );
    Scenario::parse("s", "s.toml", &text, None, &[]).err().map_or_else(Vec::new, |errors| errors.0)
}

/// Checks that mistakes in these lines have the same positions and texts in `[bottleneck]` and in
/// `[[links]]`, apart from the names of the tables and the key `name`. Returns whether there are
/// mistakes.
fn assert_same_messages(lines: &str) -> bool {
    let words = |mistakes: Vec<ScenarioError>| -> Vec<String> {
        let told = |mistake: ScenarioError| {
            let ScenarioError { line, column, title, found, help, notes, .. } = mistake;
            format!("{line:?}:{column} {title}; {found}; {help:?} {notes:?}")
        };
        mistakes.into_iter().map(told).collect()
    };
    let of_bottleneck = words(mistakes("[bottleneck]\n# A link has its name here.", lines));
    let of_link = words(mistakes("[[links]]\nname = \"a\"", lines));
    let renamed = of_bottleneck.iter().map(|told| told.replace("`bottleneck", "`links[0]"));
    let without_name = of_link
        .iter()
        .map(|told| told.replace("keys of `links[0]`: name, ", "keys of `links[0]`: "));
    assert_eq!(renamed.collect::<Vec<_>>(), without_name.collect::<Vec<_>>(), "{lines}");
    for told in &of_link {
        assert!(told.contains(" `links[0]."), "no key is named: {told}\n{lines}");
    }
    !of_link.is_empty()
}

/// Returns the keys of `[bottleneck]`, read from the message about an unknown key. `[[links]]` has
/// the same keys and, in addition, `name`.
fn keys() -> Vec<String> {
    let told = mistakes("[bottleneck]\n", "no_such_key = 1");
    let keys = told[0].notes[0].strip_prefix("keys of `bottleneck`: ");
    keys.expect("the message lists them").split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_with_values_of_every_kind() {
    let keys = keys();
    assert!(keys.len() >= 28, "{keys:?}");
    let mut wrong = 0;
    for key in &keys {
        // Most keys of `[bottleneck]` need a queue, and only a link with a rate has one.
        let rates = ["rate = \"9Mbit/s\"\n", "reverse_rate = \"9Mbit/s\"\n"];
        let rates =
            rates.iter().filter(|line| !line.starts_with(&format!("{key} ")) && key != "trace");
        let rates: String = rates.copied().collect();
        for value in VALUES {
            wrong += usize::from(assert_same_messages(&format!("{rates}{key} = {value}")));
        }
    }
    assert!(wrong > 800, "{wrong}");
}

#[test]
fn every_part_of_a_table_with_values_of_every_kind() {
    let mut wrong = 0;
    for table in TABLES {
        let has_rate = table.lines().any(|line| {
            ["rate =", "trace =", "queue = { discipline = \"cake\", bandwidth"]
                .iter()
                .any(|own| line.starts_with(own))
        });
        let rate = if has_rate { "" } else { "rate = \"9Mbit/s\"\n" };
        for value in VALUES {
            wrong += usize::from(assert_same_messages(&format!(
                "{rate}{}",
                table.replace("VALUE", value)
            )));
        }
    }
    assert!(wrong > 1500, "{wrong}");
}

#[test]
fn defaults_that_are_wrong_are_named() {
    let text = "duration = \"1s\"\n[[links]]\nname = \"a\"\nrate = \"9Mbit/s\"\n[[flows]]\ncc = \"reno\"\npath = [\"a\"]\n";
    let told = Scenario::parse("s", "s.toml", text, None, &[]).unwrap_err().to_string();
    assert!(
        told.contains("`links[0].buffer`") && told.contains("found the default, \"1bdp\", but"),
        "{told}"
    );
}
