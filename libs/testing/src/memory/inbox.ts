import type { Inbox, InboxMessage } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

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
      list: (limit, cursor) =>
        wire.ask('inbox.list', () =>
          pageOf(
            [...stored.values()],
            ({ at, id }) => [at, id],
            (message) => message,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
