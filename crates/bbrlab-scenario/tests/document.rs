//! `docs/scenario-files.md` tells of every key, and its examples are right.

use bbrlab_scenario::Scenario;

const DOCUMENT: &str = include_str!("../../../docs/scenario-files.md");

/// The keys of a table, as the answer to a wrong one lists them.
fn keys(table: &str) -> Vec<String> {
    let text = format!("duration = \"1s\"\n{table}\nno_such_key_at_all = 1\n");
    let errors = Scenario::parse("s", "s.toml", &text, None, &[]).unwrap_err();
    let notes: Vec<String> = errors.0.iter().flat_map(|error| error.notes.clone()).collect();
    let list = notes.iter().find_map(|note| note.split_once(": ")).expect("a list of keys").1;
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_is_in_the_document() {
    for table in ["", "[stack]", "[bottleneck]", "[access]", "[[links]]", "[[flows]]"] {
        for key in keys(table) {
            let told =
                [format!("`{key}`"), format!("[{key}]")].iter().any(|name| DOCUMENT.contains(name));
            assert!(told, "`{key}` of {table} is missing in docs/scenario-files.md");
        }
    }
}

#[test]
fn the_examples_of_the_document_are_right() {
    let blocks: Vec<&str> =
        DOCUMENT.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        if let Err(errors) = Scenario::parse("s", "docs/scenario-files.md", block, None, &[]) {
            panic!("{errors}");
        }
    }
}
