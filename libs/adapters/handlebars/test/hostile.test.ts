import type { EmailTemplate } from '@carillon/domain/configuration';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import type { Rendered } from '@carillon/ports';
import { afterAll, describe, expect, test } from 'vitest';

import { createTemplateRenderer, LIMITS } from '../src/index.ts';
import { isToBlame } from '../src/pool.ts';
import { textOfHtml } from '../src/plain-text.ts';
import { email } from './support/email.ts';

const stopped: string[] = [];
const renderer = createTemplateRenderer({ onStopped: (message) => stopped.push(message) });
afterAll(() => renderer.close());
/** Time that this thread has worked: other work on the machine does not count. */
const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let keys = 0;
const text = (source: string, context: JsonObject): Promise<Rendered> => {
  keys += 1;
  return renderer.render(`hostile/${keys}`, email({ subject: 's', text: source }), context, DEFAULT_LOCALITY);
};

describe('the template check refuses a hostile source before parsing', () => {
  test.each([
    ['100 KB', 'x'.repeat(100 * 1024), 'characters'],
    ['501 tags', '{{a}}'.repeat(501), 'more than 500 tags'],
    ['20,000 tags', '{{a}}'.repeat(20_000).slice(0, LIMITS.bodySource), 'more than 500 tags'],
    ['nested parentheses', `{{date ${'(date '.repeat(8000)}`, 'parentheses'],
    ['nested parentheses, closed', `{{date ${'(date '.repeat(60)}x${')'.repeat(60)}}}`, 'parentheses'],
    ['a tag of 60 KB', `{{a ${'b '.repeat(30_000)}}}`, 'more than 1000 characters'],
    ['many words', `{{a ${'b '.repeat(490)}}}`.repeat(60), 'words'],
    ['a long path', `{{a${'.a'.repeat(30_000)}}}`, 'more than 1000 characters'],
    ['nine levels', `${'{{#if a}}'.repeat(9)}x${'{{/if}}'.repeat(9)}`, 'More than 8 blocks'],
    ['240 levels', `${'{{#each a}}'.repeat(240)}x${'{{/each}}'.repeat(240)}`, 'More than 8 blocks'],
    ['a long else chain', `{{#if a}}${'{{else if b}}'.repeat(400)}{{/if}}`, 'More than 100'],
    ['an open comment', `{{!--${'{{!--'.repeat(10_000)}`, 'not closed'],
    ['an open quote', `{{a "${'{{'.repeat(30_000)}`, 'more than 1000 characters'],
    ['only braces', '{'.repeat(60_000), 'Raw blocks'],
    ['blank lines', `${'\n'.repeat(60_000)}{{#if a}}`, 'not closed'],
  ])('%s', async (_name, source, message) => {
    const before = threadMs();
    const [fault] = renderer.check(email({ subject: 's', html: source }));
    expect(threadMs() - before).toBeLessThan(400);
    expect(fault?.message).toContain(message);
    // Rendering without a check gives the same result, without extra work.
    expect(await text(source, {})).toMatchObject({ ok: false, part: 'text' });
  });

  test('if it is a syntax tree in place of text', async () => {
    const tree = { type: 'Program', body: [{ type: 'NumberLiteral', value: 'process.exit()' }] };
    const template = email({ subject: tree, text: 'x' } as unknown as EmailTemplate);
    expect(renderer.check(template)).toMatchObject([{ part: 'subject', message: 'A template is text' }]);
    expect(await renderer.render('tree', template, {}, DEFAULT_LOCALITY)).toMatchObject({ ok: false, part: 'subject' });
  });
});

test.each([
  '{{constructor}}',
  '{{__proto__}}',
  '{{toString}}',
  '{{o.constructor.constructor}}',
  '{{o.__proto__.toString}}',
  '{{l.constructor}}',
  '{{l.map}}',
  '{{s.constructor}}',
  '{{s.trim}}',
  '{{n.toFixed}}',
  '{{#with l}}{{constructor}}{{__proto__}}{{/with}}',
  '{{#each l}}{{constructor}}{{/each}}',
  '{{#with o as |p|}}{{p.valueOf}}{{p.hasOwnProperty}}{{/with}}',
  '{{@root.constructor}}',
])('a template reaches no object prototype through %s', async (source) => {
  expect(await text(source, { o: {}, l: [1], s: 'x', n: 1 })).toMatchObject({ ok: true, parts: { text: '' } });
});

test('a template treats fields with names of prototype members as plain fields', async () => {
  const context = JSON.parse('{"__proto__":{"a":"mine"},"constructor":"c","toString":"t"}') as JsonObject;
  expect(await text('{{__proto__.a}} {{a}}|{{constructor}} {{toString}}', context)).toMatchObject({
    parts: { text: 'mine |c t' },
  });
});

