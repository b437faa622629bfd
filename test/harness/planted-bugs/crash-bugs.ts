import type { CrashBug } from './planted-bug.ts';

const CRASH_PROOF = 'test/chaos/embedded/planted-bugs.proof.test.ts';
const CLUSTER_PROOF = 'test/chaos/cluster/planted-bugs.proof.test.ts';
const FAILPOINT_PROOF = 'test/chaos/embedded/failpoints/planted-bugs.proof.test.ts';
const DURABILITY_PROOF = 'test/chaos/embedded/durability.proof.test.ts';
const TAKE_OVER_PROOF = 'test/chaos/cluster/failpoints/take-over-on-channels.proof.test.ts';

/** Bugs in the source of the product, which a proof of the running product finds. */
export const CRASH_BUGS = {
  /** The position is saved before the intents of the batch are in custody. */
  positionBeforeCustody: {
    breaks: 'outputs_before_position',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/runtime/src/consumer/stage-consumer.ts',
        from: 'const result = await options.stage.handle(records, state);',
        to: `if (group === 'delivery') {
      const after = (records.at(-1)?.offset ?? 0) + 1;
      await checkpoints.save({ group, topic, partition, logId: log.logId, next: after, ...state });
    }
    const result = await options.stage.handle(records, state);`,
      },
    ],
  },
  /** Two dispatchers send from one ledger, which replaces a document whatever its version is. */
  twoDispatchersWithoutCompareAndSet: {
    breaks: 'one_message_per_slot',
    proof: CRASH_PROOF,
    changes: [
      {
        file: 'apps/delivery/src/start.ts',
        from: 'const dispatcher = startDispatcher(ports, { share, accounts, rates, attempts });',
        to: `const everything = { ...share, hasDelivery: () => true, hasDigestHead: () => true };
  const one = () => startDispatcher(ports, { share: everything, accounts, rates, attempts });
  const both = [one(), one()];
  const dispatcher = {
    offer: (deliveries) => both.forEach((each) => each.offer(deliveries)),
    stop: async (deadline) => (await Promise.all(both.map((each) => each.stop(deadline)))).flat(),
  };`,
      },
      {
        file: 'libs/adapters/embedded/src/stores/delivery-row.ts',
        from: 'reason = ? WHERE id = ? AND version = ? AND intent_place = ?`',
        to: 'reason = ? WHERE id = ? AND ? >= 0 AND intent_place = ?`',
      },
    ],
  },
  /** A partition of which one batch failed stands still until the next start. */
  partitionStandsStill: {
    breaks: 'nothing_disappears',
    proof: CRASH_PROOF,
    changes: [
      {
        file: 'libs/adapters/embedded/src/log/partition-runner.ts',
        from: 'needsPerson = stopsPartition(error);',
        to: 'needsPerson = true;',
      },
    ],
  },
  /** A commit returns before it is on the disk. */
  commitInMemory: {
    breaks: 'accepted_is_durable',
    proof: DURABILITY_PROOF,
    changes: [
      {
        file: 'libs/adapters/embedded/src/writing/writable-file.ts',
        from: 'PRAGMA synchronous = FULL;',
        to: 'PRAGMA synchronous = NORMAL;',
      },
    ],
  },
  /** The client gets its 202 before the event is on the log. */
  acceptedBeforeCommit: {
    breaks: 'accepted_is_durable',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'apps/gateway/src/event-intake.ts',
        from: 'await appendInTime(ports.log,',
        to: 'void appendInTime(ports.log,',
      },
    ],
  },
  /** A publication is answered before its markers are on the log. */
  answeredBeforeMarkers: {
    breaks: 'same_log_same_intents',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/stages/src/configure/publish.ts',
        from: '  await repeatMarkers(log, number);\n  await ports.readEverywhere',
        to: '  void repeatMarkers(log, number);\n  await ports.readEverywhere',
      },
    ],
  },
  /** The commit of a move does not hold its outcome. */
  outcomeNotInCommit: {
    breaks: 'nothing_disappears',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/adapters/embedded/src/stores/delivery-ledger.ts',
        from: "if (moved === 'done' && outcomes) appendRecords({ sql, now }, outcomes);",
        to: '',
      },
    ],
  },
  /** A call that was cut off is made again, though the provider may have accepted it. */
  doubtSentAgain: {
    breaks: 'one_message_per_slot',
    proof: CRASH_PROOF,
    changes: [
      {
        file: 'libs/domain/src/deliveries/attempts.ts',
        from: "if (settings.inDoubt === 'resend' && !usedUp) {",
        to: 'if (!usedUp) {',
      },
    ],
  },
  /** A lookup is on the log before it is in custody, and each lookup of a trigger counts. */
  secondLookupCounts: {
    breaks: 'repeats_change_nothing',
    proof: CRASH_PROOF,
    changes: [
      {
        file: 'libs/stages/src/ask/settle.ts',
        from: 'const moved = await moveTask(one, { asking, nextAt: dueAt, ...lease }, ports.tasks);',
        to: `if (asking.verdict) {
        await publishVerdict({ ...one, asking }, { ...ports, tasks: { replace: async () => 'stale' } });
        await new Promise((passed) => void setTimeout(passed, 500));
      }
      const moved = await moveTask(one, { asking, nextAt: dueAt, ...lease }, ports.tasks);`,
      },
      {
        file: 'libs/stages/src/resolve/stage.ts',
        from: "if (!counts.has(record)) return { kind: 'dropped', reason: 'superseded' };",
        to: '',
      },
    ],
  },
  /** The members of a cohort are saved before their events are on the log. */
  membersBeforeEvents: {
    breaks: 'outputs_before_position',
    proof: CRASH_PROOF,
    changes: [
      {
        file: 'libs/runtime/src/consumer/stage-consumer.ts',
        from: 'await options.sink.write(result.outputs);',
        to: `if (result.save && result.outputs.length > 0) {
      if ((await result.save()) === 'refused') throw furtherOn();
      await new Promise((passed) => void setTimeout(passed, 300));
    }
    await options.sink.write(result.outputs);`,
      },
    ],
  },
  /** A producer is used again after it rejected a send. */
  producerKept: {
    breaks: 'accepted_is_durable',
    proof: CLUSTER_PROOF,
    changes: [
      {
        file: 'libs/adapters/kafka/src/producing/lane.ts',
        from: `      if (waiting.length === 0) return;
      producer?.discard();
      producer = null;`,
        to: '      if (waiting.length === 0) return;',
      },
    ],
  },
  /** A producer has two sends open. */
  twoOpenSends: {
    breaks: 'accepted_is_durable',
    proof: CLUSTER_PROOF,
    changes: [
      {
        file: 'libs/adapters/kafka/src/producing/lane.ts',
        from: 'if (batch.length > 0) await deliver(batch);',
        to: 'if (batch.length > 0) await Promise.race([deliver(batch), pause(1)]);',
      },
    ],
  },
  /** A process that a fence refused continues as if its write had won. */
  fencesIgnored: {
    breaks: 'outputs_before_position',
    proof: CLUSTER_PROOF,
    changes: [
      {
        file: 'libs/adapters/mongodb/src/compare-and-set.ts',
        from: "if (found?.version !== version - 1) return 'stale';",
        to: "if (found?.version !== version - 1) return 'done';",
      },
      {
        file: 'libs/adapters/mongodb/src/stores/checkpoints.ts',
        from: "return 'refused';",
        to: "return 'done';",
      },
    ],
  },
  /** Another account sends after an ambiguous result. */
  failoverAfterAmbiguous: {
    breaks: 'one_message_per_slot',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/domain/src/deliveries/attempts.ts',
        from: "      return doubt(recorded, 'answer_unknown', detail, settling.settings, moment);",
        to: `      if (settling.anotherAccount) {
        const over = { ...settling, result: { ...result, verdict: 'transient' } };
        return settleAgain(recorded, over, detail, moment);
      }
      return doubt(recorded, 'answer_unknown', detail, settling.settings, moment);`,
      },
    ],
  },
  /** A process that stood still for longer than its lease sends what another process has sent. */
  sentAfterItsLease: {
    breaks: 'one_message_per_slot',
    proof: TAKE_OVER_PROOF,
    changes: [
      {
        file: 'libs/stages/src/deliver/attempt.ts',
        from: 'if (ports.clock.now() >= (sending.leaseUntil ?? 0)) {',
        to: 'if (sending.leaseUntil === undefined) {',
      },
    ],
  },
  /** A provider library repeats a request without a response. */
  retryByTheLibrary: {
    breaks: 'one_message_per_slot',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/adapters/providers/twilio/src/api.ts',
        from: 'await client.messages.create(parametersOf(sms)).catch(() => null);',
        to: `await client.messages
      .create(parametersOf(sms))
      .catch(() => client.messages.create(parametersOf(sms)))
      .catch(() => null);`,
      },
    ],
  },
  /** A 404 without a code counts as a dead push token. */
  purgedOnABare404: {
    breaks: 'nothing_disappears',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/adapters/providers/fcm/src/outcome-table.ts',
        from: '  if (status >= 500) return ambiguous;',
        to: `  if (status === 404) return { ...refusedToken, suppress: 'dead_token' };
  if (status >= 500) return ambiguous;`,
      },
    ],
  },
  /** The latest receipt counts, and may lower a delivery. */
  receiptsLower: {
    breaks: 'nothing_disappears',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/domain/src/receipts/apply-receipt.ts',
        from: 'if (highest === null || stateRank(receipt) > stateRank(highest)) highest = receipt;',
        to: 'highest = receipt;',
      },
      {
        file: 'libs/domain/src/receipts/apply-receipt.ts',
        from: 'move !== null && rankOf(move.state) > rankOf(before.state)',
        to: 'move !== null && move.state !== before.state',
      },
    ],
  },
  /** A callback counts without its signature. */
  unsignedCallbackTaken: {
    breaks: 'hostile_input',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/adapters/providers/twilio/src/receipts.ts',
        from: '  return spellingsOf(url).some((spelling) =>',
        to: '  if (form.length > 0) return true;\n  return spellingsOf(url).some((spelling) =>',
      },
    ],
  },
  /** Opening the link of a message unsubscribes. */
  lookingUnsubscribes: {
    breaks: 'opt_outs',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'apps/gateway/src/consent-links.ts',
        from: 'serve(request, reply, async (link, token) => shown(askPage(await factsOf(link, token)))),',
        to: `serve(request, reply, async (link, token) => {
      await decide(link, [oneClick(link)]);
      return shown(askPage(await factsOf(link, token)));
    }),`,
      },
    ],
  },
  /** An opt-out is answered before it is stored. */
  answeredBeforeConsent: {
    breaks: 'opt_outs',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'apps/gateway/src/consent-links.ts',
        from: 'await decide(link, [oneClick(link)]);',
        to: 'void decide(link, [oneClick(link)]);',
      },
    ],
  },
  /** START also removes the suppression of a number that does not exist. */
  oneEntryForAllSources: {
    breaks: 'opt_outs',
    proof: FAILPOINT_PROOF,
    changes: [
      {
        file: 'libs/adapters/embedded/src/stores/suppression-list.ts',
        from: "[' AND source = ?', source],",
        to: "[' AND source = ?', undefined],",
      },
    ],
  },
} as const satisfies Readonly<Record<string, CrashBug>>;
