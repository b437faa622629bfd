import type { TestedBug } from './planted-bug.ts';

const DOMAIN = 'libs/domain/src';
const STAGE = 'libs/stages/src/deliver';

const LIMIT_CUTS = 'libs/stages/test/deliver/limit-cuts.test.ts';
const DIGEST_CUTS = 'libs/stages/test/deliver/digest-cuts.test.ts';
const SENT_TO_PERSON = 'libs/domain/test/cadence/sent-to-person.test.ts';
const LIMITS = 'libs/domain/test/cadence/limits.test.ts';
const LOCAL_TIME = 'libs/domain/test/cadence/local-time.test.ts';
const ITEMS = 'libs/domain/test/digests/items.test.ts';
const HEAD = 'libs/domain/test/digests/head.test.ts';

/** The mutants of the models of limits and digests, in the product's own code, and three mistakes with clocks and retries. */
export const CADENCE_BUGS: Readonly<Record<string, TestedBug>> = {
  'the place of one attempt is moved to the next': {
    changes: [
      {
        file: `${DOMAIN}/cadence/sent-to-person.ts`,
        from: 'written(person, [...(before?.entries ?? []), entry], pruning);',
        to: `written(
    person,
    [...(before?.entries ?? []).filter(({ deliveryId }) => deliveryId !== entry.deliveryId), entry],
    pruning,
  );`,
      },
    ],
    tests: [SENT_TO_PERSON],
  },
  'a place is taken out and its delivery is not fenced': {
    changes: [
      {
        file: `${STAGE}/limits.ts`,
        from: "return (await rewriteDelivery(delivery, fenced(delivery), ledger)) === 'done' ? 'gone' : 'again';",
        to: "return 'gone';",
      },
    ],
    tests: [LIMIT_CUTS],
  },
  'a place is written down behind the step into SENDING': {
    changes: [
      {
        file: `${STAGE}/limits.ts`,
        from: "if ((await ports.limits.replace(next, before?.revision ?? null)) === 'stale') continue;",
        to: 'setTimeout(() => void ports.limits.replace(next, before?.revision ?? null).catch(() => undefined), 5);',
      },
    ],
    tests: [LIMIT_CUTS],
  },
  'a limit is full by places that nobody looked at': {
    changes: [
      {
        file: `${DOMAIN}/cadence/limits.ts`,
        from: 'if (sure.ends.length < limit.max) {',
        to: 'if (all.ends.length < limit.max) {',
      },
    ],
    tests: [LIMIT_CUTS],
  },
  'all places of a delivery are given back with one': {
    changes: [
      {
        file: `${DOMAIN}/cadence/sent-to-person.ts`,
        from: 'entries: before.entries.filter((entry) => entry.token !== token) };',
        to: `entries: before.entries.filter(
      ({ deliveryId }) => deliveryId !== before.entries.find((entry) => entry.token === token)?.deliveryId,
    ) };`,
      },
    ],
    tests: [SENT_TO_PERSON],
  },
  'every retry of a message counts': {
    changes: [
      {
        file: `${DOMAIN}/cadence/limits.ts`,
        from: 'const groupOf = ({ triggerId, channel }: Countable): string => `${channel} ${triggerId}`;',
        to: 'const groupOf = (one: Countable): string => `${one.channel} ${one.triggerId} ${(one as SentEntry).token}`;',
      },
    ],
    tests: [LIMITS],
  },
  'a week begins on Sunday': {
    changes: [
      {
        file: `${DOMAIN}/cadence/local-time.ts`,
        from: 'addDays(today, 1 - weekdayOn(today))',
        to: 'addDays(today, -(weekdayOn(today) % 7))',
      },
    ],
    tests: [LOCAL_TIME],
  },
  "the zone of the process counts in place of the person's": {
    changes: [
      {
        file: `${DOMAIN}/cadence/local-time.ts`,
        from: 'const wall = wallTimeAt(offsetsOf(zone), at);',
        to: 'const wall = wallTimeAt(offsetsOf(Intl.DateTimeFormat().resolvedOptions().timeZone), at);',
      },
    ],
    tests: [LOCAL_TIME],
  },
  'an item goes into a digest whatever its token': {
    changes: [
      {
        file: `${DOMAIN}/digests/items.ts`,
        from: "if (before.collected?.token !== token) return { kind: 'left_out' };",
        to: "if (token === '') return { kind: 'left_out' };",
      },
    ],
    tests: [ITEMS],
  },
  'an item is listed before it is collected': {
    changes: [
      {
        file: `${STAGE}/digests/collect.ts`,
        from: `const moved = next && (await transitionAndPublish(next, ports, { together: true, batch }));
      return moved ? { ...moved.delivery, collected } : null;`,
        to: `if (!next) return null;
      setTimeout(() => void transitionAndPublish(next, ports, { together: true }).catch(() => undefined), 5);
      return { ...next, collected };`,
      },
    ],
    tests: [DIGEST_CUTS],
  },
  'a digest has what is collected now, and not what its window listed': {
    changes: [
      {
        file: `${STAGE}/digests/empty.ts`,
        from: 'const { items } = closing;',
        to: `const items = (await ports.ledger.list({}, 100)).items
    .filter(({ state, collected }) => state === 'COLLECTED' && collected?.head === head.id)
    .map(({ id, collected, intent }) => ({ deliveryId: id, token: collected?.token ?? '', intentId: intent.id, size: 0 }));`,
      },
    ],
    tests: [DIGEST_CUTS],
  },
  'a digest takes in what waits': {
    changes: [
      {
        file: `${DOMAIN}/digests/items.ts`,
        from: "if (before.state !== 'COLLECTED') return { kind: 'left_out' };",
        to: "if (before.state !== 'COLLECTED' && before.state !== 'WAITING') return { kind: 'left_out' };",
      },
    ],
    tests: [ITEMS],
  },
  'a digest is inserted before its items are moved': {
    changes: [
      {
        file: `${STAGE}/digests/empty.ts`,
        from: 'const items = await includeItems(head, closing, batch, ports);',
        to: `const { ledger, ids } = ports;
    const keyed = (...parts) => ids.keyed(...parts);
    const named = { intentId: closing.items[0]!.intentId, nth: 1 };
    const listed = (await Promise.all(closing.items.map((one) => ledger.get(one.deliveryId)))).filter((one) => one !== null);
    const at = await ports.configuration.at(closing.configNumber);
    const early = digestIntent(head, closing, { naming: named, included: listed }, at, { derive: ids.derive, keyed });
    await ledger.insert([openDelivery(early, '', digestSlot(head, named, keyed).id, momentOf(ports))]);
    const items = await includeItems(head, closing, batch, ports);`,
      },
    ],
    tests: [DIGEST_CUTS],
  },
  'a closed window leaves its number to the next': {
    changes: [
      {
        file: `${DOMAIN}/digests/head.ts`,
        from: 'n: before.n + 1, items: [], end: null, closing };',
        to: 'n: before.n, items: [], end: null, closing };',
      },
    ],
    tests: [HEAD],
  },
};
