import { readPosition, type SourceEvent } from '@carillon/domain/events';
import { notificationIdOf, ruleIdOf, foldConfiguration } from '@carillon/domain/configuration';
import { isWantedBy, slotToLookUp, type Row, type CompareRun, type Side } from '@carillon/domain/runs';
import type { Coroutine, DeliveryId, JobId } from '@carillon/kernel';
import {
  decodeRecord,
  deliveryIdOf,
  isFirstAnswer,
  isRuleOfRow,
  narrowRuleBook,
  readSourceRecord,
  recordedAnswerOf,
  rowFiringsCoroutine,
  runYielding,
  sideFiringCoroutine,
  statefulRules,
  wantedMessagesCoroutine,
  type CompareContext,
  type ComparedConfigurations,
  type FindAnswer,
  type RecordedAnswer,
  type Wanted,
} from '@carillon/stages';
import type { RoutePorts } from '../ports.ts';
import { askedPartsOf } from './questions.ts';
import { askingJobs } from './sending-jobs.ts';

export type RowDetailPorts = Pick<
  RoutePorts,
  'book' | 'claims' | 'codecs' | 'configuration' | 'ids' | 'jobs' | 'log' | 'slice' | 'tasks'
> & { readonly runs: Pick<RoutePorts['runs'], 'edit'> };

export type RunConfigurationPorts = Pick<RowDetailPorts, 'configuration' | 'runs'>;

/** The recipient of a row. Person and addresses are null if the event is no longer stored. */
export type RowDetails = { readonly person: string | null } & { readonly [Name in Side]: string | null };

const NOBODY: RowDetails = { person: null, before: null, after: null };

type BySlot = ReadonlyMap<DeliveryId, Wanted>;
/** The event of a row, and the message that each side wants in the row's slot. */
export type RowMessages = {
  readonly event: SourceEvent;
  /** Inputs of the event's evaluation. */
  readonly context: CompareContext;
} & { readonly [Name in Side]: Wanted | undefined };

type EventMessages = Pick<RowMessages, 'event' | 'context'> & { readonly [Name in Side]: BySlot };

/**
 * Returns a function that evaluates the event of a row again, because a result holds no names and no addresses. It resolves to null if
 * the event is gone. It keeps the messages of the last event, so that consecutive rows of an event evaluate the event once.
 */
export async function createRowReader(
  run: CompareRun,
  ports: RowDetailPorts,
): Promise<(row: Row) => Promise<RowMessages | null>> {
  const configurations = await configurationsOf(run, ports);
  const askedBy = await askingJobs(run.workspace, ports);
  const compared = new Set(run.notifications);
  const book = narrowRuleBook(
    ports.book,
    ({ workspace, notification }) => workspace === run.workspace && compared.has(notification.ref.name),
  );

  async function messagesOf(row: Row): Promise<EventMessages | null> {
    const event = await readEventAt(row.position, ports);
    if (event?.id !== row.eventId) return null;
    const findAnswer = await readAnswers(event, { configurations, book, askedBy }, ports);
    const context = { configurations, book, ids: ports.ids, findAnswer };
    const side = (name: Side) => runYielding(messagesBySlotCoroutine(event, name, row, context), ports.slice);
    return { event, context, before: await side('before'), after: await side('after') };
  }

  // A rule with state fires for an event at several times, so each of its rows counts by itself.
  const keeping = statefulRules(configurations, book);
  let last: { readonly key: string; readonly messages: EventMessages | null } | null = null;
  return async (row) => {
    const key = keeping.has(row.ruleId) ? row.slot : `${row.position} ${row.eventId}`;
    if (last?.key !== key) last = { key, messages: await messagesOf(row) };
    const { messages } = last;
    if (!messages) return null;
    return { ...messages, before: messages.before.get(slotToLookUp(row)), after: messages.after.get(row.slot) };
  };
}

/** Returns a function that names the person and the addresses of a row. */
export async function createRowDetails(
  run: CompareRun,
  ports: RowDetailPorts,
): Promise<(row: Row) => Promise<RowDetails>> {
  const read = await createRowReader(run, ports);
  return async (row) => detailsOf(await read(row));
}

export function detailsOf(messages: RowMessages | null): RowDetails {
  if (!messages) return NOBODY;
  const { before, after } = messages;
  return { person: (after ?? before)?.person ?? null, before: before?.to ?? null, after: after?.to ?? null };
}

/** Returns the first message of each slot. A pause is offered between messages. */
function* messagesBySlotCoroutine(
  event: SourceEvent,
  side: Side,
  row: Row,
  context: CompareContext,
): Coroutine<BySlot> {
  const bySlot = new Map<DeliveryId, Wanted>();
  for (const message of yield* rowMessagesCoroutine(event, side, row, context)) {
    const { placed, channel, uniqueId } = message;
    const notificationId = notificationIdOf(placed.notification);
    const slot = deliveryIdOf(
      { slot: { workspace: placed.workspace, notificationId, channel, uniqueId } },
      context.ids,
    );
    if (!bySlot.has(slot)) bySlot.set(slot, message);
    yield;
  }
  return bySlot;
}

