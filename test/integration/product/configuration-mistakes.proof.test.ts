import type { AppliedBody, FaultBody, RuleTestBody } from '@carillon/contracts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, writeFiles, type Files, type Shop } from './shop.ts';

const RULE = 'workspaces/shop/notifications/order-paid.yaml';
const WHEN = 'event.status == "paid" && event.total > 100';

let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** Milliseconds for which the product had a processor so far, in ticks of 10 ms. What others do meanwhile is not in it. */
function worked(): number {
  // Behind the name, which is in brackets, fields 12 and 13 are the time in the program and in the system.
  const stat = readFileSync(`/proc/${shop.product.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const plan = async (files: Files): Promise<{ readonly body: AppliedBody; readonly took: number }> => {
  const before = worked();
  const { status, body } = await shop.api<AppliedBody>('POST', '/v1/configuration/apply', { files, prune: false });
  expect(status, JSON.stringify(body)).toBe(200);
  return { body, took: worked() - before };
};
const withRule = (change: (text: string) => string): Files => {
  const files = shopFiles();
  return { ...files, [RULE]: change(files[RULE] ?? '') };
};
const withWhen = (expression: string): Files =>
  withRule((text) => text.replace(WHEN, `|\n      ${expression.replaceAll('\n', '\n      ')}`));

describe('A folder with mistakes', () => {
  it('is refused with all mistakes by file, line, column and expected value, and nothing is applied', async () => {
    const before = await shop.api<{ config_number: number }>('GET', '/v1/status');
    const files = {
      ...withRule((text) => text.replace(WHEN, 'event.status = "paid"')),
      'workspaces/shop/notifications/second.yaml': `${shopFiles()[RULE]}colour: blue\n`,
      'workspaces/shop/workspace.yaml': 'name: 7\n',
      'workspaces/shop/streams/orders.yaml': 'key: order_id\nsecurity: { api_keys: [backend] }\n',
      'workspaces/shop/templates/order-paid/email.txt': 'Hello {{#if name}}\n',
    };
    const folder = writeFiles(join(shop.folder, 'mistakes'), files);
    for (const command of ['diff', 'apply']) {
      const { code, stdout, stderr } = await shop.run([command, '-f', folder]);
      expect({ command, code, stderr }).toEqual({ command, code: 2, stderr: '' });
      expect(stdout).toMatch(new RegExp(`${RULE}:7:24 `));
      expect(stdout).toMatch(/second\.yaml:13:1 .*colour/);
      expect(stdout).toMatch(/workspace\.yaml:1:7 /);
      expect(stdout).toMatch(/orders\.yaml:1:6 /);
      expect(stdout).toMatch(/email\.txt:\d+:\d+ /);
      expect(stdout.match(/\n {4}expected /g)?.length).toBeGreaterThanOrEqual(3);
      expect(stdout).toMatch(command === 'apply' ? /\d mistakes, nothing was applied/ : /\d mistakes/);
    }
    const { stdout } = await shop.run(['apply', '-f', folder, '--json']);
    const { faults, applied } = JSON.parse(stdout) as AppliedBody;
    expect(applied).toBe(false);
    for (const fault of faults)
      expect(fault).toMatchObject({ line: expect.any(Number) as unknown, column: expect.any(Number) as unknown });
    const after = await shop.api<{ config_number: number }>('GET', '/v1/status');
    expect(after.body.config_number).toBe(before.body.config_number);
  });

  it.each([
    ['a YAML tag', 'name: !!js/function "x"\n', /tag/],
    ['a key given twice', 'name: a\nname: b\n', /twice/],
    ['no YAML at all', 'name: [a\n', /./],
    [
      'an anchor bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replaceAll(/./g, (one) => `${one}: &${one} [${`*${String.fromCharCode(one.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}name: x\n`,
      /there is no setting/,
    ],
    ['an empty value', 'name:\n', /write a value or remove the key/],
  ])('%s is refused at its place', async (_what, text, says) => {
    const { body, took } = await plan({ ...shopFiles(), 'workspaces/shop/workspace.yaml': text });
    const [fault] = body.faults;
    expect(fault).toMatchObject({ file: 'workspaces/shop/workspace.yaml', line: expect.any(Number) as unknown });
    expect(`${fault?.message} ${fault?.expected} ${fault?.fix}`).toMatch(says);
    expect(took).toBeLessThan(5_000);
  });

  it('names a file of a newer version and an unknown path', async () => {
    const { body } = await plan({
      ...shopFiles(),
      'workspaces/shop/integrations/crm.yaml': 'x: 1\n',
      'workspaces/shop/notification/typo.yaml': 'name: x\n',
    });
    expect(body.faults.map((fault) => fault.file).toSorted()).toEqual([
      'workspaces/shop/integrations/crm.yaml',
      'workspaces/shop/notification/typo.yaml',
    ]);
  });
});

