import {
  changedWords,
  decide,
  publishedWords,
  type Consents,
  type ConsentEntry,
  type Decision,
} from '@carillon/domain/consent';
import { hashedName } from '@carillon/domain/erasures';
import { partitionOf } from '@carillon/domain/events';
import { ID_PREFIXES, type DeriveId } from '@carillon/kernel';
import type { Clock, ConsentStore, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

export type ConsentPorts = {
  readonly consents: ConsentStore;
  readonly log: Pick<EventLog, 'append' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'consent'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** Derives ids from names with the key of the deployment, because records with these ids stay for ever. */
const keyedIds =
  ({ keyed }: Pick<Ids, 'keyed'>): DeriveId =>
  (kind, ...parts) =>
    ID_PREFIXES[kind] + keyed(kind, ...parts);

/** Tries of a compare-and-set before the caller gets an error to retry. */
const MAX_TRIES = 50;

/**
 * Stores choices of a person. When it resolves they are durable, and every later check before a send sees them. Returns
 * the document, which may hold choices that are not on the log yet (`publishConsents`).
 */
export async function decideConsents(
  workspace: string,
  person: string,
  decisions: readonly Decision[],
  { consents, ids, clock }: Pick<ConsentPorts, 'consents' | 'ids' | 'clock'>,
): Promise<Consents | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [before = null] = await consents.find(workspace, [person]);
    const next = decide(before, { workspace, person }, decisions, { now: clock.now(), derive: keyedIds(ids) });
    if (!next) return before;
    if ((await consents.replace(next)) === 'done') return next;
  }
  throw new Error('the opt-out choice of a person could not be stored');
}

/** Decisions for one of many people. */
export type PersonDecisions = { readonly person: string; readonly decisions: readonly Decision[] };

/** People whose documents are written at the same time. */
const BATCH_SIZE = 16;

/**
 * Writes down decisions for many people of a workspace, one after the other of each as they are listed. When it resolves the store has
 * all of them; where it rejects, any part may be there, and doing it again is safe. Answers the documents that were written, and
 * how many targets and channels stand differently now.
 */
export async function decideForMany(
  workspace: string,
  people: readonly PersonDecisions[],
  ports: Pick<ConsentPorts, 'consents' | 'ids' | 'clock'>,
): Promise<{ readonly documents: readonly Consents[]; readonly changed: number }> {
  const { consents, clock, ids } = ports;
  const documents: Consents[] = [];
  let changed = 0;
  for (let from = 0; from < people.length; from += BATCH_SIZE) {
    const part = people.slice(from, from + BATCH_SIZE);
    const found = await consents.find(
      workspace,
      part.map(({ person }) => person),
    );
    const known = new Map(found.map((document) => [document.person, document]));
    const written = await Promise.all(
      part.map(async ({ person, decisions }) => {
        const before = known.get(person) ?? null;
        const next = decide(before, { workspace, person }, decisions, { now: clock.now(), derive: keyedIds(ids) });
        if (!next) return null;
        if ((await consents.replace(next)) === 'done') return { before, next };
        // Somebody was faster: it is read again, until it is written.
        const again = await decideConsents(workspace, person, decisions, ports);
        return again && { before, next: again };
      }),
    );
    for (const one of written) {
      if (!one) continue;
      documents.push(one.next);
      changed += changedWords(one.before, one.next).length;
    }
  }
  return { documents, changed };
}

/** Names the person by keyed hash, because the record stays for ever and an erasure need not touch it. */
function consentRecord(word: ConsentEntry, { log, codecs, ids }: ConsentPorts): NewRecord {
  const key = ids.keyed('consent', word.workspace, word.person);
  return {
    topic: 'carillon.consents',
    partition: partitionOf(key, log.partitions('carillon.consents')),
    key,
    value: codecs.consent.encode({ ...word, person: hashedName(word.person, (...parts) => ids.keyed(...parts)) }),
    headers: {},
  };
}

/**
 * Appends what the documents still hold unpublished, then takes it out of them. A crash in between appends it again,
 * under the same id. Called by whoever wrote it and by the sweeper for what was left.
 */
export async function publishConsents(documents: readonly Consents[], ports: ConsentPorts): Promise<number> {
  const holding = documents.filter(({ unpublished }) => unpublished.length > 0);
  const words = holding.flatMap(({ unpublished }) => unpublished);
  if (words.length === 0) return 0;
  await ports.log.append(words.map((word) => consentRecord(word, ports)));
  await Promise.all(holding.map((document) => forget(document, ports.consents)));
  return words.length;
}

async function forget(document: Consents, consents: ConsentStore): Promise<void> {
  const ids = new Set(document.unpublished.map(({ id }) => id));
  let seen: Consents | undefined = document;
  while (seen) {
    const next = publishedWords(seen, ids);
    if (!next || (await consents.replace(next)) === 'done') return;
    [seen] = await consents.find(document.workspace, [document.person]);
  }
}
