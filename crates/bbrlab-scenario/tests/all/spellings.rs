//! Tests every spelling of every key: its effect on the run, and its canonical text.
//!
//! The values of some keys are fixed words; other keys have values such as times or rates.
//! `spellings.txt` has an entry for each word that the JSON Schema lists. For each other kind of
//! value, it has an entry for at least one value. `cargo xtask bless` rewrites the file.
//!
//! An entry compares two scenarios, one with and one without the lines that contain the spelling.
//! Below the spelling, the entry has the lines that the spelling adds to the run's fields (printed
//! with one line per field), and the lines that it adds to the canonical text. If there are none,
//! the spelling does not change a run; for example, it sets a key to its default. The entry of a
//! rejected spelling has the title of the error message.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bbrlab_run::Run;
use bbrlab_scenario::{Scenario, ScenarioErrors, schema};
use expect_test::expect_file;
use serde_json::Value;

/// Returns a dumbbell with access links and one flow; `lines` are added to the table `header`.
fn scenario(header: &str, lines: &str, profile: &str) -> Result<Scenario, ScenarioErrors> {
    let added = |to: &str| if to == header { lines } else { "" };
    // The tests also set keys that have no effect in this scenario, which is normally an error. The
    // first line of the text permits such keys. The file of a run from a sweep begins with this
    // line if keys in the file have no effect in this run.
    let text = format!(
        "# Keys here may act at other points of the sweep only.\n{}\nduration = \"10s\"\n[stack]\nprofile = \"{profile}\"\n{}\n\
         [bottleneck]\n{}\n\
         [access]\nrate = \"1Gbit/s\"\n{}\n[[flows]]\ncc = \"bbr2\"\n{}\n",
        added(""),
        added("stack"),
        of_bottleneck(added("bottleneck")),
        added("access"),
        added("flows"),
    );
    parse(&text)
}

/// Returns the keys of the bottleneck: `lines`, with a rate unless `lines` has the model `leo`, and
/// with a delay unless `lines` begins with `delay` or `trace`.
fn of_bottleneck(lines: &str) -> String {
    let has_rate = lines.contains("model = \"leo\"");
    let has_delay = lines.starts_with("delay") || lines.starts_with("trace");
    let rate = if has_rate { "" } else { "rate = \"10Mbit/s\"\n" };
    let delay = if has_delay { "" } else { "delay = \"5ms\"\n" };
    format!("{rate}{delay}{lines}")
}

fn parse(text: &str) -> Result<Scenario, ScenarioErrors> {
    Scenario::parse("test", "test.toml", text, None, &[])
}

/// Returns the scenario's first run, without the hash of the scenario, so that runs of different
/// texts can be equal.
fn run(scenario: &Scenario) -> Run {
    Run { scenario_hash: String::new(), ..scenario.run(0) }
}

