import { TERMINAL_STATES, type Delivery, type Intent } from '@carillon/domain/deliveries';
import type { DigestHead } from '@carillon/domain/digests';
import { formatPosition } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { RecordCodec } from '@carillon/ports';
import { deliveryIdOf } from '@carillon/stages';
import { createDirectWire } from '@carillon/testing/memory';
import { readEvidenceWith, READERS, type Evidence } from '../harness/evidence.ts';
import { findingsOf, type Finding } from '../harness/promises.ts';
import { judgeFacts } from '../harness/verdict.ts';
import { decodeAll, expectedOf, placeOf, type Expected } from './oracle.ts';
import { findUnheard, findUnheeded, foreignPlaces } from './reports.ts';
import { MAX_ORDERS } from './shop.ts';
import type { Shared, World } from './world.ts';

/** What is not done yet; empty when nothing is left to do. */
export function leftOf({ log, checkpoints, ledger, ruleStates, tasks, stores }: World): readonly string[] {
  const unread = READERS.flatMap(([group, topic]) =>
    Array.from({ length: log.partitions(topic) }, (_, partition) => {
      const { end } = log.bounds(topic, partition);
      const next = checkpoints.get(group, topic, partition)?.next ?? 0;
      return next === end ? '' : `${group} has read ${topic}/${partition} to ${next} of ${end}`;
    }).filter((one) => one !== ''),
  );
  const open = ledger
    .all()
    .filter(({ state }) => !TERMINAL_STATES.has(state) && state !== 'IN_DOUBT')
    .map(({ id, state, reason }) => `${id} is ${state} (${reason})`);
  const untold = ledger
    .all()
    .flatMap(({ id, unpublished }) => unpublished.map((one) => `${id} has not told of ${one.state}`));
  const unasked = tasks.all().flatMap(({ id, done }) => (done ? [] : [`${id} is not done`]));
  const heads = stores.items('digest_heads') as readonly DigestHead[];
  const windows = heads
    .filter(({ items, closing }) => items.length > 0 || closing !== null)
    .map(({ id, n }) => `window ${n} of ${id} has not been told of`);
  const waits = ruleStates.all().flatMap(({ id, nextDue }) => (nextDue === null ? [] : [`${id} waits`]));
  return [...unread, ...open, ...untold, ...unasked, ...windows, ...waits];
}

/** Holds what a run left behind against the promises. Called when nothing is left to do. */
export async function judge(world: World, shared: Shared): Promise<readonly Finding[]> {
  const expected = await expectedOf(world, shared);
  const evidence = await evidenceOf(world, shared);
  const { intents, triggers, lookups } = evidence;
  for (let more = expected.firstLookups.size; more < lookups.length; more += 1) world.saw('second lookup record');
  const codecs = shared.codecs;
  return [
    ...judgeFacts({ evidence, acknowledged: [...world.acknowledged], taken: takenOf(world), decided: world.decided }),
    ...findOutdated(world, expected),
    ...findDifferences('intent', intents, expected.intents, codecs.intent),
    ...findDifferences('trigger', triggers, expected.triggers, codecs.trigger),
    ...findingsOf('otherwise', [...lookupsThatDoNotCount(world, expected), ...misjudged(evidence, expected)]),
    ...findingsOf('gap', deadLettersAmiss(world, shared)),
    ...findingsOf('untrue', [
      ...doubtsWithoutCause(world),
      ...endsWithoutCause(world),
      ...outcomesAmiss(evidence, shared),
    ]),
    ...findingsOf('cadence', [...limitsAmiss(world), ...digestsAmiss(world)]),
    ...findingsOf('lost', cohortAmiss(world, expected)),
    ...findingsOf('lost', findUnheard(world, shared)),
    ...findingsOf('unwanted', findUnheeded(world, shared)),
  ];
}

/** Reads log and stores as the crash test reads those of a stopped product. */
function evidenceOf(world: World, { codecs }: Shared): Promise<Evidence> {
  const wire = createDirectWire();
  const { broken, checkpoints, ledger, log, tasks } = world;
  const stores = {
    log: log.connect(wire),
    ledger: ledger.connect(wire),
    checkpoints: checkpoints.connect(wire),
    tasks: tasks.connect(wire),
  };
  return readEvidenceWith(codecs, stores, (record) => !broken.has(placeOf(world, record)));
}

/** The delivery of each message that a provider took, by the token of its attempt. */
function takenOf({ accepted, ledger }: World): readonly string[] {
  const byToken = new Map(
    ledger.all().flatMap(({ id, attempts }) => attempts.map(({ token }) => [token, id] as const)),
  );
  return [...accepted.values()].map((token) => byToken.get(token) ?? token);
}

