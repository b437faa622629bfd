import type { AuditEntry } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';
import type { EventLog, LogRecord, RecordCodecs } from '@carillon/ports';
import { givenIds, settableClock } from '@carillon/testing/given';
import { createDirectWire, createMemoryStores, createMemoryLeases } from '@carillon/testing/memory';
import { createRecordCodecs } from '@carillon/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAuditSealer } from '../src/audit/sealer.ts';
import { onAudit } from '../src/audit/audit-log.ts';
import { MINUTE, openAudit, type AuditFixture } from './audit-fixture.ts';
import { openControl, TOKEN } from './control-fixture.ts';

let fixture: AuditFixture['fixture'];
let clock: AuditFixture['clock'];
let leases: AuditFixture['leases'];
let seals: AuditFixture['seals'];
let lines: AuditFixture['lines'];
let sealerOf: AuditFixture['sealerOf'];
let sealer: AuditFixture['sealer'];
let entry: AuditFixture['entry'];
let write: AuditFixture['write'];
let records: AuditFixture['records'];
let verify: AuditFixture['verify'];
let foreignCodecs: RecordCodecs;
beforeEach(async () => {
  ({ fixture, clock, leases, seals, lines, sealerOf, sealer, entry, write, records, verify } = await openAudit());
  foreignCodecs = await createRecordCodecs(
    { register: async () => 900, schema: async () => null },
    settableClock().now,
  );
});

/** The log as somebody left it who may write to its files. */
const withRecords = (left: readonly Pick<LogRecord, 'value'>[]): EventLog => {
  const placed = left.map(({ value }, offset) => ({ ...blank, value, offset }));
  return {
    ...fixture.log,
    bounds: async () => ({ start: 0, end: placed.length }),
    read: async (_topic, _partition, from, most) => placed.slice(from, from + most),
  };
};
const blank: Omit<LogRecord, 'value' | 'offset'> = {
  topic: 'carillon.audit',
  partition: 0,
  key: 'audit',
  headers: {},
  time: 0,
};

