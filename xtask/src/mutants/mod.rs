//! `cargo xtask mutants --sample N --seed S`: measures how many of N random changes of the code the
//! tests detect.
//!
//! cargo-mutants lists every change (mutant) that it can make to the product code, and a seed
//! selects a sample of them. Each change is made in a copy of the project under `target/mutants/`.
//! In the copy, tests run until one fails: first the tests of the changed crate, then the tests of
//! the crates that import it. If no test detects a change, the change is printed with its place. A
//! developer writes a test for an undetected change, or a sentence that explains why no test can
//! detect it.
//!
//! `cargo xtask mutants` is not part of the gate, because sixty mutants take an hour or two.
//! `--shard 1/3` takes every third mutant of the sample.

mod crates_above;
mod draw;
mod list;
mod run;
mod tree;

use std::path::Path;
use std::time::Instant;

use self::crates_above::CratesAbove;
use self::list::Mutant;
use self::run::{Limits, Outcome};
use self::tree::Tree;
use crate::crate_map;

const USAGE: &str =
    "usage: cargo xtask mutants --sample N --seed S [--shard K/N] [--in PATH] [--skip CRATE] [--list]
  --sample N   number of mutants
  --seed S     seed of the sample: the same seed draws the same mutants from the same code
  --shard K/N  only every Nth mutant of the sample, beginning with the Kth (from 1)
  --in PATH    only in files whose path begins with PATH, such as crates/bbrlab-tcp/src/sender
  --skip CRATE do not run the tests of this crate: faster, but more mutants survive; may be repeated
  --list       only print the names of the mutants";

/// The options on the command line.
#[derive(Debug, PartialEq)]
struct Options {
    sample: usize,
    seed: u64,
    shard: (usize, usize),
    under: String,
    skip: Vec<String>,
    only_list: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let (mut sample, mut seed) = (None, None);
        let (mut shard, mut skip, mut only_list) = ((1, 1), Vec::new(), false);
        let mut under = String::new();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            if word == "--list" {
                only_list = true;
                continue;
            }
            let value = words.next().map(String::as_str);
            let known = match (word.as_str(), value) {
                ("--sample", Some(n)) => n.parse().map(|n| sample = Some(n)).is_ok(),
                ("--seed", Some(n)) => n.parse().map(|n| seed = Some(n)).is_ok(),
                ("--in", Some(path)) => {
                    path.clone_into(&mut under);
                    true
                }
                ("--skip", Some(package)) => {
                    skip.push(package.to_owned());
                    true
                }
                ("--shard", Some(text)) => {
                    let parts = text.split_once('/');
                    let parts = parts.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                    shard = parts.unwrap_or((0, 0));
                    (1..=shard.1).contains(&shard.0)
                }
                _ => false,
            };
            if !known {
                return Err(USAGE.to_owned());
            }
        }
        match (sample, seed) {
            (Some(sample), Some(seed)) => Ok(Self { sample, seed, shard, under, skip, only_list }),
            _ => Err(USAGE.to_owned()),
        }
    }
}

/// Draws a sample of mutants, runs the tests for each, and counts the outcomes.
#[expect(clippy::disallowed_methods, reason = "reports how long a mutant took")]
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    list::install()?;
    let product = crate_map::crates();
    let mut all = list::of_packages(root, &product)?;
    all.retain(|mutant| mutant.name.starts_with(&options.under));
    let total = all.len();
    let sample = draw::sample(all, options.sample, options.seed);
    let (first, step) = (options.shard.0 - 1, options.shard.1);
    let mine: Vec<&Mutant> = sample.iter().skip(first).step_by(step).collect();
    println!("{} of {total} mutants, seed {}: {} here", sample.len(), options.seed, mine.len());
    if options.only_list {
        for mutant in mine {
            println!("{}", mutant.name);
        }
        return Ok(());
    }
    let tree = Tree::copy(root)?;
    let above = CratesAbove::read(root, &options.skip)?;
    let mut limits = Limits::default();
    let mut outcomes = Vec::new();
    for (number, &mutant) in (1..).zip(&mine) {
        eprintln!("== {}", mutant.name);
        let start = Instant::now();
        let outcome = try_one(&tree, mutant, &above, &mut limits)?;
        let seconds = start.elapsed().as_secs();
        println!("[{number}/{}] {outcome} ({seconds} s): {}", mine.len(), mutant.name);
        outcomes.push(outcome);
    }
    report(&mine, &outcomes);
    Ok(())
}

fn try_one(
    tree: &Tree,
    mutant: &Mutant,
    above: &CratesAbove,
    limits: &mut Limits,
) -> Result<Outcome, String> {
    let packages = above.of(&mutant.package);
    for (number, package) in packages.iter().enumerate() {
        // Before a crate's tests run on a mutant for the first time, run them on the unchanged code
        // to measure the crate's time limit.
        limits.measure(tree, package)?;
        let changed = tree.change(mutant)?;
        if number == 0 && !run::builds(tree, package)? {
            return Ok(Outcome::Unviable);
        }
        let outcome = run::tests(tree, package, limits.of(package))?;
        drop(changed);
        if outcome != Outcome::Missed {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Missed)
}

fn report(mutants: &[&Mutant], outcomes: &[Outcome]) {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|one| wanted(one)).count();
    let caught = count(|one| matches!(one, Outcome::Caught(_)));
    let timeouts = count(|one| matches!(one, Outcome::Timeout(_)));
    let missed = count(|one| matches!(one, Outcome::Missed));
    let unviable = count(|one| matches!(one, Outcome::Unviable));
    println!("{caught} caught, {missed} missed, {timeouts} timed out, {unviable} unviable");
    let viable = caught + timeouts + missed;
    if let Some(per_mille) = ((caught + timeouts) * 1000).checked_div(viable) {
        println!("detected: {}.{} % of {viable} viable mutants", per_mille / 10, per_mille % 10);
    }
    for (mutant, outcome) in mutants.iter().zip(outcomes) {
        if *outcome == Outcome::Missed {
            println!("\nmissed: {}\n{}", mutant.name, mutant.change());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> Option<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).ok()
    }

    #[test]
    fn what_the_command_line_asks_for() {
        let plain = Options {
            sample: 60,
            seed: 7,
            shard: (1, 1),
            under: String::new(),
            skip: Vec::new(),
            only_list: false,
        };
        assert_eq!(parse("--sample 60 --seed 7"), Some(plain));
        let skip = vec!["a".to_owned(), "b".to_owned()];
        let under = "crates/a".to_owned();
        let third = Options { sample: 5, seed: 1, shard: (3, 3), under, skip, only_list: true };
        let line = "--list --in crates/a --shard 3/3 --skip a --seed 1 --sample 5 --skip b";
        assert_eq!(parse(line), Some(third));
        for wrong in ["", "--sample 5", "--sample x --seed 1", "--sample 1 --seed 1 --shard 4/3"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
