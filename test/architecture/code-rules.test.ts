import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Case, describeCases } from './lint-sandbox.ts';

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `export const line${index} = ${index};\n`).join('');

const longFunction = (count: number, statement: string): string =>
  `export function long(): number {\n  let counted = 0;\n${`  ${statement}\n`.repeat(count)}  return counted;\n}\n`;

/** One entry per rule; files of other projects and of the root show that the rule holds everywhere. */
const CASES: Readonly<Record<string, Case>> = {
  'a file of more than 400 lines': {
    bad: { 'libs/domain/src/long.ts': lines(401) },
    good: { 'libs/domain/src/fits.ts': lines(400), 'libs/contracts/src/records.generated.ts': lines(500) },
    rule: 'eslint(max-lines)',
    says: '401',
  },
  'a function of more than 100 lines': {
    bad: {
      'libs/domain/src/long-function.ts': longFunction(101, 'counted += 1;'),
      'apps/portal/src/screens/long-handler.tsx': longFunction(101, 'counted += 1;'),
    },
    good: {
      'libs/domain/src/fitting-function.ts': longFunction(95, 'counted += 1;\n\n  // Adds one more.'),
      'libs/stages/test/long-suite.test.ts': `import { describe } from 'vitest';\ndescribe('a unit', () => {\n${'  void 0;\n'.repeat(120)}});\n`,
      'apps/portal/src/screens/long-markup.tsx': `export const Page = () => (\n  <ul>\n${'    <li>row</li>\n'.repeat(120)}  </ul>\n);\n`,
    },
    rule: 'carillon(function-length)',
    says: 'lines, and 100 are allowed',
  },
  'a function of more than five parameters': {
    bad: {
      'libs/domain/src/six.ts': 'export const six = (a: 1, b: 1, c: 1, d: 1, e: 1, f: 1) => [a, b, c, d, e, f];\n',
    },
    good: { 'libs/domain/src/five.ts': 'export const five = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e];\n' },
    rule: 'eslint(max-params)',
    says: 'too many parameters',
  },
  'a default export': {
    bad: { 'apps/engine/src/start.ts': 'export default 1;\n' },
    good: {
      'apps/engine/src/begin.ts': 'export const begin = 1;\n',
      'apps/portal/tool.config.ts': 'export default {};\n',
    },
    rule: 'import(no-default-export)',
    says: 'named exports',
  },
  'markup made of text': {
    bad: {
      'apps/portal/src/screens/raw.tsx':
        'export const raw = (html: string) => <p dangerouslySetInnerHTML={{ __html: html }} />;\n',
    },
    good: { 'apps/portal/src/screens/text.tsx': 'export const text = (words: string) => <p>{words}</p>;\n' },
    rule: 'react(no-danger)',
    says: 'dangerouslySetInnerHTML',
  },
  'a cycle': {
    bad: {
      'libs/stages/src/one.ts': "import { two } from './two.ts';\nexport const one = (): number => two();\n",
      'libs/stages/src/two.ts': "import { one } from './one.ts';\nexport const two = (): number => one();\n",
    },
    good: {
      'libs/stages/src/three.ts': "import { four } from './four.ts';\nexport const three = (): number => four();\n",
      'libs/stages/src/four.ts': 'export const four = (): number => 4;\n',
    },
    rule: 'import(no-cycle)',
    says: 'cycle',
  },
  'a name that says nothing': {
    bad: {
      'libs/domain/src/utils.ts': 'export const a = 1;\n',
      'libs/domain/src/string-helpers.ts': 'export const a = 1;\n',
      'libs/domain/src/common/a.ts': 'export const a = 1;\n',
      'apps/engine/src/taskManager.ts': 'export const a = 1;\n',
    },
    good: { 'libs/domain/src/uncommon-names.ts': 'export const a = 1;\n' },
    rule: 'carillon(file-name)',
    says: 'says nothing',
  },
  'a channel by its name': {
    bad: {
      'libs/domain/src/deliveries/chosen.ts':
        "export const of = (channels: Record<string, string>) => channels['email'];\n",
      'libs/stages/src/deliver/cast.ts': "export const name = (channel: string): 'sms' => channel as 'sms';\n",
      'libs/ports/src/kept.ts': "export type Kept = { readonly channel: 'push' };\n",
      'libs/stages/src/evaluate/said.ts':
        'export const said = (body: { channels: { email?: string } }) => body.channels.email;\n',
    },
    good: {
      'libs/domain/src/channels/row.ts': "export const row = { name: 'email' };\n",
      'libs/stages/src/deliver/any.ts':
        'export const subject = (slot: { channel: string }) => `over ${slot.channel}`;\n',
      'libs/adapters/providers/smtp/src/own.ts': "export const channel = 'email';\n",
    },
    rule: 'carillon(kind-name)',
    says: 'a channel by its name',
  },
  'a provider by its name': {
    bad: {
      'libs/domain/src/deliveries/compared.ts':
        "export const is = (body: { kind: string }) => body.kind === 'twilio';\n",
      'apps/gateway/src/optional.ts': "export const is = (body?: { kind: string }) => body?.kind !== 'twilio';\n",
      'apps/control/src/switched.ts':
        "export function is({ kind }: { kind: string }): boolean {\n  switch (kind) {\n    case 'twilio':\n      return true;\n    default:\n      return false;\n  }\n}\n",
      'apps/portal/src/made.ts': "export const made = { kind: 'twilio' };\n",
      'libs/domain/src/deliveries/table.ts': 'export const LIMITS = { smtp: 5, twilio: 16 };\n',
      'libs/adapters/system/src/made.ts': "export const made = { kind: 'twilio' };\n",
    },
    good: {
      'libs/domain/src/deliveries/key.ts': 'export const library = { twilio: 5 };\n',
      'libs/shapes/src/providers/row.ts': "export const row = {\n  kind: 'twilio',\n};\n",
      'libs/domain/src/deliveries/other.ts': "export const words = 'twilio';\n",
      'apps/control/src/openapi/shown.ts': "export const shown = { kind: 'twilio' };\n",
      'libs/adapters/providers/twilio/src/own.ts': "export const own = { kind: 'twilio' };\n",
    },
    rule: 'carillon(kind-name)',
    says: 'a provider by its name',
  },
  'an integration by its name': {
    bad: { 'apps/engine/src/compared.ts': "export const is = (body: { kind: string }) => body.kind === 'lookup';\n" },
    good: {
      'libs/shapes/src/integrations/row.ts': "export const row = {\n  kind: 'lookup',\n};\n",
      'apps/engine/src/other.ts': "export const from = 'lookup';\n",
    },
    rule: 'carillon(kind-name)',
    says: 'an integration by its name',
  },
  'a topic by its name': {
    bad: {
      'libs/ports/src/topics.ts': "export const TOPICS = ['carillon.events'] as const;\n",
      'libs/contracts/src/http/letters.ts': 'export const subject = `carillon.intents`;\n',
    },
    good: {
      'libs/contracts/src/records/letters.ts': "export const letters = {\n  topic: 'carillon.intents',\n};\n",
      'libs/stages/src/deliver/letters.ts': "export const topic = 'carillon.intents';\n",
      'libs/ports/src/named.ts': "export const database = 'carillon.db';\n",
    },
    rule: 'carillon(kind-name)',
    says: 'a topic by its name',
  },
  'a job by its name': {
    bad: {
      'apps/control/src/jobs/compared.ts':
        "export const is = (job: { action: string }) => job.action === 'resend_deliveries';\n",
      'apps/portal/src/screens/jobs/named.ts': "export const names = { cancel: 'cancel_deliveries' };\n",
    },
    good: {
      'apps/control/src/jobs/kinds/row.ts':
        "export const row = {\n  action: 'resend_deliveries',\n};\nexport const other = {\n  action: 'cancel_deliveries',\n};\n",
      'apps/control/src/openapi/shown-job.ts': "export const shown = { action: 'resend_deliveries' };\n",
      'apps/control/src/jobs/origin.ts': "export const origin = 'promote';\n",
    },
    rule: 'carillon(kind-name)',
    says: 'a job by its name',
  },
  'an interface': {
    bad: { 'apps/control/src/page.ts': 'export interface Page {\n  readonly size: number;\n}\n' },
    good: {
      'apps/control/src/leaf.ts':
        'export type Leaf = { readonly size: number };\ndeclare global {\n  interface JSON {\n    rawJSON(text: string): unknown;\n  }\n}\n',
    },
    rule: 'carillon(type-alias)',
    says: 'write type Page',
  },
  'a promise that nobody awaits': {
    bad: Object.fromEntries(
      [
        'apps/cli/src',
        'apps/portal/src',
        'libs/kernel/src',
        'libs/adapters/providers/smtp/src',
        'libs/adapters/providers/smtp/test',
        'test',
        'tools',
      ].map((folder) => [
        `${folder}/lost.ts`,
        'const work = async (): Promise<number> => 1;\nexport function lost(): void {\n  work();\n}\n',
      ]),
    ),
    good: {
      'libs/stages/src/kept.ts':
        'const work = async (): Promise<number> => 1;\nexport async function kept(): Promise<void> {\n  await work();\n}\n',
    },
    rule: 'typescript(no-floating-promises)',
    says: 'Promises must be awaited',
  },
  'a promise where a plain answer is expected': {
    bad: { 'libs/stages/src/always.ts': 'export const found = [1].filter(async (each) => each > 1);\n' },
    good: { 'libs/stages/src/at-times.ts': 'export const found = [1].filter((each) => each > 1);\n' },
    rule: 'typescript(no-misused-promises)',
    says: 'Promise',
  },
  'a switch that forgets a member': {
    bad: {
      'libs/domain/src/forgets.ts':
        "export function name(shape: 'circle' | 'square'): string {\n  switch (shape) {\n    case 'circle':\n      return 'round';\n    default:\n      return '';\n  }\n}\n",
    },
    good: {
      'libs/domain/src/complete.ts':
        "export function name(shape: 'circle' | 'square'): string {\n  switch (shape) {\n    case 'circle':\n      return 'round';\n    case 'square':\n      return 'straight';\n  }\n}\n",
    },
    rule: 'typescript(switch-exhaustiveness-check)',
    says: 'square',
  },
  'an explicit any': {
    bad: { 'libs/ports/src/whatever.ts': 'export type Whatever = any;\n' },
    good: { 'libs/ports/src/whatever-2.ts': 'export type Whatever = unknown;\n' },
    rule: 'typescript(no-explicit-any)',
    says: 'any',
  },
  'a type imported as if it were a value': {
    beside: { 'libs/domain/src/shape.ts': 'export type Shape = { readonly size: number };\n' },
    bad: {
      'libs/domain/src/uses-shape.ts':
        "export const sizeOf = (shape: import('./shape.ts').Shape): number => shape.size;\n",
    },
    good: {
      'libs/domain/src/shape-2.ts': 'export type Shape = { readonly size: number };\n',
      'libs/domain/src/uses-shape-2.ts':
        "import type { Shape } from './shape-2.ts';\nexport const sizeOf = (shape: Shape): number => shape.size;\n",
    },
    rule: 'typescript(consistent-type-imports)',
    says: 'import()',
  },
  '==': {
    bad: { 'apps/delivery/src/equal.ts': 'export const equal = (a: number, b: number): boolean => a == b;\n' },
    good: { 'apps/delivery/src/same.ts': 'export const equal = (a: number, b: number): boolean => a === b;\n' },
    rule: 'eslint(eqeqeq)',
    says: '===',
  },
  'a name that begins with an underscore, but for the id that a database calls so': {
    bad: { 'libs/stages/src/underscore.ts': 'export const size = (a: { _size: number }): number => a._size;\n' },
    good: { 'libs/stages/src/named.ts': 'export const name = (a: { _id: string }): string => a._id;\n' },
    rule: 'eslint(no-underscore-dangle)',
    says: '_size',
  },
  'something thrown that is no error': {
    bad: { 'libs/kernel/src/throws.ts': "export function stop(): never {\n  throw 'no';\n}\n" },
    good: { 'libs/kernel/src/throws-2.ts': "export function stop(): never {\n  throw new Error('no');\n}\n" },
    rule: 'typescript(only-throw-error)',
    says: 'error object',
  },
  'a comment that silences the compiler': {
    bad: { 'libs/kernel/src/silent.ts': '// @ts-nocheck\nexport const a = 1;\n' },
    good: {
      'libs/kernel/src/silent-2.ts':
        '// @ts-expect-error: the types of the platform lack it\nexport const a: string = 1;\n',
    },
    rule: 'typescript(ban-ts-comment)',
    says: '@ts-nocheck',
  },
  'an any that comes from outside, kept': {
    bad: {
      'libs/domain/src/parsed.ts':
        'export function read(text: string): void {\n  const value = JSON.parse(text);\n  void value;\n}\n',
    },
    good: {
      'libs/domain/src/parsed-2.ts':
        'export function read(text: string): void {\n  const value: unknown = JSON.parse(text);\n  void value;\n}\n',
    },
    rule: 'typescript(no-unsafe-assignment)',
    says: 'any',
  },
  'an any that comes from outside, handed on': {
    bad: { 'libs/domain/src/handed.ts': 'export const size = (text: string): number => Math.max(JSON.parse(text));\n' },
    good: {
      'libs/domain/src/handed-2.ts':
        'export const size = (text: string): number => Math.max(JSON.parse(text) as number);\n',
    },
    rule: 'typescript(no-unsafe-argument)',
    says: 'any',
  },
  'an any that comes from outside, returned': {
    bad: { 'libs/domain/src/returned.ts': 'export const read = (text: string): string[] => JSON.parse(text);\n' },
    good: { 'libs/domain/src/returned-2.ts': 'export const read = (text: string): unknown => JSON.parse(text);\n' },
    rule: 'typescript(no-unsafe-return)',
    says: 'any',
  },
  'an any that comes from outside, called': {
    bad: { 'libs/domain/src/called.ts': 'export function run(text: string): void {\n  JSON.parse(text)();\n}\n' },
    good: { 'libs/domain/src/called-2.ts': 'export function run(text: string): void {\n  text.trim();\n}\n' },
    rule: 'typescript(no-unsafe-call)',
    says: 'any',
  },
  'an any that comes from outside, looked into': {
    bad: {
      'libs/domain/src/into.ts': 'export const has = (text: string): boolean => Boolean(JSON.parse(text).name);\n',
    },
    good: { 'libs/domain/src/into-2.ts': 'export const has = (text: string): boolean => Boolean(JSON.parse(text));\n' },
    rule: 'typescript(no-unsafe-member-access)',
    says: 'any',
  },
  'a text taken apart is fine, an object spread into a list is not': {
    bad: { 'libs/domain/src/apart.ts': 'export const apart = (map: Map<string, number>): object => ({ ...map });\n' },
    good: { 'libs/domain/src/apart-2.ts': 'export const apart = (text: string): string[] => [...text];\n' },
    rule: 'typescript(no-misused-spread)',
    says: 'spread',
  },
  'a module of Node without node:': {
    bad: { 'apps/cli/src/protocol.ts': "export { join } from 'path';\n" },
    good: { 'apps/cli/src/protocol-2.ts': "export { join } from 'node:path';\n" },
    rule: 'unicorn(prefer-node-protocol)',
    says: 'node:',
  },
  'a permission that permits nothing': {
    bad: { 'libs/domain/src/permits.ts': '// oxlint-disable-next-line eqeqeq -- needless\nexport const a = 1;\n' },
    good: { 'libs/domain/src/permits-2.ts': 'export const a = 1;\n' },
    rule: '',
    says: 'Unused',
  },
  'an expectation that expects nothing': {
    bad: {
      'libs/domain/test/nothing.test.ts': "import { expect, test } from 'vitest';\ntest('a', () => expect(1));\n",
    },
    good: {
      'libs/domain/test/one.test.ts':
        "import { expect, test } from 'vitest';\ntest('a', () => expect(1, 'why').toBe(1));\n",
    },
    rule: 'vitest(valid-expect)',
    says: 'matcher',
  },
  'a test that keeps the others from running': {
    bad: {
      'libs/domain/test/only.test.ts':
        "import { expect, test } from 'vitest';\ntest.only('a', () => expect(1).toBe(1));\n",
    },
    good: {
      'libs/domain/test/all.test.ts': "import { expect, test } from 'vitest';\ntest('a', () => expect(1).toBe(1));\n",
    },
    rule: 'vitest(no-focused-tests)',
    says: 'focused',
  },
};

describeCases('how code is written', CASES, ['vitest']);

test('every configured lint rule is violated by a sample here or in the neighbouring tests', () => {
  type Rules = Record<string, unknown>;
  const file = resolve(import.meta.dirname, '../../.oxlintrc.json');
  const configuration = JSON.parse(readFileSync(file, 'utf8')) as { rules: Rules; overrides: { rules?: Rules }[] };
  const named = [configuration, ...configuration.overrides]
    .flatMap(({ rules = {} }) => Object.entries(rules))
    .filter(([, setting]) => setting !== 'off')
    .map(([rule]) => (rule.includes('/') ? rule.replace('/', '(') : `eslint(${rule}`) + ')');
  const elsewhere = ['import-rules.test.ts', 'purity-rules.test.ts']
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .join('');
  const broken = new Set(Object.values(CASES).map((each) => each.rule));
  expect(named.filter((rule) => !broken.has(rule) && !elsewhere.includes(`'${rule}'`))).toEqual([]);
});
