import type { Json, JsonObject } from '@carillon/kernel';
import type { Dice } from '../dice.ts';
import { FULL_EVENT, fuzzedFiles } from '../shop-files.ts';
import { jsonBytes, mutateJson } from './json-texts.ts';
import { bearer, headerText, mediaType, mostly, oddHeaders, oddMethod, pathPart, requestText } from './requests.ts';
import { hostileText } from './texts.ts';
import { mutateFiles, type Files } from './yaml-files.ts';

/** An operation of the description that the product gives of itself. */
export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: Schema | null;
};
export type Schema = JsonObject;

type Described = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content?: { readonly 'application/json'?: { readonly schema?: Schema } } };
};
export type ApiDocument = { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };

/** All operations, and the addresses beside them that pages and tools ask for. */
export function operationsOf(document: ApiDocument): readonly Operation[] {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
      body: requestBody?.content?.['application/json']?.schema ?? null,
    })),
  );
  const pages = [
    '/',
    '/inbox',
    '/deliveries',
    '/welcome',
    '/docs',
    '/docs/api',
    '/docs/json',
    '/workspaces/shop/deliveries',
    '/settings/x',
    '/assets/style.css',
    '/inbox/messages/{id}/html',
  ];
  return [...described, ...pages.map((path) => ({ method: 'GET', path, query: [], body: null }))];
}

/** Ids as they look, of things that are not there, and what is no id at all. Real ones come as placeholders. */
const IDS: readonly string[] = [
  '{event}',
  '{delivery}',
  '{message}',
  'evt_00000000000000000000000000',
  'dlv_zzzzzzzzzzzzzzzzzzzzzzzzzz',
  'dlv_',
  '1',
  '-1',
  'carillon.events/0@0',
  'carillon.events/99@99999999999999999999',
  'carillon.events/-1@NaN',
];
const NAMES = [
  'order-paid.paid',
  'watchers.each',
  'watchers.asked',
  'orders',
  'crm',
  'mixpanel',
  'auth',
  'feed',
  '.',
  'a.b.c',
];
const VALUES = [
  '1',
  '0',
  '-1',
  '500',
  '501',
  '1e3',
  'NaN',
  '',
  'SENT',
  'WAITING',
  '2026-01-31T08:00:00Z',
  'yesterday',
  'true',
  '[]',
];
const CURSORS = ['e30', 'bnVsbA', '[1,2]', '{"$gt":""}', '0', '-1', '9'.repeat(400), 'AAAA', '%00'];

/** What must stay as it is, or the run would stop itself: the shop's keys, and its way out to other machines. */
const isSpared = ({ method, path }: Operation, target: string): boolean =>
  (method === 'DELETE' && !target.startsWith('/v1/workspaces/lab/')) || path.startsWith('/v1/master-key/');

export function managementRequest(dice: Dice, operations: readonly Operation[]): string {
  let operation = dice.pick(operations);
  let target = targetOf(dice, operation);
  while (isSpared(operation, target)) {
    operation = dice.pick(operations);
    target = targetOf(dice, operation);
  }
  const headers = [bearer(mostly(dice, '{owner}', ['{key}', '', 'own_x'], 0.03)), ...oddHeaders(dice)];
  const body = bodyOf(dice, operation);
  const typed = body === undefined ? headers : [mediaType(dice), ...headers];
  // What deletes or removes keeps its method: another one could hit what is spared.
  return requestText(
    operation.method === 'DELETE' ? 'DELETE' : safeMethod(dice, operation.method),
    target,
    typed,
    body,
  );
}

function safeMethod(dice: Dice, good: string): string {
  const method = oddMethod(dice, good);
  return method === 'DELETE' ? 'PATCH' : method;
}

function targetOf(dice: Dice, { path, query }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (dice.chance(0.15)) return pathPart(dice);
    if (name === 'workspace') return dice.pick(['shop', 'shop', 'lab', 'none', '__proto__']);
    return encodeURIComponent(dice.pick(name === 'id' ? IDS : NAMES)).replaceAll(/%7B(\w+)%7D/g, '{$1}');
  });
  if (query.length === 0 && dice.chance(0.9)) return filled;
  const pairs = Array.from({ length: dice.between(0, 3) }, () => {
    const name = dice.chance(0.9) && query.length > 0 ? dice.pick(query) : pathPart(dice);
    const value = name === 'cursor' ? dice.pick(CURSORS) : dice.pick([...VALUES, ...IDS]);
    return `${name}=${dice.chance(0.3) ? pathPart(dice) : encodeURIComponent(value)}`;
  });
  if (dice.chance(0.05)) pairs.push('limit[$ne]=1', 'a[__proto__]=1', '&&==&');
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

