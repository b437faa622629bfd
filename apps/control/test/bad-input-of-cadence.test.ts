import { findResource, foldConfiguration, type Configuration } from '@carillon/domain/configuration';
import { openDelivery } from '@carillon/domain/deliveries';
import type { DeliveryId, Json } from '@carillon/kernel';
import { collectForDigest, evaluateEvent } from '@carillon/stages';
import { at, givenEvent, givenIds, givenIntent, givenRuleBook } from '@carillon/testing/given';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planFolder } from '../src/configuration.ts';
import { openResourceFixture, type ResourceFixture } from './resource-fixture.ts';

const W = 'workspaces/shop';
const WORKSPACE = `${W}/workspace.yaml`;
const PAID = `${W}/notifications/order-paid.yaml`;
const MAIL = `${W}/templates/order-paid`;
const LAYOUT = `${W}/layouts/basic.html`;
const FOOTER = `${W}/partials/footer.hbs`;
type Files = Readonly<Record<string, string>>;

/** A notification whose cadence stands from line 2 on. */
const paid = (...cadence: readonly string[]): Files => ({
  [PAID]: [
    ...(cadence.length === 0 ? [] : ['cadence:', ...cadence]),
    'channels: { email: { template: order-paid } }',
    'rules:',
    '  paid:',
    '    stream: orders',
    '    when: event.status == "paid"',
    '    recipients:',
    '      from: event',
    '      to: { email: event.email }',
    '      unique_id: event.order_id',
    '',
  ].join('\n'),
});
const SHOP: Files = {
  [WORKSPACE]: 'name: Shop\n',
  [`${W}/streams/orders.yaml`]: 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  [`${MAIL}/email.yaml`]: 'subject: Paid\nlayout: basic\n',
  [`${MAIL}/email.html`]: '<p>Paid</p>\n{{> footer}}\n',
  [LAYOUT]: '<body>{{{body}}}</body>\n',
  [FOOTER]: '<i>{{shop}}</i>\n',
  ...paid(),
};
const mjml = (...inside: readonly string[]): Files => ({
  [`${MAIL}/email.yaml`]: 'subject: Paid\n',
  [`${MAIL}/email.html`]: '',
  [`${MAIL}/email.mjml`]: ['<mjml><mj-body>', ...inside, '</mj-body></mjml>', ''].join('\n'),
});
const text = (inside: string): string => `<mj-section><mj-column><mj-text>${inside}</mj-text></mj-column></mj-section>`;

let fixture: ResourceFixture;
beforeAll(async () => {
  fixture = await openResourceFixture();
});
afterAll(() => fixture.close());

const planned = (changes: Files) => {
  // An empty text takes a file away.
  const files = Object.fromEntries(Object.entries({ ...SHOP, ...changes }).filter(([, source]) => source !== ''));
  return planFolder({ files, prune: false }, fixture.ports);
};
async function published(changes: Files): Promise<Configuration> {
  const { body, changes: record } = await planned(changes);
  expect(body.faults).toEqual([]);
  const current = fixture.ports.configuration.current();
  return foldConfiguration(current, { changes: record }, current.number + 1).configuration;
}

test('the folder in which one thing at a time is wrong has no mistake itself', async () => {
  await published({});
  await published(mjml(text('Paid')));
  // The same for everybody may be meant.
  await published(
    paid(`  delay: { until: '"2027-01-01T00:00:00Z"' }`, `  digest: { key: '"all"', window: { fixed: 1h } }`),
  );
  await published(paid('  delay: { until: time + duration("2h") }'));
  for (const key of ['string(event.project)', 'event.team + ":" + event.project', 'int(event.size) / 10', 'time']) {
    await published(paid(`  digest: { key: '${key}', window: { fixed: 1h } }`));
  }
});

