export const ADDRESS_KEYS = { email: 'email', sms: 'phone', push: 'token' } as const;

type Channels = { readonly [Channel in keyof typeof ADDRESS_KEYS]?: unknown };

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
