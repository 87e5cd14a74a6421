//! PNG with a palette: line art has few important colours, and with a palette the file has a tenth of the size.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// Colours of a palette.
const COLOURS: usize = 256;

type Colour = [u8; 3];

/// The picture as PNG. `rgba` is row by row and opaque. A picture of more than 256 colours keeps the most
/// frequent ones; the others, shades of smoothed edges, become the nearest of these.
pub(crate) fn encode(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let pixels = || rgba.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]);
    let mut counts: BTreeMap<Colour, u32> = BTreeMap::new();
    for pixel in pixels() {
        *counts.entry(pixel).or_default() += 1;
    }
    let mut by_count: Vec<(Colour, u32)> = counts.into_iter().collect();
    by_count.sort_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
    let palette: Vec<Colour> = by_count.iter().take(COLOURS).map(|&(colour, _)| colour).collect();
    let index: BTreeMap<Colour, u8> =
        by_count.iter().map(|&(colour, _)| (colour, nearest(&palette, colour))).collect();

    let row = usize::try_from(width).expect("a picture fits into memory");
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::best());
    let indices: Vec<u8> = pixels().map(|pixel| index[&pixel]).collect();
    for line in indices.chunks_exact(row) {
        // Filter 0: differences between palette indices do not compress better.
        lines
            .write_all(&[0])
            .and_then(|()| lines.write_all(line))
            .expect("writing to memory cannot fail");
    }

    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Depth 8, palette, deflate, adaptive filters, not interlaced.
    header.extend([8, 3, 0, 0, 0]);
    chunk(&mut png, *b"IHDR", &header);
    chunk(&mut png, *b"PLTE", &palette.concat());
    chunk(&mut png, *b"IDAT", &lines.finish().expect("writing to memory cannot fail"));
    chunk(&mut png, *b"IEND", &[]);
    png
}

/// The place in the palette of the colour nearest to this one.
fn nearest(palette: &[Colour], colour: Colour) -> u8 {
    let distance = |other: &Colour| -> u32 {
        colour.iter().zip(other).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let place = (0..palette.len()).min_by_key(|&at| distance(&palette[at])).unwrap_or(0);
    u8::try_from(place).expect("a palette has 256 colours at most")
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("a picture is smaller than 4 GiB");
    png.extend(length.to_be_bytes());
    png.extend(name);
    png.extend(data);
    let mut crc = Crc::new();
    crc.update(&name);
    crc.update(data);
    png.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::encode;

    #[test]
    fn up_to_256_colours_come_back_as_they_were() {
        let rgba: Vec<u8> =
            (0..=255u8).flat_map(|shade| [shade, 255 - shade, shade / 2, 255]).collect();
        let back = Pixmap::decode_png(&encode(16, 16, &rgba)).unwrap();
        assert_eq!((back.width(), back.height(), back.data()), (16, 16, rgba.as_slice()));
    }

    #[test]
    fn of_more_colours_the_rare_ones_become_their_neighbours() {
        // 300 shades, the first 250 of them many times.
        let shade = |n: u32| {
            let [_, _, high, low] = (n * 200).to_be_bytes();
            [high, low, 0, 255]
        };
        let mut rgba: Vec<u8> = Vec::new();
        for n in (0..300).chain((0..250).cycle().take(700)) {
            rgba.extend(shade(n));
        }
        let back = Pixmap::decode_png(&encode(100, 10, &rgba)).unwrap();
        assert_eq!(back.data()[..250 * 4], rgba[..250 * 4]);
        assert_ne!(back.data(), rgba.as_slice());
    }
}
