import type { CheckBody } from '@carillon/contracts';
import { answersEverybody, startScriptedPartner, type PartnerScript, type ScriptedPartner } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, shopFiles, type Shop } from './shop.ts';

let partner: ScriptedPartner;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  partner = await startScriptedPartner();
  const integration = (more = '') =>
    `kind: lookup\nurl: ${partner.url}\nauthorization: { key: { secret: CRM_KEY }${more} }\nmatch: variables.user_id\n`;
  shop = await openShop({
    env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' },
    files: {
      ...shopFiles(),
      'workspaces/shop/integrations/crm.yaml': integration(),
      'workspaces/shop/integrations/rotating.yaml': `${integration(', second_key: { secret: CRM_NEXT }')}timeouts: { total: 30s }\n`,
    },
  });
  for (const [name, value] of [
    ['CRM_KEY', 'key-1'],
    ['CRM_NEXT', 'key-2'],
  ]) {
    const { status } = await shop.api('PUT', `/v1/workspaces/shop/secrets/${name}`, { value });
    expect(status).toBe(200);
  }
});
afterAll(async () => {
  await shop.close();
  await partner.stop();
});

/** Takes these values of `Authorization` alone. */
const takes =
  (...values: readonly string[]): PartnerScript =>
  (request, response) =>
    values.includes(String(request.headers['authorization']))
      ? answersEverybody(request, response)
      : void response.writeHead(401).end();

async function check(script: PartnerScript, name = 'crm'): Promise<readonly string[]> {
  partner.follow(script);
  const path = `/v1/workspaces/shop/integrations/${name}/check`;
  const { status, body } = await shop.api<CheckBody>('POST', path, { user_ids: ['ada'] });
  expect(status).toBe(200);
  return body.steps.map(({ step, ok, detail }) => `${ok ? 'ok' : 'FAIL'} ${step}: ${detail}`);
}
const FIRST = 'call with Bearer (as configured)';
const ADA = 'ok answer: user id ada: email yes, phone no, token no; variables: user_id, name';

describe('The check of an integration says which scheme the partner takes, and what its answer comes to', () => {
  it('a partner that accepts Bearer only', async () => {
    expect((await check(takes('Bearer key-1'))).slice(1)).toEqual([
      `ok ${FIRST}: 200, an array of 1`,
      'ok call with Basic: the partner answered 401: it does not accept the key of the integration',
      'ok scheme: the partner takes Bearer, as configured',
      ADA,
    ]);
  });

  it('a partner that accepts Basic only', async () => {
    expect((await check(takes('Basic key-1'))).slice(1)).toEqual([
      `FAIL ${FIRST}: the partner answered 401: it does not accept the key of the integration`,
      'ok call with Basic: 200, an array of 1',
      'FAIL scheme: the partner takes Basic: write scheme: Basic under authorization, and apply',
    ]);
  });

  it('a partner that accepts both schemes', async () => {
    const told = await check(takes('Bearer key-1', 'Basic key-1'));
    expect(told).toContain('ok scheme: the partner takes both Bearer and Basic; Bearer is used');
    expect(told).toContain(ADA);
  });

  it('a partner that accepts neither scheme', async () => {
    expect((await check(takes('Bearer other'))).slice(1)).toEqual([
      `FAIL ${FIRST}: the partner answered 401: it does not accept the key of the integration`,
      'ok call with Basic: the partner answered 401: it does not accept the key of the integration',
      'FAIL scheme: the partner takes the key with neither scheme: is it the right key?',
    ]);
  });

  it('a partner with two keys: the second key is checked too', async () => {
    expect(await check(takes('Bearer key-1'), 'rotating')).toContain(
      'FAIL call with the second key: the partner answered 401: it does not accept the key of the integration',
    );
    expect(await check(takes('Bearer key-1', 'Bearer key-2'), 'rotating')).toContain(
      'ok call with the second key: 200, an array of 1',
    );
  });

  it('an HTML page is reported by its content type', async () => {
    const html: PartnerScript = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    expect((await check(html)).slice(1)).toEqual([
      `FAIL ${FIRST}: 200, but the answer says that it is text/html, not application/json`,
      'ok call with Basic: 200, but the answer says that it is text/html, not application/json',
      'FAIL scheme: no call was answered, so the scheme cannot be told',
    ]);
  });

  it('a silent partner is reported after the timeout of one request, even if calls of rules wait longer', async () => {
    expect((await check(() => undefined, 'rotating')).slice(1)).toEqual([
      `FAIL ${FIRST}: no whole answer within 8000 ms; a check waits 8s at the most, a call for a rule 30s`,
      'ok call with Basic: no whole answer within 8000 ms',
      'FAIL scheme: no call was answered, so the scheme cannot be told',
      'FAIL call with the second key: no whole answer within 8000 ms',
    ]);
  });
});
