import type { GivenResource, WrittenKind } from '@carillon/configuration';
import { writeConfigurationFolder } from '@carillon/configuration';
import { findResource } from '@carillon/domain/configuration';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planFolder } from '../src/configuration.ts';
import { planResources, type ResourcesPlan } from '../src/resources/plan-resources.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

let fixture: ResourceFixture;
const of = (kind: WrittenKind, name = '') => ({ kind, workspace: kind === 'deployment' ? '' : 'shop', name }) as const;
const put = (kind: WrittenKind, name: string, body: unknown): GivenResource => ({ ref: of(kind, name), body });
const plan = (
  bodies: readonly GivenResource[],
  remove: readonly ReturnType<typeof of>[] = [],
): Promise<ResourcesPlan> => planResources({ put: bodies, remove }, fixture.ports);
async function publish(bodies: readonly GivenResource[], remove: readonly ReturnType<typeof of>[] = []): Promise<void> {
  const { faults, record } = await plan(bodies, remove);
  expect(faults).toEqual([]);
  await fixture.topology.publish(...record);
}
const messages = ({ faults }: ResourcesPlan): readonly string[] =>
  faults.map(({ ref, path, message }) => `${ref.kind} ${ref.name} ${path}: ${message}`);

beforeAll(async () => {
  fixture = await openResourceFixture();
  await publish([
    put('workspace', '', SHOP),
    put('stream', 'orders', ORDERS),
    put('template', 'order-paid', MAIL),
    put('notification', 'order-paid', PAID),
  ]);
});
afterAll(() => fixture.close());

const current = () => fixture.ports.configuration.current();
const idOf = () => findResource(current(), 'notification', 'shop', 'order-paid')?.body.id;

describe('the plan of resources', () => {
  it('keeps resources that are not named, and describes changes as the plan of a folder does', async () => {
    const body = { ...PAID, enabled: false };
    const byBody = await plan([put('notification', 'order-paid', body)]);
    const files = Object.fromEntries(writeConfigurationFolder(current()));
    const file = 'workspaces/shop/notifications/order-paid.yaml';
    const byFolder = await planFolder(
      {
        files: { [file]: `enabled: false\n${files[file]}`, 'workspaces/shop/workspace.yaml': 'name: Shop\n' },
        prune: false,
      },
      fixture.ports,
    );
    expect(byFolder.body.faults).toEqual([]);
    expect(byBody.record).toEqual(byFolder.changes);
    expect(byBody.shown).toEqual(byFolder.body.changes.filter(({ action }) => action !== 'missing'));
    expect(byBody.shown).toMatchObject([{ action: 'update', fields: [{ path: 'enabled', after: 'false' }] }]);
  });

  it('is empty for the very body that is there', async () => {
    const { record, shown, faults } = await plan([put('notification', 'order-paid', PAID), put('workspace', '', SHOP)]);
    expect({ record, shown, faults }).toEqual({ record: [], shown: [], faults: [] });
  });

  it('refuses what is fixed at creation', async () => {
    expect(messages(await plan([put('stream', 'orders', { ...ORDERS, key: 'event.id' })]))).toEqual([
      'stream orders key: the key of an event stream cannot change after its creation',
    ]);
    expect(messages(await plan([put('stream', 'orders', { ...ORDERS, time: 'event.at' })]))).toEqual([
      'stream orders time: the time of an event stream cannot change after its creation',
    ]);
  });

  it('refuses an id that another notification has, and renames if that notification is removed in the same plan', async () => {
    const renamed = put('notification', 'paid-at-last', { ...PAID, id: idOf() });
    expect(messages(await plan([renamed]))).toEqual([
      'notification paid-at-last id: the notification order-paid already has this id',
    ]);
    const { faults, changes } = await plan([renamed], [of('notification', 'order-paid')]);
    expect(faults).toEqual([]);
    expect(changes.map(({ action, ref, notes }) => [action, ref.name, notes])).toEqual([
      ['delete', 'order-paid', ['renamed to paid-at-last: its history stays, so nobody is notified twice']],
      ['create', 'paid-at-last', []],
    ]);
  });

  it('refuses to remove a resource that another resource needs', async () => {
    expect(messages(await plan([], [of('template', 'order-paid')]))).toEqual([
      'notification order-paid channels.email.template: the template order-paid would be removed and is needed here',
    ]);
    const { faults, shown } = await plan([], [of('template', 'order-paid'), of('notification', 'order-paid')]);
    expect(faults).toEqual([]);
    expect(shown).toMatchObject([
      { action: 'delete', resource: 'notification shop/order-paid', told: 0 },
      { action: 'delete', resource: 'template shop/order-paid' },
    ]);
  });

  it('refuses to remove a workspace with resources, and the settings of the deployment', async () => {
    const [fault] = (await plan([], [of('workspace')])).faults;
    expect(fault?.message).toBe('the workspace still has notification order-paid, stream orders, template order-paid');
    expect(messages(await plan([], [of('deployment')]))).toEqual([
      'deployment  : the settings of the deployment cannot be removed',
    ]);
  });

  it('compiles MJML, reports faults at their source, and recompiles templates with changed includes', async () => {
    const mjml = '<mj-section><mj-column><mj-text>Paid</mj-text></mj-column></mj-section>';
    const layout = (text: string) =>
      put('layout', 'basic', { mjml: `<mjml><mj-body>{{{body}}}${text}</mj-body></mjml>` });
    await publish([layout(''), put('template', 'news', { email: { subject: 'x', mjml, layout: 'basic' } })]);
    const again = await plan([put('template', 'news', { email: { subject: 'x', mjml, layout: 'basic' } })]);
    expect(again.record).toEqual([]);
    const { shown } = await plan([layout('<mj-raw>!</mj-raw>')]);
    expect(shown.map(({ resource, action }) => [resource, action])).toEqual([
      ['layout shop/basic', 'update'],
      ['template shop/news', 'update'],
    ]);
    const broken = await plan([
      put('template', 'news', { email: { subject: 'x', mjml: '<mjml><mj-nothing/></mjml>' } }),
    ]);
    expect(broken.faults).toMatchObject([{ ref: { name: 'news' }, path: 'email.mjml', line: 1 }]);
    const both = await plan([layout('<mj-raw>!</mj-raw>')], [of('template', 'news')]);
    expect(both.shown.map(({ resource, action }) => [resource, action])).toEqual([
      ['layout shop/basic', 'update'],
      ['template shop/news', 'delete'],
    ]);
  });
});
