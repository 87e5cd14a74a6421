//! `bbrlab compare --on --random`: random scenarios on the simulator and on a real kernel, and the
//! smallest forms of those that differ.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_lab::{Backend, LabError, Named, read_results};
use bbrlab_linux::{
    BoundedDifference, BoundedMetric, RandomScenario, bounded_differences, outlier,
};
use bbrlab_report::{Align, Table};
use bbrlab_scenario::Scenario;
use serde_json::{Value, json};

use crate::args::CompareArgs;
use crate::output::{Output, Stopped, Verdict};
use crate::run_on::run_on;
use crate::validate_linux::figure;

/// Seeds of a random scenario on the simulator and on another back end, unless `--seeds` is given.
/// A run on a kernel takes ten times as long.
const SIMULATOR_SEEDS: u64 = 10;
const OTHER_SEEDS: u64 = 3;

/// Seconds of a random scenario.
const RANDOM_S: u64 = 10;

/// A scenario that both back ends have run.
struct Compared {
    scenario: RandomScenario,
    file: PathBuf,
    differences: Vec<BoundedDifference>,
}

impl Compared {
    fn outlier(&self) -> Option<&BoundedDifference> {
        outlier(&self.differences)
    }

    fn excess(&self) -> f64 {
        self.outlier().map_or(0.0, |outlier| outlier.excess)
    }
}

/// Where and with what random scenarios are run.
struct Worlds<'a> {
    args: &'a CompareArgs,
    both: [&'static dyn Backend; 2],
    folder: PathBuf,
}

/// Draws scenarios, compares them, and makes those that differ smaller.
pub(crate) fn random(
    args: &CompareArgs,
    count: u64,
    both: [&'static dyn Backend; 2],
    output: &mut Output,
) -> Verdict {
    let seed = args.seed.unwrap_or(1);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("bbrlab-runs"));
    let folder = folder.join(format!("random-{seed}"));
    fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
    let worlds = Worlds { args, both, folder };
    let (mut compared, mut stopped) = (Vec::new(), None);
    for number in 0..count {
        let drawn = RandomScenario::draw(seed, number, RANDOM_S);
        match worlds.compare(drawn, output) {
            Ok(one) => compared.push(one),
            Err(reason) => {
                stopped = Some(reason);
                break;
            }
        }
    }
    let mut shrunk = Vec::new();
    for one in compared.iter().filter(|one| one.outlier().is_some()) {
        let smallest = match stopped {
            None => worlds.shrink(one, output),
            Some(_) => Ok(None),
        };
        shrunk.push((one, smallest.unwrap_or_else(|reason| stopped.replace(reason).and(None))));
    }
    shrunk.sort_by(|(a, _), (b, _)| b.excess().total_cmp(&a.excess()));
    if args.json {
        output.json(&document(seed, both, &compared, &shrunk))?;
    } else {
        output.text(&describe(seed, both, &compared, &shrunk))?;
    }
    stopped.map_or(Ok(()), Err)
}

impl Worlds<'_> {
    /// Writes a scenario's file, runs it on both back ends and compares them.
    fn compare(&self, drawn: RandomScenario, output: &mut Output) -> Result<Compared, Stopped> {
        let file = self.folder.join(format!("{}.toml", drawn.name()));
        let differences = self.differences(&drawn, output)?;
        fs::write(&file, drawn.text()).map_err(|error| cannot_write(&file, &error))?;
        Ok(Compared { scenario: drawn, file, differences })
    }

    fn differences(
        &self,
        drawn: &RandomScenario,
        output: &mut Output,
    ) -> Result<Vec<BoundedDifference>, Stopped> {
        let mut runs = Vec::new();
        for on in self.both {
            let is_simulator = on.name() == bbrlab_run::SIMULATOR;
            let seeds = if is_simulator { SIMULATOR_SEEDS } else { OTHER_SEEDS };
            let sets = [format!("repeat={}", self.args.seeds.unwrap_or(seeds))];
            let scenario = Scenario::parse(drawn.name(), drawn.name(), &drawn.text(), None, &sets)
                .map_err(LabError::Scenario)?;
            let named = Named { scenario, folder: None };
            let own = run_on(self.args, &named, on, Some(&self.folder), output)?.folder;
            runs.push(read_results(&own)?.runs);
        }
        Ok(bounded_differences(&runs[0], &runs[1]))
    }

    /// Leaves out parts of a scenario as long as it still differs; `None` if no part can be left
    /// out.
    fn shrink(&self, whole: &Compared, output: &mut Output) -> Result<Option<Compared>, Stopped> {
        let mut smallest: Option<(RandomScenario, Vec<BoundedDifference>)> = None;
        'smaller: loop {
            let from = smallest.as_ref().map_or(&whole.scenario, |(scenario, _)| scenario);
            for smaller in from.smaller() {
                let differences = self.differences(&smaller, output)?;
                if outlier(&differences).is_some() {
                    smallest = Some((smaller, differences));
                    continue 'smaller;
                }
            }
            break;
        }
        let Some((scenario, differences)) = smallest else { return Ok(None) };
        let file = self.folder.join(format!("{}-smallest.toml", scenario.name()));
        fs::write(&file, scenario.text()).map_err(|error| cannot_write(&file, &error))?;
        Ok(Some(Compared { scenario, file, differences }))
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> LabError {
    LabError::Failed(format!("cannot write {}: {}", path.display(), bbrlab_lab::plain(error)))
}

