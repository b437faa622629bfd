import { formsOf, formsOnChannels, type ChannelName } from '@carillon/domain/channels';
import type { SuppressionSource } from '@carillon/domain/deliveries';
import type { Suppression, SuppressionList } from '@carillon/ports';
import type { Filter, FindOptions } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertEach, insertOnce } from '../compare-and-set.ts';
import { keyOf, type SuppressionDocument } from '../documents.ts';
import { coalesceRequests } from '../coalesce-requests.ts';
import { afterCursor, equalities, filterOf, IN_ONE_ANSWER, pageOf, sortOf, type Order } from '../pages.ts';

const NEWEST_FIRST: Order = { at: 'number', _id: 'string' };
const OLDEST_FIRST: FindOptions = { sort: { at: 1, _id: 1 } };

const suppressionOf = ({ _id, ...suppression }: SuppressionDocument): Suppression => suppression;

function documentOf({
  workspace,
  channel,
  source,
  detail,
  deliveryId,
  at,
  by,
  ...given
}: Suppression): SuppressionDocument {
  const [address = given.address] = formsOf(channel, given.address);
  const _id = keyOf(workspace, channel, address, source);
  return { _id, workspace, channel, address, source, detail, deliveryId, at, ...(by !== undefined && { by }) };
}

/** By fields, not by id: entries of earlier versions have ids without the source. */
const entriesOf = (
  workspace: string,
  channel: ChannelName,
  address: string,
  source?: SuppressionSource,
): Filter<SuppressionDocument> =>
  filterOf<SuppressionDocument>(equalities({ workspace, channel, source }), {
    address: { $in: [...formsOf(channel, address)] },
  });

type Asked = { readonly workspace: string; readonly channel: ChannelName; readonly address: string };

/** One question about many addresses; of each the oldest entry that there is. */
const finding = ({ suppressions }: Collections, attempt: Attempt): ((asked: Asked) => Promise<Suppression | null>) => {
  const findOne = async ({ workspace, channel, address }: Asked): Promise<Suppression | null> => {
    const found = await attempt(() => suppressions.findOne(entriesOf(workspace, channel, address), OLDEST_FIRST));
    return found ? suppressionOf(found) : null;
  };
  const entriesOfAll = (asked: readonly Asked[]): Filter<SuppressionDocument> =>
    filterOf<SuppressionDocument>(equalities({ workspace: asked[0]?.workspace, channel: asked[0]?.channel }), {
      address: { $in: asked.flatMap(({ channel, address }) => formsOf(channel, address)) },
    });
  return coalesceRequests(
    ({ workspace, channel, address }) => keyOf(workspace, channel, address),
    findOne,
    async (all) => {
      const groups = Map.groupBy(all, ({ workspace, channel }) => keyOf(workspace, channel));
      const found = new Map<string, Suppression>();
      await Promise.all(
        [...groups].map(async ([group, asked]) => {
          const entries = await attempt(() =>
            suppressions.find(entriesOfAll(asked), { ...IN_ONE_ANSWER, ...OLDEST_FIRST }).toArray(),
          );
          for (const entry of entries.toReversed()) found.set(keyOf(group, entry.address), suppressionOf(entry));
        }),
      );
      return all.map(({ workspace, channel, address }) => {
        const forms = formsOf(channel, address).flatMap(
          (form) => found.get(keyOf(keyOf(workspace, channel), form)) ?? [],
        );
        return forms.toSorted((one, other) => one.at - other.at)[0] ?? null;
      });
    },
    { oneAtATime: true },
  );
};

/** In any form of the channel, or of every channel. */
const withForms = (address: string, channel?: ChannelName): Readonly<Record<string, unknown>> => ({
  $or: formsOnChannels(address, channel && [channel]).map(([name, forms]) => ({
    channel: name,
    address: { $in: [...forms] },
  })),
});

export function createSuppressionList(collections: Collections, attempt: Attempt): SuppressionList {
  const { suppressions } = collections;
  const find = finding(collections, attempt);
  return {
    async add(suppression) {
      const document = documentOf(suppression);
      await attempt(async () => {
        await insertOnce(suppressions, document);
        if (document.source === 'stop')
          await suppressions.updateOne({ _id: document._id }, { $max: { at: document.at } });
      });
    },
    addAll: (given) =>
      attempt(async () => {
        const documents = given.map(documentOf);
        const refused = await insertEach(suppressions, documents);
        return documents.length - refused.size;
      }),
    remove: (workspace, channel, address, source, notAfter) =>
      attempt(async (again) => {
        const entries = entriesOf(workspace, channel, address, source);
        const wanted = notAfter === undefined ? entries : { ...entries, at: { $lte: notAfter } };
        const { deletedCount } = await suppressions.deleteMany(wanted);
        // After a lost answer it may be us who removed it.
        return deletedCount > 0 || again;
      }),
    find: (workspace, channel, address) => find({ workspace, channel, address }),
    async sources(workspace, channel, address) {
      const wanted = entriesOf(workspace, channel, address);
      const found = await attempt(() => suppressions.find<SuppressionDocument>(wanted, OLDEST_FIRST).toArray());
      return found.map(suppressionOf);
    },
    async list({ workspace, channel, address, source }, limit, cursor) {
      const wanted = filterOf<SuppressionDocument>(
        equalities({ workspace, channel, source }),
        address === undefined ? {} : withForms(address, channel),
        afterCursor(cursor, NEWEST_FIRST),
      );
      const found = await attempt(() =>
        suppressions.find<SuppressionDocument>(wanted, { sort: sortOf(NEWEST_FIRST), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, suppressionOf, NEWEST_FIRST);
    },
  };
}
