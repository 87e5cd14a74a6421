// The scenario as text. The editor's code is loaded when the editor is first shown.

import { useEffect, useRef } from "preact/hooks";
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

export function Mistakes({ setup }: { setup: Setup }) {
  const mistakes = setup.mistakes.value;
  if (mistakes.length === 0) return null;
  return (
    <ul class="mistakes" aria-label="Mistakes in the scenario">
      {mistakes.slice(0, 20).map((mistake, at) => (
        <li key={at}>
          {mistake.line !== null && <b>line {mistake.line}, column {mistake.column}: </b>}
          {[mistake.expected, mistake.found].filter(Boolean).join(", ")}
          {mistake.help.map((help) => <span class="help" key={help}>{help}</span>)}
        </li>
      ))}
    </ul>
  );
}

