import { isSearched } from '@carillon/domain';
import type { Inbox, InboxFilter, InboxMessage } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

const isWanted = ({ workspace, message, at }: InboxMessage, filter: InboxFilter): boolean =>
  (filter.workspace === undefined || workspace === filter.workspace) &&
  (filter.channels?.includes(message.channel) ?? true) &&
  (filter.to === undefined || isSearched(message.to, filter.to)) &&
  at >= (filter.since ?? Number.NEGATIVE_INFINITY) &&
  at < (filter.before ?? Number.POSITIVE_INFINITY);

/** What the sandbox kept, each message once. */
export function createMemoryInbox() {
  const stored = new Map<string, InboxMessage>();

  function put(message: InboxMessage): void {
    if (!stored.has(message.id)) stored.set(message.id, message);
  }

  return {
    connect: (wire: Wire): Inbox => ({
      put: (message) => wire.ask('inbox.put', () => put(message), { writes: true }),
      get: (id) => wire.ask('inbox.get', () => stored.get(id) ?? null),
      list: (filter, limit, cursor) =>
        wire.ask('inbox.list', () =>
          pageOf(
            [...stored.values()].filter((message) => isWanted(message, filter)),
            ({ at, id }) => [at, id],
            (message) => message,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
