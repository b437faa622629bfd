/**
 * Appends and evaluates JSON events of the corpus, in memory, for as long as it is asked to. A copy of this file runs in a checkout
 * of an earlier commit, so it uses only what both have.
 */
import { systemClock } from '@carillon/adapter-system';
import { streamTable } from '@carillon/domain/configuration';
import type { LogId } from '@carillon/kernel';
import type { LogRecord, PartitionState } from '@carillon/ports';
import { createEvaluateStage, prepareAppend } from '@carillon/stages';
import {
  configurationOf,
  givenIds,
  givenRuleBook,
  neverYield,
  noRuleStates,
  notification,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
} from '@carillon/testing/given';
import { events } from '../corpus.ts';
import { RULES } from '../rule-set.ts';

const EVENTS = 20_000;
const BATCH = 500;
const RULES_HERE = RULES.slice(0, 10);

const configuration = configurationOf([
  template('order-news', PAID_MAIL),
  stream('orders', ORDERS),
  notification('order-news', {
    channels: { email: { template: 'order-news' } },
    rules: Object.fromEntries(
      RULES_HERE.map(({ name, when }) => [
        name,
        {
          stream: 'orders',
          when,
          recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
        },
      ]),
    ),
  }),
]);
const orders = streamTable(configuration).streams.get('shop/orders');
if (!orders) throw new Error('the stream is not configured');

const corpus = events(EVENTS);
const bodies = corpus.map((event) => Buffer.from(JSON.stringify(event)));
const expected = corpus.reduce((sum, event) => sum + RULES_HERE.filter(({ fires }) => fires(event)).length, 0);
const log = { logId: 'log_bench' as LogId, partitions: () => 1, bounds: async () => ({ start: 0, end: EVENTS }) };
const stage = createEvaluateStage({
  log,
  configuration: { at: async () => configuration },
  codecs: { deadLetter: { encode: () => new Uint8Array() } } as never,
  ids: givenIds,
  clock: systemClock,
  slice: neverYield,
  ruleStates: noRuleStates,
  book: givenRuleBook(),
});

function append(bytes: Buffer, offset: number): LogRecord {
  const request = {
    stream: orders as NonNullable<typeof orders>,
    bytes,
    body: {},
    principal: 'api_key:backend',
    // An earlier commit reads the first, this one the second.
    idempotencyKey: String(offset),
    identity: ['http', String(offset)] as const,
    traceparent: null,
  };
  const prepared = prepareAppend(request, { ids: givenIds, now: Date.now(), partitions: 1 });
  if (!prepared.ok) throw prepared.error;
  return { ...prepared.value.record, offset, time: Date.now() };
}

async function pass(): Promise<void> {
  let state: PartitionState = { partition: 0, configNumber: configuration.number, watermark: 0 };
  let intents = 0;
  for (let at = 0; at < EVENTS; at += BATCH) {
    const records = bodies.slice(at, at + BATCH).map((bytes, index) => append(bytes, at + index));
    const result = await stage.handle(records, state);
    ({ state } = result);
    intents += result.outputs.filter(({ kind }) => kind === 'intent').length;
  }
  if (intents !== expected) throw new Error(`${intents} intents came, ${expected} are right`);
}

process.on('message', ({ seconds }: { readonly seconds: number }) => {
  void (async () => {
    const begun = performance.now();
    let done = 0;
    let passed = 0;
    while (passed < seconds * 1000) {
      await pass();
      done += EVENTS;
      passed = performance.now() - begun;
    }
    process.send?.({ done, seconds: passed / 1000 });
  })();
});
