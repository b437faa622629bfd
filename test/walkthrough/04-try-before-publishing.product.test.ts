import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 4. Try before you send
 *
 * `rule test` takes an event from a file and shows what a rule would do with it: the value of every part of the
 * condition, who would be told, and the message as they would read it. It sends nothing and writes nothing.
 */

chapter('4. Try before you send', (newHome) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const test = async (event: unknown, more: readonly string[] = []) => {
    await writeFile(join(carillon.folder, 'event.json'), JSON.stringify(event));
    return carillon.command(['rule', 'test', 'order-paid.paid', '--event', 'event.json', ...more]);
  };

  it('shows for an event that would fire the values, the recipient and the message', async () => {
    const { out, code } = await test(ORDER);
    expect(code).toBe(0);
    expect(out).toMatch(/event\.status == "paid" && event\.total > 100 +→ +true/);
    expect(out).toMatch(/event\.total +→ +120/);
    expect(out).toContain('recipient  email: ada@example.com');
    expect(out).toContain('Thank you, Ada: order A-1001 is paid');
    expect(out).toContain('Order   A-1001');
    expect((await test(ORDER, ['--html'])).out).toContain('<h1');
  });

  it('shows the false part of the condition for an event that does not fire', async () => {
    const { out, code } = await test({ ...ORDER, total: 99 });
    expect(code).toBe(0);
    expect(out).toMatch(/event\.total > 100 +→ +false/);
    expect(out).toContain('does not fire');
  });

  it('names the fields that the template asks for and the event does not have', async () => {
    const { out } = await test({ ...ORDER, customer: { email: 'ada@example.com' } });
    expect(out).toContain('missing, so empty: customer.name');
  });

  it('has sent nothing and kept nothing', async () => {
    expect(await carillon.inbox()).toEqual([]);
    expect((await carillon.command(['deliveries'])).out.trim()).toBe('no deliveries');
    expect((await carillon.command(['events'])).out.trim()).toBe('no events');
  });

  it('says what to type where the rule is not known', async () => {
    const { err, code } = await carillon.command(['rule', 'test', 'paid', '--event', '-'], JSON.stringify(ORDER));
    expect(code).toBe(1);
    expect(err).toContain('name it notification.rule');
  });
});
