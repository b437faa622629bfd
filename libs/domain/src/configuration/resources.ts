import type { ResourceBodies, ResourceKind } from '@carillon/shapes';
import { OWNER_ACTOR, type Actor } from '../people/actor.ts';

/**
 * Bodies of configuration resources. The types come from the shapes by which files are read, so that no key is declared
 * twice. Durations stay text; `settings.ts` parses them.
 */
export type {
  AccountBody,
  AccountOf,
  ApiKeyBody,
  ChannelBody,
  CohortBody,
  CohortIntegration,
  DatabaseIntegration,
  DeploymentBody,
  EmailTemplate,
  EventRecipients,
  InDoubtPolicy,
  IdentityProviderBody,
  IntegrationBody,
  JwtProviderBody,
  LayoutBody,
  LookupIntegration,
  LookupRecipients,
  NamedAccount,
  NotificationBody,
  PartialBody,
  PolledIntegration,
  Recipients,
  ResourceBodies,
  ResourceKind,
  DelayBody,
  NotificationLimitBody,
  WorkspaceLimitBody,
  DigestBody,
  QuietHoursBody,
  RetryBody,
  RuleBody,
  SecretReference,
  Security,
  SourceIntegration,
  StreamBody,
  StreamFrom,
  StreamSettings,
  TemplateBody,
  TopicsIntegration,
  WebhookIntegration,
  WorkspaceBody,
} from '@carillon/shapes';

/** Names one resource. The deployment has neither workspace nor name; a workspace is named by `workspace`. */
export type ResourceRef<Kind extends ResourceKind = ResourceKind> = {
  readonly kind: Kind;
  readonly workspace: string;
  readonly name: string;
};
export const resourceKey = (ref: ResourceRef): string => `${ref.kind}:${ref.workspace}/${ref.name}`;

/** A change of one resource in a configuration record: its new body, or null if it is removed. */
export type ResourceChange<Kind extends ResourceKind = ResourceKind> = {
  readonly ref: ResourceRef<Kind>;
  /** Configuration number of this resource that the author saw. Null if it did not exist. */
  readonly based_on: number | null;
  readonly body: ResourceBodies[Kind] | null;
};

/** One record of `carillon.config`. It applies completely, or not at all if any change is based on an older number. */
export type ConfigurationRecord = {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly by: ChangeOrigin;
  readonly changes: readonly ResourceChange[];
};

/** Ways by which a change comes. `cli`: also everything of before origins were written down. */
export const ORIGINS = ['portal', 'api', 'apply', 'rollback', 'promote', 'cli'] as const;
export type Origin = (typeof ORIGINS)[number];

/** Author, origin and message of a configuration change. Shown to people without further effect. */
export type ChangeOrigin = {
  readonly actor: Actor;
  readonly origin: Origin;
  /** The author's note. Null if there is none. */
  readonly message: string | null;
  /** Id of the request that made the change. Null for older records, and without a request. */
  readonly requestId: string | null;
};

/** Origin of records from before origins were stored, when only the owner could change anything. */
export const CHANGED_BY_OWNER: ChangeOrigin = { actor: OWNER_ACTOR, origin: 'cli', message: null, requestId: null };
