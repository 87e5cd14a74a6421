// The scenario as text. The editor's code is loaded when the editor is first shown.

import { useEffect, useRef } from "preact/hooks";
import type { Mistake } from "../sim/protocol";
import type { Setup } from "../state/setup";

export function TextPane({ setup }: { setup: Setup }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let stop: (() => void) | undefined;
    let gone = false;
    void import("../text/editor").then(({ openEditor }) => {
      if (!gone) stop = openEditor(element, setup);
    });
    return () => {
      gone = true;
      stop?.();
    };
  }, [setup]);
  return (
    <div class="text-pane">
      <div class="editor" ref={host} />
      <Mistakes setup={setup} />
    </div>
  );
}

/** A mistake in one line: its place, what is expected, and what was found. */
export function mistakeWords({ line, column, expected, found }: Mistake): string {
  return `${line === null ? "" : `line ${line}, column ${column}: `}${[expected, found].filter(Boolean).join(", ")}`;
}

export function Mistakes({ setup }: { setup: Setup }) {
  const mistakes = setup.mistakes.value;
  if (mistakes.length === 0) return null;
  return (
    <ul class="mistakes" aria-label="Mistakes in the scenario">
      {mistakes.slice(0, 20).map((mistake, at) => (
        <li key={at}>
          {mistakeWords(mistake)}
          {(mistake.help.length > 0 ? mistake.help : mistake.notes).map((help) => <span class="help" key={help}>{help}</span>)}
        </li>
      ))}
    </ul>
  );
}

