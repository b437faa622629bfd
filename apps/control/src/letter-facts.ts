import type { DeadLetterFactsBody } from '@carillon/contracts';
import type { DeadLetter } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { DeadLetterRow } from '@carillon/ports';
import { decodeRecord, isLeftOut } from '@carillon/stages';
import type { ControlPorts } from './ports.ts';

export type LetterPorts = Pick<ControlPorts, 'log' | 'codecs' | 'slice'>;

/** Records read at a time: each may hold 2 MiB. */
const CONCURRENCY = 8;

const NOTHING_KNOWN: DeadLetterFactsBody = {
  partner: null,
  notification: null,
  rule: null,
  person: null,
  people: 0,
  event_id: null,
  redrive: null,
};

/** Returns rows as people read them, each with what its record is about. A record that has left the log is about nothing known. */
export async function withFacts<Shown extends object>(
  rows: readonly DeadLetterRow[],
  show: (row: DeadLetterRow) => Shown,
  ports: LetterPorts,
): Promise<(Shown & DeadLetterFactsBody)[]> {
  const shown: (Shown & DeadLetterFactsBody)[] = [];
  for (let at = 0; at < rows.length; at += CONCURRENCY) {
    if (ports.slice.isExpired()) await ports.slice.yield();
    const some = rows.slice(at, at + CONCURRENCY);
    shown.push(...(await Promise.all(some.map(async (row) => ({ ...show(row), ...(await factsOf(row, ports)) })))));
  }
  return shown;
}

async function factsOf(row: DeadLetterRow, ports: Pick<LetterPorts, 'log' | 'codecs'>): Promise<DeadLetterFactsBody> {
  const [record] = await ports.log.read('carillon.dead-letters', row.ownPartition, row.ownOffset, 1);
  if (record?.offset !== row.ownOffset) return NOTHING_KNOWN;
  const letter = await decodeRecord(ports.codecs.deadLetter, record.value);
  return letter.ok && !isLeftOut(letter.value) ? factsIn(letter.value, ports) : NOTHING_KNOWN;
}

async function factsIn(letter: DeadLetter, { codecs }: Pick<LetterPorts, 'codecs'>): Promise<DeadLetterFactsBody> {
  const { topic, value, headers } = letter;
  const event_id = headers['event_id'] ?? null;
  switch (topic) {
    case 'carillon.events':
      return {
        ...NOTHING_KNOWN,
        event_id,
        redrive: 'Evaluates the event again. People who were notified already are not notified again.',
      };
    case 'carillon.triggers': {
      const trigger = await decodeRecord(codecs.trigger, value);
      if (!trigger.ok) return { ...NOTHING_KNOWN, redrive: 'Asks the partner again.' };
      return {
        ...factsOfTrigger(trigger.value),
        redrive: `Asks ${trigger.value.integration} again, with as much time as at first. Then the people are notified.`,
      };
    }
    case 'carillon.lookups': {
      const lookup = await decodeRecord(codecs.lookup, value);
      const redrive = 'Makes the messages from the stored answer. The partner is not asked again.';
      return lookup.ok ? { ...factsOfTrigger(lookup.value.trigger), redrive } : { ...NOTHING_KNOWN, redrive };
    }
    case 'carillon.intents': {
      const intent = await decodeRecord(codecs.intent, value);
      const redrive = 'Sends the message, unless it was sent already or its time is over.';
      if (!intent.ok) return { ...NOTHING_KNOWN, redrive };
      const { notification, rule, person, eventId } = intent.value;
      return { ...NOTHING_KNOWN, notification, rule, person, people: 1, event_id: eventId, redrive };
    }
    case 'carillon.consents': {
      const consent = await decodeRecord(codecs.consent, value);
      const redrive = 'Applies the opt-out or opt-in. A newer choice of the person stays.';
      return consent.ok
        ? { ...NOTHING_KNOWN, person: consent.value.person, people: 1, redrive }
        : { ...NOTHING_KNOWN, redrive };
    }
    case 'carillon.receipts':
      return { ...NOTHING_KNOWN, redrive: 'Applies the report of the provider to its message.' };
    default:
      return NOTHING_KNOWN;
  }
}

const factsOfTrigger = ({ integration, notification, rule, userIds, eventId }: Trigger): DeadLetterFactsBody => ({
  partner: integration,
  notification,
  rule,
  person: userIds[0] ?? null,
  people: userIds.length,
  event_id: eventId,
  redrive: null,
});
