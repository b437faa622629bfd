import { Refusal } from '../../api/client.ts';
import { readDraft, saveDraft } from '../../api/draft-calls.ts';
import { isSame } from '../../api/same.ts';
import type { Call } from '../../ui/curl-words.ts';
import { savingCall } from '../drafts/draft-call.ts';
import { ADDRESS_KEYS } from './usual-addresses.ts';

/** What a new notification is made from, in the order of its sentence. */
export type Wish = {
  readonly title: string;
  /** Name of a shared stream; empty: its rule has one of its own. */
  readonly stream: string;
  /** Key of the shared stream, if it is made with the notification. Null: the stream is there. */
  readonly newKey: string | null;
  readonly when: string;
  /** Keys of the rule that say for how long it waits and what ends the wait. */
  readonly waiting: Readonly<Record<string, string>>;
  readonly tell: string;
  readonly by: 'email' | 'sms' | 'push';
  /** Name of a template that is there; empty: a plain one is made with it. */
  readonly template: string;
};

/** To begin from; each is whole, and sends to the sandbox as long as no account is there. */
export const EXAMPLES: readonly (Pick<Wish, 'title' | 'when' | 'waiting' | 'by'> & { readonly about: string })[] = [
  {
    title: 'Order paid',
    about: 'Tells a customer that the payment arrived.',
    when: 'event.status == "paid" && event.total > 0',
    waiting: {},
    by: 'email',
  },
  {
    title: 'Invoice overdue',
    about: 'Reminds customers who did not pay in time.',
    when: 'event.status == "overdue" && event.days_late >= 3',
    waiting: {},
    by: 'email',
  },
  {
    title: 'Parcel on its way',
    about: 'Sends a text message when the parcel is shipped.',
    when: 'event.status == "shipped" && has(event.tracking_url)',
    waiting: {},
    by: 'sms',
  },
  {
    title: 'Order not paid',
    about: 'Reminds a customer who did not pay an hour after the order.',
    when: 'event.status == "placed"',
    waiting: { after: '1h', unless: 'event.status == "paid"' },
    by: 'email',
  },
];

/** The shared stream of an example that waits, in a workspace without one that has a key. */
export const KEYED_STREAM = { name: 'orders', key: 'event.order_id' } as const;

/** `Order paid!` is `order-paid`; empty where nothing of it can be a name. */
export const slugOf = (title: string): string =>
  title
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);

/** The first field of each kind that a plain template can greet by. */
const greeting = (tell: string): string => {
  const root = /^event\.(\w+)\.\w+$/.exec(tell)?.[1];
  return root === undefined ? 'Hello,' : `Hello {{ ${root}.name }},`;
};

/** A template that says little and is right: words to begin from. */
export function plainTemplate({ title, tell, by }: Pick<Wish, 'title' | 'tell' | 'by'>): object {
  switch (by) {
    case 'email':
      return { email: { subject: title, text: `${greeting(tell)}\n\n${title}.\n` } };
    case 'sms':
      return { sms: { text: `${title}.` } };
    case 'push':
      return { push: { title, body: `${title}.` } };
  }
}

/** The notification of a wish; `keys` are API keys of the workspace, of which the first may send to a stream of its own. */
export function notificationOf(wish: Wish, keys: readonly string[]): object {
  const { title, stream, when, waiting, tell, by, template } = wish;
  const [key] = keys;
  return {
    name: title.trim(),
    ...(stream === '' && key !== undefined && { security: { api_keys: [key] } }),
    channels: { [by]: { template: template === '' ? slugOf(title) : template } },
    rules: {
      first: {
        ...(stream !== '' && { stream }),
        // Which events is chosen in the rule: without it the notification cannot be published.
        ...(when.trim() !== '' && { when: when.trim() }),
        ...waiting,
        recipients: { from: 'event', to: { [ADDRESS_KEYS[by]]: tell.trim() }, unique_id: 'event_id' },
      },
    },
  };
}

/** Returns the drafts to save. The notification comes last: once it is listed, its template is saved too. */
export function draftsOf(workspace: string, wish: Wish, keys: readonly string[]) {
  const name = slugOf(wish.title);
  const [key] = keys;
  const one = (kind: 'streams' | 'templates' | 'notifications', body: object, of = name) => ({
    address: { kind, workspace, name: of },
    saving: { body, revision: null, basedOn: null },
  });
  const stream = { key: wish.newKey, security: key === undefined ? {} : { api_keys: [key] } };
  return [
    ...(wish.newKey === null ? [] : [one('streams', stream, wish.stream)]),
    ...(wish.template === '' ? [one('templates', plainTemplate(wish))] : []),
    one('notifications', notificationOf(wish, keys)),
  ];
}

/** The same for a shell. */
export const makingCalls = (workspace: string, wish: Wish, keys: readonly string[]): readonly Call[] =>
  draftsOf(workspace, wish, keys).map(({ address, saving }) => savingCall(address, saving));

/**
 * Saves the drafts of a new notification. A draft that has the same body already counts as saved, so that a second press
 * completes what a first one began. Throws a Refusal with status 412 if there is another draft of that name.
 */
export async function makeDrafts(workspace: string, wish: Wish, keys: readonly string[]): Promise<string> {
  for (const { address, saving } of draftsOf(workspace, wish, keys)) {
    try {
      await saveDraft(address, saving);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 412) throw error;
      const draft = await readDraft(address);
      if (!isSame(draft?.body, saving.body)) throw error;
    }
  }
  return slugOf(wish.title);
}