/// An outlier and its smallest form that still differs, if that is smaller.
type Shrunk<'a> = (&'a Compared, Option<Compared>);

/// Returns for each metric how many scenarios have it, and in how many of these it is within its
/// bound or explained by the seeds.
fn within(compared: &[Compared]) -> Vec<(BoundedMetric, usize, usize)> {
    BoundedMetric::ALL
        .into_iter()
        .map(|metric| {
            let all = compared.iter().flat_map(|one| &one.differences);
            let of_metric: Vec<_> = all.filter(|one| one.metric == metric).collect();
            let good = of_metric.iter().filter(|one| one.excess <= 1.0).count();
            (metric, of_metric.len(), good)
        })
        .collect()
}

fn describe(
    seed: u64,
    both: [&dyn Backend; 2],
    compared: &[Compared],
    shrunk: &[Shrunk<'_>],
) -> String {
    let mut text = String::new();
    let mut table = Table::new()
        .column("scenario", "", Align::Left)
        .column("metric", "", Align::Left)
        .column(both[0].name(), "", Align::Right)
        .column(both[1].name(), "", Align::Right)
        .column("bounds", "", Align::Right)
        .column("smallest that differs", "", Align::Left);
    for (one, smallest) in shrunk {
        let Some(outlier) = one.outlier() else { continue };
        let file = smallest.as_ref().map_or(&one.file, |smallest| &smallest.file);
        table.row(vec![
            one.scenario.name().to_owned(),
            outlier.metric.name().to_owned(),
            figure(outlier.ours),
            figure(outlier.kernel),
            format!("{:.1}", outlier.excess),
            file.display().to_string(),
        ]);
    }
    if !shrunk.is_empty() {
        text += &format!("{}\n", table.render());
    }
    let mut table = Table::new()
        .column("metric", "", Align::Left)
        .column("bound", "", Align::Left)
        .column("within", "", Align::Right)
        .column("of", "", Align::Right)
        .column("share", "%", Align::Right);
    for (metric, all, good) in within(compared) {
        #[expect(clippy::cast_precision_loss, reason = "a count of scenarios")]
        let share = 100.0 * good as f64 / all.max(1) as f64;
        table.row(vec![
            metric.name().to_owned(),
            metric.bound().to_owned(),
            good.to_string(),
            all.to_string(),
            format!("{share:.1}"),
        ]);
    }
    text += &format!("{}\n", table.render());
    let (all, agree) = (compared.len(), compared.len() - shrunk.len());
    let version = both.map(Backend::version).join(" and ");
    let names = both.map(Backend::name).join(" and ");
    text + &format!("{agree} of {all} random scenarios of seed {seed} agree: {names}, {version}\n")
}

fn document(
    seed: u64,
    both: [&dyn Backend; 2],
    compared: &[Compared],
    shrunk: &[Shrunk<'_>],
) -> Value {
    let of_differences = |differences: &[BoundedDifference]| -> Vec<Value> {
        let all = differences.iter().map(|it| {
            json!({
                "metric": it.metric.name(),
                both[0].name(): it.ours,
                both[1].name(): it.kernel,
                "excess": it.excess,
            })
        });
        all.collect()
    };
    let outliers = shrunk.iter().map(|(one, smallest)| {
        let of = smallest.as_ref().unwrap_or(one);
        json!({
            "scenario": one.scenario.name(),
            "differences": of_differences(&one.differences),
            "smallest": {
                "file": of.file,
                "text": of.scenario.text(),
                "differences": of_differences(&of.differences),
            },
        })
    });
    let metrics = within(compared).into_iter().map(|(metric, all, good)| {
        json!({ "metric": metric.name(), "bound": metric.bound(), "scenarios": all, "within": good })
    });
    json!({
        "on": both.map(Backend::name),
        "versions": both.map(Backend::version),
        "seed": seed,
        "scenarios": compared.len(),
        "agree": compared.len() - shrunk.len(),
        "metrics": metrics.collect::<Vec<_>>(),
        "outliers": outliers.collect::<Vec<_>>(),
    })
}
