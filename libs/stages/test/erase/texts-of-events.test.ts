import { createErasureMatcher, nameHash } from '@carillon/domain/erasures';
import type { EventId } from '@carillon/kernel';
import { erasedHeaders, type ErasureWork, type LogRecord } from '@carillon/ports';
import { createErasureWork } from '@carillon/stages';
import { ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { untilFound } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const OF_USER = { from: 'event', person: 'event.user_id', to: { email: 'event.email' } } as const;
const RULES = { wrong: { stream: 'orders', when: 'int(event.name) > 0', recipients: OF_USER } } as const;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }));
});
afterEach(() => topology.close());

const workFor = (person: string): ErasureWork => {
  const { ids, ports } = topology;
  const keyed = (...parts: readonly string[]): string => ids.keyed(...parts);
  return createErasureWork(
    createErasureMatcher({ workspace: 'shop', hashes: [nameHash(person, keyed)] }, keyed),
    ports,
  );
};

/** Posts an event at which the rule fails, and returns its id and the record with the error. */
async function failAt(user_id: string, name: string): Promise<{ id: EventId; evaluation: LogRecord }> {
  const before = (await topology.records('carillon.evaluations')).length;
  const id = await topology.event({ user_id, name, email: `${user_id}@example.com` });
  const evaluation = await untilFound('the event is evaluated', async () => {
    const records = (await topology.records('carillon.evaluations')).slice(before);
    return records.find(({ value }) => new TextDecoder().decode(value).includes(id));
  });
  return { id, evaluation };
}

describe('an erasure of stored error texts about an event', () => {
  it('empties an error that quotes the person’s first name, also in a pass after the event was overwritten', async () => {
    await topology.evaluates();
    const mara = await failAt('u-mara', 'Mara');
    const ada = await failAt('u-ada', 'Ada');
    expect(new TextDecoder().decode(mara.evaluation.value)).toContain('Mara');
    const events = await topology.records('carillon.events');
    const overwritten = events.map((record) =>
      record.headers['event_id'] === mara.id
        ? { ...record, headers: erasedHeaders(record), value: new Uint8Array() }
        : record,
    );
    for (const records of [events, overwritten]) {
      const work = workFor('u-mara');
      for (const record of records) await work.judge(record);
      expect([work.isErasedEvent(mara.id), work.isErasedEvent(ada.id), work.isErasedEvent(null)]).toEqual([
        true,
        false,
        false,
      ]);
      const verdict = await work.judge(mara.evaluation);
      if (verdict === null || verdict === 'erased') throw new Error('the error was not emptied alone');
      const left = topology.ports.codecs.evaluation.decode(verdict.value);
      expect(left).toMatchObject({ ok: true, value: { rules: [{ failed: 1, sampleError: null }] } });
      expect(await work.judge(ada.evaluation)).toBeNull();
    }
  });
});
