import { authorizationOf, firstSyncLasts, ITS_KEY, sentToGateway, WEBHOOK_CHECK } from './cohort-keys.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';

export const generic = defineIntegration({
  kind: 'generic',
  role: 'cohort_webhook',
  title: 'Cohorts from your own program',
  summary: 'Your program reports who enters and leaves a cohort, by POST of JSON.',
  description: sentToGateway('Any other sender, in the form that [Connect a cohort](cohorts.md) shows.'),
  setup: 'In your program: POST to the URL with the header Authorization: Bearer and the secret.',
  checkNote: WEBHOOK_CHECK,
  keys: { authorization: authorizationOf(ITS_KEY), first_sync_lasts: firstSyncLasts },
  secrets: authorizationKeys,
});
