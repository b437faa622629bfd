import { createExpressionLanguage } from '@carillon/adapter-cel';
import type { PlacedRule } from '@carillon/domain/configuration';
import { personName } from '@carillon/domain/consent';
import type { Delivery } from '@carillon/domain/deliveries';
import { compileRule } from '@carillon/domain/rules';
import { createRecordCodecs } from '@carillon/contracts';
import { stringifyJson, type Duration, type Instant, type Json, type LogId } from '@carillon/kernel';
import type { RecordCodecs, SuppressionList, TemplateRenderer } from '@carillon/ports';
import type { CompileRule } from '@carillon/stages';
import { givenIds } from '@carillon/testing/given';
import {
  createMemoryCheckpoints,
  createMemoryClaims,
  createMemoryCohorts,
  createMemoryLeases,
  createMemoryLedger,
  createMemoryLog,
  createMemoryPartner,
  createMemoryProvider,
  createMemoryRuleStates,
  createMemoryStores,
  createMemorySuppressions,
  createMemoryTasks,
  type Received,
  type Wire,
} from '@carillon/testing/memory';
import { createNetwork, type Rates } from './faults.ts';
import { describeFinding, type Finding } from '../harness/promises.ts';
import { rankOf, type Said } from './said.ts';
import type { Process, Scheduler } from './scheduler.ts';
import { partnerAnswers, providerDecides } from './shop.ts';

export type World = ReturnType<typeof createWorld>;

type Notes = ReturnType<typeof createNotes>;

/** What went wrong in a run, and how often each thing was seen. */
function createNotes(scheduler: Scheduler) {
  const findings: Finding[] = [];
  const seen = new Map<string, number>();
  return {
    findings: findings as readonly Finding[],
    seen: seen as ReadonlyMap<string, number>,
    saw: (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1),
    find: (kind: Finding['kind'], what: string): void => {
      const finding = { kind, what };
      scheduler.note(`BROKEN ${describeFinding(finding)}`);
      findings.push(finding);
    },
  };
}

type Attempts = ReturnType<typeof createAttempts>;

/** What became of attempts, by token. */
function createAttempts() {
  /** Attempts that nobody may be able to tell the end of: a crash cut them off, or a request about them went wrong. */
  const doubtful = new Set<string>();
  /** Attempts without an end in the ledger: the process that holds them. */
  const open = new Map<string, string>();
  return {
    doubtful,
    open,
    /** Tokens of accepted messages, by subject. */
    accepted: new Map<string, string>(),
    /** Attempts that the provider refused for good. */
    refused: new Set<string>(),
    /** Deliveries, by id, that an operator sent again or dismissed while they were in doubt. */
    decided: new Set<string>(),
    /** What a process has under way may come to anything. */
    cutOff: (process: string): void => {
      for (const [token, holder] of open) if (holder === process) doubtful.add(token);
    },
  };
}

type Wishes = ReturnType<typeof createWishes>;

/** What people want no more, and when processes looked whether they still want messages. */
function createWishes(scheduler: Scheduler, { open }: Attempts) {
  /** When people who want nothing more were told that it counts, by address; and all who were to say so at all. */
  const optedOut = new Map<string, Instant>();
  const wished = new Set<string>();
  /** When a process began to look whether somebody still wants messages, by process and person. */
  const checks = new Map<string, Instant[]>();
  /** Since when a number is on the list because its owner wrote STOP, as the process knows that put it there. */
  const stopped = new Map<string, Instant>();
  /** When a process last took a number off the list because its owner wrote START. */
  const started = new Map<string, Instant>();
  const checkOf = (process: string, person: string): string => `${process} ${person}`;

  function beganAfter(toldAt: Instant | undefined, address: string, token: string): boolean {
    const person = personName(address, (...parts) => givenIds.keyed(...parts));
    const begun = checks.get(checkOf(open.get(token) ?? '', person)) ?? [];
    return toldAt !== undefined && begun.length > 0 && begun.every((at) => at > toldAt);
  }

  return {
    optedOut,
    wished,
    checks: (process: string, persons: readonly string[]): void => {
      for (const person of persons) {
        const key = checkOf(process, person);
        checks.set(key, [...(checks.get(key) ?? []), scheduler.now()]);
      }
    },
    /** The list, with an eye on what it holds of STOP. */
    watched: (list: SuppressionList): SuppressionList => ({
      ...list,
      async add(entry) {
        const begun = scheduler.now();
        await list.add(entry);
        if (entry.source !== 'stop' || stopped.has(entry.address)) return;
        // An answer may come so late that somebody else has taken the number off the list since.
        if ((started.get(entry.address) ?? -Infinity) < begun) stopped.set(entry.address, scheduler.now());
      },
      remove(workspace, channel, address, source, notAfter) {
        stopped.delete(address);
        started.set(address, scheduler.now());
        return list.remove(workspace, channel, address, source, notAfter);
      },
    }),
    /** Whether every check that the sender can have sent by began after the person was told that nothing comes any more. */
    isUnwanted: (address: string, token: string): boolean => beganAfter(optedOut.get(address), address, token),
    /** The same of a number that was on the list. */
    isStopped: (address: string, token: string): boolean => beganAfter(stopped.get(address), address, token),
  };
}

