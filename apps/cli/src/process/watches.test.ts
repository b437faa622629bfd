import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from './settings.ts';
import { createWatches, type Watches } from './watches.ts';

let watches: Watches;
beforeEach(() => {
  watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
});
afterEach(() => watches.close());

const series = async (name: string): Promise<readonly string[]> =>
  (await watches.telemetry.metricsText()).split('\n').filter((line) => line.startsWith(name));

describe('What is counted', () => {
  it('stands at 0 before it first happens, so that the first one is seen as growth', async () => {
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

  it('is nothing of other roles', async () => {
    expect(await series('carillon_attempts_total')).toEqual([]);
    expect(await series('carillon_events_refused_total')).toEqual([]);
  });
});

describe('A partition that stands still', () => {
  it('is shown until it is no longer of this process', async () => {
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
