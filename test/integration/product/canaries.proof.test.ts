import { startOtlpReceiver, startScriptedSmtp, untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { formsOf, leaksOf, spansAsText } from './canaries.ts';
import { openShop, order, request, shopFiles, smtpDeployment, writeFiles } from './shop.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What no log, span, metric or problem may ever hold. Each is found as it is, and as encodings would carry it. */
const CANARIES = {
  address: 'canary.person@secret-shop.example',
  refused: 'canary.refused@secret-shop.example',
  ghost: 'canary.ghost@secret-shop.example',
  name: 'Canarybird Featherstone',
  phone: '+49 151 5550 7788',
  card: 'canary-card-4111111111111111',
  password: 'canary-smtp-password-ZqX81',
  stored: 'canary-stored-secret-Kw72p',
  masterKey: 'ca4a7b1e'.repeat(8),
  idempotency: 'canary-idempotency-key-5512',
  query: 'canary-query-token-90210',
} as const;

type Fixture = Awaited<ReturnType<typeof openFixture>>;

const deploymentOf = (smtpPort: number): string =>
  smtpDeployment(smtpPort, ', user: shop, password: { secret: SMTP_PASSWORD }');
const PERSON = { name: CANARIES.name, phone: CANARIES.phone, card: CANARIES.card };
/** A body that ends in its middle. */
const TORN = `{"order_id": "x", "email": "${CANARIES.address}", "card": "${CANARIES.card}`;

async function openFixture() {
  const otlp = await startOtlpReceiver();
  const smtp = await startScriptedSmtp({
    script: ({ stage, line, raw }) => {
      // A server that repeats to us what it was told, as servers do.
      if (stage === 'rcpt' && line.includes('refused'))
        return `550 5.1.1 <${CANARIES.refused}> unknown; ${CANARIES.name}`;
      if (stage === 'dot' && raw.includes('ghost')) return { ending: 'drop' };
      return undefined;
    },
  });
  const shop = await openShop({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint, CARILLON_LOG_LEVEL: 'debug' },
    files: shopFiles({ deployment: deploymentOf(smtp.port) }),
  });
  await shop.api('PUT', '/v1/secrets/SMTP_PASSWORD', { value: CANARIES.password });
  const problems: string[] = [];
  return {
    shop,
    otlp,
    smtp,
    /** Bodies and headers of what the product answered. */
    problems,
    keep: (answer: { readonly body: unknown; readonly headers: Headers }): void =>
      void problems.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers])),
    async close(): Promise<void> {
      await shop.close();
      await otlp.close();
      await smtp.stop();
    },
  };
}

/** Sends messages that arrive, are refused for good, end in doubt, and fail in the template. */
async function sendMessages({ shop, smtp }: Fixture): Promise<void> {
  const headers = { 'idempotency-key': CANARIES.idempotency };
  await shop.delivered(await shop.send(order('ok-1', { ...PERSON, email: CANARIES.address }), headers), 'SENT');
  await shop.delivered(await shop.send(order('ok-2', { ...PERSON, email: CANARIES.refused })), 'FAILED');
  await shop.delivered(await shop.send(order('ok-3', { ...PERSON, email: CANARIES.ghost })), 'IN_DOUBT');
  expect(smtp.heard.some(({ stage }) => stage === 'auth')).toBe(true);
  const file = 'workspaces/shop/templates/order-paid/email.txt';
  await shop.apply({
    ...shopFiles({ deployment: deploymentOf(smtp.port) }),
    [file]: '{{#each items}}{{#each items}}{{name}}{{/each}}{{/each}}\n',
  });
  const items = Array.from({ length: 150 }, () => ({
    name: CANARIES.card,
    items: Array.from({ length: 10 }, () => ({ name: CANARIES.name })),
  }));
  await shop.delivered(
    await shop.send(order('bad-1', { ...PERSON, email: CANARIES.address, items: JSON.stringify(items) })),
  );
  const { total: _total, ...noTotal } = order('bad-2', { ...PERSON, email: CANARIES.address });
  await shop.send(noTotal);
  const wrongAddress = await shop.send(
    order('bad-3', { ...PERSON, email: `${CANARIES.address}\r\nBcc: x@example.com` }),
  );
  expect(wrongAddress).toMatch(/^evt_/);
}

