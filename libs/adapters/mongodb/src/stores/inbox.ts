import type { Inbox, InboxMessage } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import type { InboxDocument } from '../documents.ts';
import { afterCursor, beginsWithOneOf, equalities, filterOf, pageOf, sortOf, within, type Order } from '../pages.ts';

const NEWEST_FIRST: Order = { at: 'number', _id: 'string' };

const messageOf = ({ message }: InboxDocument): InboxMessage => JSON.parse(message) as InboxMessage;

export const createInbox = ({ inbox }: Collections, attempt: Attempt): Inbox => ({
  async put(message) {
    const { id, at, workspace } = message;
    const { channel, to: recipient } = message.message;
    const document = { _id: id, at, workspace, channel, recipient, message: JSON.stringify(message) };
    await attempt(() => insertOnce(inbox, document));
  },
  async get(id) {
    const found = await attempt(() => inbox.findOne({ _id: id }));
    return found ? messageOf(found) : null;
  },
  async list({ workspace, channels, to, ...span }, limit, cursor) {
    const wanted = filterOf<InboxDocument>(
      equalities({ workspace }),
      channels === undefined ? {} : { channel: { $in: [...channels] } },
      to === undefined ? {} : beginsWithOneOf(to),
      within('at', span),
      afterCursor(cursor, NEWEST_FIRST),
    );
    const found = await attempt(() =>
      inbox.find<InboxDocument>(wanted, { sort: sortOf(NEWEST_FIRST), limit: limit + 1 }).toArray(),
    );
    return pageOf(found, limit, messageOf, NEWEST_FIRST);
  },
});
