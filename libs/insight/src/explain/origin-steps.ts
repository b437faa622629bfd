import type { Configuration } from '@carillon/domain/configuration';
import type { Delivery, Intent, TestSend } from '@carillon/domain/deliveries';
import { templateForReader } from '@carillon/domain/templates';
import { traceIdOf } from '@carillon/kernel';
import type { ConfigurationView, DeliveryLedger } from '@carillon/ports';
import { deliverySteps, step, traceLines, type TraceStep } from './steps.ts';

/** Returns the event, trigger and intent of a delivery. `pinned`: the configuration that evaluated the event, or null if it is unknown. */
export function originSteps(
  { intent, intentPosition }: Delivery,
  pinned: Configuration | null,
): readonly [TraceStep, TraceStep, TraceStep] {
  const { eventId, eventPosition, triggerId, configNumber, rule, ruleVersion, causedAt } = intent;
  const named = { configNumber, rule, ruleVersion };
  const { person } = intent;
  return [
    step('event', causedAt, 'the event that caused it', {
      id: eventId,
      position: eventPosition,
      lines: traceLines(traceIdOf(intent.traceparent)),
    }),
    step('trigger', causedAt, `rule ${rule} fired`, { id: triggerId, ...named }),
    step('intent', causedAt, `${intentWords(intent, pinned)}${senderWords(intent)}`, {
      id: intent.id,
      position: intentPosition,
      person,
      ...named,
    }),
  ];
}

/** Returns the step of a test message, which a person asked for without an event. */
export const testStep = (
  { intent, intentPosition }: Delivery,
  { by }: TestSend,
  pinned: Configuration | null,
): TraceStep =>
  step('intent', intent.causedAt, `test message, asked for by ${by}: ${intentWords(intent, pinned)}`, {
    id: intent.id,
    position: intentPosition,
    configNumber: intent.configNumber,
    person: intent.person,
    lines: traceLines(traceIdOf(intent.traceparent)),
  });

const senderWords = ({ sentBy }: Intent): string =>
  sentBy ? `, sent by ${sentBy.person} in ${sentBy.job} of ${sentBy.run}` : '';

/** `pinned`: the configuration that evaluated the event, or null if it is unknown. */
export function intentWords(intent: Intent, pinned: Configuration | null): string {
  const { slot, template, variables } = intent;
  const read = pinned && templateForReader(pinned, slot.workspace, template, slot.channel, variables);
  const language = read?.language ? `, ${read.language}` : '';
  return `${intent.notification} by ${slot.channel}, template ${template} version ${intent.templateVersion}${language}`;
}

/** Newest deliveries of an event among which messages of sending jobs are looked for. */
const NEWEST_DELIVERIES = 100;
/** Messages of sending jobs that the trace of an event shows. */
const MAX_SENT = 10;

/** Returns the steps of missing messages that somebody sent about an event. Its live evaluation does not know of them. */
export async function sentSteps(
  eventId: string,
  {
    configuration,
    ledger,
  }: { readonly configuration: ConfigurationView; readonly ledger: Pick<DeliveryLedger, 'list'> },
): Promise<readonly TraceStep[]> {
  const { items } = await ledger.list({ eventId }, NEWEST_DELIVERIES);
  const sent = items.filter(({ intent }) => intent.sentBy !== undefined).slice(0, MAX_SENT);
  const steps: TraceStep[] = [];
  for (const delivery of sent) {
    const pinned = await configuration.at(delivery.intent.configNumber).catch(() => null);
    const [, , intent] = originSteps(delivery, pinned);
    steps.push(intent, ...deliverySteps(delivery, delivery.intent.id));
  }
  return steps;
}