type Watch = {
  readonly scheduler: Scheduler;
  readonly notes: Notes;
  readonly attempts: Attempts;
  readonly wishes: Wishes;
};

/** Checks each message that the provider takes against what was promised. `wasDecided`: an operator took the risk of this attempt. */
function watchMessage(
  call: Received,
  { scheduler, notes, attempts, wishes }: Watch,
  wasDecided: (token: string) => boolean,
): void {
  const { message, token, answer, accepted: taken } = call;
  const subject = message.channel === 'email' ? message.subject : message.channel === 'sms' ? message.text : '';
  scheduler.note(
    `· provider ${taken ? 'TAKES' : 'does not take'} "${subject}" to ${message.to}, says ${answer.verdict}`,
  );
  if (answer.verdict === 'ambiguous') attempts.doubtful.add(token);
  if (answer.verdict.startsWith('refused')) attempts.refused.add(token);
  if (!taken) return;
  if (wishes.isUnwanted(message.to, token))
    notes.find('unwanted', `told though he had opted out: "${subject}" to ${message.to}`);
  if (wishes.isStopped(message.to, token))
    notes.find('unwanted', `told though he had written STOP: "${subject}" to ${message.to}`);
  if (attempts.accepted.has(subject) && !wasDecided(token))
    notes.find('twice', `told twice: "${subject}" to ${message.to}`);
  attempts.accepted.set(subject, token);
}

/** Notes what a delivery became, and that it never goes back. */
function watchDelivery(before: Delivery | null, after: Delivery, { notes: { saw, find }, attempts }: Watch): void {
  if (before?.state === 'IN_DOUBT' && after.reason.startsWith('operator_')) attempts.decided.add(after.id);
  if (after.reason.startsWith('operator_') && before?.version !== after.version) saw(after.reason);
  if (before && rankOf(after) < rankOf(before)) find('untrue', `${after.id} was ${before.state} and is ${after.state}`);
  if (before && before.receipts.length < after.receipts.length) saw(`receipt in ${before.state}`);
  if (before && before.state !== after.state) saw(`${before.state} to ${after.state}`);
  if (before && before.intent.id !== after.intent.id) saw('take-over');
  if (before && before.duplicates < after.duplicates) saw('duplicate');
  for (const { token, result } of after.attempts) if (result !== null) attempts.open.delete(token);
}

/**
 * What outlives every process: log, stores, provider and partner, with what customers were told and what may be doubted.
 * `unfenced`: a planted bug, a store that takes whatever is written, however old.
 */
