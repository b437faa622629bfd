import { describe, expect, it } from 'vitest';
import {
  AUDIT_ACTIONS,
  AUDIT_FAULT_KINDS,
  describeAuditAction,
  describeAuditFault,
  describeAuditOutcome,
} from '../../src/audit/index.ts';

describe('the words of the audit', () => {
  it.each(AUDIT_ACTIONS)('say %s without a code', (action) => {
    expect(describeAuditAction(action)).toMatch(/^[a-z]+( [a-zA-Z]+)+$/);
  });

  it('name the verb before its object, and keep an action of a later version', () => {
    expect(describeAuditAction('member.change')).toBe('changed member');
    expect(describeAuditAction('api_key.revoke')).toBe('ended API key');
    expect(describeAuditAction('moon.land')).toBe('moon.land');
  });

  it.each(AUDIT_FAULT_KINDS)('say of a fault of kind %s where it is', (kind) => {
    const sentence = describeAuditFault({ kind, position: 7, seal: null });
    expect(sentence).toMatch(/^the record at position 7 [^_;]*[^.]$/);
  });

  it('name the first seal that fails', () => {
    expect(describeAuditFault({ kind: 'changed', position: 7, seal: { place: 'store', through: 9 } })).toBe(
      'the record at position 7 was changed since it was written; the first seal that fails is in the store, through position 9',
    );
  });

  it('tell an outcome that is not simply done', () => {
    expect(describeAuditOutcome('done', null)).toBeNull();
    expect(describeAuditOutcome('refused', 'forbidden')).toBe('Refused: forbidden');
    expect(describeAuditOutcome('failed', null)).toBe('Failed');
    expect(describeAuditOutcome('begun', null)).toBe('Outcome not recorded');
  });
});
