import type { FaultCode, FaultFacts } from '@carillon/kernel';

export type Place = {
  /** The field that is wrong, as its form labels it. */
  readonly label: string;
  readonly kind: string;
  readonly name: string;
};
/** Returns what is wrong, and what to do about it. */
export type Phrase<Code extends FaultCode> = (
  facts: FaultFacts<Code>,
  place: Place,
) => readonly [message: string, fix?: string];

export const quoted = (text: string): string => `“${text.replace(/^"(.*)"$/s, '$1')}”`;
