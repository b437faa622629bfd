import { z } from 'zod';
import { cohortShapes } from './cohort-shapes.ts';
import { between, keys, said, secret, url } from './shape-parts.ts';
import { DEFAULTS } from './values.ts';

/** Set by us, or about the connection: a header of the file never takes their place. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|authorization|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|x-request-id)$/i;
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'a name of letters, digits and -' })
  .refine((name) => !OWN_HEADERS.test(name), { error: 'a header that Carillon does not set itself' });
const headerValue = z.string().regex(/^[\x20-\x7e]{1,1000}$/, { error: 'printable ASCII, at most 1000 characters' });

const ITEM_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*){0,7}$/;

export const lookupShape = keys({
  kind: said(z.literal('lookup'), {
    description: 'A partner’s endpoint that answers, for user ids, who they are: addresses and variables.',
  }),
  url: said(url, { description: 'Where it is asked, by POST.', example: 'https://crm.example.com/recipients' }),
  authorization: said(
    keys({
      scheme: said(z.enum(['Bearer', 'Basic']).exactOptional(), {
        description:
          'Word before the key in the `Authorization` header. `carillon integration check` says which one is taken.',
        default: 'Bearer',
      }),
      key: said(secret, { description: 'Reference to the key that the partner gave us; never the key itself.' }),
      second_key: said(secret.exactOptional(), {
        description: 'The other key while rotating: used where the first is refused.',
      }),
      base64: said(z.boolean().exactOptional(), {
        description: 'With `Basic`: true sends the key base64-encoded, as for `user:password`; else word for word.',
        default: false,
      }),
    }),
    { description: 'How we prove who we are.' },
  ),
  headers: said(
    z.record(headerName, z.union([headerValue, secret], { error: 'text, or { secret: NAME }' })).exactOptional(),
    {
      description: 'Further headers of each call: text, or `{ secret: NAME }`.',
      example: { 'X-Tenant': 'shop' },
    },
  ),
  match: said(z.string().regex(ITEM_PATH, { error: 'a path such as variables.user_id' }).exactOptional(), {
    description:
      'Path in each item of the answer that holds the user id it is about. Events can then share a call, and missing, doubled and unknown ids are told. Not with `in_order`.',
    example: 'variables.user_id',
  }),
  in_order: said(z.boolean().exactOptional(), {
    description:
      'true: the answer has one item for each id, in their order; `null` where there is nobody. Not with `match`.',
    default: false,
  }),
  timeouts: said(
    keys({
      connect: said(between('1s', '10s').exactOptional(), {
        description: 'For the connection.',
        default: DEFAULTS.lookup.timeouts.connect,
      }),
      total: said(between('1s', '30s').exactOptional(), {
        description: 'For the whole call.',
        default: DEFAULTS.lookup.timeouts.total,
      }),
    }).exactOptional(),
    { description: 'How long a call may take.' },
  ),
});

/** By `kind`: a partner, or an analytics platform that has cohorts. */
export const integrationShape = z.discriminatedUnion('kind', [lookupShape, ...cohortShapes]);
