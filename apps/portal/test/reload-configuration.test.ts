import { afterEach, expect, it } from 'vitest';
import { DRAFTS } from '../src/api/draft-calls.ts';
import { queryClient } from '../src/api/query-client.ts';
import { reloadConfiguration } from '../src/api/use-draft.ts';

const LIST = '/v1/workspaces/{workspace}/notifications';
const OLD = [[LIST, 'shop'], [LIST, '-'], ['/v1/workspaces'], [DRAFTS, 'shop']];
const KEPT = [[LIST, 'bakery'], [DRAFTS, 'bakery'], ['/v1/me']];
const isOld = (key: readonly string[]): boolean | undefined => queryClient.getQueryState(key)?.isInvalidated;

afterEach(() => queryClient.clear());

it('refreshes queries of that workspace and lists over all workspaces after a publish, and no others', () => {
  for (const key of [...OLD, ...KEPT]) queryClient.setQueryData(key, { items: [] });
  reloadConfiguration('shop');
  expect(OLD.map(isOld)).toEqual(OLD.map(() => true));
  expect(KEPT.map(isOld)).toEqual(KEPT.map(() => false));
});
