//! Compares the module's results with the simulator's. The module's Rust code is tested with ten
//! built-in scenarios. The WebAssembly module is tested in Node if `cargo xtask web` has built it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bbrlab_scenario::{Builtin, Scenario};
use bbrlab_sim::simulate;
#[cfg(feature = "packets")]
use bbrlab_wasm::Values;
use bbrlab_wasm::{Call, Module, Outcome, flow_columns, link_columns};
use serde_json::{Value, json};

const SCENARIOS: [&str; 10] = [
    "examples.dumbbell",
    "examples.two-bbr",
    "examples.rate-drop",
    "lanigan2020.single-flow",
    "song2021.v1-vs-v2",
    "c4.satellite",
    "c4.low-and-up",
    "ecn.bbr2",
    "networks.wifi",
    "examples.l4s",
];

/// The duration of each scenario in these tests.
const DURATION: &str = "duration=4s";

fn request(id: &str, sets: &[&str], rows: bool) -> Value {
    let text = Builtin::named(id).unwrap().text;
    json!({ "scenario": { "name": id, "text": text, "sets": sets }, "run": 0, "rows": rows })
}

fn call(module: &mut Module, call: Call, number: f64, input: &Value) -> (Outcome, Value) {
    module.input = input.to_string().into_bytes();
    let outcome = module.call(call, number);
    (outcome, serde_json::from_slice(module.output()).unwrap())
}

/// Simulates the first run of a scenario without the module. Returns its digest, and the number of
/// rows of its flows.
fn expected(id: &str) -> (String, usize) {
    let scenario = Scenario::builtin(id, &[DURATION.to_owned()]).unwrap();
    let result = simulate(&scenario.run(0)).unwrap();
    (result.summary.digest.unwrap(), result.series.len())
}

#[test]
fn ten_scenarios_run_in_slices_with_the_digests_of_whole_runs() {
    for id in SCENARIOS {
        let (digest, rows) = expected(id);
        let mut module = Module::default();
        let (outcome, started) =
            call(&mut module, Call::Begin, 0.0, &request(id, &[DURATION], true));
        assert_eq!(outcome, Outcome::Done, "{id}: {started}");
        let (mut at, mut taken, mut done) = (0.0, 0, false);
        while !done {
            at += 0.3e9;
            done = call(&mut module, Call::Advance, at, &Value::Null).1["done"] == true;
            call(&mut module, Call::Rows, 0.0, &Value::Null);
            taken += module.columns().values()[0].len();
        }
        let (_, record) = call(&mut module, Call::Finish, 0.0, &Value::Null);
        assert_eq!((&record["digest"], taken), (&json!(digest), rows), "{id}");
    }
}

#[test]
fn ten_scenarios_have_the_same_digests_in_webassembly() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/module.mjs");
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/public/bbrlab.wasm");
    if !module.is_file() {
        println!("skipped: no module; `cargo xtask web` builds it");
        return;
    }
    for id in SCENARIOS {
        let mut node = Command::new("node")
            .args([&tests, &module])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node is installed, because it has built the page");
        let text = request(id, &[DURATION], true).to_string();
        node.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = node.wait_with_output().unwrap();
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (digest, rows) = expected(id);
        assert_eq!((&record["digest"], &record["rows"]), (&json!(digest), &json!(rows)), "{id}");
    }
}

#[test]
fn the_columns_are_those_of_the_protocol() {
    let protocol = include_str!("../../../../web/src/sim/protocol.ts");
    let names_in = |interface: &str| -> Vec<&str> {
        let (_, rest) = protocol.split_once(&format!("interface {interface} {{")).unwrap();
        let (body, _) = rest.split_once("\n}").unwrap();
        let fields = body.lines().filter(|line| line.contains("Array;"));
        fields.filter_map(|line| line.trim().split(':').next()).collect()
    };
    assert_eq!(flow_columns().collect::<Vec<_>>(), names_in("FlowColumns"));
    assert_eq!(link_columns().collect::<Vec<_>>(), names_in("LinkColumns"));
    let packed: String =
        include_str!("../../../../web/src/sim/module.ts").split_whitespace().collect();
    let all = |names: &[&str]| names.iter().all(|name| packed.contains(&format!("\"{name}\"")));
    assert!(all(&flow_columns().collect::<Vec<_>>()) && all(&link_columns().collect::<Vec<_>>()));
}

#[test]
fn mistakes_have_their_places_and_the_command_lines_words() {
    let mut module = Module::default();
    let input = json!({ "name": "x", "text": "duration = \"1s\"\n[bottleneck]\nrate = 7\n" });
    let (outcome, answer) = call(&mut module, Call::Check, 0.0, &input);
    assert_eq!(outcome, Outcome::Mistakes);
    let rate = answer["mistakes"].as_array().unwrap().iter().find(|it| it["line"] == 3).unwrap();
    assert_eq!((&rate["column"], &rate["column_end"]), (&json!(8), &json!(9)));
    assert!(rate["expected"].as_str().unwrap().contains("bottleneck.rate"), "{rate}");
    let sets = request("examples.dumbbell", &["bottleneck.rate=much"], true)["scenario"].clone();
    let (outcome, answer) = call(&mut module, Call::Check, 0.0, &sets);
    assert_eq!((outcome, &answer["mistakes"][0]["line"]), (Outcome::Mistakes, &Value::Null));
}

