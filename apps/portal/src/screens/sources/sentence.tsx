import type { ReactNode } from 'react';

/** A sentence of the server, in which commands and names stand between backticks. */
export function Sentence({ text }: { readonly text: string }): ReactNode {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
