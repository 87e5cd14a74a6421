//! Tests that the list of algorithms and the documentation pages about them agree.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_cc::Algorithm;
use expect_test::expect_file;

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms")
}

#[test]
fn every_algorithm_has_a_page_and_every_page_an_algorithm() {
    let listed: BTreeSet<String> = Algorithm::ALL.iter().map(|a| a.name().to_owned()).collect();
    let written: BTreeSet<String> = fs::read_dir(pages())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "README")
        .collect();
    assert_eq!(listed, written);
}

#[test]
fn a_page_has_its_algorithms_name_and_every_parameter() {
    for algorithm in Algorithm::ALL {
        let name = algorithm.name();
        let text = fs::read_to_string(pages().join(format!("{name}.md"))).unwrap();
        assert!(text.starts_with(&format!("# {name}: ")), "{name}: title");
        for section in ["## Description", "## Scope and limits", "## Deviations", "## Validation"] {
            assert!(text.contains(section), "{name}: {section}");
        }
        for parameter in algorithm.params() {
            // Whether the page of a variant refers to the page of its base for this parameter.
            let is_of = |base: Algorithm| {
                text.contains(&format!("Parameters are those of `{}`", base.name()))
                    && base.params().contains(parameter)
            };
            let is_there = text.contains(&format!("`{}`", parameter.name))
                || is_of(Algorithm::Bbr2)
                || is_of(Algorithm::Bbr1);
            assert!(is_there, "{name}: parameter {}", parameter.name);
        }
    }
}

/// Compares the index `docs/algorithms/README.md` with the list of algorithms.
/// `UPDATE_EXPECT=1 cargo test -p bbrlab-cc --test all documents` rewrites the index.
#[test]
fn the_index_is_the_list() {
    let mut text = String::from(
        "# Algorithms\n\n\
         One page per algorithm; `bbrlab list algorithms bbr3` shows the parameters of one algorithm. This index is written by\n\
         `crates/bbrlab-cc/tests/all/documents.rs` from the list in `crates/bbrlab-cc/src/algorithm.rs`.\n\n\
         | name | published as | what it does | source | parameters |\n| --- | --- | --- | --- | --- |\n",
    );
    for algorithm in Algorithm::ALL {
        let parameters: Vec<String> = algorithm
            .params()
            .iter()
            .map(|p| format!("`{}` = {}", p.name, p.default.replace('|', "\\|")))
            .collect();
        let parameters = match parameters.len() {
            0 => "none".to_owned(),
            1..=8 => parameters.join(", "),
            _ => "see the page".to_owned(),
        };
        writeln!(
            text,
            "| [`{name}`]({name}.md) | {} | {} | {} | {parameters} |",
            algorithm.title(),
            algorithm.summary(),
            algorithm.source(),
            name = algorithm.name(),
        )
        .unwrap();
    }
    expect_file!["../../../../docs/algorithms/README.md"].assert_eq(&text);
}
