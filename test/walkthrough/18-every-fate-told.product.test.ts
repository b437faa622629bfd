import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { printedCommands } from './printed-commands.ts';
import { startCarillon, type Carillon, type Ended } from './support.ts';

/*
 * 18. Every fate told
 *
 * The morning after: two workspaces in one deployment. The shop told 500 people of a sale, and three of them were not told, each
 * for another reason. The other workspace, acme, has a mail server that refuses its password and a partner that refuses its
 * key. Whoever looks after it knows no command by heart: they start with `doctor`, and run what is printed, word for word.
 */

const PEOPLE = 500;
/** Has no id, so that the rule cannot say what to tell it only once. */
const WITHOUT_ID = 120;
/** What stands for its address is none. */
const WITHOUT_ADDRESS = 250;
/** The mail server does not know it. */
const UNKNOWN = 400;

const address = (at: number): string => (at === WITHOUT_ADDRESS ? 'not an address' : `p${at}@example.com`);
const people = Array.from({ length: PEOPLE }, (_, at) => ({
  ...(at !== WITHOUT_ID && { id: `c-${at}` }),
  mail: address(at),
}));
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

const SALE = [
  'channels: { email: { template: sale } }',
  'rules:',
  '  all:',
  '    stream: orders',
  '    when: event.status == "sale"',
  '    recipients:',
  '      from: event',
  '      for_each: event.people',
  '      to: { email: item.mail }',
  '      unique_id: event.order_id + ":" + item.id',
];
const DUE = [
  'security: { api_keys: [backend] }',
  'channels: { email: { template: due, accounts: [mail] } }',
  'rules:',
  '  due:',
  '    recipients: { from: event, to: { email: event.email }, unique_id: event_id }',
  '    when: "true"',
  '  asked:',
  '    recipients: { from: lookup, integration: crm, user_ids: event.user, unique_id: event_id }',
  '    when: "true"',
  '  listed:',
  '    recipients: { from: lookup, integration: erp, user_ids: event.user, unique_id: event_id }',
  '    when: "true"',
];
const MAIL = ['kind: smtp', 'host: 127.0.0.1', 'tls: none', 'from: Acme <acme@example.com>'];

