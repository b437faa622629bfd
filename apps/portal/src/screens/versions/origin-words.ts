import type { Schemas } from '../../api/client.ts';

const ORIGINS: Readonly<Record<Schemas['Publication']['origin'], string>> = {
  portal: 'in the portal',
  api: 'over the API',
  apply: 'by apply',
  rollback: 'by a rollback',
  promote: 'by a promotion',
  cli: 'by the command line',
};

/** How something came to be published. */
export const originWords = (origin: Schemas['Publication']['origin']): string => ORIGINS[origin];
