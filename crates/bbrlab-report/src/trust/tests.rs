use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bbrlab_scenario::Scenario;

use super::coverage::{COVERAGE, PAGE};
use super::facts::FACTS;
use super::{Evidence, Subject, TrustLine, trust};

/// The words of a documentation page, with one space between them.
fn words_of(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lines_of(toml: &str, seeds: usize) -> Vec<TrustLine> {
    let scenario = Scenario::parse("test", "test.toml", toml, None, &[]).expect("a scenario");
    let mut subject = Subject::default();
    subject.add(&scenario.run(0));
    trust(&subject, seeds)
}

fn line<'a>(lines: &'a [TrustLine], part: &str) -> &'a TrustLine {
    let found = lines.iter().find(|line| line.part.starts_with(part));
    found.unwrap_or_else(|| panic!("no line about {part}: {lines:#?}"))
}

#[test]
fn each_figure_stands_on_its_page() {
    for fact in FACTS {
        let page = words_of(fact.page);
        for quote in fact.quotes {
            assert!(page.contains(quote), "{}: {} does not have `{quote}`", fact.name, fact.page);
        }
        assert!(!fact.quotes.is_empty(), "{}", fact.name);
    }
}

#[test]
fn figures_in_words_are_figures_of_the_quotes() {
    for fact in FACTS.iter().filter(|fact| fact.evidence == Evidence::Exact) {
        let quotes = fact.quotes.join(" ");
        let sums: u64 = numbers(&quotes).filter(|&number| number > 2_000).sum();
        for number in numbers(fact.says).filter(|&number| number > 2_000) {
            assert!(
                numbers(&quotes).any(|quoted| quoted == number) || number == sums,
                "{}: {number} is in no quote",
                fact.name
            );
        }
    }
}

/// The whole numbers of a text, with commas between thousands.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_digit() && c != ',').filter_map(|word| {
        let plain = word.trim_matches(',').replace(',', "");
        plain.parse().ok()
    })
}

#[test]
fn the_page_has_the_table_of_the_ranges() {
    let page = words_of(PAGE);
    for row in COVERAGE {
        assert!(page.contains(&row.markdown()), "{PAGE} lacks: {}", row.markdown());
    }
}

#[test]
fn every_control_and_discipline_has_a_fact() {
    let known: BTreeSet<&str> = FACTS.iter().map(|fact| fact.name).collect();
    for control in bbrlab_cc::Algorithm::ALL {
        assert!(known.contains(control.name()), "{} has no fact", control.name());
    }
    for profile in bbrlab_run::Profile::NAMED {
        assert!(known.contains(profile.0), "{} has no fact", profile.0);
    }
}

const PLAIN: &str = r#"
duration = "10s"
[bottleneck]
rate = "50Mbit/s"
buffer = "1bdp"
[[flows]]
cc = "bbr1"
rtt = "30ms"
"#;

#[test]
fn a_run_within_the_comparisons_is_trusted_and_says_why() {
    let lines = lines_of(PLAIN, 1);
    assert_eq!(line(&lines, "congestion control bbr1").evidence, Evidence::Exact);
    let runs = line(&lines, "whole runs of bbr1: 50 Mbit/s, 30 ms, buffer 1");
    assert_eq!(runs.evidence, Evidence::Compared);
    assert!(runs.says.starts_with("87 of the runs on Linux"), "{}", runs.says);
    assert!(lines.iter().all(|line| line.evidence != Evidence::None), "{lines:#?}");
}

#[test]
fn what_was_not_validated_is_said() {
    let far = PLAIN.replace("30ms", "600ms").replace("bbr1", "reno");
    let lines = lines_of(&far, 1);
    let runs = line(&lines, "whole runs of reno");
    assert_eq!(runs.evidence, Evidence::None);
    assert!(
        runs.says.starts_with("outside of the compared ranges: RTT of 600 ms;"),
        "{}",
        runs.says
    );

    let two = format!("{PLAIN}count = 2\n");
    let alone = lines_of(&two, 1);
    assert_eq!(line(&alone, "shares of competing flows").evidence, Evidence::None);
    let many = lines_of(&two, 5);
    assert_eq!(line(&many, "shares of competing flows").evidence, Evidence::Compared);

    let odd = PLAIN
        .replace("buffer = \"1bdp\"", "buffer = \"1bdp\"\njitter = \"2ms\"\nloss = { model = \"gilbert-elliott\", p = 0.01, r = 0.3 }")
        .replace("\"bbr1\"", "\"bbr1\"\ncc_params = { margin = 0.02 }");
    let lines = lines_of(&odd, 1);
    for part in ["path, jitter", "random loss, bursts", "parameters of bbr1"] {
        assert_eq!(line(&lines, part).evidence, Evidence::Tested, "{part}");
    }
}
