import { beginAttempt, settleAttempt, providerResult, type Delivery, type Intent } from '@carillon/domain/deliveries';
import { writeReceiptToken, type Receipt, type Report } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import { account as accountOf, givenIntent, givenReceipt, PLAIN_SETTINGS } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCustodyStage, createReceiptStage, deliveryIdOf, receiptRecord } from '../../src/index.ts';

let topology: Topology;
const alerts: string[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  alerts.length = 0;
});
afterEach(() => topology.close());

const STATE = { partition: 0, configNumber: -1, watermark: 0 };
let offset = 0;
const recordOf = (topic: LogRecord['topic'], value: Uint8Array): LogRecord => ({
  topic,
  partition: 0,
  key: 'k',
  value,
  headers: {},
  offset: (offset += 1),
  time: topology.clock.now(),
});

/** A delivery that was accepted over `main`, or that is still under way. */
async function begun(answered = true, name = 'a', over: Partial<Intent> = {}): Promise<DeliveryId> {
  const { ledger } = topology.data;
  const intent = { ...givenIntent(name, { uniqueId: name, notAfter: topology.clock.now() + 3_600_000 }), ...over };
  const value = topology.ports.codecs.intent.encode(intent);
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  await custody.handle([recordOf('carillon.intents', value)], STATE);
  const id = deliveryIdOf(intent, topology.ids);
  const moment = { now: topology.clock.now(), derive: topology.ids.derive };
  const start = { attemptId: 'att_1' as AttemptId, token: 't1', account: 'main', leaseUntil: moment.now + 30_000 };
  const sending = beginAttempt(await get(id), start, moment);
  if (!sending) throw new Error('not begun');
  await ledger.replace(sending);
  if (!answered) return id;
  const result = providerResult('accepted', '250', 'ok');
  const settling = { token: 't1', result, settings: PLAIN_SETTINGS, chance: 0, anotherAccount: false };
  await ledger.replace(settleAttempt(sending, settling, moment));
  return id;
}
async function get(id: DeliveryId): Promise<Delivery> {
  const found = await topology.data.ledger.get(id);
  if (!found) throw new Error('no such delivery');
  return found;
}
const handle = (receipts: readonly (Receipt | Uint8Array)[]) =>
  createReceiptStage({ ...topology.ports, alert: (account, code) => alerts.push(`${account} ${code}`) }).handle(
    receipts.map((one) =>
      recordOf('carillon.receipts', one instanceof Uint8Array ? one : topology.ports.codecs.receipt.encode(one)),
    ),
    STATE,
  );
const kinds = ({ fates }: Awaited<ReturnType<typeof handle>>) =>
  fates.map((fate) => ('reason' in fate ? fate.reason : fate.kind));

