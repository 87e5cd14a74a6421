// A picture of the strip in memory. Each packet sets some pixels, so a frame costs little more with
// many packets than with few, and much less than a canvas's own rectangles.

/** The bytes of a colour as a canvas has them: `#rrggbb` or `rgb(r g b)`. */
export function pixelOf(color: string): number {
  const [red, green, blue] = color.startsWith("#")
    ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
    : (color.match(/\d+/g) ?? []).map(Number);
  return ((255 << 24) | ((blue ?? 0) << 16) | ((green ?? 0) << 8) | (red ?? 0)) >>> 0;
}

/** The pixels are in the order of a little-endian machine, as all browsers' machines are. */
export class Bitmap {
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;

  constructor(readonly width: number, readonly height: number) {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(pixel: number): void {
    this.pixels.fill(pixel);
  }

  /** Fills the pixels from `left` up to, but not including, `right`, and from `top` to `bottom`. */
  fill(left: number, top: number, right: number, bottom: number, pixel: number): void {
    const [from, to] = [Math.max(0, Math.round(left)), Math.min(this.width, Math.round(right))];
    const end = Math.min(this.height, Math.round(bottom));
    for (let row = Math.max(0, Math.round(top)); row < end; row += 1) this.pixels.fill(pixel, row * this.width + from, row * this.width + Math.max(from, to));
  }

  /** Fills rows with the columns of `line` that are not 0. */
  stretch(line: Uint32Array, top: number, bottom: number): void {
    const end = Math.min(this.height, Math.round(bottom));
    for (let row = Math.max(0, Math.round(top)); row < end; row += 1) {
      const start = row * this.width;
      for (let at = 0; at < this.width; at += 1) {
        const pixel = line[at] as number;
        if (pixel !== 0) this.pixels[start + at] = pixel;
      }
    }
  }

  show(ctx: OffscreenCanvasRenderingContext2D): void {
    ctx.putImageData(this.image, 0, 0);
  }
}
