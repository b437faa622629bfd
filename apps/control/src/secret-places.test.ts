import type { SecretPlaces } from '@carillon/ports';
import { account, configurationOf, integration } from '@carillon/testing/given';
import { expect, it } from 'vitest';
import type { WantedResource } from '@carillon/configuration';
import { hiddenSecretChecks, hiddenSecretWarnings, missingSecret } from './secret-places.ts';

const secrets: SecretPlaces = {
  locate: async (_workspace, name) => (name === 'CRM_KEY' ? 'hidden' : name === 'GONE' ? 'nowhere' : 'stored'),
};
const crm = {
  kind: 'lookup',
  url: 'https://crm.example.com',
  authorization: { key: { secret: 'CRM_KEY' }, second_key: { secret: 'CRM_NEXT' } },
} as const;
const WAYS =
  'call the variable CARILLON_SECRET_MY_SHOP__CRM_KEY, list CRM_KEY in CARILLON_WORKSPACE_SECRETS, or run: npx carillon secret set CRM_KEY --workspace my-shop';

it('apply warns about an environment variable that the workspace no longer reads, with its position and the alternatives', async () => {
  const wanted: WantedResource = {
    ref: { kind: 'integration', workspace: 'my-shop', name: 'crm' },
    body: crm,
  };
  expect(await hiddenSecretWarnings([wanted], secrets)).toEqual([
    {
      code: 'secret_hidden',
      facts: { secret: 'CRM_KEY', variable: 'CARILLON_SECRET_MY_SHOP__CRM_KEY' },
      ref: wanted.ref,
      path: ['authorization', 'key'],
      spot: 'value',
      message: 'CRM_KEY is in the environment, but not for this workspace',
      fix: WAYS,
    },
  ]);
});

it('doctor says it of what is applied already', async () => {
  const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'a@example.com' } as const;
  const configuration = configurationOf([
    integration('crm', crm, 'my-shop'),
    account('mail', { ...smtp, user: 'u', password: { secret: 'STORED' } }, 'my-shop'),
  ]);
  expect(await hiddenSecretChecks(configuration, secrets)).toEqual([
    {
      step: 'integration my-shop/crm',
      ok: false,
      detail: `CRM_KEY is in the environment, but not for this workspace: ${WAYS}`,
    },
  ]);
});

it('a check says how to set what is nowhere, also for the deployment', async () => {
  expect(await missingSecret('', 'GONE', secrets)).toBe(
    'GONE is neither in the environment nor stored: npx carillon secret set GONE --deployment',
  );
});
