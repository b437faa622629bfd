import type { ResourceChange, WorkspaceBody } from '@carillon/domain/configuration';
import { configurationOf, workspaceSettings } from '@carillon/testing/given';
import { expect, it } from 'vitest';
import { demandPeopleForEnvironments } from '../src/access/environment-changes.ts';
import { personWith } from './control-fixture.ts';

const LIVE = configurationOf([workspaceSettings({ name: 'Shop' })]);
const EDITOR = personWith('ed', ['read', 'configure'], 'shop');
const OWNER = personWith('ann', ['read', 'configure', 'people'], 'shop');

/** What becomes of a change of the workspace, however it is published. */
function judged(body: WorkspaceBody | null, who = EDITOR): string {
  const change = { ref: { kind: 'workspace', workspace: 'shop', name: '' }, based_on: 0, body } as const;
  try {
    demandPeopleForEnvironments([change satisfies ResourceChange], LIVE, who);
    return 'taken';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

it('an editor may change a workspace, but may not remove it or change its environment', () => {
  expect(judged({ name: 'Bücher' })).toBe('taken');
  expect(judged(null)).toBe('forbidden_role');
  expect(judged({ name: 'Shop', environment: 'test', of: 'club' })).toBe('forbidden_role');
});

it('who decides about people may do both', () => {
  expect(judged(null, OWNER)).toBe('taken');
  expect(judged({ name: 'Shop', environment: 'test', of: 'club' }, OWNER)).toBe('taken');
});
