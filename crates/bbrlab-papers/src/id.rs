//! Ids in a file of `papers/study/` with their positions, so that error messages can name the line.

use std::ops::Deref;

use serde::Deserialize;
use toml::Spanned;

/// An id to which a file in `papers/study/` refers, such as the id of a paper's claim, with the
/// id's position in that file.
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
    /// Returns the number of the line with this id in the study file whose text is `text`.
    pub(crate) fn line(&self, text: &str) -> usize {
        line_of(text, self.0.span().start)
    }
}

/// Returns the number, from 1 on, of the line that contains the byte at the offset `place`.
pub(crate) fn line_of(text: &str, place: usize) -> usize {
    text[..place.min(text.len())].matches('\n').count() + 1
}
