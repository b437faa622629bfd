import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder as placeholderOf, tooltips } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react';
import { cls } from './class-names.ts';
import { colouring } from './code-languages.ts';
import {
  placeOf,
  variableAt,
  type Chosen,
  type CodeFieldProps,
  type Complete,
  type VariableTarget,
} from './code-words.ts';
import styles from './code-field.module.css';

/** In pixels: the height of a line of code. */
const LINE = 20;

/** A change that the page made, not its reader. */
const given = Annotation.define<boolean>();

/** Styles that the editor brings may be written where they carry the nonce of the page. */
const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

const completing = (complete: () => Complete | undefined): Extension =>
  autocompletion({
    icons: false,
    override: [
      ({ state, pos, explicit }) => {
        const found = complete()?.(state.doc.sliceString(0, pos));
        if (!found || found.choices.length === 0 || (!explicit && found.from === pos)) return null;
        return {
          from: found.from,
          validFor: /^[\w.[\]]*$/,
          options: found.choices.map(({ label, detail, info, kind = 'word' }) => ({
            label,
            type: kind,
            ...(detail !== undefined && { detail }),
            ...(info !== undefined && { info }),
          })),
        };
      },
    ],
  });

type EditorProps = CodeFieldProps & {
  readonly labelId: string;
  readonly noteId: string;
  /** What was chosen in the plain field before; null where that had no focus. */
  readonly chosen: RefObject<Chosen | null>;
  /** Set while the editor stands. */
  readonly target: RefObject<VariableTarget | null>;
};

/** The editor itself, once it is loaded. Tab leaves it; Ctrl and Enter run what the screen runs. */
export function CodeEditor(props: EditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const current = useRef(props);
  const parts = useRef({ language: new Compartment(), attributes: new Compartment(), access: new Compartment() });
  useEffect(() => {
    current.current = props;
  });
  const { value, language, labelId, noteId, faults, isReadOnly = false } = props;
  const isInvalid = faults !== undefined && faults.length > 0;

  // Before the next key can come: the plain field is gone already.
  useLayoutEffect(() => {
    const { language: colour, attributes, access } = parts.current;
    const begun = current.current;
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: begun.value,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          history(),
          bracketMatching(),
          closeBrackets(),
          completing(() => current.current.complete),
          tooltips({ position: 'fixed', parent: document.body }),
          keymap.of([
            { key: 'Mod-Enter', run: () => (current.current.onRun?.(), current.current.onRun !== undefined) },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...historyKeymap,
            // A line break has no place there; it would come as a blank.
            ...(begun.isSingleLine === true ? [{ key: 'Enter', run: () => true }] : []),
            ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
          ]),
          ...(begun.isSingleLine === true ? [oneLine] : []),
          ...(begun.language === 'html' ? [lineNumbers()] : []),
          EditorView.lineWrapping,
          colour.of([]),
          attributes.of([]),
          access.of([]),
          ...(begun.placeholder === undefined ? [] : [placeholderOf(begun.placeholder)]),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (!docChanged || transactions.some((one) => one.annotation(given) === true)) return;
            current.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    const { current: chosen } = begun.chosen;
    begun.chosen.current = null;
    if (chosen) {
      const within = (at: number): number => Math.min(at, begun.value.length);
      editor.dispatch({ selection: { anchor: within(chosen.anchor), head: within(chosen.head) } });
    }
    if (chosen || begun.hasFocus === true) editor.focus();
    const { target } = begun;
    target.current = { insert: (path) => insertVariable(editor, path), focus: () => editor.focus() };
    return () => {
      view.current = null;
      target.current = null;
      editor.destroy();
    };
    // What changes later is told to the editor that stands.
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.language.reconfigure(colouring(language)) });
  }, [language]);
  // In the same frame as the editor, so that it never stands without its label.
  useLayoutEffect(() => {
    const described = {
      // It is reached by the keyboard anyway; said, so that the box around it counts as one that can be scrolled by it.
      tabindex: '0',
      'aria-labelledby': labelId,
      'aria-describedby': noteId,
      ...(isInvalid && { 'aria-invalid': 'true' }),
      ...(isReadOnly && { 'aria-readonly': 'true' }),
    };
    const { attributes, access } = parts.current;
    view.current?.dispatch({
      effects: [
        attributes.reconfigure(EditorView.contentAttributes.of(described)),
        access.reconfigure(EditorState.readOnly.of(isReadOnly)),
      ],
    });
  }, [labelId, noteId, isInvalid, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const before = editor.state.doc.toString();
    if (before === value) return;
    const { from, to, insert } = narrowest(before, value);
    editor.dispatch({ changes: { from, to, insert }, annotations: given.of(true) });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    editor.dispatch(setDiagnostics(editor.state, marksOf(editor.state.doc.toString(), faults ?? [])));
  }, [faults, value]);

  return <div ref={place} className={cls(styles.editor)} style={{ minHeight: (props.minLines ?? 1) * LINE + 12 }} />;
}

/** Returns the underlined parts of a text, one for each fault. */
const marksOf = (text: string, faults: NonNullable<CodeFieldProps['faults']>): readonly Diagnostic[] =>
  faults.map((fault) => {
    const from = placeOf(text, fault);
    const word = /^\w+|^[^\s\w]+/.exec(text.slice(from))?.[0].length ?? 0;
    // Behind the last letter there is nothing to underline.
    const begin = word === 0 && from === text.length ? Math.max(0, from - 1) : from;
    const message = fault.fix === undefined || fault.fix === '' ? fault.message : `${fault.message}. ${fault.fix}`;
    return { from: begin, to: Math.max(from + word, begin), severity: 'error', message };
  });

function insertVariable(editor: EditorView, path: string): void {
  const { from: start, to } = editor.state.selection.main;
  const [before, after] = [editor.state.sliceDoc(0, start), editor.state.sliceDoc(to)];
  const { from, insert } = variableAt(before, after, path);
  editor.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input' });
}

/** A line break that is typed or pasted becomes a blank. */
const oneLine = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.docChanged || transaction.newDoc.lines === 1) return transaction;
  const text = transaction.newDoc.toString().replaceAll(/\s*\n\s*/g, ' ');
  return {
    changes: { from: 0, to: transaction.startState.doc.length, insert: text },
    selection: { anchor: text.length },
  };
});

/** The smallest change that makes one text of the other, so that the caret stays where it stands. */
function narrowest(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly insert: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
