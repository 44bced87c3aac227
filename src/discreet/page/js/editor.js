// The editor of queries: CodeMirror in a shadow root, where its styles need no exception from the policy.
import { HighlightStyle, EditorState, EditorView, PostgreSQL, Prec, autocompletion, bracketMatching, closeBrackets,
  closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection, acceptCompletion, history, historyKeymap, indentWithTab,
  keymap, lineNumbers, setDiagnostics, sql, syntaxHighlighting, tags } from "/page/vendor/codemirror.js";
import { declared, writtenName } from "/page/js/names.js";
import { effect, html, useEffect, useRef } from "/page/vendor/preact.js";

const LOOK = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent", fontSize: "0.875rem", minHeight: "var(--editor-height, 212px)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.57", overflow: "auto" },
  ".cm-content": { padding: "16px 16px 16px 6px", caretColor: "var(--ink)", minHeight: "var(--editor-height, 212px)", boxSizing: "border-box" },
  ".cm-line": { padding: "0" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--ink-3)", fontSize: "0.75rem", lineHeight: "1.83" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "30px", padding: "0 10px 0 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--answer-soft)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--hover)" },
  ".cm-lintRange-error": { backgroundImage: "none", backgroundColor: "var(--refuse-soft)", textDecoration: "underline wavy var(--refuse) 1.25px", textUnderlineOffset: "4px", textDecorationSkipInk: "none", paddingBottom: "0" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "8px", boxShadow: "var(--shadow-pop)", overflow: "hidden" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--sans)", fontSize: "0.8125rem", maxHeight: "15em", minWidth: "240px", padding: "4px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { display: "flex", justifyContent: "space-between", gap: "16px", padding: "4px 8px", borderRadius: "5px", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--answer-soft)", color: "var(--ink)" },
  ".cm-completionLabel": { fontFamily: "var(--mono)", fontSize: "0.78rem" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--ink-3)", fontSize: "0.75rem", marginLeft: "auto" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "0.8125rem", padding: "8px 12px", borderLeft: "3px solid var(--refuse)", maxWidth: "46ch" },
});

const COLOURS = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.keyword, color: "var(--answer)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--price)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
]));

const WORDS = [["SELECT", ""], ["FROM", ""], ["WHERE", "which rows count"], ["GROUP BY", "for each"], ["ORDER BY", "free"], ["HAVING", "free"], ["LIMIT", "free"],
  ["JOIN", ""], ["AND", ""], ["OR", ""], ["NOT", ""], ["IN", ""], ["BETWEEN", ""], ["CASE", ""], ["AS", ""], ["DISTINCT", ""], ["IS NULL", ""]];
const FUNCTIONS = [["COUNT(*)", "how many rows"], ["COUNT(DISTINCT ", "how many values"], ["AVG(", "average"], ["SUM(", "sum"], ["MEDIAN(", "middle value"],
  ["STDDEV(", "spread"], ["MIN(", "lowest"], ["MAX(", "highest"], ["DATE_TRUNC('month', ", "month of a day"], ["CLAMP(", "value, low, high"], ["EXTRACT(", "part of a day"]];

function completions(tables, text) {
  const named = tables.filter((each) => new RegExp(`\\b${each.name.replace(/\W/g, "\\$&")}\\b`, "i").test(text));
  const columns = (named.length ? named : tables).flatMap((table) => table.columns.map((each) => (
    { label: writtenName(each.name), detail: declared(each, table), type: "property", boost: 3 })));
  const once = [...new Map(columns.map((each) => [each.label, each])).values()];
  return [
    ...once,
    ...tables.map((each) => ({ label: writtenName(each.name), detail: each.is_private ? "table" : "public table", type: "class", boost: 2 })),
    ...FUNCTIONS.map(([label, detail]) => ({ label, detail, type: "function", boost: 1 })),
    ...WORDS.map(([label, detail]) => ({ label, detail, type: "keyword" })),
  ];
}

const complete = (tables) => (context) => {
  const word = context.matchBefore(/[\w"]+/);
  if (!word && !context.explicit) return null;
  return { from: word ? word.from : context.pos, options: completions(tables() ?? [], context.state.doc.toString()), validFor: /^[\w"]*$/ };
};

// The server counts characters, the editor UTF-16 units.
const unitsBefore = (text, characters) => [...text].slice(0, characters).join("").length;

function diagnosticsOf(view, error) {
  if (!error?.place) return [];
  const text = view.state.doc.toString();
  const from = Math.min(unitsBefore(text, error.place.start), text.length);
  const to = Math.min(Math.max(unitsBefore(text, error.place.end), from + 1), text.length);
  return [{ from, to, severity: "error", message: `${error.message}. ${error.remedy}` }];
}

// Where text replaces a selection, browsers add inline styles, which the policy forbids: we replace it. Brackets go around it.
const REPLACED = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || !event.data || view.composing || view.state.selection.main.empty || /^[([{'"]$/.test(event.data)) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** The editor of `text`, a signal. `handle` receives {focus, insert}; `error` is marked where it is. */
export function Editor({ text, tables, error, handle }) {
  const host = useRef(null), view = useRef(null), known = useRef(tables), after = useRef(null);
  known.current = tables;
  useEffect(() => {
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    view.current = new EditorView({
      root, parent: root,
      state: EditorState.create({
        doc: text.peek(),
        extensions: [
          lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), sql({ dialect: PostgreSQL }), COLOURS, LOOK,
          autocompletion({ override: [complete(() => known.current)], icons: false }),
          Prec.high(keymap.of([{ key: "Tab", run: acceptCompletion }])),
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab, { key: "Escape", run: () => { after.current.focus(); return true; } }]),
          EditorView.lineWrapping, REPLACED,
          EditorView.contentAttributes.of({ "aria-label": "Query in SQL. Press Escape to leave the editor.", spellcheck: "false", autocapitalize: "off" }),
          EditorView.updateListener.of((update) => { if (update.docChanged) text.value = update.state.doc.toString(); }),
        ],
      }),
    });
    if (handle) {
      handle.current = {
        focus: () => view.current?.focus(),
        insert: (words) => {
          view.current.dispatch(view.current.state.replaceSelection(words));
          view.current.focus();
        },
      };
    }
    const stop = effect(() => {
      const wanted = text.value, { doc } = view.current.state;
      if (doc.toString() !== wanted) view.current.dispatch({ changes: { from: 0, to: doc.length, insert: wanted } });
    });
    return () => { stop(); view.current.destroy(); };
  }, []);
  useEffect(() => { view.current.dispatch(setDiagnostics(view.current.state, diagnosticsOf(view.current, error))); }, [error]);
  // Focus goes behind the editor when one leaves it, so that Tab leads on.
  return html`<div class="editor-box"><div class="editor" ref=${host} /><span ref=${after} tabindex="-1" class="vh">End of the editor</span></div>`;
}
