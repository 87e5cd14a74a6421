// Files from the user's computer: scenarios, and the traces that a scenario names.

import { computed, effect } from "@preact/signals";
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

/** Waits until no set-up is being checked: then it is known which files the scenarios name. */
function checked(): Promise<void> {
  const isChecking = computed(() => setups.value.some((one) => one.status.value === "checking"));
  return new Promise((resolve) => {
    let isDone = false;
    // The first call of `effect` is within `effect`, before there is a function that ends it.
    const end = effect(() => {
      if (isDone || isChecking.value) return;
      isDone = true;
      queueMicrotask(() => end());
      resolve();
    });
  });
}

/** Why a file that no scenario names was not taken. */
function unnamed(file: string): string {
  const hasOtherMistakes = setups.value.some((one) => one.status.value === "wrong" && one.missing.value.length === 0);
  return hasOtherMistakes ? `${file} was not taken, because the scenario has mistakes. Correct them, and add ${file} again.` : `The scenario names no file ${file}.`;
}

/** Opens scenario files, and gives other files to the set-ups that name them. `name` is the name in
 * the scenario if the user chose the file for it. */
export async function takeFiles(setup: Setup, files: readonly File[], name: string | null = null): Promise<void> {
  const troubles: string[] = [];
  const refuse = (trouble: string): void => {
    troubles.push(trouble);
    linkTrouble.value = troubles.join(" ");
  };
  const textOf = async (file: File, most: number, what: string): Promise<string | null> => {
    if (file.size <= most) return file.text();
    refuse(`${file.name} has ${megabytes(file.size)}; the page takes ${what} of at most ${Math.round(most / 1e6)} MB.`);
    return null;
  };
  const openScenario = async (file: File): Promise<void> => {
    const text = await textOf(file, TEXT_MAX, "scenario files");
    if (text !== null) setup.open(file.name.replace(/\.toml$/i, ""), text);
  };
  const takersOf = (file: File): { one: Setup; name: string }[] => setups.value.flatMap((one) => {
    const own = name !== null && one === setup ? name : nameFor(one, file.name, files.length === 1);
    return own === null ? [] : [{ one, name: own }];
  });
  linkTrouble.value = "";
  const isScenario = (file: File): boolean => name === null && /\.toml$/i.test(file.name);
  // Scenarios come first, because they say which traces are needed.
  for (const file of files) if (isScenario(file)) await openScenario(file);
  const left = files.filter((file) => !isScenario(file));
  while (left.length > 0) {
    await checked();
    const at = left.findIndex((file) => takersOf(file).length > 0);
    const [file] = at < 0 ? [] : left.splice(at, 1);
    if (!file) break;
    const takers = takersOf(file);
    const text = await textOf(file, TRACE_MAX, "traces");
    if (text !== null) takers.forEach((taker) => taker.one.give(taker.name, text));
  }
  // With one file that no scenario names, the user can only mean a scenario.
  const [only] = left;
  if (only && files.length === 1) await openScenario(only);
  else for (const file of left) refuse(unnamed(file.name));
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
    void takeFiles(setup, [...(event.dataTransfer?.files ?? [])]);
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
