import { findRuleById, type Configuration } from '@carillon/domain/configuration';
import type { Delivery, Intent, TestSend } from '@carillon/domain/deliveries';
import { templateForReader } from '@carillon/domain/templates';
import { formatInstant, traceIdOf, type Instant } from '@carillon/kernel';
import type { ConfigurationView, DeliveryLedger } from '@carillon/ports';
import { newerVersionLines } from './rule-versions.ts';
import { deliverySteps, step, traceLines, type TraceStep } from './steps.ts';

/** Facts about the origin of a delivery that its intent lacks. Null: unknown. */
export type Origin = {
  /** The configuration that evaluated the event. */
  readonly pinned: Configuration | null;
  readonly published: Configuration;
  /** When the event was received. */
  readonly receivedAt: Instant | null;
  /** Watermark at which a rule that waited decided. */
  readonly passedAt: Instant | null;
};

/** Returns the event, trigger and intent of a delivery, with the wait between them if the rule waited. */
export function originSteps(
  { intent, intentPosition }: Delivery,
  { pinned, published, receivedAt, passedAt }: Origin,
): OriginSteps {
  const { eventId, eventPosition, triggerId, configNumber, rule, ruleVersion, causedAt, deadline } = intent;
  const named = { configNumber, rule, ruleVersion };
  const placed = pinned && findRuleById(pinned, intent.slot.workspace, intent.ruleId);
  const { person } = intent;
  const eventAt = receivedAt ?? (deadline === undefined ? causedAt : null);
  const firedAt = deadline === undefined ? causedAt : (passedAt ?? deadline);
  const by = deadline === undefined ? '' : ' by its deadline';
  const passed = deadline === undefined || passedAt === null ? '' : ', after the watermark passed it';
  return {
    event: step('event', eventAt, 'the event that caused it', {
      id: eventId,
      position: eventPosition,
      lines: traceLines(traceIdOf(intent.traceparent)),
    }),
    wait:
      deadline === undefined
        ? []
        : [step('rule', eventAt, `rule ${rule} waited until ${formatInstant(deadline)}`, named)],
    trigger: step('trigger', firedAt, `rule ${rule} fired${by}${passed}`, {
      id: triggerId,
      ...named,
      lines: placed ? newerVersionLines(placed, published) : [],
    }),
    intent: step('intent', firedAt, `${intentWords(intent, pinned)}${senderWords(intent)}`, {
      id: intent.id,
      position: intentPosition,
      person,
      ...named,
    }),
  };
}

export type OriginSteps = {
  readonly event: TraceStep;
  readonly wait: readonly TraceStep[];
  readonly trigger: TraceStep;
  readonly intent: TraceStep;
};

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

/** Newest deliveries of an event that are searched for messages of sending jobs. */
const NEWEST_DELIVERIES = 100;
/** Messages of sending jobs that the trace of an event shows. */
const MAX_SENT = 10;

/** Returns the steps of messages of sending jobs about an event, which its live evaluation does not include. */
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
    const published = configuration.current();
    const { intent } = originSteps(delivery, { pinned, published, receivedAt: null, passedAt: null });
    steps.push(intent, ...deliverySteps(delivery, delivery.intent.id));
  }
  return steps;
}
