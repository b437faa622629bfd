export const ADDRESS_KEYS = { email: 'email', sms: 'phone', push: 'token' } as const;

type Channels = { readonly [Channel in keyof typeof ADDRESS_KEYS]?: unknown };

/** Where the addresses of a new rule are in its event: one for each channel of the notification, the email if it has none yet. */
export function usualAddresses(channels: Channels | undefined): { email?: string; phone?: string; token?: string } {
  const used = (['email', 'sms', 'push'] as const).filter((channel) => channels?.[channel] !== undefined);
  return Object.fromEntries(
    (used.length === 0 ? (['email'] as const) : used).map((channel) => [
      ADDRESS_KEYS[channel],
      `event.${ADDRESS_KEYS[channel]}`,
    ]),
  );
}
