import { createLogger, createTelemetry } from '@carillon/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchSources } from './watch-sources.ts';

const RUNNING = { state: { kind: 'running' }, readUntil: 1000, lagBytes: 7, lagRecords: null } as const;
const STOPPED = {
  state: { kind: 'stopped', reason: 'slot_gone', detail: null, fix: null },
  readUntil: 1000,
  lagBytes: null,
  lagRecords: null,
} as const;

describe('watchSources', () => {
  let telemetry: ReturnType<typeof createTelemetry>;
  let lines: string[];
  beforeEach(() => {
    telemetry = createTelemetry({ serviceName: 'test', serviceVersion: '0' });
    lines = [];
  });
  afterEach(() => telemetry.close());
  const watch = () =>
    watchSources(
      telemetry,
      createLogger({ level: 'info', pretty: false, destination: { write: (line) => void lines.push(line) } }),
      { now: () => 4000 },
    );
  const metrics = async (): Promise<readonly string[]> =>
    (await telemetry.metricsText()).split('\n').filter((line) => line.startsWith('carillon_source_'));

  it('shows the state of a source with its lag, and sets states that are over to 0', async () => {
    const { sourceState, sourceChanges } = watch();
    sourceState('shop/shop-db', RUNNING);
    sourceState('shop/shop-db', STOPPED);
    sourceChanges('shop/shop-db', 'appended', 3);
    expect(await metrics()).toEqual([
      'carillon_source_state{integration="shop/shop-db",state="running",reason=""} 0',
      'carillon_source_state{integration="shop/shop-db",state="stopped",reason="slot_gone"} 1',
      'carillon_source_lag_seconds{integration="shop/shop-db"} 3',
      'carillon_source_lag_bytes{integration="shop/shop-db"} 7',
      'carillon_source_changes_total{integration="shop/shop-db",result="appended"} 3',
      'carillon_source_changes_total{integration="shop/shop-db",result="without_key"} 0',
      'carillon_source_changes_total{integration="shop/shop-db",result="dead_letter"} 0',
      'carillon_source_changes_total{integration="shop/shop-db",result="skipped"} 0',
    ]);
  });

  it('shows the lag of Kafka in records', async () => {
    const { sourceState, sourceLeft } = watch();
    sourceState('shop/bus', { ...RUNNING, lagBytes: null, lagRecords: 120 });
    const lag = (await metrics()).filter((line) => line.startsWith('carillon_source_lag'));
    expect(lag).toEqual([
      'carillon_source_lag_seconds{integration="shop/bus"} 3',
      'carillon_source_lag_records{integration="shop/bus"} 120',
    ]);
    sourceState('shop/bus', { ...RUNNING, lagBytes: null, lagRecords: 0 });
    expect(await metrics()).toContain('carillon_source_lag_seconds{integration="shop/bus"} 0');
    sourceLeft('shop/bus');
    expect((await metrics()).filter((line) => line.startsWith('carillon_source_lag'))).toEqual([]);
  });

  it('removes the metrics of a source that this process does not read any more', async () => {
    const { sourceState, sourceLeft } = watch();
    sourceState('shop/shop-db', RUNNING);
    sourceLeft('shop/shop-db');
    sourceLeft('shop/shop-db');
    expect((await metrics()).filter((line) => !line.startsWith('carillon_source_changes_total'))).toEqual([]);
  });

  it('logs a reset with what was not read', () => {
    watch().sourceReset('shop/bus', 'read up to orders/0:12; continues at orders/0:3');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warning', resource: 'integration shop/bus', detail: 'read up to orders/0:12; continues at orders/0:3' },
    ]);
  });

  it('logs each change of state once', () => {
    const { sourceState } = watch();
    for (const facts of [RUNNING, RUNNING, STOPPED, STOPPED]) sourceState('shop/shop-db', facts);
    const levels = lines.map((line) => {
      const { level, code } = JSON.parse(line) as { level: string; code?: string };
      return [level, code];
    });
    expect(levels).toEqual([
      ['info', undefined],
      ['error', 'slot_gone'],
    ]);
  });
});
