import type {
  BounceMail,
  CheckpointStore,
  CohortStore,
  ConsentStore,
  DeliveryLedger,
  DigestHeads,
  DueTasks,
  ErasureSteps,
  EventLog,
  KeyUseStore,
  LeaseStore,
  LimitStore,
  LookupClaims,
  NewRecord,
  PartnerLookup,
  ReadModels,
  ReceiptReaders,
  RuleStateStore,
  SecretStore,
  SenderFactory,
  SuppressionList,
} from '@carillon/ports';
import type { Stores } from '@carillon/stores';
import type { Failpoints } from './failpoints.ts';
import { erasurePlace } from './places.ts';

/**
 * Every step of the flow that lasts goes through a port, so the places to fail stand around the ports, and no stage knows
 * of them. A place is `<what>.<operation>.before` or `.after`; failing after an operation with `throw` is an answer that
 * was lost. The table of places is test/chaos/failpoints/README.md.
 */
export function withFailpoints<
  Ports extends Stores & { readonly log: EventLog; readonly erasure?: ErasureSteps | undefined },
>(ports: Ports, points: Failpoints): Ports {
  return {
    ...ports,
    ...(ports.erasure && { erasure: withErasureFailpoints(ports.erasure, points) }),
    erasures: over(ports.erasures, {
      insert: (erasure) => between(points, ['erasure.start'], () => ports.erasures.insert(erasure)),
      replace: (next) => between(points, ['erasure.end'], () => ports.erasures.replace(next)),
    }),
    log: fallibleLog(ports.log, points),
    checkpoints: fallibleCheckpoints(ports.checkpoints, points),
    ruleStates: fallibleRuleStates(ports.ruleStates, points),
    ledger: fallibleLedger(ports.ledger, points),
    tasks: fallibleTasks(ports.tasks, points),
    claims: fallibleClaims(ports.claims, points),
    cohorts: fallibleCohorts(ports.cohorts, points),
    readModels: fallibleReadModels(ports.readModels, points),
    suppressions: fallibleSuppressions(ports.suppressions, points),
    consents: fallibleConsents(ports.consents, points),
    secretStore: fallibleSecretStore(ports.secretStore, points),
    leases: fallibleLeases(ports.leases, points),
    keyUses: fallibleKeyUses(ports.keyUses, points),
    limits: fallibleLimits(ports.limits, points),
    digestHeads: fallibleDigestHeads(ports.digestHeads, points),
    jobs: over(ports.jobs, { replace: (next) => between(points, ['job.replace'], () => ports.jobs.replace(next)) }),
  };
}

/** Runs one operation between its two places. Several names are reached one after the other. */
async function between<T>(points: Failpoints, names: readonly string[], work: () => Promise<T>): Promise<T> {
  for (const name of names) await points.hit(`${name}.before`);
  const done = await work();
  for (const name of names) await points.hit(`${name}.after`);
  return done;
}

/** The port with these methods in place of its own. The others are called on the original: it may have private parts. */
const over = <Port extends object>(port: Port, methods: Partial<Port>): Port =>
  new Proxy(port, {
    get(original, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name) as unknown;
      const own: unknown = Reflect.get(original, name, original);
      return typeof own === 'function' ? (own.bind(original) as unknown) : own;
    },
  });

/** Wraps the steps of an erasure. The entries of each store are a step of their own. */
export function withErasureFailpoints(steps: ErasureSteps, points: Failpoints): ErasureSteps {
  return {
    ...steps,
    pauseConsumers: () => between(points, ['erasure.pause'], () => steps.pauseConsumers()),
    eraseRecords: (...given) => between(points, ['erasure.log-records'], () => steps.eraseRecords(...given)),
    async *entries(...given) {
      for await (const entries of steps.entries(...given)) {
        yield entries.map((entry) => ({
          ...entry,
          erase: () => between(points, [erasurePlace(entry.place)], () => entry.erase()),
        }));
      }
    },
    finish: () => between(points, ['erasure.finish'], () => steps.finish()),
  };
}

/** An append fails at a place for each topic of its records, and at one of its own for ticks. */
function fallibleLog(log: EventLog, points: Failpoints): EventLog {
  return over(log, {
    append(records) {
      const names = [...new Set(records.map(appendPlaceOf))];
      return between(points, names, () => log.append(records));
    },
  });
}

const appendPlaceOf = ({ topic, headers }: NewRecord): string =>
  headers?.['kind'] === 'tick' ? 'ticks.append' : `${topic.replace('carillon.', '')}.append`;

/** A look for waits that are due can fail too: a wait must not be passed over. */
function fallibleRuleStates(ruleStates: RuleStateStore, points: Failpoints): RuleStateStore {
  return over(ruleStates, {
    save: (states) => between(points, ['rule-states.save'], () => ruleStates.save(states)),
    due: (...asked) => between(points, ['rule-states.due'], () => ruleStates.due(...asked)),
  });
}

function fallibleCheckpoints(checkpoints: CheckpointStore, points: Failpoints): CheckpointStore {
  return over(checkpoints, {
    save: (checkpoint) => between(points, [`${checkpoint.group}.checkpoint`], () => checkpoints.save(checkpoint)),
  });
}

/** A move of a delivery is named after the state that it moves to, `delivery.sending.before`; a longer lease is none. */
const placeOf = ({ state, attempts, updatedAt }: Parameters<DeliveryLedger['replace']>[0]): string =>
  state === 'SENDING' && (attempts.at(-1)?.startedAt ?? updatedAt) < updatedAt
    ? 'delivery.renewal'
    : `delivery.${state.toLowerCase().replace('_', '-')}`;

