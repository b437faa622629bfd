import { describe, expect, it } from 'vitest';
import { offeredLanguages } from '../src/screens/templates/add-language.tsx';
import {
  channelsWithout,
  fallbackWords,
  fallsBackTo,
  partFallback,
  settingsFallback,
} from '../src/screens/templates/fallbacks.ts';
import { besideOf } from '../src/screens/templates/languages.tsx';
import { missingWords } from '../src/screens/templates/missing-words.ts';
import { completeTemplate, variablesOf } from '../src/screens/templates/template-completion.ts';
import { localesIn, variantIn, withRemoved, withSource, withVariant } from '../src/screens/templates/template-parts.ts';
import { fieldsOfSample } from '../src/screens/templates/use-event.ts';
import { givenTo, sentAs } from '../src/screens/templates/users.ts';
import { namesWithDrafts, overlaid } from '../src/screens/templates/with-drafts.ts';
import { variableAt } from '../src/ui/code-words.ts';

const BODY = {
  email: {
    subject: 'Paid',
    preheader: 'Soon',
    html: '<p>Paid</p>',
    layout: 'basic',
    strict: true,
    locales: { de: { subject: 'Bezahlt', mjml: '<mjml/>', from: 'Laden <a@b.de>' }, fr: { subject: 'Paid' } },
  },
  sms: { text: 'Paid' },
};

describe('a language of a template', () => {
  it('falls back to a wider language, then to that of the workspace, then to the base text', () => {
    expect(fallsBackTo('de-AT', ['de-AT', 'de', 'fr'], 'fr')).toBe('de');
    expect(fallsBackTo('de', ['de', 'fr'], 'fr-CH')).toBe('fr');
    expect(fallsBackTo('fr', ['de', 'fr'], 'fr')).toBe('');
    expect(fallsBackTo('zh-Hant-TW', ['zh-Hant-TW', 'zh-Hant', 'zh'], 'en')).toBe('zh-Hant');
  });

  it('says who reads it and which language they would get without it', () => {
    expect(fallbackWords('', [], 'en')).toContain('For all readers.');
    expect(fallbackWords('de', ['de'], 'en')).toBe('For readers of de. Without it they would get Default.');
    expect(fallbackWords('de-AT', ['de-AT', 'de'], 'en')).toBe('For readers of de-AT. Without it they would get de.');
    expect(fallbackWords('de', ['de'], 'de-AT')).toContain('and of languages that are not here');
    expect(channelsWithout(BODY, 'de', [{ id: 'sms', name: 'SMS' }])).toBe('SMS has no de.');
  });

  it('is shown beside its fallback, until another language or none is chosen', () => {
    const locales = ['de-AT', 'de'];
    expect(besideOf(undefined, 'de-AT', locales, 'en')).toBe('de');
    expect(besideOf('base', 'de-AT', locales, 'en')).toBe('');
    expect(besideOf('alone', 'de-AT', locales, 'en')).toBeNull();
    expect(besideOf(undefined, '', locales, 'en')).toBeNull();
    expect(besideOf('de', '', locales, 'en')).toBe('de');
    expect(besideOf('de', 'de', locales, 'en')).toBe('');
  });

  it.each([
    ['de', 'subject', null],
    ['de', 'preheader', 'Missing in de, and a message never mixes languages'],
    ['de', 'mjml', null],
    ['de', 'text', 'Made from the HTML in de.'],
    ['de', 'from', 'Only in this language: Default has none.'],
    ['de', 'layout', 'Uses basic, the layout of Default.'],
    ['fr', 'subject', 'Not translated yet: same text as Default.'],
    ['fr', 'html', 'Missing in fr, and a message never mixes languages'],
    ['', 'text', null],
  ])('says of %s what stands in for %s', (locale, part, words) => {
    const said = partFallback(BODY, 'email', locale, part);
    if (words === null) expect(said).toBeNull();
    else expect(said?.words).toContain(words);
    expect(said?.isFault ?? false).toBe(words?.includes('never mixes languages') ?? false);
  });

  it('has no settings of its own', () => {
    expect(settingsFallback(BODY, 'email', 'de')).toBe('As in Default, a message with a missing variable is not sent.');
    expect(settingsFallback(BODY, 'email', '')).toBeNull();
  });
});