#[test]
fn a_file_is_a_text_that_the_page_has() {
    let text = Builtin::named("examples.dumbbell").unwrap().text;
    let text = text.replace("rate = \"10Mbit/s\"", "rate = \"up.trace\"");
    let mut input = json!({ "name": "x", "text": text });
    let mut module = Module::default();
    let (outcome, answer) = call(&mut module, Call::Check, 0.0, &input);
    assert_eq!(outcome, Outcome::Mistakes);
    assert!(answer.to_string().contains("was not given to the page"), "{answer}");
    input["files"] = json!({ "up.trace": "1\n2\n3\n" });
    let (outcome, answer) = call(&mut module, Call::Check, 0.0, &input);
    assert_eq!(outcome, Outcome::Done, "{answer}");
}

#[test]
fn costly_runs_and_wrong_calls_are_refused_with_a_sentence() {
    let mut module = Module::default();
    for (sets, word) in [
        (["bottleneck.rate=400gbps", "duration=1000s"], "data packets"),
        (["sample=1us", "duration=100s"], "rows"),
    ] {
        let input = request("examples.dumbbell", &sets, true);
        let (outcome, answer) = call(&mut module, Call::Begin, 0.0, &input);
        assert_eq!(outcome, Outcome::Refused, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(word), "{answer}");
    }
    for number in [Call::Advance, Call::Rows, Call::Finish, Call::Begin, Call::Check] {
        let (outcome, answer) = call(&mut module, number, 1.0, &Value::Null);
        assert_eq!(outcome, Outcome::Refused, "{answer}");
    }
    let mut input = request("examples.dumbbell", &[], true);
    input["run"] = json!(7);
    assert_eq!(call(&mut module, Call::Begin, 0.0, &input).0, Outcome::Refused);
}

#[test]
fn rows_that_the_page_takes_are_no_memory_of_the_module() {
    let mut module = Module::default();
    let mut memory = |id: &str, sample: &str| {
        let input = request(id, &[DURATION, &format!("sample={sample}")], true)["scenario"].take();
        let (outcome, answer) = call(&mut module, Call::Check, 0.0, &input);
        assert_eq!(outcome, Outcome::Done, "{answer}");
        answer["memory_bytes"].as_u64().unwrap()
    };
    // The page takes the rows of flows and links, so `memory_bytes` counts neither. The third
    // scenario has rows of two links.
    for id in ["examples.dumbbell", "networks.wifi", "c4.low-and-up"] {
        let [with, without] = ["1ms", "off"].map(|sample| memory(id, sample));
        assert!(with.abs_diff(without) <= 1, "{id}: {with} and {without} bytes");
    }
}

#[test]
fn the_catalogue_has_every_scenario_and_key() {
    let mut module = Module::default();
    let (_, catalogue) = call(&mut module, Call::Catalogue, 0.0, &Value::Null);
    let count = |name: &str| catalogue[name].as_array().unwrap().len();
    assert!(count("scenarios") > 80 && count("algorithms") > 10 && count("keys") > 50);
    let schema: Value = serde_json::from_str(catalogue["schema"].as_str().unwrap()).unwrap();
    assert!(schema["properties"]["flows"].is_object());
}

#[cfg(feature = "packets")]
#[test]
fn packets_of_a_window_pass_their_links_in_order_and_change_nothing() {
    let id = "examples.dumbbell";
    let mut module = Module::default();
    let mut input = request(id, &[DURATION], false);
    input["packets"] = json!(true);
    assert_eq!(call(&mut module, Call::Begin, 0.0, &input).0, Outcome::Done);
    call(&mut module, Call::Advance, 1e9, &Value::Null);
    call(&mut module, Call::Tap, 1e6, &Value::Null);
    call(&mut module, Call::Advance, 2e9, &Value::Null);
    let (_, answer) = call(&mut module, Call::Packets, 0.0, &Value::Null);
    assert_eq!(answer["full_at_s"], Value::Null);
    let columns = module.columns().values().to_vec();
    let (Values::F64(time), Values::U8(kind), Values::U8(direction), Values::U32(packet)) =
        (&columns[0], &columns[1], &columns[4], &columns[7])
    else {
        panic!("{columns:?}")
    };
    assert!(time.is_sorted() && time[0] > 1.0 && time[time.len() - 1] <= 2.0);
    // The events of a packet from the middle of the recorded time must be: sent, queued, and then
    // either departed and arrived, or dropped.
    let is_sent = |&at: &usize| kind[at] == 0 && direction[at] == 0 && time[at] > 1.4;
    let sent = (0..kind.len()).find(is_sent).unwrap();
    let own = (sent..kind.len()).filter(|&at| packet[at] == packet[sent]);
    let kinds: Vec<u8> = own.map(|at| kind[at]).collect();
    assert!(kinds == [0, 1, 4, 5] || kinds == [0, 1, 2], "{kinds:?}");
    call(&mut module, Call::Advance, 1e12, &Value::Null);
    let (_, record) = call(&mut module, Call::Finish, 0.0, &Value::Null);
    assert_eq!(record["digest"], json!(expected(id).0));
    // If a recording reaches its largest number of events, the answer has the time at which this
    // happened.
    assert_eq!(call(&mut module, Call::Begin, 0.0, &input).0, Outcome::Done);
    call(&mut module, Call::Tap, 10.0, &Value::Null);
    call(&mut module, Call::Advance, 2e9, &Value::Null);
    let (_, answer) = call(&mut module, Call::Packets, 0.0, &Value::Null);
    assert!(answer["full_at_s"].as_f64().is_some());
    assert_eq!(module.columns().values()[0].len(), 10);
}
