import type { Bodies } from '../../api/draft-calls.ts';
import type { NewKind } from '../setup/new-setup.tsx';
import type { Part } from '../setup/parts.ts';

type Body = Bodies['integrations'];
type KindName = Body['kind'];

export type IntegrationKind = {
  readonly name: string;
  readonly what: string;
  /** Its key is made here and pasted there; where to, in a sentence. */
  readonly paste: string | null;
  readonly parts: readonly Part[];
};

const KEY = ['authorization', 'key'] as const;
const itsKey: Part = {
  path: KEY,
  label: 'Key',
  kind: 'secret',
  ending: 'KEY',
  note: 'The key that the other side gave you. It is kept as a secret; the draft holds its name alone.',
};
const ourKey: Part = {
  path: KEY,
  label: 'Secret',
  kind: 'secret',
  ending: 'SECRET',
  isOurs: true,
  note: 'Paste this secret at the platform; it signs in with it.',
};
const secondKey = (part: Part): Part => ({
  ...part,
  path: ['authorization', 'second_key'],
  label: 'Second key',
  ending: 'KEY_2',
  isRare: true,
  note: 'While keys are rotated: either of the two is taken.',
});
const userId: Part = {
  path: ['user_id'],
  label: 'Field with your user id',
  kind: 'text',
  placeholder: 'email',
  note: 'Where the platform’s own id is another one than the one that your endpoint knows.',
  isRare: true,
};
const firstSync: Part = {
  path: ['first_sync_lasts'],
  label: 'The first sync lasts',
  kind: 'text',
  placeholder: '1h',
  note: 'Who comes within it was in before: they are taken in silently.',
  isRare: true,
};

export const INTEGRATION_KINDS: Readonly<Record<KindName, IntegrationKind>> = {
  lookup: {
    name: 'Lookup endpoint of a partner',
    what: 'Your own endpoint: it is given user ids and answers who they are and how they are reached.',
    paste: null,
    parts: [
      {
        path: ['url'],
        label: 'URL',
        kind: 'text',
        placeholder: 'https://crm.example.com/recipients',
        note: 'Carillon calls it with POST.',
      },
      {
        path: ['authorization', 'scheme'],
        label: 'Scheme',
        kind: 'choice',
        options: [
          { id: 'Bearer', name: 'Bearer' },
          { id: 'Basic', name: 'Basic' },
        ],
        note: 'The word before the key in the Authorization header. The check tries both and says which one is taken.',
      },
      itsKey,
      {
        path: ['match'],
        label: 'Path of the user id in each item of the answer',
        kind: 'text',
        placeholder: 'variables.user_id',
        note: 'So that several events share a call, and missing and unknown ids are told.',
      },
      { path: ['in_order'], label: 'The answer has one item for each id, in their order', kind: 'yes', isRare: true },
      {
        path: ['authorization', 'base64'],
        label: 'With Basic: send the key base64-encoded',
        kind: 'yes',
        isRare: true,
      },
      { ...secondKey(itsKey), note: 'While keys are rotated: used where the first one is refused.' },
      {
        path: ['timeouts', 'connect'],
        label: 'Time for the connection',
        kind: 'text',
        placeholder: '2s',
        isRare: true,
      },
      { path: ['timeouts', 'total'], label: 'Time for the whole call', kind: 'text', placeholder: '10s', isRare: true },
    ],
  },
  mixpanel: {
    name: 'Mixpanel cohorts',
    what: 'Mixpanel tells who enters and leaves a cohort.',
    paste:
      'In Mixpanel: Integrations, Custom Webhook. Enter the address, any user name, and the secret as password; then Export to… in the cohort.',
    parts: [ourKey, userId, secondKey(ourKey)],
  },
  amplitude: {
    name: 'Amplitude cohorts',
    what: 'Amplitude tells who enters and leaves a cohort.',
    paste:
      'In Amplitude: Data, Destinations, Webhook (cohort) with the default payload. Enter the address, and a header Authorization with Bearer and the secret.',
    parts: [ourKey, userId, firstSync, secondKey(ourKey)],
  },
  segment: {
    name: 'Segment audience',
    what: 'Segment tells who enters and leaves an audience.',
    paste:
      'In Segment: a destination Webhooks (Actions) that the audience feeds. Enter the address, and the secret as shared secret; leave batching off.',
    parts: [
      ourKey,
      userId,
      firstSync,
      { path: ['batches'], label: 'Take lists of calls, of which only the first is signed', kind: 'yes', isRare: true },
      secondKey(ourKey),
    ],
  },
  posthog: {
    name: 'PostHog cohorts',
    what: 'PostHog sends nothing by itself: it is asked who is in a cohort.',
    paste: null,
    parts: [
      { path: ['url'], label: 'URL of its API', kind: 'text', placeholder: 'https://eu.posthog.com' },
      { path: ['project'], label: 'Id of the project', kind: 'text', placeholder: '12345' },
      { ...itsKey, note: 'A personal API key with the scopes cohort:read and person:read.' },
      { path: ['cohorts'], label: 'Ids of the cohorts, one a line', kind: 'list', placeholder: '21' },
      {
        path: ['every'],
        label: 'Asked every',
        kind: 'text',
        placeholder: '1h',
        note: 'PostHog computes most cohorts once a day.',
      },
      { ...userId, placeholder: 'properties.user_id' },
      { ...secondKey(itsKey), note: 'While keys are rotated: used where the first one is refused.' },
    ],
  },
  generic: {
    name: 'Cohorts from a sender of your own',
    what: 'A program of yours tells who enters and leaves, by POST of JSON.',
    paste: 'In your program: POST to the address with the header Authorization: Bearer and the secret.',
    parts: [ourKey, firstSync, secondKey(ourKey)],
  },
};
const KINDS = Object.keys(INTEGRATION_KINDS) as KindName[];

/** What each begins as. What is missing of it the draft says, where it stands. */
export const NEW_INTEGRATIONS: readonly NewKind<'integrations'>[] = KINDS.map((id) => ({
  id,
  name: INTEGRATION_KINDS[id].name,
  what: INTEGRATION_KINDS[id].what,
  body: { kind: id } as Body,
}));

/** Whether it tells of cohorts, so that there is a first sync to watch. */
export const hasCohorts = (kind: string): boolean => kind !== 'lookup';
/** Whether a check of it asks nobody else, so that a list may make it by itself. */
export const isQuiet = (kind: string): boolean => hasCohorts(kind) && kind !== 'posthog';

export const kindOf = (body: unknown): IntegrationKind | null => {
  const kind = (body as { kind?: unknown } | null)?.kind;
  return KINDS.find((one) => one === kind) === undefined ? null : INTEGRATION_KINDS[kind as KindName];
};

/** The address that a platform sends to, from that of events. */
export const webhookOf = (eventsUrl: string, workspace: string, name: string): string =>
  `${eventsUrl.replace(/\/events$/, '')}/cohorts/${workspace}/${name}`;
