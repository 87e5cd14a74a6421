//! Files that a package installs together with the command: completion scripts and manual pages.
//!
//! Completion scripts and manual pages are generated from the definition of the command line, like
//! `--help`, so that they always agree with the command.

use clap::{CommandFactory as _, ValueEnum as _};
use clap_complete::{Generator as _, Shell};
use clap_mangen::Man;

use crate::args::Cli;

const NAME: &str = "bbrlab";

/// Returns completion scripts for all shells and a manual page for each command, as pairs of path
/// and content. Paths are `completions/FILE` and `man/FILE`.
///
/// # Panics
/// Never panics, because a write to memory cannot fail.
#[must_use]
pub fn shell_files() -> Vec<(String, Vec<u8>)> {
    let scripts = Shell::value_variants().iter().map(|&shell| {
        let file = shell.file_name(NAME);
        (format!("completions/{file}"), completions(shell))
    });
    let mut command = Cli::command();
    // Without `build`, the manual page of `bbrlab run` would have the name `run`, not `bbrlab-run`.
    // `build` also adds the subcommand `help`, which gets no manual page.
    command.build();
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let pages = std::iter::once(&command).chain(shown.filter(|one| one.get_name() != "help"));
    let pages = pages.map(|one| {
        // The foot of each manual page has the program's name and version, which are set here
        // because subcommands have no version.
        let man = Man::new(one.clone()).source(concat!("bbrlab ", env!("CARGO_PKG_VERSION")));
        let mut page = Vec::new();
        man.render(&mut page).expect("a write to memory cannot fail");
        (format!("man/{}", man.get_filename()), page)
    });
    scripts.chain(pages).collect()
}

/// Returns the completion script for a shell.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    script
}
