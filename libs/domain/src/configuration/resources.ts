/**
 * The bodies of configuration resources, in the shape and with the names of the files (interfaces section 3), so that
 * what `export` writes is what the log holds. Durations stay text; `settings.ts` reads them.
 */
export type SecretReference = { readonly secret: string };

/** Who may send: holders of API keys, or of tokens of a JWT provider. `apply` takes one of the two and refuses both. */
export type Security = {
  /** Names of API keys of the workspace: one, or two while rotating. */
  readonly api_keys?: readonly string[];
  /** Name of a JWT provider of the workspace. */
  readonly jwt_provider?: string;
  /** Path in the event by name of a claim of the token; both have to hold the same. Only with `jwt_provider`. */
  readonly claims?: Readonly<Record<string, string>>;
};

/** What both kinds of event stream may set. */
export type StreamSettings = {
  readonly cors_origins?: readonly string[];
  /** Events per second, with a burst of the same size unless set. */
  readonly rate?: { readonly per_second: number; readonly burst?: number };
};

export type WorkspaceBody = { readonly name?: string; readonly time_zone?: string; readonly locale?: string };

export type StreamBody = StreamSettings & {
  /** Path of the entity key, e.g. `event.order_id`. Fixed at creation. */
  readonly key?: string;
  /** Path of the event's own RFC 3339 time. Fixed at creation. */
  readonly time?: string;
  readonly format?: 'json';
  readonly security: Security;
};

/** The event itself names who is told. */
export type EventRecipients = {
  readonly from: 'event';
  /** A list in the event; each of its values is `item`. */
  readonly for_each?: string;
  readonly to: { readonly email?: string; readonly phone?: string; readonly token?: string };
  readonly unique_id?: string;
  readonly person?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Boolean on `variables`, `event`, `item`: drops the recipient where it is not true. */
  readonly where?: string;
};

/** The event names user ids, and a partner answers who they are. */
export type LookupRecipients = {
  readonly from: 'lookup';
  /** Name of an integration of kind `lookup`. */
  readonly integration: string;
  /** A string, a number or a list of these; sent as strings. Left out where a cohort starts the rule: then the member. */
  readonly user_ids?: string;
  /** Counts where the partner's answer has no `unique_id` of its own. */
  readonly unique_id?: string;
  /** Counts where nobody knows which user id an answer is about. */
  readonly person?: string;
  /** Boolean on `variables` and `event`: drops the recipient where it is not true. */
  readonly where?: string;
};

export type Recipients = EventRecipients | LookupRecipients;

/** What starts a rule in place of events of a stream: somebody enters or leaves a cohort. */
export type CohortBody = {
  /** Name of an integration of a kind that has cohorts. */
  readonly integration: string;
  /** Id of the cohort at the platform. */
  readonly id: string;
  readonly on: 'entered' | 'left';
  /** Whether those are told who were in when the platform first told us of the cohort; `silent` unless set. */
  readonly first_sync?: 'silent' | 'notify';
};

export type RuleBody = {
  /** Given at creation, written by export; triggers are counted by it. */
  readonly id?: string;
  /** EVENT_PATH of its own stream, given at creation. */
  readonly path?: string;
  readonly enabled?: boolean;
  /** Name of a shared stream; left out, the rule has a stream of its own. */
  readonly stream?: string;
  /** In place of a stream. */
  readonly cohort?: CohortBody;
  /** Left out only where a cohort starts the rule: then always. */
  readonly when?: string;
  readonly recipients: Recipients;
};

export type ChannelBody = { readonly template: string; readonly accounts?: readonly string[] };
export type RetryBody = { readonly attempts?: number; readonly first?: string; readonly max?: string };
export type InDoubtPolicy = 'hold' | 'resend' | 'drop';

export type NotificationBody = StreamSettings & {
  /** Given at creation, written by export; slots belong to it, so a rename keeps who was told. */
  readonly id?: string;
  readonly name?: string;
  readonly category?: string;
  readonly transactional?: boolean;
  readonly enabled?: boolean;
  /** Only where a rule has a stream of its own. */
  readonly security?: Security;
  readonly channels: { readonly email?: ChannelBody };
  readonly rules: Readonly<Record<string, RuleBody>>;
  readonly retry?: RetryBody;
  readonly expires?: string;
  readonly in_doubt?: InDoubtPolicy;
};

export type EmailTemplate = {
  readonly subject: string;
  /** `Name <address>` or an address; left out, the account's. */
  readonly from?: string;
  readonly html?: string;
  readonly text?: string;
  /** A missing variable fails the message instead of being empty. */
  readonly strict?: boolean;
};
export type TemplateBody = { readonly email: EmailTemplate };

