//! `bbrlab reproduce`: runs the papers' experiments, and shows published values next to measured
//! ones.

use std::path::PathBuf;

use bbrlab_lab::{COMMIT, LabError, SIMULATOR, VERSION, check_reports, refuse_results};
use bbrlab_papers::{
    Claim, ClaimEvaluation, ClaimFigure, ClaimVerdict, Compared, Expected, Experiment,
    ExperimentReport, Explained, Judged, Key, MeasuredRow, NO_KEY, ReproduceOptions, Reproduced,
    Sensitivity, Work, claims_of, explain, judge_claims, select, sensitivity, sensitivity_table,
    write_replication,
};
use bbrlab_report::{
    Align, ClaimLine, PublishedRow, Table, claims_text, published_tables, verdict_counts,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::ReproduceArgs;
use crate::output::{Output, Stopped, Verdict, value};
use crate::progress::Bar;
use crate::reproduce_on::reproduce_on;
use crate::reproduce_text::{folders, wrapped};
use crate::run::jobs;

pub(crate) fn reproduce(args: &ReproduceArgs, output: &mut Output) -> Verdict {
    let experiments = select(&args.names)?;
    refuse_set(args, &experiments)?;
    let running = &args.running;
    running.out.as_deref().map_or(Ok(()), refuse_results)?;
    let on = args.on.filter(|on| on.name() != SIMULATOR.name());
    let options = ReproduceOptions {
        seeds: args.seeds,
        quick: args.quick,
        seed: running.seed,
        out: running.out.clone(),
        force: running.force,
        pictures: !running.no_pictures,
        on: None,
        points_of: on,
        jobs: jobs(running),
        limit: running.limit,
        stop: output.stop()?,
    };
    if let Some(on) = on {
        return reproduce_on(&experiments, &options, on, args, output);
    }
    let files: Vec<&PathBuf> = [&args.html, &args.markdown].into_iter().flatten().collect();
    check_reports(&files)?;
    let mut done: Vec<ExperimentReport> = Vec::new();
    let mut ended: Option<LabError> = None;
    let all = experiments.len();
    for (number, experiment) in (1..).zip(experiments) {
        let title = format!("{} ({number} of {all})", experiment.id);
        let explained = to_explain(experiment, args).count();
        if explained > 0 && !running.quiet {
            output.note(&format!(
                "{}: runs for the causes of {explained} claims come first, then the table",
                experiment.id
            ));
        }
        match one(experiment, &title, &options, args) {
            Ok(one) => {
                if !running.json {
                    let gap = if done.is_empty() { "" } else { "\n" };
                    output.text(&format!("{gap}{}", describe(&one.reproduced)))?;
                    let lines: Vec<ClaimLine> = one.claims.iter().map(Judged::line).collect();
                    if !lines.is_empty() {
                        output.text(&format!("\n{}", claims_text(&lines)))?;
                    }
                    for explained in &one.explained {
                        output.text(&format!("\n{}", describe_explained(explained)))?;
                    }
                    if !one.sensitivity.is_empty() {
                        output.text(&format!("\n{}", sensitivity_table(&one.sensitivity)))?;
                    }
                }
                if !running.quiet {
                    let reproduced = &one.reproduced;
                    let what = if options.pictures { "results and plots" } else { "results" };
                    let folders = folders(reproduced);
                    let place = if folders.is_empty() {
                        // `--quick` leaves out all sweep points of some experiments.
                        "; no point is left to run".to_owned()
                    } else {
                        format!("; {what} in {folders}")
                    };
                    let work = describe_work(&one);
                    output.note(&format!("{}: {work}{place}", reproduced.id));
                    if let Some(first) = one.judged_by() {
                        output.note(&format!("claims are judged by `bbrlab reproduce {first}`"));
                    }
                }
                done.push(one);
            }
            Err(error) => {
                ended = Some(error);
                break;
            }
        }
    }
    let claims: Vec<&Judged> = done.iter().flat_map(|one| &one.claims).collect();
    if running.json && (ended.is_none() || matches!(ended, Some(LabError::Interrupted(_)))) {
        output.json(&document(&done, &options))?;
    } else if !claims.is_empty() {
        output.text(&format!("\n{}", counted(&claims)))?;
    }
    if let Some(error) = ended {
        return Err(Stopped::Lab(error));
    }
    if args.explain && !done.iter().any(|one| !one.explained.is_empty()) {
        output.note(
            "--explain: nothing to explain; bbrlab's data files expect no claim about these \
             experiments to be an artifact of the paper's simulator or method",
        );
    }
    write_replication(&done, &options, args.html.as_deref(), args.markdown.as_deref())?;
    let unjudged = claims.iter().filter(|judged| judged.verdict.is_none()).count();
    if unjudged > 0 && !args.quick {
        output.note(&format!("{unjudged} of {} claims could not be judged", claims.len()));
        return Err(Stopped::Status(1));
    }
    Ok(())
}

/// Returns an error for `--set`, because experiments are run unchanged.
fn refuse_set(args: &ReproduceArgs, experiments: &[&Experiment]) -> Result<(), LabError> {
    let Some(set) = args.set.first() else { return Ok(()) };
    let scenario = match (args.names.as_slice(), experiments) {
        ([], _) => "SCENARIO",
        (_, experiments) => experiments
            .iter()
            .flat_map(|it| &it.scenarios)
            .next()
            .map_or("SCENARIO", String::as_str),
    };
    Err(LabError::Usage(format!(
        "`--set {set}`: `reproduce` runs experiments unchanged; to change a key, use `bbrlab run`: \
         bbrlab run {scenario} --set {set}"
    )))
}

fn one(
    experiment: &'static Experiment,
    title: &str,
    options: &ReproduceOptions,
    args: &ReproduceArgs,
) -> Result<ExperimentReport, LabError> {
    let bar = Bar::new(title, args.running.quiet);
    let show = |progress| bar.show(progress);
    let all = || -> Result<ExperimentReport, LabError> {
        let mut work = Work::default();
        // The runs for `--explain` and `--sensitivity` cover only some sweep points, usually with
        // one seed. The call that runs last determines the summary in an experiment's folder, so
        // these partial runs precede the whole experiment.
        let mut explained = Vec::new();
        for claim in to_explain(experiment, args) {
            explained.extend(explain(experiment, claim, options, &mut work, show)?);
        }
        let sensitivity = if args.sensitivity {
            sensitivity(experiment, options, &mut work, show)?
        } else {
            Vec::new()
        };
        let reproduced = bbrlab_papers::reproduce(experiment, options, show)?;
        let claims = judge_claims(experiment, &reproduced, options, &mut work, show)?;
        Ok(ExperimentReport { reproduced, claims, explained, sensitivity, switched: work })
    };
    let done = all();
    bar.end();
    done
}

/// Returns the claims that `--explain` examines: claims that are expected to be artifacts of the
/// paper's simulator or method. Without `--explain`, returns none.
fn to_explain(
    experiment: &'static Experiment,
    args: &ReproduceArgs,
) -> impl Iterator<Item = &'static Claim> {
    let is_asked = args.explain;
    let claims = claims_of(experiment).into_iter();
    claims.filter(move |claim| is_asked && claim.expected == Expected::Artifact)
}

