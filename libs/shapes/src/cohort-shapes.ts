import { z } from 'zod';
import { between, keys, said, secret, text, url } from './shape-parts.ts';
import { DEFAULTS } from './values.ts';

/** Names of fields as platforms have them, with dots between: `properties.$email`. */
const FIELD = /^[^.\s](?:[^.]*[^.\s])?(?:\.[^.\s](?:[^.]*[^.\s])?){0,7}$/;

const authorization = (key: string) =>
  said(
    keys({
      key: said(secret, { description: key }),
      second_key: said(secret.exactOptional(), { description: 'The other one while rotating: either is taken.' }),
    }),
    { description: 'How the platform proves who it is.' },
  );
const ITS_KEY =
  'Reference to the secret that it sends: after `Bearer`, or as the password (or all of `user:password`) of `Basic`.';

const userId = (otherwise: string) =>
  said(z.string().max(200).regex(FIELD, { error: 'a field such as email or properties.email' }).exactOptional(), {
    description: 'Field of a member that holds the user id that the partner knows.',
    otherwise,
    example: 'email',
  });

const firstSyncLasts = said(between('1m', '30d').exactOptional(), {
  description:
    'How long after its first message all who enter a cohort count as the first sync, where exports name no pages.',
  default: DEFAULTS.webhook.first_sync_lasts,
});

const platform = <Kind extends string>(kind: Kind, description: string) =>
  said(z.literal(kind), { description: `${description} Address: \`<gateway>/cohorts/<workspace>/<integration>\`.` });

const mixpanel = keys({
  kind: platform('mixpanel', 'Mixpanel, by a custom webhook of its cohort sync.'),
  authorization: authorization(ITS_KEY),
  user_id: userId('mixpanel_distinct_id'),
});
const amplitude = keys({
  kind: platform('amplitude', 'Amplitude, by a cohort webhook with the default payload.'),
  authorization: authorization(ITS_KEY),
  user_id: userId('user_id'),
  first_sync_lasts: firstSyncLasts,
});
const segment = keys({
  kind: platform('segment', 'Segment audiences and journeys, by the destination Webhooks (Actions).'),
  authorization: authorization('Reference to the shared secret that it signs its requests with (`X-Signature`).'),
  user_id: userId('userId'),
  first_sync_lasts: firstSyncLasts,
  batches: said(z.boolean().exactOptional(), {
    description:
      'Take lists of calls. Segment signs the first one of a list alone: whoever has seen a signed call can add others to it.',
    default: DEFAULTS.segment.batches,
  }),
});
const generic = keys({
  kind: platform('generic', 'Any other sender, in the form that [Connect a cohort](cohorts.md) shows.'),
  authorization: authorization(ITS_KEY),
  first_sync_lasts: firstSyncLasts,
});
export const posthog = keys({
  kind: said(z.literal('posthog'), {
    description: 'PostHog, which sends no cohorts: it is asked for them.',
  }),
  url: said(url, { description: 'Where its API is.', example: 'https://eu.posthog.com' }),
  project: said(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'the id of a project, in quotes' }), {
    description: 'Id of the project.',
    example: '12345',
  }),
  authorization: said(
    keys({
      key: said(secret, {
        description: 'Reference to a personal API key with the scopes cohort:read and person:read.',
      }),
      second_key: said(secret.exactOptional(), { description: 'Used where the first one is refused.' }),
    }),
    { description: 'How we prove who we are.' },
  ),
  cohorts: said(
    z
      .array(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'the id of a cohort, in quotes' }))
      .min(1, { error: 'at least one cohort' })
      .max(100, { error: 'at most 100 cohorts' }),
    { description: 'Ids of the cohorts to ask for.', example: ['21', '34'] },
  ),
  every: said(between('1m', '30d').exactOptional(), {
    description: 'How often. PostHog itself computes most cohorts once a day.',
    default: DEFAULTS.posthog.every,
  }),
  user_id: said(text(200).regex(FIELD, { error: 'a field such as properties.email' }).exactOptional(), {
    description: 'Field of a person that holds the user id that the partner knows.',
    otherwise: 'the first of distinct_ids',
    example: 'properties.user_id',
  }),
});

/** Platforms that tell us, by webhook, who is in their cohorts. */
export const webhookShapes = [mixpanel, amplitude, segment, generic] as const;
/** One shape for each platform that has cohorts. */
export const cohortShapes = [...webhookShapes, posthog] as const;
