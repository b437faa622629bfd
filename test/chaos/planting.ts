/** Exactly one place in one file, given from the root of the checkout, is another text. */
export type Change = { readonly file: string; readonly from: string; readonly to: string };

/** Throws where a change fits nowhere, or in two places: it would show nothing. */
export function planted(source: string, { file, from, to }: Change): string {
  const places = source.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} has the text to be changed ${places} times: ${from}`);
  return source.replace(from, () => to);
}

/** The line by which a file says that it was changed. */
export const plantedLine = ({ file }: Change): string => `planted in ${file}`;

/** The environment in which tests are loaded with these changes: `plantedInTests` reads them. */
export const plantingInTests = (changes: readonly Change[]): Readonly<Record<string, string>> => ({
  CRASH_CHANGES: JSON.stringify(changes),
});

/** The environment in which the product is loaded with these changes. */
export const planting = (changes: readonly Change[]): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL('./plant.ts', import.meta.url).href}`,
  ...plantingInTests(changes),
});

/** The bug: the position is saved before the intents of the batch are in custody. */
export const POSITION_BEFORE_CUSTODY: Change = {
  file: 'libs/runtime/src/consumer/stage-consumer.ts',
  from: 'const result = await options.stage.handle(records, state);',
  to: `if (group === 'delivery') {
      const after = (records.at(-1)?.offset ?? 0) + 1;
      await checkpoints.save({ group, topic, partition, logId: log.logId, next: after, ...state });
    }
    const result = await options.stage.handle(records, state);`,
};

/** No bug: two dispatchers send from one ledger, as two processes of the role would. */
export const TWO_DISPATCHERS: Change = {
  file: 'apps/delivery/src/start.ts',
  from: 'const dispatcher = startDispatcher(ports, { share, accounts, rates, attempts });',
  to: `const everything = { ...share, hasDelivery: () => true, hasDigestHead: () => true };
  const one = () => startDispatcher(ports, { share: everything, accounts, rates, attempts });
  const both = [one(), one()];
  const dispatcher = {
    offer: (deliveries) => both.forEach((each) => each.offer(deliveries)),
    stop: async (deadline) => (await Promise.all(both.map((each) => each.stop(deadline)))).flat(),
  };`,
};

/** The bug: a document is replaced whatever its version has become. */
export const NO_COMPARE_AND_SET: Change = {
  file: 'libs/adapters/embedded/src/stores/delivery-row.ts',
  from: 'WHERE id = ? AND version = ?`',
  to: 'WHERE id = ? AND ? >= 0`',
};

/** The bug: a partition of which one batch failed stands still until the process is started again. */
export const FAILED_ONCE_STANDS_STILL: Change = {
  file: 'libs/adapters/embedded/src/log/partition-runner.ts',
  from: "needsPerson = error instanceof CarillonError && error.code === 'wrong_log';",
  to: 'needsPerson = true;',
};

/** The bug: a commit returns before it is on the disk. */
export const COMMIT_IN_MEMORY: Change = {
  file: 'libs/adapters/embedded/src/writing/writable-file.ts',
  from: 'PRAGMA synchronous = FULL;',
  to: 'PRAGMA synchronous = NORMAL;',
};

/** The bug: the client has its 202 before the event is on the log. */
export const ACCEPTED_BEFORE_COMMIT: Change = {
  file: 'apps/gateway/src/event-intake.ts',
  from: 'await appendInTime(ports.log,',
  to: 'void appendInTime(ports.log,',
};

/** The bug: a publication is answered before its markers are on the log. */
export const ANSWERED_BEFORE_MARKERS: Change = {
  file: 'libs/stages/src/configure/publish.ts',
  from: '  await repeatMarkers(log, number);\n  await ports.readEverywhere',
  to: '  void repeatMarkers(log, number);\n  await ports.readEverywhere',
};

/** The bug: the commit of a move does not hold the record of its outcome. */
export const OUTCOME_NOT_IN_COMMIT: Change = {
  file: 'libs/adapters/embedded/src/stores/delivery-ledger.ts',
  from: "if (moved === 'done' && outcomes) appendRecords({ sql, now }, outcomes);",
  to: '',
};

/** The bug: what was cut off is sent again, though nobody knows whether it was taken. */
export const DOUBT_SENT_AGAIN: Change = {
  file: 'libs/domain/src/deliveries/attempts.ts',
  from: "if (settings.inDoubt === 'resend' && !usedUp) {",
  to: 'if (!usedUp) {',
};

/** The bug: an answer is on the log before it is in custody, and it takes its time until it is. */
export const ANSWER_BEFORE_CUSTODY: Change = {
  file: 'libs/stages/src/ask/settle.ts',
  from: 'const moved = await moveTask(one, { asking, nextAt: dueAt, ...lease }, ports.tasks);',
  to: `if (asking.verdict) {
        await publishVerdict({ ...one, asking }, { ...ports, tasks: { replace: async () => 'stale' } });
        await new Promise((passed) => void setTimeout(passed, 500));
      }
      const moved = await moveTask(one, { asking, nextAt: dueAt, ...lease }, ports.tasks);`,
};

/** The bug: who is in a cohort is saved before it is on the log who entered and left, and that takes its time. */
export const MEMBERS_BEFORE_EVENTS: Change = {
  file: 'libs/runtime/src/consumer/stage-consumer.ts',
  from: 'await options.sink.write(result.outputs);',
  to: `if (result.save && result.outputs.length > 0) {
      if ((await result.save()) === 'refused') throw furtherOn();
      await new Promise((passed) => void setTimeout(passed, 300));
    }
    await options.sink.write(result.outputs);`,
};

