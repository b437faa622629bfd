import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decide, type Consents, type Decision } from '@carillon/domain/consent';
import { hashedName } from '@carillon/domain/erasures';
import type { ConsentStore, LogRecord } from '@carillon/ports';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { createConsentStage, decideConsents, publishConsents } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const OUT: Decision = { target: { kind: 'category', name: 'orders' }, channel: 'email', optedOut: true, way: 'page' };
const ports = (consents: ConsentStore = topology.ports.consents) => ({ ...topology.ports, consents });
const stored = async (person = 'ada'): Promise<Consents | undefined> =>
  (await topology.ports.consents.find('shop', [person]))[0];
const decided = (...decisions: readonly Decision[]) => decideConsents('shop', 'ada', decisions, ports());
const STATE = { partition: 0, configNumber: -1, watermark: 0 };
const foldIn = (records: readonly LogRecord[]) => createConsentStage(topology.ports).handle(records, STATE);

describe('a consent decision (a person opts out or in)', () => {
  it('is in the store when the call resolves, and once on the log after it is published', async () => {
    await decided(OUT);
    expect(await stored()).toMatchObject({ version: 1, unpublished: [{ optedOut: true }] });
    expect(await topology.records('carillon.consents')).toEqual([]);
    expect(await publishConsents(await topology.data.consents.unpublished(Infinity, 10), ports())).toBe(1);
    expect(await stored()).toMatchObject({ unpublished: [], words: [{ optedOut: true }] });
    const [record, ...more] = await topology.records('carillon.consents');
    expect(more).toEqual([]);
    expect(topology.ports.codecs.consent.decode(record?.value ?? new Uint8Array())).toMatchObject({
      ok: true,
      value: { person: hashedName('ada', (...parts) => topology.ids.keyed(...parts)), optedOut: true },
    });
    const text = Buffer.from(record?.value ?? []).toString();
    expect(text).not.toContain('"ada"');
    const now = (await stored())?.words[0]?.at ?? 0;
    const guess = decide(null, { workspace: 'shop', person: 'ada' }, [OUT], { now, derive: topology.ids.derive });
    expect(text).not.toContain(guess?.words[0]?.id);
    expect(JSON.stringify([record?.key, record?.headers])).not.toContain('ada');
  });

  it('keeps both decisions if two processes make one each at the same time', async () => {
    const news: Decision = { ...OUT, target: { kind: 'category', name: 'news' } };
    await Promise.all([decided(OUT), decided(news), decided({ ...OUT, channel: 'sms' })]);
    expect((await stored())?.words).toHaveLength(3);
    expect((await stored())?.unpublished).toHaveLength(3);
  });

  it('stays unpublished if the append to the log fails, and a later sweep appends it', async () => {
    const document = await decided(OUT);
    const failing = { ...ports(), log: { ...topology.data.log, append: () => Promise.reject(new Error('away')) } };
    await expect(publishConsents(document ? [document] : [], failing)).rejects.toThrow('away');
    expect(await stored()).toMatchObject({ unpublished: [{ optedOut: true }] });
    await publishConsents(await topology.data.consents.unpublished(Infinity, 10), ports());
    expect(await topology.records('carillon.consents')).toHaveLength(1);
  });

  it('made during publishing is not removed together with the published decisions', async () => {
    const first = await decided(OUT);
    await decided({ ...OUT, channel: 'sms' });
    await publishConsents(first ? [first] : [], ports());
    expect(await stored()).toMatchObject({ unpublished: [{ channel: 'sms' }], words: [{}, {}] });
  });

  it('rejects if the store cannot store the decision', async () => {
    const away: ConsentStore = { ...topology.data.consents, replace: () => Promise.reject(new Error('away')) };
    await expect(decideConsents('shop', 'ada', [OUT], ports(away))).rejects.toThrow('away');
    expect(await stored()).toBeUndefined();
  });
});

describe('a consent decision read from the log', () => {
  it('is added to a store that lost it, and changes nothing in a store that has it', async () => {
    await publishConsents([(await decided(OUT)) as Consents], ports());
    const records = await topology.records('carillon.consents');
    await foldIn(records);
    expect((await stored())?.version).toBe(2);
    await topology.close();
    topology = await openTopology({ partitions: 1 });
    expect(await stored()).toBeUndefined();
    expect((await foldIn(records)).fates).toEqual([{ kind: 'done' }]);
    expect(await stored()).toMatchObject({ words: [{ optedOut: true, way: 'page' }], unpublished: [] });
  });

  it('changes nothing if it is older than a later decision', async () => {
    const old = decide(null, { workspace: 'shop', person: 'ada' }, [OUT], { now: 1, derive: topology.ids.derive });
    await decided(OUT);
    await decided({ ...OUT, optedOut: false });
    await publishConsents([{ ...(old as Consents) }], {
      ...ports(),
      consents: { ...topology.data.consents, replace: async () => 'done' },
    });
    await foldIn(await topology.records('carillon.consents'));
    expect(await stored()).toMatchObject({ words: [{ optedOut: false }] });
  });

  it('becomes a dead letter if it is unreadable, and the others are applied', async () => {
    await publishConsents([(await decided(OUT)) as Consents], ports());
    const [record] = await topology.records('carillon.consents');
    if (!record) throw new Error('there is a record');
    const { fates, outputs } = await foldIn([{ ...record, value: new Uint8Array([1, 2, 3]) }, record]);
    expect(fates).toMatchObject([{ kind: 'parked' }, { kind: 'done' }]);
    expect(outputs).toMatchObject([{ topic: 'carillon.dead-letters' }]);
  });
});
