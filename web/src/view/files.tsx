// Files from the user's computer: scenarios, and the traces that a scenario names.

import { linkTrouble, setups } from "../state/lab";
import type { Setup } from "../state/setup";
import { TEXT_MAX } from "../text/permalink";

/** The largest size of a trace, bytes: a day with a row every 100 ms has less. */
const TRACE_MAX = 30_000_000;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e5) / 10} MB`;

const baseName = (path: string): string => path.replace(/^.*[\\/]/, "");

/** The name in the scenario to which a file from the user belongs; null if the scenario names no
 * such file. */
function nameFor(setup: Setup, file: string, isAlone: boolean): string | null {
  const names = [...setup.missing.value, ...Object.keys(setup.files.value)];
  const [only, ...more] = setup.missing.value;
  return names.find((name) => baseName(name) === file) ?? (isAlone && only !== undefined && more.length === 0 ? only : null);
}

/** Opens scenario files, and gives other files to the set-ups that name them. `name` is the name in
 * the scenario if the user chose the file for it. */
export async function takeFiles(setup: Setup, files: readonly File[], name: string | null = null): Promise<void> {
  linkTrouble.value = "";
  for (const file of files) {
    const isScenario = name === null && /\.toml$/i.test(file.name);
    // With a file that no scenario names, the user can only mean a scenario.
    const wanting = setups.value.map((one) => ({ one, name: name !== null && one === setup ? name : nameFor(one, file.name, files.length === 1) }));
    const takers = isScenario ? [] : wanting.filter((taker): taker is { one: Setup; name: string } => taker.name !== null);
    const most = takers.length > 0 ? TRACE_MAX : TEXT_MAX;
    if (file.size > most) {
      linkTrouble.value = `${file.name} has ${megabytes(file.size)}; the page takes ${takers.length > 0 ? "traces" : "scenario files"} of at most ${Math.round(most / 1e6)} MB.`;
      continue;
    }
    const text = await file.text();
    if (takers.length > 0) takers.forEach((taker) => taker.one.give(taker.name, text));
    else if (isScenario || files.length === 1) setup.open(file.name.replace(/\.toml$/i, ""), text);
    else linkTrouble.value = `The scenario names no file ${file.name}.`;
  }
}

/** Takes files that the user drops on the page. Returns a function that ends this. */
export function followDrops(): () => void {
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  const over = (event: DragEvent): void => {
    if (hasFiles(event)) event.preventDefault();
  };
  const drop = (event: DragEvent): void => {
    const [setup] = setups.value;
    if (!hasFiles(event) || !setup) return;
    event.preventDefault();
    // Scenarios come first, because they say which traces are needed.
    const files = [...(event.dataTransfer?.files ?? [])].sort((a, b) => Number(/\.toml$/i.test(b.name)) - Number(/\.toml$/i.test(a.name)));
    void takeFiles(setup, files);
  };
  addEventListener("dragover", over);
  addEventListener("drop", drop);
  return () => {
    removeEventListener("dragover", over);
    removeEventListener("drop", drop);
  };
}

/** The files that the scenario names: those that are missing, and those that the page has. */
export function Files({ setup }: { setup: Setup }) {
  const missing = setup.missing.value;
  const given = Object.entries(setup.files.value).filter(([name]) => !missing.includes(name));
  if (missing.length + given.length === 0) return null;
  return (
    <section class="files" aria-label="Files of the scenario">
      <h3>Files of the scenario</h3>
      <ul>
        {missing.map((name) => (
          <li key={name}>
            <code>{name}</code> <span class="wrong">missing</span>
            <label class="file">Choose…<input type="file" class="sr" aria-label={`File for ${name}`} onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) void takeFiles(setup, [file], name);
              event.currentTarget.value = "";
            }} /></label>
          </li>
        ))}
        {given.map(([name, text]) => (
          <li key={name}>
            <code>{name}</code> <span>{Math.max(1, Math.round(text.length / 1e3)).toLocaleString("en")} kB</span>
            <button type="button" class="icon" aria-label={`Remove ${name}`} onClick={() => setup.give(name, null)}>×</button>
          </li>
        ))}
      </ul>
      {missing.length > 0 && <p class="hint">A browser page cannot read the files that a scenario names. Choose them here, or drop them on the page.</p>}
    </section>
  );
}
