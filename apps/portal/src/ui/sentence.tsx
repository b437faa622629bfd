import type { ReactNode } from 'react';
import { useNow } from './now.ts';
import { sentenceParts } from './sentence-parts.ts';
import { Time } from './time.tsx';

/** A sentence of the server: names between backticks are code, and times are shown as everywhere in the portal. */
export function Sentence({ text }: { readonly text: string }): ReactNode {
  const now = useNow();
  return sentenceParts(text, new Date(now)).map((part, index) => {
    if (part.kind === 'code') return <code key={index}>{part.text}</code>;
    return part.kind === 'time' ? <Time key={index} at={part.text} /> : part.text;
  });
}
