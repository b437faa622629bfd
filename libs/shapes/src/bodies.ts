import type { z } from 'zod';
import type { namedAccountShape } from './account-shapes.ts';
import type { Of } from './body-of.ts';
import type {
  delayShape,
  digestShape,
  notificationLimitShape,
  quietHoursShape,
  workspaceLimitShape,
} from './cadence-shape.ts';
import type { INTEGRATIONS, IntegrationRole } from './integrations/index.ts';
import type { channelShape, inDoubt, retryShape } from './notification-shape.ts';
import type { eventRecipients, lookupRecipients } from './recipients-shape.ts';
import type { ruleFormKeys } from './rule-forms/index.ts';
import type { cohortShape, ruleShape } from './rule-shape.ts';
import type { jwtAlgorithm, streamSecurity } from './security-shapes.ts';
import type { secret } from './shape-parts.ts';
import type { identityProviderShape } from './sign-in-shape.ts';
import type { FILE_SHAPES, FileKind, RESOURCE_SHAPES } from './shapes.ts';
import type { startKeys } from './start-shape.ts';
import type { fromShape, streamSettings } from './stream-shape.ts';
import type { emailTemplateShape } from './template-shape.ts';

/** The body of each kind of resource, with the names of the files: what `export` writes is what the log holds. */
export type ResourceBodies = { [Kind in keyof typeof RESOURCE_SHAPES]: Of<(typeof RESOURCE_SHAPES)[Kind]> };
export type ResourceKind = keyof ResourceBodies;
/** Content of each kind of file. */
export type FileBodies = { [Kind in FileKind]: Of<(typeof FILE_SHAPES)[Kind]> };

/** Settings of carillon.yaml that a process reads when it starts. */
export type StartSettings = Of<z.ZodObject<typeof startKeys>>;

export type AccountBody = ResourceBodies['account'];
/** An account of one kind. */
export type AccountOf<Kind extends AccountBody['kind']> = Extract<AccountBody, { readonly kind: Kind }>;
export type ApiKeyBody = ResourceBodies['api_key'];
export type DeploymentBody = ResourceBodies['deployment'];
export type IntegrationBody = ResourceBodies['integration'];
export type JwtProviderBody = ResourceBodies['jwt_provider'];
export type NotificationBody = ResourceBodies['notification'];
export type StreamBody = ResourceBodies['stream'];
export type LayoutBody = ResourceBodies['layout'];
export type PartialBody = ResourceBodies['partial'];
export type TemplateBody = ResourceBodies['template'];
export type WorkspaceBody = ResourceBodies['workspace'];

export type ChannelBody = Of<typeof channelShape>;
export type CohortBody = Of<typeof cohortShape>;
/** Integrations of one role. */
type IntegrationOf<Role extends IntegrationRole> = Of<
  Extract<(typeof INTEGRATIONS)[number], { readonly role: Role }>['shape']
>;
/** An analytics platform that sends who is in its cohorts. */
export type WebhookIntegration = IntegrationOf<'cohort_webhook'>;
/** An analytics platform that is asked who is in its cohorts. */
export type PolledIntegration = IntegrationOf<'cohort_api'>;
export type CohortIntegration = WebhookIntegration | PolledIntegration;
/** A database whose changes streams read. */
export type DatabaseIntegration = IntegrationOf<'database'>;
/** A cluster whose topics streams read. */
export type TopicsIntegration = IntegrationOf<'topics'>;
export type SourceIntegration = DatabaseIntegration | TopicsIntegration;
export type EmailTemplate = Of<typeof emailTemplateShape>;
export type EventRecipients = Of<typeof eventRecipients>;
/** An identity provider at which people sign in. */
export type IdentityProviderBody = Of<typeof identityProviderShape>;
export type InDoubtPolicy = Of<typeof inDoubt>;
export type JwtAlgorithm = Of<typeof jwtAlgorithm>;
/** A partner that is called to look people up. */
export type LookupIntegration = IntegrationOf<'partner'>;
export type LookupRecipients = Of<typeof lookupRecipients>;
export type Recipients = EventRecipients | LookupRecipients;
export type DelayBody = Of<typeof delayShape>;
export type NotificationLimitBody = Of<typeof notificationLimitShape>;
export type DigestBody = Of<typeof digestShape>;
export type QuietHoursBody = Of<typeof quietHoursShape>;
export type RetryBody = Of<typeof retryShape>;
/** Keys of the forms of rules with state. */
export type RuleFormKeys = Of<z.ZodObject<typeof ruleFormKeys>>;
export type RuleBody = Of<typeof ruleShape>;
/** An account of the deployment, one of several. */
export type NamedAccount = Of<typeof namedAccountShape>;
export type SecretReference = Of<typeof secret>;
/** Credentials that may send. Only a stream that belongs to one rule has `webhook_secret`. */
export type Security = Of<typeof streamSecurity>;
export type WorkspaceLimitBody = Of<typeof workspaceLimitShape>;
/** Tables or topics of a source that a stream reads. */
export type StreamFrom = Of<typeof fromShape>;
/** Settings that both kinds of event streams have. */
export type StreamSettings = Of<z.ZodObject<typeof streamSettings>>;
