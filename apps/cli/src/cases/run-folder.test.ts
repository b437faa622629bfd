import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEMO_FOLDER } from '../shipped-files.ts';
import { isFailed, resultsText } from './case-text.ts';
import { junitReport } from './junit.ts';
import { runFolder } from './run-folder.ts';

const FOLDER = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/streams/rows.yaml': "from: { integration: db, tables: { 'public.orders': event.id } }\n",
  'workspaces/shop/integrations/db.yaml': 'kind: postgres\nurl: { secret: SHOP_DB }\n',
  'workspaces/shop/integrations/crm.yaml':
    'kind: lookup\nurl: https://crm.example.com/people\nauthorization: { scheme: Bearer, key: { secret: CRM } }\nmatch: variables.user_id\n',
  'workspaces/shop/templates/mail/email.yaml': 'subject: "Order {{order_id}} of {{name}}"\nfrom: a@example.com\n',
  'workspaces/shop/templates/mail/email.txt': 'Hello\n',
  'workspaces/shop/notifications/n.yaml': `channels:
  email: { template: mail }
rules:
  paid:
    stream: orders
    when: event.status == "paid"
    recipients: { from: event, to: { email: event.email }, unique_id: event.order_id }
  row:
    stream: rows
    when: changedTo(event.status, "paid")
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
  asks:
    stream: orders
    when: event.status == "lost"
    recipients: { from: lookup, integration: crm, user_ids: event.owner, unique_id: event.order_id }
`,
};
const CASES = 'workspaces/shop/tests/c.yaml';
const run = (cases: string) => runFolder(new Map(Object.entries({ ...FOLDER, [CASES]: cases })));
const lines = (...steps: readonly string[]) => steps.map((step) => `    - ${step}\n`).join('');
const paid = (id = 'A-1', status = 'paid'): string => `{ order_id: ${id}, status: ${status}, email: ada@example.com }`;

/** Runs one case, and returns what is printed of it without the time. */
async function printed(rule: string, steps: string, more = ''): Promise<string> {
  const { faults, results } = await run(`rule: n.${rule}\n${more}cases:\n  one:\n${steps}`);
  expect(faults).toEqual([]);
  return resultsText(results, '0 s');
}

