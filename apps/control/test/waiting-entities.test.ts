import type { PlannedChange } from '@carillon/configuration';
import { findResource, type NotificationBody, type RuleBody } from '@carillon/domain/configuration';
import { editWordsOf } from '@carillon/domain/rules';
import { ORDER_PAID, ORDERS, orderShop, stream, type Wish } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPorts } from '../src/index.ts';
import { waitChecks } from '../src/wait-checks.ts';
import { waitNotes } from '../src/wait-notes.ts';
import { describeWaiting, MAX_WAITING } from '../src/waiting-entities.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const HOUR = 3_600_000;
const PLAIN: RuleBody = {
  stream: 'orders',
  when: 'event.status == "placed"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
};
const UNPAID: RuleBody = { ...PLAIN, after: '1h', unless: 'event.status == "paid"' };
const workspace = (name: string): Wish => ({ ref: { kind: 'workspace', workspace: name, name: '' }, body: {} });

let topology: Topology;
let deadline = '';
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: { plain: PLAIN, unpaid: UNPAID } }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
    workspace('shop'),
  );
  deadline = new Date(topology.clock.now() + HOUR).toISOString();
  for (const order of ['A-1', 'A-2', 'A-3']) {
    await topology.event({ status: 'placed', order_id: order, customer: { email: 'ada@example.com' } });
    topology.clock.pass(1000);
  }
  await topology.event({ status: 'paid', order_id: 'A-2', customer: { email: 'ada@example.com' } });
  await evaluateAll(topology);
});
afterAll(() => topology.close());

const NOTIFICATION = { kind: 'notification', workspace: 'shop', name: 'order-paid' } as const;
const bodyNow = (): NotificationBody =>
  findResource(topology.ports.configuration.current(), 'notification', 'shop', 'order-paid')?.body as NotificationBody;

/** What a change of the notification says of waits. */
function notesOf(rules: Record<string, RuleBody> | null, enabled = true): Promise<readonly string[]> {
  const current = topology.ports.configuration.current();
  const before = bodyNow();
  const change: Pick<PlannedChange, 'action' | 'ref' | 'body'> = {
    action: rules === null ? 'delete' : 'update',
    ref: NOTIFICATION,
    body: rules === null ? null : { ...before, rules, enabled },
  };
  return waitNotes(change, current, topology.ports);
}

