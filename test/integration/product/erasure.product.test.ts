import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntityBody, ErasureLookBody, ErasureBody } from '@carillon/contracts';
import { cli, startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, openShop, order, shopFiles, shopOf, type Files, type Shop } from './shop.ts';

/* One of two people is erased from a running product, with a kill in the midst. Every personal field of the first carries a mark. */

const PATH = '/v1/workspaces/shop/erasures';
const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';

/** In every text of the erased person. */
const MARK = 'qzxmara';
const MARA = `${MARK}@example.com`;

const files = (): Files => {
  const shop = shopFiles();
  return {
    ...shop,
    [NOTIFICATION]: (shop[NOTIFICATION] ?? '').replace(
      '      unique_id: event.order_id\n',
      '      person: event.user.id\n      unique_id: event.order_id\n',
    ),
    'workspaces/shop/notifications/order-open.yaml': `channels:
  email: { template: order-paid }
rules:
  open:
    stream: orders
    when: event.status == "open"
    after: 1h
    unless: event.status == "paid"
    recipients: { from: event, to: { email: event.email }, person: event.user.id, unique_id: event.order_id }
`,
  };
};

const marked = (id: string, more: Readonly<Record<string, unknown>> = {}) =>
  order(`${MARK}-${id}`, {
    name: `Mara ${MARK}`,
    email: MARA.toUpperCase(),
    user: { id: `u-${MARK}` },
    note: `write to <${MARA}>, please`,
    ...more,
  });
const whole = (id: string, more: Readonly<Record<string, unknown>> = {}) =>
  order(id, { user: { id: 'u-ada' }, ...more });

/** Files of the data folder, and what each holds. */
function textsOf(folder: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, String(name));
    if (statSync(path).isFile()) texts.set(String(name), readFileSync(path, 'latin1').toLowerCase());
  }
  return texts;
}

const placesWith = (folder: string): readonly string[] =>
  [...textsOf(folder)].flatMap(([name, text]) => {
    const at = text.indexOf(MARK);
    return at === -1 ? [] : [`${name}: ${JSON.stringify(text.slice(Math.max(0, at - 80), at + 40))}`];
  });

let opened: Shop & { close(): Promise<void> };
let shop: Shop;
beforeAll(async () => {
  opened = await openShop({ files: files() });
  shop = opened;
});
afterAll(async () => {
  await shop.product.kill('SIGKILL');
  await opened.close();
});

