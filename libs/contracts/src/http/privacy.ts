import type { z } from 'zod';

/**
 * What a field of an answer is to somebody who has no permission `bodies`. `address`: an address of a recipient, which is masked.
 * `bodies`: a piece of an event, a message or a provider's answer, which is left out. `open`: never of a recipient, nor is anything in it,
 * and shown as it is. Any other text is shown with the addresses in it masked.
 */
export const PRIVACY = 'x-carillon-privacy';
export type Privacy = 'address' | 'bodies' | 'open';

/** Marks a schema; it stays marked when it is described or made nullable. */
const marked =
  (privacy: Privacy) =>
  <T extends z.ZodType>(schema: T): T =>
    schema.meta({ [PRIVACY]: privacy });

/** An address: masked for whoever has no permission `bodies`. */
export const anAddress = marked('address');
/** A piece of a body: only for whoever has the permission `bodies`; others get null, or an empty text. */
export const ofBodies = marked('bodies');
/** Holds nothing of recipients, whatever it looks like: configuration, people of the deployment, cursors. */
export const open = marked('open');
/** The same, for a schema that gets its name with it. */
export const OPEN = { [PRIVACY]: 'open' satisfies Privacy } as const;
