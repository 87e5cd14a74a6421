//! `bbrlab list`: algorithms, queue disciplines, scenarios, papers and metrics.
//!
//! Without arguments, `list` prints all names on one screen. With the argument `algorithms`,
//! `queues`, `scenarios`, `papers` or `metrics`, it prints a line per name. With names of
//! algorithms or queue disciplines as further arguments, it prints their parameters.

mod details;
mod entries;
mod overview;

use bbrlab_lab::LabError;
use bbrlab_report::{Align, Table};
use bbrlab_run::Algorithm;
use bbrlab_scenario::{BUILTINS, Scenario, nearest, nearest_dotted, queues};
use serde_json::{Map, Value};

use crate::args::{ListArgs, What};
use crate::output::{Output, Verdict};
use entries::{MetricEntry, document, metric_entries};

const ALL: [What; 5] =
    [What::Algorithms, What::Queues, What::Scenarios, What::Papers, What::Metrics];

pub(crate) fn list(args: &ListArgs, output: &mut Output) -> Verdict {
    let Some(what) = args.what else {
        if !args.json {
            return output.text(&overview::overview());
        }
        let of = |what: What| (heading(what).to_lowercase(), document(what, &Chosen::all()));
        return output.json(&ALL.into_iter().map(of).collect::<Map<String, Value>>());
    };
    let chosen = Chosen::of(what, &args.names)?;
    if args.json {
        output.json(&document(what, &chosen))
    } else {
        output.text(&words(what, &chosen))
    }
}

/// The names in a list, such as names of algorithms, that the user has chosen.
struct Chosen {
    /// The chosen names; empty if the user chose all.
    names: Vec<String>,
}

impl Chosen {
    fn all() -> Self {
        Self { names: Vec::new() }
    }

    /// Returns the chosen names, or an error for an unknown name. A name such as `examples` chooses
    /// all entries whose names begin with `examples.`.
    fn of(what: What, names: &[String]) -> Result<Self, LabError> {
        let known = names_of(what);
        for name in names {
            let chosen = Self { names: vec![name.clone()] };
            if known.iter().any(|known| chosen.has(known)) {
                continue;
            }
            let (one, all) = (singular(what), heading(what).to_lowercase());
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let folders = names.iter().filter_map(|name| Some(name.split_once('.')?.0));
            // A misspelt name without a dot may stand for a whole name, or for the part of several
            // names in front of the dot, such as `examples`.
            let folder = nearest(name, folders);
            let meant = if name.contains('.') {
                nearest_dotted(name, &names).or(folder)
            } else {
                folder.or_else(|| nearest_dotted(name, &names))
            };
            let meant = meant.map_or_else(String::new, |it| format!(" (did you mean `{it}`?)"));
            return Err(LabError::Usage(format!(
                "`{name}`: no such {one}{meant}; `bbrlab list {all}` lists all"
            )));
        }
        Ok(Self { names: names.to_vec() })
    }

    fn is_all(&self) -> bool {
        self.names.is_empty()
    }

    fn has(&self, name: &str) -> bool {
        let is_part = |chosen: &String| {
            name.strip_prefix(chosen.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.is_all() || self.names.iter().any(is_part)
    }
}

/// Returns the lists, such as `algorithms`, that contain this name or a name that begins with it
/// and a dot. The lists are written as on the command line.
pub(crate) fn kinds_with(name: &str) -> Vec<String> {
    let chosen = Chosen { names: vec![name.to_owned()] };
    let has = |what: &What| names_of(*what).iter().any(|known| chosen.has(known));
    ALL.into_iter().filter(has).map(|what| heading(what).to_lowercase()).collect()
}

fn heading(what: What) -> &'static str {
    match what {
        What::Algorithms => "Algorithms",
        What::Queues => "Queues",
        What::Scenarios => "Scenarios",
        What::Papers => "Papers",
        What::Metrics => "Metrics",
    }
}

fn singular(what: What) -> &'static str {
    match what {
        What::Algorithms => "algorithm",
        What::Queues => "queue discipline",
        What::Scenarios => "scenario",
        What::Papers => "paper or experiment",
        What::Metrics => "metric",
    }
}