function fallibleLedger(ledger: DeliveryLedger, points: Failpoints): DeliveryLedger {
  return over(ledger, {
    insert(deliveries) {
      const isDigest = deliveries.some(({ intent }) => intent.digest !== undefined);
      return between(points, [isDigest ? 'digest.insert' : 'delivery.insert'], () => ledger.insert(deliveries));
    },
    replace: (next, how) => between(points, [placeOf(next)], () => ledger.replace(next, how)),
  });
}

function fallibleTasks(tasks: DueTasks, points: Failpoints): DueTasks {
  return over(tasks, {
    insert: (given) => between(points, ['task.insert'], () => tasks.insert(given)),
    replace: (expected, next) =>
      between(points, [next.done ? 'task.finish' : 'task.replace'], () => tasks.replace(expected, next)),
  });
}

function fallibleClaims(claims: LookupClaims, points: Failpoints): LookupClaims {
  return over(claims, { claim: (given) => between(points, ['lookup.claim'], () => claims.claim(given)) });
}

function fallibleCohorts(cohorts: CohortStore, points: Failpoints): CohortStore {
  return over(cohorts, {
    save: (cohort) => between(points, ['cohort.save'], () => cohorts.save(cohort)),
    saveMembers: (ref, members) => between(points, ['cohort.members'], () => cohorts.saveMembers(ref, members)),
  });
}

/** Around a call of a partner: what fails `after` it fails between the answer and our record of it. */
export const withAskingFailpoints = (partners: PartnerLookup, points: Failpoints): PartnerLookup =>
  over(partners, { ask: (call) => between(points, ['partner.call'], () => partners.ask(call)) });

function fallibleReadModels(readModels: ReadModels, points: Failpoints): ReadModels {
  return over(readModels, {
    put: (rows) => between(points, ['projection.put'], () => readModels.put(rows)),
    markRedriven: (id, at, by) => between(points, ['dead-letter.redrive'], () => readModels.markRedriven(id, at, by)),
  });
}

/** A look at the list can fail too: an address that could not be looked up must not count as allowed. */
function fallibleSuppressions(list: SuppressionList, points: Failpoints): SuppressionList {
  return over(list, {
    find: (...address) => between(points, ['suppression.find'], () => list.find(...address)),
    add: (suppression) => between(points, ['suppression.add'], () => list.add(suppression)),
    addAll: (suppressions) => between(points, ['suppression.add'], () => list.addAll(suppressions)),
    sources: (...address) => between(points, ['suppression.find'], () => list.sources(...address)),
    remove: (...address) => between(points, ['suppression.remove'], () => list.remove(...address)),
  });
}

/** A person whose wishes could not be looked up must not count as somebody who wants everything. */
function fallibleConsents(consents: ConsentStore, points: Failpoints): ConsentStore {
  return over(consents, {
    find: (...asked) => between(points, ['consent.find'], () => consents.find(...asked)),
    findHashed: (...asked) => between(points, ['consent.find'], () => consents.findHashed(...asked)),
    replace: (next) => between(points, ['consent.write'], () => consents.replace(next)),
  });
}

/** Taking and renewing are one operation. */
function fallibleLeases(leases: LeaseStore, points: Failpoints): LeaseStore {
  return over(leases, {
    acquire: (...wish) => between(points, ['lease.acquire'], () => leases.acquire(...wish)),
  });
}

function fallibleSecretStore(store: SecretStore, points: Failpoints): SecretStore {
  return over(store, {
    putSecret: (...given) => between(points, ['secret.put'], () => store.putSecret(...given)),
    removeSecret: (...named) => between(points, ['secret.remove'], () => store.removeSecret(...named)),
  });
}

function fallibleKeyUses(keyUses: KeyUseStore, points: Failpoints): KeyUseStore {
  return over(keyUses, { record: (uses) => between(points, ['key-use.record'], () => keyUses.record(uses)) });
}

/** Who takes a place writes a token that was not there; whoever else writes gives places back, or says what became of them. */
function fallibleLimits(limits: LimitStore, points: Failpoints): LimitStore {
  const seen = new Set<string>();
  return over(limits, {
    replace(next, before) {
      const isNew = next.entries.some(({ token }) => !seen.has(token));
      for (const { token } of next.entries) seen.add(token);
      return between(points, [isNew ? 'limit.take' : 'limit.give-back'], () => limits.replace(next, before));
    },
  });
}

function fallibleDigestHeads(heads: DigestHeads, points: Failpoints): DigestHeads {
  return over(heads, {
    replace(next) {
      const place = next.closing ? 'digest.close' : next.items.length > 0 ? 'digest.list' : 'digest.empty';
      return between(points, [place], () => heads.replace(next));
    },
  });
}

/** Around a call of a provider: what fails `after` it fails between its answer and our record of it. */
export const withSendingFailpoints = (senders: readonly SenderFactory[], points: Failpoints): SenderFactory[] =>
  senders.map((factory) =>
    over(factory, {
      create: (...given) => {
        const sender = factory.create(...given);
        return over(sender, {
          send: (message, context) => between(points, ['provider.send'], () => sender.send(message, context)),
        });
      },
    }),
  );

/** Around the proof of what a provider reports: what fails `after` it fails with a proved report in hand. */
export const withReceiptFailpoints = (receipts: ReceiptReaders, points: Failpoints): ReceiptReaders =>
  over(receipts, { read: (...given) => between(points, ['receipt.read'], () => receipts.read(...given)) });

/** Around what is done with a mail that came back: what fails `after` it fails between the append and the answer to the mail. */
export const withListenerFailpoints = (bounceMail: BounceMail, points: Failpoints): BounceMail =>
  over(bounceMail, {
    listen: (options) =>
      bounceMail.listen({
        ...options,
        take: (reading) => between(points, ['listener.take'], () => options.take(reading)),
      }),
  });
