//! A paper's experiment: what it printed, and what it is measured from.

use toml::Table;

/// An experiment of a paper, in one of its forms.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its id, such as `lanigan2020.single-flow`; in another form, with the form's name after a
    /// dot.
    pub id: String,
    /// The form, if it is not the one that is judged under `linux`: one of [`FORMS`].
    pub form: Option<&'static str>,
    /// What it shows.
    pub title: String,
    /// Tables and figures that show it.
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

/// The forms that an experiment may have beside its first: as the authors' programs ran it, where
/// the first is as the text describes it, or the other way round.
pub const FORMS: [&str; 2] = ["as-run", "as-described"];

impl Experiment {
    /// The id of the experiment, whatever the form.
    #[must_use]
    pub fn of(&self) -> &str {
        let form = self.form.and_then(|form| self.id.strip_suffix(form)?.strip_suffix('.'));
        form.unwrap_or(&self.id)
    }
}
