//! Checks the tables of keys in `docs/scenario-files.md`, the scenarios on documentation pages, and
//! the JSON Schema.

use std::collections::{BTreeMap, BTreeSet};

use crate::json_schema::mistakes;
use bbrlab_scenario::{BUILTINS, Scenario, queues_to_markdown, schema, sections};
use expect_test::expect_file;
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../docs/scenario-files.md");

/// Documentation pages with scenarios, and the number of scenarios on each.
const PAGES: [(&str, &str, usize); 4] = [
    ("docs/scenarios.md", include_str!("../../../../docs/scenarios.md"), 1),
    ("docs/traffic.md", include_str!("../../../../docs/traffic.md"), 4),
    ("docs/sweeps.md", include_str!("../../../../docs/sweeps.md"), 2),
    ("docs/networks.md", include_str!("../../../../docs/networks.md"), 2),
];

/// Returns the scenarios on a documentation page.
fn examples(page: &str) -> Vec<&str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// Each generated table of `docs/scenario-files.md` follows a comment. This is the part of the
/// comment just before its last words, which name the table's section, such as `[[links]]`.
const BEGINNING: &str = "`cargo xtask bless` rewrites it: ";

/// Checks that the tables of keys in `docs/scenario-files.md` equal the definitions of the keys in
/// the code. `cargo xtask bless` rewrites the tables.
#[test]
fn the_tables_of_the_page_are_those_of_the_rows() {
    let mut page = String::new();
    let mut rest = DOCUMENT;
    let mut tables: Vec<(&str, String)> = Vec::new();
    for section in sections() {
        match section.header {
            // `[bottleneck]` has the keys of `[[links]]` except `name`, so the page has no table
            // for `[bottleneck]`.
            "[bottleneck]" => continue,
            "" => tables.push(("top level", section.to_markdown())),
            header => tables.push((header, section.to_markdown())),
        }
        if section.header == "[[links]]" {
            tables.push(("queue", queues_to_markdown()));
        }
    }
    for (header, table) in tables {
        let (before, after) = rest
            .split_once(&format!("{BEGINNING}{header} -->\n"))
            .unwrap_or_else(|| panic!("the page has no table of {header} at this position"));
        page += &format!("{before}{BEGINNING}{header} -->\n\n{table}\n");
        rest = &after[after.find("<!-- End of").expect("a table ends")..];
    }
    expect_file!["../../../../docs/scenario-files.md"].assert_eq(&(page + rest));
}

#[test]
fn the_scenarios_on_the_pages_are_right() {
    for (page, text, count) in PAGES {
        let blocks = examples(text);
        assert_eq!(blocks.len(), count, "{page}");
        for block in blocks {
            if let Err(errors) = Scenario::parse("s", page, block, None, &[]) {
                panic!("{errors}");
            }
        }
    }
}

fn as_json(toml: &str) -> Value {
    toml::from_str(toml).expect("TOML")
}

#[test]
fn the_schema_knows_every_scenario() {
    let schema = schema();
    let examples = PAGES.iter().flat_map(|(_, page, _)| examples(page));
    for text in BUILTINS.iter().map(|builtin| builtin.text).chain(examples) {
        assert_eq!(mistakes(&schema, &as_json(text)), Vec::<String>::new(), "{text}");
    }
}

/// Checks our entry for `SchemaStore`'s catalog, which editors read. The entry has four keys. The
/// `url` in this entry is the address at which `SchemaStore` serves the schema of bbrlab's
/// scenarios.
#[test]
fn the_entry_of_the_catalog_of_schemas_is_whole() {
    let entry: Value =
        serde_json::from_str(include_str!("../../../../editors/schemastore.json")).expect("JSON");
    let keys: Vec<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "description", "fileMatch", "url"]);
    assert_eq!(entry["url"], "https://json.schemastore.org/bbrlab-scenario.json");
    // The pattern must not match files of other programs.
    assert_eq!(entry["fileMatch"], serde_json::json!(["*.bbrlab.toml"]));
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = schema();
    let right = "duration = \"1s\"\n[bottleneck]\nrate = \"1Mbit/s\"\n[[flows]]\ncc = \"reno\"\n";
    assert!(mistakes(&schema, &as_json(right)).is_empty());
    for (part, wrong) in [
        ("duration = \"1s\"", ""),
        ("duration = \"1s\"", "duration = 1"),
        ("duration", "hz = 1\nduration"),
        ("rate =", "rat ="),
        ("[bottleneck]", "[bottleneck]\nloss = 1.5"),
        ("[bottleneck]", "[bottleneck]\nloss = { model = \"bernouli\" }"),
        ("[bottleneck]", "[bottleneck]\nloss_at = \"between\""),
        ("[bottleneck]", "[bottleneck]\nreorder = { ratio = 0.1 }"),
        ("[bottleneck]", "[stack]\nhz = 10\n[bottleneck]"),
        ("[[flows]]\ncc = \"reno\"", "flows = []"),
        ("cc = \"reno\"", "count = 1"),
    ] {
        let text = right.replacen(part, wrong, 1);
        assert!(Scenario::parse("s", "s.toml", &text, None, &[]).is_err(), "{text}");
        assert!(!mistakes(&schema, &as_json(&text)).is_empty(), "{text}");
    }
}