const small = (event: Json): string => JSON.stringify(event);

/** A body that fits the description, with slips; for some routes one that reaches deeper than a schema can. */
function bodyOf(dice: Dice, { path, body }: Operation): string | undefined {
  if (body === null) return dice.chance(0.05) ? jsonBytes(dice, {}) : undefined;
  // With `prune` an apply would take the whole shop away, and nothing behind it would be met any more.
  if (path === '/v1/configuration/apply')
    return dice.chance(0.9) ? folderBody(dice, true) : jsonBytes(dice, { files: {} });
  if (path === '/v1/configuration/plan' && dice.chance(0.7)) return folderBody(dice, false);
  if (path.endsWith('/rules/{name}/test') && dice.chance(0.7)) {
    const answer = [{ to: { email: 'ada@example.com' }, variables: { user_id: 'ada', unique_id: 'x' } }];
    return asciiJson({
      event: dice.chance(0.2)
        ? small(FULL_EVENT)
        : mutateJson(dice, { ...FULL_EVENT, order_id: headerText(dice).slice(0, 50) }),
      ...(dice.chance(0.5) && { answer: mutateJson(dice, answer) }),
    });
  }
  if (path === '/v1/backup')
    return asciiJson({
      file: dice.pick([
        'relative',
        '',
        '/',
        '/nowhere/at/all',
        '/dev/null/x',
        '/proc/x',
        `/${'n'.repeat(300)}`,
        'a\0b',
        '/\0',
        7,
      ]),
    });
  const fitting = valueFor(dice, body, 0);
  return dice.chance(0.3) ? asciiJson(fitting) : jsonBytes(dice, fitting);
}

/** JSON text in ASCII, so that each character is a byte and half a character arrives as its escape. */
const asciiJson = (value: Json): string =>
  JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Files that may name addresses of other machines are only ever compared: an applied one could be called. */
const REACHES_OUT = /^carillon\.yaml$|\/(integrations|jwt-providers|accounts)\//;

function folderBody(dice: Dice, applied: boolean): string {
  const whole = mutateFiles(dice, fuzzedFiles());
  const files = Object.fromEntries(
    Object.entries(whole).flatMap(([path, text]) => {
      if (!applied) return [[path, text]];
      return REACHES_OUT.test(path) || !path.startsWith('workspaces/shop/') ? [] : [[inLab(path), text]];
    }),
  ) as Files;
  return asciiJson({ files: { ...files }, ...(dice.chance(0.3) && { prune: false }) });
}

/** What is really applied goes to a workspace of its own, so that the shop stays open. */
const inLab = (path: string): string => path.replace('workspaces/shop/', 'workspaces/lab/');

function valueFor(dice: Dice, schema: Schema, depth: number): Json {
  const { type, enum: choices, const: only, anyOf, properties, items } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return dice.pick(choices as readonly Json[]);
  if (Array.isArray(anyOf)) return valueFor(dice, dice.pick(anyOf as readonly Schema[]), depth + 1);
  if (depth > 5) return null;
  if (type === 'object') {
    const named = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
    const kept = named.filter(() => dice.chance(0.9));
    return Object.fromEntries(kept.map(([name, inner]) => [name, valueFor(dice, inner, depth + 1)]));
  }
  if (type === 'array') {
    return Array.from({ length: dice.between(0, 3) }, () => valueFor(dice, (items ?? {}) as Schema, depth + 1));
  }
  if (type === 'string' && dice.chance(0.5)) return hostileText(dice);
  return dice.pick(typeof type === 'string' ? (FITTING[type] ?? ODD_VALUES) : ODD_VALUES);
}

const ODD_VALUES: readonly Json[] = [null, 'x', 1, {}];
const NUMBERS: readonly Json[] = [0, 1, -1, 1.5, 2 ** 53, 1e308];
const FITTING: Readonly<Record<string, readonly Json[]>> = {
  string: ['shop', 'lab', 'backend', 'ada@example.com', 'A_NAME', '90s'],
  integer: NUMBERS,
  number: NUMBERS,
  boolean: [true, false],
};