/// Describes the cause of an artifact (an effect of the paper's simulator or method), followed by
/// the effect of switching each possible cause on or off.
fn describe_explained(explained: &Explained) -> String {
    let mut text = wrapped(&explained.describe());
    if let Some(command) = explained.repeat.command() {
        text.push_str(&format!("repeat with: {command}\n"));
    }
    if explained.switches.is_empty() {
        return text;
    }
    let mut table = Table::new()
        .column("true with only this", "", Align::Left)
        .column("true without this", "", Align::Left)
        .column("switch", "", Align::Left);
    let word = |truth: &Result<bool, String>| {
        truth.as_ref().map_or_else(|_| "cannot be run".to_owned(), bool::to_string)
    };
    for effect in &explained.switches {
        table.row(vec![word(&effect.alone_on), word(&effect.alone_off), effect.switch.clone()]);
    }
    text.push_str(&table.render());
    for effect in &explained.switches {
        let why = |which: &str, truth: &Result<bool, String>| {
            truth.as_ref().err().map(|why| format!("{}, {which}: {why}", effect.switch))
        };
        let both =
            [why("with only this", &effect.alone_on), why("without this", &effect.alone_off)];
        text.extend(both.into_iter().flatten().map(|why| wrapped(&why)));
    }
    text
}

/// Returns a table with the number of the papers' claims for each verdict.
fn counted(claims: &[&Judged]) -> String {
    let lines: Vec<ClaimLine> = claims.iter().map(|judged| judged.line()).collect();
    verdict_counts(&lines, &ClaimVerdict::ALL.map(ClaimVerdict::name))
}

