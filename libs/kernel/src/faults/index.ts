import type { CodedFault, FaultCode } from '../configuration-faults.ts';
import { ACCOUNT_PHRASES } from './account-phrases.ts';
import { BODY_PHRASES } from './body-phrases.ts';
import { CADENCE_PHRASES } from './cadence-phrases.ts';
import type { FaultPhrases, FaultPlace, FaultText } from './fault-text.ts';
import { NOTIFICATION_PHRASES } from './notification-phrases.ts';
import { RULE_PHRASES } from './rule-phrases.ts';
import { SECURITY_PHRASES } from './security-phrases.ts';
import { STREAM_PHRASES } from './stream-phrases.ts';
import { TEMPLATE_PHRASES } from './template-phrases.ts';
import { WORKSPACE_PHRASES } from './workspace-phrases.ts';

export type { FaultPlace, FaultText } from './fault-text.ts';

/** The sentences of every fault, for files and for forms. */
const PHRASES: FaultPhrases<FaultCode> = {
  ...BODY_PHRASES,
  ...TEMPLATE_PHRASES,
  ...NOTIFICATION_PHRASES,
  ...RULE_PHRASES,
  ...SECURITY_PHRASES,
  ...CADENCE_PHRASES,
  ...STREAM_PHRASES,
  ...ACCOUNT_PHRASES,
  ...WORKSPACE_PHRASES,
};

/** Returns true if this version has sentences for a code. */
export const isFaultCode = (code: string): code is FaultCode => Object.hasOwn(PHRASES, code);

/** Returns the sentences of a fault at a place. */
export function describeFault({ code, facts }: CodedFault, place: FaultPlace): FaultText {
  const phrase = PHRASES[code] as (facts: CodedFault['facts'], place: FaultPlace) => FaultText;
  return phrase(facts, place);
}
