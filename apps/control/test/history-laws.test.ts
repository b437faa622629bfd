import fc from 'fast-check';
import { expect, it } from 'vitest';
import { historyLaw, interleavings, type Ask } from '../../../test/support/history-law.ts';
import { openControl, TOKEN } from './control-fixture.ts';
import { openResourceFixture } from './resource-fixture.ts';

it('Three writers over 200 templates lose nothing, however they put, type, publish, apply and roll back', async () => {
  const fixture = await openResourceFixture();
  const { control } = await openControl(undefined, fixture.ports);
  const ask: Ask = async (method, url, payload, more = {}) => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...more };
    const answer = await control.app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: answer.statusCode, etag: answer.headers.etag ?? '', body: answer.json() };
  };
  const law = historyLaw(ask);
  await law.begin();
  await fc.assert(
    fc.asyncProperty(interleavings(12), (writers) => law.run(writers)),
    { numRuns: 6, endOnFailure: true },
  );
  expect((await law.holds()).acknowledged).toBeGreaterThan(20);
  await control.app.close();
  await fixture.close();
});
