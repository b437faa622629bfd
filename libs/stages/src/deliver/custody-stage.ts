import {
  decideCustody,
  openDelivery,
  slotParts,
  type Delivery,
  type Intent,
  type Moment,
} from '@carillon/domain/deliveries';
import { formatPosition, readPosition } from '@carillon/domain/events';
import type { DeliveryId, JobId } from '@carillon/kernel';
import type {
  Clock,
  DeliveryLedger,
  DueDelivery,
  EventLog,
  Ids,
  LogRecord,
  NewRecord,
  RecordCodecs,
} from '@carillon/ports';
import type { BatchStage, RecordFate } from '@carillon/ports';
import { decodeRecord } from '../decode-record.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { insertAndPublish, publishTogether, transitionAndPublish, type PublicationBatch } from './transition.ts';

export type CustodyPorts = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly codecs: Pick<RecordCodecs, 'intent' | 'outcome' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Told of every delivery that is due now, after it stands in the ledger: a hint, never needed for correctness. */
  readonly due: (deliveries: readonly DueDelivery[]) => void;
  /**
   * By partition of `carillon.events`: what events below these offsets cause is taken into custody as CANCELLED, because
   * a restore called it off. Left out: nothing is.
   */
  readonly calledOffBelow?: CalledOff;
  /** Sending jobs that the backup of that restore holds. Their messages are taken into custody as CANCELLED. Left out: there are none. */
  readonly calledOffJobs?: ReadonlySet<JobId>;
};

/** The end of each partition of a topic when the backup was made from which the data was restored. */
export type CalledOff = ReadonlyMap<number, number>;

/** A sending job that the backup does not hold was started after the restore, so its messages go out although their events are called off. */
function isCalledOff({ eventPosition, sentBy }: Intent, { calledOffBelow, calledOffJobs }: CustodyPorts): boolean {
  if (sentBy) return calledOffJobs?.has(sentBy.job) === true;
  const event = readPosition(eventPosition);
  return event !== undefined && event.offset < (calledOffBelow?.get(event.partition) ?? 0);
}

/** An intent with where it stands on the log, and how long its record is. */
type Placed = { readonly intent: Intent; readonly position: string; readonly bytes: number };

/** A document whose compare-and-set keeps failing is under heavy fire; the batch then comes again. */
const MAX_TRIES = 50;

/**
 * Deliver, first half (flow table, stage 4): takes intents into custody. When it resolves, each intent holds its slot,
 * took it over, or is a counted duplicate, all durably in the ledger; only then may the position be committed.
 */
export function createCustodyStage(ports: CustodyPorts): BatchStage {
  const { ledger, ids, clock, codecs } = ports;
  const moment = (): Moment => ({ now: clock.now(), derive: ids.derive });

  async function decideUntilWritten(
    holder: Delivery,
    { intent, position, bytes }: Placed,
    batch: PublicationBatch,
  ): Promise<RecordFate> {
    let seen: Delivery | null = holder;
    for (let tries = 0; tries < MAX_TRIES && seen; tries += 1) {
      const digest = seen.digestedIn === undefined ? null : await ledger.get(seen.digestedIn);
      const calledOff = isCalledOff(intent, ports);
      const judged = decideCustody(seen, intent, position, moment(), { calledOff, digest });
      if (judged.kind === 'known') return { kind: 'dropped', reason: 'known' };
      const moved = await transitionAndPublish(judged.next, ports, { batch });
      if (moved) {
        if (judged.kind === 'duplicate') return { kind: 'dropped', reason: 'duplicate' };
        ports.due([{ delivery: moved.delivery, bytes }]);
        return { kind: 'done' };
      }
      seen = await ledger.get(holder.id);
    }
    throw new Error(`delivery ${holder.id} could not be written`);
  }

  return {
    name: 'deliver',
    async handle(records, state) {
      const outputs: NewRecord[] = [];
      const fates: RecordFate[] = [];
      const intents: Placed[] = [];
      for (const record of records) {
        const decoded = await decodeRecord(codecs.intent, record.value);
        if (decoded.ok) {
          const position = formatPosition({ ...record, logId: ports.log.logId });
          intents.push({ intent: decoded.value, position, bytes: record.value.length });
        } else {
          outputs.push(parkRecord(record, decoded.error, ports));
          fates.push({ kind: 'parked', reason: decoded.error.reason });
        }
      }
      const fresh = intents.map(({ intent, position }) =>
        openDelivery(intent, position, deliveryIdOf(intent, ids), moment(), isCalledOff(intent, ports)),
      );
      // The sweeper alone would not do: it would never publish the outcomes of a slot that keeps getting intents, and the document would grow.
      await publishTogether(ports, async (batch) => {
        const inserted = await insertAndPublish(fresh, ports, batch);
        const added = fresh.flatMap((delivery, index) =>
          inserted[index]?.inserted === true ? [{ delivery, bytes: intents[index]?.bytes ?? 0 }] : [],
        );
        ports.due(added);
        for (const [index, placed] of intents.entries()) {
          const answer = inserted[index];
          if (!answer || answer.inserted) fates.push({ kind: 'done' });
          else fates.push(await decideUntilWritten(answer.holder, placed, batch));
        }
      });
      return { fates, outputs, state };
    },
  };
}

/** The document of a slot: its id is the keyed hash of the slot, so the key itself keeps messages apart. */
export const deliveryIdOf = (intent: Pick<Intent, 'slot'>, ids: Pick<Ids, 'keyed'>): DeliveryId =>
  `dlv_${ids.keyed('slot', ...slotParts(intent))}` as DeliveryId;

/** The key of the records of its intents: the same hash of the slot, which need not be made again. */
export const intentKeyOf = ({ id }: Delivery): string => id.slice('dlv_'.length);

function parkRecord(record: LogRecord, fault: { reason: string; detail: string }, ports: CustodyPorts): NewRecord {
  return deadLetterRecord(deadLetterOf('deliver', record, fault.reason, fault.detail, ports), ports);
}