/** The bug: each answer on the log counts, and not the first one of a trigger alone. */
export const SECOND_ANSWER_ACCEPTED: Change = {
  file: 'libs/stages/src/resolve/stage.ts',
  from: "if (!counts.has(record)) return { kind: 'dropped', reason: 'superseded' };",
  to: '',
};

const LANE = 'libs/adapters/kafka/src/producing/lane.ts';

/** The bug: a producer is used again after it rejected a send. */
export const PRODUCER_KEPT: Change = {
  file: LANE,
  from: `      if (waiting.length === 0) return;
      producer?.discard();
      producer = null;`,
  to: '      if (waiting.length === 0) return;',
};

/** The bug: a send begins while another one of the same producer is open. */
export const TWO_OPEN_SENDS: Change = {
  file: LANE,
  from: 'if (batch.length > 0) await deliver(batch);',
  to: 'if (batch.length > 0) await Promise.race([deliver(batch), pause(1)]);',
};

/** The bug: who was refused by the fence of a document goes on as if it had won. */
export const FENCE_IGNORED: Change = {
  file: 'libs/adapters/mongodb/src/compare-and-set.ts',
  from: "if (found?.version !== version - 1) return 'stale';",
  to: "if (found?.version !== version - 1) return 'done';",
};

/** The bug: who was refused by the fence of a partition goes on as if it were its own. */
export const CHECKPOINT_FENCE_IGNORED: Change = {
  file: 'libs/adapters/mongodb/src/stores/checkpoints.ts',
  from: "return 'refused';",
  to: "return 'done';",
};

/** The bug: an account takes over from one of which nobody can say whether it took the message. */
export const FAILOVER_AFTER_AMBIGUOUS: Change = {
  file: 'libs/domain/src/deliveries/attempts.ts',
  from: "      return doubt(recorded, 'answer_unknown', detail, settling.settings, moment);",
  to: `      if (settling.anotherAccount) {
        const over = { ...settling, result: { ...result, verdict: 'transient' } };
        return settleAgain(recorded, over, detail, moment);
      }
      return doubt(recorded, 'answer_unknown', detail, settling.settings, moment);`,
};

/** The bug: a process that was held still for longer than its lease sends what another one has sent in its place. */
export const SENT_AFTER_ITS_LEASE: Change = {
  file: 'libs/stages/src/deliver/attempt.ts',
  from: 'if (ports.clock.now() >= (sending.leaseUntil ?? 0)) {',
  to: 'if (sending.leaseUntil === undefined) {',
};

/** The bug: the library of a provider makes a request again that got no answer. */
export const RETRY_BY_THE_LIBRARY: Change = {
  file: 'libs/adapters/providers/twilio/src/api.ts',
  from: 'await client.messages.create(parametersOf(sms)).catch(() => null);',
  to: `await client.messages
      .create(parametersOf(sms))
      .catch(() => client.messages.create(parametersOf(sms)))
      .catch(() => null);`,
};

/** The bug: that nothing is found somewhere is taken for a token that is dead. */
export const PURGED_ON_A_BARE_404: Change = {
  file: 'libs/adapters/providers/fcm/src/outcome-table.ts',
  from: '  if (status >= 500) return ambiguous;',
  to: `  if (status === 404) return { ...refusedToken, suppress: 'dead_token' };
  if (status >= 500) return ambiguous;`,
};

const RECEIPTS = 'libs/domain/src/receipts/apply-receipt.ts';

/** The bug, in two places: the latest report counts, whatever was reported before. */
export const LATEST_RECEIPT_COUNTS: Change = {
  file: RECEIPTS,
  from: 'if (highest === null || stateRank(receipt) > stateRank(highest)) highest = receipt;',
  to: 'highest = receipt;',
};
export const RECEIPTS_LOWER: Change = {
  file: RECEIPTS,
  from: 'move !== null && rankOf(move.state) > rankOf(before.state)',
  to: 'move !== null && move.state !== before.state',
};

/** The bug: what a provider reports is taken from anybody. */
export const UNSIGNED_CALLBACK_TAKEN: Change = {
  file: 'libs/adapters/providers/twilio/src/receipts.ts',
  from: '  return spellingsOf(url).some((spelling) =>',
  to: '  if (form.length > 0) return true;\n  return spellingsOf(url).some((spelling) =>',
};

/** The bug: whoever looks at the link of a message, such as a scanner, stops such messages. */
export const LOOKING_UNSUBSCRIBES: Change = {
  file: 'apps/gateway/src/consent-links.ts',
  from: 'serve(request, reply, async (link, token) => shown(askPage(await factsOf(link, token)))),',
  to: `serve(request, reply, async (link, token) => {
      await decide(link, [oneClick(link)]);
      return shown(askPage(await factsOf(link, token)));
    }),`,
};

/** The bug: a person has the answer before the store has what was decided, so that a check reads what was before. */
export const ANSWERED_BEFORE_CONSENT: Change = {
  file: 'apps/gateway/src/consent-links.ts',
  from: 'await decide(link, [oneClick(link)]);',
  to: 'void decide(link, [oneClick(link)]);',
};

/** The bug: an address is on the list once, so that undoing what one source said undoes what another said too. */
export const ONE_ENTRY_FOR_ALL_SOURCES: Change = {
  file: 'libs/adapters/embedded/src/stores/suppression-list.ts',
  from: "[' AND source = ?', source],",
  to: "[' AND source = ?', undefined],",
};