fn describe(reproduced: &Reproduced) -> String {
    let mut text = format!("{}: {}", reproduced.id, reproduced.title);
    if !reproduced.source.is_empty() {
        text.push_str(&format!(" ({})", reproduced.source.join(", ")));
    }
    text = wrapped(&text);
    text.push('\n');
    text.push_str(&published_tables(&reproduced.rows));
    text.push_str(&wrapped(&reproduced.note_words()));
    text
}

/// Describes the CPU time of an experiment's runs. The total includes the runs with changed
/// settings. Changed settings serve to test three things: artifacts of the paper's simulator,
/// causes of failing claims, and unstated parameters.
fn describe_work(one: &ExperimentReport) -> String {
    let own = &one.reproduced.work;
    let mut all = own.clone();
    all.include(&one.switched);
    let mut words = format!(
        "{} runs computed, {} found complete, {:.2} s of CPU in total",
        all.computed,
        all.found(),
        all.cpu_s()
    );
    let (runs, cpu_s) = one.switched.beyond(own);
    if runs > 0 {
        words.push_str(&format!(
            "; {runs} of these runs ({cpu_s:.2} s) tested artifacts, causes or unstated parameters and are not in the table"
        ));
    }
    words
}

/// The JSON document that `reproduce --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    commit: &'a str,
    /// The value of `--seeds`; null for the default numbers.
    seeds: Option<u64>,
    claims: Vec<OfClaim<'a>>,
    experiments: Vec<OfExperiment<'a>>,
    /// With `--explain`: for each claim of a paper that is expected to be an artifact of the
    /// paper's simulator or method, the settings that make the claim true.
    explanations: Vec<OfExplained<'a>>,
    /// With `--sensitivity`: for each parameter that a paper does not state, the claims that
    /// depend on its value.
    sensitivity: Vec<OfSensitivity<'a>>,
    cpu_s: f64,
}

#[derive(Serialize)]
struct OfClaim<'a> {
    id: &'a str,
    paper: &'a str,
    experiment: &'a str,
    statement: &'a str,
    rule: OfRule<'a>,
    expected: &'a str,
    verdict: Option<&'a str>,
    measured: Option<OfEvaluation<'a>>,
    interval: Option<[f64; 2]>,
    /// Results of runs that imitate an artifact that the claim names, such as an error in the
    /// authors' simulator; empty if the verdict did not need these runs.
    artifacts: Vec<OfSetting<'a>>,
    /// Results with changed settings, one change for each possible cause of the claim's failure.
    causes: Vec<OfSetting<'a>>,
    reason: &'a str,
}

/// The condition under which a paper's claim is true: the expression `expr` holds if swept keys
/// have the values in `at`, for every combination of the values in `forall`. If `min_fraction` is
/// below 1, it is enough that `expr` holds for at least this share of the combinations.
#[derive(Serialize)]
struct OfRule<'a> {
    expr: &'a str,
    at: Map<String, Value>,
    forall: Map<String, Value>,
    min_fraction: f64,
}

#[derive(Serialize)]
struct OfEvaluation<'a> {
    /// Whether the paper's claim is true for the medians over the seeds, at as many parameter
    /// points as the claim requires.
    is_true: bool,
    points_true: u64,
    points: u64,
    seeds_true: u64,
    seeds: u64,
    /// The seeds with which the claim is true.
    true_in: &'a [u64],
    /// The parameter points at which the claim is not true for the medians.
    false_at: Vec<Map<String, Value>>,
    values: Vec<OfFigure<'a>>,
    /// The comparisons in the claim's expression. Both sides of a comparison are computed from
    /// `values`.
    compared: Vec<OfCompared>,
}

#[derive(Serialize)]
struct OfCompared {
    left: f64,
    by: &'static str,
    right: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<f64>,
}

#[derive(Serialize)]
struct OfFigure<'a> {
    metric: &'a str,
    at: Map<String, Value>,
    /// The median of the metric over the seeds.
    value: f64,
}

#[derive(Serialize)]
struct OfSetting<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<&'a str>,
    setting: &'a str,
    scenarios: &'a [String],
    set: &'a [String],
    /// The rule by which packets count as sent, received or lost: `definitions` for the definitions
    /// in the paper's data file, `program` for the rule of the authors' program.
    counting: &'a str,
    /// The folders of the runs with this setting.
    out: Vec<String>,
    measured: Option<OfEvaluation<'a>>,
    /// The exact 95 % confidence interval of the share of seeds in which the claim is true under
    /// this setting.
    interval: Option<[f64; 2]>,
    /// The reason why `measured` is null; null if `measured` has a value.
    missing: Option<&'a str>,
}