export type SmtpAccount = {
  readonly kind: 'smtp';
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte; `starttls`: required upgrade; `opportunistic`: upgrade where offered; `none`. */
  readonly tls?: 'implicit' | 'starttls' | 'opportunistic' | 'none';
  readonly user?: string;
  readonly password?: SecretReference;
  readonly from: string;
  readonly connections?: number;
};
export type SandboxAccount = { readonly kind: 'sandbox'; readonly from?: string };
export type AccountBody = SmtpAccount | SandboxAccount;

/** A partner that knows addresses: the endpoint of specification 4.2. */
export type LookupIntegration = {
  readonly kind: 'lookup';
  readonly url: string;
  readonly authorization: {
    /** `Bearer` unless set. */
    readonly scheme?: 'Bearer' | 'Basic';
    readonly key: SecretReference;
    /** The other key while rotating: used where the first is refused. */
    readonly second_key?: SecretReference;
    /** With `Basic`: the key goes base64-encoded instead of word for word. */
    readonly base64?: boolean;
  };
  /** Further headers of each call. */
  readonly headers?: Readonly<Record<string, string | SecretReference>>;
  /** Path in an item of the answer that holds the user id asked for, such as `variables.user_id`. */
  readonly match?: string;
  /** The answer has one item for each id, in the order of the ids. */
  readonly in_order?: boolean;
  readonly timeouts?: { readonly connect?: string; readonly total?: string };
};
/** What a platform shows to prove that it is the platform, or what we show to it. */
export type CohortAuthorization = {
  readonly key: SecretReference;
  /** The other key while rotating. */
  readonly second_key?: SecretReference;
};

/** An analytics platform that tells us, by webhook, who is in its cohorts. */
export type WebhookIntegration = {
  readonly kind: 'mixpanel' | 'amplitude' | 'segment' | 'generic';
  /** The secret that its requests carry; of Segment the one that signs them. */
  readonly authorization: CohortAuthorization;
  /** Field of a member that holds the user id, where it is not the platform's own. Not with `generic`. */
  readonly user_id?: string;
  /** How long a cohort's first messages count as the first sync. Only where exports name no pages, so not with `mixpanel`. */
  readonly first_sync_lasts?: string;
};

/** PostHog tells nobody: it is asked who is in these cohorts. */
export type PostHogIntegration = {
  readonly kind: 'posthog';
  readonly url: string;
  readonly project: string;
  readonly authorization: CohortAuthorization;
  /** Ids of the cohorts that are asked for. */
  readonly cohorts: readonly string[];
  readonly every?: string;
  readonly user_id?: string;
};

export type CohortIntegration = WebhookIntegration | PostHogIntegration;
/** Another system that recipients come from; by `kind`. */
export type IntegrationBody = LookupIntegration | CohortIntegration;

export type ApiKeyBody = {
  /** The public 8 characters of `cln_<id>_<secret>_<checksum>`. */
  readonly key_id: string;
  /** HMAC-SHA-256 of the secret under the deployment's pepper, hex. */
  readonly digest: string;
  readonly created_at: string;
  readonly expires_at?: string;
};

/** A trusted issuer of signed tokens; what is left out has the default of `jwtSettings`. */
export type JwtProviderBody = {
  readonly jwks_url: string;
  readonly issuer?: string;
  /** One of them has to be the token's. Left out, tokens that were issued for somebody else are taken too. */
  readonly audience?: string | readonly string[];
  readonly algorithms?: readonly string[];
  readonly token_type?: string;
  readonly clock_tolerance?: string;
  readonly max_token_age?: string;
};

export type DeploymentBody = {
  /** Default provider accounts by channel. Without one: the sandbox. */
  readonly accounts?: { readonly email?: AccountBody };
};

export type ResourceBodies = {
  deployment: DeploymentBody;
  workspace: WorkspaceBody;
  stream: StreamBody;
  notification: NotificationBody;
  template: TemplateBody;
  account: AccountBody;
  integration: IntegrationBody;
  api_key: ApiKeyBody;
  jwt_provider: JwtProviderBody;
};
export type ResourceKind = keyof ResourceBodies;

/** Names one resource. The deployment has neither workspace nor name; a workspace is named by `workspace`. */
export type ResourceRef<Kind extends ResourceKind = ResourceKind> = {
  readonly kind: Kind;
  readonly workspace: string;
  readonly name: string;
};
export const resourceKey = (ref: ResourceRef): string => `${ref.kind}:${ref.workspace}/${ref.name}`;

/** One resource in a configuration record: its new body, or null where it is taken away. */
export type ResourceChange = {
  [Kind in ResourceKind]: {
    readonly ref: ResourceRef<Kind>;
    /** Configuration number that the author had seen of this resource; null: it did not exist. */
    readonly based_on: number | null;
    readonly body: ResourceBodies[Kind] | null;
  };
}[ResourceKind];

/** One record of `carillon.config`: applied whole or, when any change is based on an older number, void as a whole. */
export type ConfigurationRecord = {
  readonly id: string;
  readonly at: string;
  readonly author: string;
  readonly changes: readonly ResourceChange[];
};
