import { ruleIdOf, type Configuration } from '@carillon/domain/configuration';
import type { Intent, SentBy } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { Coroutine, Duration, Instant } from '@carillon/kernel';
import { evaluateEventCoroutine } from '../evaluate/evaluate-event.ts';
import { resolveLookupCoroutine } from '../resolve/resolve-lookup.ts';
import type { CompareContext } from './compare-event.ts';
import { itemsFor } from './recorded-answers.ts';
import { rowFiringsCoroutine, type FiringName } from './row-firing.ts';

/** The job that sends, and how long its messages are of use. */
export type SendingJob = {
  readonly sentBy: SentBy;
  /** No message is due earlier. Fixed by the job, so that a repeated item makes the same record. */
  readonly createdAt: Instant;
  readonly expires: Duration;
};

export type SendingContext = Pick<CompareContext, 'book' | 'ids' | 'findAnswer'> & {
  readonly configuration: Configuration;
  readonly job: SendingJob;
};

/** The outputs of an event for a sending job. */
export type SentOutputs = {
  readonly intents: readonly Intent[];
  /** Triggers of rules that no recorded answer fits. The engine asks their partner. */
  readonly triggers: readonly Trigger[];
  /** Messages that other rules with state may make of the event. They are not sent. */
  readonly others: readonly Intent[];
};

/**
 * Evaluates an event for a sending job. The intents have the same slots as those of the live rule, but other ids. Recorded answers of partners
 * are used as in a comparison. Pure, so that a repeated item makes the same records. Of rules with state
 * only `firing` counts, which a comparison found. Other rules are evaluated whole.
 */
export function* sentOutputsCoroutine(
  event: SourceEvent,
  context: SendingContext,
  firing: FiringName | null = null,
): Coroutine<SentOutputs> {
  const { book, configuration, findAnswer, ids, job } = context;
  const { sentBy } = job;
  const run = { runId: sentBy.job, states: null };
  const intents: Intent[] = [];
  const triggers: Trigger[] = [];
  const making = { configuration, book, derive: ids.derive, runId: sentBy.job };
  const fired = firing ? yield* rowFiringsCoroutine(event, firing, making) : { meant: [], others: [] };
  const stateless = yield* evaluateEventCoroutine(event, configuration, book, ids.derive, run);
  for (const evaluated of [...fired.meant, ...stateless]) {
    intents.push(...evaluated.intents.map((intent) => ({ ...intent, sentBy })));
    const ruleId = ruleIdOf(evaluated.placed);
    const answered = evaluated.triggers.map((trigger) => ({
      trigger: { ...trigger, sentBy },
      items: itemsFor(trigger, findAnswer(ruleId, event.id, trigger.part)),
    }));
    if (answered.some(({ items }) => items === null)) {
      triggers.push(...answered.map(({ trigger }) => ({ ...trigger, notAfter: job.createdAt + job.expires })));
      continue;
    }
    for (const { trigger, items } of answered) {
      const lookup = { trigger, items: items ?? [] };
      const resolved = yield* resolveLookupCoroutine(lookup, configuration, book, ids.derive);
      if (resolved.ok) intents.push(...resolved.value.intents);
    }
  }
  const others = fired.others.flatMap((evaluated) => evaluated.intents);
  return { intents: intents.map((intent) => postponed(intent, job)), triggers, others };
}

/** Returns an intent that is due when the job was created, or later if the delay of its notification says so. */
function postponed(intent: Intent, { createdAt, expires }: SendingJob): Intent {
  const sendAt = Math.max(intent.sendAt, createdAt);
  return { ...intent, sendAt, notAfter: sendAt + expires };
}
