//! Writes completion scripts and manual pages below a folder, for packages of the command.
//!
//! ```sh
//! cargo run -p bbrlab-cli --example shell_files -- FOLDER
//! ```

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: shell_files FOLDER");
        return ExitCode::from(2);
    };
    match write(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write below {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &std::path::Path) -> io::Result<()> {
    for (name, content) in bbrlab_cli::shell_files() {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file name in a folder has a parent"))?;
        fs::write(path, content)?;
    }
    Ok(())
}
