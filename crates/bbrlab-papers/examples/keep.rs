//! Does the work of `cargo xtask replication`, `published`, `explanations`, `disciplines` and
//! `contradictions`: writes a file below `results/`, from which documentation pages or the lab's
//! page are built.

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let args: Vec<String> = env::args().skip(1).collect();
    let (task, names) = args.split_first().map_or(("", &[][..]), |(task, names)| (task, names));
    match bbrlab_papers::keep(task, &root, names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
