import type { ErasureBody, ErasureLookBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { expect } from 'vitest';
import { order, shopFiles, type Files, type Shop } from './shop.ts';

/* People whose every personal field carries a mark, sent through channels, failures, limits and rules that wait. */

export const ERASURES = '/v1/workspaces/shop/erasures';

export type MarkedPerson = {
  readonly mark: string;
  readonly email: string;
  readonly phone: string;
  readonly token: string;
  readonly userId: string;
};

/** A person by number. No mark is the beginning of another. */
export function markedPerson(number: number): MarkedPerson {
  const mark = `qzx${String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))}wv`;
  return {
    mark,
    email: `${mark}@example.com`,
    phone: `+49151555${String(10_000 + number)}`,
    token: `${mark}:APA91bTokenOfADevice_0123456789`,
    userId: `u-${mark}`,
  };
}

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';

export const markedFiles = (): Files => {
  const shop = shopFiles();
  return {
    ...shop,
    [NOTIFICATION]: `${(shop[NOTIFICATION] ?? '').replace(
      '      unique_id: event.order_id\n',
      '      person: event.user.id\n      unique_id: event.order_id\n',
    )}cadence: { limits: [{ max: 100, per: 1d, then: drop }] }\n`,
    'workspaces/shop/notifications/order-open.yaml': `channels:
  email: { template: order-paid }
rules:
  open:
    stream: orders
    when: event.status == "open"
    after: 1h
    unless: event.status == "paid"
    recipients: { from: event, to: { email: event.email }, person: event.user.id, unique_id: event.order_id }
`,
    'workspaces/shop/notifications/order-note.yaml': `channels:
  sms: { template: order-note }
  push: { template: order-note }
rules:
  note:
    stream: orders
    when: event.status == "paid" && event.total > 100
    recipients:
      from: event
      to: { phone: event.phone, token: event.token }
      person: event.user.id
      unique_id: event.order_id
  wrong:
    stream: orders
    when: event.status == "wrong" && int(event.email) > 0
    recipients: { from: event, to: { phone: event.phone }, person: event.user.id, unique_id: event.order_id }
`,
    'workspaces/shop/templates/order-note/sms.txt': 'Hello {{ name }}, {{ order_id }}\n',
    'workspaces/shop/templates/order-note/push.yaml':
      'title: Hello {{ name }}\nbody: "{{ order_id }} of {{ email }}"\n',
  };
};

export const markedOrder = (
  { mark, email, phone, token, userId }: MarkedPerson,
  id: string,
  more: Readonly<Record<string, unknown>> = {},
) =>
  order(`${mark}-${id}`, {
    name: `Person ${mark}`,
    email: email.toUpperCase(),
    phone,
    token,
    user: { id: userId },
    note: `write to <${email}>, please`,
    ...more,
  });

/** Events of a person: paid, below the rule, waiting, and one at which a rule fails. */
export type EventsOf = { readonly paid: string; readonly small: string; readonly open: string; readonly wrong: string };

/** Sends everything of a person and waits until it is in all stores. */
export async function fillPerson(shop: Shop, person: MarkedPerson): Promise<EventsOf> {
  const paid = await shop.send(markedOrder(person, 'A-1'));
  const small = await shop.send(markedOrder(person, 'A-2', { total: 1 }));
  const open = await shop.send(
    markedOrder(person, 'A-3', { order_id: `W-${person.mark.slice(3, 5)}`, status: 'open' }),
  );
  const wrong = await shop.send(markedOrder(person, 'A-4', { status: 'wrong' }));
  await untilFound(`three messages of ${person.mark} are sent`, async () => {
    const found = await shop.deliveries(`&event=${paid}`);
    return found.filter(({ state }) => state === 'SENT').length === 3 ? true : undefined;
  });
  for (const id of [small, open, wrong]) await shop.judged(id);
  const suppression = { channel: 'email', address: person.email, detail: person.mark };
  expect((await shop.api('POST', '/v1/workspaces/shop/suppressions', suppression)).status).toBe(200);
  const optOut = { person: person.userId, target: 'all', opted_out: true };
  expect((await shop.api('POST', '/v1/workspaces/shop/consents', optOut)).status).toBe(200);
  return { paid, small, open, wrong };
}

export const lookAt = async (api: Shop['api'], person: string): Promise<ErasureLookBody> => {
  const { status, body } = await api<ErasureLookBody>('POST', ERASURES, { person, reason: 'asked by letter' });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

/** Looks at a person and confirms. Consumers may still write something of the person after the first look. */
export const startErasure = (api: Shop['api'], person: string): Promise<{ look: ErasureLookBody; id: string }> =>
  untilFound('the erasure is started', async () => {
    const look = await lookAt(api, person);
    const request = { person, reason: 'asked by letter', confirm: look.checksum };
    const { status, body } = await api<ErasureLookBody>('POST', ERASURES, request);
    if (status === 409) return undefined;
    expect(status, JSON.stringify(body)).toBe(202);
    return { look, id: body.erasure?.id ?? '' };
  });

export const certificateOf = (api: Shop['api'], id: string): Promise<ErasureBody> =>
  untilFound(
    `the erasure ${id} has ended`,
    async () => {
      const { body } = await api<{ items: ErasureBody[] }>('GET', `${ERASURES}?limit=100`);
      const found = body.items?.find((item) => item.id === id);
      if (found === undefined || found.erased_at !== null) return found;
      const job = await api<{ failures?: unknown[] }>('GET', `/v1/workspaces/shop/jobs/${found.job}`);
      expect(job.body.failures ?? [], JSON.stringify(job.body)).toEqual([]);
      return undefined;
    },
    300_000,
  );

/** Answers of the API in which something of a person could be. */
export async function answersOf(
  api: Shop['api'],
  events: readonly EventsOf[],
): Promise<Readonly<Record<string, string>>> {
  const ids = events.flatMap((of) => Object.values(of));
  const shop = '/v1/workspaces/shop';
  const paths = [
    ...['deliveries', 'inbox', 'consents', 'suppressions', 'dead-letters', 'events', 'erasures', 'jobs'].map(
      (list) => `${shop}/${list}?limit=500`,
    ),
    `${shop}/streams/orders/fields`,
    '/v1/audit?limit=200',
    ...ids.flatMap((id) => [`${shop}/events/${id}/content`, `${shop}/events/${id}/trace`]),
  ];
  const answers = await Promise.all(
    paths.map(async (path) => {
      // A busy process may be unable to read the log for a while.
      const { status, body } = await untilFound(`${path} is answered`, async () => {
        const answer = await api('GET', path);
        return answer.status === 503 ? undefined : answer;
      });
      // The content of an erased event is gone.
      if (status !== 200 && !path.endsWith('/content')) throw new Error(`${path} answers ${status}`);
      return [path, JSON.stringify(body)] as const;
    }),
  );
  return Object.fromEntries(answers);
}

/** Returns the names of texts that mention one of these people, each with an excerpt. */
export const placesWith = (
  texts: Readonly<Record<string, string>>,
  people: readonly MarkedPerson[],
): readonly string[] =>
  Object.entries(texts).flatMap(([place, text]) => {
    const lower = text.toLowerCase();
    return people.flatMap(({ mark, phone }) => {
      const at = [lower.indexOf(mark), lower.indexOf(phone)].find((found) => found !== -1);
      return at === undefined ? [] : [`${place}: ${JSON.stringify(lower.slice(Math.max(0, at - 80), at + 40))}`];
    });
  });
