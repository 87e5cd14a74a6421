//! `bbrlab merge`: merges the shards of a sweep.

use bbrlab_lab::{Merged, merge as merge_parts};
use serde_json::json;

use crate::args::MergeArgs;
use crate::output::{Output, Stopped, Verdict};
use crate::progress::Bar;

/// Merges the shards. If runs of the sweep are still missing, the exit status is 1.
pub(crate) fn merge(args: &MergeArgs, output: &mut Output) -> Verdict {
    let stop = output.stop()?;
    let bar = Bar::new("merge", args.quiet);
    let merged =
        merge_parts(&args.folders, &args.out, !args.no_pictures, &stop, |now| bar.show(now));
    bar.end();
    let Merged { scenario, runs, complete, copied, left_out } = merged?;
    for text in &left_out {
        output.note(&format!("note: {text}"));
    }
    let out = args.out.display();
    if args.json {
        output.json(&json!({
            "scenario": scenario, "runs": runs, "complete": complete, "copied": copied,
            "left_out": left_out, "out": args.out,
        }))?;
    } else {
        output.text(&format!(
            "{scenario}: {complete} of {runs} runs are in {out}, {copied} of them copied now\n"
        ))?;
    }
    if complete == runs {
        return Ok(());
    }
    output.note(&format!(
        "note: {} runs are missing; `bbrlab run {out}` computes them",
        runs - complete
    ));
    Err(Stopped::Status(1))
}