fn of_claim(judged: &Judged) -> OfClaim<'_> {
    let claim = judged.claim;
    let is_artifact = claim.expected == Expected::Artifact;
    let under = judged.under.iter().map(|under| OfSetting {
        artifact: is_artifact.then_some(&under.of),
        setting: &under.setting,
        scenarios: &under.repeat.scenarios,
        set: &under.repeat.sets,
        counting: under.repeat.counting.name(),
        out: under.out.iter().map(|folder| folder.display().to_string()).collect(),
        measured: under.evaluation.as_ref().ok().map(of_evaluation),
        interval: under.interval(),
        missing: under.evaluation.as_ref().err().map(String::as_str),
    });
    let (artifacts, causes) = under.partition(|_| is_artifact);
    OfClaim {
        id: &claim.id,
        paper: claim.id.split('.').next().unwrap_or_default(),
        experiment: &claim.experiment,
        statement: &claim.statement,
        rule: of_rule(claim),
        expected: claim.expected.name(),
        verdict: judged.verdict.map(ClaimVerdict::name),
        measured: judged.evaluation.as_ref().map(of_evaluation),
        interval: judged.interval,
        artifacts,
        causes,
        reason: &judged.reason,
    }
}

fn of_rule(claim: &Claim) -> OfRule<'_> {
    let forall = claim.forall.iter().map(|(name, keys)| {
        let keys: Vec<Value> = keys.iter().map(of_key).collect();
        (name.clone(), keys.into())
    });
    OfRule {
        expr: &claim.expr,
        at: of_keys(&claim.at),
        forall: forall.collect(),
        min_fraction: claim.min_fraction,
    }
}

fn of_keys(keys: &[(String, Key)]) -> Map<String, Value> {
    keys.iter().map(|(name, key)| (name.clone(), of_key(key))).collect()
}

fn of_key(key: &Key) -> Value {
    match key {
        Key::Number(number) => (*number).into(),
        Key::Word(word) => word.clone().into(),
    }
}

fn of_evaluation(evaluation: &ClaimEvaluation) -> OfEvaluation<'_> {
    OfEvaluation {
        is_true: evaluation.is_true,
        points_true: evaluation.points_true,
        points: evaluation.points,
        seeds_true: evaluation.seeds_true,
        true_in: &evaluation.true_in,
        false_at: evaluation.false_points.iter().map(|point| of_keys(&point.at)).collect(),
        seeds: evaluation.seeds,
        values: evaluation.figures.iter().map(of_figure).collect(),
        compared: evaluation.compared.iter().map(of_compared).collect(),
    }
}

fn of_compared(&Compared { left, by, right, within }: &Compared) -> OfCompared {
    OfCompared { left, by, right, within }
}

fn of_figure(figure: &ClaimFigure) -> OfFigure<'_> {
    OfFigure { metric: &figure.metric, at: of_keys(&figure.at), value: figure.value }
}

/// Returns the CPU seconds of all runs, including runs with changed settings. A run that several
/// experiments use counts once.
fn cpu_s(done: &[ExperimentReport]) -> f64 {
    let mut all = Work::default();
    for one in done {
        all.include(&one.reproduced.work);
        all.include(&one.switched);
    }
    all.cpu_s()
}

#[derive(Serialize)]
struct OfExplained<'a> {
    claim: &'a str,
    artifact: Option<&'a str>,
    setting: Option<&'a str>,
    scenarios: &'a [String],
    set: &'a [String],
    counting: &'a str,
    cause: String,
    switches: Vec<OfSwitch<'a>>,
}

#[derive(Serialize)]
struct OfSensitivity<'a> {
    experiment: &'a str,
    choice: &'a str,
    instead: &'a str,
    scenarios: &'a [String],
    set: &'a [String],
    /// The paper's claims that are true with one value of the parameter and false with the other
    /// value.
    decides: Vec<&'a str>,
    looked_at: u64,
    missing: Option<&'a str>,
}

fn of_sensitivity(of: &Sensitivity) -> OfSensitivity<'_> {
    OfSensitivity {
        experiment: &of.experiment,
        choice: &of.choice,
        instead: &of.instead,
        scenarios: &of.repeat.scenarios,
        set: &of.repeat.sets,
        decides: of.decides.iter().map(|(claim, _)| claim.as_str()).collect(),
        looked_at: of.looked_at,
        missing: of.missing.as_deref(),
    }
}