/// Keys whose values are inline tables. Each row has the section, the key, and an inline table with
/// the unknown key `no`: the error about `no` lists the keys that the reader accepts.
const VALUES: [(&str, &str, &str); 37] = [
    ("flows", "sizes", "{ distribution = \"web_search\", no = 1 }"),
    ("flows", "sizes", "{ distribution = \"cdf\", points = [[\"1KB\", 1]], no = 1 }"),
    ("bottleneck", "grant", "{ delay = \"1ms\", no = 1 }"),
    ("bottleneck", "reverse_grant", "{ delay = \"1ms\", no = 1 }"),
    ("bottleneck", "airtime", "{ overhead = \"1ms\", no = 1 }"),
    ("bottleneck", "trace", "{ rows = [\"time_s,loss\", \"0,0\"], no = 1 }"),
    (
        "bottleneck",
        "trace",
        "{ model = \"leo\", rate = [\"1Mbit/s\", \"2Mbit/s\"], delay = [\"1ms\", \"2ms\"], every = \"1s\", outage = \"0s\", no = 1 }",
    ),
    ("bottleneck", "slot", "{ min_delay = \"1ms\", no = 1 }"),
    ("bottleneck", "reverse_slot", "{ min_delay = \"1ms\", no = 1 }"),
    ("bottleneck", "peak_rate", "{ rate = \"1Mbit/s\", no = 1 }"),
    ("bottleneck", "police", "{ rate = \"1Mbit/s\", burst = \"9KB\", no = 1 }"),
    ("bottleneck", "rate", "{ opportunities_ms = [1], no = 1 }"),
    ("bottleneck", "loss", "{ model = \"bernoulli\", ratio = 0.1, no = 1 }"),
    ("bottleneck", "loss", "{ model = \"gilbert-elliott\", p = 0.1, r = 0.1, no = 1 }"),
    ("bottleneck", "loss", "{ model = \"gilbert-elliott\", good = \"1s\", bad = \"1s\", no = 1 }"),
    ("bottleneck", "jitter", "{ up_to = \"1ms\", no = 1 }"),
    ("bottleneck", "jitter", "{ spread = \"1ms\", no = 1 }"),
    ("bottleneck", "jitter", "{ model = \"wifi\", mean = \"7ms\", no = 1 }"),
    ("bottleneck", "reorder", "{ ratio = 0.1, by = \"1ms\", no = 1 }"),
    ("stack", "delack", "{ every = 1, no = 1 }"),
    ("flows", "write", "{ bytes = \"1KB\", every = \"1s\", no = 1 }"),
    ("flows", "frames", "{ rate = \"30/s\", bytes = \"8KB\", no = 1 }"),
    ("flows", "train", "{ bytes = \"1KB\", count = 1, gap = \"1s\", no = 1 }"),
    ("flows", "read", "{ bytes = \"1KB\", every = \"1s\", no = 1 }"),
    ("flows", "requests", "{ no = 1 }"),
    ("flows", "page", "{ objects = [1], no = 1 }"),
    ("flows", "video", "{ rate = \"1Mbit/s\", no = 1 }"),
    ("flows", "on", "{ distribution = \"pareto\", mean = \"1s\", no = 1 }"),
    ("flows", "on", "{ distribution = \"lognormal\", mean = \"1s\", no = 1 }"),
    ("flows", "off", "{ distribution = \"pareto\", mean = \"1s\", no = 1 }"),
    ("flows", "off", "{ distribution = \"lognormal\", mean = \"1s\", no = 1 }"),
    ("flows", "arrivals", "{ rate = \"1/s\", no = 1 }"),
    ("flows", "arrivals", "{ process = \"pareto\", rate = \"1/s\", no = 1 }"),
    ("flows", "sizes", "{ distribution = \"pareto\", mean = \"1KB\", no = 1 }"),
    ("flows", "sizes", "{ distribution = \"lognormal\", mean = \"1KB\", no = 1 }"),
    ("flows", "sizes", "{ distribution = \"constant\", mean = \"1KB\", no = 1 }"),
    ("access", "rate", "{ opportunities_ms = [1], no = 1 }"),
];

