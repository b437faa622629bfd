import type { RunMissingBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from '../../walkthrough/places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from '../../walkthrough/support.ts';

const RECIPIENTS = 'from: event, to: { email: event.customer.email }';
/** Rules that the edit adds: a wait, and a total that its message shows. */
const RULES = `
  unpaid:
    stream: orders
    when: event.status == "placed"
    after: 1s
    unless: event.status == "paid"
    recipients: { ${RECIPIENTS}, unique_id: event.order_id }
  often:
    stream: orders
    totals: { seen: { count: event.status == "placed", within: 1h } }
    when: totals.seen == 2
    recipients: { ${RECIPIENTS}, unique_id: event_id, variables: { seen: string(totals.seen) } }
`;
const order = (id: string, status: string, name: string) => ({
  ...ORDER,
  order_id: id,
  status,
  total: 20,
  customer: { name, email: `${name.toLowerCase()}@example.com` },
});

chapter('Missing messages of rules with state', (newHome) => {
  let carillon: Carillon;
  let [unpaid, often, run]: string[] = [];
  let send: readonly string[] = [];
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    unpaid = await carillon.send(order('B-1', 'placed', 'Ada'));
    await carillon.send(order('B-2', 'placed', 'Bob'));
    await carillon.send(order('B-2', 'paid', 'Bob'));
    await carillon.send(order('B-3', 'placed', 'Cem'));
    often = await carillon.send(order('B-3', 'placed', 'Cem'));
    await carillon.trace(often);
    await carillon.edit(ORDER_PAID, '      unique_id: event_id\n', `      unique_id: event_id\n${RULES}`);
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('are found by a comparison', async () => {
    // A deadline counts when it has passed.
    run = await untilFound('a comparison behind the deadlines', async () => {
      const { out } = await carillon.command(['replay', 'diff', '-f', 'carillon-demo']);
      return out.includes('messages for 2 people') ? /replay rows (run_\w+)/.exec(out)?.[1] : undefined;
    });
    const { out } = await carillon.command(['replay', 'rows', run]);
    expect(out.match(/added +never sent +order-paid\.unpaid +email +\w+@/g)).toHaveLength(2);
    expect(out).toMatch(/added +never sent +order-paid\.often +email +cem@example\.com/);
  });

  it('are sent up to the inbox, and traced to their author', async () => {
    await carillon.apply();
    const { out } = await carillon.command(['replay', 'missing', run ?? '']);
    expect(out).toContain('3 messages to 2 people are missing.');
    send = (/npx carillon (replay send .*)/.exec(out)?.[1] ?? '').split(' ');
    expect((await carillon.command(send)).code).toBe(0);
    const inbox = await untilFound('three mails', async () => {
      const mails = await carillon.inbox();
      return mails.length >= 3 ? mails : undefined;
    });
    expect(inbox.map(({ to }) => to).toSorted()).toEqual(['ada@example.com', 'cem@example.com', 'cem@example.com']);
    const trace = await carillon.command(['trace', unpaid ?? '']);
    expect(trace.out).toMatch(new RegExp(`sent by \\S+ in job_\\w+ of ${run}`));
  });

  it('are not sent again by the live rule, and the log verifies', async () => {
    const again = await carillon.send(order('B-1', 'placed', 'Ada'));
    await untilFound('the end of the live wait', async () =>
      /duplicate|same unique_id/.test((await carillon.command(['trace', again])).out) ? true : undefined,
    );
    expect(await carillon.inbox()).toHaveLength(3);
    expect(await carillon.ask<RunMissingBody>(['replay', 'missing', run ?? ''])).toMatchObject({ count: 0 });
    const { code, out } = await carillon.command(['replay', 'verify']);
    expect(out).toContain('give what the log has');
    expect(code).toBe(0);
  });
});
