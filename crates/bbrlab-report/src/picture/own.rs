//! Recognises plots that bbrlab drew, so that files of other programs are not overwritten by plots.
//! All plots that bbrlab writes in a format have the same structure in their first bytes, which
//! identifies them. A drawing program that saves an edited plot writes different first bytes, so
//! edited plots are not overwritten either.

/// Number of bytes at the start of a file that show whether bbrlab drew it.
pub const DRAWN_BYTES: usize = 512;

/// The first bytes of a PDF that this crate writes.
const PDF: &[u8] = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n";

/// The first bytes of a PNG: the signature, and the length and name of its header.
const PNG: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";

/// Offset of the bit depth and the colour type in a PNG. The width and the height precede the bit
/// depth.
const PNG_DEPTH: usize = PNG.len() + 8;

/// Offset of the second chunk of a PNG.
const PNG_SECOND: usize = PNG_DEPTH + 5 + 4;

/// Bytes of the PNG chunk that states the resolution: length, name, nine bytes of data and a
/// checksum.
const PNG_RESOLUTION: usize = 4 + 4 + 9 + 4;

/// Returns whether bbrlab drew the plot, an SVG, PNG or PDF, that starts with these bytes.
#[must_use]
pub fn is_drawn(start: &[u8]) -> bool {
    start.starts_with(PDF) || is_drawn_png(start) || is_drawn_svg(start)
}

/// Whether a PNG has a palette whose first colour is white. In a PNG that bbrlab drew, the first
/// colour of the palette is the most frequent colour, the white of the plot's background. Only the
/// chunk with the resolution may be between the header and the palette.
fn is_drawn_png(start: &[u8]) -> bool {
    let is_indexed = start.get(PNG_DEPTH..PNG_DEPTH + 2) == Some(&[8, 3]);
    let palette =
        |at: usize| start.get(at + 4..at + 11).is_some_and(|chunk| chunk == b"PLTE\xFF\xFF\xFF");
    let resolution = start.get(PNG_SECOND + 4..PNG_SECOND + 8) == Some(b"pHYs");
    let at = PNG_SECOND + if resolution { PNG_RESOLUTION } else { 0 };
    start.starts_with(PNG) && is_indexed && palette(at)
}

/// Whether an SVG starts with the `<svg>` element that this crate writes, followed by the white
/// background.
fn is_drawn_svg(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    let mut lines = start.lines();
    let is_sheet =
        |line: &str| line.starts_with("<svg width=\"") && line.contains(" viewBox=\"0 0 ");
    let ground = "<rect x=\"0\" y=\"0\" width=\"";
    lines.next().is_some_and(is_sheet) && lines.next().is_some_and(|line| line.starts_with(ground))
}

#[cfg(test)]
mod tests {
    use super::is_drawn;
    #[cfg(any(feature = "png", feature = "pdf"))]
    use crate::picture::Picture;
    use crate::picture::canvas::draw;
    use crate::picture::shape::Shape;

    #[test]
    fn what_this_crate_draws_is_recognised_in_every_format_and_size() {
        for shape in [Shape::SCREEN, Shape::paper(84.0, 60.0), Shape::pixels(1600.0, 900.0)] {
            let svg = draw(&shape, 200.0, |_| {});
            assert!(is_drawn(svg.as_bytes()), "{svg}");
            #[cfg(any(feature = "png", feature = "pdf"))]
            let picture = Picture { name: String::new(), svg, entries: Vec::new() };
            #[cfg(feature = "png")]
            assert!(is_drawn(&picture.png()), "{shape:?}");
            #[cfg(feature = "pdf")]
            assert!(is_drawn(&picture.pdf()), "{shape:?}");
        }
    }

    #[test]
    fn what_other_programs_write_is_not() {
        let inkscape = "<?xml version=\"1.0\"?>\n<svg width=\"1000\" viewBox=\"0 0 2000 1762\">\n";
        for text in ["", "mine", inkscape, "%PDF-1.4\n", "\u{89}PNG"] {
            assert!(!is_drawn(text.as_bytes()), "{text}");
        }
        // Colour type 2 means that pixels are colours and not indices of a palette. This crate
        // writes no such PNG.
        let mut png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0".to_vec();
        png.extend(b"\0\0\0\0\0\0\0\x03PLTE\xFF\xFF\xFF");
        assert!(!is_drawn(&png));
        png[25] = 3;
        assert!(is_drawn(&png));
    }
}
