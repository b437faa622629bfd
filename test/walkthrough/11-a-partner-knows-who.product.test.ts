import { writeFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { RunBody, RunMissingBody } from '@carillon/contracts';
import { createPartner, readUsers } from '@carillon/example-partner';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 11. A partner knows who
 *
 * Often an event only says whom something is about: user ids. Then a rule asks a partner, an endpoint of yours that
 * answers with addresses and with values for the template. docs/examples/partner is such an endpoint, in 100 lines; this
 * chapter runs it and lets Carillon ask it over HTTP.
 */

const KEY = 'the-key-that-the-partner-gave-us';
const USERS = resolve(import.meta.dirname, '../../docs/examples/partner/users.json');

chapter('11. A partner knows who', (newHome, place) => {
  let partner: ReturnType<typeof createPartner>;
  let carillon: Carillon;
  let url: string;
  beforeAll(async () => {
    partner = createPartner({ key: KEY, users: readUsers(USERS) });
    url = `${await partner.listen({ host: '127.0.0.1', port: 0 })}/recipients`;
    // The partner stands on this machine, and a private address is called only where the deployment allows it.
    carillon = await startCarillon(await newHome(), [], { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' });
  });
  afterAll(async () => {
    await carillon.leave();
    await partner.close();
  });

  const write = async (file: string, lines: readonly string[]): Promise<void> => {
    const path = join(carillon.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${lines.join('\n')}\n`);
  };

  it('is a file of the configuration, and its key is a secret', async () => {
    await write('carillon-demo/workspaces/shop/integrations/crm.yaml', [
      'kind: lookup',
      `url: ${url}`,
      'authorization: { scheme: Bearer, key: { secret: CRM_KEY } }',
      'match: variables.user_id',
    ]);
    const { out } = await carillon.command(['secret', 'set', 'CRM_KEY'], KEY);
    expect(out).toContain('CRM_KEY is stored, sealed');
    await carillon.apply();
  });

  it('is checked before use: its authentication scheme and its answers', async () => {
    const { out, code } = await carillon.command(['integration', 'check', 'crm', '--user-id', 'ada', 'alan', 'nobody']);
    expect(out).toContain('the partner takes both Bearer and Basic; Bearer is used');
    expect(out).toContain('user id ada: email yes, phone yes, token no; variables: user_id, name');
    expect(out).toContain('user id alan: email no, phone no, token yes');
    expect(out).toMatch(/FAIL +missing: user id nobody, no item for this id/);
    expect(out).not.toContain('ada@example.com');
    expect(code).toBe(1);
  });

  it('answers for a rule that names ids instead of addresses', async () => {
    await carillon.edit(ORDER_PAID, 'from: event', 'from: lookup');
    await carillon.edit(
      ORDER_PAID,
      'to: { email: event.customer.email }',
      ['integration: crm', '      user_ids: event.watchers', '      where: variables.name != "Grace"'].join('\n'),
    );
    await carillon.apply();

    // First without a partner: what it would ask, and with a pasted answer who would be told.
    const order = { ...ORDER, watchers: ['ada', 'grace', 'alan', 'nobody'] };
    await write('event.json', [JSON.stringify(order)]);
    await write('answer.json', [
      '[{"to": {"email": "ada@example.com"}, "variables": {"user_id": "ada", "name": "Ada"}}]',
    ]);
    const test = ['rule', 'test', 'order-paid.paid', '--event', 'event.json'];
    expect((await carillon.command(test)).out).toContain('asks       crm about 4: ada, grace, alan, nobody');
    const tried = await carillon.command([...test, '--answer', 'answer.json']);
    expect(tried.out).toContain('recipient  email: ada@example.com');

    // Then for real.
    const id = await carillon.send(order);
    const sent = await carillon.delivery(id, 'SENT');
    expect(sent.to).toBe('ada@example.com');
    expect((await carillon.inbox()).map(({ to }) => to)).toEqual(['ada@example.com']);

    // What became of the answer is told a moment after whoever was told of it.
    const trace = await untilFound('the story of the answer', async () => {
      const story = await carillon.trace(id);
      return story.includes('answer recorded') && story.includes('person 2') ? story : undefined;
    });
    expect(trace).toContain('fired: asks crm about 4 user ids');
    expect(trace).toMatch(/call to the partner: answered 200, 3 items/);
    expect(trace).toMatch(/answer recorded: 3 people, 1 missing/);
    expect(trace).toContain('missing: user id nobody: no item for this id');
    expect(trace).toContain('person 2 dropped: where_false');

    // The first line counts the people, and each person has a block.
    expect(trace.split('\n')[0]).toBe('1 notified, 2 not: 1 where false, 1 no address');
    expect(trace).toMatch(/order-paid\.paid 1 {2}ada@example\.com {2}SENT \(accepted\).*dlv_/);
    expect(trace).toMatch(/order-paid\.paid 2 {2}\(dropped\) {2}not told \(where_false\)/);
    const only = await carillon.command(['trace', id, '--to', 'ADA@']);
    expect(only.out).toContain('1 notified');
    expect(only.out).not.toContain('where_false)');
    const why = await carillon.command(['why', 'ada@example.com', 'order-paid']);
    expect(why.out).toMatch(new RegExp(`order-paid\\.paid {2}SENT \\(accepted\\).*${id} {2}dlv_`));
    expect((await carillon.command(['why', 'nobody@example.com'])).out).toContain('speaks of nobody@example.com');
  });

  it('notifies nobody without an address for the channel, and says so', async () => {
    const id = await carillon.send({ ...ORDER, watchers: ['alan'] });
    expect((await carillon.delivery(id, 'SUPPRESSED')).reason).toBe('no_address');
  });

  it('treats an empty list of user ids as no mistake', async () => {
    expect(await carillon.trace(await carillon.send({ ...ORDER, watchers: [] }))).toContain(
      'the list of user ids is empty',
    );
  });

  // Comparing an edit with past events is refused on a cluster.
  it.skipIf(place === 'cluster')(
    'is asked about past events that an edit adds, and its answers are sent once',
    async () => {
      const late = await carillon.send({ ...ORDER, order_id: 'A-1003', total: 90, watchers: ['ada'] });
      await carillon.trace(late);
      await carillon.edit(ORDER_PAID, 'event.total > 100', 'event.total > 80');
      const { id: run } = await carillon.ask<RunBody>(['replay', 'diff', '-f', 'carillon-demo']);
      await carillon.apply();
      const look = ['replay', 'missing', run, '--difference', 'needs_lookup'];
      const { out } = await carillon.command(look);
      expect(out).toContain('A partner is asked about 1 event with 1 user id first.');
      const send = (/npx carillon (replay send .*)/.exec(out)?.[1] ?? '').split(' ');
      expect((await carillon.command(send)).code).toBe(0);
      expect((await carillon.delivery(late, 'SENT')).to).toBe('ada@example.com');
      expect((await carillon.inbox()).filter(({ to }) => to === 'ada@example.com')).toHaveLength(2);
      expect(await carillon.ask<RunMissingBody>(look)).toMatchObject({ count: 0 });
    },
  );
});