const refusedAt = (body: AppliedBody, file: string): FaultBody => {
  const [fault] = body.faults;
  if (!fault) throw new Error('it was not refused');
  expect(body.applied).toBe(false);
  expect(fault.file).toBe(file);
  expect(fault.line).toBeGreaterThanOrEqual(1);
  expect(fault.column).toBeGreaterThanOrEqual(1);
  return fault;
};

describe('A rule that cannot be published is refused quickly, with its place and a fix', () => {
  it.each([
    ['a wrong syntax', 'event.total >', 8],
    ['a function that is not there', 'event.total > 1 && launch(event.total)', 8],
    ['a regular expression that backtracks without end', 'event.name.matches("(a+)+(?=b)$")', 8],
    ['a regular expression with a back reference', 'event.name.matches("(a)\\\\1")', 8],
    ['a regular expression that grows beyond all bounds', 'event.name.matches("(a{1000}){1000}")', 8],
    ['an expression of 100 KB', `event.total > ${'1 + '.repeat(25_000)}1`, null],
    ['an expression nested 2,000 deep', `${'('.repeat(2_000)}true${')'.repeat(2_000)}`, null],
    ['a list nested 2,000 deep', `${'['.repeat(2_000)}1${']'.repeat(2_000)} == []`, null],
    ['two thousand signs', `${'!'.repeat(2_001)}true`, null],
    ['an assignment', 'event.status = "paid"', 8],
    ['a result that is not true or false', '"paid"', null],
  ])('%s', async (_what, expression, line) => {
    const { body, took } = await plan(withWhen(expression));
    const fault = refusedAt(body, RULE);
    if (line !== null) expect(fault.line).toBe(line);
    expect(fault.message.length).toBeGreaterThan(5);
    expect(fault.message.length + fault.fix.length).toBeLessThan(2_000);
    expect(`${fault.expected}${fault.fix}`).not.toBe('');
    // The whole request; the compiler's own bound is measured where it is.
    expect(took).toBeLessThan(2_000);
  });

  it('on the right line of an expression that spans several', async () => {
    const { body } = await plan(withWhen('event.status == "paid" &&\n  event.total >\n  launch(1)'));
    expect(refusedAt(body, RULE).line).toBe(10);
  });
});

describe('A hostile template is refused', () => {
  it.each([
    ['a helper that is not there', '{{ exec "rm" }}'],
    ['a partial', '{{> secrets }}'],
    ['a block that is not closed', '{{#if a}}'],
    ['501 expressions', '{{a}}'.repeat(501)],
    ['65 KB', 'x'.repeat(65 * 1024)],
    ['blocks nested nine deep', `${'{{#if a}}'.repeat(9)}x${'{{/if}}'.repeat(9)}`],
  ])('%s', async (_what, text) => {
    const file = 'workspaces/shop/templates/order-paid/email.html';
    const { body, took } = await plan({ ...shopFiles(), [file]: text });
    refusedAt(body, file);
    expect(took).toBeLessThan(2_000);
  });
});

it('a template that asks for the insides of the program gets nothing', async () => {
  const file = 'workspaces/shop/templates/order-paid/email.txt';
  const text = 'a{{ constructor.constructor }}{{ __proto__.polluted }}{{ name.constructor.name }}b\n';
  await shop.apply({ ...shopFiles(), [file]: text });
  const { code, stdout } = await shop.run(['rule', 'test', 'order-paid.paid', '--event', '-', '--json'], {
    input: JSON.stringify(order('T-1')),
  });
  expect(code).toBe(0);
  const tested = JSON.parse(stdout) as RuleTestBody;
  expect(tested.recipients[0]?.messages[0]).toMatchObject({ ok: true, text: 'ab\n' });
});