/// A switch: one of the differences between an artifact's setting and the experiment under `linux`.
#[derive(Serialize)]
struct OfSwitch<'a> {
    switch: &'a str,
    on: &'a [String],
    off: &'a [String],
    /// Whether the claim is true if only this switch is on; null if such a run is impossible.
    alone_on: Option<bool>,
    alone_off: Option<bool>,
    /// The reasons why the runs with only this switch on, or only this switch off, are impossible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'a str>,
}

fn of_explained(explained: &Explained) -> OfExplained<'_> {
    let switches = explained.switches.iter().map(|effect| OfSwitch {
        switch: &effect.switch,
        on: &effect.on,
        off: &effect.off,
        alone_on: effect.alone_on.as_ref().ok().copied(),
        alone_off: effect.alone_off.as_ref().ok().copied(),
        missing: [&effect.alone_on, &effect.alone_off]
            .into_iter()
            .filter_map(|truth| truth.as_ref().err().map(String::as_str))
            .collect(),
    });
    OfExplained {
        claim: &explained.claim,
        artifact: explained.setting.as_ref().map(|(artifact, _)| artifact.as_str()),
        setting: explained.setting.as_ref().map(|(_, words)| words.as_str()),
        scenarios: &explained.repeat.scenarios,
        set: &explained.repeat.sets,
        counting: explained.repeat.counting.name(),
        cause: explained.cause.describe(),
        switches: switches.collect(),
    }
}

#[derive(Serialize)]
struct OfExperiment<'a> {
    id: &'a str,
    title: &'a str,
    source: &'a [String],
    hashes: &'a [String],
    note: &'a str,
    rows: Vec<OfRow<'a>>,
    /// CPU seconds of the experiment's own runs.
    cpu_s: f64,
    /// CPU seconds of further runs with changed settings. These runs test artifacts of the paper's
    /// simulator, causes of failing claims, and unstated parameters.
    switched_cpu_s: f64,
    out: &'a [PathBuf],
}

#[derive(Serialize)]
struct OfRow<'a> {
    at: Map<String, Value>,
    scenario_hash: &'a str,
    seeds: u64,
    metrics: Map<String, Value>,
}

#[derive(Serialize)]
struct OfCell<'a> {
    unit: &'a str,
    published: Option<f64>,
    measured: Option<f64>,
    interval: Option<[f64; 2]>,
}

fn document<'a>(done: &'a [ExperimentReport], options: &ReproduceOptions) -> Document<'a> {
    Document {
        version: VERSION,
        commit: COMMIT,
        seeds: options.seeds,
        claims: done.iter().flat_map(|one| &one.claims).map(of_claim).collect(),
        experiments: done.iter().map(of_experiment).collect(),
        sensitivity: done.iter().flat_map(|one| &one.sensitivity).map(of_sensitivity).collect(),
        explanations: done.iter().flat_map(|one| &one.explained).map(of_explained).collect(),
        cpu_s: cpu_s(done),
    }
}

fn of_experiment(one: &ExperimentReport) -> OfExperiment<'_> {
    let reproduced = &one.reproduced;
    let rows = reproduced.rows.iter().zip(&reproduced.measured.rows);
    OfExperiment {
        id: &reproduced.id,
        title: &reproduced.title,
        source: &reproduced.source,
        hashes: &reproduced.scenario_hashes,
        note: reproduced.note,
        rows: rows.map(|(row, measured)| of_row(row, measured)).collect(),
        cpu_s: reproduced.work.cpu_s(),
        switched_cpu_s: one.switched.beyond(&reproduced.work).1,
        out: &reproduced.out,
    }
}

fn of_row<'a>(row: &PublishedRow, measured: &'a MeasuredRow) -> OfRow<'a> {
    let at = row.keys.iter().filter(|(_, word)| word != NO_KEY).map(|(key, word)| {
        let word = word.parse::<f64>().map_or_else(|_| word.clone().into(), Value::from);
        (key.clone(), word)
    });
    let metrics = row.cells.iter().map(|cell| {
        let of_it = OfCell {
            unit: &cell.unit,
            published: cell.published,
            measured: cell.measured,
            interval: cell.interval,
        };
        (cell.metric.clone(), value(of_it))
    });
    OfRow {
        at: at.collect(),
        scenario_hash: &measured.scenario_hash,
        seeds: measured.seeds_run,
        metrics: metrics.collect(),
    }
}
