import { describe, expect, it } from 'vitest';
import { whyNot } from '../src/api/may.ts';

const me = {
  owner: false,
  permissions: [],
  workspaces: [
    { workspace: 'shop', permissions: ['read', 'bodies', 'operate'] },
    { workspace: 'lab', permissions: ['read', 'configure'] },
  ],
  roles_with: [
    { permission: 'configure', roles: ['owner' as const, 'editor' as const] },
    { permission: 'operate', roles: ['owner' as const, 'operator' as const] },
    { permission: 'people', roles: ['owner' as const] },
  ],
};

describe('the reason for a disabled action', () => {
  it('is null if the person has any one of the permissions', () => {
    expect(whyNot(me, 'operate', 'shop')).toBeNull();
    expect(whyNot(me, ['configure', 'operate'], 'shop')).toBeNull();
    expect(whyNot(me, 'configure', '-')).toBeNull();
    expect(whyNot({ ...me, permissions: ['people'] }, 'people', null)).toBeNull();
  });

  it('names the roles that may, and the workspace', () => {
    expect(whyNot(me, 'configure', 'shop')).toBe('Only owners and editors of the workspace shop can do this.');
    expect(whyNot(me, ['configure', 'operate'], 'none')).toContain(
      'owners, editors and operators of the workspace none',
    );
    expect(whyNot(me, 'people', '-')).toContain('Only owners of a workspace');
  });

  it('refers to an owner of the deployment if it belongs to no workspace', () => {
    expect(whyNot(me, 'configure', null)).toContain('Only owners of the deployment can do this');
    expect(whyNot(me, 'read', null)).toBe('Only owners of the deployment can see this.');
  });
});
