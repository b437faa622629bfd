import type { CodedFault } from '@carillon/kernel';
import { describeFault, isFaultCode } from '@carillon/kernel/faults';
import { channelLabels, fieldLabel, kindLabel } from './field-labels.ts';

/** A mistake or warning as the API returns it. */
export type ApiFault = {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;
};

/** `message`: the fault, a sentence without its full stop. `fix`: what to do, a sentence, or empty if the message says it. */
export type FormSentences = { readonly message: string; readonly fix: string };

const quote = (text: string): string => `“${text.replace(/^"(.*)"$/s, '$1')}”`;
const sentence = (text: string): string =>
  text === '' ? '' : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;

/** Returns the sentences of a fault for people who fill in forms. */
export function sentencesInForm({ kind, name, path, code, facts }: ApiFault): FormSentences {
  const label = fieldLabel(kind, path);
  // A page that is older than its server may not know the code.
  if (!isFaultCode(code)) return { message: `${label} has a mistake`, fix: 'Load this page again.' };
  const { message, formMessage, formFix } = describeFault({ code, facts } as CodedFault, {
    label,
    kind,
    workspace: '',
    name,
    path,
    quote,
    kindName: kindLabel,
    channelNames: channelLabels,
    partName: fieldLabel,
    remark: (text) => text.replaceAll(/`([^`]*)`/g, '“$1”'),
    file: () => '',
  });
  return { message: sentence(formMessage ?? message).replace(/\.$/, ''), fix: sentence(formFix) };
}
