import fc from 'fast-check';
import { StepBudget } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';

const languages = [true, false].map((generate) => createExpressionLanguage({ generate }));
const [language] = languages;

/** Returns the value of an expression, or its error. */
function valueOf(source: string, event: { readonly [name: string]: string | number } = {}, steps?: number): unknown {
  const values = languages.map((each) => {
    const compiled = each.compile(source, 'recipient');
    if (!compiled.ok) throw new Error(compiled.error[0]?.message);
    const bindings = { event, event_id: 'evt_1', time: 0 };
    const result = compiled.value.evaluate(bindings, steps === undefined ? new StepBudget() : new StepBudget(steps));
    return result.ok ? result.value : result.error;
  });
  expect(values[1]).toEqual(values[0]);
  return values[0];
}

describe('localTime (the function for times in a zone)', () => {
  it.each([
    ['2026-01-31T09:00', 'Europe/Berlin', '2026-01-31T08:00:00Z'],
    ['2026-07-31T09:00:05', 'Europe/Berlin', '2026-07-31T07:00:05Z'],
    ['2026-01-31', 'America/New_York', '2026-01-31T05:00:00Z'],
    ['2026-01-31T09:00:00.25', 'Asia/Kathmandu', '2026-01-31T03:15:00.25Z'],
    ['2024-02-29T12:00', 'UTC', '2024-02-29T12:00:00Z'],
    ['2026-01-31T09:00', '-02:30', '2026-01-31T11:30:00Z'],
  ])('reads %s in %s', (text, zone, at) => {
    expect(valueOf('localTime(event.text, event.zone)', { text, zone })).toBe(at);
  });

  it.each([
    ['2026-03-29T01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59Z'],
    ['2026-03-29T02:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['2026-03-29T02:30:00.5', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
    // A whole day was left out.
    ['2011-12-30T12:00', 'Pacific/Apia', '2011-12-30T10:00:00Z'],
    // The day begins at one.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ])('uses the next existing time for the skipped time %s in %s', (text, zone, at) => {
    expect(valueOf('localTime(event.text, event.zone)', { text, zone })).toBe(at);
  });

  it.each([
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z'],
    ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00:00Z'],
    ['2026-11-01T01:30', 'America/New_York', '2026-11-01T05:30:00Z'],
  ])('uses the first of two instants for %s in %s', (text, zone, at) => {
    expect(valueOf('localTime(event.text, event.zone)', { text, zone })).toBe(at);
  });

  it.each(['2026-02-30', '2026-13-01', '2026-01-31T24:00', '2026-01-31T09:00Z', '2026-01-31T09', 'soon', ''])(
    'fails for the text %j',
    (text) => {
      expect(valueOf('localTime(event.text, "UTC")', { text })).toContain('not a date or local time');
    },
  );

  it('fails for a number', () => {
    expect(valueOf('localTime(event.text, "UTC")', { text: 5 })).toContain('no such overload');
  });

  it('is refused when the rule is saved, if its zone is a literal that does not exist', () => {
    const refused = language?.compile('localTime(event.text, "Mars/Base")', 'at');
    expect(refused).toMatchObject({ ok: false, error: [{ message: '"Mars/Base" is no time zone' }] });
    expect(valueOf('localTime(event.text, event.zone)', { text: '2026-01-31', zone: 'Mars/Base' })).toContain(
      'no such time zone',
    );
  });

  it('takes steps of the computation budget for each conversion', () => {
    const [text, gap] = ['2026-01-31', '2026-03-29T02:30'];
    expect(valueOf('localTime(event.text, "Europe/Berlin")', { text }, 3_000)).toContain('too');
    expect(valueOf('localTime(event.text, "Europe/Berlin")', { text }, 5_000)).toBe('2026-01-30T23:00:00Z');
    expect(valueOf('localTime(event.text, "Europe/Berlin")', { text: gap }, 5_000)).toContain('too');
  });

  it('returns the given wall-clock time in any zone, unless a clock change skips that time', () => {
    const zone = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      'Asia/Tehran',
    );
    const minute = fc.integer({ min: Date.UTC(2000, 0, 1) / 60_000, max: Date.UTC(2037, 0, 1) / 60_000 });
    fc.assert(
      fc.property(zone, minute, (name, at) => {
        const text = new Date(at * 60_000).toISOString().slice(0, 16);
        const found = Date.parse(String(valueOf('localTime(event.text, event.zone)', { text, zone: name })));
        const shown = (instant: number): string =>
          new Date(instant).toLocaleString('sv-SE', { timeZone: name }).replace(' ', 'T').slice(0, 16);
        // In a gap the clock shows a later time, and it did not show the time a second before.
        expect(shown(found) >= text).toBe(true);
        expect(shown(found - 60_000) < text).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
