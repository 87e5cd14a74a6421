// Files for the reader: texts, and a picture as SVG or PNG.

export function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const textFile = (content: string, type: string): Blob => new Blob([content], { type: `${type};charset=utf-8` });

export async function savePng(name: string, svg: { text: string; width: number; height: number }): Promise<void> {
  const image = new Image();
  const url = URL.createObjectURL(textFile(svg.text, "image/svg+xml"));
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = svg.width * 2;
  canvas.height = svg.height * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && save(name, blob), "image/png");
}

/** Letters, digits and a few signs: a name of a file anywhere. */
export const plainName = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60);