fn names_of(what: What) -> Vec<String> {
    match what {
        What::Algorithms => Algorithm::ALL.iter().map(|of| of.name().to_owned()).collect(),
        What::Queues => queues().into_iter().map(|of| of.name.to_owned()).collect(),
        What::Scenarios => BUILTINS.iter().map(|of| of.id.to_owned()).collect(),
        What::Papers => {
            let of = |paper: &'static bbrlab_papers::Paper| {
                let experiments = paper.experiments.iter().map(|of| of.id.clone());
                std::iter::once(paper.key.clone()).chain(experiments)
            };
            bbrlab_papers::papers().iter().flat_map(of).collect()
        }
        What::Metrics => metric_entries().into_iter().map(|of| of.name).collect(),
    }
}

fn words(what: What, chosen: &Chosen) -> String {
    match what {
        What::Algorithms if chosen.is_all() => algorithms(),
        What::Algorithms => details::of_algorithms(chosen),
        What::Queues if chosen.is_all() => queue_disciplines(),
        What::Queues => details::of_queues(chosen),
        What::Scenarios => scenarios(chosen),
        What::Papers => papers(chosen),
        What::Metrics => metrics(chosen),
    }
}

fn algorithms() -> String {
    let mut table = Table::new()
        .column("name", "", Align::Left)
        .column("published as", "", Align::Left)
        .column("what it does", "", Align::Left);
    for algorithm in Algorithm::ALL {
        let (name, title) = (algorithm.name().to_owned(), algorithm.title().to_owned());
        table.row(vec![name, title, algorithm.summary().to_owned()]);
    }
    table.render()
        + "\n`bbrlab list algorithms bbr3` shows the source and parameters of an algorithm.\n"
}

fn queue_disciplines() -> String {
    let mut table =
        Table::new().column("name", "", Align::Left).column("what it does", "", Align::Left);
    for queue in queues() {
        table.row(vec![queue.name.to_owned(), queue.summary.to_owned()]);
    }
    table.render() + "\n`bbrlab list queues fq_codel` shows the parameters of a queue discipline.\n"
}

fn scenarios(chosen: &Chosen) -> String {
    let mut table = Table::new().column("id", "", Align::Left).column("title", "", Align::Left);
    for builtin in BUILTINS.iter().filter(|of| chosen.has(of.id)) {
        table.row(vec![builtin.id.to_owned(), title(builtin.id)]);
    }
    table.render()
}

fn title(id: &str) -> String {
    Scenario::builtin(id, &[]).map(|scenario| scenario.title().to_owned()).unwrap_or_default()
}

fn papers(chosen: &Chosen) -> String {
    let mut table =
        Table::new().column("experiment", "", Align::Left).column("title", "", Align::Left);
    for paper in bbrlab_papers::papers() {
        let experiments: Vec<_> =
            paper.experiments.iter().filter(|of| chosen.has(&of.id)).collect();
        if experiments.is_empty() && !chosen.has(&paper.key) {
            continue;
        }
        table.row(vec![paper.key.clone(), format!("{} ({})", paper.title, paper.year)]);
        for experiment in experiments {
            table.row(vec![format!("  {}", experiment.id), experiment.title.clone()]);
        }
    }
    let ends = [".as-run", ".as-described"];
    let ids = bbrlab_papers::papers().iter().flat_map(|paper| &paper.experiments).map(|of| &of.id);
    let (variants, experiments): (Vec<_>, Vec<_>) =
        ids.filter(|id| chosen.has(id)).partition(|id| ends.iter().any(|end| id.ends_with(end)));
    let mut out = table.render();
    let (all, variants) = (experiments.len(), variants.len());
    if chosen.is_all() {
        out.push_str(&format!(
            "\n{all} experiments. {variants} of them are listed a second time, with other settings \
             ({}).\n",
            ends.map(|end| format!("`{end}`")).join(", ")
        ));
    }
    out
}

fn metrics(chosen: &Chosen) -> String {
    let mut table = Table::new()
        .column("name", "", Align::Left)
        .column("unit", "", Align::Left)
        .column("definition", "", Align::Left);
    for MetricEntry { name, unit, definition } in metric_entries() {
        if chosen.has(&name) {
            table.row(vec![name, unit.to_owned(), definition]);
        }
    }
    table.render()
}
