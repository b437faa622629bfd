import { z } from 'zod';
import { said } from '../shape-parts.ts';
import { authorizationOf, firstSyncLasts, sentToGateway, userId, WEBHOOK_CHECK } from './cohort-keys.ts';
import { authorizationKeys, defineIntegration } from './integration.ts';

export const segment = defineIntegration({
  kind: 'segment',
  role: 'cohort_webhook',
  title: 'Segment audience',
  summary: 'Segment reports who enters and leaves an audience.',
  description: sentToGateway('Segment audiences and journeys, by the destination Webhooks (Actions).'),
  setup:
    'In Segment: a destination Webhooks (Actions) that the audience feeds. Enter the address, and the secret as shared secret; leave batching off.',
  checkNote: WEBHOOK_CHECK,
  // Segment sends a call for each identifier of a person, and most of these have no user id.
  omitsUserIds: true,
  keys: {
    authorization: authorizationOf('Reference to the shared secret that it signs its requests with (`X-Signature`).'),
    user_id: userId('userId'),
    first_sync_lasts: firstSyncLasts,
    batches: said(z.boolean().exactOptional(), {
      description:
        'Accept lists of calls. Segment signs only the first call of a list, so anyone who has seen a signed call can append others.',
      default: false,
      form: { label: 'Accept batches, in which only the first event is signed', isRare: true },
    }),
  },
  secrets: authorizationKeys,
});
