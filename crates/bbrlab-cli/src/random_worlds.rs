//! `bbrlab compare --on --random`: runs random scenarios on two back ends, such as the simulator
//! and a real kernel. If the results of a scenario differ between the back ends, removes parts of
//! this scenario as long as its results still differ.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_cost::Estimate;
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

/// The numbers of seeds with which the simulator and another back end run a random scenario, unless
/// `--seeds` is given. The other back end has fewer seeds, because a run on a kernel takes ten
/// times as long as on the simulator.
const SIMULATOR_SEEDS: u64 = 10;
const OTHER_SEEDS: u64 = 3;

/// The duration of a random scenario in seconds.
const RANDOM_S: u64 = 10;

/// The command ends after this number of consecutive scenarios that cannot be run. The reason is
/// then probably not in the scenarios: the disk may be full, for example.
const FAILURES_MAX: usize = 3;

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

    fn verdict(&self, both: [&dyn Backend; 2]) -> String {
        let Some(worst) = self.outlier() else { return "agrees".to_owned() };
        let [one, other] = both.map(Backend::name);
        format!(
            "differs in {}: {one} {}, {other} {}",
            worst.metric.name(),
            figure(worst.ours),
            figure(worst.kernel)
        )
    }
}

/// A scenario that a back end could not run.
struct Failed {
    name: String,
    file: PathBuf,
    reason: String,
}

impl Failed {
    fn text(&self) -> String {
        format!("{} was not compared: {}; see {}", self.name, self.reason, self.file.display())
    }
}

/// The scenarios that both back ends have run, and those that a back end could not run.
#[derive(Default)]
struct All {
    compared: Vec<Compared>,
    failed: Vec<Failed>,
    /// The reason why the command ends before it has tried all scenarios; `None` if it has tried
    /// all.
    stopped: Option<Stopped>,
}

impl All {
    /// Returns the number of compared scenarios in which the difference of every metric is within
    /// the metric's bound or can come from the random differences between seeds.
    fn agree(&self) -> usize {
        self.compared.iter().filter(|one| one.outlier().is_none()).count()
    }
}

/// The options of the command, the two back ends, and the folder for the scenarios' files and
/// results.
struct Worlds<'a> {
    args: &'a CompareArgs,
    both: [&'static dyn Backend; 2],
    folder: PathBuf,
}

/// Draws scenarios, runs each on both back ends, and shrinks the scenarios whose results differ.
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
    let drawn: Vec<_> =
        (0..count).map(|number| RandomScenario::draw(seed, number, RANDOM_S)).collect();
    let mut all = worlds.compare_all(&drawn, output)?;
    let mut stopped = all.stopped.take();
    let mut shrunk = Vec::new();
    for one in all.compared.iter().filter(|one| one.outlier().is_some()) {
        let mut smallest = None;
        if stopped.is_none() {
            (smallest, stopped) = worlds.shrink(one, output);
        }
        shrunk.push((one, smallest));
    }
    shrunk.sort_by(|(a, _), (b, _)| b.excess().total_cmp(&a.excess()));
    if args.json {
        output.json(&document(seed, both, &all, &shrunk))?;
    } else {
        output.text(&describe(seed, both, &all, &shrunk))?;
    }
    match stopped {
        Some(reason) => Err(reason),
        None if all.failed.is_empty() => Ok(()),
        None => Err(Stopped::Status(1)),
    }
}

