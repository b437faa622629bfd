import { readFileSync } from 'node:fs';
import type { SourceState } from '@carillon/domain/changes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSettings } from './settings.ts';
import { createWatches, type Watches } from './telemetry-bindings.ts';

const ALERTS = readFileSync(new URL('../../../../deploy/dashboards/alerts.yaml', import.meta.url), 'utf8');
const [, GROUPED = '', METRIC = '', SELECTED = ''] =
  /CarillonSourceStopped\n +expr: max by \((.*)\) \((\w+)\{(.*)\}\) > 0\n/.exec(ALERTS) ?? [];
const STOPPED: SourceState = { kind: 'stopped', reason: 'slot_gone', detail: null, fix: null };
const WAITING: SourceState = { kind: 'waiting', reason: 'standby', detail: null, fix: null };
const SHOP_DB = 'shop/shop-db';

let watches: Watches;
beforeEach(() => {
  watches = createWatches(readSettings({ logLevel: 'error' }, {}), 'test');
});
afterEach(() => watches.close());

const show = (state: SourceState, source = SHOP_DB): void =>
  watches.engine.sourceState(source, { state, readUntil: null, lagBytes: null });

/** The groups for which the alert fires, by its expression over the metrics of this process. */
async function firing(): Promise<readonly string[]> {
  const lines = (await watches.telemetry.metricsText()).split('\n');
  return lines.flatMap((line) => {
    const [, metric, labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (metric !== METRIC || !labels.split(',').includes(SELECTED) || Number(value) <= 0) return [];
    const groups = GROUPED.split(', ').map((name) => labels.split(',').find((label) => label.startsWith(`${name}=`)));
    return [groups.join(' ')];
  });
}

describe('The alert CarillonSourceStopped', () => {
  it('fires for a stopped database, with its name and reason, until it is read again', async () => {
    show({ kind: 'running' });
    show(WAITING, 'shop/books');
    expect(await firing()).toEqual([]);
    show(STOPPED);
    expect(await firing()).toEqual([`integration="${SHOP_DB}" reason="slot_gone"`]);
    show({ kind: 'running' });
    expect(await firing()).toEqual([]);
  });

  it('ends when this process no longer reads the database', async () => {
    show(STOPPED);
    watches.engine.sourceLeft(SHOP_DB);
    expect(await firing()).toEqual([]);
  });
});
