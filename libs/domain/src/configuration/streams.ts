import { DEFAULTS, type STREAM_FORMATS } from '@carillon/shapes/values';
import { durationOr, type Duration } from '@carillon/kernel';
import { lookBacksOf } from '../rules/notification-times.ts';
import type { Configuration, Resource } from './configuration.ts';
import { listResources, ruleSince } from './configuration.ts';
import { localityOf } from './locality.ts';
import type { RuleBody, Security, StreamFrom, StreamSettings } from './resources.ts';
import { hasOwnStream, ruleIdFrom, rulePathFrom } from './rule-names.ts';

/** Format of a stream's events. */
export type StreamFormat = (typeof STREAM_FORMATS)[number];

/** An event stream: a shared stream, or a rule's own stream. */
export type EventStream = StreamSettings & {
  /** EVENT_PATH: `<workspace>/<stream>` or `<workspace>/<notification>.<rule>`. */
  readonly path: string;
  readonly workspace: string;
  readonly key: string | null;
  readonly time: string | null;
  /** How long after a deadline late events still count, beside `time`. */
  readonly grace?: string;
  /** Empty for a stream with `from`: nobody sends events there. */
  readonly security: Security;
  /** What is sent or read. */
  readonly format: StreamFormat;
  /** Tables or topics that Carillon reads the events from. Null if they are sent to an address. */
  readonly from: StreamFrom | null;
  /** How long rules remember an entity. Defaults to 100 days, or the longest look-back of its rules. */
  readonly forget_after?: string;
};

type Origin = { readonly from?: StreamFrom | null | undefined; readonly format?: StreamFormat | undefined };

/** Returns true if Carillon reads the events of a stream from a source, so that nobody sends them. */
export const readsSource = ({ from }: Origin): boolean => from !== undefined && from !== null;

/** Returns true if the events of a stream are changes, so that rules see `op` and `previous`. */
export const takesChanges = ({ from, format }: Origin): boolean =>
  format === 'debezium' || (from?.tables !== undefined && from.topics === undefined);

/** Returns true if each event of a stream names its entity: by `key`, or by the key path of its table or topic. */
export const hasKey = ({ from, key }: Origin & { readonly key?: string | null | undefined }): boolean =>
  readsSource({ from }) || (key !== undefined && key !== null);

/**
 * Returns the rate limit per credential of a stream. Token streams always have one, because their many holders are
 * usually third parties.
 */
export const credentialRate = ({ rate_per_credential: set, security }: EventStream): EventStream['rate'] =>
  set ?? (security.jwt_provider === undefined ? undefined : DEFAULTS.token_stream.rate_per_credential);

/** A rule with what it needs from around it. */
export type PlacedRule = {
  readonly workspace: string;
  readonly notification: Resource<'notification'>;
  readonly name: string;
  readonly body: RuleBody;
  readonly version: number;
  /** EVENT_PATH that feeds it. */
  readonly stream: string;
  /** Number of the configuration that put it on its stream. What is remembered of it under another number has ended. */
  readonly since: number;
  /** The stream has a key, and its events are no changes: `previous` is the entity's event before, which the engine keeps. */
  readonly keepsPrevious: boolean;
  /** How long the state of an entity of the stream is kept after its last event. The same for all rules of the stream. */
  readonly forgetAfter: Duration;
  /** How long after a deadline late events still count, on a stream with a `time` path. Null: times of append count. */
  readonly grace: Duration | null;
  /** Zone of its workspace, whose days, weeks and months its totals count by. */
  readonly timeZone: string;
  /** True if the rule and its notification are enabled. */
  readonly enabled: boolean;
};

/** Both names of a rule, which identify it within its workspace. */
export type RuleName = { readonly notification: string; readonly rule: string };

/** The rule's name as people see it. */
export const ruleTitle = ({ notification, name }: PlacedRule): string => `${notification.ref.name}.${name}`;
/** Reads what a person wrote as a rule's name, such as `order-paid.paid`; undefined where it is none. */
export function readRuleTitle(title: string): RuleName | undefined {
  const [notification, rule, ...more] = title.split('.');
  return notification && rule && more.length === 0 ? { notification, rule } : undefined;
}
export const ruleIdOf = (rule: PlacedRule): string =>
  ruleIdFrom(rule.workspace, rule.notification.ref.name, rule.name, rule.body);
export const notificationIdOf = (item: Resource<'notification'>): string =>
  item.body.id ?? `${item.ref.workspace}/${item.ref.name}`;

export type StreamTable = {
  readonly streams: ReadonlyMap<string, EventStream>;
  /** Rules by the EVENT_PATH that feeds them, in order of notification and rule name. */
  readonly rules: ReadonlyMap<string, readonly PlacedRule[]>;
};

const tables = new WeakMap<Configuration, StreamTable>();

