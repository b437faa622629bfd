import type { ReactNode } from 'react';
import { useNow } from './now.ts';
import { agoWords, momentWords, nowBeside } from './time-words.ts';
import { useZone } from './zone.ts';

/** A moment as people read it; the exact time in UTC shows when somebody points at it. `ago`: seconds within the last minute. */
export function Time({ at, ago = false }: { readonly at: string; readonly ago?: boolean }): ReactNode {
  const zone = useZone();
  const clock = useNow();
  const moment = new Date(at);
  const now = nowBeside(moment, clock);
  return (
    <time dateTime={at} title={at}>
      {ago ? agoWords(moment, now, zone) : momentWords(moment, now, zone)}
    </time>
  );
}