/// Returns the values that a part of the schema lists, as TOML.
fn words(form: &Value) -> Vec<String> {
    if let Some(forms) = form["anyOf"].as_array() {
        return forms.iter().flat_map(words).collect();
    }
    if form["type"] == "boolean" {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    form["enum"].as_array().into_iter().flatten().map(Value::to_string).collect()
}

/// For each table, lines with values that the schema describes only by their form, such as times
/// and numbers.
const OTHERS: &[(&str, &[&str])] = &[
    ("", &["sample = \"20ms\"", "seed = 7", "repeat = 3", "title = \"T\""]),
    (
        "stack",
        &[
            "mss = \"536B\"",
            "sndbuf = \"128KiB\"",
            "rcvbuf = \"128KiB\"",
            "rwnd = \"65535B\"",
            "rcvlowat = \"64KiB\"",
            "hz = 250",
            "delack = { every = 1 }",
            "delack = { every = 2, timer = \"200ms\" }",
            "min_rto = \"1s\"",
            "initial_cwnd = 1",
            "clock_step = \"256ns\"",
            "app_write = \"512B\"",
        ],
    ),
    (
        "bottleneck",
        &[
            "buffer = \"unlimited\"",
            "buffer = \"100pkt\"",
            "buffer = \"64KiB\"",
            "buffer = \"30ms\"",
            "buffer = \"2bdp\"",
            "bdp_rtt = \"60ms\"",
            "device_queue = \"100pkt\"",
            "loss = 0",
            "loss = 0.25",
            "loss = \"25%\"",
            "loss = { model = \"bernoulli\", ratio = 0.5 }",
            "loss = { model = \"gilbert-elliott\", p = 0.25, r = 0.5 }",
            "loss = { model = \"gilbert-elliott\", p = 0.25, r = 0.5, loss_bad = 0.75, loss_good = 0.125 }",
            "reverse_rate = \"1Mbit/s\"",
            "reverse_rate = [[\"0s\", \"1Mbit/s\"], [\"2s\", \"2Mbit/s\"]]",
            "reverse_rate = { opportunities_ms = [1, 3, 9] }",
            "reverse_rate = \"1Mbit/s\"\nreverse_buffer = \"7pkt\"",
            "framing = \"2B\"",
            "burst = \"1600B\"",
            "burst = \"64KiB\"\npeak_rate = \"100Mbit/s\"",
            "burst = \"64KiB\"\npeak_rate = { rate = \"100Mbit/s\", mtu = \"9KB\" }",
            "ecn_threshold = \"20pkt\"",
            "ecn_threshold = \"30000B\"",
            "ecn_threshold = \"5ms\"",
            "jitter = \"2ms\"",
            "jitter = { up_to = \"2ms\", keep_order = true }",
            "jitter = { up_to = \"2ms\", keep_order = false }",
            "reorder = { ratio = 0.5, by = \"3ms\" }",
            "police = { rate = \"5Mbit/s\", burst = \"32KiB\" }",
            "delay = [[\"0s\", \"5ms\"], [\"2s\", \"9ms\"]]",
            "delay = [[\"0s\", \"5ms\"], [\"2s\", \"9ms\"]]\nkeep_order = false",
            "loss = [[\"0s\", 0], [\"2s\", \"25%\"]]",
            "trace = { rows = [\"time_s,delay_ms,loss\", \"0,5,0\", \"2.5,9.5,0.01\"] }",
            "trace = { model = \"leo\", rate = [\"5Mbit/s\", \"20Mbit/s\"], delay = [\"5ms\", \"9ms\"], every = \"4s\", outage = \"60ms\" }",
            "ack_thinning = 1",
            "ack_thinning = 4",
            "slot = \"4ms\"",
            "slot = { min_delay = \"4ms\" }",
            "slot = { min_delay = \"0ms\", max_delay = \"8ms\", packets = 32, bytes = \"64KiB\", limit = 1000 }",
            "reverse_slot = \"4ms\"",
            "reverse_slot = { min_delay = \"2ms\", max_delay = \"8ms\" }",
            "grant = \"4ms\"",
            "grant = { delay = \"4ms\" }",
            "reverse_grant = { delay = \"4ms\", every = \"2ms\", bytes = \"16KB\", limit = 1000 }",
            "reverse_rate = \"forward\"\nairtime = \"186us\"",
            "reverse_rate = \"forward\"\nairtime = { overhead = \"185.5us\", packets = 64, time = \"5.484ms\" }",
            "queue = { discipline = \"codel\", target = \"5ms\", limit = \"1000pkt\" }",
            "queue = { discipline = \"codel\", target = \"3ms\", interval = \"60ms\", ecn = true }",
            "queue = { discipline = \"fq_codel\", flows = 64, quantum = \"300B\", drop_batch = 4, ce_threshold = \"1ms\" }",
            "queue = { discipline = \"pie\", tupdate = \"30ms\", alpha = 4, beta = 30, bytemode = true }",
            "queue = { discipline = \"pie\", dq_rate_estimator = true }",
            "queue = { discipline = \"fq_pie\", ecn = true, ecn_prob = 20 }",
            "queue = { discipline = \"red\", min = \"30000B\", max = \"90000B\", burst = 55, probability = 0.1 }",
            "queue = { discipline = \"red\", avpkt = \"1500B\", bandwidth = \"5Mbit/s\", ecn = true, harddrop = true }",
            "queue = { discipline = \"red\", nodrop = true, adaptive = true }",
            "queue = { discipline = \"dualpi2\", step_thresh = \"5pkt\", alpha = 100, beta = 900, any_ect = true }",
            "queue = { discipline = \"dualpi2\", coupling_factor = 3, classic_protection = 20, step_thresh = \"2ms\" }",
            "queue = { discipline = \"dualpi2\", drop_enqueue = true, drop_on_overload = false, min_qlen_step = 2 }",
            "queue = { discipline = \"fq\", flow_limit = 1000, initial_quantum = \"3028B\", ce_threshold = \"5ms\" }",
            "queue = { discipline = \"sfq\", depth = 50, divisor = 512, perturb = \"10s\", limit = \"40pkt\" }",
            "queue = { discipline = \"cake\", tins = \"besteffort\", isolation = \"flows\", rtt = \"30ms\", memlimit = \"4MiB\" }",
            "queue = { discipline = \"cake\", ack_filter = true }",
            "queue = { discipline = \"cake\", ack_filter = \"aggressive\" }",
            "reverse_queue = { discipline = \"cake\", bandwidth = \"2Mbit/s\" }",
            "queue = { discipline = \"prio\", bands = 2, priomap = [1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] }",
            "queue = \"codel\"\nbuffer = \"1bdp\"",
            "queue = \"codel\"\nreverse_rate = \"1Mbit/s\"",
            "queue = \"codel\"\nreverse_rate = \"1Mbit/s\"\nreverse_queue = \"droptail\"",
        ],
    ),
    (
        "access",
        &[
            "delay = \"2ms\"",
            "buffer = \"50pkt\"",
            "reverse_rate = \"1Mbit/s\"",
            "framing = \"2B\"",
        ],
    ),
    (
        "flows",
        &[
            "count = 2",
            "name = \"N\"",
            "group = \"G\"",
            "start = \"1s\"",
            "count = 2\nstart_step = \"1s\"",
            "start_jitter = \"1s\"",
            "stop = \"2s\"",
            "rtt = \"40ms\"",
            "left_delay = \"3ms\"",
            "right_delay = \"3ms\"",
            "path = [\"bottleneck\"]",
            "path = [\"bottleneck\"]\nreturn_path = [\"bottleneck\"]",
            "cc_params = { beta = 90 }",
            "dscp = \"ef\"",
            "dscp = 46",
            "dscp = 3",
            "host = \"B\"",
            "host = \"B\"\nsender_host = \"S\"",
            "mss = \"1000B\"",
            "bytes = \"15KB\"",
            "rate = \"1Mbit/s\"",
            "on = \"1s\"\noff = \"2s\"",
            "on = \"1s\"\noff = \"2s\"\nrate = \"1Mbit/s\"",
            "write = { bytes = \"64KiB\", every = \"50ms\" }",
            "train = { bytes = \"15KB\", count = 20, gap = \"100ms\" }",
            "requests = {}\nbytes = \"15KB\"",
            "requests = { think = \"100ms\", count = 50 }\nsizes = { distribution = \"pareto\", mean = \"9KB\" }",
            "requests = { think = { distribution = \"exponential\", mean = \"1s\" } }\nbytes = \"15KB\"",
            "video = { rate = \"4Mbit/s\" }",
            "video = { rate = \"4Mbit/s\", piece = \"2s\", buffer = \"10s\" }",
            "on = { distribution = \"exponential\", mean = \"1s\" }\noff = \"2s\"\nrate = \"1Mbit/s\"",
            "on = \"1s\"\noff = { distribution = \"pareto\", mean = \"1s\", shape = 1.4, max = \"60s\" }",
            "arrivals = { rate = \"50/s\" }\nbytes = \"15KB\"",
            "arrivals = { process = \"constant\", load = \"30%\", at_most = 50 }\nbytes = \"14480B\"",
            "arrivals = { process = \"pareto\", shape = 1.5, rate = \"0.5/s\" }\nbytes = \"1B\"",
            "arrivals = { rate = \"5/s\" }\nsizes = { distribution = \"pareto\", mean = \"30KB\" }",
            "arrivals = { rate = \"5/s\" }\n\
             sizes = { distribution = \"lognormal\", mean = \"30KB\", sigma = 2, max = \"1MB\" }",
            "arrivals = { rate = \"5/s\" }\nsizes = { distribution = \"web_search\" }",
            "arrivals = { rate = \"5/s\" }\nsizes = { distribution = \"cdf\", points = [[\"0B\", 0], [\"1KB\", \"12.5%\"], [\"9KB\", 1]] }",
            "arrivals = { rate = \"5/s\" }\nsizes = { distribution = \"exponential\", mean = \"30KB\" }",
        ],
    ),
];

/// Returns lines that set keys of a table: a line `KEY = VALUE` for each value that the schema
/// lists for a key, and the lines `others`.
fn spellings(header: &str, others: &[&str]) -> Vec<String> {
    let schema = schema();
    let table = match header {
        "" => &schema,
        "flows" => &schema["properties"]["flows"]["items"],
        _ => &schema["properties"][header],
    };
    let mut spellings = Vec::new();
    for (key, form) in table["properties"].as_object().expect("a table has keys") {
        // `profile` is tested in `profiles.rs`, because a profile changes the values of other keys.
        if key != "profile" {
            spellings.extend(words(form).iter().map(|word| format!("{key} = {word}")));
        }
    }
    spellings.extend(others.iter().map(|&line| line.to_owned()));
    spellings
}

/// Returns a run as text with one line per field: `Span(\n5\n)` becomes `Span(5)`.
fn lines_of(run: &Run) -> String {
    let text = format!("{run:#?}");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(|line| line.trim().trim_end_matches(',')) {
        let is_closed = line == ")"
            && lines.len() > 1
            && lines[lines.len() - 2].ends_with('(')
            && !lines[lines.len() - 1].ends_with(['(', '{', '[', '}', ']']);
        if is_closed {
            let value = lines.pop().expect("two lines");
            let begun = lines.last_mut().expect("two lines");
            *begun += &(value + ")");
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

/// Returns the lines of `text` that are not in `plain`, joined into one line.
fn new_lines(text: &str, plain: &str) -> String {
    let mut old: BTreeMap<&str, usize> = BTreeMap::new();
    for line in plain.lines() {
        *old.entry(line).or_default() += 1;
    }
    let mut lines = Vec::new();
    for line in text.lines() {
        match old.get_mut(line) {
            Some(left) if *left > 0 => *left -= 1,
            _ if line.is_empty() || line.starts_with('#') || [")", "}", "]"].contains(&line) => {}
            _ => lines.push(line),
        }
    }
    lines.join(", ")
}

/// Returns the run that results from reading the scenario's canonical text.
fn again(scenario: &Scenario) -> Run {
    let text = scenario.run_toml(0);
    run(&parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}")))
}

#[test]
fn each_spelling_means_what_the_list_says_and_is_written_back() {
    let plain = scenario("", "", "linux").expect("it is right");
    let (plain_run, plain_text) = (lines_of(&run(&plain)), plain.run_toml(0));
    let mut list = String::new();
    for (header, others) in OTHERS {
        writeln!(list, "{}", if header.is_empty() { "top level" } else { header }).unwrap();
        for lines in spellings(header, others) {
            writeln!(list, "  {}", lines.replace('\n', "; ")).unwrap();
            let spelt = match scenario(header, &lines, "linux") {
                Ok(spelt) => spelt,
                Err(ScenarioErrors(errors)) => {
                    writeln!(list, "    refused: {}", errors[0].title).unwrap();
                    continue;
                }
            };
            // The canonical text must also contain a value that is the default under `linux` but
            // not under another profile, so the check is repeated under `ns3`.
            match scenario(header, &lines, "ns3") {
                Ok(of_ns3) => assert_eq!(again(&of_ns3), run(&of_ns3), "{lines}"),
                // Under `ns3`, a spelling is invalid only if it conflicts with the profile's
                // `device_queue`, which requires drop-tail queues and a buffer counted in packets.
                Err(errors) => assert!(errors.0[0].title.contains("`device_queue"), "{errors}"),
            }
            assert_eq!(again(&spelt), run(&spelt), "{lines}");
            for lines in [
                new_lines(&lines_of(&run(&spelt)), &plain_run),
                new_lines(&spelt.run_toml(0), &plain_text),
            ] {
                if !lines.is_empty() {
                    writeln!(list, "    {lines}").unwrap();
                }
            }
        }
    }
    expect_file!["spellings.txt"].assert_eq(&list);
}
