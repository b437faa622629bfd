import { streamOf } from '../rule/rule-props.ts';

/** A rule that hears what comes to a stream. */
export type SubscribedRule = { readonly notification: string; readonly rule: string };

/** A stream of a workspace: shared, or of one rule alone. */
export type StreamFacts = {
  readonly workspace: string;
  /** What follows the slash of its EVENT_PATH. */
  readonly name: string;
  /** It stands by itself: several rules may hear it. */
  readonly isShared: boolean;
  readonly subscribedRules: readonly SubscribedRule[];
};

type Rule = Parameters<typeof streamOf>[3];
type Notification = {
  readonly workspace: string;
  readonly name: string;
  readonly body: { readonly rules?: { readonly [name: string]: Rule } };
};
type Shared = { readonly workspace: string; readonly name: string };

/** All streams of the workspaces that were read, shared ones first, each with the rules that hear it; by name. */
export function streamsIn(shared: readonly Shared[], notifications: readonly Notification[]): readonly StreamFacts[] {
  const subscribedRules = new Map<string, SubscribedRule[]>();
  for (const { workspace, name: notification, body } of notifications) {
    for (const [rule, said] of Object.entries(body.rules ?? {})) {
      const path = streamOf(workspace, notification, rule, said);
      if (path === undefined) continue;
      subscribedRules.set(path, [...(subscribedRules.get(path) ?? []), { notification, rule }]);
    }
  }
  const own = new Map(shared.map(({ workspace, name }) => [`${workspace}/${name}`, true]));
  const paths = [...new Set([...own.keys(), ...subscribedRules.keys()])];
  return paths
    .map((path) => ({
      workspace: path.slice(0, path.indexOf('/')),
      name: path.slice(path.indexOf('/') + 1),
      isShared: own.has(path),
      subscribedRules: subscribedRules.get(path) ?? [],
    }))
    .toSorted((a, b) => Number(b.isShared) - Number(a.isShared) || (a.name < b.name ? -1 : 1));
}

/** `No rule subscribed`, `1 rule subscribed`, `3 rules hear it` */
export const subscribedRulesText = (count: number): string =>
  count === 0 ? 'No rule subscribed' : count === 1 ? '1 rule subscribed' : `${count} rules subscribed`;

type Security = {
  readonly api_keys?: readonly string[] | undefined;
  readonly jwt_provider?: string | undefined;
  readonly webhook_secret?: unknown;
};

/** Who may send, in a sentence without its full stop. */
export function sendersText({ api_keys: keys = [], jwt_provider: provider, webhook_secret: secret }: Security): string {
  if (secret !== undefined) return 'Signed requests may be sent';
  if (provider !== undefined) return `Tokens of ${provider} may send`;
  if (keys.length === 0) return 'Nobody may send yet';
  return `${keys.length === 1 ? 'The key' : 'The keys'} ${keys.join(' and ')} may send`;
}

type From = {
  readonly integration: string;
  readonly tables?: Readonly<Record<string, unknown>>;
  readonly topics?: Readonly<Record<string, unknown>>;
};
type Origin = {
  readonly security?: Security | undefined;
  readonly from?: From | undefined;
};

/** Where the events of a stream come from, in a sentence without its full stop. */
export function originText({ security = {}, from }: Origin): string {
  if (from === undefined) return sendersText(security);
  const names = Object.keys(from.tables ?? from.topics ?? {});
  const what = names.length > 3 ? `${names.length} ${from.tables ? 'tables' : 'topics'}` : names.join(', ');
  return `Reads ${what} of ${from.integration}`;
}

/** Whether a stream is one that senders post to, and nobody may. */
export const isClosed = ({ security = {}, from }: Origin): boolean =>
  from === undefined && sendersText(security) === sendersText({});

/** JSON over several lines, where reading and writing it again loses nothing; else as it is. */
export function spread(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** The smallest event that a stream takes, where no rule says what it reads: its key and its time. */
export function emptyEvent(key: string | undefined, time: string | undefined, now: string): string {
  const event: Record<string, unknown> = {};
  for (const [path, value] of [
    [key, 'A-1'],
    [time, now],
  ] as const) {
    const names = /^event((?:\.[A-Za-z_]\w*)+)$/
      .exec(path ?? '')?.[1]
      ?.slice(1)
      .split('.');
    if (!names) continue;
    let at = event;
    for (const name of names.slice(0, -1)) {
      const below = at[name];
      const next = typeof below === 'object' && below !== null ? (below as Record<string, unknown>) : {};
      at[name] = next;
      at = next;
    }
    at[names.at(-1) ?? ''] = value;
  }
  return JSON.stringify(event, null, 2);
}
