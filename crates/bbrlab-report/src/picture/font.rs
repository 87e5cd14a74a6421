//! The font in the program: the characters that it can draw, and their widths.

use std::sync::OnceLock;

use ttf_parser::Face;

pub(crate) const REGULAR: &[u8] = include_bytes!("../../font/Inter-Regular.otf");
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../font/Inter-SemiBold.otf");

/// Replaces a character that the font does not have.
const MISSING: char = '□';

fn face(bold: bool) -> &'static Face<'static> {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| {
        [REGULAR, SEMI_BOLD].map(|data| Face::parse(data, 0).expect("our own font is well formed"))
    });
    &faces[usize::from(bold)]
}

/// Replaces each character that the font cannot draw by a box, because a missing character would
/// change a title's meaning. Tabs and line ends become spaces.
pub(crate) fn drawable(text: &str) -> String {
    let character = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if face(false).glyph_index(c).is_some() && face(true).glyph_index(c).is_some() => c,
        _ => MISSING,
    };
    text.chars().map(character).collect()
}

/// Returns the width of a text, without kerning.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    width(text, size, false)
}

/// Returns the width of a bold text, without kerning.
pub(crate) fn bold_width_of(text: &str, size: f64) -> f64 {
    width(text, size, true)
}

fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = face(bold);
    let advance = |c: char| {
        let glyph = face.glyph_index(c).or_else(|| face.glyph_index(MISSING));
        glyph.and_then(|glyph| face.glyph_hor_advance(glyph)).map_or(0.0, f64::from)
    };
    text.chars().map(advance).sum::<f64>() / f64::from(face.units_per_em()) * size
}

/// Returns the text, cut off with `…` if it is wider than `room`.
pub(crate) fn cut(text: &str, room: f64, size: f64, bold: bool) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while short.pop().is_some() {
        let with_dots = format!("{}…", short.trim_end());
        if width(&with_dots, size, bold) <= room {
            return with_dots;
        }
    }
    String::new()
}

/// Returns the text in lines no wider than `room`, broken between words. A wider word is cut off.
pub(crate) fn wrap(text: &str, room: f64, size: f64, bold: bool) -> Vec<String> {
    if !text.is_empty() && width(text, size, bold) <= room {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, bold) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, room, size, bold)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{cut, drawable, width_of, wrap};

    #[test]
    fn umlauts_greek_arrows_and_signs_are_drawn_and_the_rest_is_seen_to_be_missing() {
        for text in ["Köln → Zürich", "α, β, µs ≥ 3 × 10³", "10 µs – 5 ms · ½ ± 2 %"]
        {
            assert_eq!(drawable(text), text);
        }
        assert_eq!(drawable("漢 x\ty"), "□ x y");
    }

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(cut("short", 100.0, 11.0, false), "short");
        let found = cut("a rather long title that does not fit", 100.0, 11.0, false);
        assert!(found.ends_with('…') && width_of(&found, 11.0) <= 100.0, "{found}");
    }

    #[test]
    fn a_text_is_broken_between_words_and_only_a_word_is_cut() {
        let lines = wrap("a rather long title that does not fit", 100.0, 11.0, false);
        assert!(lines.len() > 1 && lines.iter().all(|line| width_of(line, 11.0) <= 100.0));
        assert_eq!(lines.join(" "), "a rather long title that does not fit");
        let lines = wrap("a Pneumonoultramicroscopicsilicovolcanoconiosis", 100.0, 11.0, false);
        assert!(lines.len() == 2 && lines[1].ends_with('…'), "{lines:?}");
    }
}