/** Sends requests that are refused, with canaries wherever a client can put one. */
async function sendRefused({ shop, keep }: Fixture, wrongKey: string): Promise<void> {
  for (const body of [
    TORN,
    `"${CANARIES.card}"`,
    `{"twice":"${CANARIES.card}","twice":"${CANARIES.name}"}`,
    `{"total": 1e999, "x": "${CANARIES.name}"}`,
    `{"email":"${CANARIES.address}"}`,
  ]) {
    const answer = await shop.post('shop/orders', body);
    expect(answer.status).toBe(400);
    keep(answer);
  }
  const path = `shop/${encodeURIComponent(CANARIES.name)}?token=${CANARIES.query}`;
  keep(await shop.post(path, order('x'), { authorization: `Bearer ${wrongKey}` }));
  keep(await shop.post('shop/orders', order('x'), { 'content-type': `text/${CANARIES.card}` }));
  keep(await shop.post('shop/orders', order('x'), { 'idempotency-key': `${CANARIES.idempotency}${'x'.repeat(300)}` }));
  const control = shop.product.controlUrl;
  keep(
    await request(`${control}/v1/status?token=${CANARIES.query}`, {
      headers: { authorization: `Bearer ${CANARIES.stored}` },
    }),
  );
  keep(await shop.api('POST', '/v1/workspaces/shop/rules/order-paid.paid/test', { event: TORN }));
  keep(
    await request(`${control}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ word: CANARIES.stored }),
    }),
  );
}

/** Stores secrets, exchanges the master key, and sends a message with the values that were encrypted anew. */
async function changeSecrets({ shop, keep }: Fixture): Promise<void> {
  const named = '/v1/workspaces/shop/secrets';
  keep(await shop.api('PUT', `${named}/OTHER`, { value: CANARIES.stored }));
  keep(await shop.api('PUT', `${named}/bad-name`, { value: CANARIES.stored }));
  keep(await shop.api('PUT', `${named}/OTHER`, { value: CANARIES.stored, more: CANARIES.stored }));
  keep(await shop.api('GET', named));
  keep(await shop.api('GET', '/v1/secrets'));
  keep(await shop.api('POST', '/v1/master-key/rotate', { master_key: `${CANARIES.masterKey}00` }));
  for (const step of ['rotate', 'renew-values', 'finish']) {
    const body = step === 'rotate' ? { master_key: CANARIES.masterKey } : {};
    const done = await shop.api('POST', `/v1/master-key/${step}`, body);
    expect({ step, status: done.status }).toEqual({ step, status: 200 });
    keep(done);
  }
  await shop.delivered(await shop.send(order('ok-4', { ...PERSON, email: CANARIES.address })));
}

/** The data file holds log topics and stores: people and messages are in it, and no secret. */
function expectSealed(dataDir: string): void {
  const data = ['carillon.db', 'carillon.db-wal'].map((name) => join(dataDir, name)).filter(existsSync);
  const database = Buffer.concat(data.map((path) => readFileSync(path)));
  expect(database.includes(CANARIES.address)).toBe(true);
  const kept = [
    ...[CANARIES.password, CANARIES.stored, CANARIES.masterKey].flatMap(formsOf),
    Buffer.from(CANARIES.masterKey, 'hex').toString('latin1'),
  ];
  expect(kept.filter((form) => database.includes(form, 0, 'latin1'))).toEqual([]);
}

it('people, bodies and secrets appear in no log, span, metric or problem, whatever fails', async () => {
  const fixture = await openFixture();
  const { shop, otlp, problems, keep } = fixture;
  try {
    const wrongKey = `${shop.key.slice(0, -6)}AAAAAA`;
    await sendMessages(fixture);
    await sendRefused(fixture, wrongKey);
    await changeSecrets(fixture);
    keep(await shop.api('GET', '/v1/workspaces/shop/api-keys'));
    expect(await shop.run(['doctor'])).toMatchObject({ stderr: '' });
    const folder = writeFiles(join(shop.folder, 'wrong'), {
      ...shopFiles(),
      'workspaces/shop/workspace.yaml': 'nam: x\n',
    });
    await shop.run(['apply', '-f', folder]);

    const seen = await untilFound('spans of every kind', () => {
      const names = new Set(otlp.spans.map((span) => span.name));
      return ['http.request', 'stage.batch', 'delivery.attempt'].every((name) => names.has(name)) ? names : undefined;
    });
    const metrics = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
    expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    const places = {
      log: shop.product.stderr(),
      spans: spansAsText(otlp.spans),
      metrics,
      problems: problems.join('\n'),
    };
    expectSealed(shop.dataDir);
    // Each place has something to say, or this would prove nothing.
    expect(otlp.spans.length).toBeGreaterThan(10);
    expect(seen.size).toBeGreaterThanOrEqual(3);
    expect(problems.length).toBeGreaterThan(20);
    const secrets = { ...CANARIES, key: shop.key.slice(13, 45), wrong: wrongKey.slice(13), owner: shop.product.token };
    expect(leaksOf(places, secrets)).toEqual([]);
    for (const line of places.log.split('\n').filter((text) => text !== ''))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  } finally {
    await fixture.close();
  }
});
