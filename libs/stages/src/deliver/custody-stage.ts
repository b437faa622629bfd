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
  /**
   * Called with every delivery that is due now, after it is in the ledger. Only a hint; correctness does not depend on
   * it.
   */
  readonly due: (deliveries: readonly DueDelivery[]) => void;
  /**
   * Offsets per partition of `carillon.events`, set by a restore. Intents of events below them are stored as CANCELLED.
   * Defaults to none.
   */
  readonly calledOffBelow?: CalledOff;
  /** Sending jobs in the backup of that restore. Their intents are stored as CANCELLED. Defaults to none. */
  readonly calledOffJobs?: ReadonlySet<JobId>;
};

/** End of each partition of a topic at the time of the restored backup. */
export type CalledOff = ReadonlyMap<number, number>;

/**
 * A sending job that is not in the backup started after the restore, so its messages are sent although their events are
 * called off.
 */
function isCalledOff({ eventPosition, sentBy }: Intent, { calledOffBelow, calledOffJobs }: CustodyPorts): boolean {
  if (sentBy) return calledOffJobs?.has(sentBy.job) === true;
  const event = readPosition(eventPosition);
  const end = event && calledOffBelow?.get(event.partition);
  // Events of waits that moved to this deployment have negative offsets, so no end is not the end 0.
  return event !== undefined && end !== undefined && event.offset < end;
}

/** An intent with its log position and record size. */
type Placed = { readonly intent: Intent; readonly position: string; readonly bytes: number };

/** Tries of a compare-and-set before the batch fails and is retried. */
const MAX_TRIES = 50;

/**
 * First half of delivering (flow table, stage 4): takes intents into custody. When it resolves, the ledger durably
 * records for each intent that it holds its slot, took it over, or is a counted duplicate. Only then may the position
 * be committed.
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
      // Publish the outcomes of these deliveries here. The sweeper skips recently changed documents, so outcomes of a
      // slot with frequent intents would pile up.
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

/** Returns the delivery id of a slot: its keyed hash, so that the document key enforces uniqueness. */
export const deliveryIdOf = (intent: Pick<Intent, 'slot'>, ids: Pick<Ids, 'keyed'>): DeliveryId =>
  `dlv_${ids.keyed('slot', ...slotParts(intent))}` as DeliveryId;

/** Returns the record key of a delivery's intents, which is the slot hash already in its id. */
export const intentKeyOf = ({ id }: Delivery): string => id.slice('dlv_'.length);

function parkRecord(record: LogRecord, fault: { reason: string; detail: string }, ports: CustodyPorts): NewRecord {
  return deadLetterRecord(deadLetterOf('deliver', record, fault.reason, fault.detail, ports), ports);
}
