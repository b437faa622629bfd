import type { ChannelName, Message } from '@carillon/domain/channels';
import type { Wish } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const workspace = (name: string): Wish => ({ ref: { kind: 'workspace', workspace: name, name: '' }, body: {} });

let topology: Topology;
let control: Control;
let ofLab: Control;
let now = 0;
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(workspace('shop'), workspace('lab'), workspace('texts'));
  now = topology.ports.clock.now();
  await keep('lab', 'msg_lab', now - 120_000, 'ada@example.com');
  for (let at = 0; at < 60; at += 1) await keep('shop', `msg_${at}`, now - at, `reader${at}@example.com`);
  await keep('shop', 'msg_sms', now - 60_000, '+4930123456', 'sms');
  control = await controlOf();
  ofLab = await controlOf('lab');
});
afterAll(async () => {
  await control.app.close();
  await ofLab.app.close();
  await topology.close();
});

const messageTo = (to: string, channel: ChannelName): Message =>
  channel === 'sms'
    ? { channel, to, text: 'Paid' }
    : { channel: 'email', to, from: { name: '', address: 'a@b.c' }, subject: '', html: null, text: '', messageId: to };
const keep = (where: string, id: string, at: number, to: string, channel: ChannelName = 'email'): Promise<void> =>
  topology.data.inbox.put({ id, workspace: where, deliveryId: 'dlv_1', message: messageTo(to, channel), at });

const controlOf = async (where?: string): Promise<Control> => {
  const ports = { ...topology.ports, inbox: topology.data.inbox } as unknown as Partial<ControlPorts>;
  return (await openControl(accessOf(personWith('ann', ['read', 'bodies'], where)), ports)).control;
};

type Page = { readonly items: readonly { readonly id: string }[]; readonly next: string | null };
const found = async (url: string, from = control): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let next: string | null = ''; next !== null;) {
    const glue = url.includes('?') ? '&' : '?';
    const more = next === '' ? '' : `${glue}cursor=${encodeURIComponent(next)}`;
    const answer = await from.app.inject({ url: `${url}${more}` });
    expect(answer.statusCode).toBe(200);
    const page: Page = answer.json();
    ids.push(...page.items.map(({ id }) => id));
    next = page.next;
  }
  return ids;
};
const refused = async (url: string, from = control): Promise<string> => {
  const answer = await from.app.inject({ url });
  return `${answer.statusCode} ${answer.json<{ detail: string }>().detail}`;
};

it('Messages of a workspace are found on its first page, however many newer ones others have', async () => {
  expect(await found('/v1/workspaces/lab/inbox')).toEqual(['msg_lab']);
  expect(await found('/v1/workspaces/shop/inbox?limit=25')).toHaveLength(61);
  expect(await found('/v1/workspaces/-/inbox?limit=25')).toHaveLength(62);
});

it('The inbox is filtered by channel, recipient and time, in a workspace and over all', async () => {
  expect(await found('/v1/workspaces/shop/inbox?channel=sms')).toEqual(['msg_sms']);
  expect(await found('/v1/workspaces/shop/inbox?channel=sms,push&recipient=%2B49%2030%20123456')).toEqual(['msg_sms']);
  expect(await found('/v1/workspaces/shop/inbox?recipient=Reader7@example.com')).toEqual(['msg_7']);
  expect(await found('/v1/workspaces/lab/inbox?recipient=reader7')).toEqual([]);
  expect(await found('/v1/inbox?recipient=ADA')).toEqual(['msg_lab']);
  expect(await found('/v1/workspaces/shop/inbox?last=30s&channel=email')).toHaveLength(60);
  expect(await found('/v1/workspaces/shop/inbox?to=30s')).toEqual(['msg_sms']);
});

it('The inbox refuses an unknown filter value by its name, and answers the same for a hidden workspace as for a missing one', async () => {
  expect(await refused('/v1/workspaces/shop/inbox?channel=emial')).toMatch(/^400 .*there is no channel emial.*email/s);
  expect(await refused('/v1/workspaces/shop/inbox?person=ada')).toMatch(/^400 .*person/s);
  expect(await refused('/v1/workspaces/shop/inbox?last=soon')).toMatch(/^400 last: /);
  const [other, missing] = [
    await refused('/v1/workspaces/shop/inbox', ofLab),
    await refused('/v1/workspaces/none/inbox', ofLab),
  ];
  expect(other.replace('shop', 'none')).toBe(missing);
  expect(await found('/v1/workspaces/-/inbox', ofLab)).toEqual(['msg_lab']);
});

it('lists messages without their bodies, and opens one with it', async () => {
  const bodies = [
    { channel: 'sms', to: '+4930123457', text: 'Your code is 4711' },
    {
      channel: 'push',
      to: 'token',
      title: 'Parcel',
      body: 'It is at number 4711',
      image: null,
      link: 'https://a.example/4711',
      data: { code: '4711' },
      priority: null,
      collapse: null,
      androidChannel: null,
      apnsSound: null,
    },
    { ...messageTo('eve@example.com', 'email'), subject: 'Order paid', html: '<p>4711</p>', text: '4711' },
  ] as unknown as readonly Message[];
  for (const [at, message] of bodies.entries()) {
    await topology.data.inbox.put({ id: `msg_body_${at}`, workspace: 'texts', deliveryId: 'dlv_1', message, at: now });
  }
  const listed = await control.app.inject({ url: '/v1/workspaces/texts/inbox' });
  expect(listed.json<Page>().items).toHaveLength(3);
  expect(listed.body).toMatch(/Order paid/);
  expect(listed.body).toMatch(/Parcel/);
  expect(listed.body).not.toContain('4711');
  for (const at of bodies.keys()) {
    expect((await control.app.inject({ url: `/v1/inbox/msg_body_${at}` })).body).toContain('4711');
  }
});
