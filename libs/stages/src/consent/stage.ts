import { fold, type Consents, type ConsentEntry } from '@carillon/domain/consent';
import { isHashedName } from '@carillon/domain/erasures';
import type {
  BatchStage,
  Clock,
  ConsentStore,
  EventLog,
  Ids,
  LogRecord,
  NewRecord,
  RecordCodecs,
  RecordFate,
} from '@carillon/ports';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { decodeRecord } from '../decode-record.ts';

export type ConsentStagePorts = {
  readonly consents: ConsentStore;
  readonly log: EventLog;
  readonly codecs: Pick<RecordCodecs, 'consent' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

const MAX_TRIES = 50;

/**
 * Stage of the delivery role: merges the choices on the log into the store; the newest choice per target and channel wins. Usually
 * the store already has them. After a restore this brings back opt-outs that are newer than the backup.
 */
export function createConsentStage(ports: ConsentStagePorts): BatchStage {
  const { consents, clock } = ports;

  /** Returns the document of a person whom the log names by keyed hash, or by name in records of an earlier release. */
  async function documentOf({ workspace, person }: ConsentEntry): Promise<Consents | null> {
    const found = isHashedName(person)
      ? await consents.findHashed(workspace, [person])
      : await consents.find(workspace, [person]);
    return found.find(({ person: name }) => !isHashedName(name)) ?? found[0] ?? null;
  }

  async function foldIn(words: readonly ConsentEntry[]): Promise<void> {
    const [first] = words;
    if (!first) return;
    const { workspace } = first;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const before = await documentOf(first);
      const person = before?.person ?? first.person;
      const own = words.map((word) => ({ ...word, person }));
      const next = fold(before, { workspace, person }, own, clock.now());
      if (!next || (await consents.replace(next)) === 'done') return;
    }
    throw new Error('the opt-out choices of a person could not be stored');
  }

  return {
    name: 'consents',
    async handle(records, state) {
      const fates: RecordFate[] = [];
      const outputs: NewRecord[] = [];
      const words: ConsentEntry[] = [];
      const park = (record: LogRecord, reason: string, detail: string): RecordFate => {
        outputs.push(deadLetterRecord(deadLetterOf('consents', record, reason, detail, ports), ports));
        return { kind: 'parked', reason };
      };
      for (const record of records) {
        const decoded = await decodeRecord(ports.codecs.consent, record.value);
        if (decoded.ok) words.push(decoded.value);
        fates.push(decoded.ok ? { kind: 'done' } : park(record, decoded.error.reason, decoded.error.detail));
      }
      const byPerson = Map.groupBy(words, ({ workspace, person }) => JSON.stringify([workspace, person]));
      await Promise.all([...byPerson.values()].map(foldIn));
      return { fates, outputs, state };
    },
  };
}
