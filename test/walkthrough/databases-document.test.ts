import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource, describeTable, SOURCE_REASONS, type SourceState } from '@carillon/domain/changes';
import { describe, expect, it } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../docs/databases.md'), 'utf8');
const AT = Date.parse('2026-11-28T09:12:04Z');
const NOTHING_MORE = { detail: null, fix: null } as const;

const sentenceOf = (state: SourceState): string =>
  describeSource(
    {
      workspace: 'shop',
      integration: 'shop-db',
      kind: 'postgres',
      state,
      position: { at: AT },
      tables: [],
      reset: null,
    },
    AT,
  ).sentence;
const row = (reason: string, sentence: string): string => `| \`${reason}\` | ${sentence} |`;
const tableOf = (head: string, rows: readonly string[]): string =>
  ['', `| ${head} | what Carillon says |`, '|---|---|', ...rows, ''].join('\n');

/** All reasons, in the words of the program. */
const REASONS = [
  tableOf(
    'waiting',
    SOURCE_REASONS.postgres.waiting.map((reason) =>
      row(reason, sentenceOf({ kind: 'waiting', reason, ...NOTHING_MORE })),
    ),
  ),
  tableOf(
    'stopped',
    SOURCE_REASONS.postgres.stopped.map((reason) =>
      row(reason, sentenceOf({ kind: 'stopped', reason, ...NOTHING_MORE })),
    ),
  ),
  tableOf(
    'a table is not read',
    SOURCE_REASONS.postgres.table.map((reason) =>
      row(reason, describeTable('public.orders', { reason, ...NOTHING_MORE })),
    ),
  ),
].join('');

describe('docs/databases.md', () => {
  it('lists every reason in the words of the program', () => {
    const listed = /<!-- reasons -->\n([\s\S]*?)<!-- \/reasons -->/.exec(page)?.[1];
    expect(listed).toBe(`${REASONS}\n`);
  });
});
