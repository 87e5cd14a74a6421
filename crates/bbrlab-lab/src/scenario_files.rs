//! Reads scenarios from files or standard input, and the files of traces and distributions that a
//! scenario names. The crate `bbrlab-scenario` itself reads no files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use bbrlab_backends::plain;
use bbrlab_run::SweepPoint;
use bbrlab_scenario::{
    Builtin, Scenario, ScenarioError, ScenarioErrors, check_file_size, plain_name,
};

/// The command-line argument `-`, which means standard input, and the name of standard input in
/// messages.
const STDIN: (&str, &str) = ("-", "<stdin>");

/// Reads a scenario from a file, from the built-in scenarios by its id, or from standard input if
/// the argument is `-`. Applies the values of `--set key=value`.
///
/// # Errors
/// Fails if the file cannot be read, or if a value in the scenario is wrong at any point of its
/// sweep.
pub fn open_scenario(file_or_id: &str, sets: &[String]) -> Result<Scenario, ScenarioErrors> {
    if file_or_id == STDIN.0 {
        return from_stdin(sets);
    }
    let path = Path::new(file_or_id);
    match Builtin::named(file_or_id) {
        Ok(found) if !path.exists() => {
            Scenario::parse(found.id, found.file, found.text, Some(&files_in(None)), sets)
        }
        _ => read(path, sets),
    }
}

/// Reads a scenario from a file.
fn read(path: &Path, sets: &[String]) -> Result<Scenario, ScenarioErrors> {
    let shown = path.display().to_string();
    let text = read_text(path, &shown, Scenario::BYTES_MAX)?;
    let stem = path.file_stem().map_or_else(|| shown.clone(), |it| it.to_string_lossy().into());
    Scenario::parse(&stem, &shown, &text, Some(&files_in(path.parent())), sets)
}

/// Reads a scenario from standard input. The scenario's name is its title, or else `stdin`.
/// Relative paths in a scenario from standard input start from the working folder.
fn from_stdin(sets: &[String]) -> Result<Scenario, ScenarioErrors> {
    let text = text_of(io::stdin().lock(), STDIN.1, Scenario::BYTES_MAX)?;
    let scenario = Scenario::parse("stdin", STDIN.1, &text, Some(&files_in(None)), sets)?;
    let name = plain_name(scenario.title(), 60);
    Ok(if name.is_empty() { scenario } else { scenario.placed(&name, SweepPoint::new()) })
}

/// Reads the `scenario.toml` of a folder of results and applies the values of `--set key=value`.
/// The file may be longer than other scenario files, because it contains the traces of link rates.
///
/// # Errors
/// Fails like [`open_scenario`].
pub(crate) fn read_kept_scenario(path: &Path, sets: &[String]) -> Result<Scenario, ScenarioErrors> {
    let shown = path.display().to_string();
    let text = read_text(path, &shown, Scenario::KEPT_BYTES_MAX)?;
    Scenario::parse_kept("scenario", &shown, &text, Some(&files_in(path.parent())), sets)
}

/// Returns a function that reads the files that a scenario names. Relative names start from
/// `folder`, or from the working folder if `folder` is `None`.
pub fn files_in(folder: Option<&Path>) -> impl Fn(&str) -> Result<String, String> {
    move |name| {
        let path = folder.map_or_else(|| Path::new(name).to_owned(), |folder| folder.join(name));
        let unreadable = |error: io::Error| format!("cannot be read: {}", plain(&error));
        let meta = fs::metadata(&path).map_err(unreadable)?;
        if !meta.is_file() {
            return Err("is not a regular file".to_owned());
        }
        check_file_size(meta.len())?;
        fs::read_to_string(&path).map_err(unreadable)
    }
}

/// Reads the text of a scenario file, which must be a regular file of at most `bytes_max` bytes in
/// UTF-8.
fn read_text(path: &Path, shown: &str, bytes_max: u64) -> Result<String, ScenarioErrors> {
    let unreadable = |error: io::Error| {
        let mut told = cannot_be_read(shown, &error);
        if error.kind() == io::ErrorKind::NotFound {
            told = no_text(shown, "found neither a file nor a built-in scenario of that name");
            let near = Builtin::nearest_id(shown);
            told.help.extend(near.map(|id| format!("did you mean the built-in `{id}`?")));
        }
        ScenarioErrors::from(told)
    };
    let meta = fs::metadata(path).map_err(unreadable)?;
    if meta.is_dir() {
        return Err(no_text(shown, "found a directory").into());
    }
    text_of(File::open(path).map_err(unreadable)?, shown, bytes_max)
}

