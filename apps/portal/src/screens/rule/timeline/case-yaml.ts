import { formatDuration } from '@carillon/kernel';
import type { Step } from './steps.ts';

/** What a case is written from. */
export type TestCase = {
  /** `order-unpaid.not-paid` */
  readonly rule: string;
  readonly name: string;
  /** Each event with its body as JSON text, in the order of time. */
  readonly events: readonly { readonly at: number; readonly text: string }[];
  /** The end of the test. Null: all deadlines pass. */
  readonly until: number | null;
  /** The events are changes of rows: `{"op": …, "event": …, "previous": …}`. */
  readonly hasChanges: boolean;
  readonly steps: readonly Step[];
  /** Answer of a partner that was pasted, as JSON text. Empty: none. */
  readonly answer: string;
};

const ADDRESSES = { email: 'email', sms: 'phone', push: 'token' } as const;
const PLAIN = /^[A-Za-z](?:[\w ,'-]*[\w'])?$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const key = (text: string): string => (PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text));
const flow = (keys: Readonly<Record<string, unknown>>): string =>
  Object.entries(keys)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');

/** Throws SyntaxError if the text is no JSON. */
function eventKeys(text: string, hasChanges: boolean): Readonly<Record<string, unknown>> {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (!hasChanges) return { event: body };
  const { op, event, previous } = body;
  return { op, event, ...(previous !== undefined && { previous }) };
}

/**
 * Messages of a step. One that could not be rendered is expected too, so that the case fails until its template is mended.
 * A slot that an earlier step took sends nothing; a delivery of the workspace is not there when the case runs.
 */
function messagesOf({ recipients }: Step, taken: Set<string>): readonly Readonly<Record<string, string>>[] {
  return recipients.flatMap(({ to, unique_id: uniqueId, messages }) =>
    messages.flatMap(({ channel, subject, push }) => {
      const name = ADDRESSES[channel as keyof typeof ADDRESSES];
      const address = to[name] ?? null;
      const slot = JSON.stringify([channel, uniqueId]);
      if (address === null || taken.has(slot)) return [];
      taken.add(slot);
      const title = push?.title ?? null;
      return [{ [name]: address, ...(subject !== null && { subject }), ...(title !== null && { title }) }];
    }),
  );
}

/** Answers by user id, if the pasted answer has one for each. */
function lookupsOf(steps: readonly Step[], answer: string): readonly string[] {
  const asks = steps.find((step) => step.asks !== null)?.asks;
  if (!asks || answer.trim() === '') return [];
  const people = JSON.parse(answer) as readonly unknown[];
  const lines = asks.user_ids.map((id, at) => `    ${JSON.stringify(id)}: ${JSON.stringify(people[at] ?? null)}`);
  return ['lookups:', `  ${asks.integration}:`, ...lines];
}

/** Returns a file with one case, as `carillon test` runs it. The first line has a time, all others count from it. Throws SyntaxError. */
export function caseYaml({ rule, name, events, until, hasChanges, steps, answer }: TestCase): string {
  const first = events[0]?.at ?? 0;
  const timeText = (at: number): string => {
    if (at === first) return new Date(at).toISOString();
    const span = at - first;
    return span % 1000 === 0 ? `+${formatDuration(span)}` : new Date(at).toISOString();
  };
  const taken = new Set<string>();
  const lines = [
    ...events.map(({ at, text }) => ({ at, line: `at: ${timeText(at)}, ${flow(eventKeys(text, hasChanges))}` })),
    ...steps.flatMap((step) => {
      const at = Date.parse(step.at);
      return messagesOf(step, taken).map((message) => ({
        at,
        line: `at: ${timeText(at)}, message: { ${flow(message)} }`,
      }));
    }),
  ].toSorted((one, other) => one.at - other.at);
  const last = lines.at(-1)?.at ?? first;
  const end = until !== null && until > last ? [`until: ${timeText(until)}`] : [];
  return [
    `rule: ${rule}`,
    ...lookupsOf(steps, answer),
    'cases:',
    `  ${key(name)}:`,
    ...[...lines.map(({ line }) => line), ...end].map((line) => `    - { ${line} }`),
    '',
  ].join('\n');
}