describe('a faulty cadence is refused on save with file, line and fix', () => {
  test.each<[row: string, changes: Files, place: string, message: string, help: string]>([
    [
      'quiet hours of a notification and its workspace that leave no time of a week',
      {
        ...paid('  quiet_hours: { from: "08:00", to: "20:00" }'),
        [WORKSPACE]: 'name: Shop\ncadence:\n  quiet_hours: { from: "20:00", to: "08:00" }\n',
      },
      `${PAID}:2`,
      'the quiet hours leave no time to send',
      'shorten',
    ],
    [
      'quiet hours whose `from` is their `to`',
      paid('  quiet_hours: { from: "21:00", to: "21:00" }'),
      `${PAID}:2`,
      'start and end at',
      'to',
    ],
    [
      'a limit of 0',
      paid('  limits:', '    - { max: 0, per: 1d, then: drop }'),
      `${PAID}:3`,
      '0',
      'a whole number from 1 to 1000',
    ],
    [
      'a limit of 1,001',
      { [WORKSPACE]: 'name: Shop\ncadence:\n  limits:\n    - { max: 1001, per: 1d, then: hold }\n' },
      `${WORKSPACE}:4`,
      '1001',
      'a whole number from 1 to 1000',
    ],
    [
      '`per` of 93 days',
      paid('  limits:', '    - max: 1', '      per: 93d', '      then: drop'),
      `${PAID}:4`,
      '93d',
      'a duration from 1m to 92d',
    ],
    ['a delay of two years', paid('  delay: 730d'), `${PAID}:2`, '730d', 'a duration from 1s to 366d'],
    ['`until` that is no expression', paid('  delay: { until: next week }'), `${PAID}:2`, 'unexpected `week`', ''],
    ['`until` that is null', paid('  delay:', '    until: null'), `${PAID}:3`, 'null means nothing here', ''],
    [
      '`until` that is a number',
      paid('  delay:', '    until: 5'),
      `${PAID}:3`,
      'cadence.delay.until is no time (RFC 3339, with its zone) for every event',
      'event.starts_at',
    ],
    [
      '`until` that is the same text for everybody',
      paid(`  delay: { until: '"tomorrow"' }`),
      `${PAID}:2`,
      'is no time (RFC 3339, with its zone) for every event',
      'event.starts_at',
    ],
    [
      '`until` that is a day that there is not',
      paid(`  delay: { until: 'timestamp("2026-02-30T00:00:00Z")' }`),
      `${PAID}:2`,
      'for every event',
      'event.starts_at',
    ],
    [
      'a zone that is none',
      { [WORKSPACE]: 'name: Shop\ntime_zone: Mars/Base\n' },
      `${WORKSPACE}:2`,
      'Mars/Base',
      'Europe/',
    ],
    [
      'a locale that does not exist',
      { [WORKSPACE]: 'name: Shop\n\nlocale: klingon\n' },
      `${WORKSPACE}:3`,
      'klingon',
      'de',
    ],
    [
      'a file in a locale that does not exist',
      { [`${MAIL}/email.klingonisch.html`]: '<p>Qapla</p>\n' },
      `${MAIL}/email.klingonisch.html:1`,
      'klingonisch is not a language',
      'a tag such as de',
    ],
    [
      'a zone that is none, in a template',
      { [`${MAIL}/email.html`]: '<p>\n{{date paid_at zone="Mars/Base"}}</p>\n' },
      `${MAIL}/email.html:2`,
      'zone of date: expected a time zone such as "Europe/Berlin"',
      '',
    ],
    [
      'a locale that does not exist, in a template',
      { [`${MAIL}/email.html`]: '<p>\n{{number total locale="de_DE"}}</p>\n' },
      `${MAIL}/email.html:2`,
      'locale of number: expected a language tag such as "de" or "en-GB"',
      '',
    ],
    [
      'a digest key that is an object',
      paid('  digest:', '    key: { project: 1 }', '    window: { fixed: 1h }'),
      `${PAID}:3`,
      '',
      'an expression (CEL)',
    ],
    [
      'a digest key that is the same object for everybody',
      paid('  digest:', `    key: '{"project": 1}'`, '    window: { fixed: 1h }'),
      `${PAID}:3`,
      'digest_key must be a text or a number; this is map<string, int>',
      'event.project',
    ],
    [
      'a digest key that is the same empty text for everybody',
      paid('  digest:', `    key: '""'`, '    window: { fixed: 1h }'),
      `${PAID}:3`,
      'is null, empty, or neither text nor number for every event',
      'event.project',
    ],
    [
      'a partial that holds itself',
      { [FOOTER]: 'a\n {{> footer}}\n' },
      `${FOOTER}:2`,
      'The partial footer includes itself',
      '',
    ],
    [
      '30 partials',
      { [`${MAIL}/email.html`]: `<p>\n${'{{> footer}}\n'.repeat(30)}` },
      `${MAIL}/email.html:22`,
      'more than 20 partials',
      '',
    ],
    [
      'a layout without a body',
      { [LAYOUT]: '<body></body>\n' },
      `${LAYOUT}:1`,
      'the layout does not say where the text of a template goes',
      '{{{body}}}',
    ],
    [
      'MJML nested 3,000 deep',
      mjml(text(`${'<div>'.repeat(3000)}x${'</div>'.repeat(3000)}`)),
      `${MAIL}/email.mjml:2`,
      'More than 32 elements inside each other',
      'Remove elements',
    ],
    ['MJML of more than 64 KB', mjml(text('x'.repeat(65_536))), `${MAIL}/email.mjml:1`, '65536', ''],
    [
      'MJML with mj-include',
      mjml('<mj-include path="/etc/passwd" />'),
      `${MAIL}/email.mjml:2`,
      'mj-include is refused',
      'Use a partial',
    ],
    [
      'MJML with an element that is not closed',
      mjml('<mj-section>', '  <mj-column>', '</mj-section>'),
      `${MAIL}/email.mjml:3`,
      '<mj-column> is not closed',
      'Write </mj-column>',
    ],
    [
      'a variant of a template that is gone',
      { [`${W}/templates/gone/email.de.html`]: '<p>Weg</p>\n' },
      `${W}/templates/gone/email.de.html:1`,
      'there is nothing for everybody else',
      'remove this file',
    ],
  ])('%s', async (_row, changes, place, message, help) => {
    const { body, changes: record } = await planned(changes);
    expect(record).toEqual([]);
    expect(body.faults.map(({ file, line, message: said }) => `${file}:${line} ${said}`)).toHaveLength(1);
    const [fault] = body.faults;
    expect(`${fault?.file}:${fault?.line}`).toBe(place);
    expect(fault?.column).toBeGreaterThan(0);
    expect(fault?.message).toContain(message);
    expect(`${fault?.expected} ${fault?.fix}`).toContain(help);
    expect(fault?.fix).not.toBe('');
  });
});

