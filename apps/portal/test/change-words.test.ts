import { expect, it } from 'vitest';
import { changeWords, placeWords, titleOf, valueLines } from '../src/screens/drafts/change-words.ts';

it.each([
  ['rules.paid.when', 'Rule paid, fires when'],
  ['rules.paid', 'Rule paid'],
  ['rules.paid.recipients.unique_id', 'Rule paid, once per'],
  ['rules.paid.recipients.to.email', 'Rule paid, email address'],
  ['channels.sms', 'SMS'],
  ['channels.email.template', 'Email, template'],
  ['cadence.quiet_hours.from', 'Cadence, quiet hours → from'],
  ['in_doubt', 'When in doubt'],
  ['name', 'Name'],
])('says where %s stands', (path, words) => {
  expect(placeWords(path)).toBe(words);
});

it('says what happened to a field', () => {
  const path = 'name';
  expect(changeWords({ path, before: null, after: 'a' })).toBe('Name: added');
  expect(changeWords({ path, before: 'a', after: null })).toBe('Name: removed');
  expect(changeWords({ path, before: 'a', after: 'b' })).toBe('Name: changed');
  expect(titleOf({ kind: 'jwt_provider', name: 'auth' })).toBe('JWT provider auth');
  expect(titleOf({ kind: 'workspace', name: '' })).toBe('Settings of the workspace');
});

it('shows groups and lists value by value, and any other text as it is', () => {
  const cadence = { limits: [{ max: 3, per: '1d' }], quiet_hours: { from: '21:00', days: ['mon', 'tue'] }, none: {} };
  expect(valueLines(JSON.stringify(cadence))).toEqual([
    'limits[1] → max: 3',
    'limits[1] → per: 1d',
    'quiet hours → from: 21:00',
    'quiet hours → days: mon, tue',
    'none: {}',
  ]);
  expect(valueLines('event.a == "b"')).toEqual(['event.a == "b"']);
  expect(valueLines('{{ name }}')).toEqual(['{{ name }}']);
  expect(valueLines('[]')).toEqual(['[]']);
});
