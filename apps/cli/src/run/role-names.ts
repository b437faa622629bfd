/** What `carillon run` takes. */
export const ROLES = ['gateway', 'engine', 'delivery', 'control'] as const;
export type RoleName = (typeof ROLES)[number];
