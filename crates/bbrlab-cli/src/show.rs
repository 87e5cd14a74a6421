//! `bbrlab show` prints a scenario as text. `bbrlab new` writes a commented scenario to a file,
//! from which the user can start.

use std::path::Path;

use bbrlab_lab::{builtin_text, write_new};
use bbrlab_papers::not_a_scenario;
use bbrlab_scenario::{STARTER, schema};

use crate::args::{NewArgs, ShowArgs};
use crate::output::{Output, Verdict};

pub(crate) fn show(args: &ShowArgs, output: &mut Output) -> Verdict {
    match &args.id {
        Some(id) => output.text(builtin_text(id, not_a_scenario)?),
        None => output.json(&schema()),
    }
}

pub(crate) fn new(args: &NewArgs, output: &mut Output) -> Verdict {
    if args.file == Path::new("-") {
        return output.text(STARTER);
    }
    write_new(&args.file, STARTER.as_bytes(), args.force)?;
    output.text(&format!("{}\n", args.file.display()))?;
    output.note(&format!("next: bbrlab run {}", args.file.display()));
    Ok(())
}
