import { z } from 'zod';
import type { BodyFinding } from '../body-finding.ts';
import { between, keys, said, secret, url } from '../shape-parts.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';
import { THEIR_KEY, THEIR_SECOND_KEY } from './key-fields.ts';

/** Set by us, or about the connection: a header of the file never takes their place. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|authorization|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|x-request-id)$/i;
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'a name of letters, digits and -' })
  .refine((name) => !OWN_HEADERS.test(name), { error: 'a header that Carillon does not set itself' });
const headerValue = z.string().regex(/^[\x20-\x7e]{1,1000}$/, { error: 'printable ASCII, at most 1000 characters' });

/** Timeouts of a call to a partner. */
export const DEFAULT_TIMEOUTS = { connect: '3s', total: '10s' } as const;

const ITEM_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*){0,7}$/;

export const lookup = defineIntegration({
  kind: 'lookup',
  role: 'partner',
  title: 'Lookup endpoint of a partner',
  summary: 'Your endpoint, which gets user ids and answers with names and addresses.',
  description: 'A partner’s endpoint that answers, for user ids, who they are: addresses and variables.',
  setup: null,
  checkNote: 'Carillon calls the endpoint as a rule would, with both schemes. Nobody is notified.',
  states: ['called', 'failing', 'suspended'],
  keys: {
    url: said(url, {
      description: 'URL of the endpoint, called with POST.',
      example: 'https://crm.example.com/recipients',
      form: { label: 'URL', note: 'Carillon calls it with POST.' },
    }),
    authorization: said(
      keys({
        scheme: said(z.enum(['Bearer', 'Basic']).exactOptional(), {
          description:
            'Word before the key in the `Authorization` header. `carillon integration check` shows which one the endpoint accepts.',
          default: 'Bearer',
          form: {
            label: 'Scheme',
            note: 'The word before the key in the Authorization header. The check tries both and shows which one works.',
            options: { Bearer: 'Bearer', Basic: 'Basic' },
          },
        }),
        key: said(secret, {
          description: 'Reference to the key that the partner gave us; never the key itself.',
          form: THEIR_KEY,
        }),
        second_key: said(secret.exactOptional(), {
          description: 'The other key while rotating: used where the first is refused.',
          form: THEIR_SECOND_KEY,
        }),
        base64: said(z.boolean().exactOptional(), {
          description: 'With `Basic`: true sends the key base64-encoded, as for `user:password`; else word for word.',
          default: false,
          form: { label: 'With Basic: send the key base64-encoded', isRare: true },
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
        'Path in each item of the answer that holds the user id it is about. Events can then share a call, and missing, duplicate and unknown ids are reported. Not with `in_order`.',
      example: 'variables.user_id',
      form: {
        label: 'Path of the user id in each item of the answer',
        note: 'With it, several events share one call, and missing and unknown ids are reported.',
      },
    }),
    in_order: said(z.boolean().exactOptional(), {
      description:
        'true: the answer has one item for each id, in their order; `null` where there is nobody. Not with `match`.',
      default: false,
      form: { label: 'The answer has one item per id, in the order of the request', isRare: true },
    }),
    timeouts: said(
      keys({
        connect: said(between('1s', '10s').exactOptional(), {
          description: 'For the connection.',
          default: DEFAULT_TIMEOUTS.connect,
          form: { label: 'Timeout of the connection', placeholder: '2s', isRare: true },
        }),
        total: said(between('1s', '30s').exactOptional(), {
          description: 'For the whole call.',
          default: DEFAULT_TIMEOUTS.total,
          form: { label: 'Timeout of the whole call', placeholder: '10s', isRare: true },
        }),
      }).exactOptional(),
      { description: 'How long a call may take.' },
    ),
  },
  secrets: (body) => [
    ...authorizationKeys(body),
    ...Object.values(body.headers ?? {}).filter((value) => typeof value !== 'string'),
  ],
  /** An integration attributes items to people in one way only. */
  check({ match, in_order: inOrder, authorization: { base64, scheme } }) {
    const findings: BodyFinding[] = [];
    if (match !== undefined && inOrder === true) {
      findings.push({
        path: ['in_order'],
        spot: 'key',
        code: 'item_match_twice',
        facts: {},
      });
    }
    if (base64 === true && scheme !== 'Basic') {
      findings.push({
        path: ['authorization', 'base64'],
        spot: 'key',
        code: 'base64_without_basic',
        facts: {},
      });
    }
    return findings;
  },
});
