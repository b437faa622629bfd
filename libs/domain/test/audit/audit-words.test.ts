import { describe, expect, it } from 'vitest';
import {
  AUDIT_ACTIONS,
  AUDIT_FAULT_KINDS,
  describeAuditAction,
  describeAuditFault,
  describeAuditOutcome,
} from '../../src/audit/index.ts';

describe('the texts of audit log entries', () => {
  it.each(AUDIT_ACTIONS)('describe %s in words, without its code', (action) => {
    expect(describeAuditAction(action)).toMatch(/^[a-z]+( [a-zA-Z]+)+$/);
  });

  it('start with a verb, and show an unknown action of a later version', () => {
    expect(describeAuditAction('member.change')).toBe('changed member');
    expect(describeAuditAction('api_key.revoke')).toBe('ended API key');
    expect(describeAuditAction('moon.land')).toBe('moon.land');
  });

  it.each(AUDIT_FAULT_KINDS)('name the position of a fault of kind %s in the audit log', (kind) => {
    const sentence = describeAuditFault({ kind, position: 7, seal: null });
    expect(sentence).toMatch(/^the record at position 7 [^_;]*[^.]$/);
  });

  it('name the first invalid seal (signature)', () => {
    expect(describeAuditFault({ kind: 'changed', position: 7, seal: { place: 'store', through: 9 } })).toBe(
      'the record at position 7 was changed since it was written; the first seal that fails is in the store, through position 9',
    );
  });

  it('name an outcome other than done', () => {
    expect(describeAuditOutcome('done', null)).toBeNull();
    expect(describeAuditOutcome('refused', 'forbidden')).toBe('Refused: forbidden');
    expect(describeAuditOutcome('failed', null)).toBe('Failed');
    expect(describeAuditOutcome('begun', null)).toBe('Outcome not recorded');
  });
});
