import { parseJson } from '@carillon/kernel';
import type { InboxMessage } from '@carillon/ports';
import type { Collection, Db } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import type { DeliveryDocument } from '../documents.ts';
import { readDelivery, WHOLE } from '../stores/delivery-fields.ts';

const BATCH_SIZE = 500;

/**
 * Adds fields for list filters to deliveries of earlier versions. Concurrent moves write these fields themselves.
 * Checks each workspace through an index, so that a start without work is cheap.
 */
export async function fillDeliveries(db: Db, attempt: Attempt): Promise<void> {
  const deliveries: Collection<DeliveryDocument> = db.collection('deliveries');
  for (const workspace of await attempt(() => deliveries.distinct('workspace'))) {
    for (;;) {
      const found = await attempt(() =>
        deliveries
          .find(
            { workspace, rule: null as unknown as string },
            { projection: { ...WHOLE, version: 1 }, limit: BATCH_SIZE },
          )
          .toArray(),
      );
      if (found.length === 0) break;
      await attempt(() =>
        deliveries.bulkWrite(
          found.map(({ _id, version, ...whole }) => {
            const { reason, intent } = readDelivery(whole);
            const update = { $set: { reason, person: intent.person, rule: intent.rule } };
            return { updateOne: { filter: { _id, version }, update } };
          }),
          { ordered: false },
        ),
      );
    }
  }
}

/** Fills the columns of inbox messages, which never change. */
export async function fillInbox(db: Db, attempt: Attempt): Promise<void> {
  const inbox = db.collection<{ readonly _id: string; readonly workspace: string; readonly message: string }>('inbox');
  for (;;) {
    const found = await attempt(() =>
      inbox.find({ workspace: null as unknown as string }, { projection: { message: 1 }, limit: BATCH_SIZE }).toArray(),
    );
    if (found.length === 0) return;
    await attempt(() =>
      inbox.bulkWrite(
        found.map(({ _id, message: text }) => {
          const { workspace, message } = parseJson(text) as unknown as InboxMessage;
          const update = { $set: { workspace, channel: message.channel, recipient: message.to } };
          return { updateOne: { filter: { _id }, update } };
        }),
        { ordered: false },
      ),
    );
  }
}
