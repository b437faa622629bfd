import { describe, expect, it } from 'vitest';
import { FAULT_FACTS, type CodedFault, type FaultCode } from '../configuration-faults.ts';
import { describeFault, isFaultCode, type FaultPlace } from './index.ts';

const place: FaultPlace = {
  label: 'LABEL',
  kind: 'notification',
  workspace: 'shop',
  name: 'order-paid',
  path: 'rules.paid.when',
  quote: (name) => `<${name}>`,
  kindName: (kind) => kind,
  channelNames: (channels) => channels,
  partName: (_kind, part) => part,
  remark: (text) => text,
  file: (kind, name, part) => `FILE(${kind} ${name} ${part ?? ''})`,
};

const sentencesOf = (code: FaultCode, value: string) =>
  describeFault(
    { code, facts: Object.fromEntries(FAULT_FACTS[code].map((fact) => [fact, value])) } as CodedFault,
    place,
  );

describe('describeFault', () => {
  it.each(Object.keys(FAULT_FACTS) as FaultCode[])('says what is wrong and what to do in a file for %s', (code) => {
    for (const value of ['FACT', '']) {
      const { message, fix, formFix, formMessage } = sentencesOf(code, value);
      const texts = [message, fix, formMessage ?? message, formFix];
      for (const text of texts) expect(text).not.toMatch(/undefined|null|\[object/);
      if (value !== '') expect(Math.min(message.length, fix.length)).toBeGreaterThan(3);
      expect(message).not.toMatch(/\.$/);
    }
  });

  it('shows each fact of a code', () => {
    const silent = (Object.keys(FAULT_FACTS) as FaultCode[]).flatMap((code) =>
      FAULT_FACTS[code].flatMap((fact) => {
        const values = Object.fromEntries(FAULT_FACTS[code].map((one) => [one, one === fact ? 'SHOWN' : 'other']));
        const text = (facts: object): string => JSON.stringify(describeFault({ code, facts } as CodedFault, place));
        return text(values) === text({ ...values, [fact]: '' }) ? [`${code}.${fact}`] : [];
      }),
    );
    // These choose between sentences by certain values only.
    expect(silent).toEqual(['value_invalid.type', 'once_ever.from', 'security_unused.reason', 'column_needed.by']);
  });

  it('names the file to write', () => {
    const { fix } = describeFault(
      { code: 'reference_unknown', facts: { kind: 'stream', name: 'orders', meant: '', known: '' } },
      place,
    );
    expect(fix).toBe('write FILE(stream orders )');
  });

  it('knows its codes and no others', () => {
    expect(isFaultCode('missing')).toBe(true);
    expect(isFaultCode('toString')).toBe(false);
  });
});
