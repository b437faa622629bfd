import type { z } from 'zod';

/**
 * Visibility of a response field for readers without the permission `bodies`. `address`: an address of a recipient,
 * masked. `bodies`: a part of an event, a message or a provider's response, left out. `open`: never about a recipient,
 * shown unchanged. Any other text is shown with its addresses masked.
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
/** Marks a part of a body. Without the permission `bodies`, readers get null or an empty text. */
export const ofBodies = marked('bodies');
/**
 * Marks a field that never holds data of recipients, only configuration, users of the deployment or cursors. The field
 * is never masked.
 */
export const open = marked('open');
/** The mark `open` as schema metadata, for schemas that set their name together with it. */
export const OPEN = { [PRIVACY]: 'open' satisfies Privacy } as const;
