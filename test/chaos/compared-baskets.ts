/* A stream whose rules keep state, for comparisons that are killed. */

/** Entities. They keep to their partitions, because their number is a multiple of the partitions. */
const BASKETS = 800;
export const BASKET_EVENTS = 2_400;
const TO = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' } as const;

/** Files of a wait, and of a count that its message shows. `count`: events that it takes. `total`: of the events that wait. */
export const basketFiles = ({ count, wait, total }: { count: number; wait: string; total: number }) => ({
  'workspaces/shop/streams/baskets.yaml': 'key: event.email\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/notifications/basket.yaml': JSON.stringify({
    channels: { email: { template: 'order-paid' } },
    rules: {
      waits: {
        stream: 'baskets',
        when: `event.total == ${total}.0`,
        after: wait,
        unless: 'event.total == 150.0',
        recipients: TO,
      },
      counts: {
        stream: 'baskets',
        totals: { seen: { count: 'event.total > 100.0', within: '1d' } },
        when: `totals.seen >= ${count}`,
        cooldown: 'until_false',
        recipients: { ...TO, variables: { seen: 'string(totals.seen)' } },
      },
    },
  }),
});

/** Rules that no event lets fire, those that are published, and those of the edit. */
export const SILENT_BASKETS = basketFiles({ count: 400, wait: '2s', total: 1 });
export const BASKETS_BEFORE = basketFiles({ count: 2, wait: '2s', total: 90 });
export const BASKETS_AFTER = basketFiles({ count: 1, wait: '1s', total: 180 });

export function basketEvent(index: number, partitions: number) {
  const email = `basket${index % BASKETS}@example.com`;
  const total = 90 + ((index + Math.floor(index / BASKETS)) % 4) * 30;
  return {
    topic: 'carillon.events',
    partition: index % partitions,
    key: email,
    value: new TextEncoder().encode(JSON.stringify({ order_id: `B-${index}`, name: 'Ada', email, total })),
    headers: {
      kind: 'event',
      enc: '0',
      workspace: 'shop',
      stream: 'shop/baskets',
      event_id: `evt_basket${index}`,
      key: encodeURIComponent(email),
    },
  } as const;
}
