//! Tables of the parameters of the algorithms or queue disciplines that the user has named.

use std::fmt::Write as _;

use bbrlab_report::{Align, Table};
use bbrlab_run::Algorithm;
use bbrlab_scenario::queues;

use super::Chosen;

/// A parameter with its default, and the names of the algorithms or queue disciplines that have
/// this parameter with this default.
struct Parameter {
    name: &'static str,
    default: String,
    meaning: &'static str,
    of: Vec<&'static str>,
}

/// The parameters of several algorithms or queue disciplines. A parameter that several of them have
/// in common is stored once.
#[derive(Default)]
struct Parameters(Vec<Parameter>);

impl Parameters {
    fn add(
        &mut self,
        of: &'static str,
        name: &'static str,
        default: String,
        meaning: &'static str,
    ) {
        let same = |known: &&mut Parameter| {
            known.name == name && known.default == default && known.meaning == meaning
        };
        match self.0.iter_mut().find(same) {
            Some(known) => known.of.push(of),
            None => self.0.push(Parameter { name, default, meaning, of: vec![of] }),
        }
    }

    /// Returns tables of the parameters. Two parameters are in one table if both belong to exactly
    /// the same algorithms or queue disciplines. A parameter with different defaults in two
    /// algorithms counts as two parameters. A line above each table names the algorithms or
    /// disciplines of the table, unless `all`, the number of listed ones, is 1.
    fn tables(&self, all: usize) -> String {
        let mut owners: Vec<&[&str]> = Vec::new();
        for parameter in &self.0 {
            if !owners.contains(&parameter.of.as_slice()) {
                owners.push(&parameter.of);
            }
        }
        let mut text = String::new();
        for of in owners {
            text.push('\n');
            if all > 1 {
                writeln!(text, "parameters of {}", of.join(", ")).expect("writing to a string");
            }
            let mut table = Table::new()
                .column("parameter", "", Align::Left)
                .column("default", "", Align::Left)
                .column("meaning", "", Align::Left);
            for parameter in self.0.iter().filter(|parameter| parameter.of == of) {
                let (name, meaning) = (parameter.name.to_owned(), parameter.meaning.to_owned());
                table.row(vec![name, parameter.default.clone(), meaning]);
            }
            text.push_str(&table.render());
        }
        text
    }
}

pub(super) fn of_algorithms(chosen: &Chosen) -> String {
    let mut text = String::new();
    let mut parameters = Parameters::default();
    let mut count = 0;
    for algorithm in Algorithm::ALL.iter().filter(|of| chosen.has(of.name())) {
        count += 1;
        let (name, title) = (algorithm.name(), algorithm.title());
        let (summary, source) = (algorithm.summary(), algorithm.source());
        writeln!(text, "{name}: {title}\n  {summary}\n  source: {source}")
            .expect("writing to a string");
        for p in algorithm.params() {
            parameters.add(name, p.name, p.default.to_owned(), p.summary);
        }
    }
    text + &parameters.tables(count)
}

pub(super) fn of_queues(chosen: &Chosen) -> String {
    let mut text = String::new();
    let mut parameters = Parameters::default();
    let mut count = 0;
    for queue in queues().into_iter().filter(|of| chosen.has(of.name)) {
        count += 1;
        writeln!(text, "{}: {}", queue.name, queue.summary).expect("writing to a string");
        if let Some(limit) = queue.limit {
            parameters.add(
                queue.name,
                "limit",
                format!("{limit}pkt"),
                "largest number of packets in the queue",
            );
        }
        for (name, default, meaning) in queue.parameters {
            parameters.add(queue.name, name, default.unwrap_or_else(|| "none".to_owned()), meaning);
        }
    }
    text + &parameters.tables(count)
}
