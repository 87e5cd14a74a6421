//! The font in the program: the characters that it can draw, and their widths.

use std::sync::OnceLock;

use ttf_parser::Face;

pub(crate) const REGULAR: &[u8] = include_bytes!("../../font/Inter-Regular.otf");
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../font/Inter-SemiBold.otf");

/// The character that PNG and PDF show for every character that the font does not have, and that
/// every picture shows for a character that XML forbids.
const MISSING: char = '?';

fn face(bold: bool) -> &'static Face<'static> {
    static FACES: OnceLock<[Face<'static>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| {
        [REGULAR, SEMI_BOLD].map(|data| Face::parse(data, 0).expect("our own font is well formed"))
    });
    &faces[usize::from(bold)]
}

/// Whether the font can draw a character.
fn has_glyph(c: char) -> bool {
    face(false).glyph_index(c).is_some() && face(true).glyph_index(c).is_some()
}

/// Returns the text in a form that SVG allows: tabs and line ends become spaces, and characters
/// that XML forbids are replaced by [`MISSING`]. Characters without a glyph are kept, because
/// viewers of SVG files have other fonts.
pub(crate) fn drawable(text: &str) -> String {
    let character = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => MISSING,
        c => c,
    };
    text.chars().map(character).collect()
}

/// Returns the SVG with [`MISSING`] in the place of each character that the font cannot draw. If
/// the character were simply left out, a title could have another meaning.
#[cfg(any(feature = "png", feature = "pdf"))]
pub(crate) fn with_glyphs(svg: &str) -> String {
    svg.chars().map(|c| if c.is_ascii() || has_glyph(c) { c } else { MISSING }).collect()
}

/// Returns the distinct characters of `texts` that the font cannot draw. PNG and PDF replace these
/// characters.
#[must_use]
pub fn without_glyph<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<char> {
    let mut missing = Vec::new();
    for c in texts.into_iter().flat_map(str::chars) {
        if !c.is_whitespace() && !has_glyph(c) && !missing.contains(&c) {
            missing.push(c);
        }
    }
    missing
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
    // A character that this font lacks gets the size of the font as its width, because characters
    // of other fonts are at most about as wide as high.
    let advance = |c: char| {
        let glyph = face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph));
        f64::from(glyph.unwrap_or(face.units_per_em()))
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

/// Returns the text in lines no wider than `room`, broken between words. A wider word, or a text in
/// a script without spaces, is broken between characters.
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
            _ => lines.extend(broken(word, room, size, bold)),
        }
    }
    lines
}

/// Returns a word in pieces no wider than `room`, each of at least one character.
fn broken(word: &str, room: f64, size: f64, bold: bool) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let last = pieces.last_mut().expect("there is a first piece");
        last.push(c);
        if last.chars().nth(1).is_some() && width(last, size, bold) > room {
            last.pop();
            pieces.push(c.to_string());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{cut, drawable, width_of, without_glyph, wrap};

    #[test]
    fn umlauts_greek_arrows_and_signs_are_drawn_and_the_rest_is_seen_to_be_missing() {
        for text in ["Köln → Zürich", "α, β, µs ≥ 3 × 10³", "10 µs – 5 ms · ½ ± 2 %"]
        {
            assert_eq!((drawable(text).as_str(), without_glyph([text])), (text, Vec::new()));
        }
        // An SVG keeps characters that the font of PNG and PDF lacks. White space becomes a space,
        // and other control characters, which XML forbids, are replaced.
        assert_eq!(drawable("漢 x\ty\u{7}"), "漢 x y?");
        assert_eq!(without_glyph(["Größe 漢字\t", "漢"]), ['漢', '字']);
        #[cfg(any(feature = "png", feature = "pdf"))]
        assert_eq!(super::with_glyphs("<text>Größe 漢字</text>"), "<text>Größe ??</text>");
    }

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(cut("short", 100.0, 11.0, false), "short");
        let found = cut("a rather long title that does not fit", 100.0, 11.0, false);
        assert!(found.ends_with('…') && width_of(&found, 11.0) <= 100.0, "{found}");
    }

    #[test]
    fn a_text_is_broken_between_words_and_a_word_between_characters() {
        let lines = wrap("a rather long title that does not fit", 100.0, 11.0, false);
        assert!(lines.len() > 1 && lines.iter().all(|line| width_of(line, 11.0) <= 100.0));
        assert_eq!(lines.join(" "), "a rather long title that does not fit");
        for word in
            ["Pneumonoultramicroscopicsilicovolcanoconiosis", "瓶颈缓冲区大小与公平性的关系"]
        {
            let lines = wrap(&format!("a {word}"), 100.0, 11.0, false);
            assert!(lines.len() > 2 && lines.iter().all(|line| width_of(line, 11.0) <= 100.0));
            assert_eq!((lines[0].as_str(), lines[1..].concat().as_str()), ("a", word));
        }
        assert_eq!(wrap("ab", 0.0, 11.0, false), ["a", "b"]);
    }
}
