// Small WebAssembly modules with the functions of the simulator's module, written byte by byte, and
// the simulator's module with less memory.

const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const section = (id: number, content: number[]): number[] => [id, ...leb(content.length), ...content];
const list = (items: number[][]): number[] => [...leb(items.length), ...items.flat()];
const name = (text: string): number[] => [...leb(text.length), ...Buffer.from(text)];

const [I32, F64] = [0x7f, 0x7c];
const TYPES: [parameters: number[], results: number[]][] = [[[], []], [[I32], [I32]], [[I32, F64], [I32]], [[], [I32]]];
const number = (value: number): number[] => [0x41, ...leb(value), 0x0b];
const UNREACHABLE = [0x00, 0x0b];
/** Takes a page of memory after the other, and traps when there is none. */
const GROW = [0x03, 0x40, 0x41, 1, 0x40, 0, 0x41, 0, 0x4e, 0x0d, 0, 0x0b, 0x00, 0x0b];

/** A module whose calls trap: at once with a text as a failed assertion leaves it, or at the end of
 * its memory. */
export function trapping(how: "assertion" | "memory", text = ""): Uint8Array<ArrayBuffer> {
  const functions: [name: string, type: number, body: number[]][] = [
    ["start", 0, [0x0b]], ["input", 1, number(63)], ["call", 2, how === "memory" ? GROW : UNREACHABLE],
    ["output", 3, number(0)], ["output_len", 3, number(0)], ["column", 1, number(0)], ["column_len", 1, number(0)],
    ["panic_text", 3, number(1)], ["panic_len", 3, number(text.length)],
  ];
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, list(TYPES.map(([parameters, results]) => [0x60, ...list(parameters.map((type) => [type])), ...list(results.map((type) => [type]))]))),
    ...section(3, list(functions.map(([, type]) => [type]))),
    ...section(5, list([[1, 1, ...leb(16)]])),
    ...section(7, list([[...name("memory"), 2, 0], ...functions.map(([called], at) => [...name(called), 0, at])])),
    ...section(10, list(functions.map(([, , body]) => [...leb(body.length + 1), 0, ...body]))),
    ...section(11, list([[0, 0x41, 1, 0x0b, ...leb(text.length), ...Buffer.from(text)]])),
  ]);
}

/** The same module with at most `pages` of 64 KiB. */
export function withMemory(module: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  let at = 8;
  const integer = (): number => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = module[at++] as number;
      value += (byte & 127) * 2 ** shift;
      shift += 7;
      if (byte < 128) return value;
    }
  };
  while (at < module.length) {
    const from = at;
    const id = module[at++];
    const end = integer() + at;
    if (id === 5) {
      at += 2; // One memory, whose limits have a largest size.
      const least = integer();
      const limits = section(5, list([[1, ...leb(least), ...leb(pages)]]));
      return Uint8Array.from([...module.subarray(0, from), ...limits, ...module.subarray(end)]);
    }
    at = end;
  }
  throw new Error("the module has no memory of its own");
}
