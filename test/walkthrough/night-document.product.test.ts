import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, smtpDeployment, type Shop } from '../integration/product/shop.ts';

/*
 * docs/night.md, executed: a night in which five things went wrong is played, and every command on the page is run as it
 * stands. What it prints has to be what the page shows, but for ids, times and numbers of the machine. An id of the page
 * stands for the one that was printed in its place, so that a command may take it from the output before.
 */

const page = readFileSync(join(import.meta.dirname, '../../docs/night.md'), 'utf8');
const blocks = [...page.matchAll(/^## (.+)$|^```sh\n(npx carillon [^\n]+)\n```\n```\n([\s\S]*?)^```$/gm)];

let smtp: ScriptedSmtp;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  smtp = await startScriptedSmtp({
    script: ({ stage, line, raw }) => {
      if (stage === 'rcpt' && line.includes('bob@')) return '550 5.1.1 no such user';
      if (stage === 'dot' && raw.includes('Cy')) return { ending: 'drop' };
      return stage === 'dot' ? '250 2.0.0 queued as 4F2A9' : undefined;
    },
  });
  const deployment = smtpDeployment(smtp.port);
  shop = await openShop({ files: shopFiles({ deployment, uniqueId: 'event.invoice' }) });
  const ordered = (id: string, name: string, more: object = {}) =>
    shop.send(order(id, { name, email: `${name.toLowerCase()}@example.com`, invoice: `I-${id}`, ...more }));
  // The newest stands first in lists: one after the other.
  await shop.delivered(await ordered('1', 'Ada'), 'SENT');
  await shop.delivered(await ordered('2', 'Bob'), 'FAILED');
  await shop.delivered(await ordered('3', 'Cy'), 'IN_DOUBT');
  await shop.judged(await ordered('4', 'Di', { total: 20 }));
  await shop.judged(await ordered('5', 'Eve', { invoice: null }));
  await untilFound('whom a rule dropped is listed', async () => {
    const { stdout } = await shop.run(['deliveries', '--dropped']);
    return stdout.includes('rule_error') || undefined;
  });
});
afterAll(async () => {
  await shop.close();
  await smtp.stop();
});

/** Ids of the page, and what was printed in their places. */
const printed = new Map<string, string>();
const ID = /\b(?:evt|trg|int|dlv|att|req)_[0-9A-Z]{26}\b/g;
const known = (id: string): string => {
  const own = printed.get(id);
  if (own === undefined) throw new Error(`the page takes ${id} from no output before`);
  return own;
};

/** The words of a command line; quotes hold blanks. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/^npx carillon /, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );

/** What differs from one night to the next, as a pattern that both nights fit. */
const CHANGING: readonly (readonly [found: RegExp, pattern: string])[] = [
  [
    /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z|[+-]\d\d:\d\d)?/,
    String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z|[+-]\d\d:\d\d)?`,
  ],
  [/\d\d:\d\d:\d\d\.\d{3}(?:[+-]\d\d:\d\d)?/, String.raw`\d\d:\d\d:\d\d\.\d{3}(?:[+-]\d\d:\d\d)?`],
  [/\b[0-9a-f]{32}\b/, '[0-9a-f]{32}'],
  [/\d+ ms/, String.raw`\d+ ms`],
  [/\/\d+@\d+/, String.raw`/\d+@\d+`],
  [/:\d{4,5}\b/, String.raw`:\d{4,5}`],
  [/ {2,}/, ' +'],
];
const ANY = new RegExp([ID.source, ...CHANGING.map(([found]) => found.source)].join('|'), 'g');

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** A line of the page as a pattern; the ids in it are captured. */
function patternOf(line: string): RegExp {
  let pattern = '';
  let at = 0;
  for (const match of line.matchAll(ANY)) {
    pattern += escaped(line.slice(at, match.index));
    const [text] = match;
    const changing = CHANGING.find(([found]) => new RegExp(`^(?:${found.source})$`).test(text));
    pattern += changing ? changing[1] : `(${text.slice(0, 4)}[0-9A-Z]{26})`;
    at = match.index + text.length;
  }
  return new RegExp(`^${pattern}${escaped(line.slice(at))}$`);
}

/** What a command adds for a data folder elsewhere, and where there are several workspaces. */
const OPTIONS = / --(?:data-dir|workspace) \S+/g;
const linesOf = (text: string): readonly string[] =>
  text
    .replaceAll(OPTIONS, '')
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

/** Compares line by line; a line `…` of the page stands for any number of lines. */
function expectOutput(shown: string, out: string): void {
  const lines = linesOf(out);
  let at = 0;
  let maySkip = false;
  for (const line of linesOf(shown)) {
    if (line === '…') {
      maySkip = true;
      continue;
    }
    const pattern = patternOf(line);
    const found = lines.findIndex((said, index) => index >= at && (maySkip || index === at) && pattern.test(said));
    if (found === -1) throw new Error(`the page shows\n${line}\nand line ${at + 1} is not that:\n${out}`);
    const match = pattern.exec(lines[found] ?? '');
    for (const [index, [id]] of [...line.matchAll(ID)].entries()) {
      const own = match?.[index + 1] ?? '';
      expect(printed.get(id) ?? own, `${id} on the page`).toBe(own);
      printed.set(id, own);
    }
    at = found + 1;
    maySkip = false;
  }
  if (!maySkip) expect(lines.slice(at), out).toEqual([]);
}

describe('every command of the page for the night prints what the page shows', () => {
  it('has a command for each symptom', () => {
    const kinds = blocks.map(([, symptom]) => (symptom === undefined ? 'command' : 'symptom')).join(' ');
    expect(kinds).toMatch(/^(?:symptom(?: command)+ ?){5,}$/);
  });

  let symptom = '';
  for (const [, title, line = '', shown = ''] of blocks) {
    if (title !== undefined) {
      symptom = title;
      continue;
    }
    it(`${symptom}: ${line}`, async () => {
      const { stdout, stderr } = await shop.run(wordsOf(line).map((word) => word.replaceAll(ID, known)));
      expect(stderr).toBe('');
      expectOutput(shown, stdout);
    });
  }
});
