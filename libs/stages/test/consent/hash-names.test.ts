import { decide, type Consents, type Decision } from '@carillon/domain/consent';
import { hashedName } from '@carillon/domain/erasures';
import { partitionOf } from '@carillon/domain/events';
import type { NewRecord } from '@carillon/ports';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConsentStage, hashNamesOnLog, publishConsents, removeNamedRecords } from '../../src/index.ts';

const TOPIC = 'carillon.consents';
const OUT: Decision = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'page' };

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 2 });
});
afterEach(() => topology.close());

const people = async (): Promise<readonly string[]> =>
  (await topology.records(TOPIC)).map(({ value }) => {
    const entry = topology.ports.codecs.consent.decode(value);
    return entry.ok ? entry.value.person : 'unreadable';
  });
const entryIds = async (): Promise<readonly string[]> =>
  (await topology.records(TOPIC)).map(({ value }) => {
    const entry = topology.ports.codecs.consent.decode(value);
    return entry.ok ? entry.value.id : 'unreadable';
  });
const hashOf = (person: string): string => hashedName(person, (...parts) => topology.ids.keyed(...parts));

/** Opts a person out as the release before did: the document has no hash, and the record names the person. */
async function optOutBefore(person: string): Promise<Consents> {
  const { clock, codecs, log } = topology.ports;
  const who = { workspace: 'shop', person };
  const document = decide(null, who, [OUT], { now: clock.now(), derive: topology.ids.derive }) as Consents;
  await topology.data.consents.replace({ ...document, unpublished: [] });
  const key = topology.ids.keyed('consent', 'shop', person);
  const records = document.words.map((word): NewRecord => ({
    topic: TOPIC,
    partition: partitionOf(key, log.partitions(TOPIC)),
    key,
    value: codecs.consent.encode(word),
    headers: {},
  }));
  await log.append(records);
  return document;
}

/** The delivery role reads all records and moves its position. */
async function readAll(): Promise<void> {
  const { checkpoints, log } = topology.ports;
  const stage = createConsentStage(topology.ports);
  for (let partition = 0; partition < log.partitions(TOPIC); partition += 1) {
    const { start, end } = await log.bounds(TOPIC, partition);
    const records = await log.read(TOPIC, partition, start, 100);
    await stage.handle(records, { partition, configNumber: -1, watermark: 0 });
    const position = { group: 'delivery', topic: TOPIC, partition, logId: log.logId };
    await checkpoints.save({ ...position, next: end, watermark: 0, configNumber: -1 });
  }
}

const documents = async (): Promise<readonly string[]> =>
  (await topology.ports.consents.list('shop', 100)).items.map(({ person }) => person).toSorted();

describe('hashNamesOnLog (replaces names of people in consent records by hashes)', () => {
  it('replaces records with names, and keeps each opt-out for the person under the hash', async () => {
    await optOutBefore('ada@example.com');
    await optOutBefore('bob');
    await hashNamesOnLog(topology.ports);
    await readAll();
    expect(await removeNamedRecords('delivery', topology.ports)).toBe(true);
    expect((await people()).toSorted()).toEqual([hashOf('ada@example.com'), hashOf('bob')].toSorted());
    expect(await documents()).toEqual(['ada@example.com', 'bob']);
  });

  it('replaces record ids too, because an attacker could compute them from names', async () => {
    const document = await optOutBefore('ada@example.com');
    await hashNamesOnLog(topology.ports);
    const [before, replaced] = await entryIds();
    expect(before).toBe(document.words[0]?.id);
    expect(replaced).not.toBe(before);
  });

  it('keeps the replaced records until the consumer group has read them', async () => {
    await optOutBefore('ada@example.com');
    await hashNamesOnLog(topology.ports);
    expect(await removeNamedRecords('delivery', topology.ports)).toBe(false);
    expect(await people()).toEqual(['ada@example.com', hashOf('ada@example.com')]);
  });

  it('changes nothing when it runs again, and replaces records that the previous release writes later', async () => {
    await optOutBefore('ada@example.com');
    await hashNamesOnLog(topology.ports);
    await readAll();
    await removeNamedRecords('delivery', topology.ports);
    await hashNamesOnLog(topology.ports);
    expect(await people()).toEqual([hashOf('ada@example.com')]);
    await optOutBefore('bob');
    await hashNamesOnLog(topology.ports);
    await readAll();
    expect(await removeNamedRecords('delivery', topology.ports)).toBe(true);
    expect((await people()).toSorted()).toEqual([hashOf('ada@example.com'), hashOf('bob')].toSorted());
  });

  it('leaves a record from which an opt-out is restored, and the person is found by the hash', async () => {
    const { ids, clock } = topology;
    const who = { workspace: 'shop', person: 'ada@example.com' };
    const document = decide(null, who, [OUT], { now: clock.now(), derive: ids.derive }) as Consents;
    const lost = { ...topology.ports.consents, replace: async () => 'done' as const };
    await publishConsents([document], { ...topology.ports, consents: lost });
    expect(await people()).toEqual([hashOf('ada@example.com')]);
    await readAll();
    expect(await documents()).toEqual([hashOf('ada@example.com')]);
    const [found] = await topology.ports.consents.find('shop', ['ada@example.com']);
    expect(found).toMatchObject({ person: 'ada@example.com', words: [{ optedOut: true }] });
  });
});
