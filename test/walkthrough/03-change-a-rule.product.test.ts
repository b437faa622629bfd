import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 3. Change a rule
 *
 * The configuration is a folder of text files. You edit, look at what would change, and apply. Nothing restarts, and
 * from the moment that `apply` answers every event is judged by the new configuration.
 */

chapter('3. Change a rule', (newHome) => {
  let carillon: Carillon;
  /** The number of the configuration that the demo began with; each change has a higher one. */
  let demo = 0;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    demo = carillon.home.demoNumber;
  });
  afterAll(async () => {
    await carillon.leave();
  });

  const CHECK = ['-f', 'carillon-demo'];

  it('reports no change for an untouched folder', async () => {
    const { out, code } = await carillon.command(['diff', ...CHECK]);
    expect(out.trim()).toBe(`nothing would change (configuration ${demo})`);
    expect(code).toBe(0);
  });

  it('shows the effect of a change before applying it', async () => {
    await carillon.edit(ORDER_PAID, 'event.total > 100', 'event.total > 1000');
    const { out } = await carillon.command(['diff', ...CHECK]);
    expect(out).toContain('~ notification shop/order-paid');
    expect(out).toContain('- event.status == "paid" && event.total > 100');
    expect(out).toContain('+ event.status == "paid" && event.total > 1000');
    // diff only looks. The order of 120 still fires.
    const id = await carillon.send(ORDER);
    await carillon.delivery(id, 'SENT');
  });

  it('judges the next event by the new rule as soon as apply has answered', async () => {
    const { out, code } = await carillon.command(['apply', ...CHECK]);
    expect(code).toBe(0);
    expect(out).toContain(`applied as configuration ${demo + 1}; it applies to every event from now on`);

    const small = await carillon.trace(await carillon.send(ORDER));
    expect(small).toMatch(
      new RegExp(String.raw`did not fire: \`when\` is false +configuration ${demo + 1} +order-paid\.paid v2`),
    );
    const large = await carillon.send({ ...ORDER, total: 1200 });
    await carillon.delivery(large, 'SENT');
  });

  it('sends the next message with a changed template, and shows it in the inbox', async () => {
    const file = 'carillon-demo/workspaces/shop/templates/order-paid/email.yaml';
    await carillon.edit(file, 'Thank you, {{ customer.name }}', 'Thanks a lot, {{ nickname }}');
    await carillon.command(['apply', ...CHECK]);
    const id = await carillon.send({ ...ORDER, total: 1200, nickname: 'Countess' });
    await carillon.delivery(id, 'SENT');
    const [newest] = await carillon.inbox();
    expect(newest?.subject).toBe('Thanks a lot, Countess: order A-1001 is paid');
  });

  it('changes nothing when the same folder is applied again', async () => {
    const { out, code } = await carillon.command(['apply', ...CHECK]);
    expect(out.trim()).toBe(`nothing to change (configuration ${demo + 2})`);
    expect(code).toBe(0);
  });

  it('reports all mistakes at once with file, line, column and fix, exits with 2, and applies nothing', async () => {
    const html = 'carillon-demo/workspaces/shop/templates/order-paid/email.html';
    const rule = await readFile(join(carillon.folder, ORDER_PAID), 'utf8');
    const page = await readFile(join(carillon.folder, html), 'utf8');
    await carillon.edit(ORDER_PAID, 'event.total > 1000', 'event.total > lenght("x")');
    await carillon.edit(html, '{{ customer.name }}!', '{{#if customer.name}}!');

    const { out, code } = await carillon.command(['apply', ...CHECK]);
    expect(code).toBe(2);
    expect(out).toContain('2 mistakes, nothing was applied');
    const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;
    expect(out).toMatch(
      new RegExp(String.raw`order-paid\.yaml:${lineOf(rule, 'event.total > 1000')}:\d+ .*unknown function .lenght`),
    );
    expect(out).toMatch(/email\.html:\d+:\d+ /);
    // Each says what was expected.
    expect(out.match(/^ +expected /gm)?.length).toBe(2);
    // The sound part of the folder was not applied either: the rule of before goes on.
    await carillon.delivery(await carillon.send({ ...ORDER, total: 1200 }), 'SENT');

    await carillon.edit(ORDER_PAID, 'event.total > lenght("x")', 'event.total > 1000');
    await carillon.edit(html, '{{#if customer.name}}!', '{{ customer.name }}!');
    expect(await readFile(join(carillon.folder, html), 'utf8')).toBe(page);
  });

  it('exports files that apply without a change and export again identically', async () => {
    await carillon.command(['export', 'first']);
    const { out } = await carillon.command(['apply', '-f', 'first']);
    expect(out.trim()).toBe(`nothing to change (configuration ${demo + 2})`);
    await carillon.command(['export', 'second']);
    const files = [ORDER_PAID, 'carillon-demo/workspaces/shop/templates/order-paid/email.html'];
    for (const file of files.map((name) => name.replace('carillon-demo/', ''))) {
      const [first, second] = await Promise.all(
        ['first', 'second'].map((folder) => readFile(join(carillon.folder, folder, file), 'utf8')),
      );
      expect(first, file).toBe(second);
    }
    // export writes the ids that were given at creation: keep them, and a renamed file is still the same notification.
    expect(await readFile(join(carillon.folder, ORDER_PAID.replace('carillon-demo', 'first')), 'utf8')).toMatch(
      /^id: ntf_/,
    );
  });
});