/// Returns the keys of inline tables in the JSON Schema, by section and key of the inline table.
fn parts_of_rows() -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for (section, schema) in schema()["properties"].as_object().expect("sections") {
        let schema = schema.get("items").unwrap_or(schema);
        for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
            let forms = schema["anyOf"].as_array().cloned().unwrap_or(vec![schema.clone()]);
            for parts in forms.iter().filter_map(|form| form["properties"].as_object()) {
                let parts = parts.keys().cloned().collect();
                found.insert((section.clone(), key.clone()), parts);
            }
        }
    }
    found
}

/// Returns the names of the queue disciplines.
fn disciplines() -> Vec<String> {
    let schema = schema();
    let forms = &schema["properties"]["bottleneck"]["properties"]["queue"]["anyOf"];
    let names = forms.as_array().expect("forms").iter().find_map(|form| form["enum"].as_array());
    names.expect("a list").iter().map(|name| name.as_str().expect("text").to_owned()).collect()
}

/// Checks that the JSON Schema and the reader have the same keys for each inline table.
#[test]
fn the_keys_within_values_are_those_that_are_read() {
    let mut read: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let values = VALUES.map(|(section, key, value)| (section, key, value.to_owned()));
    let disciplines = disciplines()
        .into_iter()
        .map(|name| ("bottleneck", "queue", format!("{{ discipline = \"{name}\", no = 1 }}")));
    for (section, key, value) in values.into_iter().chain(disciplines) {
        let header =
            if section == "flows" { "[[flows]]".to_owned() } else { format!("[{section}]") };
        let text = format!("duration = \"1s\"\n{header}\n{key} = {value}\n");
        let errors = Scenario::parse("s", "s.toml", &text, None, &[]).expect_err("`no` is no key");
        let of = format!("{key}`: ");
        let notes = errors.0.iter().flat_map(|error| &error.notes);
        let list = notes.filter_map(|note| note.split_once(&of)).map(|(_, list)| list).next();
        let keys = list.unwrap_or_else(|| panic!("{errors}")).split(", ").map(str::to_owned);
        read.entry((section.to_owned(), key.to_owned())).or_default().extend(keys);
    }
    let mut told = parts_of_rows();
    // The following keys are not compared: `points`, the keys of `[[links]]`, and the keys of
    // `same`. The inline tables of a key in `[[links]]` are those of the same key in
    // `[bottleneck]`. The inline tables of a key of the reverse direction, such as `reverse_loss`,
    // are those of the key of the forward direction, such as `loss`.
    let same = [
        "reverse_rate",
        "reverse_queue",
        "reverse_loss",
        "reverse_jitter",
        "reverse_reorder",
        "reverse_police",
        "points",
    ];
    told.retain(|(section, key), _| section != "links" && !same.contains(&key.as_str()));
    assert_eq!(read, told);
}

/// The table of profiles in `docs/sockets.md` has the values that the profiles set.
#[test]
fn the_table_of_profiles_has_their_values() {
    let page = include_str!("../../../../docs/sockets.md");
    let of = |profile: &str| {
        let text = format!(
            "duration = \"1s\"\n[stack]\nprofile = \"{profile}\"\n[bottleneck]\nrate = \"1Mbit/s\"\n\
             [[flows]]\ncc = \"reno\"\nrtt = \"1ms\"\n"
        );
        let scenario = Scenario::parse("test", "test.toml", &text, None, &[]);
        scenario.unwrap_or_else(|errors| panic!("{errors}")).run(0).stack
    };
    let bounds =
        |it: bbrlab_stack::BufferBounds| format!("`\"{} {} {}\"`", it.least, it.initial, it.most);
    let profiles = ["linux", "linux-stock"].map(of);
    for (key, values) in [
        ("tcp_rmem", profiles.map(|stack| bounds(stack.tcp_rmem))),
        ("tcp_wmem", profiles.map(|stack| bounds(stack.tcp_wmem))),
        ("hz", profiles.map(|stack| format!("`{}`", stack.hz))),
    ] {
        let row = format!("| `{key}` | {} | {} |", values[0], values[1]);
        assert!(page.contains(&row), "docs/sockets.md has no row {row}");
    }
    // `docs/sockets.md` says that the profiles differ in the three keys of this table only.
    let [linux, stock] = profiles;
    let changed = bbrlab_stack::Stack {
        tcp_rmem: stock.tcp_rmem,
        tcp_wmem: stock.tcp_wmem,
        hz: stock.hz,
        ..linux
    };
    assert_eq!(changed, stock);
}
