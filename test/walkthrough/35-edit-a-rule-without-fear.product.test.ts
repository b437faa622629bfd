import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunBody } from '@carillon/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 35. Edit a rule without fear
 *
 * Before a changed rule is published, Carillon evaluates the events of the last 30 days again and says who would have been notified.
 * docs/replay.md has the words.
 */

const DIFF = ['replay', 'diff', '-f', 'carillon-demo'];

chapter('35. Edit a rule without fear', (newHome) => {
  let carillon: Carillon;
  let run = '';
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    const notified = await carillon.send(ORDER);
    await carillon.trace(await carillon.send({ ...ORDER, order_id: 'A-1002', total: 90 }));
    await carillon.delivery(notified, 'SENT');
    await carillon.edit(ORDER_PAID, 'event.total > 100', 'event.total > 80');
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('says for how many people messages would have been added, by rule and day, and sends nothing', async () => {
    const { code, out } = await carillon.command(DIFF);
    expect(code).toBe(0);
    expect(out).toContain(
      'Over the last 30 days, this edit would have added messages for 1 person. 1 message is unchanged. This person was not yet notified.',
    );
    expect(out).toMatch(/order-paid\.paid +1 +0 +0 +0 +1\n/);
    expect(out).toMatch(/\n\d{4}-\d\d-\d\d +1 +0 +0 +0\n/);
    run = /replay rows (run_\w+)/.exec(out)?.[1] ?? '';
    expect(await carillon.inbox()).toHaveLength(1);
    expect((await carillon.command(['diff', '-f', 'carillon-demo'])).out).toContain(
      '+ event.status == "paid" && event.total > 80',
    );
  });

  it('lists the messages that differ, on the screen and as CSV', async () => {
    const { out } = await carillon.command(['replay', 'rows', run, '--difference', 'added', '--slot', 'none']);
    expect(out).toMatch(/added +never sent +order-paid\.paid +email +ada@example\.com +– +ada@example\.com/);
    expect((await carillon.command(['replay', 'rows', run, '--difference', 'removed'])).out).toContain(
      'no messages differ',
    );
    const csv = await carillon.command(['replay', 'rows', run, '--csv', 'added.csv']);
    expect([csv.code, csv.out.trim()]).toEqual([0, 'wrote added.csv']);
    const file = join(carillon.folder, 'added.csv');
    expect(await readFile(file, 'utf8')).toContain('ada@example.com');
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  it('keeps the result, and has the same checksum when it is asked again', async () => {
    const first = await carillon.ask<RunBody>(['replay', 'show', run]);
    expect(first).toMatchObject({ state: 'done', counts: { people: { added: 1 } } });
    expect(JSON.stringify(first)).not.toContain('ada@example.com');
    const again = await carillon.ask<RunBody>([...DIFF, '--from', first.from, '--to', first.to]);
    expect(again.checksum).toBe(first.checksum);
    const { out } = await carillon.command(['replay', 'list']);
    expect(out.match(/run_\w+ +compare +done +order-paid +1 +0 /g)).toHaveLength(2);
  });

  it('verifies that evaluating the log again gives the same messages', async () => {
    const { code, out } = await carillon.command(['replay', 'verify']);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('2 events evaluated again give what the log has: 1 output.'),
    ]);
    const id = /run_\w+/.exec((await carillon.command(['replay', 'list'])).out)?.[0] ?? '';
    expect((await carillon.command(['replay', 'findings', id])).out).toContain('no findings');
    expect(await carillon.inbox()).toHaveLength(1);
  });

  it('warns before all numbers if unique_id changes', async () => {
    await carillon.edit(ORDER_PAID, 'event.total > 80', 'event.total > 100');
    await carillon.edit(ORDER_PAID, 'unique_id: event_id', 'unique_id: event.order_id');
    const { out } = await carillon.command(DIFF);
    expect(out.split('\n')[0]).toBe(
      'This edit changes unique_id. 1 person who was already notified would be notified again.',
    );
    await carillon.edit(ORDER_PAID, 'unique_id: event.order_id', 'unique_id: event_id');
  });

  it('compares what is published with the version before it', async () => {
    await carillon.edit(ORDER_PAID, 'event.total > 100', 'event.total > 1000');
    await carillon.apply();
    const { out } = await carillon.command(['replay', 'diff', '--notification', 'order-paid']);
    expect(out).toContain('removed messages for 1 person');
  });

  it('names the mistakes of a folder, and an edit that changes nothing', async () => {
    const unchanged = await carillon.command(DIFF);
    expect([unchanged.code, unchanged.out]).toEqual([0, expect.stringContaining('changes no notification')]);
    await carillon.edit(ORDER_PAID, 'event.total > 1000', 'event.total > lenght("x")');
    const { code, err } = await carillon.command(DIFF);
    expect([code, err]).toEqual([2, expect.stringContaining('lenght')]);
  });
});
