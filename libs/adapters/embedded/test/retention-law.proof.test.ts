import { expect, it } from 'vitest';
import { checkRetentionLaw } from './retention-law.ts';

it('retention removes no record that a wait, a delivery, a role or an open dead letter needs, in 5,000 random cases', async () => {
  expect((await checkRetentionLaw(5_000)).removed).toBeGreaterThan(5_000);
}, 1_200_000);
