//! Writes notes for readers who compare published values with measured ones.

use crate::papers::{Experiment, paper_of};
use crate::study::Note;

/// Returns the note on an experiment: how the paper's runs differ from ours, and the meaning of the
/// paper's values. The text is empty if there is no note.
pub(crate) fn note(experiment: &Experiment) -> &'static str {
    let Some(paper) = paper_of(&experiment.id) else { return "" };
    let fits = |note: &&Note| {
        note.of.iter().any(|id| **id == *experiment.of() || **id == *paper.key)
            && note.form.as_deref().is_none_or(|form| experiment.form == Some(form))
    };
    paper.study.notes.iter().find(fits).map_or("", |note| &note.text)
}
