import type { DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryLedger, DeliverySpan } from '@carillon/ports';
import type { Collection } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import type { DeliveryDocument } from '../documents.ts';
import { BY_STATE } from '../schema/wanted.ts';

/** What is counted over time, by an index that holds all that is counted. */
export function deliveryCounts(
  ledger: Collection<DeliveryDocument>,
  attempt: Attempt,
): Pick<DeliveryLedger, 'countOverTime' | 'countByNotification' | 'countPeople'> {
  const inSpan = ({ workspace, since, before }: DeliverySpan) => ({
    workspace: { $eq: workspace },
    createdAt: { $gte: since, $lt: before },
  });
  // The index is named by its keys, because it may have been created under another name.
  const byIndex = { hint: { ...BY_STATE.key } };
  const aggregate = <Row extends object>(...stages: readonly object[]): Promise<Row[]> =>
    attempt(() => ledger.aggregate<Row>([...stages], byIndex).toArray());

  return {
    async countOverTime({ notification, ...span }, part) {
      const rows = await aggregate<{ _id: { at: number; state: DeliveryState }; deliveries: number }>(
        { $match: { ...inSpan(span), ...(notification !== undefined && { notification: { $eq: notification } }) } },
        {
          $group: {
            _id: { at: { $subtract: ['$createdAt', { $mod: ['$createdAt', part] }] }, state: '$state' },
            deliveries: { $sum: 1 },
          },
        },
      );
      return rows.map(({ _id: { at, state }, deliveries }) => ({ at, state, deliveries }));
    },
    async countByNotification(span) {
      const rows = await aggregate<{ _id: { notification: string; state: DeliveryState }; deliveries: number }>(
        { $match: inSpan(span) },
        { $group: { _id: { notification: '$notification', state: '$state' }, deliveries: { $sum: 1 } } },
      );
      return rows.map(({ _id: { notification, state }, deliveries }) => ({ notification, state, deliveries }));
    },
    async countPeople(span, states) {
      const [counted] = await aggregate<{ people: number }>(
        { $match: { ...inSpan(span), state: { $in: [...states] } } },
        { $group: { _id: '$person' } },
        { $count: 'people' },
      );
      return counted?.people ?? 0;
    },
  };
}
