//! `bbrlab plot`: pictures of results that are there already.

use crate::args::PlotArgs;
use crate::output::{Output, Verdict};

pub(crate) fn plot(args: &PlotArgs, output: &mut Output) -> Verdict {
    let out = args.out.as_ref().unwrap_or(&args.folder);
    let files = bbrlab_lab::plot(&args.folder, out)?;
    for file in files {
        output.text(&format!("{}\n", file.display()))?;
    }
    Ok(())
}