describe('entities that wait', () => {
  it('are counted per rule, with the next deadline', async () => {
    const access = accessOf(personWith('ann', ['read']));
    const { control } = await openControl(access, topology.ports as unknown as Partial<ControlPorts>);
    const ask = async (rule: string) => {
      const url = `/v1/workspaces/shop/rules/order-paid.${rule}/waiting`;
      return (await control.app.inject({ method: 'GET', url })).json<Record<string, unknown>>();
    };
    expect(await ask('unpaid')).toEqual({
      rule: 'order-paid.unpaid',
      can_wait: true,
      entities: 2,
      next_deadline: deadline,
      late_events: null,
    });
    expect(await ask('plain')).toMatchObject({ can_wait: false, entities: 0, next_deadline: null });
    expect(await ask('gone')).toMatchObject({ code: 'not_found' });
    await control.app.close();
  });

  it('are reported by doctor per rule', async () => {
    const steps = await waitChecks(topology.ports);
    const detail = `2 entities wait, the next until ${deadline}`;
    expect(steps).toEqual([{ step: 'waits of shop/order-paid.unpaid', ok: true, detail }]);
  });

  it('are reported if a change ends or skips their waits', async () => {
    const counted = `2 entities wait, the next until ${deadline} by rule unpaid, which`;
    expect(await notesOf(null)).toEqual([`${counted} is removed: their waits end without a message`]);
    expect(await notesOf({ plain: PLAIN })).toEqual([`${counted} is removed: their waits end without a message`]);
    const moved = { plain: PLAIN, unpaid: { ...UNPAID, stream: 'baskets' } };
    expect(await notesOf(moved)).toEqual([`${counted} moves to another stream: their waits end without a message`]);
    const off = `${counted} is switched off: a deadline that passes meanwhile sends nothing, and an event cancels nothing`;
    expect(await notesOf({ plain: PLAIN, unpaid: { ...UNPAID, enabled: false } })).toEqual([off]);
    expect(await notesOf({ plain: PLAIN, unpaid: UNPAID }, false)).toEqual([off]);
  });

  const { after: _, unless: __, ...noWait } = UNPAID;
  const { unless: ___, ...noUnless } = UNPAID;
  it.each([
    ['when', { ...UNPAID, when: 'event.status == "packed"' }, 'existing waits keep their deadline'],
    ['after', { ...UNPAID, after: '2h' }, 'existing waits keep their deadline'],
    ['no after', noWait, 'existing waits keep their deadline; nothing cancels them any more'],
    ['unless', { ...UNPAID, unless: 'event.status == "sent"' }, 'the new `unless` counts for them'],
    ['no unless', noUnless, 'nothing cancels them any more'],
    [
      'after and recipients',
      { ...UNPAID, after: '2h', recipients: { ...PLAIN.recipients, where: 'true' } },
      'existing waits keep their deadline; their messages go to the new recipients',
    ],
  ] as const)('are reported with the effect of an edit of %s', async (_key, unpaid, words) => {
    const counted = `2 entities wait, the next until ${deadline} by rule unpaid`;
    expect(await notesOf({ plain: PLAIN, unpaid })).toEqual([`${counted}: ${words}`]);
  });

  it.each([
    [undefined, '1h', 'the cooldown begins at the next firing'],
    ['1h', '2h', 'the new cooldown counts from the last firing'],
    ['1h', 'until_false', 'the cooldown begins at the next match, which fires'],
    ['1h', undefined, 'the cooldown ends'],
  ] as const)('do not matter for a changed cooldown from %s to %s', (before, after, words) => {
    const withCooldown = (cooldown: string | undefined) => ({ ...PLAIN, ...(cooldown && { cooldown }) }) as RuleBody;
    expect(editWordsOf(withCooldown(before), withCooldown(after))).toEqual({ waits: [], kept: [words] });
    expect(editWordsOf(withCooldown(after), withCooldown(after))).toEqual({ waits: [], kept: [] });
  });

  it('are reported for an edit of a cooldown, a channel and a template', async () => {
    expect(await notesOf({ plain: PLAIN, unpaid: { ...UNPAID, cooldown: '1h' } })).toEqual([
      'rule unpaid: the cooldown begins at the next firing',
    ]);
    const counted = `2 entities wait, the next until ${deadline} by rule`;
    const before = bodyNow();
    const channels = { email: { template: 'another' } };
    const edited = { action: 'update', ref: NOTIFICATION, body: { ...before, channels } } as const;
    const current = topology.ports.configuration.current();
    expect(await waitNotes(edited, current, topology.ports)).toEqual([
      `${counted} unpaid: their messages use the new channels`,
    ]);
    const { template } = before.channels.email ?? {};
    const ref = { kind: 'template', workspace: 'shop', name: template ?? '' } as const;
    expect(await waitNotes({ action: 'update', ref, body: null }, current, topology.ports)).toEqual([
      `${counted} order-paid.unpaid: their messages use the new template`,
    ]);
  });

  it('are not reported for a change without effect on their waits', async () => {
    expect(await notesOf({ unpaid: UNPAID })).toEqual([]);
    expect(await notesOf({ plain: { ...PLAIN, when: 'true' }, unpaid: UNPAID })).toEqual([]);
  });

  it('are counted up to a limit', () => {
    expect(describeWaiting({ count: 1, nextDue: 0 })).toBe('1 entity waits, until 1970-01-01T00:00:00.000Z');
    expect(describeWaiting({ count: MAX_WAITING, nextDue: null })).toBe('10,000 or more entities wait');
  });
});
