import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { chapter } from './places.ts';
import { blocksOf, runBlock } from './shell-blocks.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 30. What a program asks
 *
 * A program of the operator's asks what came of the orders: lists, numbers, a job, the live stream, and why somebody was not told. What
 * docs/management-api.md shows of that, executed; what it shows of writing is in chapter 26.
 */

const [settings = '', ...api] = blocksOf('management-api.md');
const blockWith = (words: string): string => {
  const found = api.filter((block) => block.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks of docs/management-api.md have ${words}`);
  return found[0] ?? '';
};

type Row = Readonly<Record<string, unknown>>;
type List = { readonly items: readonly Row[]; readonly next: string | null };

describeWith('curl', 'docs/management-api.md, where it asks', () => {
  chapter('30. What a program asks', (newHome) => {
    let carillon: Carillon;
    let smtp: ScriptedSmtp;
    beforeAll(async () => {
      smtp = await startScriptedSmtp();
      carillon = await startCarillon(await newHome());
      await carillon.sendThrough(smtp.port);
      await carillon.edit(ORDER_PAID, 'first: 30s, max: 4h', 'first: 1s, max: 1s');
      await carillon.apply();
    });
    afterAll(async () => {
      await carillon.leave();
      await smtp.stop();
    });
    const answer = async <T = Row>(words: string): Promise<T> =>
      JSON.parse(await runBlock(carillon, settings, blockWith(words))) as T;

    it('finds what was sent to somebody, however the address is written', async () => {
      const id = await carillon.send({ ...ORDER, customer: { name: 'Ada', email: 'ada@example.com' } });
      await carillon.delivery(id, 'SENT');
      const { items, next } = await answer<List>('state=SENT,DELIVERED');
      expect(items).toMatchObject([{ to: 'ada@example.com', state: 'SENT', event_id: id }]);
      expect(next).toBeNull();
    });

    it('gets an error for a misspelled name, with a suggestion', async () => {
      expect(await answer('order-payed')).toMatchObject({
        status: 400,
        code: 'invalid_request',
        pointer: '/notification',
        detail: expect.stringContaining('did you mean order-paid?') as unknown,
      });
    });

    it('sees the numbers of the day', async () => {
      expect(await answer('insights')).toMatchObject({ workspace: 'shop', bucket: '1h', people: 1, messages: 1 });
    });

    it('counts what failed, sends it again as a job, and looks at the job', async () => {
      smtp.follow(({ stage }) => (stage === 'rcpt' ? '554 5.7.1 we take nothing today' : undefined));
      const id = await carillon.send({
        ...ORDER,
        order_id: 'A-2',
        customer: { name: 'Bea', email: 'bea@example.com' },
      });
      await carillon.delivery(id, 'FAILED');
      smtp.follow(() => undefined);
      expect(await answer('deliveries/count')).toMatchObject({ count: 1, people: 1 });
      expect(await answer('"expected": 1')).toMatchObject({ of: 1, action: 'resend_deliveries' });
      await untilFound('the job is done', async () => {
        const { items } = await answer<List>('jobs?limit=1');
        return items[0]?.['state'] === 'done' ? items[0] : undefined;
      });
      expect(await carillon.delivery(id, 'SENT')).toMatchObject({ to: 'bea@example.com' });
    });

    it('follows the list of deliveries while it changes', async () => {
      // Until it tells of an order: what comes before the stream is open is no change, and how long that takes is the machine's.
      const block = blockWith('live?topics').replace('for=30s', 'for=10m').trimEnd();
      const following = runBlock(carillon, settings, `${block} | sed '/cem[0-9]*@example.com/q'`);
      const isOver = following.then(
        () => true,
        () => true,
      );
      const sent: string[] = [];
      do {
        const customer = { name: 'Cem', email: `cem${sent.length}@example.com` };
        const id = await carillon.send({ ...ORDER, order_id: `A-3-${sent.length}`, customer });
        await carillon.delivery(id, 'SENT');
        sent.push(id);
      } while (!(await Promise.race([isOver, Promise.resolve(false)])));
      const told = await following;
      expect(told).toContain('event: open');
      expect(told).toContain('event: deliveries');
      expect(sent.filter((id) => told.includes(id))).not.toEqual([]);
    });

    it('asks why somebody was told, or not', async () => {
      const { gates, sentence } = await answer<{ gates: readonly Row[]; sentence: string }>('/why-not');
      expect(gates).toHaveLength(13);
      expect(sentence).not.toBe('');
    });
  });

  it('every block of the page is run here, or in chapter 26', () => {
    const asked = [
      'state=SENT',
      'order-payed',
      'insights',
      'deliveries/count',
      '"expected": 1',
      'jobs?limit=1',
      'live?',
      '/why-not',
    ];
    const written = [
      'order-sent" ',
      'notifications/order-sent"',
      'order-sent/check',
      'If-Match: "0"',
      'Idempotency-Key',
    ];
    const unrun = api.filter((block) => ![...asked, ...written].some((words) => block.includes(words)));
    expect(unrun).toEqual([]);
  });
});
