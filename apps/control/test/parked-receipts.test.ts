import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import { parkedReceipt } from '@carillon/domain/receipts';
import type { DeliveryId } from '@carillon/kernel';
import { publishConfiguration } from '@carillon/stages';
import { changesOf, givenIds, givenReceipt, orderShop, type Wish } from '@carillon/testing/given';
import { createDirectWire, createMemoryReadModels } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { deploymentOwner, type Principal } from '../src/access/principal.ts';
import { accessOf, auditEntries, openControl, personWith, type Fixture } from './control-fixture.ts';

let readModels = createMemoryReadModels().connect(createDirectWire());
let opened: Fixture[] = [];
beforeEach(() => {
  readModels = createMemoryReadModels().connect(createDirectWire());
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ control }) => control.app.close()));
});

type Answered = {
  readonly items: readonly { readonly id: string }[];
  readonly next: string | null;
  readonly code: string;
  readonly detail: string;
};

async function openFor(who: Principal) {
  const fixture = await openControl(accessOf(who), { readModels });
  opened.push(fixture);
  const { configuration, clock, log, codecs, control } = fixture;
  const ports = { log, codec: codecs.configuration, view: configuration, ids: givenIds, clock };
  const wishes = ['acme', 'shop'].flatMap((name): readonly Wish[] => [
    { ref: { kind: 'workspace', workspace: name, name: '' }, body: {} },
    ...orderShop(undefined, name),
  ]);
  const changes = changesOf(await configuration.refresh(), wishes);
  await publishConfiguration({ ...ports, readEverywhere: async () => undefined }, changes, CHANGED_BY_OWNER);
  const ask = async (url: string, method: 'GET' | 'POST' = 'GET') => {
    const answer = await control.app.inject({ method, url: `/v1/workspaces/${url}` });
    return { status: answer.statusCode, body: answer.json<Answered>() };
  };
  const idsOf = async (url: string) => (await ask(url)).body.items.map(({ id }) => id);
  return { ...fixture, ask, idsOf };
}
const owner = deploymentOwner('session');
const personIn = (workspace: string, ...permissions: readonly Permission[]): Principal =>
  personWith('ann', permissions, workspace);

const letter = {
  topic: 'carillon.receipts',
  stage: 'receipts',
  partition: 4,
  offset: 87,
  reason: 'unknown_receipt: this deployment made no attempt with that account and token',
  ownPartition: 0,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
};
/** Receipts of `shop`, `acme` and the deployment, newest first, and a dead letter that is no receipt. */
async function park(): Promise<void> {
  const said = (account: string | null, source: 'ses' | 'twilio' = 'twilio') => ({
    ...parkedReceipt(givenReceipt('dlv_00000000000000000000000000' as DeliveryId, 1, { account, source })),
    detail: '250 taken for ada@example.com',
    address: 'ada@example.com',
  });
  await readModels.put({
    deadLetters: [
      { ...letter, id: 'ddl_rule', workspace: 'shop', stage: 'evaluate', at: 0, ownOffset: 0, receipt: null },
      { ...letter, id: 'ddl_none', workspace: null, at: 1, ownOffset: 1, receipt: said(null) },
      { ...letter, id: 'ddl_acme', workspace: 'acme', at: 2, ownOffset: 2, receipt: said('acme/sms') },
      { ...letter, id: 'ddl_shop', workspace: 'shop', at: 3, ownOffset: 3, receipt: said('shop/mail', 'ses') },
    ],
  });
}

