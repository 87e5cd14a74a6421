//! The texts of a picture that the user sets instead of the default ones.

use std::cell::RefCell;

use super::font::{cut, wrap};
use super::panel::{LINE, PANEL_TITLE, SMALL, X_LINE};

/// The texts of a picture that the user sets instead of the default ones. Without a choice, all
/// texts are the default ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The heading. A picture for paper has a heading only if the user sets one, because the
    /// caption of the figure usually replaces it. An empty text removes the heading.
    pub title: Option<String>,
    /// The quantity along the x axis.
    pub x: Option<String>,
    /// The quantity along the y axis, which is written above the panel.
    pub y: Option<String>,
    /// Texts for entries of legends, each as `NAME=TEXT`. NAME may contain `=`: the text starts
    /// after the `=` that follows the whole name of an entry.
    pub legend: Vec<String>,
    /// Whether the note below the heading is left out.
    pub no_caption: bool,
}

impl Labels {
    /// Returns the lines of a panel's title: the user's text, broken into lines, or `usual`, cut
    /// off to one line.
    pub(crate) fn y_lines(&self, usual: &str, room: f64) -> Vec<String> {
        match &self.y {
            Some(own) => wrap(own, room, PANEL_TITLE, true),
            None => vec![cut(usual, room, PANEL_TITLE, true)],
        }
    }

    /// Returns the lines of an x axis's title: the user's text, broken into lines, or `usual`, cut
    /// off to one line.
    pub(crate) fn x_lines(&self, usual: &str, room: f64) -> Vec<String> {
        match &self.x {
            Some(own) => wrap(own, room, SMALL, false),
            None => vec![cut(usual, room, SMALL, false)],
        }
    }

    /// Returns the height that a panel's title needs beyond its first line.
    pub(crate) fn more_y(&self, room: f64) -> f64 {
        more(&self.y_lines("", room), LINE)
    }

    /// Returns the height that an x axis's title needs beyond its first line.
    pub(crate) fn more_x(&self, room: f64) -> f64 {
        more(&self.x_lines("", room), X_LINE)
    }

    /// Returns the user's text for an entry of a legend.
    fn of_entry(&self, name: &str) -> Option<&str> {
        self.legend.iter().find_map(|own| own.strip_prefix(name)?.strip_prefix('='))
    }
}

fn more(lines: &[String], each: f64) -> f64 {
    f64::from(u32::try_from(lines.len().saturating_sub(1)).expect("a handful")) * each
}

/// Returns the error text for a label of the y axis that the user set for a plot of several panels.
/// `titles` names the panels' quantities, and `flag` is the option that chooses one of them.
pub(crate) fn one_panel<'a>(titles: impl Iterator<Item = &'a str>, flag: &str) -> String {
    let titles: Vec<String> = titles.map(|title| format!("`{title}`")).collect();
    format!(
        "--ylabel: expected a plot of one quantity, found {}: {}; choose one with {flag}",
        titles.len(),
        titles.join(", ")
    )
}

/// The texts that the user set for a picture, and the names of all its legend entries. Each panel
/// makes its own legend, so no other place has the names of all entries; [`Words::entry`] collects
/// the names while the picture is laid out.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) labels: Labels,
    names: RefCell<Vec<String>>,
}

impl Words {
    pub(crate) fn new(labels: &Labels) -> Self {
        Self { labels: labels.clone(), names: RefCell::default() }
    }

    /// Returns the text of an entry of a legend: the user's text or, without one, the entry's name.
    pub(crate) fn entry(&self, name: &str) -> String {
        let mut names = self.names.borrow_mut();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        self.labels.of_entry(name).unwrap_or(name).to_owned()
    }

    /// Returns the user's text for the entry with this name; `None` if the user set none.
    pub(crate) fn own(&self, name: &str) -> Option<&str> {
        self.labels.of_entry(name)
    }

    /// Returns the names of all entries for which [`Self::entry`] was called.
    pub(crate) fn names(self) -> Vec<String> {
        self.names.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::{Labels, Words};

    #[test]
    fn an_entry_is_found_by_its_whole_name_whatever_signs_it_has() {
        let own = ["red=RED", "red ecn=true=RED with ECN", "bbr1=BBR=v1"];
        let labels = Labels { legend: own.map(str::to_owned).to_vec(), ..Labels::default() };
        let words = Words::new(&labels);
        let texts = ["red", "red ecn=true", "bbr1", "bbr"].map(|name| words.entry(name));
        assert_eq!(texts, ["RED", "RED with ECN", "BBR=v1", "bbr"]);
        words.entry("red");
        assert_eq!(words.names(), ["red", "red ecn=true", "bbr1", "bbr"]);
    }

    #[test]
    fn long_labels_are_broken_into_lines_and_usual_ones_cut_off() {
        let long = "a rather long label that does not fit into one line";
        let own = Labels { y: Some(long.to_owned()), x: Some(String::new()), ..Labels::default() };
        assert_eq!(own.y_lines("", 160.0).join(" "), long);
        assert!(own.more_y(160.0) > 0.0 && own.more_y(900.0) == 0.0);
        assert!(own.x_lines("time, s", 160.0).is_empty() && own.more_x(160.0) == 0.0);
        let usual = Labels::default().y_lines(long, 160.0);
        assert!(usual.len() == 1 && usual[0].ends_with('…'), "{usual:?}");
    }
}
