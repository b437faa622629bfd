import { z } from 'zod';
import { between, keys, said, secret, text, url } from '../shape-parts.ts';
import { FIELD, USER_ID_FORM } from './cohort-keys.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';
import { THEIR_KEY, THEIR_SECOND_KEY } from './key-fields.ts';

/** Time between two requests for the same cohort. */
export const DEFAULT_POLL_INTERVAL = '1h';

export const posthog = defineIntegration({
  kind: 'posthog',
  role: 'cohort_api',
  title: 'PostHog cohorts',
  summary: 'Carillon asks PostHog who is in a cohort.',
  description: 'PostHog, which does not send cohorts: Carillon polls them.',
  setup: null,
  checkNote: 'Carillon reads the first page of each cohort and stores nothing of it.',
  keys: {
    url: said(url, {
      description: 'Where its API is.',
      example: 'https://eu.posthog.com',
      form: { label: 'API URL' },
    }),
    project: said(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'the id of a project, in quotes' }), {
      description: 'Id of the project.',
      example: '12345',
      form: { label: 'Project id' },
    }),
    authorization: said(
      keys({
        key: said(secret, {
          description: 'Reference to a personal API key with the scopes cohort:read and person:read.',
          form: { ...THEIR_KEY, note: 'A personal API key with the scopes cohort:read and person:read.' },
        }),
        second_key: said(secret.exactOptional(), {
          description: 'Used where the first one is refused.',
          form: THEIR_SECOND_KEY,
        }),
      }),
      { description: 'How we prove who we are.' },
    ),
    cohorts: said(
      z
        .array(z.string().regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'the id of a cohort, in quotes' }))
        .min(1, { error: 'at least one cohort' })
        .max(100, { error: 'at most 100 cohorts' }),
      {
        description: 'Ids of the cohorts to ask for.',
        example: ['21', '34'],
        form: { label: 'Cohort ids, one per line' },
      },
    ),
    every: said(between('1m', '30d').exactOptional(), {
      description: 'How often. PostHog itself computes most cohorts once a day.',
      default: DEFAULT_POLL_INTERVAL,
      form: {
        label: 'Time between two requests',
        placeholder: '1h',
        note: 'PostHog computes most cohorts once a day.',
      },
    }),
    user_id: said(text(200).regex(FIELD, { error: 'a field such as properties.email' }).exactOptional(), {
      description: 'Field of a person that holds the user id that the partner knows.',
      otherwise: 'the first of distinct_ids',
      example: 'properties.user_id',
      form: USER_ID_FORM,
    }),
  },
  secrets: authorizationKeys,
});
