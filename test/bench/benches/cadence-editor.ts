import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { deliveryOf, startProduct, type Product } from '@carillon/testing';
import type { Bench, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { configure, streamFiles, type Files } from '../product.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsOf } from '../warm-up.ts';

const MESSAGES = 10_000;
const PEOPLE = 2_000;
/** Seven days are drawn. An hour of them is left for the bench itself. */
const WEEK = 7 * 86_400_000 - 3_600_000;
const AT_ONCE = 1_000;
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo'] as const;
/** In milliseconds: the editor waits so long for another key before it asks (`apps/portal/src/screens/cadence/drawing.tsx`). */
const PAUSE = 50;
const REDRAWN = 300;

const AT = 'workspaces/shop';
const FILES: Files = {
  ...streamFiles,
  [`${AT}/templates/mail/email.yaml`]: 'subject: Paid\nfrom: Shop <shop@example.com>\n',
  [`${AT}/templates/mail/email.txt`]: 'Paid\n',
  [`${AT}/notifications/order-paid.yaml`]: `channels: { email: { template: mail } }
rules:
  paid:
    stream: orders
    when: event.status == "paid"
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
`,
};

/** Messages of the last week, as they were sent, to people of three zones. */
async function fillWeek(dataDir: string, notificationId: string): Promise<void> {
  const data = await openEmbedded({ dataDir, clock: systemClock });
  const from = Date.now() - WEEK;
  for (let done = 0; done < MESSAGES; done += AT_ONCE) {
    await data.ledger.insert(
      Array.from({ length: AT_ONCE }, (_, at) => {
        const n = done + at;
        const person = `p_${(n * 7919) % PEOPLE}`;
        const createdAt = Math.floor(from + (n / MESSAGES) * WEEK);
        const variables = { time_zone: ZONES[n % ZONES.length] ?? 'UTC', order_id: `A-${n}`, total: n };
        const times = { causedAt: createdAt, sendAt: createdAt };
        return deliveryOf({
          slot: { notificationId, uniqueId: `order-${n}` },
          state: 'SENT',
          reason: 'accepted',
          createdAt,
          updatedAt: createdAt,
          intent: { notification: 'order-paid', person, to: `${person}@example.com`, variables, ...times },
        });
      }),
    );
  }
  await data.close();
}

/** The notification as it is published, with the id that its messages know it by. */
async function madeIn(at: Parameters<typeof startProduct>[0]): Promise<{ readonly id: string }> {
  const product = await startProduct(at);
  try {
    await configure(product, FILES);
    const headers = { authorization: `Bearer ${product.token}` };
    const answer = await fetch(`${product.controlUrl}/v1/workspaces/shop/notifications/order-paid`, { headers });
    return ((await answer.json()) as { body: { id: string } }).body;
  } finally {
    await product.kill('SIGTERM');
  }
}

type Stand = { readonly product: Product; readonly body: object; readonly remove: () => Promise<void> };
const stand = shared<Stand>(
  async () => {
    const folder = await temporaryFolder();
    const at = { dataDir: folder.path, cwd: folder.path };
    const body = await madeIn(at);
    await fillWeek(folder.path, body.id);
    const product = await startProduct(at);
    return { product, body, remove: () => folder.remove() };
  },
  async ({ product, remove }) => {
    await product.kill('SIGTERM');
    await remove();
  },
);

/** What somebody tries who turns at the editor: no two changes in a row are the same. */
const CADENCES: readonly ((n: number) => object)[] = [
  (n) => ({ limits: [{ max: 1 + (n % 5), per: '1d', then: 'drop' }] }),
  (n) => ({ quiet_hours: { from: `${String(18 + (n % 5)).padStart(2, '0')}:00`, to: '08:00', then: 'hold' } }),
  (n) => ({ delay: `${1 + (n % 9)}h` }),
  (n) => ({ digest: { window: { fixed: `${1 + (n % 9)}h` } } }),
];

const changing = (name: string, cadences: typeof CADENCES): Side => ({
  name,
  syncs: 'nothing',
  async open() {
    const { product, body } = await stand.take();
    const faults = new Set<string>();
    const headers = { authorization: `Bearer ${product.token}`, 'content-type': 'application/json' };
    return {
      processes: { carillon: product.pid, bench: process.pid },
      round: (round) =>
        closedLoop({ open: 1, seconds: secondsOf(round) }, async (n) => {
          const cadence = cadences[n % cadences.length]?.(n) ?? {};
          const put = [{ kind: 'notification', name: 'order-paid', body: { ...body, cadence } }];
          const answer = await fetch(`${product.controlUrl}/v1/workspaces/shop/cadence/simulate`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ notification: 'order-paid', last: '7d', put, drafts: true }),
          });
          const text = await answer.text();
          const {
            history,
            now,
            faults: found,
          } = JSON.parse(text) as {
            history?: string;
            now?: { messages: number };
            faults?: readonly object[];
          };
          if (history !== 'own' || now?.messages !== MESSAGES || found?.length !== 0) faults.add(text.slice(0, 500));
        }),
      verify: async () => [...faults],
      close: () => stand.release(),
    };
  },
});

const NAMES = ['limits', 'quiet hours', 'delay', 'digest'];

export const cadenceEditor: Bench = {
  name: 'cadence-editor',
  title: 'Drawing a cadence over 10,000 messages',
  what: `What the cadence editor asks at each change: the last 7 days, ${MESSAGES.toLocaleString('en')} messages to ${PEOPLE.toLocaleString('en')} people in
three time zones, read from the ledger and sent again on a virtual clock, as they went and as they would go under the change. Asked over HTTP of the running
product, one change after another, as by one person. The editor waits ${PAUSE} ms for another key before it asks, so that a change is redrawn within
${REDRAWN} ms where the answer takes ${REDRAWN - PAUSE} ms at the most.`,
  cases: [
    {
      title: 'changes of a cadence',
      counted: 'changes',
      delays: 'from the question to its answer',
      sides: CADENCES.map((one, at) => changing(NAMES[at] ?? '', [one])),
      comparisons: NAMES.map((side) => ({
        side,
        measure: 'p95',
        wanted: 'at most',
        floor: REDRAWN - PAUSE,
      })),
    },
  ],
};
