import type { PortBug } from './planted-bug.ts';
import {
  inLedger,
  inLimits,
  inHeads,
  withAnswers,
  callsCutOff,
  answersEarly,
  isMarker,
  isPost,
  positionFirst,
  outputsAfterState,
  cacheKept,
  withReport,
  readOtherwise,
  withOwnName,
  isSending,
} from './port-plants.ts';

/** Bugs that the simulation plants in ports and stores. */
export const PORT_BUGS: Readonly<Record<string, PortBug>> = {
  'position before custody': { breaks: 'outputs_before_position', plant: positionFirst, finds: /is in no delivery/ },
  'outputs after state': {
    breaks: 'outputs_before_position',
    plant: outputsAfterState,
    finds: /a change of the cohort made no event/,
  },
  'no compare-and-set': {
    breaks: 'one_message_per_slot',
    plant: inLedger((ledger) => ({
      async replace(next) {
        if ((await ledger.replace(next)) === 'done') return 'done';
        const seen = await ledger.get(next.id);
        return seen ? ledger.replace({ ...next, version: seen.version + 1 }) : 'stale';
      },
    })),
    finds: /told twice|was SENT and is|is in no delivery/,
  },
  'a place under a limit that is taken without compare-and-set': {
    breaks: 'cadence',
    plant: inLimits((limits) => ({
      async replace(next, before) {
        if ((await limits.replace(next, before)) === 'done') return 'done';
        const seen = await limits.find(next.workspace, next.person);
        return limits.replace(next, seen?.revision ?? null);
      },
    })),
    finds: /that the limit allows/,
    // Messages of one person take turns within a process: only two processes at the same moment are in each other's way.
    firstSeed: 700,
  },
  'a place under a limit that is moved to the next attempt': {
    breaks: 'cadence',
    plant: inLimits((limits) => ({
      replace: (next, before) =>
        limits.replace(
          { ...next, entries: [...new Map(next.entries.map((entry) => [entry.deliveryId, entry])).values()] },
          before,
        ),
    })),
    finds: /that the limit allows/,
  },
  'a limit that is full by what nobody has looked at': {
    breaks: 'cadence',
    plant: inLimits((limits) => ({
      async find(workspace, person) {
        const sent = await limits.find(workspace, person);
        return sent && { ...sent, entries: sent.entries.map((entry) => ({ ...entry, sure: true })) };
      },
    })),
    finds: /is capped, and only/,
  },
  'a window of a digest that is written without compare-and-set': {
    breaks: 'cadence',
    plant: inHeads((heads) => ({
      async replace(next) {
        if ((await heads.replace(next)) === 'done') return 'done';
        const seen = await heads.get(next.id);
        return heads.replace({ ...next, version: (seen?.version ?? 0) + 1 });
      },
    })),
    finds: /digest|is COLLECTED|told twice/,
  },
  'a window of a digest that counts as told of before it is': {
    breaks: 'cadence',
    plant: inHeads((heads) => ({
      replace: (next) => heads.replace(next.closing && next.closing.items ? { ...next, closing: null } : next),
    })),
    finds: /digest|is COLLECTED/,
  },
  'an item that does not learn of its digest': {
    breaks: 'cadence',
    plant: inLedger((ledger) => ({
      replace: (next) => (next.state === 'DIGESTED' ? Promise.resolve('done') : ledger.replace(next)),
    })),
    finds: /is COLLECTED/,
  },
  'a sweeper that sends again': {
    breaks: 'one_message_per_slot',
    plant: inLedger((ledger) => ({
      replace: (next) =>
        next.state === 'IN_DOUBT' && next.reason === 'lease_ran_out'
          ? ledger.replace({ ...next, state: 'WAITING', nextAt: next.updatedAt, token: null })
          : ledger.replace(next),
    })),
    finds: /told twice/,
  },
  'an unreadable record is passed over in silence': {
    breaks: 'nothing_disappears',
    plant: (ports) => ({
      ...ports,
      log: {
        ...ports.log,
        append: (records) => ports.log.append(records.filter(({ topic }) => topic !== 'carillon.dead-letters')),
      },
    }),
    finds: /unreadable, and not parked/,
  },
  '202 before the log has it': {
    breaks: 'accepted_is_durable',
    plant: answersEarly(isPost),
    finds: /acknowledged, and not on the log/,
  },
  'fence of positions ignored': {
    breaks: 'outputs_before_position',
    unfenced: 'checkpoints',
    finds: /not done in time: \w+ has read/,
  },
  'fence of state ignored': {
    breaks: 'outputs_before_position',
    unfenced: 'cohorts',
    finds: /in the cohort are|cohort without a change|made no event/,
  },
  'take-over of a slot in doubt': {
    breaks: 'one_message_per_slot',
    plant: inLedger((ledger) => ({
      async insert(deliveries) {
        const answers = await ledger.insert(deliveries);
        return answers.map((answer) =>
          !answer.inserted && answer.holder.state === 'IN_DOUBT'
            ? { inserted: false, holder: { ...answer.holder, state: 'FAILED', clean: true } }
            : answer,
        );
      },
    })),
    finds: /told twice/,
  },
  'outcome not in the document': {
    breaks: 'nothing_disappears',
    plant: inLedger((ledger) => ({
      replace: (next) => ledger.replace({ ...next, unpublished: [] }),
      insert: (deliveries) => ledger.insert(deliveries.map((one) => ({ ...one, unpublished: [] }))),
    })),
    finds: /no outcome says/,
  },
  'publish answered before all markers': {
    breaks: 'same_log_same_intents',
    plant: answersEarly(isMarker),
    finds: /posted when configuration/,
  },
  'cache kept over a lost assignment': {
    breaks: 'same_log_same_intents',
    plant: cacheKept,
    finds: /do not lead to|lost intent|counts other than/,
  },
  'second lookup record accepted': {
    breaks: 'same_log_same_intents',
    // Alone it does no harm: a task keeps its answer, so that both records hold the same. Here that does not hold either.
    plant: (ports) => ({
      ...ports,
      tasks: {
        ...ports.tasks,
        async replace(expected, next) {
          if ((await ports.tasks.replace(expected, next)) === 'done') return 'done';
          const seen = await ports.tasks.get(next.id);
          return seen ? ports.tasks.replace(seen.version, { ...next, version: seen.version + 1 }) : 'stale';
        },
      },
      claims: {
        ...ports.claims,
        async claim(claims) {
          await ports.claims.claim(claims);
          return claims.map(({ position }) => position);
        },
      },
    }),
    finds: /told twice|intent that the log and its configuration do not lead to/,
  },
  'a call before the step into SENDING is durable': {
    breaks: 'one_message_per_slot',
    plant: inLedger((ledger) => ({
      async replace(next) {
        const wrote = ledger.replace(next);
        if (!isSending(next)) return wrote;
        wrote.catch(() => undefined);
        return 'done';
      },
    })),
    finds: /told twice|the provider never took it/,
  },
  'a doubt that is taken for a refusal': {
    breaks: 'one_message_per_slot',
    plant: withAnswers((result) => (result.verdict === 'ambiguous' ? { ...result, verdict: 'transient' } : result)),
    finds: /told twice/,
  },
  'calls are cut off where a process is told to stop': {
    breaks: 'nothing_disappears',
    plant: callsCutOff,
    finds: /is in doubt .* without a cause/,
  },
  'a refusal for now that is taken for one for good': {
    breaks: 'nothing_disappears',
    plant: withAnswers((result) =>
      result.verdict === 'transient' ? { ...result, verdict: 'refused_content' } : result,
    ),
    finds: /is FAILED \(refused_content\) without a cause/,
  },
  'a report that is answered before the log has it': {
    breaks: 'accepted_is_durable',
    plant: answersEarly(({ topic }) => topic === 'carillon.receipts'),
    finds: /its delivery has not heard of it/,
  },
  'a report that moves a delivery downwards': {
    breaks: 'nothing_disappears',
    plant: withReport((next, { state }) => ({ ...next, state })),
    finds: /was \w+ and is/,
  },
  'a report that ends no doubt': {
    breaks: 'nothing_disappears',
    plant: withReport((next, _said, seen) => (seen.state === 'IN_DOUBT' ? { ...next, state: 'IN_DOUBT' } : next)),
    finds: /is IN_DOUBT, though the provider reported/,
    firstSeed: 380,
  },
  'a report that is applied as often as it comes': {
    breaks: 'repeats_change_nothing',
    plant: (ports) => ({ ...ports, codecs: { ...ports.codecs, receipt: withOwnName(ports) } }),
    finds: /holds what was said once several times|its delivery has not heard of it/,
  },
  'a report of another account that is believed': {
    breaks: 'tenants',
    plant: (ports) => ({
      ...ports,
      codecs: { ...ports.codecs, receipt: readOtherwise(ports, (receipt) => ({ ...receipt, account: null })) },
    }),
    finds: /nobody can place it, and not parked/,
  },
  'a condemned address that is not listed': {
    breaks: 'nothing_disappears',
    plant: (ports) => ({ ...ports, suppressions: { ...ports.suppressions, add: async () => undefined } }),
    finds: /is not on the list/,
  },
  'an opt-out that is answered before the store has it': {
    breaks: 'opt_outs',
    plant: (ports) => ({
      ...ports,
      deciding: {
        ...ports.deciding,
        async replace(next) {
          ports.deciding.replace(next).catch(() => undefined);
          return 'done';
        },
      },
    }),
    finds: /told though he had opted out/,
  },
  'a STOP that the check before sending does not see': {
    breaks: 'opt_outs',
    plant: (ports) => ({
      ...ports,
      suppressions: {
        ...ports.suppressions,
        async find(...asked) {
          const all = await ports.suppressions.sources(...asked);
          return all.find(({ source }) => source !== 'stop') ?? null;
        },
      },
    }),
    finds: /told though he had written STOP/,
  },
};
