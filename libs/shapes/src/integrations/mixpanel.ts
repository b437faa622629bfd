import { authorizationOf, ITS_KEY, sentToGateway, userId, WEBHOOK_CHECK } from './cohort-keys.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';

export const mixpanel = defineIntegration({
  kind: 'mixpanel',
  role: 'cohort_webhook',
  title: 'Mixpanel cohorts',
  summary: 'Mixpanel reports who enters and leaves a cohort.',
  description: sentToGateway('Mixpanel, by a custom webhook of its cohort sync.'),
  setup:
    'In Mixpanel: Integrations, Custom Webhook. Enter the address, any user name, and the secret as password; then Export to… in the cohort.',
  checkNote: WEBHOOK_CHECK,
  keys: { authorization: authorizationOf(ITS_KEY), user_id: userId('mixpanel_distinct_id') },
  secrets: authorizationKeys,
});
