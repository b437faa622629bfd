import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { readResourceBodies, type WrittenKind } from '@carillon/configuration';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { FAULT_FACTS, type FaultCode } from '@carillon/kernel';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { faultText } from '../../../apps/portal/src/faults/fault-text.ts';
import { inFormSentences } from '../../../apps/portal/src/faults/in-form-sentences.ts';
import { type ApiFault, sentencesInForm } from '../../../apps/portal/src/faults/form-sentences.ts';
import { configurations } from '../../../libs/configuration/test/support/bodies.ts';
import { reading } from '../../../libs/configuration/test/support/small-language.ts';

/** Expressions that make sense only on the command line or in files, with a name for each. */
const REFUSED: readonly (readonly [what: string, found: RegExp])[] = [
  [
    'a file path',
    /workspaces\/|(?:layouts|partials|templates|notifications|streams)\/|\.(?:ya?ml|hbs|html|txt|mjml)\b/,
  ],
  ['a key of YAML', /[a-z]_[a-z]|\b(?:add|write|remove|name) [a-z]+:|\b(?:url(?!,)|tls|dkim|html|mjml|jwt|sms|cel)\b/],
  ['YAML itself', /YAML|CEL\b|[[\]]|: …/],
  ['braces', /[{}]/],
  ['a backtick', /`/],
  ['a command', /npx|carillon [a-z]/],
  ['a file', /\bfiles?\b(?! of the service account)|\bfolder\b/],
];

/** Words that the user wrote stand in quotation marks, and tags of templates are written as they are typed. */
const ownWords = (text: string): string => text.replaceAll(/“[^”]*”/g, '“”').replaceAll(/\{\{.*?\}+|\}\}/g, '');

const textOf = (fault: ApiFault): string => faultText(sentencesInForm(fault));

const refusedIn = (text: string): readonly string[] =>
  REFUSED.flatMap(([what, found]) => (found.test(ownWords(text)) ? [`${what}: ${text}`] : []));

const KINDS = [
  'notification',
  'template',
  'layout',
  'partial',
  'stream',
  'integration',
  'account',
  'jwt_provider',
] as const;
const PATHS = [
  '',
  'rules.paid.recipients.unique_id',
  'channels.push.template',
  'cadence.quiet_hours',
  'cors_origins[0]',
];
const FACT = 'orders';
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  'meant',
  'name',
  'expected',
  'within',
  'notification',
  'fix',
  'stream',
  'known',
  'type',
  'why',
  'of',
  'was',
  'recipients',
  'variable',
  'live',
]);

const faultsOf = (code: FaultCode): readonly ApiFault[] => {
  const facts = Object.fromEntries(FAULT_FACTS[code].map((fact) => [fact, FACT]));
  const without = Object.fromEntries(FAULT_FACTS[code].map((fact) => [fact, MAY_BE_EMPTY.has(fact) ? '' : FACT]));
  return [facts, without].flatMap((one) =>
    KINDS.flatMap((kind) => PATHS.map((path) => ({ code, kind, name: FACT, path, facts: one }))),
  );
};

describe('sentences of faults in forms', () => {
  it.each(Object.keys(FAULT_FACTS) as FaultCode[])('name no file and no key of YAML for %s', (code) => {
    const texts = faultsOf(code).map(textOf);
    expect(texts.flatMap(refusedIn)).toEqual([]);
    for (const text of texts) expect(text).toMatch(/^\p{Lu}|^\{|^“/u);
  });

  it('name no file and no key of YAML for any body with a mistake', () => {
    const codes = new Set<string>();
    const refused = new Set<string>();
    for (const current of fc.sample(configurations, { numRuns: 3, seed: 40 })) {
      for (const { ref, body } of current.resources.values()) {
        if (ref.kind === 'api_key') continue;
        const own = { ...ref, kind: ref.kind };
        for (const spoilt of spoiltBodies(JSON.parse(JSON.stringify(body)))) {
          const { faults, warnings } = readResourceBodies([{ ref: own, body: spoilt }], { ...reading, current });
          for (const { ref: where, ...fault } of [...faults, ...warnings]) {
            codes.add(fault.code);
            for (const text of refusedIn(textOf({ ...fault, ...where }))) refused.add(text);
          }
        }
      }
    }
    expect([...refused]).toEqual([]);
    expect([...codes]).toEqual(
      expect.arrayContaining(['missing', 'unknown_setting', 'value_invalid', 'channel_missing']),
    );
    expect(codes.size).toBeGreaterThan(9);
  });

  it.each([
    'event.a = 1',
    'event.a and true',
    'event.`a`',
    'Dear customer',
    '{{ event.a }}',
    'evnt.total > 1',
    'event.total >',
    'size(event)',
    'event.a === 1 ; 2',
    'x.map(y)',
    'event.a + 1 > "b"',
  ])('name no file and no key of YAML for the expression %s', (when) => {
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: when, where: when, person: when };
    const body = { channels: { email: { template: 'none' } }, rules: { paid: { stream: 'none', when, recipients } } };
    expect(refusedInBody('notification', body)).toEqual([]);
  });

  it.each([
    '{{> footer}}',
    '{{> (lookup . "a")}}',
    '{{> footer a=1}}',
    '{{#if}}',
    '{{#each items}}',
    '{{/if}}',
    '{{nothing here}}',
    '{{{body}}}',
    '{{date time "no format"}}',
    '{{number total digits="x"}}',
    '{{#unless a}}{{else}}',
    '{{a.[b}}',
    '<a href={{link}}>',
    '{{"a"}} {{@root}} {{this.[0]}} {{../a}}',
  ])('name no file and no key of YAML for the template %s', (text) => {
    const parts = { subject: text, html: text, text, layout: 'basic' };
    expect(refusedInBody('template', { email: { ...parts, locales: { de: { html: text }, xx_y: parts } } })).toEqual(
      [],
    );
    expect(refusedInBody('layout', { html: text, text: '{{body}}' })).toEqual([]);
    expect(refusedInBody('partial', { text })).toEqual([]);
  });
});

const renderer = createTemplateRenderer();
afterAll(() => renderer.close());

function refusedInBody(kind: WrittenKind, body: object): readonly string[] {
  const context = { language: createExpressionLanguage(), templates: renderer, current: EMPTY_CONFIGURATION };
  const ref = { kind, workspace: 'shop', name: 'orders' };
  const { faults, warnings } = readResourceBodies([{ ref, body }], context);
  expect([...faults, ...warnings].length).toBeGreaterThan(0);
  return [...faults, ...warnings].flatMap(({ ref: where, ...fault }) => refusedIn(textOf({ ...fault, ...where })));
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
const WRONG: readonly Json[] = [5, 'Ünfit', {}];

/** The body with a mistake at each place: a key that is missing, one that is unknown, and values that do not fit. */
function* spoiltBodies(body: unknown): Generator<Json> {
  if (Array.isArray(body)) {
    for (const [at, item] of body.entries()) for (const one of spoiltBodies(item)) yield body.with(at, one) as Json;
  } else if (typeof body === 'object' && body !== null) {
    yield { ...body, nmae: 'x' };
    for (const [key, value] of Object.entries(body)) {
      const { [key]: _, ...rest } = body as Record<string, Json>;
      yield rest;
      for (const wrong of WRONG) yield { ...rest, [key]: wrong };
      for (const one of spoiltBodies(value)) yield { ...rest, [key]: one };
    }
  }
}

it('puts the faults of every answer of the API into sentences for forms', async () => {
  const fault = { kind: 'integration', workspace: 'shop', name: 'crm', path: 'url', line: null, column: null };
  const coded = { ...fault, code: 'missing', facts: { expected: 'an address' } };
  const given = { ...coded, message: 'url is missing', expected: 'an address', fix: 'add url: …' };
  const shown = { ...coded, message: 'URL: not filled in yet', expected: '', fix: 'Enter an address.' };
  expect(await inFormSentences({ faults: [given], warnings: [], body: { faults: [1] } })).toEqual({
    faults: [shown],
    warnings: [],
    body: { faults: [1] },
  });
  expect(await inFormSentences({ plan: { warnings: [given] } })).toEqual({ plan: { warnings: [shown] } });
  const ofAnExpression = { faults: [{ line: 1, column: 2, message: 'unexpected', fix: 'leave it out' }] };
  expect(await inFormSentences(ofAnExpression)).toBe(ofAnExpression);
});