describe('a fault in event values is recorded with its reason', () => {
  const PERSON = { status: 'paid', order_id: 'A-1', email: 'ada@example.com' };
  const judged = async (cadence: readonly string[], more: { readonly [name: string]: Json }) => {
    const event = givenEvent({ ...PERSON, ...more });
    const [judgement] = evaluateEvent(event, await published(paid(...cadence)), givenRuleBook(), givenIds.derive);
    if (!judgement) throw new Error('the event has a rule');
    return judgement;
  };

  const UNTIL = ['  delay: { until: event.starts_at }'];
  const KEY = ['  digest: { key: event.project, window: { fixed: 1h } }'];
  const KEY_AS_TEXT = ['  digest: { key: string(event.project), window: { fixed: 1h } }'];
  test.each<[row: string, cadence: readonly string[], event: { readonly [name: string]: Json }, detail: string]>([
    ['`until` that is text', UNTIL, { starts_at: 'tomorrow' }, 'is no time'],
    ['`until` that is null', UNTIL, { starts_at: null }, 'is no time'],
    ['`until` in the year 9999', UNTIL, { starts_at: '9999-12-31T23:59:59Z' }, 'more than 366 days ahead'],
    [
      'a digest key of 100 KB',
      KEY,
      { project: 'x'.repeat(102_400) },
      'cadence.digest.key has more than 1000 characters',
    ],
    ['a digest key that is an object', KEY, { project: { id: 1 } }, 'cadence.digest.key is null, empty, or neither'],
    ['a digest key that is null', KEY, { project: null }, 'cadence.digest.key is null, empty, or neither'],
  ])('%s: the person is dropped with rule_error', async (_row, cadence, event, detail) => {
    const { intents, outcome } = await judged(cadence, event);
    expect(intents).toEqual([]);
    expect(outcome).toMatchObject({
      dropped: [{ reason: 'rule_error', detail: expect.stringContaining(detail) as string }],
    });
  });

  test('a key that has the form of text is used as a key', async () => {
    const { intents } = await judged(KEY_AS_TEXT, { project: 7 });
    expect(intents).toMatchObject([{ digestKey: '7' }]);
  });

  test('`until` in the past: the message is due at once`', async () => {
    const { intents } = await judged(UNTIL, { starts_at: '1999-01-01T00:00:00Z' });
    expect(intents).toMatchObject([{ sendAt: givenEvent(PERSON).appendedAt }]);
  });

  test('an item of 400 KB fails alone, and the other items of its digest are sent', async () => {
    await fixture.topology.publish(...(await planned(paid(...KEY))).changes);
    const now = at(fixture.topology.clock.now());
    const notificationId = findResource(fixture.ports.configuration.current(), 'notification', 'shop', 'order-paid')
      ?.body.id;
    const items = ['large', 'small'].map((name) => {
      const intent = givenIntent(name, {
        uniqueId: name,
        causedAt: fixture.topology.clock.now(),
        variables: { note: 'x'.repeat(name === 'large' ? 409_600 : 10) },
      });
      const placed = { ...intent, slot: { ...intent.slot, notificationId: notificationId ?? '' } };
      return openDelivery(placed, 'p', `dlv_${name}` as DeliveryId, now);
    });
    await fixture.topology.data.ledger.insert(items);
    await collectForDigest(items, '', { ...fixture.topology.ports, digestMade: () => undefined });
    expect(await fixture.topology.data.ledger.get('dlv_large' as DeliveryId)).toMatchObject({
      state: 'FAILED',
      reason: 'cannot_render',
      nextAt: null,
      history: expect.arrayContaining([
        expect.objectContaining({ detail: 'its values have 409611 characters, and a digest has at most 400000' }),
      ]) as unknown,
    });
    expect(await fixture.topology.data.ledger.get('dlv_small' as DeliveryId)).toMatchObject({ state: 'COLLECTED' });
  });
});
