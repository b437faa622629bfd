import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { isLocale, isTimeZone, type JsonObject } from '@carillon/kernel';
import { EMPTY_CONFIGURATION, foldConfiguration, localityOf, type WorkspaceBody } from '../src/configuration/index.ts';

const workspace = (body: WorkspaceBody) =>
  foldConfiguration(
    EMPTY_CONFIGURATION,
    { changes: [{ ref: { kind: 'workspace', workspace: 'shop', name: '' }, based_on: null, body }] } as never,
    0,
  ).configuration;
const berlin = workspace({ time_zone: 'Europe/Berlin', locale: 'de-AT' });
const found = (variables: JsonObject, configuration = berlin) => localityOf(configuration, 'shop', variables);

describe('the time zone and the locale of a recipient', () => {
  it('are the workspace’s if the recipient sets none', () => {
    expect(found({}).locality).toEqual({ timeZone: 'Europe/Berlin', locale: 'de-AT' });
    expect(found({ time_zone: null, locale: null })).toEqual({
      locality: { timeZone: 'Europe/Berlin', locale: 'de-AT' },
      wrong: [],
    });
  });
  it('are the recipient’s own if set, each independently of the other', () => {
    expect(found({ time_zone: 'Asia/Tokyo' }).locality).toEqual({ timeZone: 'Asia/Tokyo', locale: 'de-AT' });
    expect(found({ locale: 'fr' }).locality).toEqual({ timeZone: 'Europe/Berlin', locale: 'fr' });
  });
  it('default to UTC and en', () => {
    expect(found({}, workspace({})).locality).toEqual({ timeZone: 'UTC', locale: 'en' });
    expect(found({}, EMPTY_CONFIGURATION).locality).toEqual({ timeZone: 'UTC', locale: 'en' });
  });
  it.each([
    [{ time_zone: 'Mars/Base' }, 'time_zone', 'Mars/Base', 'Europe/Berlin'],
    [{ locale: 'de_DE' }, 'locale', 'de_DE', 'de-AT'],
    [{ locale: 'english' }, 'locale', 'english', 'de-AT'],
    [{ locale: '' }, 'locale', '', 'de-AT'],
    [{ time_zone: 5 }, 'time_zone', 'a number', 'Europe/Berlin'],
    [{ time_zone: ['UTC'] }, 'time_zone', 'a list', 'Europe/Berlin'],
  ] as const)('are reported if they are invalid, %j, and the workspace’s apply', (variables, variable, value, used) => {
    const { locality, wrong } = found(variables);
    expect(locality).toEqual({ timeZone: 'Europe/Berlin', locale: 'de-AT' });
    expect(wrong).toEqual([{ variable, value, used }]);
  });
  it('are always valid for Intl, whatever the data, and the report is short', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('time_zone', 'locale', '__proto__'), fc.jsonValue()), (data) => {
        const { locality, wrong } = found(data as JsonObject);
        expect(() => new Intl.DateTimeFormat(locality.locale, { timeZone: locality.timeZone })).not.toThrow();
        for (const { value } of wrong) expect(value.length).toBeLessThanOrEqual(40);
      }),
    );
  });
  it('are cached within a bound for endless different values, with the same result the second time', () => {
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 1500; n += 1) expect(isTimeZone(`Mars/${n}`)).toBe(false);
      expect(isTimeZone('Europe/Berlin')).toBe(true);
      expect(isLocale('x'.repeat(100_000))).toBe(false);
    }
  });
});