/** An event that was posted when a configuration counted is evaluated by it, or by a later one. */
function findOutdated({ judgedFrom }: World, { judged }: Expected): readonly Finding[] {
  const byId = Map.groupBy(judged.flat(), ({ eventId }) => eventId ?? '');
  const outdated = [...judgedFrom].flatMap(([id, number]) =>
    (byId.get(id) ?? [])
      .filter(({ configNumber }) => configNumber < number)
      .map(({ configNumber }) => `posted when configuration ${number} counted, judged by ${configNumber}: ${id}`),
  );
  return findingsOf('otherwise', outdated);
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function findDifferences<Value extends Intent | Trigger>(
  kind: string,
  found: readonly Value[],
  expected: ReadonlyMap<string, readonly Value[]>,
  codec: RecordCodec<Value>,
): readonly Finding[] {
  const ids = new Set<string>(found.map(({ id }) => id));
  const lost = [...expected.keys()].filter((id) => !ids.has(id)).map((id) => `lost ${kind}: ${id}`);
  const other = found
    .filter((one) => !(expected.get(one.id) ?? []).some((own) => text(codec.encode(own)) === text(codec.encode(one))))
    .map((one) => `${kind} that the log and its configuration do not lead to: ${one.id} of ${one.eventId}`);
  return [...findingsOf('lost', lost), ...findingsOf('otherwise', other)];
}

/** The first answer on the log counts for its trigger. */
const lookupsThatDoNotCount = ({ claims }: World, { firstLookups }: Expected): readonly string[] =>
  [...firstLookups].flatMap(([id, first]) => {
    const position = claims.get(id)?.position;
    return position === first ? [] : [`of trigger ${id} counts ${position ?? 'nothing'}, the first is ${first}`];
  });

/** What nobody can read is a dead letter, the same one however often it was parked, and nothing else is. */
function deadLettersAmiss(world: World, { codecs }: Shared): readonly string[] {
  const letters = decodeAll(world, 'carillon.dead-letters', codecs.deadLetter).map(({ value }) => value);
  const { logId } = world.log;
  const parked = Map.groupBy(letters, (letter) => formatPosition({ ...letter, logId }));
  const foreign = foreignPlaces(world, codecs);
  return [
    ...[...world.broken].filter((place) => !parked.has(place)).map((place) => `unreadable, and not parked: ${place}`),
    ...foreign.filter((place) => !parked.has(place)).map((place) => `nobody can place it, and not parked: ${place}`),
    ...[...parked].flatMap(([place, own]) => {
      if (!world.broken.has(place) && !foreign.includes(place))
        return [`a dead letter of what can be read: ${place} (${own[0]?.reason})`];
      return new Set(own.map(({ id }) => id)).size === 1 ? [] : [`several dead letters of ${place}`];
    }),
  ];
}

const holdsDoubt = ({ attempts }: Delivery, doubtful: ReadonlySet<string>): boolean =>
  attempts.some(({ token, result }) => (result === null || result.verdict === 'ambiguous') && doubtful.has(token));

/** A delivery is in doubt only if the result of a call is unknown. */
const doubtsWithoutCause = ({ ledger, doubtful }: World): readonly string[] =>
  ledger
    .all()
    .filter((delivery) => delivery.state === 'IN_DOUBT' && !holdsDoubt(delivery, doubtful))
    .map(({ id, reason }) => `${id} is in doubt (${reason}) without a cause`);

/** The least that an edition of the notification allows (`shop.ts`). */
const FEWEST_ATTEMPTS = 3;

/** Nobody stays untold without a cause: a refusal, all attempts, an address that is missing or takes no mail, a rule taken away, or its time. */
function endsWithoutCause({ ledger, refused, suppressions, wished }: World): readonly string[] {
  return ledger.all().flatMap(({ id, state, reason, slot, intent: { to }, attempts, updatedAt, notAfter }) => {
    const isSuppressed = to !== null && suppressions.has(slot.workspace, slot.channel, to);
    const wasRefused = attempts.some(({ token }) => refused.has(token));
    const causes: Partial<Record<Delivery['state'], boolean>> = {
      FAILED:
        reason === 'operator_dismiss' ||
        wasRefused ||
        (reason === 'attempts_used_up' && attempts.length >= FEWEST_ATTEMPTS),
      // Editors of the simulation take rules away.
      SUPPRESSED:
        to === null ||
        isSuppressed ||
        reason === 'rule_withdrawn' ||
        reason === 'capped' ||
        ((reason === 'opted_out' || reason === 'suppressed_address') && wished.has(to)),
      EXPIRED: updatedAt > notAfter,
      CANCELLED: reason === 'operator_cancel',
    };
    const unlisted =
      state === 'FAILED' && reason === 'refused_recipient' && !isSuppressed
        ? [`${id} bounced, and its address gets mail as before`]
        : [];
    return causes[state] === false ? [`${id} is ${state} (${reason}) without a cause`, ...unlisted] : unlisted;
  });
}

/** Nobody gets more than the limit allows, and nobody is left out for messages that were not sent. What an operator said of a doubt counts. */
function limitsAmiss({ ledger, accepted, decided }: World): readonly string[] {
  const tokens = new Set(accepted.values());
  const orders = ledger.all().filter(({ intent: { notification } }) => notification === 'order-paid');
  const arrived = orders.filter(({ attempts }) => attempts.some(({ token }) => tokens.has(token)));
  const told = arrived.filter(({ id }) => !decided.has(id)).length;
  const counted = orders.filter(({ id, clean }) => !clean || arrived.some((one) => one.id === id)).length;
  const capped = orders.filter(({ reason }) => reason === 'capped');
  return [
    ...(told > MAX_ORDERS ? [`one person was told ${told} times of ${MAX_ORDERS} that the limit allows`] : []),
    ...(counted < MAX_ORDERS
      ? capped.map(({ id }) => `${id} is capped, and only ${counted} messages were sent or are in doubt`)
      : []),
  ];
}

/** Each item is in one digest, which lists it and knows no other, or ended for another reason; none is told of by itself. */
function digestsAmiss({ ledger }: World): readonly string[] {
  const all = ledger.all();
  const listed = Map.groupBy(
    all.flatMap(({ id, intent: { digest } }) => (digest?.items ?? []).map((item) => ({ digest: id, ...item }))),
    ({ deliveryId }) => deliveryId,
  );
  const items = all.filter(({ intent }) => intent.notification === 'items' && intent.digest === undefined);
  return [
    ...[...listed].flatMap(([id, { length }]) => (length === 1 ? [] : [`${id} is in ${length} digests`])),
    ...items.flatMap(({ id, state, digestedIn, attempts }) => {
      const [digest] = listed.get(id) ?? [];
      const isDigested = state === 'DIGESTED';
      return [
        ...(isDigested === (digest !== undefined) && digest?.digest === (digestedIn ?? undefined)
          ? []
          : [`${id} is ${state} in digest ${digestedIn}, and ${digest?.digest ?? 'no digest'} lists it`]),
        ...(attempts.length > 0 ? [`${id} is an item, and was told of by itself`] : []),
      ];
    }),
  ];
}

/** Every move is told of on the log, and nothing else is. */
function outcomesAmiss({ outcomes, deliveries, intents }: Evidence, { ids }: Shared): readonly string[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const told = new Set(outcomes.map(({ id }) => id));
  const due = new Map<string, string>();
  for (const { id, history } of deliveries) {
    for (const { state, reason, version } of history) {
      if (state === 'SENDING' || reason === 'new') continue;
      due.set(ids.derive('outcome', id, String(version)), `${id} became ${state} (${reason})`);
    }
  }
  for (const intent of intents) {
    const delivery = byId.get(deliveryIdOf(intent, ids));
    const held = delivery?.intent.id === intent.id || delivery?.history.some(({ intentId }) => intentId === intent.id);
    if (!held) due.set(ids.derive('outcome', 'duplicate', intent.id), `intent ${intent.id} is a duplicate`);
  }
  return [
    ...[...due].filter(([id]) => !told.has(id)).map(([, what]) => `no outcome says that ${what}`),
    ...outcomes
      .filter(({ id }) => !due.has(id))
      .map(({ deliveryId, state }) => `an outcome that never was: ${deliveryId} ${state}`),
  ];
}

/** Each evaluation used the configuration of its events, and counts the unreadable records in its range. */
const misjudged = ({ evaluations }: Evidence, { judged }: Expected): readonly string[] =>
  evaluations.flatMap(({ partition, from, to, deadLetters, configNumber }) => {
    const range = judged[partition]?.slice(from, to) ?? [];
    const isRight =
      range.filter(({ isBroken }) => isBroken).length === deadLetters &&
      range.every((one) => one.configNumber === configNumber);
    return isRight ? [] : [`the evaluation of ${partition}@${from}-${to} counts other than what is there`];
  });

function cohortAmiss({ cohorts, log }: World, { entered, members, settling }: Expected): readonly string[] {
  const found = new Set(
    log
      .all('carillon.events')
      .filter(({ headers }) => headers['stream']?.includes('/cohorts/'))
      .map(({ headers }) => headers['event_id'] ?? ''),
  );
  const inside = cohorts
    .members({ workspace: 'shop', integration: 'feed', cohort: 'vip' })
    .filter((member) => member.inside)
    .map(({ user }) => user);
  const isSame = inside.length === members.size && inside.every((user) => members.has(user));
  return [
    ...(isSame ? [] : [`in the cohort are ${inside.join(', ')}; should be ${[...members].join(', ')}`]),
    ...(settling ? ['somebody was to leave the cohort, and nobody did it'] : []),
    ...[...entered].filter((id) => !found.has(id)).map((id) => `a change of the cohort made no event: ${id}`),
    ...[...found].filter((id) => !entered.has(id)).map((id) => `an event of the cohort without a change: ${id}`),
  ];
}
