// A CodeMirror editor for TOML, with the simulator's mistakes and with completion from the JSON
// Schema.

import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { effect } from "@preact/signals";
import type { Mistake } from "../sim/protocol";
import { catalogue } from "../state/lab";
import type { Setup } from "../state/setup";
import { optionsAt, type Schema } from "./complete";

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: tags.propertyName, color: "var(--ink)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--code-number)" },
  { tag: [tags.heading, tags.bracket, tags.keyword], color: "var(--code-table)", fontWeight: "600" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", background: "transparent", color: "var(--ink)" },
  ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", lineHeight: "1.5" },
  ".cm-gutters": { background: "transparent", color: "var(--faint)", border: "none" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 22%, transparent) !important" },
  "&.cm-focused": { outline: "none" },
  ".cm-tooltip": { background: "var(--paper)", border: "1px solid var(--line)", color: "var(--ink)", maxWidth: "420px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--wrong)" },
});

let parsed: { text: string; schema: Schema } | null = null;

function schema(): Schema | null {
  const text = catalogue.value?.schema;
  if (!text) return null;
  if (parsed?.text !== text) parsed = { text, schema: JSON.parse(text) as Schema };
  return parsed.schema;
}

function complete(context: CompletionContext): CompletionResult | null {
  const known = schema();
  if (!known) return null;
  const found = optionsAt(context.state.doc.toString(), context.pos, known);
  if (!found || (!context.explicit && found.from === context.pos)) return null;
  return {
    from: found.from,
    options: found.options.map(({ label, info, apply }) => ({ label, ...(info ? { info } : {}), ...(apply ? { apply } : {}) })),
    validFor: /^[\w."-]*$/,
  };
}

/** Converts a column of a mistake, which counts code points, to a position in the editor, which
 * counts UTF-16 units. */
function place(state: EditorState, line: number, column: number): number {
  const { from, text, to } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  return Math.min(to, from + [...text].slice(0, Math.max(0, column - 1)).join("").length);
}

function diagnostics(state: EditorState, mistakes: Mistake[]): Diagnostic[] {
  return mistakes.flatMap((mistake) => {
    if (mistake.line === null) return [];
    const from = place(state, mistake.line, mistake.column);
    const to = Math.max(from, place(state, mistake.line, mistake.column_end));
    const message = [[mistake.expected, mistake.found].filter(Boolean).join(", "), ...mistake.help].join("\n");
    return [{ from, to, severity: "error" as const, message }];
  });
}

/** Opens an editor of the set-up's text. Returns a function that closes it. */
export function openEditor(host: HTMLElement, setup: Setup): () => void {
  // The editor is in a shadow root, where its style sheets can be adopted. The page's security
  // policy forbids <style> elements.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let own = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: setup.text.peek(),
      extensions: [
        lineNumbers(), EditorView.lineWrapping, history(), drawSelection(), highlightActiveLine(),
        StreamLanguage.define(toml), syntaxHighlighting(colors), look,
        autocompletion({ override: [complete], icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": `Scenario ${setup.letter} as text`, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || own) return;
          setup.edit(update.state.doc.toString());
        }),
      ],
    }),
  });
  const stops = [
    effect(() => {
      const text = setup.text.value;
      const old = view.state.doc.toString();
      if (text === old) return;
      // Replace only the characters that differ, so that the cursor and the history remain.
      let start = 0;
      while (start < text.length && start < old.length && text[start] === old[start]) start += 1;
      let end = 0;
      while (end < text.length - start && end < old.length - start && text[text.length - 1 - end] === old[old.length - 1 - end]) end += 1;
      own = true;
      view.dispatch({ changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) } });
      own = false;
    }),
    effect(() => {
      const mistakes = setup.mistakes.value;
      view.dispatch(setDiagnostics(view.state, diagnostics(view.state, mistakes)));
    }),
  ];
  return () => {
    stops.forEach((stop) => stop());
    view.destroy();
  };
}
