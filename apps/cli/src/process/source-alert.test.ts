import { readFileSync } from 'node:fs';
import type { SourceState } from '@carillon/domain/changes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from './settings.ts';
import { createWatches, type Watches } from './telemetry-bindings.ts';

const ALERTS = readFileSync(new URL('../../../../deploy/dashboards/alerts.yaml', import.meta.url), 'utf8');
const STOPPED: SourceState = { kind: 'stopped', reason: 'slot_gone', detail: null, fix: null };
const WAITING: SourceState = { kind: 'waiting', reason: 'standby', detail: null, fix: null };
const SHOP_DB = 'shop/shop-db';

let watches: Watches;
beforeEach(() => {
  watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
});
afterEach(() => watches.close());

const show = (state: SourceState, source = SHOP_DB): void =>
  watches.engine.sourceState(source, { state, readUntil: null, lagBytes: null, lagRecords: null });

/** The groups for which the expression of an alert holds, over the metrics of this process. */
async function firing(alert: string): Promise<readonly string[]> {
  const [, grouped = '', wanted = '', selected = ''] =
    new RegExp(String.raw`${alert}\n +expr: max by \((.*)\) \((\w+)\{(.*)\}\) > 0\n`).exec(ALERTS) ?? [];
  const lines = (await watches.telemetry.metricsText()).split('\n');
  return lines.flatMap((line) => {
    const [, metric, labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (metric !== wanted || !labels.split(',').includes(selected) || Number(value) <= 0) return [];
    const groups = grouped.split(', ').map((name) => labels.split(',').find((label) => label.startsWith(`${name}=`)));
    return [groups.join(' ')];
  });
}

describe('The alert CarillonSourceStopped', () => {
  const stopped = () => firing('CarillonSourceStopped');

  it('fires for a stopped database, with its name and reason, until it is read again', async () => {
    show({ kind: 'running' });
    show(WAITING, 'shop/books');
    expect(await stopped()).toEqual([]);
    show(STOPPED);
    expect(await stopped()).toEqual([`integration="${SHOP_DB}" reason="slot_gone"`]);
    show({ kind: 'running' });
    expect(await stopped()).toEqual([]);
  });

  it('ends when this process no longer reads the database', async () => {
    show(STOPPED);
    watches.engine.sourceLeft(SHOP_DB);
    expect(await stopped()).toEqual([]);
  });
});

describe('The alert CarillonSourceWaiting', () => {
  const waiting = () => firing('CarillonSourceWaiting');

  it('holds while a database waits, with its name and reason', async () => {
    show({ kind: 'running' });
    show(STOPPED, 'shop/books');
    expect(await waiting()).toEqual([]);
    show(WAITING);
    expect(await waiting()).toEqual([`integration="${SHOP_DB}" reason="standby"`]);
    show({ kind: 'running' });
    expect(await waiting()).toEqual([]);
  });

  it('fires after an hour, because most causes end by themselves', () => {
    expect(/CarillonSourceWaiting\n[^-]*?for: (\w+)\n/.exec(ALERTS)?.[1]).toBe('1h');
  });
});
