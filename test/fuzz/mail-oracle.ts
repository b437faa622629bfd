import type { Exchange } from './exchange.ts';
import { leakIn, type Secrets, type Verdict } from './oracle.ts';

/** Replies that the listener for mail that comes back has: nothing is away, so nobody is asked to come again later. */
const REPLIES: ReadonlySet<string> = new Set(
  '220 221 250 354 421 452 500 501 502 503 504 530 538 550 552 553 554 555'.split(' '),
);
/** Too many connections, or a client that says too much that is no command. */
const BUSY = /^421[^\r\n]*too many connected/im;

/** Whether a mail was asked for and then taken. */
export const wasTaken = (raw: string): boolean => /^354 [^\r\n]*\r\n(?:250-[^\r\n]*\r\n)*250 /m.test(raw);

/** Judges all that the listener said to one client. `isForUs`: some recipient that the client named was an address of ours. */
export function judgeMail(seen: Exchange, isForUs: boolean, limit: number, secrets: Secrets): Verdict {
  const fault = (what: string, passing = false): Verdict => ({ fault: what, passing });
  if (seen.refused !== null) return fault(`nobody could talk to the listener: ${seen.refused}`);
  if (seen.end === 'late') return fault(`the listener was not done within ${limit} ms`);
  if (seen.raw === '') return fault('the listener closed the connection without a greeting');
  if (BUSY.test(seen.raw)) return fault('the listener has no place free', true);
  const lines = seen.raw.split('\r\n');
  if (lines.pop() !== '') return fault(`half a reply: ${seen.raw.slice(-200)}`);
  for (const line of lines) {
    const [, code = ''] = /^(\d{3})(?:[ -]|$)/.exec(line) ?? [];
    if (!REPLIES.has(code)) return fault(`the listener says ${line.slice(0, 200)}`);
  }
  const leak = leakIn(seen.raw, secrets);
  if (leak !== null) return fault(`the listener: ${leak}`);
  if (wasTaken(seen.raw) && !isForUs) return fault('mail for an address that is not ours was taken');
  return { fault: null, passing: false };
}
