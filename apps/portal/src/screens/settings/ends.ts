/** How long a credential lasts, as the API takes it. */
export const ENDS = [
  { id: 'never', name: 'Never' },
  { id: '30d', name: 'In 30 days' },
  { id: '90d', name: 'In 90 days' },
  { id: '365d', name: 'In a year' },
] as const;
export type End = (typeof ENDS)[number]['id'];
export const endOf = (end: End): { readonly expires_in?: string } => (end === 'never' ? {} : { expires_in: end });
