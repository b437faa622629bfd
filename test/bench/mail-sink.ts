import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SunkMail } from './peers/mail-sink.ts';

/** A mail server that takes everything, and when each subject came. */
export type MailSink = {
  readonly port: number;
  readonly pid: number;
  /** Asks until each of these has come, for five minutes; answers what came since the last call. */
  untilCame(subjects: ReadonlySet<string>): Promise<readonly SunkMail[]>;
  /** What came since the last call, without waiting. */
  came(): Promise<readonly SunkMail[]>;
  stop(): void;
};

const ASKED_EVERY = 50;
const COME_WITHIN = 300_000;

export async function startMailSink(): Promise<MailSink> {
  const child = fork(join(import.meta.dirname, 'peers/mail-sink.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let known = 0;
  async function ask(): Promise<readonly SunkMail[]> {
    child.send(known);
    const [came] = (await once(child, 'message')) as [SunkMail[]];
    known += came.length;
    return came;
  }
  return {
    port,
    pid: child.pid ?? 0,
    came: ask,
    async untilCame(subjects) {
      const missing = new Set(subjects);
      const all: SunkMail[] = [];
      for (const deadline = Date.now() + COME_WITHIN; missing.size > 0; await pause(ASKED_EVERY)) {
        const came = await ask();
        all.push(...came);
        for (const { subject } of came) missing.delete(subject);
        if (Date.now() > deadline) throw new Error(`${missing.size} of ${subjects.size} mails did not come`);
      }
      return all;
    },
    stop: () => child.disconnect(),
  };
}
