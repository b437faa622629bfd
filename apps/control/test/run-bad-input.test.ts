import type { RunId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { PAID } from './resource-fixture.ts';
import { useRunStarts, yaml } from './run-start-fixture.ts';

const starts = useRunStarts();
const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const paidWhen = (when: string) => ({ ...PAID, rules: { paid: { ...PAID.rules.paid, when } } });

describe('the time range of a run', () => {
  it.each([
    [
      'before the log',
      { from: '2020-01-01', to: '2020-01-02' },
      'window_empty',
      /^no events from 2020-.*the log has events since/,
    ],
    ['in the future', { from: '2999-01-01', to: '2999-01-02' }, 'window_empty', /^from: 2999-.* is in the future/],
    [
      'without an end after its beginning',
      { from: '2020-01-02', to: '2020-01-02' },
      'invalid_request',
      /must be later than `from`/,
    ],
    ['without an offset from UTC', { from: '2026-10-25T02:30:00' }, 'invalid_request', /RFC 3339/],
  ])('is refused if it is %s', async (_case, range, code, detail) => {
    expect(await starts.start(range)).toMatchObject({
      status: 400,
      body: { code, detail: expect.stringMatching(detail) as unknown },
    });
  });

  it('distinguishes the repeated hour of a clock change by its UTC offset', async () => {
    const { body } = await starts.start({ from: '2025-10-26T02:30:00+02:00', to: '2025-10-26T02:30:00+01:00' });
    expect(body).toMatchObject({
      detail: expect.stringContaining('from 2025-10-26T00:30:00.000Z to 2025-10-26T01:30:00.000Z') as unknown,
    });
  });
});

describe('the edit of a run', () => {
  it('is refused with all mistakes of its folder', async () => {
    const { status, body } = await starts.fold({
      [NOTIFICATION]: yaml(paidWhen('event.total >')),
      'workspaces/shop/templates/order-paid/email.txt': '{{#if a}}',
    });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    const { detail } = body as unknown as { readonly detail: string };
    expect(detail.split('\n').map((mistake) => mistake.split(':')[0])).toEqual([
      NOTIFICATION,
      'workspaces/shop/templates/order-paid/email.txt',
    ]);
  });

  it('is refused with the mistakes of own drafts', async () => {
    const olga = await starts.under.as('olga');
    const path = 'notifications/order-paid/draft';
    const draft = { body: paidWhen('event.total >'), based_on: null };
    const saved = await olga('PUT', path, draft, { 'if-none-match': '*' });
    expect(saved).toMatchObject({ status: 200 });
    const { status, body, text } = await starts.start({ drafts: true });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    expect(text).toContain('order-paid');
    await olga('DELETE', path, undefined, { 'if-match': saved.etag });
  });

  it('stays as it was at the start if its draft is changed, published or discarded', async () => {
    const olga = await starts.under.as('olga');
    const path = 'notifications/late/draft';
    const first = await olga(
      'PUT',
      path,
      { body: paidWhen('event.total > 80'), based_on: null },
      { 'if-none-match': '*' },
    );
    expect(first).toMatchObject({ status: 200 });
    const { body: run } = await starts.start({ drafts: true });
    const editNow = () => starts.stores.runs.edit(run.id as RunId);
    const edit = await editNow();
    expect(edit).toMatchObject([{ ref: { name: 'late' }, body: { rules: { paid: { when: 'event.total > 80' } } } }]);
    const changed = await olga('PUT', path, { body: paidWhen('event.total > 90') }, { 'if-match': first.etag });
    expect(changed).toMatchObject({ status: 200 });
    expect(await editNow()).toEqual(edit);
    expect(await olga('DELETE', path, undefined, { 'if-match': changed.etag })).toMatchObject({ status: 200 });
    expect(await editNow()).toEqual(edit);
    await starts.under.apply('notification', 'late', paidWhen('event.total > 90'));
    expect(await editNow()).toEqual(edit);
  });
});

describe('a run that is started twice with one Idempotency-Key', () => {
  it('is one run, and another request with the key is refused', async () => {
    const key = { 'idempotency-key': 'k-1' };
    const first = await starts.start({}, key);
    expect(first.status).toBe(202);
    expect((await starts.start({}, key)).body).toEqual(first.body);
    expect((await starts.stores.runs.list('shop', 10)).items).toHaveLength(1);
    expect(await starts.start({ last: '7d' }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    });
  });
});
