import { z } from 'zod';
import { between, keys, said, secret } from '../shape-parts.ts';
import { DEFAULTS } from '../values.ts';
import { OUR_KEY, OUR_SECOND_KEY } from './key-fields.ts';

/** Keys that several platforms with cohorts share. */

/** Names of fields as platforms have them, with dots between: `properties.$email`. */
export const FIELD = /^[^.\s](?:[^.]*[^.\s])?(?:\.[^.\s](?:[^.]*[^.\s])?){0,7}$/;

export const authorizationOf = (key: string) =>
  said(
    keys({
      key: said(secret, { description: key, form: OUR_KEY }),
      second_key: said(secret.exactOptional(), {
        description: 'The other secret during a rotation; both are accepted.',
        form: OUR_SECOND_KEY,
      }),
    }),
    { description: 'How the platform proves who it is.' },
  );
export const ITS_KEY =
  'Reference to the secret that it sends: after `Bearer`, or as the password (or all of `user:password`) of `Basic`.';

export const USER_ID_FORM = {
  label: 'Field with your user id',
  note: 'Needed if the user id of the platform is not the user id that your endpoint knows.',
  isRare: true,
};
export const userId = (otherwise: string) =>
  said(z.string().max(200).regex(FIELD, { error: 'a field such as email or properties.email' }).exactOptional(), {
    description: 'Field of a member that holds the user id that the partner knows.',
    otherwise,
    example: 'email',
    form: USER_ID_FORM,
  });

export const firstSyncLasts = said(between('1m', '30d').exactOptional(), {
  description:
    'How long after its first message all who enter a cohort count as the first sync, where exports name no pages.',
  default: DEFAULTS.webhook.first_sync_lasts,
  form: {
    label: 'Duration of the first sync',
    placeholder: '1h',
    note: 'People who arrive within it were members before. They join the cohort without a message.',
    isRare: true,
  },
});

/** Returns the description of a kind that sends to the gateway. */
export const sentToGateway = (description: string): string =>
  `${description} Address: \`<gateway>/cohorts/<workspace>/<integration>\`.`;

export const WEBHOOK_CHECK =
  'Checks that its secret is set and that messages have arrived. The platform itself cannot be queried.';