describe('unmatched receipts', () => {
  it('are listed newest first with their content, without other dead letters', async () => {
    await park();
    const { ask } = await openFor(owner);
    expect(await ask('-/receipts')).toMatchObject({
      status: 200,
      body: {
        items: [{ id: 'ddl_shop', source: 'ses', account: 'shop/mail' }, { id: 'ddl_acme' }, { id: 'ddl_none' }],
      },
    });
    expect(await ask('shop/receipts/ddl_shop')).toMatchObject({
      body: { id: 'ddl_shop', verdict: 'delivered', position: 'carillon.receipts/4@87', dismissed_at: null },
    });
    expect(await ask('shop/receipts/ddl_rule')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('are found by source, account, time and dismissal, over all pages', async () => {
    await park();
    await readModels.markDismissed('ddl_acme', 5, 'bob');
    const { idsOf, ask } = await openFor(owner);
    expect(await idsOf('-/receipts?parked=true')).toEqual(['ddl_shop', 'ddl_none']);
    expect(await idsOf('-/receipts?parked=false')).toEqual(['ddl_acme']);
    expect(await idsOf('-/receipts?source=ses')).toEqual(['ddl_shop']);
    expect(await idsOf('-/receipts?account=acme%2Fsms')).toEqual(['ddl_acme']);
    expect(await idsOf('-/receipts?from=1970-01-01T00:00:00.002Z')).toEqual(['ddl_shop', 'ddl_acme']);
    const first = await ask('-/receipts?limit=2');
    expect(await idsOf(`-/receipts?limit=2&cursor=${first.body.next}`)).toEqual(['ddl_none']);
    expect(await ask('-/receipts?source=twillio')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('are visible and dismissible only in one’s own workspace', async () => {
    await park();
    const { idsOf, ask } = await openFor(personIn('shop', 'read', 'bodies', 'operate'));
    expect(await idsOf('-/receipts')).toEqual(['ddl_shop']);
    for (const id of ['ddl_acme', 'ddl_none']) {
      expect(await ask(`-/receipts/${id}`)).toMatchObject({ status: 404 });
      expect(await ask(`-/receipts/${id}/dismiss`, 'POST')).toMatchObject({ status: 404 });
      expect(await readModels.deadLetter(id)).toMatchObject({ dismissedAt: null });
    }
    const dismissed = await ask('-/receipts/ddl_shop/dismiss', 'POST');
    expect(dismissed).toMatchObject({ status: 200, body: { id: 'ddl_shop', dismissed_by: 'ann' } });
  });

  it('keep their first dismissal if the call is repeated', async () => {
    await park();
    await readModels.markDismissed('ddl_shop', 5, 'bob');
    const { ask } = await openFor(owner);
    expect(await ask('shop/receipts/ddl_shop/dismiss', 'POST')).toMatchObject({
      status: 200,
      body: { dismissed_at: '1970-01-01T00:00:00.005Z', dismissed_by: 'bob' },
    });
  });

  it('share dismissal with changes above a limit, which cannot be redriven', async () => {
    const more = { ownOffset: 0, receipt: null, workspace: 'shop', at: 0 };
    await readModels.put({
      deadLetters: [
        { ...letter, ...more, id: 'ddl_change', stage: 'append', topic: 'source shop-db', partition: 0, offset: 0 },
        { ...letter, ...more, id: 'ddl_rule', stage: 'evaluate', topic: 'carillon.events' },
      ],
    });
    const fixture = await openFor(owner);
    const { ask, idsOf } = fixture;
    expect(await idsOf('shop/receipts')).toEqual([]);
    expect((await ask('shop/dead-letters/count')).body).toMatchObject({ count: 1, receipts: 0 });
    expect(await ask('shop/receipts/ddl_rule/dismiss', 'POST')).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('npx carillon dead-letters redrive ddl_rule') as string },
    });
    expect(await ask('shop/receipts/ddl_change/dismiss', 'POST')).toMatchObject({
      status: 200,
      body: { id: 'ddl_change', dismissed_by: 'owner' },
    });
    expect(await readModels.deadLetter('ddl_change')).toMatchObject({ dismissedBy: 'owner' });
    expect(await ask('shop/receipts/ddl_change/reopen', 'POST')).toMatchObject({ status: 200 });
    // The audit names what was dismissed, also if the process ends before the outcome.
    const entries = await auditEntries(fixture);
    const ofChange = entries.filter(({ target }) => target === 'ddl_change');
    expect(ofChange.map(({ what, outcome }) => [what, outcome])).toEqual([
      ['dead_letter.dismiss', 'begun'],
      ['dead_letter.dismiss', 'done'],
      ['dead_letter.reopen', 'begun'],
      ['dead_letter.reopen', 'done'],
    ]);
  });

  it('are hidden from readers without access to addresses and provider text', async () => {
    await park();
    const { ask } = await openFor(personIn('shop', 'read'));
    for (const url of ['shop/receipts', '-/receipts', 'shop/receipts/ddl_shop', '-/receipts/ddl_shop']) {
      expect(await ask(url)).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    }
  });

  it('can be dismissed by operators who see neither address nor text', async () => {
    await park();
    const blind = await (await openFor(personIn('shop', 'operate'))).ask('shop/receipts/ddl_shop/dismiss', 'POST');
    expect(blind).toMatchObject({
      status: 200,
      body: { id: 'ddl_shop', address: null, detail: null, verdict: 'delivered' },
    });
    const seen = await (
      await openFor(personIn('shop', 'operate', 'bodies'))
    ).ask('shop/receipts/ddl_shop/dismiss', 'POST');
    expect(seen).toMatchObject({
      status: 200,
      body: { address: 'ada@example.com', detail: '250 taken for ada@example.com' },
    });
  });

  it('cannot be dismissed by readers', async () => {
    await park();
    const { ask } = await openFor(personIn('shop', 'read'));
    expect(await ask('shop/receipts/ddl_shop/dismiss', 'POST')).toMatchObject({
      status: 403,
      body: { code: 'forbidden_role' },
    });
  });

  it('are open again after the dismissal is removed, only in one’s own workspace', async () => {
    await park();
    for (const id of ['ddl_acme', 'ddl_shop']) await readModels.markDismissed(id, 5, 'bob');
    const { ask, idsOf } = await openFor(personIn('shop', 'read', 'bodies', 'operate'));
    expect(await ask('-/receipts/ddl_acme/reopen', 'POST')).toMatchObject({ status: 404 });
    expect(await readModels.deadLetter('ddl_acme')).toMatchObject({ dismissedBy: 'bob' });
    for (const time of ['first', 'again']) {
      expect(await ask('shop/receipts/ddl_shop/reopen', 'POST'), time).toMatchObject({
        status: 200,
        body: { id: 'ddl_shop', dismissed_at: null, dismissed_by: null, address: 'ada@example.com' },
      });
    }
    expect(await idsOf('shop/receipts?parked=true')).toEqual(['ddl_shop']);
    const reader = await openFor(personIn('shop', 'read', 'bodies'));
    expect(await reader.ask('shop/receipts/ddl_shop/reopen', 'POST')).toMatchObject({ status: 403 });
  });
});
