import type { NotificationBody } from './sentence.ts';

export const ADDRESS_KEYS = { email: 'email', sms: 'phone', push: 'token' } as const;

type Channel = keyof typeof ADDRESS_KEYS;
type Channels = { readonly [Name in Channel]?: unknown };

/** Returns the usual event fields of a new rule's addresses: one for each channel, or the email if there is no channel yet. */
export function usualAddresses(channels: Channels | undefined): { email?: string; phone?: string; token?: string } {
  const used = (['email', 'sms', 'push'] as const).filter((channel) => channels?.[channel] !== undefined);
  return Object.fromEntries(
    (used.length === 0 ? (['email'] as const) : used).map((channel) => [
      ADDRESS_KEYS[channel],
      `event.${ADDRESS_KEYS[channel]}`,
    ]),
  );
}

/** The field of the address when the channel changes: a field that is called after the address of another channel follows. */
export const addressField = (field: string, by: Channel): string =>
  field.replace(/\.(?:email|phone|token)$/, `.${ADDRESS_KEYS[by]}`);

/** Returns the field whose name holds that of the address: `event.customer_email`. Empty if there is none. */
export function addressAmong(paths: readonly string[], by: Channel): string {
  const key = ADDRESS_KEYS[by];
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const plain = paths.filter((path) => !path.includes('[]'));
  const found = plain.find((path) => nameOf(path) === key) ?? plain.find((path) => nameOf(path).includes(key));
  return found === undefined ? '' : `event.${found}`;
}

type Rules = NonNullable<NotificationBody['rules']>;

/**
 * Returns the rules with an address for a channel that is switched on. The address stands beside another address of the rule, else
 * directly in the event. Rules that ask a partner stay as they are, as do rules whose list holds plain addresses.
 */
export function withAddressesFor(channel: Channel, rules: Rules): Rules {
  const key = ADDRESS_KEYS[channel];
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => {
      const { recipients } = rule;
      if (recipients?.from !== 'event' || recipients.to?.[key] !== undefined) return [name, rule];
      const field = Object.values(recipients.to ?? {})
        .map((expression) => addressField(String(expression).trim(), channel))
        .find((expression) => /^(?:event|item)\.[\w.]+$/.test(expression) && expression.endsWith(`.${key}`));
      if (field === undefined && recipients.for_each !== undefined) return [name, rule];
      const to = { ...recipients.to, [key]: field ?? `event.${key}` };
      return [name, { ...rule, recipients: { ...recipients, to } }];
    }),
  );
}
