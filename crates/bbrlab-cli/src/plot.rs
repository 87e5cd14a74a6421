//! `bbrlab plot` and `bbrlab report`: pictures, and a page, of existing results.

use crate::args::{PlotArgs, ReportArgs};
use crate::output::{Output, Verdict};

pub(crate) fn plot(args: &PlotArgs, output: &mut Output) -> Verdict {
    let out = args.out.as_ref().unwrap_or(&args.folder);
    let files = bbrlab_lab::plot(&args.folder, out)?;
    for file in files {
        output.text(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

pub(crate) fn report(args: &ReportArgs, output: &mut Output) -> Verdict {
    let file = args.out.clone().unwrap_or_else(|| args.folders[0].join("report.html"));
    bbrlab_lab::write_report(&args.folders, &file)?;
    output.text(&format!("{}\n", file.display()))
}
