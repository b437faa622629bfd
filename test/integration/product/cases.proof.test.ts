import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const MAIN = resolve(import.meta.dirname, '../../../apps/cli/src/main.ts');
const CASES = 200;
const FILES = 4;
const LONGEST_MS = 5000;

const FOLDER: Readonly<Record<string, string>> = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/mail/email.yaml': 'subject: Order {{order_id}} is not paid\nfrom: a@example.com\n',
  'workspaces/shop/templates/mail/email.txt': 'Hello {{customer.name}}\n',
  'workspaces/shop/notifications/n.yaml': `channels: { email: { template: mail } }
rules:
  not-paid:
    stream: orders
    when: event.type == "placed"
    after: 1h
    unless: event.type == "paid"
    recipients: { from: event, to: { email: event.customer.email }, unique_id: event.order_id }
`,
};

const caseText = (at: number): string => `  case ${at}:
    - { at: 10:00, event: { type: placed, order_id: A-${at}, customer: { name: Ada, email: ada-${at}@example.com } } }
    - { at: 10:20, event: { type: viewed, order_id: A-${at} } }
    - { at: 11:00, message: { email: ada-${at}@example.com, subject: Order A-${at} is not paid } }
`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-cases-'));
  const files = { ...FOLDER };
  for (let file = 0; file < FILES; file += 1) {
    const cases = Array.from({ length: CASES / FILES }, (_, at) => caseText(file * 1000 + at));
    files[`workspaces/shop/tests/not-paid-${file}.yaml`] = `rule: n.not-paid\ncases:\n${cases.join('')}`;
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('carillon test runs 200 cases in less than 5 s, the start of the process included', async () => {
  const start = performance.now();
  const stdout = await new Promise<string>((done, fail) => {
    execFile(process.execPath, [MAIN, 'test', folder], (error, printed) => (error ? fail(error) : done(printed)));
  });
  const took = performance.now() - start;
  expect(stdout).toContain(`${CASES} cases passed`);
  expect(took).toBeLessThan(LONGEST_MS);
});
