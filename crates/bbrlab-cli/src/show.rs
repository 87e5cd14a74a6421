//! `bbrlab show` and `bbrlab new`: scenarios as text, to read and to begin with.

use bbrlab_lab::write_new;
use bbrlab_scenario::{BUILTINS, STARTER, schema};

use crate::args::{NewArgs, ShowArgs};
use crate::output::{Output, Verdict};

pub(crate) fn show(args: &ShowArgs, output: &mut Output) -> Verdict {
    match BUILTINS.iter().find(|builtin| Some(builtin.id) == args.id.as_deref()) {
        Some(builtin) => output.text(builtin.text),
        None => output.json(&schema()),
    }
}

pub(crate) fn new(args: &NewArgs, output: &mut Output) -> Verdict {
    write_new(&args.file, STARTER.as_bytes(), args.force)?;
    output.text(&format!("{}\n", args.file.display()))
}
