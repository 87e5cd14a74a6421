//! PNG with a palette. Line art has few important colours, so a palette reduces the file to a tenth
//! of the size.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use png::{ColorType, Compression, Encoder, EncodingError, FilterType, PixelDimensions, Unit};

/// Number of colours in a palette.
const COLOURS: usize = 256;

type Colour = [u8; 3];

/// A sequence of pixels that have one colour: the index of the colour, and the number of pixels.
type Run = (usize, usize);

/// A colour, and the number of its pixels.
type Counted = (Colour, usize);

/// Encodes the picture as PNG. `rgba` has the pixels row by row, all opaque. A picture of more than
/// 256 colours keeps the 256 most frequent colours. The other colours, which are shades of smoothed
/// edges, become the nearest of these. `per_metre` is the resolution in pixels per metre; `None` if
/// the picture has no size on paper.
pub(crate) fn encode(width: u32, height: u32, rgba: &[u8], per_metre: Option<u32>) -> Vec<u8> {
    let (runs, counts) = runs(rgba);
    let mut by_count: Vec<usize> = (0..counts.len()).collect();
    by_count.sort_unstable_by_key(|&place| (Reverse(counts[place].1), counts[place].0));
    let palette: Vec<Colour> = by_count.iter().take(COLOURS).map(|&at| counts[at].0).collect();
    let index: Vec<u8> = counts.iter().map(|&(colour, _)| nearest(&palette, colour)).collect();

    let mut indices: Vec<u8> = Vec::with_capacity(rgba.len() / 4);
    for (place, length) in runs {
        indices.resize(indices.len() + length, index[place]);
    }
    written((width, height), &palette, &indices, per_metre).expect("writing to memory cannot fail")
}

/// Returns the PNG file for pixels that are given by their palette indices, row by row.
fn written(
    (width, height): (u32, u32),
    palette: &[Colour],
    indices: &[u8],
    per_metre: Option<u32>,
) -> Result<Vec<u8>, EncodingError> {
    let mut png = Vec::new();
    let mut encoder = Encoder::new(&mut png, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_palette(palette.concat());
    let resolution = |xppu| PixelDimensions { xppu, yppu: xppu, unit: Unit::Meter };
    encoder.set_pixel_dims(per_metre.map(resolution));
    // A PNG filter stores the differences between neighbouring pixels. Differences of palette
    // indices do not compress better than the indices, so no filter is used.
    encoder.set_filter(FilterType::NoFilter);
    encoder.set_compression(Compression::Best);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(indices)?;
    writer.finish()?;
    Ok(png)
}

/// Returns the picture as runs of equal pixels, and its colours. In line art most pixels equal the
/// pixel before them, so one lookup of a colour serves many pixels.
fn runs(rgba: &[u8]) -> (Vec<Run>, Vec<Counted>) {
    let (pixels, _) = rgba.as_chunks::<4>();
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    let mut counts: Vec<Counted> = Vec::new();
    let mut runs = Vec::new();
    for run in pixels.chunk_by(|one, next| one == next) {
        let place = *places.entry(u32::from_be_bytes(run[0])).or_insert(counts.len());
        if place == counts.len() {
            let [red, green, blue, _] = run[0];
            counts.push(([red, green, blue], 0));
        }
        counts[place].1 += run.len();
        runs.push((place, run.len()));
    }
    (runs, counts)
}

/// Returns the index of the palette colour nearest to this one.
fn nearest(palette: &[Colour], colour: Colour) -> u8 {
    let distance = |other: &Colour| -> u32 {
        colour.iter().zip(other).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let place = (0..palette.len()).min_by_key(|&at| distance(&palette[at])).unwrap_or(0);
    u8::try_from(place).expect("a palette has 256 colours at most")
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::encode;

    #[test]
    fn up_to_256_colours_come_back_as_they_were() {
        let rgba: Vec<u8> =
            (0..=255u8).flat_map(|shade| [shade, 255 - shade, shade / 2, 255]).collect();
        let back = Pixmap::decode_png(&encode(16, 16, &rgba, None)).unwrap();
        assert_eq!((back.width(), back.height(), back.data()), (16, 16, rgba.as_slice()));
    }

    #[test]
    fn of_more_colours_the_rare_ones_become_their_neighbours() {
        // The picture has 300 shades. The first 250 shades occur several times each, the other
        // shades once.
        let shade = |n: u32| {
            let [_, _, high, low] = (n * 200).to_be_bytes();
            [high, low, 0, 255]
        };
        let mut rgba: Vec<u8> = Vec::new();
        for n in (0..300).chain((0..250).cycle().take(700)) {
            rgba.extend(shade(n));
        }
        let back = Pixmap::decode_png(&encode(100, 10, &rgba, None)).unwrap();
        assert_eq!(back.data()[..250 * 4], rgba[..250 * 4]);
        assert_ne!(back.data(), rgba.as_slice());
    }
}
