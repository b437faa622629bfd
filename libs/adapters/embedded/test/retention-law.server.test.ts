import { expect, it } from 'vitest';
import { checkRetentionLaw } from './retention-law.ts';

it('retention removes no record that a wait, a delivery, a role or an open dead letter needs, in 50 random cases', async () => {
  expect((await checkRetentionLaw(50)).removed).toBeGreaterThan(0);
}, 60_000);
