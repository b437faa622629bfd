import { decide, partitionOf, publishedWords, type Consents, type ConsentWord, type Decision } from '@carillon/domain';
import type { Clock, ConsentStore, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

export type ConsentPorts = {
  readonly consents: ConsentStore;
  readonly log: Pick<EventLog, 'append' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'consent'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** A document whose compare-and-set keeps failing is under heavy fire; whoever asked is told to come again. */
const MAX_TRIES = 50;

/**
 * Writes down what a person decides. When it resolves the store has it: nothing whose check begins afterwards goes out
 * against it. Answers the document as it stands, which may hold words that are not on the log yet (`publishConsents`).
 */
export async function decideConsents(
  workspace: string,
  person: string,
  decisions: readonly Decision[],
  { consents, ids, clock }: Pick<ConsentPorts, 'consents' | 'ids' | 'clock'>,
): Promise<Consents | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [before = null] = await consents.find(workspace, [person]);
    const next = decide(before, { workspace, person }, decisions, { now: clock.now(), derive: ids.derive });
    if (!next) return before;
    if ((await consents.replace(next)) === 'done') return next;
  }
  throw new Error('what a person decided could not be written');
}

function consentRecord(word: ConsentWord, { log, codecs, ids }: ConsentPorts): NewRecord {
  const key = ids.keyed('consent', word.workspace, word.person);
  return {
    topic: 'carillon.consents',
    partition: partitionOf(key, log.partitions('carillon.consents')),
    key,
    value: codecs.consent.encode(word),
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