describe('completion in a template', () => {
  const fields = [
    { path: 'status', types: ['string'], sample: '"paid"', count: 100 },
    { path: 'name', types: ['string'], sample: null, count: 40 },
  ];
  const complete = completeTemplate({
    fields,
    given: [{ name: 'greeting', by: 'order-paid.paid' }],
    answers: [{ path: 'name', types: ['string'], sample: '"Ada"', by: 'crm' }],
    partials: ['footer'],
  });

  it('offers variables of rules, answers of partners, fields with type and share, and helpers', () => {
    expect(complete('Hello {{gr')).toMatchObject({ from: 8 });
    const choices = complete('Hello {{')?.choices ?? [];
    expect(choices.slice(0, 3)).toEqual([
      { label: 'greeting', detail: 'variable of order-paid.paid', kind: 'field' },
      { label: 'name', detail: 'string · answered by crm', kind: 'field', info: 'newest: "Ada"' },
      { label: 'status', detail: 'string · 100 %', kind: 'field', info: 'newest: "paid"' },
    ]);
    expect(choices.map(({ label }) => label)).toContain('currency');
  });

  it('offers partials after {{>, and nothing outside of braces', () => {
    expect(complete('{{> fo')).toEqual({ from: 4, choices: [{ label: 'footer', detail: 'partial', kind: 'word' }] });
    expect(complete('Hello')).toBeNull();
    expect(complete('{{name}} an')).toBeNull();
  });

  it('knows the variables of rules and the partners that they ask', () => {
    const notifications = [
      {
        name: 'order-paid',
        body: {
          channels: { email: { template: 'order-paid' } },
          rules: {
            paid: { recipients: { from: 'event', variables: { greeting: '"Hi"' } } },
            late: { recipients: { from: 'lookup', integration: 'crm' } },
          },
        },
      },
      { name: 'other', body: { channels: { sms: { template: 'other' } }, rules: {} } },
    ];
    expect(givenTo(notifications, 'order-paid')).toEqual({
      variables: [{ name: 'greeting', by: 'order-paid.paid' }],
      partners: ['crm'],
    });
  });
});

describe('a removed part of a template', () => {
  const textAlone = withVariant(BODY, 'email', 'de', { subject: 'Bezahlt', text: '' });

  it('is restored by Undo: the source of a mail, and a whole language', () => {
    expect(variantIn(withSource(textAlone, 'de', 'mjml', '<mjml/>'), 'email', 'de')).toEqual({
      subject: 'Bezahlt',
      mjml: '<mjml/>',
    });
    const { fr } = BODY.email.locales;
    const removed = withVariant(BODY, 'email', 'fr', null);
    expect(localesIn(removed, 'email')).toEqual(['de']);
    expect(variantIn(withRemoved(removed, 'email', 'fr', fr), 'email', 'fr')).toEqual(fr);
  });

  it('is not restored over text written in its place since', () => {
    expect(() => withSource(BODY, 'de', 'html', '<p>Old</p>')).toThrow('there is newer text');
    expect(() => withSource(withVariant(textAlone, 'email', 'de', null), 'de', 'html', '<p>Old</p>')).toThrow();
    expect(() => withRemoved(BODY, 'email', 'de', {})).toThrow('there is newer text');
    expect(() => withRemoved(BODY, 'push', 'de', {})).toThrow();
  });
});

describe('the text about missing variables', () => {
  it.each([
    [{ events: 0, sending: 0, failed: 0, variables: [] }, 'No events yet on the streams of its rules.'],
    [{ events: 1000, sending: 0, failed: 0, variables: [] }, 'None of the newest 1,000 events would send it.'],
    [
      { events: 1000, sending: 412, failed: 0, variables: [] },
      'Of the newest 1,000 events, 412 would send it, each with every variable.',
    ],
    [{ events: 1, sending: 1, failed: 0, variables: [] }, 'The newest event would send it with every variable.'],
    [
      { events: 1, sending: 1, failed: 1, variables: [{ variable: 'a', missing: 1, event_id: 'evt_1' }] },
      'The newest event gives an error instead of a message.',
    ],
  ])('says in a sentence: %j', (counted, words) => {
    expect(missingWords(counted, 'message')).toBe(words);
  });

  it('mentions the items of a digest', () => {
    const none = { events: 20, sending: 0, failed: 0, variables: [] };
    expect(missingWords(none, 'digest')).toBe('None of the newest 20 events would go into it.');
    expect(missingWords({ ...none, sending: 12 }, 'digest')).toBe(
      'Of the newest 20 events, 12 would go into it, each with every variable.',
    );
  });

  it('counts nothing for a template that no notification sends', () => {
    const counted = { events: 0, sending: 0, failed: 0, variables: [] };
    const body = { channels: { email: { template: 'mail' } }, cadence: { digest: { template: 'sum' } } };
    const wordsOf = (template: string, channel = 'email'): string =>
      missingWords(counted, sentAs([{ name: 'order-paid', body }], template, channel));
    expect(wordsOf('sum')).toContain('No events yet');
    expect(wordsOf('mail')).toContain('No events yet');
    expect(wordsOf('mail', 'sms')).toContain('No notification uses this template on this channel');
    expect(wordsOf('unused')).toContain('No notification uses this template on this channel');
  });
});