export function createWorld(
  scheduler: Scheduler,
  rates: Rates,
  deadWritesArrive: boolean,
  unfenced: 'checkpoints' | 'cohorts' | undefined,
) {
  const notes = createNotes(scheduler);
  const attempts = createAttempts();
  const wishes = createWishes(scheduler, attempts);
  const watch: Watch = { scheduler, notes, attempts, wishes };
  const { open } = attempts;
  let reports: (call: Received) => void = () => undefined;
  let calm = false;
  /** Names of processes that were told to stop. */
  const stopping = new Set<string>();

  const network = createNetwork(scheduler, rates, deadWritesArrive, (fate, port, { about }, { name }) => {
    notes.saw(fate);
    if (port.startsWith('ruleStates.')) notes.saw(`${port} ${fate}`);
    if (port === 'log.append' && about?.().includes('to ticks/')) notes.saw(`ticks ${fate}`);
    // Who is to stop does not try for ever to write down what became of a call.
    if (stopping.has(name) && port.startsWith('ledger.')) attempts.cutOff(name);
    if (port !== 'ledger.replace' && port !== 'provider.send') return;
    const [, token] = / token (\S+)/.exec(about?.() ?? '') ?? [];
    if (token !== undefined) attempts.doubtful.add(token);
  });
  const log = createMemoryLog({
    logId: LOG_ID,
    partitions: 2,
    now: scheduler.now,
    handedOver: () => scheduler.between(1, 6),
  });
  // One process alone has log and ledger in one file.
  const ledger = createMemoryLedger(
    (before, after) => watchDelivery(before, after, watch),
    deadWritesArrive ? undefined : (records) => void log.append(records),
  );
  /** An operator has decided what became of it while nobody knew: what they risk is theirs. */
  const wasDecided = (token: string): boolean =>
    ledger.all().some(({ id, attempts: made }) => attempts.decided.has(id) && made.some((one) => one.token === token));
  const provider = createMemoryProvider(
    () => providerDecides(scheduler, calm),
    (call) => {
      watchMessage(call, watch, wasDecided);
      if (call.accepted) reports(call);
    },
  );
  const wires = new Map<Process, Wire>();
  function wireOf(process: Process): Wire {
    const wire = wires.get(process) ?? network.wire(process);
    wires.set(process, wire);
    return wire;
  }

  return {
    scheduler,
    network,
    /** The one wire of a process. */
    wireOf,
    ...notes,
    log,
    checkpoints: createMemoryCheckpoints(unfenced !== 'checkpoints'),
    claims: createMemoryClaims(),
    ruleStates: createMemoryRuleStates(() => notes.saw('ruleStates.save refused')),
    leases: createMemoryLeases(),
    suppressions: createMemorySuppressions(),
    stores: createMemoryStores(),
    ledger,
    tasks: createMemoryTasks(),
    cohorts: createMemoryCohorts(unfenced !== 'cohorts'),
    provider,
    partner: createMemoryPartner((userIds, calls) => partnerAnswers(userIds, calls, scheduler, calm)),
    accepted: attempts.accepted as ReadonlyMap<string, string>,
    doubtful: attempts.doubtful as ReadonlySet<string>,
    refused: attempts.refused as ReadonlySet<string>,
    decided: attempts.decided as ReadonlySet<string>,
    cutOff: attempts.cutOff,
    /** What the provider said afterwards and got its answer for, by id of the receipt. */
    reported: new Map<string, Said>(),
    /** From here on this is told of each message that the provider takes. */
    afterTaking: (told: (call: Received) => void): void => void (reports = told),
    isCalm: (): boolean => calm,
    optedOut: wishes.optedOut,
    wished: wishes.wished,
    watched: wishes.watched,
    checks: wishes.checks,
    /** What was written to our number and got its answer, by id of the receipt. */
    written: new Set<string>(),
    /** This process gave a token to an attempt. */
    gave: (process: string, token: string): void => void open.set(token, process),
    /** Attempts that this process has under way. */
    calls: (process: string): number => [...open.values()].filter((holder) => holder === process).length,
    /** This process is to end what it has begun, and can no longer take all the time that it wants. */
    stopping: (process: string): void => void stopping.add(process),
    /** Records that nobody can read, by position: somebody outside put them on the log. */
    broken: new Set<string>(),
    /** Ids of the events that got their 202. */
    acknowledged: new Set<string>(),
    /** By event id: the configuration that somebody had been told counts before the event was posted. */
    judgedFrom: new Map<string, number>(),
    calmDown: (): void => void (calm = true),
    /** From now on this port cannot be reached for a while. */
    isAway(port: string, span: Duration): void {
      scheduler.note(`· ${port} is AWAY for ${span} ms`);
      network.away.set(port, scheduler.now() + span);
      notes.saw('outage');
    },
  };
}

export const START: Instant = Date.UTC(2026, 0, 31, 8);
const LOG_ID = 'log_00000000000000000000000001' as LogId;

/** What is the same for all seeds and costs time to make: none of it has a state that anybody could see. */
export type Shared = {
  readonly codecs: RecordCodecs;
  readonly compile: CompileRule;
  readonly templates: TemplateRenderer;
  readonly ids: typeof givenIds;
};

export async function openShared(): Promise<Shared> {
  let schemas = 0;
  const registry = { register: async () => (schemas += 1), schema: async () => null };
  const language = createExpressionLanguage();
  const compiled = new Map<string, ReturnType<CompileRule>>();
  return {
    codecs: await createRecordCodecs(registry, () => START),
    templates: createTemplates(),
    ids: givenIds,
    compile(placed: PlacedRule) {
      const key = stringifyJson([placed.name, placed.stream, placed.body]);
      const known = compiled.get(key) ?? compileRule(placed, language);
      compiled.set(key, known);
      return known;
    },
  };
}

const shown = (value: Json): string => (typeof value === 'string' ? value : stringifyJson(value));
const NAME = /\{\{ *(\w+) *\}\}/g;

/** Names in double braces, and nothing else: what templates can do has tests of its own, in threads of its own. */
function createTemplates(): TemplateRenderer {
  return {
    piece: () => [],
    check: () => [],
    warnings: () => [],
    fields: () => [],
    names: ({ parts }) => ({
      names: Object.values(parts).flatMap((source) => [...source.matchAll(NAME)].map(([, name]) => name ?? '')),
      all: false,
    }),
    render: async (_key, template, context) => {
      const filled = Object.entries(template.parts).map(([part, source]) => [
        part,
        source.replaceAll(NAME, (_, name: string) => shown(context[name] ?? null)),
      ]);
      return { ok: true, parts: Object.fromEntries(filled) as Record<string, string>, missing: [] };
    },
    close: async () => undefined,
  };
}