/** Returns the messages of an event on one side. A rule with state has them only if the row says that the side wants them. */
function* rowMessagesCoroutine(
  event: SourceEvent,
  side: Side,
  row: Row,
  context: CompareContext,
): Coroutine<readonly Wanted[]> {
  const others = yield* wantedMessagesCoroutine(event, side, context);
  if (!isWantedBy(side, row)) return others;
  const { at, atBefore = at, totals, totalsBefore = totals } = row;
  const firing = side === 'before' ? { at: atBefore, totals: totalsBefore } : { at, totals };
  return [...(yield* firingMessagesCoroutine(event, side, { ...row, ...firing }, context)), ...others];
}

/** Returns the messages of a row's rule, if the rule keeps state on this side. */
export function* firingMessagesCoroutine(
  event: SourceEvent,
  side: Side,
  row: Pick<Row, 'rule' | 'at'> & { readonly ruleId?: string; readonly totals?: Row['totals'] | undefined },
  context: CompareContext,
): Coroutine<readonly Wanted[]> {
  const { book, configurations, ids } = context;
  const making = { configuration: configurations[side], book, derive: ids.derive, runId: null };
  const wanted: Wanted[] = [];
  const firing = { isMeant: isRuleOfRow(row), at: row.at, totals: row.totals };
  for (const evaluated of (yield* rowFiringsCoroutine(event, firing, making)).meant) {
    wanted.push(...(yield* sideFiringCoroutine(event, evaluated, side, context)).wanted);
  }
  return wanted;
}

/** Reads both configurations of a run. With its edit applied, `after` may be unpublished. */
export async function configurationsOf(
  { id, before, published }: CompareRun,
  { configuration, runs }: RunConfigurationPorts,
): Promise<ComparedConfigurations> {
  const changes = await runs.edit(id);
  const base = await configuration.at(published);
  const after = changes.length > 0 ? foldConfiguration(base, { changes }, base.number + 1).configuration : base;
  return { before: await configuration.at(before), after };
}

/** Reads the event at a position. Returns null if retention removed it, or if the record is no event. */
export async function readEventAt(position: string, { log }: Pick<RowDetailPorts, 'log'>): Promise<SourceEvent | null> {
  const place = readPosition(position);
  if (!place) return null;
  const [record] = await log.read('carillon.events', place.partition, place.offset, 1);
  if (record?.offset !== place.offset) return null;
  const read = readSourceRecord(record, log.logId);
  return read.ok && read.value.kind === 'event' ? read.value.event : null;
}

/** Sources of recorded answers: the live rules of both sides, and the sending jobs `askedBy`. */
export type AnswersOf = Pick<CompareContext, 'configurations' | 'book'> & { readonly askedBy: readonly JobId[] };

/** Reads the recorded partner answers about an event. If a rule and a job asked the same question, the first recorded answer counts. */
export async function readAnswers(
  event: SourceEvent,
  { configurations, book, askedBy }: AnswersOf,
  ports: Pick<RowDetailPorts, 'claims' | 'codecs' | 'ids' | 'log' | 'tasks'>,
): Promise<FindAnswer> {
  const answers = new Map<string, RecordedAnswer>();
  const rules = Object.values(configurations).flatMap((side) => book.rulesOf(side, event.stream));
  const asking = rules.flatMap((entry) => (entry.ok && entry.rule.from === 'lookup' ? [ruleIdOf(entry.placed)] : []));
  for (const ruleId of new Set(asking)) {
    for (const asker of [null, ...askedBy]) {
      for (const { part, position } of await askedPartsOf({ ruleId, eventId: event.id, askedBy: asker }, ports)) {
        const answer = position === null ? null : await readAnswerAt(position, ports);
        const known = answers.get(`${ruleId} ${part}`);
        if (answer && (!known || isFirstAnswer(answer, known))) answers.set(`${ruleId} ${part}`, answer);
      }
    }
  }
  return (ruleId, _event, part) => answers.get(`${ruleId} ${part}`);
}

/** Reads a recorded answer. Returns null if retention removed it, or if this release cannot read it. */
async function readAnswerAt(
  position: string,
  { codecs, log }: Pick<RowDetailPorts, 'codecs' | 'log'>,
): Promise<RecordedAnswer | null> {
  const place = readPosition(position);
  if (!place) return null;
  const [record] = await log.read('carillon.lookups', place.partition, place.offset, 1);
  const decoded = record?.offset === place.offset ? await decodeRecord(codecs.lookup, record.value) : null;
  return record && decoded?.ok ? recordedAnswerOf(decoded.value, record.time) : null;
}
