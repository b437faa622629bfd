import { z } from 'zod';
import type { Of } from '../body-of.ts';
import { amplitude } from './amplitude.ts';
import { generic } from './generic.ts';
import { INTEGRATION_GROUPS, type Integration } from './integration.ts';
import { kafka } from './kafka.ts';
import { lookup } from './lookup.ts';
import { mixpanel } from './mixpanel.ts';
import { postgres } from './postgres.ts';
import { posthog } from './posthog.ts';
import { segment } from './segment.ts';

export type { IntegrationRole } from './integration.ts';
export { DEFAULT_TIMEOUTS } from './lookup.ts';
export { DEFAULT_POLL_INTERVAL } from './posthog.ts';

/** Every kind of integration, in the order in which people read them. */
export const INTEGRATIONS = [lookup, mixpanel, amplitude, segment, generic, posthog, postgres, kafka] as const;

type Shapes<Kinds extends readonly { readonly shape: z.ZodType }[]> = {
  -readonly [Index in keyof Kinds]: Kinds[Index]['shape'];
};

export const integrationShape = z.discriminatedUnion(
  'kind',
  INTEGRATIONS.map(({ shape }) => shape) as Shapes<typeof INTEGRATIONS>,
);

type Body = Of<typeof integrationShape>;

const BY_KIND = new Map<string, Integration<Body>>(INTEGRATIONS.map((kind) => [kind.kind, kind]));

/** Returns the kind of an integration. */
export function integrationKindOf({ kind }: Pick<Body, 'kind'>): Integration<Body> {
  const found = BY_KIND.get(kind);
  if (found === undefined) throw new TypeError(`no integration is called ${kind}`);
  return found;
}

/** Returns the group of an integration. */
export const integrationGroupOf = (body: Pick<Body, 'kind'>) => INTEGRATION_GROUPS[integrationKindOf(body).role];
