import { formatFault, readConfigurationFolder } from '@carillon/configuration';
import { resourceKey } from '@carillon/domain/configuration';
import { expect, test } from 'vitest';
import { folderOfNovember } from './support/folder-of-november.ts';
import { reading } from './support/small-language.ts';

test('a folder written for an earlier version is read without a change', () => {
  const { resources, faults } = readConfigurationFolder(new Map(Object.entries(folderOfNovember)), reading);
  expect(faults.map(formatFault)).toEqual([]);
  expect(resources.map(({ ref }) => resourceKey(ref)).toSorted()).toEqual([
    'account:shop/own',
    'deployment:/',
    'integration:shop/crm',
    'integration:shop/posthog',
    'jwt_provider:shop/auth',
    'notification:shop/order-paid',
    'stream:shop/orders',
    'template:shop/order-paid',
    'workspace:shop/',
  ]);
});
