import { openDelivery } from '@carillon/domain/deliveries';
import type { DeriveId } from '@carillon/kernel';
import { deliveryOf, startOtlpReceiver } from '@carillon/testing';
import { givenIntent } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from './settings.ts';
import { createWatches, type Watches } from './telemetry-bindings.ts';

let watches: Watches;
beforeEach(() => {
  watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
});
afterEach(() => watches.close());

const series = async (name: string): Promise<readonly string[]> =>
  (await watches.telemetry.metricsText()).split('\n').filter((line) => line.startsWith(name));

describe('counters', () => {
  it('start at 0, so that the first event is an increase', async () => {
    watches.engine.consumes({ group: 'engine', topic: 'carillon.events', stage: 'evaluate' });
    watches.delivery();
    watches.gateway();
    expect(await series('carillon_dead_letters_total')).toEqual(['carillon_dead_letters_total{stage="evaluate"} 0']);
    expect(await series('carillon_consumer_failures_total')).toEqual([
      'carillon_consumer_failures_total{group="engine"} 0',
    ]);
    expect(await series('carillon_attempts_total')).toContain(
      'carillon_attempts_total{channel="email",verdict="refused_account"} 0',
    );
    expect(await series('carillon_events_refused_total')).toContain(
      'carillon_events_refused_total{code="log_unavailable"} 0',
    );
  });

  it('have account, notification and verdict of each call, and no message without a call', async () => {
    const delivering = watches.delivery();
    const delivery = deliveryOf({ slot: { workspace: 'shop' }, intent: { notification: 'order-paid' } });
    const uncalled = { attemptId: null, account: null, code: '', seconds: 0, missing: 0, wrongLocality: [] };
    delivering.attempt(delivery)({ ...uncalled, verdict: 'settled' });
    delivering.attempt(delivery)({ ...uncalled, attemptId: 'att_1', account: 'shop/main', verdict: 'refused_content' });
    expect(await series('carillon_account_calls_total')).toEqual([
      'carillon_account_calls_total{account="shop/main",notification="shop/order-paid",verdict="refused_content"} 1',
    ]);
  });

  it('count each run by result, with the records it read', async () => {
    const runs = watches.runs();
    const run = runs.begin({ workspace: 'shop' });
    run.read(500);
    run.childEnded();
    // The work fails, and the runner tries the run again.
    run.end('failed', new Error('ada@example.com'));
    runs.begin({ workspace: 'shop' }).end('done');
    runs.ended('done');
    expect([...(await series('carillon_replay'))].toSorted()).toEqual([
      'carillon_replay_child_ends_total 1',
      'carillon_replay_records_total 500',
      'carillon_replay_runs_total{result="cancelled"} 0',
      'carillon_replay_runs_total{result="done"} 1',
      'carillon_replay_runs_total{result="failed"} 0',
    ]);
  });

  it('exclude other roles', async () => {
    expect(await series('carillon_attempts_total')).toEqual([]);
    expect(await series('carillon_events_refused_total')).toEqual([]);
  });
});

describe('the gauge of blocked partitions', () => {
  it('shows a partition until this process gives it up', async () => {
    const consumer = { group: 'engine', topic: 'carillon.events', stage: 'evaluate' } as const;
    watches.engine.consumes(consumer);
    const gauge = 'carillon_partitions_stopped{group="engine:carillon.events"}';
    expect(await series('carillon_partitions_stopped')).toEqual([`${gauge} 0`]);
    const left = watches.engine.stopped({ ...consumer, partition: 3 });
    expect(await series('carillon_partitions_stopped')).toEqual([`${gauge} 1`]);
    expect(watches.stopped()).toEqual(['engine:carillon.events/3']);
    left();
    expect(await series('carillon_partitions_stopped')).toEqual([`${gauge} 0`]);
    expect(watches.stopped()).toEqual([]);
  });
});

describe('A span', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const other = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const derive: DeriveId = (kind) => `${kind}_1` as never;

  it('has the ids of event and delivery, so that a trace leads to the story', async () => {
    const otlp = await startOtlpReceiver();
    try {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint };
      const own = createWatches(readSettings({ logLevel: 'error' }, env), 'test');
      const request = own.gateway().startRequest(traceparent, '/events/*');
      request.event({ id: 'evt_01' as never, workspace: 'shop', stream: 'shop/orders' });
      request.end(202);
      const asked = { partner: 'shop/crm', workspace: 'shop', triggers: 2, eventId: 'evt_01', triggerId: 'trg_01' };
      own.engine.call({ ...asked, traceparent, linked: [other, null] })({
        outcome: 'answered',
        status: 200,
        seconds: 1,
      });
      const intent = { ...givenIntent('a'), traceparent };
      const delivery = openDelivery(intent, 'carillon.intents/0@0', 'dlv_01' as never, { now: 0, derive });
      const ended = own.delivery().attempt(delivery);
      ended({
        attemptId: 'att_01',
        account: 'default',
        verdict: 'accepted',
        code: '250',
        seconds: 1,
        missing: 0,
        wrongLocality: ['locale'],
      });
      own.runs().begin({ workspace: 'shop' }).end('failed', new Error('ada@example.com'));
      await own.close();
      const attributesOf = (name: string) => otlp.spans.find((span) => span.name === name)?.attributes;
      expect(attributesOf('http.request')).toMatchObject({
        'carillon.event_id': 'evt_01',
        'carillon.workspace': 'shop',
        'carillon.stream': 'shop/orders',
      });
      expect(attributesOf('partner.call')).toMatchObject({
        'carillon.event_id': 'evt_01',
        'carillon.trigger_id': 'trg_01',
      });
      expect(otlp.spans.find(({ name }) => name === 'partner.call')?.links.map(({ traceId }) => traceId)).toEqual([
        '0af7651916cd43dd8448eb211c80319c',
      ]);
      expect(attributesOf('replay.job')).toMatchObject({
        'carillon.workspace': 'shop',
        'carillon.result': 'failed',
        'error.type': 'Error',
      });
      expect(JSON.stringify(otlp.spans.map(({ attributes }) => attributes))).not.toContain('ada@example.com');
      expect(attributesOf('delivery.attempt')).toMatchObject({
        'carillon.workspace': 'shop',
        'carillon.notification': intent.notification,
        'carillon.rule': intent.rule,
        'carillon.event_id': intent.eventId,
        'carillon.trigger_id': intent.triggerId,
        'carillon.intent_id': intent.id,
        'carillon.delivery_id': 'dlv_01',
        'carillon.attempt_id': 'att_01',
        'carillon.attempt': 1,
        'carillon.verdict': 'accepted',
      });
      // Span attributes contain no personal data.
      expect(JSON.stringify(otlp.spans.map(({ attributes }) => attributes))).not.toContain(intent.to ?? '@');
      expect(await own.telemetry.metricsText()).toContain('carillon_wrong_locality_total{variable="locale"} 1');
    } finally {
      await otlp.close();
    }
  });
});
