import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Composed } from './composed.ts';

const EVENTS = 'http://127.0.0.1:7400/events/shop/orders';
const SETTLED_WITHIN = 600_000;

type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
export type Delivery = { readonly id: string; readonly to: string; readonly state: string };
export type Message = { readonly to: string };

/** The demo's shop on `deploy/compose`, and a customer of it who counts. */
export type ComposedShop = {
  /** Applies the demo and makes its key. */
  readonly open: () => Promise<void>;
  /** Posts an order of somebody of that name until it is accepted, each time as the same request. */
  readonly tell: (name: string) => Promise<void>;
  /** Tells one after the other while that goes on. */
  readonly tellDuring: (name: string, work: () => Promise<void>) => Promise<void>;
  /** Addresses of whose orders were accepted. */
  readonly told: readonly string[];
  readonly all: <T>(list: string) => Promise<readonly T[]>;
  /** Deliveries once each of `told` has one that nothing is left to do for. */
  readonly settled: () => Promise<readonly Delivery[]>;
  /** Lines of `doctor` that are not ok. */
  readonly troubles: () => Promise<readonly string[]>;
  /** Expects one delivery for each of `told`, no message twice, and a message of each that counts as sent. */
  readonly expectEachOnce: () => Promise<void>;
};

export function composedShop(place: Composed): ComposedShop {
  const told: string[] = [];
  let key = '';

  async function post(name: string): Promise<boolean> {
    const order = { order_id: name, status: 'paid', total: 120, customer: { name, email: `${name}@example.com` } };
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': name };
    const request = { method: 'POST', headers, body: JSON.stringify(order), signal: AbortSignal.timeout(10_000) };
    try {
      const answer = await fetch(EVENTS, request);
      await answer.arrayBuffer();
      return answer.status === 202;
    } catch {
      return false;
    }
  }
  async function tell(name: string): Promise<void> {
    while (!(await post(name))) await pause(500);
    told.push(`${name}@example.com`);
  }
  async function all<T>(list: string): Promise<readonly T[]> {
    const items: T[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Page<T> = await place.ask<Page<T>>(`/v1/workspaces/shop/${list}?limit=200${after}`);
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== null);
    return items;
  }
  async function settled(): Promise<readonly Delivery[]> {
    let deliveries: readonly Delivery[] = [];
    const open = async (): Promise<readonly string[]> => {
      deliveries = await all<Delivery>('deliveries');
      const ended = deliveries.filter(({ state }) => ['SENT', 'IN_DOUBT'].includes(state));
      const addresses = new Set(ended.map(({ to }) => to));
      return told.filter((address) => !addresses.has(address));
    };
    await expect.poll(open, { timeout: SETTLED_WITHIN, interval: 2_000 }).toEqual([]);
    return deliveries;
  }

  return {
    told,
    tell,
    all,
    settled,
    async troubles() {
      // It ends with 1 where a line is not ok, and has said so by then.
      const said = await place.carillon('doctor').catch((error: { readonly stdout?: string }) => error.stdout ?? '');
      const lines = said.split('\n').filter((line) => line !== '');
      return lines.length === 0 ? ['it says nothing'] : lines.filter((line) => !line.startsWith('ok '));
    },
    async open() {
      await place.carillon('apply', '-f', '/app/demo');
      key = /cln_\S+/.exec(await place.carillon('api-key', 'create', 'backend', '--workspace', 'shop'))?.[0] ?? '';
    },
    async tellDuring(name, work) {
      let going = true;
      const telling = (async () => {
        for (let n = 0; going; n += 1) {
          await tell(`${name}-${n}`);
          await pause(100);
        }
      })();
      try {
        await work();
      } finally {
        going = false;
        await telling;
      }
    },
    async expectEachOnce() {
      const deliveries = await settled();
      const messages = (await all<Message>('inbox')).map(({ to }) => to);
      const inDoubt = deliveries.filter(({ state }) => state === 'IN_DOUBT').length;
      console.log(`${told.length} told, ${inDoubt} in doubt`);
      expect(deliveries.map(({ to }) => to).toSorted(), 'one delivery each').toEqual(told.toSorted());
      expect(messages.toSorted(), 'no message twice').toEqual([...new Set(messages)].toSorted());
      const sent = deliveries.filter(({ state }) => state === 'SENT').map(({ to }) => to);
      const missing = sent.filter((address) => !messages.includes(address));
      expect(missing, 'each that counts as sent is there').toEqual([]);
    },
  };
}
