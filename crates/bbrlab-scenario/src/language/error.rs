//! Mistakes in scenarios, with file, line, column, the text found and the text expected.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

/// A mistake in a scenario, or in a `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file's name, or `--set`.
    pub origin: String,
    /// Line, from 1; `None` if the mistake is about the whole file (missing, empty, a directory
    /// ...).
    pub line: Option<usize>,
    /// Column in characters, from 1; 0 if the mistake is about the whole file.
    pub column: usize,
    /// Column after the last character of the mistake on this line; at least `column`.
    pub column_end: usize,
    /// The key, by its full name, and the expected value.
    pub title: String,
    /// The value found.
    pub found: String,
    /// Suggestions: the nearest valid name, both readings of an ambiguous quantity, or a valid
    /// value.
    pub help: Vec<String>,
    /// The valid names, hints, and the point of the sweep at which the value is wrong.
    pub notes: Vec<String>,
    /// The line with the mistake, cut if it is long.
    excerpt: String,
    /// The wrong part of `excerpt`, as a range of bytes.
    marked: Range<usize>,
}

/// One or more mistakes in one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(pub Vec<ScenarioError>);

/// The largest number of mistakes that are shown. Mistakes after the first are often consequences
/// of the first.
const SHOWN_MAX: usize = 20;

/// The longest excerpt of a line. A longer line is cut to this many characters around the mistake.
const EXCERPT_CHARS: usize = 120;

impl ScenarioError {
    /// Creates a mistake that concerns the whole file.
    #[must_use]
    pub fn of_file(origin: &str, title: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            origin: origin.to_owned(),
            line: None,
            column: 0,
            column_end: 0,
            title: title.into(),
            found: found.into(),
            help: Vec::new(),
            notes: Vec::new(),
            excerpt: String::new(),
            marked: 0..0,
        }
    }

    /// Creates a mistake at the byte range `span` of a text.
    pub(crate) fn at(
        origin: &str,
        text: &str,
        span: Range<usize>,
        title: String,
        found: String,
    ) -> Self {
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let end = floor_char(text, span.end)
            .clamp(start, line_start + line.len().max(start - line_start));
        let column = 1 + text[line_start..start].chars().count();
        let (excerpt, marked) = cut(line, start - line_start..end - line_start);
        Self {
            origin: origin.to_owned(),
            line: Some(1 + text[..line_start].bytes().filter(|&b| b == b'\n').count()),
            column,
            column_end: column + text[start..end].chars().count(),
            title,
            found,
            help: Vec::new(),
            notes: Vec::new(),
            excerpt,
            marked,
        }
    }

    fn render(&self, renderer: &Renderer) -> String {
        let title = Level::ERROR.primary_title(self.title.as_str());
        let mut group = if let Some(line) = self.line {
            let label =
                AnnotationKind::Primary.span(self.marked.clone()).label(self.found.as_str());
            // The renderer counts columns from the start of the excerpt, but the excerpt of a long
            // line may begin in the middle of the line.
            let in_excerpt = 1 + self.excerpt[..self.marked.start].chars().count();
            let path = if in_excerpt == self.column {
                self.origin.clone()
            } else {
                format!("{} (cut line, column {})", self.origin, self.column)
            };
            title.element(
                Snippet::source(self.excerpt.as_str())
                    .line_start(line)
                    .path(path)
                    .annotation(label),
            )
        } else {
            let origin = Origin::path(self.origin.as_str());
            title.element(origin).element(Level::NOTE.message(self.found.as_str()))
        };
        for help in &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        renderer.render(&[group])
    }
}

impl ScenarioErrors {
    /// Returns the messages as text, with colours if `colour` is set.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let shown: Vec<String> =
            self.0.iter().take(SHOWN_MAX).map(|error| error.render(&renderer)).collect();
        let mut text = shown.join("\n\n");
        if self.0.len() > SHOWN_MAX {
            text.push_str("\n\nand more");
        }
        text
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ScenarioErrors {}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for ScenarioError {}

impl From<ScenarioError> for ScenarioErrors {
    fn from(error: ScenarioError) -> Self {
        Self(vec![error])
    }
}

/// Returns the nearest character boundary at or before `at`, within the text.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Cuts a long line to the characters around the mistake.
fn cut(line: &str, marked: Range<usize>) -> (String, Range<usize>) {
    if line.chars().count() <= EXCERPT_CHARS {
        return (line.to_owned(), marked);
    }
    let before: Vec<char> = line[..marked.start].chars().rev().take(EXCERPT_CHARS / 3).collect();
    let before: String = before.into_iter().rev().collect();
    let rest: String = line[marked.start..].chars().take(EXCERPT_CHARS * 2 / 3).collect();
    let marked_len = (marked.end - marked.start).min(rest.len());
    (format!("{before}{rest}"), before.len()..before.len() + marked_len)
}

#[cfg(test)]
mod tests {
    use super::ScenarioError;

    #[test]
    fn a_place_is_a_range_of_characters_on_one_line() {
        let text = "title = \"é\"\r\nflows = [\n1]\n";
        let place = |from: &str, until: &str| {
            let start = text.find(from).unwrap();
            let end = start + text[start..].find(until).unwrap() + until.len();
            let error = ScenarioError::at("s.toml", text, start..end, String::new(), String::new());
            (error.line, error.column, error.column_end)
        };
        assert_eq!(place("\"é", "é\""), (Some(1), 9, 12));
        assert_eq!(place("flows", "flows"), (Some(2), 1, 6));
        // A mistake over several lines is marked to the end of its first line.
        assert_eq!(place("[\n", "]"), (Some(2), 9, 10));
        assert_eq!(place("]", "]"), (Some(3), 2, 3));
    }
}
