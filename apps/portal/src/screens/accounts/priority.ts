import type { Bodies } from '../../api/draft-calls.ts';
import type { Channel } from './account-kinds.ts';

type Notification = Bodies['notifications'];

/** Accounts that a notification names for a channel, the first one first; empty: it goes over the deployment's default. */
export const accountsFor = (body: Notification, channel: Channel): readonly string[] => {
  const accounts: unknown = body.channels?.[channel]?.accounts;
  return Array.isArray(accounts) ? accounts.filter((one): one is string => typeof one === 'string') : [];
};

/** The same notification with other accounts for a channel that it has; none: the deployment's default counts again. */
export function withAccounts(body: Notification, channel: Channel, accounts: readonly string[]): Notification {
  const own = body.channels?.[channel];
  if (!own) return body;
  const { accounts: _, ...rest } = own;
  const next = accounts.length === 0 ? rest : { ...rest, accounts: [...accounts] };
  return { ...body, channels: { ...body.channels, [channel]: next } };
}

/** Returns the list with one account moved up (-1) or down (1). At the ends nothing moves. */
export function moved(accounts: readonly string[], name: string, by: -1 | 1): readonly string[] {
  const from = accounts.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= accounts.length) return accounts;
  const next = accounts.filter((one) => one !== name);
  next.splice(to, 0, name);
  return next;
}
