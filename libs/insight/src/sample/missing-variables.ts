import { channelsOf, type ChannelName } from '@carillon/domain/channels';
import { streamTable, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import { digestSettings, digestTemplateOf, digestValues } from '@carillon/domain/digests';
import type { SourceEvent } from '@carillon/domain/events';
import { evaluateRuleCoroutine, hasTotals, type CompiledRule, type RuleOutcome } from '@carillon/domain/rules';
import { templateForReader } from '@carillon/domain/templates';
import type { DeriveId, EventId, Instant, JsonObject } from '@carillon/kernel';
import type { Clock, EventRow, ReadModels, TemplateNames, TemplateRenderer, EventLoopSlice } from '@carillon/ports';
import {
  AT_EVENT,
  causeOfEvent,
  mergeFields,
  runYielding,
  templateContext,
  type Cause,
  type FiringTime,
  type RuleBook,
} from '@carillon/stages';
import { KEPT_BACK } from '../contents/message-content.ts';
import { LONGEST_WAIT, rehearse } from '../rehearsal/rehearse.ts';
import { newestEvents, type FoundEvent, type NewestEventsPorts } from './newest-events.ts';

export type MissingVariablesPorts = NewestEventsPorts & {
  readonly readModels: Pick<ReadModels, 'fields'>;
  readonly book: RuleBook;
  readonly templates: Pick<TemplateRenderer, 'render'>;
  readonly slice: EventLoopSlice;
  readonly clock: Pick<Clock, 'now'>;
};

/** A template of a workspace, on these channels. */
export type CountedTemplate = {
  readonly workspace: string;
  readonly template: string;
  readonly channels: readonly ChannelName[];
};

export type MissingVariable = {
  /** Name as rendering shows it: `customer.name`, `items[].price`. */
  readonly variable: string;
  /** Events whose message lacked it. */
  readonly missing: number;
  /** The newest of them. */
  readonly eventId: string;
};

export type MissingVariables = {
  /** Newest events that were looked at. */
  readonly events: number;
  /** When the oldest of these events arrived. Null without events. */
  readonly since: Instant | null;
  /** Number of these events for which a rule would send the template. */
  readonly sending: number;
  /** Events among the `sending` ones of which no message could be made on a channel. */
  readonly failed: number;
  /** Variables, most often missing first. */
  readonly variables: readonly MissingVariable[];
};

/** Events of one question. */
const MAX_EVENTS = 1000;
/** Fewer if a rule has state: it is rehearsed with all of them, so that they are in memory together. */
const MAX_REHEARSED_EVENTS = 200;
/** Time limit in milliseconds, because the caller waits. The result says how many events were rendered. */
const TIME_LIMIT_MS = 5000;

/**
 * Returns the variables that a template's messages lack, over the newest events of streams whose rules send it. Each
 * event is evaluated with this configuration and rendered like a real message, so variables tested in the template
 * (`if`, `default`) or set by the rule are not missing. Uses the first recipient of each event. A digest template is
 * rendered with this event as its only item. A rule with state is rehearsed with the events from the oldest on, and its
 * waits end.
 */
export async function missingVariables(
  counted: CountedTemplate,
  configuration: Configuration,
  ports: MissingVariablesPorts,
): Promise<MissingVariables> {
  const senders = sendersOf(counted, configuration, ports.book);
  const known = await fieldsBeforePartners(senders, ports);
  const until = ports.clock.now() + TIME_LIMIT_MS;
  const tally = new Tally();
  const isRehearsed = [...senders.values()].flat().some(({ memory }) => memory !== null);
  const newest = newestEvents([...senders.keys()], isRehearsed ? MAX_REHEARSED_EVENTS : MAX_EVENTS, ports);
  const found = isRehearsed ? await listed(newest) : newest;
  const firings = Array.isArray(found) ? await rehearsedFirings(senders, found, ports.slice) : NO_FIRINGS;
  for await (const { row, event } of found) {
    const rules = senders.get(row.stream) ?? [];
    const isPartners = (name: string): boolean => known.get(row.stream)?.has(topOf(name)) === false;
    const lack = event && (await lackOf(counted, event, { rules, firings, isPartners }, configuration, ports));
    tally.count(row, lack);
    if (ports.clock.now() >= until) break;
  }
  return tally.sum();
}

async function listed<One>(all: AsyncIterable<One>): Promise<One[]> {
  const list: One[] = [];
  for await (const one of all) list.push(one);
  return list;
}

/** Missing variables of one event's messages. */
type Lack = {
  readonly missing: ReadonlySet<string>;
  /** True if one of the messages cannot be made. */ readonly hasFailed: boolean;
};
type Senders = {
  readonly rules: readonly CompiledRule[];
  readonly firings: Firings;
  /** Returns true if the variable is expected in the partner's answer instead of the event. */
  readonly isPartners: (name: string) => boolean;
};

/** Null: no rule sends the template for this event. */
async function lackOf(
  counted: CountedTemplate,
  event: SourceEvent,
  { rules, firings, isPartners }: Senders,
  configuration: Configuration,
  ports: MissingVariablesPorts,
): Promise<Lack | null> {
  const missing = new Set<string>();
  let sends = false;
  let hasFailed = false;
  for (const rule of rules) {
    const firing = rule.memory === null ? await firingOf(rule, event, ports.slice) : firings.get(rule)?.get(event.id);
    if (firing === undefined) continue;
    const values = { ...causeOfEvent(event, rule.placed, firing.when), variables: firing.variables };
    for (const sending of sendings(rule.placed, counted)) {
      sends = true;
      const names = await lackedBy({ ...counted, ...sending }, values, configuration, ports);
      hasFailed ||= names === null;
      for (const name of names ?? []) {
        if (rule.from !== 'lookup' || !isPartners(sending.as === 'digest' ? ofItem(name) : name)) missing.add(name);
      }
    }
  }
  return sends ? { missing, hasFailed } : null;
}

/** Channel of a template, and whether it is sent as a message or a digest. */
type Sending = { readonly channel: ChannelName; readonly as: 'message' | 'digest' };

function sendings(
  { notification: { body } }: PlacedRule,
  { template, channels }: Omit<CountedTemplate, 'workspace'>,
): readonly Sending[] {
  // Messages that are always collected are never sent alone.
  const isAlone = digestSettings(body)?.when !== 'always';
  return channelsOf(body).flatMap(([channel, said]): Sending[] => {
    if (!channels.includes(channel)) return [];
    return [
      ...(isAlone && said.template === template ? [{ channel, as: 'message' } as const] : []),
      ...(digestTemplateOf(body, channel) === template ? [{ channel, as: 'digest' } as const] : []),
    ];
  });
}

/** `price` of `items[].price`: what an item lacks, as its event names it. */
const ofItem = (name: string): string => name.replace(/^items\[\]\./, '');

/** Rules that send the template, by their stream, also those that are switched off: they are to send it one day. */
function sendersOf(
  counted: CountedTemplate,
  configuration: Configuration,
  book: RuleBook,
): ReadonlyMap<string, readonly CompiledRule[]> {
  const senders = new Map<string, readonly CompiledRule[]>();
  for (const stream of streamTable(configuration).streams.keys()) {
    const rules = book.rulesOf(configuration, stream).flatMap((entry) => {
      const isOne =
        entry.ok && entry.placed.workspace === counted.workspace && sendings(entry.placed, counted).length > 0;
      return isOne ? [{ ...entry.rule, placed: { ...entry.placed, enabled: true } }] : [];
    });
    if (rules.length > 0) senders.set(stream, rules);
  }
  return senders;
}

/**
 * Returns the first names of the fields seen in past events, for each stream with a rule that asks a partner. A
 * variable with another first name must come from the partner's answer.
 */
async function fieldsBeforePartners(
  senders: ReadonlyMap<string, readonly CompiledRule[]>,
  { readModels }: Pick<MissingVariablesPorts, 'readModels'>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const known = new Map<string, ReadonlySet<string>>();
  for (const [stream, rules] of senders) {
    if (rules.every((rule) => rule.from !== 'lookup')) continue;
    const fields = mergeFields(await readModels.fields(stream));
    known.set(stream, new Set(fields.map(({ path }) => topOf(path))));
  }
  return known;
}

const topOf = (path: string): string => /^[^.[]*/.exec(path)?.[0] ?? path;

/** A rule that fires, with the variables of its first recipient. */
type Firing = { readonly variables: JsonObject; readonly when: FiringTime };

/** Undefined: the rule notifies nobody. */
function firingBy(outcome: RuleOutcome, when: FiringTime): Firing | undefined {
  if (outcome.kind === 'asks') return outcome.userIds.length > 0 ? { variables: {}, when } : undefined;
  const first = outcome.kind === 'fired' ? outcome.recipients[0] : undefined;
  return first && { variables: first.variables, when };
}

const firingOf = async (rule: CompiledRule, event: SourceEvent, slice: EventLoopSlice): Promise<Firing | undefined> =>
  firingBy(
    await runYielding(
      evaluateRuleCoroutine(rule, event, () => 'trg_missing'),
      slice,
    ),
    AT_EVENT,
  );

/** How rules with state fire, by the event from which each message is made. */
type Firings = ReadonlyMap<CompiledRule, ReadonlyMap<EventId, Firing>>;
const NO_FIRINGS: Firings = new Map();
const derive: DeriveId = (kind, ...parts) => [kind, ...parts].join('_');

async function rehearsedFirings(
  senders: ReadonlyMap<string, readonly CompiledRule[]>,
  newest: readonly FoundEvent[],
  slice: EventLoopSlice,
): Promise<Firings> {
  const all = new Map<CompiledRule, ReadonlyMap<EventId, Firing>>();
  for (const [stream, rules] of senders) {
    const events = newest.flatMap(({ row, event }) => (row.stream === stream && event ? [event] : [])).toReversed();
    const until = (events.at(-1)?.appendedAt ?? 0) + LONGEST_WAIT;
    for (const rule of rules.filter(({ memory }) => memory !== null)) {
      const entry = { ok: true, placed: rule.placed, rule } as const;
      const own = new Map<EventId, Firing>();
      for (const { event, outcome, deadline, totals } of await runYielding(
        rehearse({ entry, events, until }, derive),
        slice,
      )) {
        const fired = firingBy(outcome, { deadline, totals: hasTotals(rule) ? totals : null });
        if (fired) own.set(event.id, fired);
      }
      all.set(rule, own);
    }
  }
  return all;
}

const EVERY_NAME: TemplateNames = { names: [], all: true };

/** Names that rendering looks for in vain; null: no message can be made. */
async function lackedBy(
  { workspace, template, channel, as }: Omit<CountedTemplate, 'channels'> & Sending,
  values: Cause & { readonly variables: JsonObject },
  configuration: Configuration,
  { book, templates }: Pick<MissingVariablesPorts, 'book' | 'templates'>,
): Promise<readonly string[] | null> {
  const { names } = book.template(configuration, workspace, template, channel);
  const { body, variables } = values;
  const context =
    as === 'digest'
      ? digestValues([{ causedAt: values.causedAt, variables: templateContext(body, variables, EVERY_NAME, values) }])
      : templateContext(body, variables, names, values);
  const found = templateForReader(configuration, workspace, template, channel, context);
  if (!found?.chosen || found.chosen.fault !== null) return null;
  // A strict one would stop at the first that is missing.
  const loose = { ...found.chosen.template, strict: false };
  const rendered = await templates.render(
    `${found.chosen.key} counted`,
    loose,
    { ...context, ...KEPT_BACK },
    found.locality,
  );
  return rendered.ok ? rendered.missing : null;
}

class Tally {
  #events = 0;
  #since: Instant | null = null;
  #sending = 0;
  #failed = 0;
  readonly #variables = new Map<string, MissingVariable>();

  /** Newer events come first. */
  count({ id: eventId, at }: Pick<EventRow, 'id' | 'at'>, lack: Lack | null): void {
    this.#events += 1;
    this.#since = at;
    if (lack === null) return;
    this.#sending += 1;
    if (lack.hasFailed) this.#failed += 1;
    for (const variable of lack.missing) {
      const before = this.#variables.get(variable) ?? { variable, missing: 0, eventId };
      this.#variables.set(variable, { ...before, missing: before.missing + 1 });
    }
  }

  sum(): MissingVariables {
    const byCount = (a: MissingVariable, b: MissingVariable): number =>
      b.missing - a.missing || (a.variable < b.variable ? -1 : 1);
    return {
      events: this.#events,
      since: this.#since,
      sending: this.#sending,
      failed: this.#failed,
      variables: [...this.#variables.values()].toSorted(byCount),
    };
  }
}
