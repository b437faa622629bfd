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

it('nothing that is a person, a body or a secret reaches logs, spans, metrics or problems, whatever goes wrong', async () => {
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
    files: shopFiles({ deployment: smtpDeployment(smtp.port, ', user: shop, password: { secret: SMTP_PASSWORD }') }),
  });
  await shop.api('PUT', '/v1/secrets/SMTP_PASSWORD', { value: CANARIES.password });
  const problems: string[] = [];
  const keep = (answer: { readonly body: unknown; readonly headers: Headers }): void => {
    problems.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
  };
  try {
    const person = { name: CANARIES.name, phone: CANARIES.phone, card: CANARIES.card };
    // It goes well, is refused for good, ends in doubt, and fails in the template.
    const headers = { 'idempotency-key': CANARIES.idempotency };
    await shop.delivered(await shop.send(order('ok-1', { ...person, email: CANARIES.address }), headers), 'SENT');
    await shop.delivered(await shop.send(order('ok-2', { ...person, email: CANARIES.refused })), 'FAILED');
    await shop.delivered(await shop.send(order('ok-3', { ...person, email: CANARIES.ghost })), 'IN_DOUBT');
    expect(smtp.heard.some(({ stage }) => stage === 'auth')).toBe(true);
    const file = 'workspaces/shop/templates/order-paid/email.txt';
    await shop.apply({
      ...shopFiles({ deployment: smtpDeployment(smtp.port, ', user: shop, password: { secret: SMTP_PASSWORD }') }),
      [file]: '{{#each items}}{{#each items}}{{name}}{{/each}}{{/each}}\n',
    });
    const items = Array.from({ length: 150 }, () => ({
      name: CANARIES.card,
      items: Array.from({ length: 10 }, () => ({ name: CANARIES.name })),
    }));
    const failing = await shop.send(
      order('bad-1', { ...person, email: CANARIES.address, items: JSON.stringify(items) }),
    );
    await shop.delivered(failing);
    const { total: _total, ...noTotal } = order('bad-2', { ...person, email: CANARIES.address });
    await shop.send(noTotal);
    const wrongAddress = await shop.send(
      order('bad-3', { ...person, email: `${CANARIES.address}\r\nBcc: x@example.com` }),
    );
    expect(wrongAddress).toMatch(/^evt_/);

    // Requests that are refused, with canaries wherever a client can put one.
    const torn = `{"order_id": "x", "email": "${CANARIES.address}", "card": "${CANARIES.card}`;
    for (const body of [
      torn,
      `"${CANARIES.card}"`,
      `{"twice":"${CANARIES.card}","twice":"${CANARIES.name}"}`,
      `{"total": 1e999, "x": "${CANARIES.name}"}`,
      `{"email":"${CANARIES.address}"}`,
    ]) {
      const answer = await shop.post('shop/orders', body);
      expect(answer.status).toBe(400);
      keep(answer);
    }
    const wrongKey = `${shop.key.slice(0, -6)}AAAAAA`;
    keep(
      await shop.post(`shop/${encodeURIComponent(CANARIES.name)}?token=${CANARIES.query}`, order('x'), {
        authorization: `Bearer ${wrongKey}`,
      }),
    );
    keep(await shop.post('shop/orders', order('x'), { 'content-type': `text/${CANARIES.card}` }));
    keep(
      await shop.post('shop/orders', order('x'), { 'idempotency-key': `${CANARIES.idempotency}${'x'.repeat(300)}` }),
    );
    const control = shop.product.controlUrl;
    keep(
      await request(`${control}/v1/status?token=${CANARIES.query}`, {
        headers: { authorization: `Bearer ${CANARIES.stored}` },
      }),
    );
    const named = '/v1/workspaces/shop/secrets';
    keep(await shop.api('PUT', `${named}/OTHER`, { value: CANARIES.stored }));
    keep(await shop.api('PUT', `${named}/bad-name`, { value: CANARIES.stored }));
    keep(await shop.api('PUT', `${named}/OTHER`, { value: CANARIES.stored, more: CANARIES.stored }));
    keep(await shop.api('GET', named));
    keep(await shop.api('GET', '/v1/secrets'));
    // The master key is exchanged, the values are encrypted anew, and a message goes out over what they hold.
    keep(await shop.api('POST', '/v1/master-key/rotate', { master_key: `${CANARIES.masterKey}00` }));
    for (const step of ['rotate', 'renew-values', 'finish']) {
      const body = step === 'rotate' ? { master_key: CANARIES.masterKey } : {};
      const done = await shop.api('POST', `/v1/master-key/${step}`, body);
      expect({ step, status: done.status }).toEqual({ step, status: 200 });
      keep(done);
    }
    await shop.delivered(await shop.send(order('ok-4', { ...person, email: CANARIES.address })));
    keep(await shop.api('POST', '/v1/workspaces/shop/rules/order-paid.paid/test', { event: torn }));
    keep(
      await request(`${control}/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ word: CANARIES.stored }),
      }),
    );
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
    // Log topics and stores are one file here. It holds people and messages, and no secret.
    const data = ['carillon.db', 'carillon.db-wal'].map((name) => join(shop.dataDir, name)).filter(existsSync);
    const database = Buffer.concat(data.map((path) => readFileSync(path)));
    expect(database.includes(CANARIES.address)).toBe(true);
    const kept = [
      ...[CANARIES.password, CANARIES.stored, CANARIES.masterKey].flatMap(formsOf),
      Buffer.from(CANARIES.masterKey, 'hex').toString('latin1'),
    ];
    expect(kept.filter((form) => database.includes(form, 0, 'latin1'))).toEqual([]);

    // Each place has something to say, or this would prove nothing.
    expect(otlp.spans.length).toBeGreaterThan(10);
    expect(seen.size).toBeGreaterThanOrEqual(3);
    expect(problems.length).toBeGreaterThan(20);
    const secrets = { ...CANARIES, key: shop.key.slice(13, 45), wrong: wrongKey.slice(13), owner: shop.product.token };
    expect(leaksOf(places, secrets)).toEqual([]);
    for (const line of places.log.split('\n').filter((text) => text !== ''))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  } finally {
    await shop.close();
    await otlp.close();
    await smtp.stop();
  }
});