describe('a receipt (a provider’s later report about a message)', () => {
  it('changes the state of its delivery, and publishes the outcome on the log', async () => {
    const id = await begun();
    expect(kinds(await handle([givenReceipt(id, 1, { verdict: 'bounced', account: 'main' })]))).toEqual(['done']);
    expect(await get(id)).toMatchObject({ state: 'BOUNCED', unpublished: [] });
    const outcomes = await topology.records('carillon.outcomes');
    const states = outcomes.map(({ value }) => topology.ports.codecs.outcome.decode(value));
    expect(states.at(-1)).toMatchObject({ ok: true, value: { state: 'BOUNCED', reason: 'bounced' } });
  });

  it('is applied once if it arrives twice, in one batch or in two', async () => {
    const id = await begun();
    const receipt = givenReceipt(id, 1);
    expect(kinds(await handle([receipt, receipt]))).toEqual(['done', 'known']);
    const { version } = await get(id);
    expect(kinds(await handle([receipt]))).toEqual(['known']);
    expect((await get(id)).version).toBe(version);
  });

  it('suppresses an address that it reports as unusable before it changes the delivery, and again if it is repeated', async () => {
    const id = await begun();
    const detail = 'no ADA@example.com here';
    const receipt = givenReceipt(id, 1, { verdict: 'bounced', suppress: 'hard_bounce', code: '5.1.1', detail });
    const { ledger, suppressions } = topology.data;
    const find = () => suppressions.find('shop', 'email', 'ada@example.com');
    const dies = { ...ledger, replace: () => Promise.reject(new Error('the process dies here')) };
    const dying = createReceiptStage({ ...topology.ports, ledger: dies, alert: () => undefined });
    const record = recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(receipt));
    await expect(dying.handle([record], STATE)).rejects.toThrow('dies here');
    // What is written down repeats nobody's address.
    const words = `no <address> here`;
    expect(await find()).toMatchObject({ source: 'hard_bounce', deliveryId: id, detail: `twilio: 5.1.1 ${words}` });
    expect(kinds(await handle([receipt]))).toEqual(['done']);
    expect(await get(id)).toMatchObject({ state: 'BOUNCED', detail: `twilio reported: ${words}` });
  });

  it('is stored in the delivery if it arrives before the provider call has ended', async () => {
    const id = await begun(false);
    await handle([givenReceipt(id, 1, { verdict: 'delivered' })]);
    expect(await get(id)).toMatchObject({ state: 'SENDING', receipts: [{ verdict: 'delivered' }] });
  });

  it('is retried, not dropped, if other writers keep changing its delivery first', async () => {
    const id = await begun();
    const busy = { ...topology.data.ledger, replace: () => Promise.resolve('stale' as const) };
    const stage = createReceiptStage({ ...topology.ports, ledger: busy, alert: () => undefined });
    const record = recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(givenReceipt(id, 1)));
    await expect(stage.handle([record], STATE)).rejects.toThrow('could not be written');
  });

  it('raises an alert for operators before it is stored, so that a crash does not lose the alert', async () => {
    const id = await begun();
    const receipt = givenReceipt(id, 1, { verdict: 'bounced', alert: true, code: '30007', account: 'main' });
    const dies = { ...topology.data.ledger, replace: () => Promise.reject(new Error('the process dies here')) };
    const alert = (account: string, code: string) => void alerts.push(`${account} ${code}`);
    const dying = createReceiptStage({ ...topology.ports, ledger: dies, alert });
    const record = recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(receipt));
    await expect(dying.handle([record], STATE)).rejects.toThrow('dies here');
    expect(alerts).toEqual(['main 30007']);
  });

  it('raises one alert for operators, even if it is repeated', async () => {
    const id = await begun();
    const receipt = givenReceipt(id, 1, { verdict: 'bounced', alert: true, code: '30007', account: 'main' });
    await handle([receipt]);
    await handle([receipt]);
    expect(alerts).toEqual(['main 30007']);
  });

  it('becomes a dead letter with the reason if it has no token, no delivery, a foreign account or broken bytes', async () => {
    const id = await begun();
    const lost = { ...givenReceipt(id, 1), attempt: null };
    const foreign = givenReceipt(id, 1, { account: 'acme/own' });
    const strange = givenReceipt('dlv_00000000000000000000000000' as DeliveryId, 1);
    const result = await handle([lost, foreign, strange, new Uint8Array([1, 2])]);
    expect(kinds(result)).toEqual(['unknown_receipt', 'unknown_receipt', 'unknown_receipt', 'not_framed']);
    expect(result.outputs.map(({ topic }) => topic)).toEqual(Array.from({ length: 4 }, () => 'carillon.dead-letters'));
    expect(await get(id)).toMatchObject({ state: 'SENT', receipts: [] });
  });
});

describe('receipts of one batch', () => {
  /** A ledger whose reads of a delivery wait until it is let go. */
  function held(id: DeliveryId) {
    const { ledger } = topology.data;
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const slow: typeof ledger.get = async (one) => {
      if (one === id) await gate;
      return ledger.get(one);
    };
    const stage = createReceiptStage({ ...topology.ports, ledger: { ...ledger, get: slow }, alert: () => undefined });
    const apply = (receipts: readonly Receipt[]) =>
      stage.handle(
        receipts.map((one) => recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(one))),
        STATE,
      );
    return { apply, letGo: () => letGo() };
  }

  it('for other deliveries are applied while the store is slow for the first', async () => {
    const [slow, ...others] = [await begun(true, 'a'), await begun(true, 'b'), await begun(true, 'c')];
    const { apply, letGo } = held(slow);
    const applied = apply([slow, ...others].map((id) => givenReceipt(id, 1, { id: `rct_${id}` })));
    for (const id of others) {
      await untilFound('it is applied', async () => (await get(id)).state === 'DELIVERED' || undefined);
    }
    expect((await get(slow)).state).toBe('SENT');
    letGo();
    expect(kinds(await applied)).toEqual(['done', 'done', 'done']);
    expect((await get(slow)).state).toBe('DELIVERED');
  });

  it('keep their order if they are for one delivery, however many arrive for others', async () => {
    const ids = await Promise.all(['a', 'b'].map((name) => begun(true, name)));
    const verdicts = ['delivered', 'note', 'bounced', 'complained', 'delivered'] as const;
    const receipts = verdicts.flatMap((verdict, at) =>
      ids.map((id) => givenReceipt(id, 1, { verdict, id: `rct_${at}_${id}` })),
    );
    expect(kinds(await handle(receipts))).toEqual(receipts.map(() => 'done'));
    for (const id of ids) {
      const { state, receipts: kept } = await get(id);
      expect([state, kept.map(({ verdict }) => verdict)]).toEqual(['COMPLAINED', verdicts]);
    }
  });

  it('are retried if one cannot be written, and outcomes of the others are published once', async () => {
    const [broken, whole] = [await begun(true, 'a'), await begun(true, 'b')];
    const { ledger } = topology.data;
    const replace: typeof ledger.replace = (next) =>
      next.id === broken ? Promise.reject(new Error('away')) : ledger.replace(next);
    const stage = createReceiptStage({ ...topology.ports, ledger: { ...ledger, replace }, alert: () => undefined });
    const receipts = [whole, broken].map((id) => givenReceipt(id, 1, { id: `rct_${id}` }));
    const records = receipts.map((one) => recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(one)));
    await expect(stage.handle(records, STATE)).rejects.toThrow('away');
    expect(await get(whole)).toMatchObject({ state: 'DELIVERED', unpublished: [] });
    expect(kinds(await handle(receipts))).toEqual(['known', 'done']);
    const outcomes = (await topology.records('carillon.outcomes')).flatMap(({ value }) => {
      const read = topology.ports.codecs.outcome.decode(value);
      return read.ok && read.value.state === 'DELIVERED' ? [read.value.deliveryId] : [];
    });
    expect(outcomes.toSorted()).toEqual([whole, broken].toSorted());
  });
});

