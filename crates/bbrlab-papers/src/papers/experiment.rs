//! A paper's experiment: its printed rows, and the scenarios that reproduce it.

use toml::Table;

/// An experiment of a paper, in one of its forms.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its id, such as `lanigan2020.single-flow`. In another form, the id ends in a dot and the
    /// form's name.
    pub id: String,
    /// The form, one of [`FORMS`]; `None` for the first form, whose claims are judged under
    /// `linux`.
    pub form: Option<&'static str>,
    /// The title.
    pub title: String,
    /// The paper's tables and figures that show the experiment.
    pub source: Vec<String>,
    /// The names of the metrics that the paper reports for it.
    pub metrics: Vec<String>,
    /// The printed rows.
    pub rows: Vec<Table>,
    /// Rows that the data file computes from printed numbers.
    pub derived_rows: Vec<Table>,
    /// The ids of the built-in scenarios that reproduce the experiment.
    pub scenarios: Vec<String>,
}

/// Forms that an experiment may have in addition to its first form. If the first form follows the
/// paper's text, the other is `as-run`, as the authors' programs ran it. If the first form follows
/// the programs, the other is `as-described`.
pub const FORMS: [&str; 2] = ["as-run", "as-described"];

impl Experiment {
    /// Returns the id of the experiment without its form.
    #[must_use]
    pub fn of(&self) -> &str {
        let form = self.form.and_then(|form| self.id.strip_suffix(form)?.strip_suffix('.'));
        form.unwrap_or(&self.id)
    }
}
