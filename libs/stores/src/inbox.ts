import { integer, text, type Collection, type Documents, type Inbox, type InboxMessage } from '@carillon/ports';

const DAY = 86_400_000;

const INBOX: Collection<InboxMessage> = {
  name: 'inbox',
  key: ['id'],
  // The table computes the columns with `read` from the message.
  fields: {
    id: text(({ id }) => id),
    at: integer(({ at }) => at),
    workspace: text(({ workspace }) => workspace, { read: 'workspace' }),
    channel: text(({ message }) => message.channel, { read: 'channel' }),
    recipient: text(({ message }) => message.to, { read: 'recipient' }),
  },
  indexes: {
    newest: { by: ['at', '_id'] },
    workspace: { by: ['workspace', 'at', '_id'] },
    recipient: { by: ['recipient', 'at', '_id'] },
  },
  expiry: { field: 'at', kept: 30 * DAY },
  body: { field: 'message' },
};

function create(documents: Documents): Inbox {
  const messages = documents.collection(INBOX);
  return {
    async put(message) {
      await messages.write(message, null);
    },
    get: (id) => messages.get([id]),
    list({ workspace, channels, to, since, before }, limit, cursor) {
      const where = {
        workspace,
        channel: channels && { in: channels },
        recipient: to && { beginsWith: to },
        at: { from: since, before },
      };
      return messages.page({ index: 'newest', where }, limit, cursor);
    },
  };
}

export const inbox = { collections: [INBOX], create };
