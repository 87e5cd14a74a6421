//! Texts that `bbrlab reproduce` prints with and without `--on`.

use bbrlab_papers::Reproduced;

/// The width to which text is wrapped.
const WIDTH: usize = 100;

/// Returns the paths of the folders with an experiment's runs, joined by "and".
pub(crate) fn folders(reproduced: &Reproduced) -> String {
    let folders: Vec<String> =
        reproduced.out.iter().map(|folder| folder.display().to_string()).collect();
    folders.join(" and ")
}

/// Wraps the text to lines of at most [`WIDTH`] columns.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}
