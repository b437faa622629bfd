import { smsSegments } from '../../src/channels/index.ts';
import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { describe, expect, it } from 'vitest';

describe('the number of segments of an SMS', () => {
  it.each([
    ['', 'GSM-7', 0],
    ['a', 'GSM-7', 1],
    ['a'.repeat(160), 'GSM-7', 1],
    ['a'.repeat(161), 'GSM-7', 2],
    ['a'.repeat(306), 'GSM-7', 2],
    ['a'.repeat(307), 'GSM-7', 3],
    ['€'.repeat(80), 'GSM-7', 1],
    ['€'.repeat(81), 'GSM-7', 2],
    ['я'.repeat(70), 'UCS-2', 1],
    ['я'.repeat(71), 'UCS-2', 2],
    ['😀'.repeat(35), 'UCS-2', 1],
    ['😀'.repeat(36), 'UCS-2', 2],
  ])('and the encoding are right for %j', (text, encoding, segments) => {
    expect(smsSegments(text)).toMatchObject({ encoding, segments });
  });

  it('comes with the character that makes the SMS more expensive', () => {
    expect(smsSegments('Grüße – bis bald').firstOutsideGsm).toBe('–');
    expect(smsSegments('Grüße - bis bald €').firstOutsideGsm).toBeNull();
  });

  it('equals that of Twilio’s own calculator', () => {
    // It takes \r\n and joined characters together; what a carrier counts does not depend on that.
    const alphabet = Array.from('aZ09 @£_ΔÄßñ\n"€{}[]\\|^~яЖ–’😀漢');
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 700 }),
      fc.string({ unit: fc.constantFrom(...alphabet.slice(0, 22)), maxLength: 700 }),
      fc.tuple(fc.integer({ min: 0, max: 480 }), fc.constantFrom(...alphabet)).map(([n, last]) => 'a'.repeat(n) + last),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const theirs = new SegmentedMessage(text);
        const ours = smsSegments(text);
        expect([ours.encoding, ours.segments]).toEqual([theirs.encodingName, text === '' ? 0 : theirs.segmentsCount]);
      }),
      { numRuns: 400 },
    );
  });
});
