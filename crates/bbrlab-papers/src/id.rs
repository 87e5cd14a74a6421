//! Places in a study file, for messages.

use std::ops::Deref;

use serde::Deserialize;
use toml::Spanned;

/// The id of something in a paper's data file, with its place in the study file.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Id(Spanned<String>);

impl Deref for Id {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.get_ref()
    }
}

impl Id {
    /// Returns its line in the file's text.
    pub(crate) fn line(&self, text: &str) -> usize {
        line_of(text, self.0.span().start)
    }
}

/// Returns the line of a place in a text, counted from 1.
pub(crate) fn line_of(text: &str, place: usize) -> usize {
    text[..place.min(text.len())].matches('\n').count() + 1
}
