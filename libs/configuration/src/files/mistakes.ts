import { similarTo, type CodedFault } from '@carillon/kernel';
import type { z } from 'zod';
import { sentencesInFile } from '../checks/file-sentences.ts';
import { pathText, type ValuePath } from '../value-path.ts';
import type { ShapeFault } from './place.ts';
import { meantLocale, meantZone } from './meant-locality.ts';
import type { PlacedSource } from './yaml-source.ts';

type Issue = z.core.$ZodIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'keys and values',
  record: 'keys and values',
};

const nameOf = (path: ValuePath): string => String(path.at(-1) ?? 'the file');

function valueAt(value: unknown, path: ValuePath): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

/**
 * Returns the mistakes that the schema found, with text and position. One issue may be several mistakes, because each
 * unknown key is one.
 */
export function mistakesOf(issues: readonly Issue[], value: unknown, source: PlacedSource): readonly ShapeFault[] {
  return issues.flatMap((issue) => mistakesIn(issue, value, source));
}

function mistakesIn(issue: Issue, value: unknown, source: PlacedSource): readonly ShapeFault[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(' ');
    return issue.keys.map((key) => unknownKey(source, [...path, key], known));
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name';
    return [shapeFault(source, path, 'key', { code: 'name_invalid', facts: { name: nameOf(path), expected } })];
  }
  const found = valueAt(value, path);
  const meant = issue.code === 'invalid_union' ? optionMeant(issue.errors) : undefined;
  if (meant) {
    return meant.flatMap((inner) => mistakesIn({ ...inner, path: [...issue.path, ...inner.path] }, value, source));
  }
  const expected = expectedBy(issue, found);
  if (found === undefined) return [shapeFault(source, path, 'key', { code: 'missing', facts: { expected } })];
  return [wrongValue(issue, path, found, expected, source)];
}

/**
 * Selects the option whose mistakes are reported if a value fits none of several shapes: the option of the value's form
 * (list or mapping), and among several the one that knows most of its keys.
 */
const optionMeant = (options: readonly (readonly Issue[])[]): readonly Issue[] | undefined =>
  options
    .filter((issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0))
    .toSorted((one, other) => unknownKeys(one) - unknownKeys(other))[0];

const unknownKeys = (issues: readonly Issue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 0), 0);

/** Returns a mistake of shape with its sentences, which need no resource: a file is read before its resource is known. */
export function shapeFault(source: PlacedSource, path: ValuePath, at: 'key' | 'value', coded: CodedFault): ShapeFault {
  const place = at === 'key' ? source.keyPlace(path) : source.valuePlace(path);
  return { ...coded, file: source.file, path: pathText(path), ...place, ...sentencesInFile(coded, NO_RESOURCE, path) };
}

const NO_RESOURCE = { kind: 'deployment', workspace: '', name: '' } as const;

function unknownKey(source: PlacedSource, path: ValuePath, known: readonly string[]): ShapeFault {
  const key = nameOf(path);
  const facts = { setting: key, meant: similarTo(key, known) ?? '', known: known.join(', ') };
  return shapeFault(source, path, 'key', { code: 'unknown_setting', facts });
}

function expectedBy(issue: Issue, found: unknown): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? issue.expected;
  const options = optionsOf(issue);
  if (options.length > 0) return options.join(' or ');
  const ownWords = !issue.message.startsWith('Too');
  if (ownWords || typeof found !== 'string') return issue.message;
  return issue.code === 'too_big' ? `at most ${String(issue.maximum)} characters` : 'text';
}

/** Returns the allowed values, if the issue lists them. */
function optionsOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union' || !('options' in issue) || !Array.isArray(issue.options)) return [];
  return issue.options.map(String);
}

/** Where secrets stand, with an example of a name for each. */
const SECRETS: readonly (readonly [where: RegExp, example: string])[] = [
  [/^password$/, 'SMTP_PASSWORD'],
  [/^auth_token$/, 'TWILIO_TOKEN'],
  [/^api_key\.secret$/, 'TWILIO_KEY'],
  [/^receipts\.credentials$/, 'POSTMARK_CREDENTIALS'],
  [/^credentials$/, 'FCM_SERVICE_ACCOUNT'],
  [/^signing_key$/, 'MAILGUN_SIGNING_KEY'],
  [/^dkim\.key$/, 'DKIM_KEY'],
  [/^authorization\.(?:.*_)?key$/, 'CRM_KEY'],
  [/^tls\.ca$/, 'SHOP_CA'],
  [/^webhook_secret$/, 'DEBEZIUM'],
];

/** Address of a database, with a password in it. */
const DATABASE = /^postgres(?:ql)?:\/\//i;

/** An example of a name, where the path or the value is one of a secret. */
function secretAt(path: ValuePath, found: unknown): string | null {
  if (typeof found === 'string' && DATABASE.test(found)) return 'SHOP_DB';
  const within = path.slice(-2).join('.');
  return SECRETS.find(([where]) => where.test(within) || where.test(nameOf(path)))?.[1] ?? null;
}

function wrongValue(issue: Issue, path: ValuePath, found: unknown, expected: string, source: PlacedSource): ShapeFault {
  const secret = secretAt(path, found);
  if (secret !== null) {
    // The value may be the secret itself, so it is not shown.
    return shapeFault(source, path, 'value', { code: 'secret_written_out', facts: { example: secret } });
  }
  const isTextMeant = issue.code === 'invalid_type' && issue.expected === 'string' && typeof found === 'object';
  const meant = isTextMeant ? source.meantText(path) : null;
  const similar = meantBy(issue, path, found);
  const facts = { found: shown(found), expected, meant: similar ?? '', type: typeExpected(issue, found) };
  return { ...shapeFault(source, path, 'value', { code: 'value_invalid', facts }), ...meant };
}

function shown(found: unknown): string {
  if (Array.isArray(found)) return 'a list';
  if (typeof found === 'object') return 'a group of keys';
  // Text between // and @ may be a password.
  const text = JSON.stringify(found).replace(/(\/\/)[^/@]*@/, '$1…@');
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Finds the closest value for keys whose schema lists no values. */
const MEANT: Readonly<Record<string, (found: string) => string | null>> = { time_zone: meantZone, locale: meantLocale };

/** Returns the closest allowed value, or null if no value is close. */
function meantBy(issue: Issue, path: ValuePath, found: unknown): string | null {
  if (typeof found !== 'string') return null;
  const options = optionsOf(issue);
  if (options.length > 0) return similarTo(found, options);
  if (issue.code === 'invalid_type' || found.length > 100) return null;
  return MEANT[nameOf(path)]?.(found) ?? null;
}

/** Returns the expected type as a fact of the fault. `scalar` stands for a text where a number or boolean was found; empty if the type is right. */
function typeExpected(issue: Issue, found: unknown): string {
  if (optionsOf(issue).length > 0) return 'option';
  if (issue.code !== 'invalid_type') return '';
  if (issue.expected === 'string') return typeof found === 'object' ? 'text' : 'scalar';
  return EXPECTED_TYPES[issue.expected] ?? 'group';
}

const EXPECTED_TYPES: Readonly<Record<string, string>> = {
  array: 'list',
  number: 'number',
  int: 'number',
  boolean: 'boolean',
};
