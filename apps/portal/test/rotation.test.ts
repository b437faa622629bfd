import { describe, expect, it } from 'vitest';
import { nameFault } from '../src/screens/settings/identity/queries.ts';
import { nextName, rotationOf } from '../src/screens/settings/identity/rotation.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const key = (name: string, used_by: string[], last_used_at: string | null = null) => ({ name, used_by, last_used_at });

describe('the rotation of an API key', () => {
  it('lists the streams that accept only the old key', () => {
    const old = key('a', ['order-paid', 'orders']);
    expect(rotationOf(old, null, now)).toMatchObject({ isTaken: false, missing: ['order-paid', 'orders'] });
    expect(rotationOf(old, key('b', ['orders']), now)).toMatchObject({ isTaken: false, missing: ['order-paid'] });
    expect(rotationOf(old, key('b', ['orders', 'order-paid', 'more']), now)).toMatchObject({ isTaken: true });
  });

  it('allows revoking the old key after a day without events', () => {
    const used = (at: string | null) => rotationOf(key('a', [], at), key('b', []), now).isUnused;
    expect(used(null)).toBe(true);
    expect(used('2026-11-22T12:00:00Z')).toBe(true);
    expect(used('2026-11-22T12:01:00Z')).toBe(false);
  });

  it('proposes the next free name', () => {
    expect(nextName('backend', ['backend'])).toBe('backend-2');
    expect(nextName('backend-2', ['backend-2', 'backend-3'])).toBe('backend-4');
    expect(nameFault(nextName('backend', ['backend']), ['backend'])).toBeNull();
  });
});
