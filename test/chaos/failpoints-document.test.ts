import { readFile } from 'node:fs/promises';
import { FAILPOINT_ACTIONS } from '@carillon/runtime';
import { expect, it } from 'vitest';
import { everyCase } from './embedded/failpoints/cases.ts';
import { failpointPage } from './embedded/failpoints/table.ts';

const page = await readFile(new URL('../../docs/failpoints.md', import.meta.url), 'utf8');
const rowOf = (at: string): readonly string[] =>
  page
    .split('\n')
    .find((line) => line.startsWith(`| \`${at}\``))
    ?.split('|')
    .slice(1, -1)
    .map((cell) => cell.trim()) ?? [];

it.each([...new Set(everyCase(['kill']).map(({ at }) => at))])(
  'docs/failpoints.md says how it ended at %s, whatever the failure',
  (at) => {
    const cells = rowOf(at).slice(2);
    expect(cells).toHaveLength(FAILPOINT_ACTIONS.length);
    for (const cell of cells) expect(cell).toMatch(/^[A-Z_]+ [a-z_]+, [01] mails?$/);
  },
);

it('docs/failpoints.md says nothing that the long form would not write', () => {
  const ends = everyCase(FAILPOINT_ACTIONS).map((one) => {
    const cell = rowOf(one.at)[2 + FAILPOINT_ACTIONS.indexOf(one.action)] ?? '';
    const [, state = '', messages = ''] = /^(.*), (\d+) mails?$/.exec(cell) ?? [];
    return { case: one, reached: true, state, messages: Number(messages) };
  });
  expect(page).toBe(failpointPage(ends));
});
