// Runs a scenario in the WebAssembly module and prints its record, for `tests/agree.rs`:
// `node module.mjs MODULE < REQUEST`, where the request is the JSON of `Call::Begin`.

import { readFileSync } from "node:fs";

const CALLS = { begin: 2, advance: 3, rows: 4, finish: 5 };
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const module = instance.exports;
module.start();

/** Calls the module and returns its answer. */
function call(number, argument = 0, input) {
  if (input !== undefined) {
    const at = module.input(input.length) >>> 0;
    new Uint8Array(module.memory.buffer, at, input.length).set(input);
  }
  const outcome = module.call(number, argument);
  const text = (at, length) =>
    new TextDecoder().decode(new Uint8Array(module.memory.buffer, at >>> 0, length));
  const answer = text(module.output(), module.output_len());
  if (outcome !== 0) {
    throw new Error(`outcome ${outcome}: ${answer}`);
  }
  return JSON.parse(answer);
}

const { duration_s } = call(CALLS.begin, 0, readFileSync(0));
const slices = 50;
let rows = 0;
for (let slice = 1; slice <= slices; slice += 1) {
  call(CALLS.advance, Math.round((duration_s * 1e9 * slice) / slices));
  call(CALLS.rows);
  rows += module.column_len(0);
}
process.stdout.write(JSON.stringify({ ...call(CALLS.finish), rows }));
