import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOG_FIELDS } from './log-fields.ts';
import { LABEL_VALUES, LABEL_VALUES_OF, METRICS } from './metric-names.ts';
import { SPAN_ATTRIBUTES, SPANS } from './span-names.ts';

const document = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8');

/** The rows of the table under this head, cells joined by ` | `. */
function tableUnder(head: string): readonly string[] {
  const lines = document.split('\n');
  const from = lines.indexOf(`| ${head} |`);
  expect(from, `a table "${head}"`).toBeGreaterThan(-1);
  const rows = lines.slice(from + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((row) => row.slice(2, -2));
}
const rowsOf = (table: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(table).map(([name, meaning]) => `\`${name}\` | ${meaning}`);

describe('docs/telemetry.md', () => {
  it('lists exactly the log fields, spans, attributes and metrics of the program', () => {
    expect(tableUnder('field | meaning')).toEqual(rowsOf(LOG_FIELDS));
    expect(tableUnder('span | covers')).toEqual(rowsOf(SPANS));
    expect(tableUnder('attribute | meaning')).toEqual(rowsOf(SPAN_ATTRIBUTES));
    expect(tableUnder('metric | type | labels | meaning')).toEqual(
      Object.values(METRICS).map(({ name, type, labels, help }) => {
        const listed = labels.map((label) => `\`${label}\``).join(', ') || 'none';
        return `\`${name}\` | ${type} | ${listed} | ${help}`;
      }),
    );
  });

  it('names no metric that does not exist, and the true bounds', () => {
    const names = new Set<string>(Object.values(METRICS).map(({ name }) => name));
    for (const [name] of document.matchAll(/\bcarillon_[a-z_]+/g)) expect(names).toContain(name);
    expect(document).toContain(`at most ${LABEL_VALUES} values`);
    expect(document).toContain(`\`partition\`: ${LABEL_VALUES_OF['partition']}`);
  });
});
