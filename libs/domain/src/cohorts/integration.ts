import type { Duration } from '@carillon/kernel';
import { DEFAULT_POLL_INTERVAL, integrationKindOf } from '@carillon/shapes/integrations';
import { DEFAULTS } from '@carillon/shapes/values';
import { findResource, type Configuration } from '../configuration/configuration.ts';
import { hasCohorts } from '../configuration/integrations.ts';
import type { CohortIntegration, PolledIntegration, WebhookIntegration } from '../configuration/resources.ts';
import { writtenDuration } from '../configuration/written-duration.ts';

/** Returns the integration of this name, if it has cohorts. */
export function findCohortIntegration(
  configuration: Configuration,
  workspace: string,
  name: string,
): CohortIntegration | undefined {
  const body = findResource(configuration, 'integration', workspace, name)?.body;
  return body !== undefined && hasCohorts(body) ? body : undefined;
}

/** Field of a member that holds its user id; undefined: the platform's own. */
export const userIdField = (integration: CohortIntegration): string | undefined =>
  'user_id' in integration ? integration.user_id : undefined;

/** How long the first messages of a cohort count as its first sync, where its exports name no pages. */
export const firstSyncOf = (integration: WebhookIntegration): Duration =>
  writtenDuration(
    'first_sync_lasts' in integration ? integration.first_sync_lasts : undefined,
    DEFAULTS.webhook.first_sync_lasts,
  );

/** Returns true if lists of calls are taken from a platform that signs the first call of a list only. */
export const takesBatches = (integration: WebhookIntegration): boolean =>
  'batches' in integration && integration.batches;

/** Returns true if many messages of the platform name nobody by user id. */
export const omitsUserIds = (integration: CohortIntegration): boolean =>
  integrationKindOf(integration).omitsUserIds === true;

/** Returns how often a platform is asked for a cohort. */
export const pollEvery = ({ every }: PolledIntegration): Duration => writtenDuration(every, DEFAULT_POLL_INTERVAL);
