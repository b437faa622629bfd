import { describe, expect, it } from 'vitest';
import { byDay } from '../src/screens/cadence/run-words.ts';
import { fieldTime, instantOf } from '../src/screens/why/question.ts';
import { sentenceParts } from '../src/ui/sentence-parts.ts';
import { clockOf, dayOf, momentWords } from '../src/ui/time-words.ts';

const NOW = new Date('2026-11-29T23:30:00.000Z');

describe('A moment in the time zone of a workspace', () => {
  it('has the clock and the day of that zone', () => {
    expect([dayOf(NOW, 'Europe/Berlin'), clockOf(NOW, 'Europe/Berlin')]).toEqual(['2026-11-30', '00:30:00']);
    expect([dayOf(NOW, 'America/New_York'), clockOf(NOW, 'America/New_York')]).toEqual(['2026-11-29', '18:30:00']);
  });

  it('includes the date if it is not today in that zone', () => {
    const before = new Date('2026-11-29T22:59:59.000Z');
    expect(momentWords(before, NOW, 'Europe/Berlin')).toBe('2026-11-29 23:59:59');
    expect(momentWords(before, NOW, 'UTC')).toBe('22:59:59');
  });

  it('is of UTC in a zone that the browser does not know', () => {
    expect(momentWords(NOW, NOW, 'Mars/Olympus')).toBe('23:30:00');
  });

  it('is read back from a form field as the same instant', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu']) {
      // On both sides of both changes of the clock of 2026 in Berlin.
      for (const at of ['2026-03-29T00:59:00.000Z', '2026-03-29T01:00:00.000Z', '2026-10-25T01:00:00.000Z'])
        expect(instantOf(fieldTime(at, zone), zone)).toBe(at);
    }
  });

  it('adds messages up by day of that zone', () => {
    const bucket = { at: NOW.toISOString(), came: 3, went: 2, dropped: 1 };
    expect(byDay([bucket], 'Europe/Berlin')).toEqual([{ day: '2026-11-30', came: 3, went: 2, dropped: 1 }]);
  });
});

describe('A sentence of the server', () => {
  it('splits at its code and its times', () => {
    expect(sentenceParts('due at 2026-11-30T08:00:00.000Z: see `carillon doctor`.', NOW)).toEqual([
      { kind: 'text', text: 'due at ' },
      { kind: 'time', text: '2026-11-30T08:00:00.000Z' },
      { kind: 'text', text: ': see ' },
      { kind: 'code', text: 'carillon doctor' },
      { kind: 'text', text: '.' },
    ]);
  });

  it('reads a UTC time without date as of today', () => {
    const times = sentenceParts('Changes from 2026-11-28 09:12:04 UTC to 23:20:00 UTC were not read.', NOW);
    expect(times.filter(({ kind }) => kind === 'time').map(({ text }) => text)).toEqual([
      '2026-11-28T09:12:04Z',
      '2026-11-29T23:20:00Z',
    ]);
  });

  it('keeps times that stand in code', () => {
    expect(sentenceParts('`--from 2026-11-30T08:00:00Z`', NOW)).toEqual([
      { kind: 'code', text: '--from 2026-11-30T08:00:00Z' },
    ]);
  });
});