chapter('18. Every fate told', (newHome) => {
  let carillon: Carillon;
  let good: ScriptedSmtp;
  let bad: ScriptedSmtp;
  let partner: Server;
  let acmeKey = '';
  /** Everything that was printed, and is to be run. */
  const printed: string[] = [];
  /** Commands that were run already. */
  const done = new Set<string>();
  /** Runs a command as a person would, and keeps what it prints. */
  const look = async (args: readonly string[], input?: string): Promise<Ended> => {
    done.add(args.join(' '));
    const ended = await carillon.command(args, input);
    printed.push(ended.out, ended.err);
    return ended;
  };

  beforeAll(async () => {
    good = await startScriptedSmtp();
    good.follow(({ stage, line }) =>
      stage === 'rcpt' && line.includes(`<p${UNKNOWN}@`) ? '550 5.1.1 no such user here' : undefined,
    );
    bad = await startScriptedSmtp();
    bad.follow(({ stage }) => (stage === 'mail' ? '530 5.7.0 authentication required' : undefined));
    // One of the two refuses the key, the other does not know what it is asked.
    partner = createServer(({ url }, response) => response.writeHead(url === '/crm' ? 401 : 404).end());
    await new Promise<void>((settle) => partner.listen(0, '127.0.0.1', settle));
    carillon = await startCarillon(await newHome(), [], { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' });
    printed.push(carillon.screen);
  });
  afterAll(async () => {
    await carillon.leave();
    partner.close();
    await Promise.all([good.stop(), bad.stop()]);
  });

  const write = async (file: string, lines: readonly string[]): Promise<void> => {
    const path = join(carillon.folder, 'carillon-demo', file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${lines.join('\n')}\n`);
  };
  it('has two workspaces in one folder', async () => {
    await carillon.sendThrough(good.port);
    await write('workspaces/shop/notifications/sale.yaml', SALE);
    await write('workspaces/shop/templates/sale/email.yaml', ['subject: Sale']);
    await write('workspaces/shop/templates/sale/email.txt', ['Everything at half price.']);
    await write('workspaces/acme/workspace.yaml', ['name: Acme', 'time_zone: Europe/Berlin', 'locale: de-DE']);
    await write('workspaces/acme/notifications/invoice.yaml', DUE);
    await write('workspaces/acme/templates/due/email.yaml', ['subject: Invoice']);
    await write('workspaces/acme/templates/due/email.txt', ['It is due.']);
    await write('workspaces/acme/accounts/mail.yaml', [...MAIL, `port: ${bad.port}`]);
    for (const name of ['crm', 'erp']) {
      await write(`workspaces/acme/integrations/${name}.yaml`, [
        'kind: lookup',
        `url: http://127.0.0.1:${(partner.address() as AddressInfo).port}/${name}`,
        'authorization: { scheme: Bearer, key: { secret: CRM_KEY } }',
        'in_order: true',
      ]);
    }
    const applied = await carillon.apply();
    printed.push(applied);
    const secret = await look(
      ['secret', 'set', 'CRM_KEY', '--workspace', 'acme'],
      'a key that the partner does not know',
    );
    expect(secret.code).toBe(0);
    // The key that is missing yet is named with the command that makes it.
    const create = printedCommands([applied]).find(([first, second]) => first === 'api-key' && second === 'create');
    const { out } = await look(create ?? ['api-key']);
    acmeKey = /cln_\w+/.exec(out)?.[0] ?? '';
    expect(acmeKey, out).not.toBe('');
  });

  const post = (stream: string, key: string, event: unknown): Promise<string> =>
    untilFound('the gateway has read its configuration', async () => {
      const headers = { authorization: `Bearer ${key}`, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
      const answer = await carillon.post(stream, JSON.stringify(event), headers);
      if (answer.body['code'] === 'configuration_stale') return undefined;
      if (answer.status !== 202) throw new Error(`${answer.status}: ${String(answer.body['detail'])}`);
      return String(answer.body['id']);
    });
  let sale = '';

  it('notifies 500 people of one event, and gives the reason for each of the three not notified', async () => {
    sale = await post('shop/orders', carillon.key, { order_id: 'S-1', status: 'sale', people });
    const story = await untilFound(
      'all of them have ended',
      async () => {
        const { out } = await carillon.command(['trace', sale]);
        return out.startsWith(`${PEOPLE - 3} notified, 3 not`) ? out : undefined;
      },
      180_000,
    );
    printed.push(story);
    expect(story.split('\n')[0]).toBe('497 notified, 3 not: 1 rule error, 1 invalid address, 1 recipient refused');
    for (const [who, why] of [
      [`p${UNKNOWN}@example.com`, /FAILED \(refused_recipient\).*550 5\.1\.1/],
      ['not an address', /SUPPRESSED \(invalid_address\)/],
    ] as const) {
      const { out } = await look(['trace', sale, '--to', who]);
      expect(out).toMatch(why);
    }
    expect((await look(['deliveries', '--dropped'])).out).toMatch(/rule_error/);
    expect((await look(['why', `P${UNKNOWN}@example.com`])).out).toContain(sale);
    expect(good.accepted).toHaveLength(PEOPLE - 3);
  });

  it('finds an event by the trace of its sender, and shows that trace', async () => {
    const { out } = await look(['trace', TRACE, '--to', 'p1@']);
    expect(out).toContain(`trace ${TRACE}`);
    expect(out).toContain('p1@example.com');
  });

  it('lists what waits in acme, for what, since when, and the command to run', async () => {
    await post('acme/invoice.due', acmeKey, { email: 'ada@example.com' });
    const asked = await post('acme/invoice.asked', acmeKey, { user: 'ada' });
    const doctor = await untilFound('both refusals are known', async () => {
      const { out, code } = await carillon.command(['doctor']);
      return code === 1 && /partner crm\b/.test(out) && /account mail\b/.test(out) ? out : undefined;
    });
    printed.push(doctor);
    expect(doctor).toMatch(
      /account mail: .*since \d{4}-.*1 delivery waits.*npx carillon account check mail --workspace acme/,
    );
    expect(doctor).toMatch(/partner crm: suspended since \d{4}-.*npx carillon integration check crm --workspace acme/);
    expect(doctor).toMatch(/rule sale\.all: .*npx carillon deliveries --dropped/);
    const { out: shown } = await look(['integration', 'show', 'crm']);
    printed.push(shown);
    expect(shown).toMatch(
      /^integration +acme\/crm\nkind +lookup\nurl +http.*\nauthorization +Bearer, key in the secret/,
    );
    expect(shown).toMatch(/state +has not answered since \d{4}-.* \(.*\), 1 event waits, next attempt \d{4}-/);
    expect((await look(['integration', 'waiting', 'crm', '--workspace', 'acme'])).out).toContain(asked);
  });

  it('keeps who put a dead letter on the log again in the story of its event', async () => {
    const id = await post('acme/invoice.listed', acmeKey, { user: 'ada' });
    const letter = await untilFound(
      'the question is given up',
      async () => /\bded_\w+/.exec((await carillon.command(['dead-letters'])).out)?.[0],
    );
    expect((await look(['doctor'])).out).toMatch(
      /dead letters: 1 is open, the oldest since .*npx carillon dead-letters/,
    );
    expect((await look(['dead-letters', 'redrive', letter])).code).toBe(0);
    expect((await look(['dead-letters'])).out).toContain('redriven by owner');
    const story = await untilFound('the redrive is in the story', async () => {
      const { out } = await carillon.command(['trace', id]);
      return out.includes('redriven by owner') ? out : undefined;
    });
    printed.push(story);
    expect(story).toMatch(/now a dead letter: partner_refused[\s\S]*redriven by owner/);
  });

  it('prints only commands that run unchanged', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const command of printedCommands(printed)) {
        const line = command.join(' ');
        if (done.has(line)) continue;
        const { code, out, err } = await look(command);
        // 1 is what a check answers that found something; anything that was called wrongly is 2, or asks for a workspace.
        expect(code === 0 || code === 1, `${line} ended with ${code}: ${err}`).toBe(true);
        expect(`${out}${err}`, line).not.toMatch(
          /name the workspace with|unknown (?:command|option)|there is no workspace/,
        );
        if (code === 1) expect(line).toMatch(/^(?:doctor|account check|integration check|dead-letters redrive)/);
      }
    }
    expect([...done].toSorted()).toEqual(
      expect.arrayContaining([
        'account check mail --workspace acme',
        'apply -f carillon-demo',
        'dead-letters',
        'integration check crm --workspace acme',
      ]),
    );
  });
});