describe('the renderer stops a hostile template', () => {
  const list = (length: number): number[] => Array.from({ length }, (_, i) => i);

  test('after 10,000 iterations of one loop', async () => {
    expect(await text('{{#each a}}{{/each}}', { a: list(10_000) })).toMatchObject({ ok: true });
    expect(await text('{{#each a}}{{/each}}', { a: list(10_001) })).toMatchObject({ ok: false, part: 'text' });
  });

  test('after 10,000 iterations of all loops together', async () => {
    const nested = '{{#each @root.a}}'.repeat(8) + 'x' + '{{/each}}'.repeat(8);
    expect(await text(nested, { a: list(10) })).toMatchObject({
      ok: false,
      message: expect.stringContaining('rounds') as string,
    });
  });

  test('after 256 KB of output', async () => {
    const tooLong = { ok: false, message: 'The result is longer than 256 KB' };
    expect(await text('{{#each a}}{{../b}}{{/each}}', { a: list(9000), b: 'x'.repeat(1000) })).toMatchObject(tooLong);
    expect(await text('{{b}}'.repeat(400), { b: { c: 'x'.repeat(100_000) } })).toMatchObject(tooLong);
    expect(await text(`{{#each a}}${'y'.repeat(1000)}{{/each}}`, { a: list(9000) })).toMatchObject(tooLong);
  });

  test('after its time limit, between iterations', async () => {
    const slow = `{{#each a}}${'{{#if (eq (number this minimum=this) 1)}}{{/if}}'.repeat(240)}{{/each}}`;
    expect(await text(slow, { a: list(9000) })).toMatchObject({
      ok: false,
      message: 'Stopped: rendering took more than 250 ms',
    });
  });

  test('by killing its worker, without losing queued renderings', async () => {
    const before = stopped.length;
    const slow = `{{#each a}}${'{{#if (lt @root.b @root.c)}}{{/if}}'.repeat(240)}{{/each}}`;
    const b = 'x'.repeat(6_000_000);
    const good = (i: number): Promise<Rendered> =>
      renderer.render('good', email({ subject: '{{i}}', text: 't' }), { i }, DEFAULT_LOCALITY);
    const work = [good(0), text(slow, { a: list(15), b: `${b}1`, c: `${b}2` }), ...list(20).map((i) => good(i + 1))];
    const [first, hostile, ...others] = await Promise.all(work);
    expect(first).toMatchObject({ parts: { subject: '0' } });
    expect(hostile).toEqual({ ok: false, part: 'text', message: 'Stopped: rendering took more than 250 ms' });
    expect(others.map((rendered) => rendered.ok && rendered.parts['subject'])).toEqual(
      list(20).map((i) => String(i + 1)),
    );
    expect(stopped.length - before).toBe(1);
  });

  test('for data that is too deep, too large, or not data', async () => {
    const deep = JSON.parse(`{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`) as JsonObject;
    expect(await text('{{a}}', deep)).toMatchObject({ ok: false, part: 'context' });
    expect(await text('{{a}}', { a: list(250_000) })).toMatchObject({ ok: false, part: 'context' });
    const notData = { a: () => 1 } as unknown as JsonObject;
    expect(await text('{{a}}', notData)).toMatchObject({ ok: false, part: 'context' });
    expect(await text('fine', { a: 1 })).toMatchObject({ ok: true });
  });
});

test.each([
  ['worked for as long as it may', 260, 250, true],
  ['had not the processor for so long', 60_000, 249, false],
  ['does not say what it had', 10_200, undefined, false],
  ['does not say, and cannot be waited for any longer', 10_250, undefined, true],
])('a worker that renders over its time limit and %s', (_what, passed, worked, blamed) => {
  expect(isToBlame(250, passed, worked)).toBe(blamed);
});

test('the most expensive allowed template compiles within the limit', async () => {
  const dearest = list500((i) => `<td>{{date a${i}.b.c zone=z}}</td>`);
  expect(await renderer.render('dear', email({ subject: 's', html: dearest }), {}, DEFAULT_LOCALITY)).toMatchObject({
    ok: true,
  });
});
const list500 = (make: (i: number) => string): string => Array.from({ length: 500 }, (_, i) => make(i)).join('');

test.each([
  ['<a '.repeat(80_000)],
  ['<!--'.repeat(60_000)],
  ['<style>' + '</style'.repeat(35_000)],
  ['<a href="x'.repeat(25_000)],
  ['<a href="https://a.example">b'.repeat(9000)],
  ['&amp'.repeat(60_000)],
  ['<'.repeat(250_000)],
])('the conversion of hostile HTML to text takes linear time', (html) => {
  const before = threadMs();
  textOfHtml(html);
  expect(threadMs() - before).toBeLessThan(2000);
});
