// What the editor of queries is made of.
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion, acceptCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { PostgreSQL, SQLDialect, sql } from "@codemirror/lang-sql";
export { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { Compartment, EditorState, Prec } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, placeholder, drawSelection, highlightActiveLine, highlightSpecialChars } from "@codemirror/view";
export { tags } from "@lezer/highlight";