impl Worlds<'_> {
    /// Compares all scenarios in turn. For a scenario that cannot be run, prints a note and
    /// continues with the next one, but ends after [`FAILURES_MAX`] such scenarios in a row.
    fn compare_all(&self, drawn: &[RandomScenario], output: &mut Output) -> Result<All, Stopped> {
        self.note(&self.cost(drawn)?, output);
        let (mut all, mut in_a_row) = (All::default(), 0);
        for (number, scenario) in drawn.iter().enumerate() {
            let place = format!("{} of {}: {}", number + 1, drawn.len(), scenario.name());
            match self.compare(scenario.clone(), output) {
                Ok(one) => {
                    self.note(&format!("{place} {}", one.verdict(self.both)), output);
                    all.compared.push(one);
                    in_a_row = 0;
                }
                Err(Stopped::Lab(error)) if !matches!(error, LabError::Interrupted(_)) => {
                    let name = scenario.name().to_owned();
                    let reason = first_line(&name, &error.to_string());
                    let failed = Failed { name, file: self.file(scenario), reason };
                    let of = format!("{} of {}: ", number + 1, drawn.len());
                    self.note(&(of + &failed.text()), output);
                    all.failed.push(failed);
                    in_a_row += 1;
                    if in_a_row >= FAILURES_MAX {
                        all.stopped = Some(error.into());
                        break;
                    }
                }
                Err(reason) => {
                    all.stopped = Some(reason);
                    break;
                }
            }
        }
        Ok(all)
    }

    fn note(&self, text: &str, output: &mut Output) {
        if !self.args.quiet {
            output.note(text);
        }
    }

    /// Returns a text with the time that all runs are expected to take.
    fn cost(&self, drawn: &[RandomScenario]) -> Result<String, Stopped> {
        let mut parts = Vec::new();
        for on in self.both {
            let mut cost = Cost::default();
            for scenario in drawn {
                let estimate = Estimate::of_scenario(&self.parsed(scenario, on)?);
                cost.add(on.cpu_s(&estimate)?, on.real_s(&estimate));
            }
            parts.push(cost.text(on.name()));
        }
        let (count, parts) = (drawn.len(), parts.join(", "));
        Ok(format!("{count} random scenarios: {parts}; less for complete runs; outliers take more"))
    }

    /// Parses a drawn scenario. The back end determines the number of seeds, unless `--seeds` is
    /// given.
    fn parsed(&self, drawn: &RandomScenario, on: &dyn Backend) -> Result<Scenario, Stopped> {
        let is_simulator = on.name() == bbrlab_run::SIMULATOR;
        let seeds = if is_simulator { SIMULATOR_SEEDS } else { OTHER_SEEDS };
        let sets = [format!("repeat={}", self.args.seeds.unwrap_or(seeds))];
        let parsed = Scenario::parse(drawn.name(), drawn.name(), &drawn.text(), None, &sets);
        Ok(parsed.map_err(LabError::Scenario)?)
    }

    /// Returns the path of a drawn scenario's file.
    fn file(&self, drawn: &RandomScenario) -> PathBuf {
        self.folder.join(format!("{}.toml", drawn.name()))
    }

    /// Writes a scenario to a file, runs the scenario on both back ends, and compares the results.
    /// The file is written first, so that a scenario that cannot be run has a file too.
    fn compare(&self, drawn: RandomScenario, output: &mut Output) -> Result<Compared, Stopped> {
        let file = self.file(&drawn);
        fs::write(&file, drawn.text()).map_err(|error| cannot_write(&file, &error))?;
        let differences = self.differences(&drawn, output)?;
        Ok(Compared { scenario: drawn, file, differences })
    }

    fn differences(
        &self,
        drawn: &RandomScenario,
        output: &mut Output,
    ) -> Result<Vec<BoundedDifference>, Stopped> {
        let mut runs = Vec::new();
        for on in self.both {
            let named = Named { scenario: self.parsed(drawn, on)?, folder: None };
            let own = run_on(self.args, &named, on, Some(&self.folder), true, output)?.folder;
            runs.push(read_results(&own)?.runs);
        }
        Ok(bounded_differences(&runs[0], &runs[1]))
    }

    /// Removes parts of a scenario as long as its results on the two back ends still differ, and
    /// writes the smallest scenario to a file. Returns this scenario, and the error that ended the
    /// search early. The scenario is `None` if no part can be removed or the file cannot be
    /// written. The error is `None` if the search was not ended early.
    fn shrink(&self, whole: &Compared, output: &mut Output) -> (Option<Compared>, Option<Stopped>) {
        let search = Search::of(&whole.scenario, |smaller| self.differences(smaller, output));
        let Search { smallest, tried, removed, stopped } = search;
        let name = whole.scenario.name();
        let text = format!("{name}: {tried} smaller scenarios tried, {removed} parts removed");
        self.note(&text, output);
        let Some((scenario, differences)) = smallest else { return (None, stopped) };
        let file = self.folder.join(format!("{}-smallest.toml", scenario.name()));
        match fs::write(&file, scenario.text()) {
            Ok(()) => (Some(Compared { scenario, file, differences }), stopped),
            Err(error) => (None, stopped.or(Some(cannot_write(&file, &error).into()))),
        }
    }
}

/// A search for the smallest form of a scenario whose results still differ between the two back
/// ends.
struct Search {
    /// The smallest scenario found so far; `None` if no part has been removed.
    smallest: Option<(RandomScenario, Vec<BoundedDifference>)>,
    tried: u32,
    removed: u32,
    /// The reason why the search ended before all smaller scenarios were tried; `None` if all were
    /// tried.
    stopped: Option<Stopped>,
}

