//! Writes the report of reproduced experiments, as HTML and as Markdown.

use std::path::Path;

use bbrlab_lab::{COMMIT, LabError, VERSION, write_report_text};
use bbrlab_report::{Align, PrintedAs, Replication, ReplicationSection, Table};

use crate::claims::{ClaimVerdict, Judged};
use crate::explain::Explained;
use crate::figures::{absent, items};
use crate::papers::papers;
use crate::reproduce::{ReproduceOptions, Reproduced};
use crate::sensitivity::Sensitivity;
use crate::work::Work;

/// The part of the report on one experiment: measured values, verdicts on claims, causes of
/// artifacts, and effects of parameters that the paper does not state.
#[derive(Clone, Debug)]
pub struct ExperimentReport {
    /// The experiment with its measured values.
    pub reproduced: Reproduced,
    /// The claims with their verdicts.
    pub claims: Vec<Judged>,
    /// The causes of artifacts in the paper's numbers, if `--explain` was given.
    pub explained: Vec<Explained>,
    /// The effects of other values for parameters that the paper does not state, if `--sensitivity`
    /// was given.
    pub sensitivity: Vec<Sensitivity>,
    /// The number and the CPU time of the additional runs that test claims, artifacts and unstated
    /// parameters.
    pub switched: Work,
}

impl ExperimentReport {
    /// Returns the experiment's id if this report has no claims because it shows a form of the
    /// experiment other than the first; otherwise `None`. The paper's claims are judged only on the
    /// first form. [`crate::FORMS`] describes forms.
    #[must_use]
    pub fn judged_by(&self) -> Option<&'static str> {
        let mut all = papers().iter().flat_map(|paper| &paper.experiments);
        let experiment = all.find(|it| it.id == self.reproduced.id && it.form.is_some())?;
        self.claims.is_empty().then(|| experiment.of())
    }
}

impl Reproduced {
    /// Describes how the values were measured, and what to consider in a comparison with the
    /// paper's values.
    #[must_use]
    pub fn note_words(&self) -> String {
        let seeds = || self.measured.rows.iter().map(|row| row.seeds_run);
        let (least, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
        let seeds = match (least, most) {
            (0, 0) => "nothing".to_owned(),
            (1, 1) => "one seed".to_owned(),
            (least, most) if least == most => {
                format!("medians of {most} seeds with their intervals")
            }
            (least, most) => format!("medians of {least} to {most} seeds with their intervals"),
        };
        let mut words = format!("Measured: {seeds}.");
        if !self.left_out.is_empty() {
            words.push_str(" Points at 1 Gbit/s are left out.");
        }
        if self.is_cut_short {
            words.push_str(" Runs are cut short.");
        }
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        if cells.any(|cell| cell.published.is_some() && cell.printed_as == PrintedAs::Derived) {
            words.push_str(
                " A value after = is not printed in the paper; it is computed from printed values.",
            );
        }
        if !self.note.is_empty() {
            words.push(' ');
            words.push_str(self.note);
        }
        words
    }
}

impl Explained {
    /// Describes in a sentence the artifact behind the claim, and the artifact's cause.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { claim, setting, cause, .. } = self;
        match setting {
            Some((artifact, words)) => {
                format!("{claim} as in {artifact} ({words}): {}.", cause.describe())
            }
            None => format!("{claim}: {}.", cause.describe()),
        }
    }
}

/// Returns a table of the effects of other values for unstated parameters, or an empty text if
/// there are none.
#[must_use]
pub fn sensitivity_table(found: &[Sensitivity]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut table = Table::new()
        .column("unstated, and chosen", "", Align::Left)
        .column("instead", "", Align::Left)
        .column("decides", "", Align::Left);
    for one in found {
        table.row(vec![one.choice.clone(), one.instead.clone(), one.describe()]);
    }
    table.render()
}

/// Writes the report to the named files, and the plots of the Markdown report to a folder next to
/// this report.
///
/// # Errors
/// Fails if a file cannot be written, or the data of a plot cannot be read.
pub fn write_replication(
    told: &[ExperimentReport],
    options: &ReproduceOptions,
    html: Option<&Path>,
    markdown: Option<&Path>,
) -> Result<(), LabError> {
    if html.is_none() && markdown.is_none() {
        return Ok(());
    }
    let reproduced: Vec<&Reproduced> = told.iter().map(|one| &one.reproduced).collect();
    let sections = told.iter().map(|one| section(one, options));
    let report = Replication {
        made_by: format!("bbrlab {VERSION}, commit {COMMIT}"),
        verdicts: ClaimVerdict::ALL.map(|verdict| verdict.name().to_owned()).to_vec(),
        sections: sections.collect::<Result<_, _>>()?,
        absent: absent(&reproduced),
    };
    if let Some(file) = markdown {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-figures");
        for picture in report.pictures() {
            let place = file.with_file_name(&name).join(format!("{}.svg", picture.name));
            write_report_text(&place, &picture.svg)?;
        }
        write_report_text(file, &report.markdown(&name))?;
    }
    html.map_or(Ok(()), |file| write_report_text(file, &report.page()))
}

fn section(
    one: &ExperimentReport,
    options: &ReproduceOptions,
) -> Result<ReplicationSection, LabError> {
    let reproduced = &one.reproduced;
    let mut command = format!("bbrlab reproduce {}", reproduced.id);
    if options.quick {
        command.push_str(" --quick");
    }
    if let Some(seeds) = options.seeds {
        command.push_str(&format!(" --seeds {seeds}"));
    }
    if let Some(seed) = options.seed {
        command.push_str(&format!(" --seed {seed}"));
    }
    if !one.explained.is_empty() {
        command.push_str(" --explain");
    }
    if !one.sensitivity.is_empty() {
        command.push_str(" --sensitivity");
    }
    Ok(ReplicationSection {
        id: reproduced.id.clone(),
        title: reproduced.title.clone(),
        source: reproduced.source.clone(),
        note: reproduced.note_words(),
        items: items(reproduced)?,
        rows: reproduced.rows.clone(),
        claims: one.claims.iter().map(Judged::line).collect(),
        judged_by: one.judged_by().map(|id| format!("bbrlab reproduce {id}")),
        causes: one.explained.iter().map(paragraph).collect(),
        sensitivity: sensitivity_table(&one.sensitivity),
        command,
    })
}

/// Writes the cause of an artifact, and the command that repeats the runs in the artifact's
/// setting.
fn paragraph(explained: &Explained) -> String {
    let words = explained.describe();
    explained.repeat.command().map_or(words.clone(), |it| format!("{words} Repeat with: {it}"))
}
