import { setTimeout as pause } from 'node:timers/promises';
import { REPORT_TO, SID_OF, signedByTwilio, type BookedMessage } from '@carillon/testing/providers';
import { createChance } from '../harness/chance.ts';
import { PUBLIC_URL, TWILIO_TOKEN } from './providers.ts';
import type { Posts } from './posts.ts';

export type ReporterOptions = {
  readonly seed: number;
  /** Where the product listens now; waits while nobody knows. */
  readonly gateway: () => Promise<string>;
  /** Told of each number that opted out, once the product has said that it does. */
  readonly optedOut: Posts['optedOut'];
};

/** What comes after an SMS: Twilio reports it, and some who got it want no more. */
export type Reporter = {
  /** To be told of each message that Twilio took; its answer waits for that. */
  readonly onSms: (message: BookedMessage) => Promise<void>;
  /** Subjects of messages of which `delivered` was answered, and of all of which it was said. */
  readonly answered: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
  /** Says nothing any more that was not begun, and resolves when what was has ended. */
  stop(): Promise<void>;
};

/** Shares of messages reported before the request is answered; twice; and afterwards with what came before. */
const FIRST = 0.2;
const TWICE = 0.3;
const LATE = 0.3;
/** The share of those who got a message that follow its link and stop such messages. */
const OPTS_OUT = 0.15;
/** Longest until the first report. */
const REPORTED_WITHIN = 1_500;
const ANSWERED_WITHIN = 10_000;
const TRY_AGAIN = 150;

/** Twilio's reports, each said again until it is answered, and people with a link, who do the same. */
export function createReporter({ seed, gateway, optedOut }: ReporterOptions): Reporter {
  const chance = createChance(seed ^ 0x7e11);
  const answered = new Set<string>();
  const said = new Set<string>();
  const open = new Set<Promise<void>>();
  let stopped = false;

  /** Whether it was answered with this status; tries as often as it takes, or as it is told. */
  async function say(
    path: string,
    init: RequestInit,
    status: number,
    tries = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    for (let count = 0; count < tries && !stopped; count += 1) {
      const base = await gateway();
      const answer = await fetch(`${base}${path}`, { ...init, signal: AbortSignal.timeout(ANSWERED_WITHIN) }).catch(
        () => null,
      );
      await answer?.body?.cancel();
      if (answer?.status === status) return true;
      await pause(TRY_AGAIN);
    }
    return false;
  }

  async function report({ subject, headers }: BookedMessage, word: string, tries?: number): Promise<void> {
    const url = headers[REPORT_TO] ?? '';
    const form = { MessageSid: headers[SID_OF] ?? '', MessageStatus: word };
    if (word === 'delivered') said.add(subject);
    const taken = await say(url.slice(PUBLIC_URL.length), signedByTwilio(url, form, TWILIO_TOKEN), 204, tries);
    if (taken && word === 'delivered') answered.add(subject);
  }

  async function optOut({ to, headers }: BookedMessage): Promise<void> {
    const link = /https:\S+\/unsubscribe\/\S+/.exec(headers['x-body'] ?? '')?.[0] ?? '';
    const done = await say(link.slice(PUBLIC_URL.length), { method: 'POST' }, 200);
    if (done) optedOut(to[0] ?? '');
  }

  async function goOn(
    message: BookedMessage,
    late: boolean,
    twice: boolean,
    leaves: boolean,
    after: number,
  ): Promise<void> {
    await pause(after);
    await report(message, 'delivered');
    if (twice) await report(message, 'delivered');
    if (late) await report(message, 'sent');
    if (leaves) await optOut(message);
  }

  return {
    async onSms(message) {
      const [first, late, twice, leaves] = [chance() < FIRST, chance() < LATE, chance() < TWICE, chance() < OPTS_OUT];
      const going = goOn(message, late, twice, leaves, chance() * REPORTED_WITHIN).finally(() => open.delete(going));
      open.add(going);
      // The product may be dead just now: nobody waits for it.
      if (first) await Promise.race([report(message, 'delivered', 1), pause(2_000)]);
    },
    answered,
    said,
    async stop() {
      stopped = true;
      // Whoever waits for the product to be back says nothing any more.
      await Promise.race([Promise.allSettled(open), pause(ANSWERED_WITHIN)]);
    },
  };
}
