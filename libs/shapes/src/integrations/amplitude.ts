import { authorizationOf, firstSyncLasts, ITS_KEY, sentToGateway, userId, WEBHOOK_CHECK } from './cohort-keys.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';

export const amplitude = defineIntegration({
  kind: 'amplitude',
  role: 'cohort_webhook',
  title: 'Amplitude cohorts',
  summary: 'Amplitude reports who enters and leaves a cohort.',
  description: sentToGateway('Amplitude, by a cohort webhook with the default payload.'),
  setup:
    'In Amplitude: Data, Destinations, Webhook (cohort) with the default payload. Enter the address, and a header Authorization with Bearer and the secret.',
  checkNote: WEBHOOK_CHECK,
  keys: { authorization: authorizationOf(ITS_KEY), user_id: userId('user_id'), first_sync_lasts: firstSyncLasts },
  secrets: authorizationKeys,
});
