import {
  listResources,
  notificationIdOf,
  ruleIdFrom,
  ruleTitle,
  type Configuration,
} from '@carillon/domain/configuration';
import type { Row, CompareRun, Side } from '@carillon/domain/runs';
import type { Coroutine, DeliveryId } from '@carillon/kernel';
import { deliveryIdOf, runYielding, wantedMessagesCoroutine, type Wanted } from '@carillon/stages';
import { createRowReader, firingMessagesCoroutine, type RowDetailPorts, type RowMessages } from './row-details.ts';

/** The edited configuration of a run, and the published configuration with the same bodies. */
type Publication = { readonly after: Configuration; readonly published: Configuration };
type SlotFinder = (row: Row) => Promise<DeliveryId>;

/**
 * Returns a function that maps the slot of a compared row to its slot under the published configuration. They differ for new notifications
 * and rules: publishing gives them other ids than the comparison of their drafts used, and a slot contains the notification's id and, by
 * its `unique_id`, maybe the rule's. The event of such a row is evaluated by both configurations, and their messages are paired.
 */
export async function createSlotFinder(
  run: CompareRun,
  sides: Publication,
  ports: RowDetailPorts,
): Promise<SlotFinder> {
  const renamed = rulesWithOtherIds(run, sides);
  if (renamed.size === 0) return async ({ slot }) => slot;
  const read = await createRowReader(run, ports);
  let last: { readonly key: string; readonly slots: ReadonlyMap<DeliveryId, DeliveryId> } | null = null;
  return async (row) => {
    if (!renamed.has(row.rule)) return row.slot;
    const key = `${row.position} ${row.eventId} ${row.rule} ${row.at}`;
    if (last?.key !== key) last = { key, slots: await publishedSlots(row, await read(row), sides, ports) };
    // If the event is gone, its message cannot be sent. The sending job says so.
    return last.slots.get(row.slot) ?? row.slot;
  };
}

/** Returns the rules, as `notification.rule`, whose own id or whose notification's id is another one after publishing. */
function rulesWithOtherIds(
  { workspace, notifications }: CompareRun,
  { after, published }: Publication,
): ReadonlySet<string> {
  const idsOf = (configuration: Configuration): ReadonlyMap<string, string> =>
    new Map(
      listResources(configuration, 'notification', workspace)
        .filter(({ ref }) => notifications.includes(ref.name))
        .flatMap((notification) =>
          Object.entries(notification.body.rules).map(([name, body]) => [
            `${notification.ref.name}.${name}`,
            `${notificationIdOf(notification)} ${ruleIdFrom(workspace, notification.ref.name, name, body)}`,
          ]),
        ),
    );
  const current = idsOf(published);
  return new Set([...idsOf(after)].flatMap(([rule, ids]) => (current.get(rule) === ids ? [] : [rule])));
}

/** Returns the published slot of each slot of an event. Both configurations have the same bodies, so rules give their messages in the same order. */
async function publishedSlots(
  row: Pick<Row, 'rule' | 'at' | 'totals'>,
  messages: RowMessages | null,
  { after, published }: Publication,
  { ids, slice }: Pick<RowDetailPorts, 'ids' | 'slice'>,
): Promise<ReadonlyMap<DeliveryId, DeliveryId>> {
  if (!messages) return new Map();
  const { event } = messages;
  const context = { ...messages.context, configurations: { before: after, after: published } };
  function* messagesOf(side: Side): Coroutine<readonly Wanted[]> {
    const fired = yield* firingMessagesCoroutine(event, side, row, context);
    return [...fired, ...(yield* wantedMessagesCoroutine(event, side, context))];
  }
  const edited = await runYielding(messagesOf('before'), slice);
  const current = byRule(await runYielding(messagesOf('after'), slice));
  const slotOf = ({ placed, channel, uniqueId }: Wanted): DeliveryId =>
    deliveryIdOf(
      {
        slot: {
          workspace: placed.workspace,
          notificationId: notificationIdOf(placed.notification),
          channel,
          uniqueId,
        },
      },
      ids,
    );
  const slots = new Map<DeliveryId, DeliveryId>();
  for (const [rule, wanted] of byRule(edited)) {
    for (const [index, message] of wanted.entries()) {
      const same = current.get(rule)?.[index];
      const slot = slotOf(message);
      if (same && !slots.has(slot)) slots.set(slot, slotOf(same));
    }
  }
  return slots;
}

const byRule = (wanted: readonly Wanted[]): ReadonlyMap<string, readonly Wanted[]> =>
  Map.groupBy(wanted, ({ placed }) => ruleTitle(placed));