/// Reads a file, a device or a pipe to its end.
fn text_of(source: impl Read, shown: &str, bytes_max: u64) -> Result<String, ScenarioErrors> {
    let mut bytes = Vec::new();
    // The length of a device or a pipe is unknown in advance, so read at most one byte more than
    // allowed.
    let read = source.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_be_read(shown, &error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(no_text(shown, format!("found more than {bytes_max} bytes")).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = 1 + bytes[..at].split(|&b| b == b'\n').count() - 1;
        let byte = bytes[at];
        let found = format!("found a byte that is not UTF-8 text on line {line} (0x{byte:02x})");
        no_text(shown, found).into()
    })
}

fn cannot_be_read(shown: &str, error: &io::Error) -> ScenarioError {
    no_text(shown, format!("found that it cannot be read: {}", plain(error)))
}

fn no_text(shown: &str, found: impl Into<String>) -> ScenarioError {
    ScenarioError::of_file(shown, "expected a scenario file", found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bbrlab_scenario::Scenario;
    use expect_test::expect;

    use super::{files_in, open_scenario};
    use crate::scratch::Scratch;

    #[test]
    fn a_trace_file_is_next_to_the_scenario() {
        let scratch = Scratch::new("trace");
        fs::write(scratch.path().join("cell.trace"), "1\n2\n4\n").unwrap();
        let file = scratch.path().join("s.toml");
        let text = "duration = \"1s\"\n[bottleneck]\nrate = \"cell.trace\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"reno\"\n";
        fs::write(&file, text).unwrap();
        let scenario = open_scenario(file.to_str().unwrap(), &[]).unwrap();
        assert!(scenario.run_toml(0).contains("opportunities_ms = [1, 2, 4]"));
        let elsewhere = Scenario::parse("s", "s.toml", text, Some(&files_in(None)), &[]);
        assert!(elsewhere.is_err());
    }

    #[test]
    fn a_missing_or_too_large_file_is_reported() {
        let scratch = Scratch::new("traces");
        fs::write(scratch.path().join("large"), vec![b'\n'; (8 << 20) + 1]).unwrap();
        let read = files_in(Some(scratch.path()));
        for (name, told) in [
            ("/dev/null", "is not a regular file"),
            ("absent", "cannot be read: No such file or directory"),
            ("large", "has 8388609 bytes; at most 8388608 are allowed"),
        ] {
            assert_eq!(read(name).unwrap_err(), told);
        }
    }

    #[test]
    fn files_that_hold_no_scenario() {
        let scratch = Scratch::new("no-scenario");
        let folder = scratch.path();
        let mut told = String::new();
        let mut tell = |name: &str, bytes: Option<&[u8]>| {
            let path = folder.join(name);
            if let Some(bytes) = bytes {
                fs::write(&path, bytes).unwrap();
            }
            let error = open_scenario(path.to_str().unwrap(), &[]).unwrap_err().to_string();
            told.push_str(&error.replace(folder.to_str().unwrap(), "DIR"));
            told.push_str("\n\n");
        };
        tell("missing.toml", None);
        tell("", None);
        tell("empty.toml", Some(b""));
        tell("binary.toml", Some(b"duration = \"1s\"\n\x7fELF\xff\x00\x01"));
        tell("zeros.toml", Some(&[0; 100]));
        tell("large.toml", Some(&vec![b'#'; 2_000_000]));
        told.push_str(&open_scenario("/dev/zero", &[]).unwrap_err().to_string());
        told.push_str("\n\n");
        told.push_str(&open_scenario("examples.dumbell", &[]).unwrap_err().to_string());
        told.push_str("\n\n");
        told.push_str(&Scenario::builtin("two-bbr", &[]).unwrap_err().to_string());
        expect![[r#"
            error: expected a scenario file
            --> DIR/missing.toml
             = note: found neither a file nor a built-in scenario of that name

            error: expected a scenario file
            --> DIR/
             = note: found a directory

            error: expected a scenario
            --> DIR/empty.toml
             = note: found an empty file

            error: expected a scenario file
            --> DIR/binary.toml
             = note: found a byte that is not UTF-8 text on line 2 (0xff)

            error: expected a scenario
            --> DIR/zeros.toml
             = note: found a binary file: a zero byte on line 1

            error: expected a scenario file
            --> DIR/large.toml
             = note: found more than 1048576 bytes

            error: expected a scenario file
            --> /dev/zero
             = note: found more than 1048576 bytes

            error: expected a scenario file
            --> examples.dumbell
             = note: found neither a file nor a built-in scenario of that name
             = help: did you mean the built-in `examples.dumbbell`?

            error: expected a built-in scenario
            --> two-bbr
             = note: found no such id
             = help: did you mean `examples.two-bbr`?"#]]
        .assert_eq(&told);
    }
}