describe('a variable that a button inserts', () => {
  const inserted = (before: string, after: string): string => {
    const { from, insert } = variableAt(before, after, 'customer.name');
    return `${before.slice(0, from)}${insert}${after}`;
  };

  it.each([
    ['Hello ', ', hi', 'Hello {{customer.name}}, hi'],
    ['{{a}} and ', '', '{{a}} and {{customer.name}}'],
    ['Hello {{custo', '', 'Hello {{customer.name}}'],
    ['Hello {{custo', '}}!', 'Hello {{customer.name}}!'],
    ['Hello {{custo', ' {{b}}', 'Hello {{customer.name}} {{b}}'],
    ['{{date ', '}}', '{{date customer.name}}'],
    ['{{{', '', '{{{customer.name}}}'],
  ])('completes %s|%s', (before, after, text) => {
    expect(inserted(before, after)).toBe(text);
  });

  it('is taken from a rule, a partner or an event, or from the sample of the rule before the first event', () => {
    const fields = fieldsOfSample({
      fields: [
        { path: 'order_id', type: null, used_by: ['key'], value: '"A-1001"', origin: 'placeholder' },
        { path: 'coupon', type: 'string', used_by: ['when'], value: 'null', origin: 'absent' },
        { path: 'items[].sku', type: 'string', used_by: ['template'], value: '"x"', origin: 'placeholder' },
      ],
    });
    const given = [{ name: 'total', by: 'order-paid.paid' }];
    expect(variablesOf({ fields, given, answers: [] })).toEqual([
      { path: 'total', note: 'variable of order-paid.paid' },
      { path: 'order_id', note: '"A-1001"' },
      { path: 'coupon' },
    ]);
    const twice = variablesOf({ fields: [...fields, { ...fields[0]!, path: 'total' }], given, answers: [] });
    expect(twice.filter(({ path }) => path === 'total')).toEqual([
      { path: 'total', note: 'variable of order-paid.paid' },
    ]);
  });
});

describe('resources with the drafts of a workspace', () => {
  it('include resources created by a draft, and exclude resources deleted by a draft', () => {
    const drafts = [
      { kind: 'layout', name: 'fresh', action: 'create' },
      { kind: 'layout', name: 'old', action: 'delete' },
      { kind: 'layout', name: 'basic', action: 'update' },
      { kind: 'template', name: 'mail', action: 'create' },
    ] as const;
    expect(namesWithDrafts([{ name: 'basic' }, { name: 'old' }], drafts, 'layout')).toEqual([
      { name: 'basic', isNew: false },
      { name: 'fresh', isNew: true },
    ]);
  });

  it('use the body of a draft in place of the published body', () => {
    const published = ['a', 'b', 'c'].map((name) => ({ name, body: { of: 'published' } }));
    const drafts = [
      { name: 'b', body: { of: 'draft' } },
      { name: 'c', body: null },
      { name: 'd', body: { of: 'draft' } },
    ];
    expect(overlaid(published, drafts)).toEqual([published[0], drafts[0], drafts[2]]);
  });
});

describe('languages to choose from', () => {
  it('begin with the languages of workspace and other channels, without those already present', () => {
    const body = { email: { locales: { de: {} } }, sms: { locales: { 'pt-BR': {} } } };
    const offered = offeredLanguages(body, 'email', 'de-AT');
    expect(offered.slice(0, 3)).toEqual(['de-AT', 'pt-BR', 'en']);
    expect(offered).not.toContain('de');
  });
});
