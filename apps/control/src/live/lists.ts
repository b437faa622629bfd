import { deadLetterBody, deliveryBody, draftFacts, eventBody, inboxMessageBody } from '@carillon/contracts';
import type { Draft } from '@carillon/domain/configuration';
import type { Instant } from '@carillon/kernel';
import type { z } from 'zod';
import { showDeadLetter, showEvent, showListedMessage } from '../bodies.ts';
import { withFacts } from '../letter-facts.ts';
import { showDraftFacts } from '../drafts/shown-drafts.ts';
import type { ControlPorts } from '../ports.ts';
import { showingActors } from '../resources/shown.ts';
import { movedDeliveries } from './moved-deliveries.ts';
import { newestRows } from './newest-rows.ts';
import type { LiveItem, LiveList, LiveSource, LiveTopic } from './source.ts';

export type LivePorts = Pick<
  ControlPorts,
  'ledger' | 'log' | 'codecs' | 'readModels' | 'inbox' | 'drafts' | 'configuration' | 'people' | 'slice'
>;

const DRAFT_BATCH_SIZE = 500;

/** The lists that can be followed. */
export function liveLists(ports: LivePorts): Readonly<Record<LiveTopic, LiveList>> {
  const { readModels, inbox } = ports;
  const of = (workspace: string | null) => (workspace === null ? {} : { workspace });
  const list = <Position>(
    permission: LiveList['permission'],
    schema: z.ZodType<object>,
    open: (workspace: string | null) => LiveSource<Position>,
  ): LiveList => ({ permission, schema, open });
  return {
    deliveries: list('read', deliveryBody, (workspace) => movedDeliveries(workspace, ports)),
    events: list('read', eventBody, (workspace) =>
      newestRows({
        read: (limit, cursor) => readModels.events(of(workspace), limit, cursor),
        at: ({ at }) => at,
        touched: ({ at }) => at,
        key: (row) => `${row.id} ${row.partition}@${row.offset}`,
        show: (row) => ({ workspace: row.workspace, body: showEvent(row) }),
      }),
    ),
    inbox: list('bodies', inboxMessageBody, (workspace) =>
      newestRows({
        read: (limit, cursor) => inbox.list(of(workspace), limit, cursor),
        at: ({ at }) => at,
        touched: ({ at }) => at,
        key: ({ id }) => id,
        show: (message) => ({ workspace: message.workspace, body: showListedMessage(message) }),
      }),
    ),
    'dead-letters': list('read', deadLetterBody, (workspace) =>
      newestRows({
        read: (limit, cursor) => readModels.deadLetters(of(workspace), limit, cursor),
        at: ({ at }) => at,
        touched: ({ at, redrivenAt, dismissedAt }) => Math.max(at, redrivenAt ?? 0, dismissedAt ?? 0),
        key: ({ id }) => id,
        async show(row) {
          const [body = {}] = await withFacts([row], showDeadLetter, ports);
          return { workspace: row.workspace, body };
        },
      }),
    ),
    drafts: list('read', draftFacts, (workspace) => changedDrafts(workspace, ports)),
  };
}

/**
 * Drafts are few, have no order of time, and are deleted, so all are read. If one is gone, clients read the list again.
 */
function changedDrafts(workspace: string | null, ports: LivePorts): LiveSource<Instant> {
  async function all(): Promise<readonly Draft[]> {
    const drafts: Draft[] = [];
    let cursor: string | undefined;
    do {
      const page = await ports.drafts.list(workspace ?? undefined, DRAFT_BATCH_SIZE, cursor);
      drafts.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return drafts;
  }
  return {
    begin: async () => 0,
    async since(looks, _isKnown, known) {
      const drafts = await all();
      const current = ports.configuration.current();
      const show = showingActors(ports);
      const items = await Promise.all(
        drafts.map(async (draft): Promise<LiveItem> => ({
          key: JSON.stringify(draft.ref),
          workspace: draft.ref.workspace,
          body: await showDraftFacts(draft, current, show),
        })),
      );
      const there = new Set(items.map(({ key }) => key));
      return { items, isWhole: known.every((key) => there.has(key)), position: looks + 1 };
    },
    // The rows of a disconnected client are not stored. After reconnecting, the client reads the list again.
    read: () => null,
  };
}
