//! The report of a replication, as HTML and as Markdown.

use std::path::{Path, PathBuf};

use bbrlab_report::{Align, PrintedAs, Replication, ReplicationSection, Table};
use bbrlab_results::{COMMIT, VERSION};

use super::claims::{Judged, Verdict};
use super::explain::Explained;
use super::figures::{absent, items};
use super::sensitivity::Sensitivity;
use super::{ReproduceOptions, Reproduced, Work};
use crate::atomic_file::{make_folder, refuse_unwritable, write_named};
use crate::error::LabError;
use crate::papers::papers;
use crate::run_folder::is_of_results;

/// An experiment, its claims and what makes its artifacts.
#[derive(Clone, Debug)]
pub struct Told {
    /// The experiment.
    pub reproduced: Reproduced,
    /// Its claims.
    pub claims: Vec<Judged>,
    /// What makes its artifacts.
    pub explained: Vec<Explained>,
    /// What hangs on choices that the paper leaves open.
    pub sensitivity: Vec<Sensitivity>,
    /// What the runs took with which claims, artifacts and choices were looked at beyond the experiment's own.
    pub switched: Work,
}

impl Told {
    /// The experiment that judges the claims, where this is another form of it.
    #[must_use]
    pub fn judged_by(&self) -> Option<&'static str> {
        let mut all = papers().iter().flat_map(|paper| &paper.experiments);
        let experiment = all.find(|it| it.id == self.reproduced.id && it.form.is_some())?;
        self.claims.is_empty().then(|| experiment.of())
    }
}

impl Reproduced {
    /// How the figures came about, and what a reader should know before comparing.
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
                " What has = before it is not in print and follows from figures that are.",
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
    /// In a sentence.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { claim, setting, cause, .. } = self;
        match setting {
            Some((artifact, words)) => {
                format!("{claim} as in {artifact} ({words}): {}.", cause.words())
            }
            None => format!("{claim}: {}.", cause.words()),
        }
    }
}

/// What hangs on choices that a paper leaves open, as a table; empty without one.
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
        table.row(vec![one.choice.clone(), one.instead.clone(), one.words()]);
    }
    table.render()
}

/// Refuses files that cannot be written, before anything is run.
///
/// # Errors
/// If one is `-`, a folder, a device, read-only or a file of results, if its folder cannot be written to, or if two are the same.
pub fn check_reports(files: &[&PathBuf]) -> Result<(), LabError> {
    for file in files {
        if file.as_os_str() == "-" {
            let title = "`-`: expected a file for the report, which does not go to standard output; `./-` is a file of \
                         that name";
            return Err(LabError::Usage(title.to_owned()));
        }
        refuse_unwritable(file)?;
        if file.exists() && is_of_results(file) {
            let shown = file.display();
            let title = format!("{shown} holds results, and would be replaced; name another file");
            return Err(LabError::Usage(title));
        }
    }
    // Their folders are there by now.
    if let [one, other] = files
        && place(one) == place(other)
    {
        let shown = one.display();
        return Err(LabError::Usage(format!("{shown} is named for two reports; name two files")));
    }
    Ok(())
}

/// Where a file lies, however it is written: links are followed.
fn place(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let there = folder.ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    file.canonicalize().ok().or(there).unwrap_or_else(|| file.to_owned())
}

/// Writes the report to the files that are named, and the pictures of Markdown into a folder beside it.
///
/// # Errors
/// If one cannot be written, or the data of a picture cannot be read.
pub fn write_replication(
    told: &[Told],
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
        verdicts: Verdict::ALL.map(|verdict| verdict.name().to_owned()).to_vec(),
        sections: sections.collect::<Result<_, _>>()?,
        absent: absent(&reproduced),
    };
    if let Some(file) = markdown {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-figures");
        for picture in report.pictures() {
            let place = file.with_file_name(&name).join(format!("{}.svg", picture.name));
            put(&place, &picture.svg)?;
        }
        put(file, &report.markdown(&name))?;
    }
    html.map_or(Ok(()), |file| put(file, &report.page()))
}

fn put(file: &Path, text: &str) -> Result<(), LabError> {
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    write_named(file, text.as_bytes())
}

fn section(one: &Told, options: &ReproduceOptions) -> Result<ReplicationSection, LabError> {
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

/// What makes an artifact, and how to repeat that.
fn paragraph(explained: &Explained) -> String {
    let words = explained.words();
    explained.by_hand.command().map_or(words.clone(), |it| format!("{words} By hand: {it}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::check_reports;
    use crate::scratch::Scratch;

    #[test]
    fn two_reports_are_two_files_and_neither_takes_the_place_of_results() {
        let scratch = Scratch::new("reports");
        let refused = |files: &[&str]| {
            let files: Vec<_> = files.iter().map(|file| scratch.path().join(file)).collect();
            check_reports(&files.iter().collect::<Vec<_>>())
                .map_err(|error| error.to_string())
                .err()
        };
        assert_eq!(refused(&["a.html", "a.md"]), None);
        let twice = refused(&["new/a.x", "./new/../new/a.x"]).unwrap();
        assert!(twice.ends_with("a.x is named for two reports; name two files"), "{twice}");
        for file in ["scenario.toml", "summary.json"] {
            // Alone either may be anything.
            assert_eq!(refused(&[file]), None);
            fs::write(scratch.path().join(file), "").unwrap();
        }
        let results = refused(&["summary.json"]).unwrap();
        assert!(results.contains("holds results"), "{results}");
        assert_eq!(refused(&["report.json"]), None);
        // Not below the scratch folder, but as somebody writes it.
        assert!(check_reports(&[&PathBuf::from("-")]).is_err());
        assert_eq!(refused(&["-"]), None);
    }
}