describe('the cases of a folder', () => {
  it('pass with the messages that they list', async () => {
    const text = await printed(
      'paid',
      lines(
        `{ at: 10:00, event: ${paid()} }`,
        '{ at: 10:00, message: { email: ada@example.com, subject: Order A-1 of } }',
        `{ at: +1h, event: ${paid('A-1')} }`,
        `{ at: "2026-01-05T12:00:00Z", event: ${paid('A-2')} }`,
        '{ message: { unique_id: A-2 } }',
      ),
    );
    expect(text).toBe(`ok    ${CASES}  n.paid  1 case\n\n1 case passed in 0 s`);
  });

  it('fail with expected and actual side by side, and the decision behind the difference', async () => {
    const text = await printed(
      'paid',
      lines(`{ at: 10:00, event: ${paid()} }`, '{ at: 10:00, message: { email: ada@example.com, subject: Other } }'),
    );
    expect(text).toBe(`FAIL  ${CASES}  n.paid  1 of 1 case failed

one
${CASES}:3:3

a message is not as expected
             expected                  actual
  at         2026-01-05T10:00:00.000Z  2026-01-05T10:00:00.000Z
  email      ada@example.com           ada@example.com
  ≠ subject  Other                     Order A-1 of

  2026-01-05 10:00:00 UTC  event 1 of A-1
    when     event.status == "paid"  →  true
               event.status  →  "paid"
    fired


1 of 1 case failed in 0 s`);
  });

  it('fail by a message that is missing or not listed', async () => {
    const missing = await printed(
      'paid',
      lines(`{ at: 10:00, event: ${paid('A-1', 'open')} }`, '{ message: { email: ada@example.com } }'),
    );
    expect(missing).toContain('a message is missing');
    expect(missing).toContain('event.status == "paid"  →  false');
    const unlisted = await printed('paid', lines(`{ at: 10:00, event: ${paid()} }`));
    expect(unlisted).toContain('a message that the case does not list');
    expect(unlisted).toContain('email    –         ada@example.com');
  });

  it('fail if the template of a message fails, whether the case lists the message or not', async () => {
    const broken = { 'workspaces/shop/templates/mail/email.yaml': 'subject: Hi\nfrom: "{{sender}}"\n' };
    const fail = async (...steps: readonly string[]): Promise<string> => {
      const cases = `rule: n.paid\ncases:\n  one:\n${lines(`{ at: 10:00, event: ${paid()} }`, ...steps)}`;
      const { faults, results } = await runFolder(new Map(Object.entries({ ...FOLDER, ...broken, [CASES]: cases })));
      expect(faults).toEqual([]);
      expect(results.map(isFailed)).toEqual([true]);
      return resultsText(results, '0 s');
    };
    for (const text of [await fail(), await fail('{ message: { email: ada@example.com } }')]) {
      expect(text).toContain('a message could not be rendered');
      expect(text).toMatch(/≠ error +– +from: expected `Name <address>`/);
    }
  });

  it('take changes with op and previous', async () => {
    const row = (status: string): string => `{ id: 1, status: ${status}, email: ada@example.com }`;
    const text = await printed(
      'row',
      lines(
        `{ at: 10:00, op: update, event: ${row('paid')}, previous: ${row('paid')} }`,
        `{ at: 10:01, op: update, event: ${row('paid')}, previous: ${row('open')} }`,
        '{ at: 10:01, message: { email: ada@example.com } }',
      ),
    );
    expect(text).toContain('1 case passed');
  });

  it('take the answers of partners from the file', async () => {
    const lost = '{ order_id: A-1, status: lost, owner: [u1, u2, u3] }';
    const bo = 'lookups: { crm: { u2: { to: { email: bo@example.com }, variables: { name: Bo } }, u3: null } }\n';
    const steps = lines(
      `{ at: 10:00, event: ${lost} }`,
      '{ message: { email: bo@example.com, subject: "Order A-1 of Bo" } }',
    );
    expect(await printed('asks', steps, bo)).toContain('1 case passed');
    expect(await printed('asks', steps)).toContain('the rule asks crm. Write its answers: lookups: { crm: { "u1"');
  });

  it('fail at a line that cannot be read, with its place', async () => {
    const failing = (step: string) => printed('paid', lines(`{ at: 10:00, event: ${paid()} }`, step));
    expect(await failing('{ at: soon, message: { email: a } }')).toContain(`${CASES}:5:7  at: write 10:00`);
    expect(await failing('{ at: 09:00, message: { email: a } }')).toMatch(
      /:5:7 {2}.*09:00:00\.000Z is before the line/,
    );
    expect(await failing('{ event: { status: paid } }')).toContain(':5:7  event: this stream needs its key at');
    expect(await failing(`{ op: update, event: ${paid()} }`)).toContain(':5:7  op: only a stream of changes has it');
    expect(await printed('paid', lines('{ until: 12:00 }'))).toContain(':4:7  a case needs an event');
  });

  it('do not run if the folder or a file of cases has a mistake', async () => {
    const unknown = await run('rule: n.pad\ncases:\n  a:\n    - { event: {} }\n');
    expect(unknown.faults).toMatchObject([{ file: CASES, line: 1, column: 7, fix: 'write n.paid' }]);
    const files = {
      ...FOLDER,
      'workspaces/shop/streams/orders.yaml': 'kye: event.order_id\n',
      [CASES]: 'rule: n.paid\n',
    };
    const { faults } = await runFolder(new Map(Object.entries(files)));
    expect(faults.map(({ file }) => file)).toEqual(
      expect.arrayContaining([CASES, 'workspaces/shop/streams/orders.yaml']),
    );
  });

  it('are reported as JUnit XML', async () => {
    const { results } = await run(
      `rule: n.paid\ncases:\n  "good <one>":\n${lines(`{ event: ${paid('A-1', 'open')} }`)}  bad:\n${lines(`{ event: ${paid()} }`)}`,
    );
    const report = junitReport(results);
    expect(report).toContain('<testsuites tests="2" failures="1">');
    expect(report).toContain('name="good &lt;one&gt;"');
    expect(report).toMatch(/<failure message="[^"]*bad">[^<]*a message that the case does not list[^<]*<\/failure>/);
  });
});

describe('the demo', () => {
  it('has cases, and they pass', async () => {
    const paths = readdirSync(DEMO_FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path));
    const files = new Map(paths.map((path) => [path, readFileSync(join(DEMO_FOLDER, path), 'utf8')]));
    const { faults, results } = await runFolder(files);
    expect(faults).toEqual([]);
    expect(results.length).toBeGreaterThanOrEqual(3);
    expect(results.filter(isFailed)).toEqual([]);
  });
});
