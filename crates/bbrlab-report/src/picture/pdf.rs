//! Converts SVG to PDF: a page of vectors. Text becomes outlines, so no font has to be embedded or
//! installed.
//!
//! Source: ISO 32000-1, 7.5 (structure of a file), 8.5 (paths), 8.4.5 (opacity).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use resvg::tiny_skia::{Path, PathSegment, Transform};
use resvg::usvg::{Group, Node, Paint, Tree};

use super::shapes::shapes;

/// Points of a PDF page per CSS pixel. A point is 1/72 inch, a CSS pixel 1/96 inch.
const POINTS: f32 = 0.75;

/// Full opacity, in thousandths.
const OPAQUE: u16 = 1000;

/// Converts the picture to a PDF of one page that has the picture's size.
pub(crate) fn render(svg: &str) -> Vec<u8> {
    let tree = shapes(svg);
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let page = Page::of(&tree);
    let mut states = String::new();
    for opacity in &page.opacities {
        let value = number(f32::from(*opacity) / f32::from(OPAQUE));
        states.push_str(&format!("/O{opacity}<</ca {value}/CA {value}>>"));
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(page.content.as_bytes()).expect("writing to memory cannot fail");
    let packed = packed.finish().expect("writing to memory cannot fail");
    let mut stream =
        format!("<</Length {}/Filter/FlateDecode>>\nstream\n", packed.len()).into_bytes();
    stream.extend(packed);
    stream.extend(b"\nendstream");
    let (width, height) = (number(width), number(height));
    file(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents 4 0 R\
             /Resources<</ExtGState<<{states}>>>>>>"
        )
        .into_bytes(),
        stream,
    ])
}

/// Writes the objects, numbered from 1, as a file with its cross-reference table.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (place, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
        bytes.extend(format!("{} 0 obj\n", place + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    let size = objects.len() + 1;
    table.push_str(&format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"));
    bytes.extend(table.bytes());
    bytes
}

struct Page {
    content: String,
    opacities: BTreeSet<u16>,
}

impl Page {
    fn of(tree: &Tree) -> Self {
        let mut page = Self { content: String::new(), opacities: BTreeSet::new() };
        // In PDF, the origin is the lower left corner, so the y axis is reversed.
        let height = number(tree.size().height() * POINTS);
        page.put(&format!("{POINTS} 0 0 -{POINTS} 0 {height} cm"));
        page.group(tree.root(), Transform::identity(), 1.0);
        page
    }

    fn put(&mut self, line: &str) {
        writeln!(self.content, "{line}").expect("writing to a string cannot fail");
    }

    fn group(&mut self, group: &Group, outer: Transform, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner, outer, opacity),
                // The outlines of a text are in the coordinates of the text.
                Node::Text(text) => self.group(text.flattened(), text.abs_transform(), opacity),
                Node::Path(path) => {
                    let at = outer.pre_concat(path.abs_transform());
                    if let Some(fill) = path.fill() {
                        self.begin(at, opacity * fill.opacity().get());
                        self.put(&format!("{} rg", color(fill.paint())));
                        self.outline(path.data());
                        self.put("f Q");
                    }
                    if let Some(stroke) = path.stroke() {
                        self.begin(at, opacity * stroke.opacity().get());
                        let width = number(stroke.width().get());
                        // The operator `1 j` selects round joins, which the SVG has too.
                        self.put(&format!("{} RG {width} w 1 j", color(stroke.paint())));
                        self.outline(path.data());
                        self.put("S Q");
                    }
                }
                // Pictures of this crate contain no images.
                Node::Image(_) => {}
            }
        }
    }

    fn begin(&mut self, at: Transform, opacity: f32) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 1000"
        )]
        let opacity = (opacity * f32::from(OPAQUE)).round() as u16;
        self.opacities.insert(opacity);
        let matrix: Vec<String> =
            [at.sx, at.ky, at.kx, at.sy, at.tx, at.ty].into_iter().map(number).collect();
        self.put(&format!("q /O{opacity} gs {} cm", matrix.join(" ")));
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            let (points, operator) = match segment {
                PathSegment::MoveTo(to) => (vec![to.x, to.y], "m"),
                PathSegment::LineTo(to) => (vec![to.x, to.y], "l"),
                PathSegment::QuadTo(by, to) => {
                    // PDF has cubic curves only. Each control point of the cubic curve is two
                    // thirds of the way from an end to the control point of the quadratic curve.
                    let third = |end: f32, handle: f32| end + (handle - end) * 2.0 / 3.0;
                    let points = vec![
                        third(last.0, by.x),
                        third(last.1, by.y),
                        third(to.x, by.x),
                        third(to.y, by.y),
                        to.x,
                        to.y,
                    ];
                    (points, "c")
                }
                PathSegment::CubicTo(one, two, to) => {
                    (vec![one.x, one.y, two.x, two.y, to.x, to.y], "c")
                }
                PathSegment::Close => (Vec::new(), "h"),
            };
            if let [.., x, y] = points[..] {
                last = (x, y);
            }
            let points: Vec<String> = points.into_iter().map(number).collect();
            self.put(&format!("{} {operator}", points.join(" ")));
        }
    }
}

fn color(paint: &Paint) -> String {
    let Paint::Color(color) = paint else { return "0 0 0".to_owned() };
    let part = |part: u8| number(f32::from(part) / 255.0);
    format!("{} {} {}", part(color.red), part(color.green), part(color.blue))
}

/// Returns a number without an exponent, which PDF does not allow, and without needless digits.
fn number(value: f32) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Page, number};
    use crate::picture::shapes::shapes;

    #[test]
    fn lines_and_outlines_of_text_have_the_same_scale() {
        let svg = "<svg width=\"84mm\" height=\"60mm\" viewBox=\"0 0 748 534\" \
                   preserveAspectRatio=\"none\" xmlns=\"http://www.w3.org/2000/svg\">\
                   <polyline points=\"92,32 136,32\" fill=\"none\" stroke=\"#0072B2\"/>\
                   <text x=\"92\" y=\"60\" font-family=\"Inter\" font-size=\"22\" opacity=\"0.5\">bbr</text></svg>";
        let page = Page::of(&shapes(svg));
        let matrices: Vec<&str> = page
            .content
            .lines()
            .filter_map(|line| line.strip_prefix("q ")?.split_once("gs ").map(|(_, matrix)| matrix))
            .collect();
        assert!(matrices.len() >= 2, "{}", page.content);
        assert!(matrices.iter().all(|matrix| *matrix == matrices[0]), "{matrices:?}");
        assert_eq!(page.opacities.iter().copied().collect::<Vec<u16>>(), [500, 1000]);
    }

    #[test]
    fn numbers_have_no_exponent() {
        assert_eq!([1e-7, -0.0, 12.5, 238.110_24].map(number), ["0", "0", "12.5", "238.1102"]);
    }
}