describe('a receipt for a message sent before a backup was restored', () => {
  it('changes nothing, because the message sent again with the same attempt number is another attempt', async () => {
    const id = await begun();
    const { ports, ids } = topology;
    const keyed = (...parts: readonly string[]) => ids.keyed(...parts);
    const before = ids.random('attempt') as AttemptId;
    const token = writeReceiptToken({ deliveryId: id, attempt: 1, id: before }, keyed);
    const report: Report = {
      source: 'ses',
      eventId: 'e1',
      token,
      verdict: 'bounced',
      suppress: 'hard_bounce',
      alert: false,
      code: '5.1.1',
      detail: '',
      at: null,
    };
    const { value } = receiptRecord(report, 'main', topology.clock.now(), ports);
    const result = await handle([value]);
    expect(kinds(result)).toEqual(['unknown_receipt']);
    expect(await get(id)).toMatchObject({ state: 'SENT', receipts: [] });
    expect(await topology.data.suppressions.find('shop', 'email', 'ada@example.com')).toBeNull();
  });
});

describe('a STOP or START reply by SMS', () => {
  /** START comes after STOP unless a test says otherwise. */
  const written = (wish: 'stop' | 'start', account: string, id: string): Receipt => ({
    ...givenReceipt('dlv_none' as DeliveryId, 1, { id, account, verdict: 'note' }),
    attempt: null,
    receivedAt: wish === 'stop' ? 10 : 20,
    inbound: { address: '+4915112345678', wish },
  });
  const twilio = { kind: 'twilio', account_sid: 'AC1', auth_token: { secret: 'T' }, from: '+49151' } as const;
  const sources = async (workspace: string) =>
    (await topology.data.suppressions.sources(workspace, 'sms', '+4915112345678')).map(({ source }) => source);

  it('counts only in the workspace that owns the number: STOP suppresses the sender, START removes only that STOP', async () => {
    await topology.publish(accountOf('sms', twilio));
    const entry = {
      workspace: 'shop',
      channel: 'sms',
      address: '+4915112345678',
      detail: '',
      deliveryId: null,
      at: 1,
    } as const;
    await topology.data.suppressions.add({ ...entry, source: 'hard_bounce' });
    expect(kinds(await handle([written('stop', 'shop/sms', 'rct_1')]))).toEqual(['done']);
    expect(await sources('shop')).toEqual(expect.arrayContaining(['hard_bounce', 'stop']));
    expect(await sources('blog')).toEqual([]);
    await handle([written('start', 'shop/sms', 'rct_2')]);
    expect(await sources('shop')).toEqual(['hard_bounce']);
  });

  it('is not undone by an older reply that a stalled process applies again', async () => {
    await topology.publish(accountOf('sms', twilio));
    const start = written('start', 'shop/sms', 'rct_1');
    const stops = [10, 30].map((receivedAt) => ({ ...written('stop', 'shop/sms', `rct_${receivedAt}`), receivedAt }));
    await handle(stops);
    await handle([start]);
    expect(await sources('shop')).toEqual(['stop']);
    await handle([{ ...start, id: 'rct_2', receivedAt: 31 }]);
    expect(await sources('shop')).toEqual([]);
  });

  it('leaves the number suppressed if STOP and START have the same millisecond, in either order', async () => {
    await topology.publish(accountOf('sms', twilio));
    const stop = { ...written('stop', 'shop/sms', 'rct_1'), receivedAt: 20 };
    const start = written('start', 'shop/sms', 'rct_2');
    for (const order of [
      [stop, start],
      [start, stop],
      [start, stop, start],
    ]) {
      await handle(order);
      expect(await sources('shop')).toEqual(['stop']);
    }
  });

  it('gives the result of the later reply if it is read again after a crash', async () => {
    await topology.publish(accountOf('sms', twilio));
    const both = [written('stop', 'shop/sms', 'rct_1'), written('start', 'shop/sms', 'rct_2')];
    await handle(both);
    await handle(both);
    expect(await sources('shop')).toEqual([]);
  });

  it('changes nothing if a provider delivers it again: an old START undoes no later STOP, nor an old STOP a later START', async () => {
    await topology.publish(accountOf('sms', twilio));
    const message = (wish: 'stop' | 'start', id: string, receivedAt: number) => ({
      ...written(wish, 'shop/sms', id),
      receivedAt,
    });
    await handle([message('stop', 'rct_1', 10), message('start', 'rct_2', 20), message('stop', 'rct_3', 30)]);
    expect(kinds(await handle([message('start', 'rct_2', 40)]))).toEqual(['known']);
    expect(await sources('shop')).toEqual(['stop']);
    expect(kinds(await handle([message('start', 'rct_4', 50), message('stop', 'rct_3', 60)]))).toEqual([
      'done',
      'known',
    ]);
    expect(await sources('shop')).toEqual([]);
  });

  it('is not lost if it is a STOP and a worker crashes between its writes', async () => {
    await topology.publish(accountOf('sms', twilio));
    const stop = written('stop', 'shop/sms', 'rct_1');
    const { suppressions, claims } = topology.data;
    const dying = (ports: object) =>
      createReceiptStage({ ...topology.ports, alert: () => undefined, ...ports }).handle(
        [recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(stop))],
        STATE,
      );
    const die = () => Promise.reject(new Error('the process dies here'));
    await expect(dying({ suppressions: { ...suppressions, add: die } })).rejects.toThrow('dies here');
    expect(await sources('shop')).toEqual([]);
    await expect(dying({ claims: { ...claims, claim: die } })).rejects.toThrow('dies here');
    expect(await sources('shop')).toEqual(['stop']);
    expect(kinds(await handle([stop]))).toEqual(['done']);
    expect(kinds(await handle([stop]))).toEqual(['known']);
    expect(await sources('shop')).toEqual(['stop']);
  });

  it('that became a dead letter is applied when the provider delivers it again if it is STOP, but not if it is START', async () => {
    const [start, stop] = [written('start', 'shop/sms', 'rct_1'), written('stop', 'shop/sms', 'rct_2')];
    expect(kinds(await handle([start, stop]))).toEqual(['unknown_receipt', 'unknown_receipt']);
    await topology.publish(accountOf('sms', twilio));
    expect(kinds(await handle([stop]))).toEqual(['done']);
    expect(kinds(await handle([{ ...start, receivedAt: 30 }]))).toEqual(['known']);
    expect(await sources('shop')).toEqual(['stop']);
  });

  it('is applied in order with a receipt of the same person, whichever is slower', async () => {
    const slot = { ...givenIntent('a').slot, channel: 'sms' } as const;
    const id = await begun(true, 'a', { slot, to: '+4915112345678' });
    await topology.publish(accountOf('sms', twilio));
    const { ledger, suppressions } = topology.data;
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
    };
    const slowRemoval: typeof suppressions = {
      ...suppressions,
      remove: (...what) => turns().then(() => suppressions.remove(...what)),
    };
    const slowReading: typeof ledger = { ...ledger, get: (one) => turns().then(() => ledger.get(one)) };
    const stopped = givenReceipt(id, 1, { id: 'rct_s', verdict: 'bounced', suppress: 'stop', code: '21610' });
    const started = written('start', 'shop/sms', 'rct_t');
    const stage = (ports: Partial<Parameters<typeof createReceiptStage>[0]>) =>
      createReceiptStage({ ...topology.ports, alert: () => undefined, ...ports });
    const recordsOf = (receipts: readonly Receipt[]) =>
      receipts.map((one) => recordOf('carillon.receipts', topology.ports.codecs.receipt.encode(one)));
    await stage({ suppressions: slowRemoval }).handle(recordsOf([started, stopped]), STATE);
    expect(await sources('shop')).toEqual(['stop']);
    const startedLater = { ...started, id: 'rct_u', receivedAt: stopped.receivedAt + 1 };
    await stage({ ledger: slowReading }).handle(recordsOf([stopped, startedLater]), STATE);
    expect(await sources('shop')).toEqual([]);
  });

  it('suppresses nobody if it is to a removed account, and becomes a dead letter for an operator', async () => {
    const handled = await handle([written('stop', 'shop/gone', 'rct_1')]);
    expect(kinds(handled)).toEqual(['unknown_receipt']);
    expect(handled.outputs).toMatchObject([{ topic: 'carillon.dead-letters' }]);
    expect(await sources('shop')).toEqual([]);
  });
});
