import {
  LRLanguage,
  StreamLanguage,
  syntaxHighlighting,
  HighlightStyle,
  type StreamParser,
} from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { Decoration, MatchDecorator, ViewPlugin, type DecorationSet, type EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { parser as htmlParser } from '@lezer/html';
import type { CodeLanguage } from './code-words.ts';

const SKIPPED = /^\s+/;
/** The first that fits says the colour; what none fits is drawn plain. */
const TOKENS: readonly (readonly [RegExp, string | null])[] = [
  [/^\/\/.*/, 'comment'],
  [/^[rRbB]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/, 'string'],
  [/^(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)u?/, 'number'],
  [/^(?:true|false|null|in)\b/, 'keyword'],
  [/^[A-Za-z_]\w*(?=\s*\()/, 'macroName'],
  [/^(?:event_id|event|item|variables|time|cohort)\b(?:\s*\??\.\s*\??[A-Za-z_]\w*(?!\w*\s*\())*/, 'variableName'],
  [/^[A-Za-z_]\w*/, null],
  [/^(?:&&|\|\||[!=<>]=?|[-+*/%?:])/, 'operator'],
];

/** Colours of the Common Expression Language, and of JSON, whose words it has too. They say nothing of whether it is right. */
const cel: StreamParser<null> = {
  name: 'cel',
  token(stream) {
    if (stream.match(SKIPPED)) return null;
    for (const [shape, colour] of TOKENS) if (stream.match(shape)) return colour;
    stream.next();
    return null;
  },
};

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.string, tags.attributeValue], color: 'var(--syn-string)' },
    { tag: [tags.number, tags.character], color: 'var(--syn-number)' },
    { tag: [tags.keyword, tags.operator, tags.processingInstruction, tags.documentMeta], color: 'var(--syn-keyword)' },
    { tag: [tags.macroName, tags.tagName], color: 'var(--syn-function)' },
    { tag: [tags.variableName, tags.attributeName], color: 'var(--syn-field)' },
    { tag: tags.comment, color: 'var(--quiet)' },
  ]),
);

const puts = new MatchDecorator({
  regexp: /\{\{\{?[^{}]*\}?\}\}/g,
  decoration: ({ 0: text }) =>
    Decoration.mark({ class: /^\{\{\{?[#/^>!]|^\{\{\{?else/.test(text) ? 'cm-put-word' : 'cm-put' }),
});
/** `{{…}}`, wherever it stands: in text, in an attribute, in a subject. */
const handlebars = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = puts.createDeco(view);
    }
    update(update: Parameters<MatchDecorator['updateDeco']>[0]): void {
      this.marks = puts.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);

const html = LRLanguage.define({ name: 'html', parser: htmlParser });

export function colouring(language: CodeLanguage): Extension {
  switch (language) {
    case 'cel':
    case 'json':
      return [StreamLanguage.define(cel), colours];
    case 'html':
      return [html, colours, handlebars];
    case 'text':
      return handlebars;
  }
}
