import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeSource,
  describeTable,
  SOURCE_REASONS,
  type SourceKind,
  type SourceProblem,
  type SourceState,
  type TableReason,
} from '@carillon/domain/changes';
import { describe, expect, it } from 'vitest';

type Listed = {
  readonly kind: SourceKind;
  readonly integration: string;
  /** A table or topic, with the head of its table of reasons. */
  readonly place: string;
  readonly head: string;
};

const LISTED: readonly Listed[] = [
  {
    kind: 'postgres',
    integration: 'shop-db',
    place: 'public.orders',
    head: 'a table is not read',
  },
  { kind: 'kafka', integration: 'bus', place: 'orders', head: 'a topic is not read' },
];
const AT = Date.parse('2026-11-28T09:12:04Z');
const NOTHING_MORE = { detail: null, fix: null } as const;

const row = (reason: string, sentence: string): string => `| \`${reason}\` | ${sentence} |`;
const tableOf = (head: string, rows: readonly string[]): string =>
  ['', `| ${head} | what Carillon says |`, '|---|---|', ...rows, ''].join('\n');

const STOPPED =
  / were not read: (.*?)\.(?: No record .*? was read\.)? `carillon sources reset .*?` begins again (.*?)\.$/;

/** Returns a table of the cause and the continuation of each reason. The rest of the sentences is alike. */
function stoppedTable(sentences: readonly (readonly [reason: string, sentence: string])[]): string {
  const rows = sentences.map(([reason, sentence]) => {
    const [, cause = '', continuation = ''] = STOPPED.exec(sentence) ?? [];
    return `| \`${reason}\` | ${cause} | ${continuation} |`;
  });
  const head = '| stopped | why records or changes were not read | a reset begins again |';
  return ['', head, '|---|---|---|', ...rows, ''].join('\n');
}

/** Returns the tables of all reasons of a kind, in the words of the program. */
function reasonsOf({ kind, integration, place, head }: Listed): string {
  const { waiting, stopped, table } = SOURCE_REASONS[kind];
  const sentenceOf = (state: SourceState): string =>
    describeSource({ workspace: 'shop', integration, kind, state, position: { at: AT }, tables: [], reset: null }, AT)
      .sentence;
  const tableSentence = (problem: SourceProblem<TableReason>): string => describeTable(place, problem);
  return [
    tableOf(
      'waiting',
      waiting.map((reason) => row(reason, sentenceOf({ kind: 'waiting', reason, topic: place, ...NOTHING_MORE }))),
    ),
    stoppedTable(stopped.map((reason) => [reason, sentenceOf({ kind: 'stopped', reason, ...NOTHING_MORE })])),
    tableOf(
      head,
      table.map((reason) => row(reason, tableSentence({ reason, ...NOTHING_MORE }))),
    ),
  ].join('');
}

describe.each(LISTED)('docs/source-reasons.md', (source) => {
  it(`lists every reason of ${source.kind} in the words of the program`, () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/source-reasons.md'), 'utf8');
    const listed = new RegExp(`<!-- reasons ${source.kind} -->\\n([\\s\\S]*?)<!-- /reasons -->`).exec(text)?.[1];
    expect(listed).toBe(`${reasonsOf(source)}\n`);
  });
});