describe('An erased person', () => {
  let look: ErasureLookBody;
  let certificate: ErasureBody;
  const ids: string[] = [];
  const file = (name: string): string => join(shop.folder, name);
  const erase = (confirm?: string) =>
    shop.api<ErasureLookBody>('POST', PATH, { person: MARA, reason: 'asked by letter', ...(confirm && { confirm }) });

  it('is found first, and nothing changes', async () => {
    ids.push(await shop.send(marked('A-1')), await shop.send(marked('A-2', { total: 1 })));
    ids.push(await shop.send(whole('B-1')), await shop.send(whole('B-2', { total: 1 })));
    ids.push(await shop.send(marked('A-3', { order_id: 'W-1', status: 'open' })));
    ids.push(await shop.send(whole('W-2', { status: 'open' })));
    await shop.delivered(ids[0] ?? '', 'SENT');
    await shop.delivered(ids[2] ?? '', 'SENT');
    for (const id of ids) await shop.judged(id);
    const suppression = { channel: 'email', address: MARA, detail: MARK };
    expect((await shop.api('POST', '/v1/workspaces/shop/suppressions', suppression)).status).toBe(200);
    const optOut = { person: `u-${MARK}`, target: 'all', opted_out: true };
    expect((await shop.api('POST', '/v1/workspaces/shop/consents', optOut)).status).toBe(200);
    expect(await shop.run(['backup', file('before.backup')])).toMatchObject({ code: 0 });
    const { status, body } = await erase();
    expect(status, JSON.stringify(body)).toBe(200);
    look = body;
    expect(look).toMatchObject({ erasure: null, undecided: [], shared_addresses: 0 });
    expect(look.found).toMatchObject({ deliveries: 1, rule_states: 1, suppressions: 1, opt_outs: 1, inbox: 1 });
    expect(placesWith(shop.dataDir)).not.toEqual([]);
  });

  it('is refused with another checksum, with the person in the reason, and if nobody is found', async () => {
    expect(await erase('0'.repeat(64))).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const named = { person: MARA, reason: `for ${MARA}` };
    expect(await shop.api('POST', PATH, named)).toMatchObject({ status: 400, body: { pointer: '/reason' } });
    const nobody = { person: 'nobody@example.com', reason: 'asked by letter' };
    expect(await shop.api('POST', PATH, nobody)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('is gone from every file, also after a kill in the midst', async () => {
    const { status, body } = await erase(look.checksum);
    expect(status, JSON.stringify(body)).toBe(202);
    await shop.product.kill('SIGKILL');
    const { folder, dataDir, key } = shop;
    shop = shopOf(await startProduct({ dataDir }), folder, dataDir, key);
    certificate = await untilFound('the erasure has ended', async () => {
      const { body: page } = await shop.api<{ items: ErasureBody[] }>('GET', PATH);
      return page.items.find(({ id, erased_at: at }) => id === body.erasure?.id && at !== null);
    });
    expect(certificate).toMatchObject({ workspace: 'shop', reason: 'asked by letter', erased: look.found });
    expect(placesWith(dataDir)).toEqual([]);
    expect(await erase()).toMatchObject({ status: 404 });
  });

  it('loses its wait, which ends as erased, while the wait of another person continues', async () => {
    const stateOf = async (key: string): Promise<EntityBody> =>
      (await shop.api<EntityBody>('GET', `/v1/workspaces/shop/streams/orders/entities/${key}`)).body;
    const ended = await stateOf('W-1');
    expect(ended.rules).toMatchObject([{ rule: 'order-open.open', waits_until: null }]);
    const [decision] = ended.decisions;
    expect(decision).toMatchObject({ event: ids[4], words: ['erased: what it saw was erased with a person'] });
    expect(ended.events).toEqual([]);
    expect(await shop.story(ids[4] ?? '')).toContain('the event was erased; waits made from it ended as erased');
    const counted = await shop.api('GET', '/v1/workspaces/shop/rules/order-open.open/waiting');
    expect(counted.body).toMatchObject({ entities: 1 });
    const waiting = await stateOf('W-2');
    expect(waiting.rules).toMatchObject([{ event: ids[5], waits_until: expect.any(String) as unknown }]);
    expect(waiting.events).toMatchObject([{ id: ids[5] }]);
  });

  it('leaves the other person whole', async () => {
    expect(await shop.delivered(ids[2] ?? '', 'SENT')).toMatchObject({ to: 'ada@example.com', unique_id: 'B-1' });
    expect(await shop.delivered(ids[0] ?? '', 'SENT')).toMatchObject({ to: null });
    expect(await shop.story(ids[0] ?? '')).toContain('the event was erased');
    const story = await shop.story(ids[2] ?? '');
    expect(story).toContain('1 fired');
    expect(story).toContain('SENT (accepted)');
    expect(shop.product.stderr()).not.toContain(MARK);
  });

  it('is in no new backup, and in none that is restored with the list', async () => {
    expect(await shop.run(['erasures', 'export', file('erasures.json')])).toMatchObject({ code: 0 });
    expect(await shop.run(['backup', file('after.backup')])).toMatchObject({ code: 0 });
    expect(readFileSync(file('after.backup'), 'latin1').toLowerCase()).not.toContain(MARK);
    const unnamed = await cli(['restore', file('before.backup')], { dataDir: file('unnamed') });
    expect(unnamed).toMatchObject({ code: 2 });
    expect(unnamed.stderr).toContain('--no-erasures');
    const restored = await cli(['restore', file('before.backup'), '--erasures', file('erasures.json')], {
      dataDir: file('restored'),
    });
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(placesWith(file('restored'))).toEqual([]);
    const over = await startProduct({ dataDir: file('restored') });
    const listed = await caller(over)<{ items: ErasureBody[] }>('GET', PATH);
    await over.kill('SIGTERM');
    expect(listed.body.items).toMatchObject([{ id: certificate.id, erased_at: certificate.erased_at }]);
    expect(placesWith(file('restored'))).toEqual([]);
    const empty = { ...JSON.parse(readFileSync(file('erasures.json'), 'utf8')), log_id: 'log_0' } as object;
    for (const [name, text] of [
      ['foreign', JSON.stringify(empty)],
      ['empty', ''],
    ] as const) {
      writeFileSync(file(`${name}.json`), text);
      const args = ['restore', file('before.backup'), '--erasures', file(`${name}.json`)];
      const refused = await cli(args, { dataDir: file(name) });
      expect(refused, name).toMatchObject({ code: 2 });
      expect(existsSync(join(file(name), 'carillon.db')), name).toBe(false);
    }
    writeFileSync(file('cut.json'), readFileSync(file('erasures.json'), 'utf8').slice(0, -20));
    const cut = await cli(['restore', file('before.backup'), '--erasures', file('cut.json')], { dataDir: file('cut') });
    expect(cut).toMatchObject({ code: 2 });
  });

  it('gets no mail from the next event, because the opt-out stays in force, and no second one from a repeated event', async () => {
    const next = await shop.send(marked('A-9'));
    expect(await shop.delivered(next, 'SUPPRESSED')).toMatchObject({ reason: 'opted_out' });
    const again = await shop.send(marked('A-1'));
    await shop.judged(again);
    await untilFound('the repeated message is a duplicate', async () =>
      (await shop.story(again)).includes('duplicate') ? true : undefined,
    );
    const inbox = await shop.api<{ items: unknown[] }>('GET', '/v1/workspaces/shop/inbox');
    expect(inbox.body.items).toHaveLength(1);
  });
});
