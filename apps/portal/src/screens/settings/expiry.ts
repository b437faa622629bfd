/** How long a credential lasts, as the API takes it. */
export const LIFETIMES = [
  { id: 'never', name: 'Never' },
  { id: '30d', name: 'In 30 days' },
  { id: '90d', name: 'In 90 days' },
  { id: '365d', name: 'In a year' },
] as const;
export type Lifetime = (typeof LIFETIMES)[number]['id'];
export const expiryOf = (lifetime: Lifetime): { readonly expires_in?: string } =>
  lifetime === 'never' ? {} : { expires_in: lifetime };
