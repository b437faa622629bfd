import type { WhyNotBody } from '@carillon/contracts';
import { GATE_TITLES, type Gate } from '@carillon/insight';
import { formatInstant } from '@carillon/kernel';

/** Returns the body of a gate. */
export const showGate = (one: Gate, maySeeBodies: boolean): WhyNotBody['gates'][number] => ({
  gate: one.gate,
  title: GATE_TITLES[one.gate],
  result: one.result,
  // A provider's words may quote the message.
  text: maySeeBodies || one.gate !== 'provider' || one.result === 'not_reached' ? one.text : '',
  at: one.at === null ? null : formatInstant(one.at),
  lines: maySeeBodies ? [...one.lines] : [],
  evidence: one.evidence.map((each) => ({ ...each })),
  source: one.source,
});