describe('The keeper of the audit', () => {
  it('seals after a minute: on the topic, in the store, and in words that others can keep', async () => {
    for (let at = 0; at < 3; at += 1) await fixture.log.append([onAudit(entry(`d${at}`), fixture.codecs)]);
    await sealer.round();
    expect(lines).toEqual([]);
    clock.pass(MINUTE);
    await sealer.round();
    expect(lines).toMatchObject([{ through: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]);
    expect(await seals.newest(fixture.log.logId)).toMatchObject({ since: 0, through: 2, leaves: { length: 3 } });
    expect(await records()).toHaveLength(4);
    expect(await verify()).toEqual({ begins: 0, records: 4, seals: 2, sealedThrough: 2, fault: null });
  });

  it('seals a hundred records at once, and its own seals never', async () => {
    for (let at = 0; at < 100; at += 1) await fixture.log.append([onAudit(entry(`d${at}`), fixture.codecs)]);
    await sealer.round();
    expect(lines.map(({ through }) => through)).toEqual([99]);
    for (let minute = 0; minute < 5; minute += 1) {
      clock.pass(MINUTE);
      await sealer.round();
    }
    expect(lines).toHaveLength(1);
    expect(await verify()).toMatchObject({ records: 101, fault: null });
  });

  it('runs once among several processes; after it dies, another process continues the same chain', async () => {
    const other = sealerOf('two');
    await write(5);
    await other.round();
    expect(lines).toHaveLength(1);
    clock.pass(16_000);
    for (let at = 5; at < 9; at += 1) await fixture.log.append([onAudit(entry(`d${at}`), fixture.codecs)]);
    await other.round();
    await sealer.round();
    clock.pass(10_000);
    await other.round();
    clock.pass(10_000);
    await other.round();
    for (let wait = 0; wait < 6; wait += 1) {
      clock.pass(10_000);
      await other.round();
    }
    expect(lines).toHaveLength(2);
    expect(await verify(fixture.log, lines)).toMatchObject({ seals: 6, fault: null });
  });

  it('stores a seal that a crash kept from the store', async () => {
    const dying = { ...seals, keep: () => Promise.reject(new Error('killed')) };
    const killed = createAuditSealer(
      {
        ...fixture,
        ids: givenIds,
        auditSeals: dying,
        leases: leases.connect(createDirectWire()),
        sealed: () => undefined,
      },
      'killed',
    );
    await fixture.log.append([onAudit(entry('d0'), fixture.codecs)]);
    clock.pass(MINUTE);
    await killed.round().catch(() => undefined);
    expect(await seals.newest(fixture.log.logId)).toBeNull();
    clock.pass(MINUTE);
    await sealer.round();
    expect((await seals.list(fixture.log.logId, -1, 10)).map(({ through }) => through)).toEqual([0, 1]);
    expect(await verify()).toMatchObject({ fault: null });
  });

  it('records a configuration change whose request failed although the log stored it', async () => {
    const log: EventLog = {
      ...fixture.log,
      async append(given) {
        const answer = await fixture.log.append(given);
        if (given[0]?.topic === 'carillon.config') throw new Error('the answer was lost');
        return answer;
      },
    };
    const { control } = await openControl(undefined, { log, configuration: fixture.configuration, clock });
    const answer = await control.app.inject({
      method: 'POST',
      url: '/v1/workspaces/shop/api-keys',
      headers: { authorization: `Bearer ${TOKEN}` },
      payload: { name: 'backend' },
    });
    expect(answer.statusCode).toBeGreaterThanOrEqual(500);
    await fixture.configuration.refresh();
    const [begun, failed] = await entries();
    expect(failed).toMatchObject({ id: begun?.id, outcome: 'failed', number: null });
    for (let round = 0; round < 3; round += 1) {
      clock.pass(MINUTE);
      await sealer.round();
    }
    const [, , good, ...more] = await entries();
    expect(more).toEqual([]);
    expect(good).toMatchObject({ what: 'configuration.publish', outcome: 'done', number: 0 });
    expect(good?.id).not.toBe(begun?.id);
    expect(await verify()).toMatchObject({ fault: null });
  });

  it('records a missing outcome after a crash once, under the id of the begun change', async () => {
    let writes = 0;
    const log: EventLog = {
      ...fixture.log,
      append: (given) => {
        if (given[0]?.topic === 'carillon.audit' && (writes += 1) > 1) return Promise.reject(new Error('killed'));
        return fixture.log.append(given);
      },
    };
    const { control } = await openControl(undefined, { log, configuration: fixture.configuration, clock });
    const answer = await control.app.inject({
      method: 'POST',
      url: '/v1/workspaces/shop/api-keys',
      headers: { authorization: `Bearer ${TOKEN}` },
      payload: { name: 'backend' },
    });
    expect(answer.statusCode).toBe(503);
    await sealer.round();
    expect(await entries()).toMatchObject([{ outcome: 'begun' }]);
    clock.pass(MINUTE);
    await sealer.round();
    const [begun, good, ...more] = await entries();
    expect(more).toEqual([]);
    expect(good).toMatchObject({ id: begun?.id, what: 'configuration.publish', outcome: 'done', number: 0 });
    expect(good?.actor).toEqual({ kind: 'cli', id: 'owner' });
    clock.pass(MINUTE);
    await sealerOf('two').round();
    await sealer.round();
    expect((await entries()).length).toBe(2);
    await control.app.close();
  });

  it('records a configuration change without a request under an id derived from its number', async () => {
    const value = fixture.codecs.configuration.encode({
      id: 'req_1',
      at: new Date(clock.now()).toISOString(),
      by: { actor: { kind: 'system', id: 'carillon' }, origin: 'cli', message: null, requestId: null },
      changes: [{ ref: { kind: 'workspace', workspace: 'shop', name: '' }, based_on: null, body: {} }],
    });
    await fixture.log.append([{ topic: 'carillon.config', partition: 0, key: 'configuration', value, headers: {} }]);
    await fixture.configuration.refresh();
    clock.pass(MINUTE);
    await sealer.round();
    const id = givenIds.derive('audit', fixture.log.logId, 'configuration', '0');
    expect(await entries()).toMatchObject([{ id, number: 0, target: 'workspace:shop/', workspace: 'shop' }]);
  });
});

async function entries(): Promise<readonly AuditEntry[]> {
  return (await records()).flatMap(({ value }) => {
    const decoded = fixture.codecs.audit.decode(value);
    return decoded.ok && decoded.value.kind === 'entry' ? [decoded.value] : [];
  });
}

describe('The verification of the audit', () => {
  /** 20 entries and a seal, twice: positions 0 to 19, a seal at 20, 21 to 40, a seal at 41. */
  beforeEach(async () => {
    await write(20);
    await write(20, 20);
  });

  const other = (target: string) => ({ value: fixture.codecs.audit.encode(entry(target)) });

  it('finds no fault in an untouched audit', async () => {
    expect(await verify(fixture.log, lines)).toEqual({
      begins: 0,
      records: 42,
      seals: 6,
      sealedThrough: 40,
      fault: null,
    });
  });

  it('finds no fault in an audit that is sealed meanwhile', async () => {
    const read: EventLog['read'] = async (...asked) => {
      const page = await fixture.log.read(...asked);
      await write(3, 40);
      return page;
    };
    expect(await verify({ ...fixture.log, read })).toMatchObject({ records: 46, sealedThrough: 44, fault: null });
  });

  it('reports the position of a changed record', async () => {
    const left = (await records()).with(7, { ...blank, offset: 7, ...other('another') });
    const seal = { place: 'store', through: 19 };
    expect((await verify(withRecords(left))).fault).toEqual({ kind: 'changed', position: 7, seal });
  });

  it('reports the position of a record with one changed bit', async () => {
    const left = (await records()).map((record) => ({ value: Uint8Array.from(record.value) }));
    const value = left[30]?.value ?? new Uint8Array();
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
    const seal = { place: 'store', through: 40 };
    expect((await verify(withRecords(left))).fault).toEqual({ kind: 'changed', position: 30, seal });
  });

  it('reports the position of a removed record, if later records moved up', async () => {
    const left = (await records()).toSpliced(7, 1);
    expect((await verify(withRecords(left))).fault).toMatchObject({ kind: 'missing', position: 7 });
  });

  it('reports the gap of a removed record', async () => {
    const all = await records();
    const log: EventLog = {
      ...fixture.log,
      read: async (_topic, _partition, from, most) =>
        all.filter(({ offset }) => offset >= from && offset !== 7).slice(0, most),
    };
    expect((await verify(log)).fault).toEqual({ kind: 'missing', position: 7, seal: null });
  });

  it('reports the position of an inserted record', async () => {
    const left = (await records()).toSpliced(30, 0, { ...blank, offset: 30, ...other('put-in') });
    expect((await verify(withRecords(left))).fault).toMatchObject({ kind: 'inserted', position: 30 });
  });

  it('reports the first of two swapped records', async () => {
    const all = await records();
    const [a, b] = [all[7], all[15]];
    if (!a || !b) throw new Error('there are none');
    const left = all.with(7, b).with(15, a);
    expect((await verify(withRecords(left))).fault).toMatchObject({ kind: 'changed', position: 7 });
  });

  it('reports a truncated topic by the newest seal of the store', async () => {
    const left = (await records()).slice(0, 25);
    const seal = { place: 'store', through: 40 };
    expect((await verify(withRecords(left))).fault).toEqual({ kind: 'cut_off', position: 25, seal });
  });

  it('reports a topic without the record of the newest seal, by that seal in the store', async () => {
    const left = (await records()).slice(0, 41);
    expect((await verify(withRecords(left))).fault).toMatchObject({ kind: 'cut_off', position: 41 });
  });

  it('reports truncation of topic and store by a seal line kept elsewhere', async () => {
    const left = withRecords((await records()).slice(0, 21));
    const store = createMemoryStores().connect().auditSeals;
    const [first] = await seals.list(fixture.log.logId, -1, 1);
    if (first) await store.keep(fixture.log.logId, first);
    expect((await verify(left, [], store)).fault).toBeNull();
    const seal = { place: 'kept', through: 40 };
    expect((await verify(left, lines, store)).fault).toEqual({ kind: 'cut_off', position: 21, seal });
  });

  it('reports a seal forged without the key in topic and store', async () => {
    const forger = createMemoryStores().connect().auditSeals;
    const kept = (await records()).filter(({ offset }) => offset < 20 && offset !== 7);
    const appended: { value: Uint8Array }[] = [...kept];
    const log: EventLog = {
      ...withRecords(appended),
      bounds: async () => ({ start: 0, end: appended.length }),
      read: async (_topic, _partition, from, most) =>
        appended.map(({ value }, offset) => ({ ...blank, value, offset })).slice(from, from + most),
      append: async (given) => given.map(({ value }) => appended.push({ value }) - 1),
    };
    const ids = { ...givenIds, keyed: (...parts: readonly string[]) => givenIds.keyed('another key', ...parts) };
    const wire = createDirectWire();
    const forging = createAuditSealer(
      { ...fixture, log, ids, auditSeals: forger, leases: createMemoryLeases().connect(wire), sealed: () => undefined },
      'forger',
    );
    clock.pass(MINUTE);
    await forging.round();
    expect(appended).toHaveLength(20);
    expect((await verify(log, [], forger)).fault).toMatchObject({ kind: 'forged_seal' });
  });

  it('reports a stored seal whose record digests or configuration number were changed', async () => {
    const [first, second] = await seals.list(fixture.log.logId, -1, 2);
    if (!first || !second) throw new Error('there are none');
    for (const forged of [
      { ...second, configuration: 99 },
      { ...second, since: 21 },
      { ...second, leaves: second.leaves.toReversed() },
    ]) {
      const store = createMemoryStores().connect().auditSeals;
      for (const one of [first, forged]) await store.keep(fixture.log.logId, one);
      const seal = { place: 'store', through: 40 };
      expect((await verify(fixture.log, lines, store)).fault).toEqual({ kind: 'forged_seal', position: 40, seal });
    }
  });

  it('accepts a chain sealed by an earlier version, and its seal line', async () => {
    const keyed = (what: string, ...parts: readonly string[]): string =>
      givenIds.keyed('audit seal', ...(what === 'audit seal with contents' ? parts.slice(0, 3) : [what, ...parts]));
    await fixture.log.append([onAudit(entry('late'), fixture.codecs)]);
    clock.pass(2 * MINUTE);
    lines.length = 0;
    await sealerOf('before', { ids: { ...givenIds, keyed } }).round();
    const before = lines.map(({ contents: _contents, ...line }) => line);
    expect(before.map(({ through }) => through)).toEqual([42]);
    expect(await verify(fixture.log, before)).toMatchObject({ sealedThrough: 42, fault: null });
    await write(3, 50);
    expect(await verify(fixture.log, lines)).toMatchObject({ sealedThrough: 46, fault: null });
  });

  it('reports a chain copied from another log', async () => {
    const logId = 'log_0000000000000000000000000B' as LogId;
    const log: EventLog = { ...fixture.log, logId };
    expect((await verify(log)).fault).toMatchObject({ kind: 'forged_seal', position: 20 });
  });

  it('accepts a record of an unknown type', async () => {
    await fixture.log.append([{ ...onAudit(entry('newer'), foreignCodecs) }]);
    await write(2, 40);
    expect((await verify(fixture.log, lines)).fault).toBeNull();
  });
});
