//! `bbrlab plot`, `bbrlab report` and `bbrlab export`: draw pictures, write an HTML page, and write
//! CSV files from existing results.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_lab::{LabError, PlotChoice, Plots, open_scenario, plot_as, refuse_results_below};
use bbrlab_papers::not_a_metric;
use bbrlab_report::{Labels, PageScript};

use crate::args::{ExportArgs, PlotArgs, ReportArgs};
use crate::output::{Output, Verdict};

pub(crate) fn plot(args: &PlotArgs, output: &mut Output) -> Verdict {
    let choice = PlotChoice {
        panels: args.panels.clone(),
        metrics: args.metric.clone(),
        against: args.against.clone(),
        heatmap: args.heatmap.clone(),
        only: args.only.clone(),
        x: args.x.clone(),
        by: args.by.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
        size: args.size.clone(),
        formats: args.format.clone(),
        cdf: args.cdf.clone(),
        groups: args.group.clone(),
        dot_labels: args.dot_labels,
        labels: Labels {
            title: args.title.clone(),
            x: args.xlabel.clone(),
            y: args.ylabel.clone(),
            legend: args.legend.clone(),
            no_caption: args.no_caption,
        },
        force: args.force,
    };
    if !args.recursive && args.out.is_none() && !args.overlay {
        refuse_all(&args.folders)?;
    }
    output.notes_of_missing(&args.folders);
    let mut plots = Plots::default();
    if args.overlay {
        let drawn = bbrlab_lab::plot_overlay(&args.folders, args.out.as_deref(), &choice)?;
        for file in &drawn.files {
            output.text(&format!("{}\n", file.display()))?;
        }
        plots.add(drawn);
    } else {
        let plots = RefCell::new(&mut plots);
        let make = |folder: &Path, out: Option<&Path>| {
            let drawn = plot_as(folder, out, &choice, not_a_metric)?;
            let files = drawn.files.clone();
            plots.borrow_mut().add(drawn);
            Ok(files)
        };
        each(&args.folders, args.out.as_deref(), make, output)?;
    }
    if !args.quiet
        && let Some(note) = note_of_glyphs(&plots.replaced, &args.format)
    {
        output.note(&note);
    }
    Ok(())
}

/// Returns the note about characters that the font cannot draw; `None` if there are none.
fn note_of_glyphs(missing: &[char], formats: &[String]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let shown: String = missing.iter().take(20).collect();
    let more = if missing.len() > 20 { "…" } else { "" };
    let has_svg = formats.is_empty() || formats.iter().any(|format| format == "svg");
    let way = if has_svg { "the SVG has them" } else { "`--format svg` has them" };
    Some(format!("PNG and PDF have `?` for characters without a glyph: {shown}{more}; {way}"))
}

pub(crate) fn export(args: &ExportArgs, output: &mut Output) -> Verdict {
    if args.script || args.mininet {
        return export_testbed(args, output);
    }
    if !args.recursive && args.out.is_none() {
        refuse_all(&args.folders)?;
    }
    output.notes_of_missing(&args.folders);
    if args.pcap {
        let pcap = |folder: &Path, out: Option<&Path>| {
            Ok(vec![bbrlab_exchange::export_pcap(folder, out, args.force)?])
        };
        return each(&args.folders, args.out.as_deref(), pcap, output);
    }
    if args.qlog {
        let qlog = |folder: &Path, out: Option<&Path>| {
            bbrlab_exchange::export_qlog(folder, out, args.force)
        };
        return each(&args.folders, args.out.as_deref(), qlog, output);
    }
    let csv = |folder: &Path, out: Option<&Path>| bbrlab_lab::export_csv(folder, out, args.force);
    each(&args.folders, args.out.as_deref(), csv, output)
}

/// Prints a program that runs the scenario in a testbed: a shell script, or a Python program for
/// Mininet.
fn export_testbed(args: &ExportArgs, output: &mut Output) -> Verdict {
    let [name] = args.folders.as_slice() else {
        let found = args.folders.len();
        return Err(LabError::Usage(format!(
            "expected one scenario for --script and --mininet, found {found}"
        ))
        .into());
    };
    let scenario = open_scenario(&name.to_string_lossy(), &args.set).map_err(LabError::from)?;
    let text = if args.script {
        bbrlab_exchange::script_text(&scenario)?
    } else {
        bbrlab_exchange::mininet_text(&scenario)?
    };
    output.text(&text)
}

pub(crate) fn report(args: &ReportArgs, output: &mut Output) -> Verdict {
    let file = bbrlab_lab::report_file(&args.folders, args.out.as_deref())?;
    output.notes_of_missing(&args.folders);
    let script = bbrlab_page::REPORT.map(|(code, style)| PageScript { code, style });
    bbrlab_lab::write_report(&args.folders, &file, script)?;
    if script.is_none() {
        output.note(
            "The report has static plots instead of interactive charts, because this program was built without \
             the script that draws the charts. To get the charts, run `cargo xtask web` in a clone (it needs \
             Node 20), then build the program again.",
        );
    }
    output.text(&format!("{}\n", file.display()))
}

/// Returns an error if a folder contains no results itself, but folders of results. Without this
/// check, `plot` would write new files to all of these folders.
fn refuse_all(folders: &[PathBuf]) -> Result<(), LabError> {
    folders.iter().try_for_each(|folder| refuse_results_below(folder))
}

/// Calls `make` for each folder and prints the names of the files that `make` wrote. If `out` is
/// given and there are several folders, `make` writes to a subfolder of `out` for each of them.
fn each(
    folders: &[PathBuf],
    out: Option<&Path>,
    make: impl Fn(&Path, Option<&Path>) -> Result<Vec<PathBuf>, LabError>,
    output: &mut Output,
) -> Verdict {
    let mut names = Vec::new();
    for folder in folders {
        let own =
            fs::canonicalize(folder).ok().and_then(|path| path.file_name().map(PathBuf::from));
        names.push(own.filter(|_| folders.len() > 1).unwrap_or_default());
    }
    if out.is_some() && folders.len() > 1 {
        for (place, name) in names.iter().enumerate() {
            if let Some(first) = names[..place].iter().position(|other| other == name) {
                let (first, second) = (folders[first].display(), folders[place].display());
                return Err(LabError::Usage(format!(
                    "{first} and {second} would both be written to {} in --out; plot one folder at a time",
                    name.display()
                ))
                .into());
            }
        }
    }
    for (folder, name) in folders.iter().zip(&names) {
        let out = out.map(|out| out.join(name));
        for file in make(folder, out.as_deref())? {
            output.text(&format!("{}\n", file.display()))?;
        }
    }
    Ok(())
}
