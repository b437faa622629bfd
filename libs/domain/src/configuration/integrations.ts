import { integrationGroupOf, integrationKindOf, type IntegrationRole } from '@carillon/shapes/integrations';
import type {
  CohortIntegration,
  DatabaseIntegration,
  IntegrationBody,
  LookupIntegration,
  PolledIntegration,
  SourceIntegration,
  TopicsIntegration,
  WebhookIntegration,
} from './resources.ts';

export type { IntegrationRole };

/** The body of an integration of each role. */
export type BodyOfRole = {
  readonly partner: LookupIntegration;
  readonly cohort_webhook: WebhookIntegration;
  readonly cohort_api: PolledIntegration;
  readonly database: DatabaseIntegration;
  readonly topics: TopicsIntegration;
};

/** Returns the role of an integration. */
export const integrationRoleOf = (body: IntegrationBody): IntegrationRole => integrationKindOf(body).role;

/** Returns the names of the secrets of an integration, in the order in which they are tried. */
export const integrationSecrets = (body: IntegrationBody): readonly string[] =>
  integrationKindOf(body)
    .secrets(body)
    .map(({ secret }) => secret);

/** Returns true if an integration is a partner that is called to look people up. */
export const isPartner = (body: IntegrationBody): body is LookupIntegration => integrationGroupOf(body) === 'partner';

/** Returns true if an integration has cohorts, by webhook or by polling. */
export const hasCohorts = (body: IntegrationBody): body is CohortIntegration => integrationGroupOf(body) === 'cohorts';

/** Returns true if an integration is read, so that a stream may take its events from it. */
export const isSource = (body: IntegrationBody): body is SourceIntegration => integrationGroupOf(body) === 'source';

/** Returns true if streams read tables of an integration. */
export const isDatabase = (body: IntegrationBody): body is DatabaseIntegration =>
  integrationKindOf(body).role === 'database';

/** Returns true if streams read topics of an integration. */
export const hasTopics = (body: IntegrationBody): body is TopicsIntegration =>
  integrationKindOf(body).role === 'topics';

/** Returns true if a platform sends who is in its cohorts. */
export const isWebhook = (body: IntegrationBody): body is WebhookIntegration =>
  integrationKindOf(body).role === 'cohort_webhook';

/** Returns true if a platform is asked who is in its cohorts. */
export const isPolled = (body: IntegrationBody): body is PolledIntegration =>
  integrationKindOf(body).role === 'cohort_api';
