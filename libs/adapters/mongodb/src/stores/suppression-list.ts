import { formsOf, type ChannelName } from '@carillon/domain';
import type { Suppression, SuppressionList } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import { keyOf, type SuppressionDocument } from '../documents.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, type Order } from '../pages.ts';

const NEWEST_FIRST: Order = { at: 'number', _id: 'string' };

const suppressionOf = ({ _id, ...suppression }: SuppressionDocument): Suppression => suppression;

const keysOf = (workspace: string, channel: ChannelName, address: string): string[] =>
  formsOf(channel, address).map((form) => keyOf(workspace, channel, form));

export const createSuppressionList = ({ suppressions }: Collections, attempt: Attempt): SuppressionList => ({
  async add({ workspace, channel, source, detail, deliveryId, at, ...given }) {
    const [address = given.address] = formsOf(channel, given.address);
    const _id = keyOf(workspace, channel, address);
    await attempt(() => insertOnce(suppressions, { _id, workspace, channel, address, source, detail, deliveryId, at }));
  },
  remove: (workspace, channel, address) =>
    attempt(async (again) => {
      const { deletedCount } = await suppressions.deleteMany({ _id: { $in: keysOf(workspace, channel, address) } });
      // After a lost answer it may be us who removed it.
      return deletedCount > 0 || again;
    }),
  async find(workspace, channel, address) {
    const found = await attempt(() => suppressions.findOne({ _id: { $in: keysOf(workspace, channel, address) } }));
    return found ? suppressionOf(found) : null;
  },
  async list(workspace, limit, cursor) {
    const wanted = filterOf<SuppressionDocument>(equalities({ workspace }), afterCursor(cursor, NEWEST_FIRST));
    const found = await attempt(() =>
      suppressions.find<SuppressionDocument>(wanted, { sort: sortOf(NEWEST_FIRST), limit: limit + 1 }).toArray(),
    );
    return pageOf(found, limit, suppressionOf, NEWEST_FIRST);
  },
});