/** Streams and rules of a configuration by EVENT_PATH; computed once per configuration. */
export function streamTable(configuration: Configuration): StreamTable {
  const known = tables.get(configuration);
  if (known) return known;
  const table = buildTable(configuration);
  tables.set(configuration, table);
  return table;
}

function buildTable(configuration: Configuration): StreamTable {
  const streams = new Map<string, EventStream>();
  const found = new Map<string, FoundRule[]>();
  for (const { ref, body } of listResources(configuration, 'stream')) {
    const path = `${ref.workspace}/${ref.name}`;
    const { from = null, key = null, time = null, format = DEFAULTS.stream.format, security = {}, ...rest } = body;
    streams.set(path, { ...rest, path, workspace: ref.workspace, from, key, time, format, security });
  }
  for (const notification of listResources(configuration, 'notification')) {
    const { workspace, name: title } = notification.ref;
    const { timeZone } = localityOf(configuration, workspace, {}).locality;
    for (const [name, body] of Object.entries(notification.body.rules)) {
      const own = hasOwnStream(body);
      const path = rulePathFrom(workspace, title, name, body);
      if (own) streams.set(path, ownStream(notification, path));
      const rule: FoundRule = {
        workspace,
        notification,
        name,
        body,
        version: notification.ruleVersions[name] ?? 1,
        stream: path,
        since: ruleSince(configuration, workspace, ruleIdFrom(workspace, title, name, body)) ?? notification.number,
        keepsPrevious: body.cohort !== undefined || keepsPrevious(streams.get(path)),
        grace: graceOf(streams.get(path)),
        timeZone,
        enabled:
          (notification.body.enabled ?? DEFAULTS.notification.enabled) && (body.enabled ?? DEFAULTS.rule.enabled),
      };
      found.set(path, [...(found.get(path) ?? []), rule]);
    }
  }
  const rules = new Map<string, readonly PlacedRule[]>();
  for (const [path, ofStream] of found) {
    const forgetAfter = forgetAfterOf(streams.get(path)?.forget_after, ofStream);
    rules.set(
      path,
      ofStream.map((rule) => ({ ...rule, forgetAfter })),
    );
  }
  return { streams, rules };
}

type FoundRule = Omit<PlacedRule, 'forgetAfter'>;

function forgetAfterOf(written: string | undefined, rules: readonly FoundRule[]): Duration {
  if (written !== undefined) return durationOr(written, 0);
  const lookBacks = rules.flatMap(({ name, body }) => lookBacksOf(name, body).map(({ duration }) => duration));
  return Math.max(durationOr(DEFAULTS.stream.forget_after, 0), ...lookBacks);
}

const keepsPrevious = (stream: EventStream | undefined): boolean =>
  stream !== undefined && hasKey(stream) && !takesChanges(stream);

const graceOf = (stream: EventStream | undefined): Duration | null =>
  stream === undefined || stream.time === null ? null : durationOr(stream.grace ?? DEFAULTS.stream.grace, 0);

function ownStream(notification: Resource<'notification'>, path: string): EventStream {
  const { security, cors_origins, rate, rate_per_credential } = notification.body;
  return {
    path,
    workspace: notification.ref.workspace,
    from: null,
    key: null,
    time: null,
    format: DEFAULTS.stream.format,
    security: security ?? {},
    ...(cors_origins && { cors_origins }),
    ...(rate && { rate }),
    ...(rate_per_credential && { rate_per_credential }),
  };
}

function findPlaced(configuration: Configuration, isIt: (placed: PlacedRule) => boolean): PlacedRule | undefined {
  for (const list of streamTable(configuration).rules.values()) {
    const found = list.find(isIt);
    if (found) return found;
  }
  return undefined;
}

/** The rule of this name in a configuration, if it is there. */
export const findRule = (
  configuration: Configuration,
  workspace: string,
  { notification, rule }: RuleName,
): PlacedRule | undefined =>
  findPlaced(
    configuration,
    (placed) => placed.workspace === workspace && placed.notification.ref.name === notification && placed.name === rule,
  );

/**
 * Returns the rule with an id, whatever the names of it and its notification are. Rule ids are unique in a workspace.
 */
export const findRuleById = (configuration: Configuration, workspace: string, ruleId: string): PlacedRule | undefined =>
  findPlaced(configuration, (placed) => placed.workspace === workspace && ruleIdOf(placed) === ruleId);

/** The rule that made a trigger or an intent, in the configuration that it was made under. */
export const findRuleOf = (
  configuration: Configuration,
  made: { readonly workspace: string; readonly notification: string; readonly ruleId: string },
): PlacedRule | undefined =>
  findPlaced(
    configuration,
    (placed) =>
      placed.workspace === made.workspace &&
      placed.notification.ref.name === made.notification &&
      ruleIdOf(placed) === made.ruleId,
  );