impl Search {
    fn of(
        whole: &RandomScenario,
        mut differences: impl FnMut(&RandomScenario) -> Result<Vec<BoundedDifference>, Stopped>,
    ) -> Self {
        let mut search = Self { smallest: None, tried: 0, removed: 0, stopped: None };
        'smaller: loop {
            let from = search.smallest.as_ref().map_or(whole, |(scenario, _)| scenario);
            for smaller in from.smaller() {
                search.tried += 1;
                match differences(&smaller) {
                    Ok(found) if outlier(&found).is_some() => {
                        search.smallest = Some((smaller, found));
                        search.removed += 1;
                        continue 'smaller;
                    }
                    Ok(_) => {}
                    // A smaller scenario that cannot be run counts as a scenario without a
                    // difference.
                    Err(Stopped::Lab(error)) if !matches!(error, LabError::Interrupted(_)) => {}
                    Err(reason) => {
                        search.stopped = Some(reason);
                        return search;
                    }
                }
            }
            return search;
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> LabError {
    LabError::Failed(format!("cannot write {}: {}", path.display(), bbrlab_lab::plain(error)))
}

/// A scenario whose results differ between the back ends, and the smallest form of this scenario
/// whose results still differ. The smallest form is `None` if no part can be removed.
type Shrunk<'a> = (&'a Compared, Option<Compared>);

/// Returns for each metric the number of scenarios that have the metric, and the number of these
/// scenarios in which the back ends agree. The back ends agree if the difference is within the
/// metric's bound or can come from the random differences between seeds.
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

fn describe(seed: u64, both: [&dyn Backend; 2], all: &All, shrunk: &[Shrunk<'_>]) -> String {
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
    for (metric, all, good) in within(&all.compared) {
        table.row(vec![
            metric.name().to_owned(),
            metric.bound().to_owned(),
            good.to_string(),
            all.to_string(),
            percentage(good, all),
        ]);
    }
    text += &format!("{}\n", table.render());
    for failed in &all.failed {
        text += &format!("{}\n", failed.text());
    }
    let (count, agree) = (all.compared.len(), all.agree());
    let share = percentage(agree, count);
    let worlds = both.map(|on| format!("{} {}", on.name(), on.version())).join(" and ");
    text + &format!(
        "{agree} of {count} random scenarios of seed {seed} agree ({share} %): {worlds}\n"
    )
}

/// Returns `good` as a share of `all`, in percent; a dash if `all` is 0.
#[expect(clippy::cast_precision_loss, reason = "a count of scenarios is far below 2^52")]
fn percentage(good: usize, all: usize) -> String {
    if all == 0 {
        return "–".to_owned();
    }
    format!("{:.1}", 100.0 * good as f64 / all as f64)
}

/// Returns the first line of an error, without the scenario's name at the start of the line.
fn first_line(name: &str, error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    line.strip_prefix(&format!("{name}: ")).unwrap_or(line).to_owned()
}

/// The time that the runs of all scenarios on a back end are expected to take.
#[derive(Default)]
struct Cost {
    cpu_s: f64,
    /// Seconds of real time; `None` if the back end does not compute in real time.
    real_s: Option<f64>,
}

impl Cost {
    fn add(&mut self, cpu_s: f64, real_s: Option<f64>) {
        self.cpu_s += cpu_s;
        if let Some(real_s) = real_s {
            *self.real_s.get_or_insert(0.0) += real_s;
        }
    }

    fn text(&self, name: &str) -> String {
        let cpu = seconds(self.cpu_s);
        match self.real_s {
            None => format!("{name} {cpu} of CPU time"),
            Some(real_s) => {
                format!("{name} {} of real time with {cpu} of CPU time", seconds(real_s))
            }
        }
    }
}

/// Returns an estimated time as text, in whole seconds, and from 100 s on rounded to two
/// significant digits.
fn seconds(value: f64) -> String {
    if value < 1.0 {
        return "less than 1 s".to_owned();
    }
    let step = 10_f64.powf((value.log10() - 1.0).floor().max(0.0));
    format!("about {:.0} s", (value / step).round() * step)
}

fn document(seed: u64, both: [&dyn Backend; 2], all: &All, shrunk: &[Shrunk<'_>]) -> Value {
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
    let failed = all
        .failed
        .iter()
        .map(|one| json!({ "scenario": one.name, "file": one.file, "reason": one.reason }));
    let metrics = within(&all.compared).into_iter().map(|(metric, all, good)| {
        json!({ "metric": metric.name(), "bound": metric.bound(), "scenarios": all, "within": good })
    });
    json!({
        "on": both.map(Backend::name),
        "versions": both.map(Backend::version),
        "seed": seed,
        "scenarios": all.compared.len(),
        "agree": all.agree(),
        "failed": failed.collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
        "outliers": outliers.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use bbrlab_lab::{BACKENDS, LabError};
    use bbrlab_linux::{BoundedDifference, BoundedMetric, RandomScenario};

    use super::{All, Compared, Cost, Failed, Search, describe, document, first_line, seconds};
    use crate::output::Stopped;

    fn compared(number: u64, excess: f64) -> Compared {
        let metric = BoundedMetric::Losses;
        Compared {
            scenario: RandomScenario::draw(7, number, 10),
            file: PathBuf::from("r"),
            differences: vec![BoundedDifference { metric, ours: 208.3, kernel: 135.0, excess }],
        }
    }

    #[test]
    fn the_share_that_agrees_and_what_was_not_compared_are_told() {
        let of = |name| BACKENDS.iter().copied().find(|on| on.name() == name).unwrap();
        let both = [of("sim"), of("linux")];
        let (name, reason) = ("random-7-3".to_owned(), "no space".to_owned());
        let failed = vec![Failed { name, file: PathBuf::from("r/random-7-3.toml"), reason }];
        let compared = vec![compared(0, 0.2), compared(1, 2.4), compared(2, 0.9)];
        let all = All { compared, failed, stopped: None };
        let shrunk = [(&all.compared[1], None)];
        let text = describe(7, both, &all, &shrunk);
        let line = "random-7-3 was not compared: no space; see r/random-7-3.toml\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("2 of 3 random scenarios of seed 7 agree (66.7 %): sim "), "{text}");
        let document = document(7, both, &all, &shrunk);
        assert_eq!(document["agree"], 2);
        assert_eq!(document["failed"][0]["reason"], "no space");
        assert_eq!(all.compared[1].verdict(both), "differs in losses: sim 208.3, linux 135.0");
    }

    #[test]
    fn an_interrupted_search_keeps_the_smallest_scenario_so_far() {
        // A scenario from which three parts can be removed one after the other.
        let after_one = |scenario: RandomScenario| scenario.smaller().into_iter().next();
        let whole = (0..100)
            .map(|number| RandomScenario::draw(7, number, 10))
            .find(|whole| (0..3).try_fold(whole.clone(), |left, _| after_one(left)).is_some())
            .expect("one of the scenarios has three parts that can be removed");
        let parts = whole.smaller().len();
        let differs = || compared(0, 2.4).differences;
        let interrupted = || Stopped::Lab(LabError::Interrupted("interrupted".to_owned()));
        let mut tried = 0;
        let search = Search::of(&whole, |_| {
            tried += 1;
            if tried == 3 { Err(interrupted()) } else { Ok(differs()) }
        });
        assert_eq!((search.tried, search.removed), (3, 2));
        assert!(matches!(search.stopped, Some(Stopped::Lab(LabError::Interrupted(_)))));
        let smallest = search.smallest.expect("the search has removed two parts").0;
        assert!(smallest.text().len() < whole.text().len());
        // The search gets an error for every smaller scenario, as if no back end could run it.
        let search = Search::of(&whole, |_| Err(LabError::Failed("no".to_owned()).into()));
        assert_eq!(search.tried as usize, parts);
        assert!(search.smallest.is_none() && search.stopped.is_none());
    }

    #[test]
    fn the_reason_is_one_line_without_the_name() {
        assert_eq!(first_line("r-1", "r-1: `cc`: no bbr2\n`ecn`: no"), "`cc`: no bbr2");
        assert_eq!(first_line("r-1", "the disk is full"), "the disk is full");
    }

    #[test]
    fn an_estimate_has_two_figures() {
        let all = [
            (0.0, "less than 1 s"),
            (0.4, "less than 1 s"),
            (7.4, "about 7 s"),
            (86.4, "about 86 s"),
            (1432.0, "about 1400 s"),
        ];
        for (value, text) in all {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn the_real_time_of_runs_is_not_called_cpu_time() {
        let text = |name, real_s| {
            let mut cost = Cost::default();
            cost.add(4.0, real_s);
            cost.add(4.2, real_s);
            cost.text(name)
        };
        assert_eq!(text("sim", None), "sim about 8 s of CPU time");
        assert_eq!(
            text("host", Some(31.5)),
            "host about 63 s of real time with about 8 s of CPU time"
        );
    }

    #[test]
    fn a_share_of_no_scenario_is_a_dash() {
        let of = |name| BACKENDS.iter().copied().find(|on| on.name() == name).unwrap();
        let text = describe(7, [of("sim"), of("linux")], &All::default(), &[]);
        assert!(text.contains("0 of 0 random scenarios of seed 7 agree (– %): sim "), "{text}");
        assert!(!text.contains("0.0"), "{text}");
    }
}
