import type { WhyNotBody } from '@carillon/contracts';
import { GATE_TITLES, type Gate, type GateName } from '@carillon/insight';
import { formatInstant } from '@carillon/kernel';

/**
 * Returns a gate of a why-not explanation as the API shows it. Event contents are only shown with the permission
 * `bodies`.
 */
export const showGate = (one: Gate, maySeeBodies: boolean): WhyNotBody['gates'][number] => ({
  gate: one.gate,
  title: GATE_TITLES[one.gate],
  result: one.result,
  text: one.result === 'not_reached' ? one.text : showGateText(one, maySeeBodies),
  at: one.at === null ? null : formatInstant(one.at),
  lines: maySeeBodies ? [...one.lines] : [],
  evidence: one.evidence.map((each) => ({ ...each })),
  source: one.source,
});

/** Returns the text of a gate. A provider's words may quote the message. */
export const showGateText = (
  { gate, text }: { readonly gate: GateName | null; readonly text: string },
  maySeeBodies: boolean,
): string => (maySeeBodies || gate !== 'provider' ? text : '');
