import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changesOf, notification, ORDER_PAID, orderShop, PAID_MAIL, recordOf, template } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { CHANGED_BY_OWNER, EMPTY_CONFIGURATION, findResource } from '@carillon/domain/configuration';
import { err } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import { createConfigurationView, publishConfiguration, readSourceRecord } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 3 });
});
afterEach(() => topology.close());

const viewOf = (log: EventLog) => createConfigurationView(log, topology.ports.codecs.configuration, topology.clock);
const publishPorts = (readEverywhere: (since: number) => Promise<void> = () => Promise.resolve()) => {
  const { log, codecs, configuration, ids, clock } = topology.ports;
  return { log, codec: codecs.configuration, view: configuration, ids, clock, readEverywhere };
};
const appendRecord = (wishes = orderShop()) =>
  topology.data.log.append([
    {
      topic: 'carillon.config',
      partition: 0,
      key: 'configuration',
      value: topology.ports.codecs.configuration.encode(recordOf(changesOf(EMPTY_CONFIGURATION, wishes))),
      headers: {},
    },
  ]);
const appendBytes = (value: Uint8Array) =>
  topology.data.log.append([{ topic: 'carillon.config', partition: 0, key: 'k', value, headers: {} }]);

describe('publishing a configuration', () => {
  it('resolves with its number once every partition has the marker that switches to it', async () => {
    const number = await topology.publish(...orderShop());
    const markers = (await topology.records('carillon.events')).map((record) =>
      readSourceRecord(record, topology.data.log.logId),
    );
    expect(markers).toMatchObject(
      [0, 1, 2].map((partition) => ({
        ok: true,
        value: { kind: 'marker', configNumber: number, position: { partition } },
      })),
    );
    expect(topology.ports.configuration.current().number).toBe(number);
  });

  it('resolves only when every gateway reports that it uses the configuration', async () => {
    let release: () => void = () => undefined;
    let askedSince = 0;
    const changes = changesOf(EMPTY_CONFIGURATION, orderShop());
    const ports = publishPorts((since) => {
      askedSince = since;
      return new Promise((resolve) => (release = resolve));
    });
    let answered = false;
    const publishing = publishConfiguration(ports, changes, CHANGED_BY_OWNER).then(() => (answered = true));
    await expect.poll(() => askedSince).toBeGreaterThan(0);
    expect(await topology.records('carillon.events')).toHaveLength(3);
    expect(askedSince).toBeGreaterThanOrEqual(topology.ports.configuration.newestAt() ?? Infinity);
    expect(answered).toBe(false);
    release();
    expect(await publishing).toBe(true);
  });

  it('is refused as a conflict, and changes nothing, if somebody else has changed the resource', async () => {
    await topology.publish(...orderShop());
    const seen = topology.ports.configuration.current();
    await topology.publish(notification('order-paid', { ...ORDER_PAID, name: 'Theirs' }));
    const mine = changesOf(seen, [
      notification('order-paid', { ...ORDER_PAID, name: 'Mine' }),
      template('new', PAID_MAIL),
    ]);
    const publishing = publishConfiguration(publishPorts(), mine, CHANGED_BY_OWNER);
    await expect(publishing).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('notification shop/order-paid') as string,
    });
    const now = await topology.ports.configuration.refresh();
    expect(findResource(now, 'notification', 'shop', 'order-paid')?.body.name).toBe('Theirs');
    expect(findResource(now, 'template', 'shop', 'new')).toBeUndefined();
  });

  it('by several callers at once succeeds for one; the others get a conflict', async () => {
    await topology.publish(...orderShop());
    const seen = topology.ports.configuration.current();
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((one) =>
        publishConfiguration(
          publishPorts(),
          changesOf(seen, [notification('order-paid', { ...ORDER_PAID, name: `N${one}` })]),
          CHANGED_BY_OWNER,
        ),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('the view of the configuration (every version that was published, by number)', () => {
  it('returns the same configuration for a number for ever', async () => {
    await topology.publish(...orderShop());
    await topology.publish(notification('order-paid', null));
    const view = viewOf(topology.data.log);
    expect((await view.at(0)).resources.size).toBe(3);
    expect((await view.at(1)).resources.size).toBe(2);
    expect((await view.at(-1)).resources.size).toBe(0);
    await expect(view.at(2)).rejects.toMatchObject({ code: 'log_unavailable' });
  });

  it('reads the log further if it is asked for a number that it does not have yet', async () => {
    const view = viewOf(topology.data.log);
    await view.refresh();
    await topology.publish(...orderShop());
    expect(view.current().number).toBe(-1);
    expect((await view.at(0)).number).toBe(0);
  });

  it('skips and reports a record that it cannot decode; the number of that record has the unchanged configuration', async () => {
    await appendRecord();
    await appendBytes(Uint8Array.of(9));
    const told: string[] = [];
    const { log } = topology.data;
    const view = createConfigurationView(log, topology.ports.codecs.configuration, topology.clock, (offset, why) =>
      told.push(`${offset}: ${why}`),
    );
    const { number, resources } = await view.refresh();
    expect([number, resources.size]).toEqual([1, 3]);
    expect(told).toEqual(['1: the log record is corrupt: it has fewer than 5 bytes']);
  });

  it('stops before a record with an unknown schema, and continues once the schema is known', async () => {
    await appendRecord();
    await appendRecord([template('new', PAID_MAIL)]);
    const codec = topology.ports.codecs.configuration;
    let seen = 0;
    let known = false;
    const unsure: typeof codec = {
      ...codec,
      decode: (bytes) => {
        seen += 1;
        return seen === 1 || known ? codec.decode(bytes) : err({ reason: 'unknown_schema', detail: 'no schema 7' });
      },
      learn: async () => known,
    };
    const view = createConfigurationView(topology.data.log, unsure, topology.clock);
    const readings = [await view.refresh().catch(String), await view.refresh().catch(String)];
    for (const reading of readings)
      expect(reading).toMatch(/record 1 of carillon\.config\/0 .*unknown_schema.*registry/);
    await expect(view.refresh()).rejects.toMatchObject({ code: 'configuration_stale' });
    await expect(view.at(1)).rejects.toMatchObject({ code: 'configuration_stale' });
    expect(view.stoppedBefore()).toContain('record 1 of carillon.config/0');
    expect([view.current().number, view.readToEndAt()]).toEqual([0, Number.NEGATIVE_INFINITY]);
    known = true;
    expect((await view.refresh()).number).toBe(1);
    expect(view.stoppedBefore()).toBeNull();
    expect(view.readToEndAt()).toBeGreaterThan(0);
  });

  it('stops before a record whose Avro is unreadable', async () => {
    await appendRecord();
    const whole = topology.ports.codecs.configuration.encode(recordOf(changesOf(EMPTY_CONFIGURATION, orderShop())));
    await appendBytes(whole.subarray(0, whole.length - 20));
    const view = viewOf(topology.data.log);
    await expect(view.refresh()).rejects.toMatchObject({
      code: 'configuration_stale',
      message: expect.stringContaining('record 1 of carillon.config/0 cannot be read (not_avro') as string,
    });
    expect(view.readToEndAt()).toBe(Number.NEGATIVE_INFINITY);
  });

  it('does not report that it is at the end of the log before it has read all records, however large they are', async () => {
    const text = 'x'.repeat(1_500_000);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await appendRecord([template(name, { email: { subject: 's', text } })]);
    }
    const view = viewOf(topology.data.log);
    await view.refresh();
    expect(view.current().number).toBe(4);
  });

  it('reads once for concurrent callers, and gives no caller a state from before its call', async () => {
    const { log } = topology.data;
    let readings = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: EventLog = {
      ...log,
      async read(...asked) {
        const records = await log.read(...asked);
        readings += 1;
        if (readings === 1) await held;
        return records;
      },
    };
    const view = viewOf(slow);
    const early = view.refresh();
    await appendRecord();
    const late = [view.refresh(), view.refresh(), view.refresh()];
    release();
    await early;
    for (const { number } of await Promise.all(late)) expect(number).toBe(0);
    expect(readings).toBeLessThanOrEqual(4);
  });

  it('does not count as fresh after a failed read, and continues at the next read', async () => {
    const { log } = topology.data;
    let broken = true;
    const view = viewOf({
      ...log,
      read: (...asked) => (broken ? Promise.reject(new Error('away')) : log.read(...asked)),
    });
    await expect(view.refresh()).rejects.toThrow('away');
    expect(view.readToEndAt()).toBe(Number.NEGATIVE_INFINITY);
    broken = false;
    await appendRecord();
    expect((await view.refresh()).number).toBe(0);
    expect(view.readToEndAt()).toBeGreaterThan(0);
  });
});
