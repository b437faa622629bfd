import type { ResourceBodies, ResourceKind } from '@carillon/shapes';
import { OWNER_ACTOR, type Actor } from '../people/actor.ts';

/**
 * The bodies of configuration resources come from the shapes that files are read by, so that no key stands twice.
 * Durations stay text; `settings.ts` reads them.
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

/** One resource in a configuration record: its new body, or null where it is taken away. */
export type ResourceChange<Kind extends ResourceKind = ResourceKind> = {
  readonly ref: ResourceRef<Kind>;
  /** Configuration number that the author had seen of this resource; null: it did not exist. */
  readonly based_on: number | null;
  readonly body: ResourceBodies[Kind] | null;
};

/** One record of `carillon.config`: applied whole or, when any change is based on an older number, void as a whole. */
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
  /** The request that it came with; null: none, or from before it was written down. */
  readonly requestId: string | null;
};

/** What is read of a record from before origins were written down: only the owner could change anything. */
export const CHANGED_BY_OWNER: ChangeOrigin = { actor: OWNER_ACTOR, origin: 'cli', message: null, requestId: null };
