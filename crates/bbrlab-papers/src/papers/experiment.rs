//! A paper's experiment: its printed rows, and the scenarios that it is measured from.

use toml::Table;

/// An experiment of a paper, in one of its forms.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its id, such as `lanigan2020.single-flow`. In another form, the id ends in a dot and the
    /// form's name.
    pub id: String,
    /// The form, if it is not the one that is judged under `linux`: one of [`FORMS`].
    pub form: Option<&'static str>,
    /// The title.
    pub title: String,
    /// The tables and figures that show it.
    pub source: Vec<String>,
    /// The metrics that it reports.
    pub metrics: Vec<String>,
    /// The printed rows.
    pub rows: Vec<Table>,
    /// Rows of figures computed from the printed ones.
    pub derived_rows: Vec<Table>,
    /// The built-in scenarios whose runs it is measured from.
    pub scenarios: Vec<String>,
}

/// Forms that an experiment may have in addition to its first. If the first follows the paper's
/// text, the other is as the authors' programs ran it, and the reverse.
pub const FORMS: [&str; 2] = ["as-run", "as-described"];

impl Experiment {
    /// Returns the id of the experiment, whatever the form.
    #[must_use]
    pub fn of(&self) -> &str {
        let form = self.form.and_then(|form| self.id.strip_suffix(form)?.strip_suffix('.'));
        form.unwrap_or(&self.id)
    }
}
