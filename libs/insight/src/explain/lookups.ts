import type { Configuration } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import { readPosition } from '@carillon/domain/events';
import type { CallEvidence, Lookup, LookupItem, Trigger } from '@carillon/domain/lookups';
import { whoIsDropped, type Dropped } from '@carillon/domain/rules';
import { formatInstant, type Json, type TriggerId } from '@carillon/kernel';
import type { DueTask, DueTasks, EventLog, Ids, LookupClaims, RecordCodecs, EventLoopSlice } from '@carillon/ports';
import { readAsking, type RuleBook, runYielding, resolveLookupCoroutine } from '@carillon/stages';
import { namedPeople, type NamedPerson } from './people.ts';
import { letterAt, letterSteps, type LetterPorts } from './letters.ts';
import { inOrder, step, type TraceStep } from './steps.ts';

export type LookupTracePorts = LetterPorts & {
  readonly log: EventLog;
  readonly tasks: Pick<DueTasks, 'get'>;
  readonly claims: Pick<LookupClaims, 'get'>;
  readonly codecs: Pick<RecordCodecs, 'lookup'>;
  readonly ids: Ids;
  readonly book: RuleBook;
  readonly slice: EventLoopSlice;
};

/** Explains a trigger: every call with its evidence, the answer that counts, and the resulting recipients. */
export async function traceTrigger(
  trigger: Trigger,
  configuration: Configuration,
  ports: LookupTracePorts,
): Promise<{
  readonly steps: readonly TraceStep[];
  readonly intents: readonly Intent[];
  readonly people: readonly NamedPerson[];
}> {
  const { integration, part, parts, userIds, id, causedAt, rule, ruleVersion, configNumber } = trigger;
  const share = parts > 1 ? `part ${part + 1} of ${parts}: ` : '';
  const text = `${share}asks ${integration} about ${userIds.length} user ${userIds.length === 1 ? 'id' : 'ids'}`;
  const steps = [step('trigger', causedAt, text, { id, rule, ruleVersion, configNumber })];
  steps.push(...(await callSteps(id, ports)));
  const answer = await readAnswer(id, ports);
  if (!answer) return { steps, intents: [], people: [] };
  const work = resolveLookupCoroutine(answer.lookup, configuration, ports.book, ports.ids.derive);
  const resolved = await runYielding(work, ports.slice);
  steps.push(answerStep(answer.lookup, answer.position, resolved.ok ? resolved.value.dropped : []));
  steps.push(...answer.superseded.map(supersededStep));
  const position = readPosition(answer.position);
  if (position) steps.push(...(await letterSteps(letterAt('resolve', 'carillon.lookups', position, ports), ports)));
  if (!resolved.ok) steps.push(step('dead_letter', null, resolved.error, { id, reason: 'rule_gone' }));
  if (!resolved.ok) return { steps, intents: [], people: [] };
  const { items } = answer.lookup;
  const itemAt = (index: number): Json | undefined => itemOfAnswer(items[index]);
  return {
    steps,
    intents: resolved.value.intents,
    people: namedPeople({ ...resolved.value, rule, itemAt }, ports.ids),
  };
}

/** Returns an item of a partner's answer as the rule sees it. */
export const itemOfAnswer = (item: LookupItem | undefined): Json | undefined =>
  item && { user_id: item.userId, to: { ...item.to }, variables: item.variables };

/** Returns the calls and the answer behind a delivery. Empty if the event itself named the recipient. */
export async function traceAnswer(triggerId: TriggerId, ports: LookupTracePorts): Promise<readonly TraceStep[]> {
  const answer = await readAnswer(triggerId, ports);
  if (!answer) return [];
  const calls = await callSteps(triggerId, ports);
  return [...calls, answerStep(answer.lookup, answer.position, []), ...answer.superseded.map(supersededStep)];
}

async function callSteps(id: TriggerId, ports: LookupTracePorts): Promise<readonly TraceStep[]> {
  const task = await ports.tasks.get(id);
  if (!task) return [step('lookup', null, 'not in custody yet, or removed by retention', { id })];
  const { evidence, verdict, ended, letters = [] } = readAsking(task);
  const redriven = await Promise.all(letters.map((letter) => letterSteps(letter, ports)));
  const calls = inOrder([...evidence.map(callStep), ...redriven.flat()]);
  if (verdict) {
    const text = `${verdict.kind === 'answered' ? 'answered' : 'given up'}; about to be recorded`;
    return [...calls, step('lookup', null, text, { id, state: 'waiting' })];
  }
  if (!task.done) return [...calls, waitingStep(task)];
  if (ended?.kind !== 'parked') return calls;
  const text = `given up, no answer: ${ended.reason}; ask again with: npx carillon dead-letters redrive ${ended.deadLetterId ?? ''}`;
  return [...calls, step('dead_letter', task.nextAt, text, { id: ended.deadLetterId, reason: 'parked' })];
}

function callStep({ at, callId, outcome, status, detail, took, sharedBy }: CallEvidence): TraceStep {
  const shared = sharedBy > 1 ? `, shared by ${sharedBy} triggers` : '';
  const text = `call to the partner: ${outcome}${status === null ? '' : ` ${status}`}, ${detail} (${took} ms${shared})`;
  return step('lookup', at, text, { id: callId, state: outcome, reason: status === null ? null : String(status) });
}

function waitingStep({ id, nextAt, deadline }: DueTask): TraceStep {
  const until = deadline === null ? '' : `, given up at ${formatInstant(deadline)}`;
  return step('lookup', null, `waits for the partner; next call at ${formatInstant(nextAt)}${until}`, {
    id,
    state: 'waiting',
  });
}

function answerStep(
  { callId, answeredAt, items, problems, problemCounts }: Lookup,
  position: string,
  dropped: readonly Dropped[],
): TraceStep {
  const counted = Object.entries(problemCounts).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`);
  const text = `answer recorded: ${items.length} ${items.length === 1 ? 'person' : 'people'}${counted.map((problem) => `, ${problem}`).join('')}`;
  const lines = [
    ...problems.map(({ kind, index, userId, detail }) => {
      const which = [...(index === null ? [] : [`item ${index}`]), ...(userId === null ? [] : [`user id ${userId}`])];
      return `${kind}: ${which.join(', ')}${which.length > 0 ? ': ' : ''}${detail}`;
    }),
    ...dropped.map((drop) => `${whoIsDropped('person', drop)} dropped: ${drop.reason} (${drop.detail})`),
  ];
  return step('lookup', answeredAt, text, { id: callId, position, state: 'recorded', lines });
}

const supersededStep = (position: string): TraceStep =>
  step('lookup', null, 'a later answer to the same question; it is not used', {
    position,
    state: 'superseded',
    reason: 'superseded',
  });

type CountingAnswer = { readonly lookup: Lookup; readonly position: string; readonly superseded: readonly string[] };

/** Reads the answer that counts for a trigger. Null if there is none or retention removed it. */
export async function readAnswer(
  triggerId: TriggerId,
  { claims, log, codecs }: Pick<LookupTracePorts, 'claims' | 'codecs' | 'log'>,
): Promise<CountingAnswer | null> {
  const claim = await claims.get(triggerId);
  const position = claim && readPosition(claim.position);
  if (!claim || position?.topic !== 'carillon.lookups') return null;
  const [record] = await log.read(position.topic, position.partition, position.offset, 1);
  const read = record?.offset === position.offset ? codecs.lookup.decode(record.value) : undefined;
  return read?.ok ? { lookup: read.value, ...claim } : null;
}
