import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 31. Many at once
 *
 * For an hour the mail server refused everything. Hundreds of messages have failed, and nobody wants to send them again one by one.
 * What takes long is a job: counted first, followed while it goes on, and finished even where Carillon dies in the middle.
 */

const MANY = 200;

type Job = {
  readonly id: string;
  readonly state: string;
  readonly done: number;
  readonly of: number;
  readonly failed: number;
};
type Listed = {
  readonly items: readonly {
    readonly id: string;
    readonly history: readonly { readonly state: string; readonly reason: string }[];
  }[];
};

chapter('31. Many at once', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  const countOf = async (state: string): Promise<number> =>
    (await carillon.ask<Listed>(['deliveries', '--state', state, '--limit', '500'])).items.length;
  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    carillon = await startCarillon(await newHome());
    await carillon.sendThrough(smtp.port);
    await carillon.edit(ORDER_PAID, 'first: 30s, max: 4h', 'first: 1s, max: 1s');
    await carillon.apply();
    smtp.follow(({ stage }) => (stage === 'rcpt' ? '554 5.7.1 we take nothing today' : undefined));
    for (let at = 0; at < MANY; at += 20) {
      const some = Array.from({ length: 20 }, (_, one) => `p${at + one}@example.com`);
      await Promise.all(some.map((email) => carillon.send({ ...ORDER, customer: { name: 'Ada', email } })));
    }
    await untilFound('all have failed', async () => ((await countOf('FAILED')) === MANY ? true : undefined), 120_000);
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  const failed = ['--state', 'FAILED', '--since', '1h'];

  it('says how many it would be, and to how many people, before anything is done', async () => {
    const { code, err } = await carillon.command(['deliveries', 'resend', '--all', ...failed]);
    expect(code).toBe(2);
    expect(err).toContain(`${MANY} deliveries to ${MANY} people (${MANY} FAILED) can be sent again; pass --yes`);
    expect((await carillon.command(['jobs', 'list'])).out).toContain('no jobs');
  });

  it('accepts several ids, and reports each that failed', async () => {
    const { items } = await carillon.ask<Listed>(['deliveries', ...failed, '--limit', '1']);
    const [one] = items;
    const { code, out } = await carillon.command(['deliveries', 'cancel', one?.id ?? '', 'dlv_none']);
    expect(code).toBe(1);
    expect(out).toContain('0 of 2 done, 2 failed');
    expect(out).toContain('wrong_state: only WAITING and COLLECTED can be cancelled; this is FAILED');
    expect(out).toContain('not_found: there is no delivery dlv_none');
  });

  it('sends all of them again, each once, though Carillon is killed in the middle', async () => {
    // It takes nothing yet, so that what counts is what the job did.
    smtp.follow(({ stage }) => (stage === 'rcpt' ? '451 4.3.0 not now' : undefined));
    const begun = await carillon.ask<Job>(['deliveries', 'resend', '--all', ...failed, '--yes', '--no-wait']);
    expect(begun).toMatchObject({ state: 'waiting', of: MANY, done: 0 });
    const show = (): Promise<Job> => carillon.ask<Job>(['jobs', 'show', begun.id]);
    await untilFound('the job is under way', async () => ((await show()).done > 0 ? true : undefined), 60_000);
    process.kill(carillon.pid, 'SIGKILL');
    smtp.follow(() => undefined);
    carillon = await startCarillon(carillon.home);
    const { code, out } = await carillon.command(['jobs', 'show', begun.id, '--follow']);
    expect(code, out).toBe(0);
    expect(out).toContain(`${MANY} of ${MANY} done`);
    for (let cursor: readonly string[] = []; ;) {
      const page = await carillon.ask<Listed & { readonly next: string | null }>(['deliveries', ...cursor]);
      for (const { history } of page.items) {
        // A call to the provider keeps the reason for which it is made.
        const again = history.filter(({ state, reason }) => state === 'WAITING' && reason === 'operator_resend');
        expect(again).toHaveLength(1);
      }
      if (page.next === null) break;
      cursor = ['--cursor', page.next];
    }
  });

  it('has every message taken once at most', async () => {
    await expect.poll(() => countOf('SENT,IN_DOUBT'), { timeout: 120_000 }).toBe(MANY);
    const to = smtp.accepted.flatMap(({ to: all }) => all);
    expect(new Set(to).size).toBe(to.length);
  });

  it('lists jobs with their author, and the audit has each of them', async () => {
    const { out } = await carillon.command(['jobs', 'list']);
    expect(out).toMatch(new RegExp(`resend_deliveries +done +${MANY} of ${MANY} +owner`));
    const audit = await carillon.ask<{ items: readonly { action: string; target: string }[] }>([
      'audit',
      'list',
      '--action',
      'delivery.resend',
      '--limit',
      '500',
    ]);
    expect(new Set(audit.items.map(({ target }) => target)).size).toBe(MANY);
  });

  it('ends a job that was begun by mistake, and what is done stays done', async () => {
    const { err, code } = await carillon.command(['jobs', 'cancel', 'job_none']);
    expect([code, err]).toEqual([1, expect.stringContaining('there is no job job_none')]);
  });
});
