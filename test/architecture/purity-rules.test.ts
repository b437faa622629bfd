import { type Case, describeCases } from './lint-sandbox.ts';

const purity = 'carillon(purity)';
const environment = 'carillon(environment)';
const ROOMS = ['kernel', 'shapes', 'domain', 'configuration', 'ports', 'stages', 'stores'];

/** What a pure room may not do, next to what it does in its place. */
const IMPURE: Readonly<Record<string, readonly [bad: string, says: string, good: string]>> = {
  'the time by new Date()': ['new Date()', 'new Date()', 'new Date(0)'],
  'the time by Date.now': ['Date.now()', 'Date.now', 'Date.UTC(2026, 0)'],
  'the time by Date.now, not called': ['[1].map(Date.now)', 'Date.now', "['2026-01-01'].map(Date.parse)"],
  'the time by Date()': ['Date()', 'Date()', 'new Date(0).toISOString()'],
  'the time by a spread': ['new Date(...([] as unknown as [number]))', 'spread', 'new Date(1)'],
  'the time by a computed name': ["Date['now']()", 'an alias of Date', 'Date.UTC(2026)'],
  'the time by an alias': ['[Date].map((D) => new D())', 'an alias of Date', '[0].map((at) => new Date(at))'],
  'the time by a format without argument': [
    "new Intl.DateTimeFormat('en').format()",
    'format()',
    "new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0)",
  ],
  'the time zone of the machine': ['new Date(0).getHours()', 'getHours()', 'new Date(0).getUTCHours()'],
  'the time zone of the machine, by parts': ['new Date(2026, 0)', 'time zone of the machine', 'Date.UTC(2026, 0)'],
  'the language of the machine': ["'a'.localeCompare('b')", 'localeCompare()', "(a: string) => a < 'b'"],
  'the language of the machine, by Intl': [
    'new Intl.NumberFormat()',
    'without a language',
    "new Intl.NumberFormat('en')",
  ],
  'the language of the machine, by an alias': [
    '[Intl].length',
    'an alias of Intl',
    "new Intl.PluralRules('en').select(1)",
  ],
  'chance by Math.random': ['Math.random()', 'Math.random', 'Math.max(1, 2)'],
  'chance by a computed name': ["Math['random']()", 'an alias of Math', 'Math.floor(1.5)'],
  'chance by taking Math apart': ['{ ...Math }', 'an alias of Math', '[1.5].map(Math.floor)'],
  'chance by an alias': ['[Math].map((each) => each.random())', 'an alias of Math', 'Math.min(1)'],
  'chance by crypto': ['crypto.randomUUID()', 'crypto', 'String(1)'],
  'anything by globalThis': ['globalThis.Date.now()', 'globalThis', 'Object.keys({})'],
  process: ['process.pid', 'process', 'Number("1")'],
  'process, by typeof': ['(null as typeof process | null)', 'typeof process', '(null as typeof Math | null)'],
  'a timer': ['setTimeout(() => undefined, 1)', 'setTimeout', 'Promise.resolve(1)'],
  'an interval': ['setInterval(() => undefined, 1)', 'setInterval', '[1]'],
  'the next turn': ['queueMicrotask(() => undefined)', 'queueMicrotask', '[2]'],
  'the network': ["fetch('http://localhost')", 'fetch', "new URL('http://localhost')"],
  output: ["console.log('x')", 'console', "'x'"],
  Buffer: ["Buffer.from('x')", 'Buffer', "new TextEncoder().encode('x')"],
  performance: ['performance.now()', 'performance', 'structuredClone(1)'],
  'where the file lies': ['import.meta.url', 'import.meta', "'here'"],
  'a cancellation by the clock': ['AbortSignal.timeout(1)', 'AbortSignal', 'new Error("late")'],
};

const cases: Record<string, Case> = {};
for (const [index, [title, [bad, says, good]]] of Object.entries(IMPURE).entries()) {
  const room = ROOMS[index % ROOMS.length];
  cases[title] = {
    bad: { [`libs/${room}/src/impure-${index}.ts`]: `export const value: unknown = ${bad};\n` },
    good: { [`libs/${room}/src/pure-${index}.ts`]: `export const value: unknown = ${good};\n` },
    rule: purity,
    says,
  };
}
const CLOCKS = 'export const values: unknown = [Date.now(), Math.random(), crypto.randomUUID()];\n';
for (const room of ROOMS) {
  cases[`a clock in ${room}, but not in its tests`] = {
    bad: { [`libs/${room}/src/clock.ts`]: CLOCKS },
    good: { [`libs/${room}/test/clock.ts`]: CLOCKS, 'libs/adapters/system/src/clock.ts': CLOCKS },
    rule: purity,
    says: `Date.now may not stand in ${room}`,
  };
}
cases['a type of Node'] = {
  bad: { 'libs/ports/src/type.ts': 'export type Bytes = Buffer;\n' },
  good: { 'libs/ports/src/type-2.ts': 'export type Bytes = Uint8Array;\nexport type At = Date;\n' },
  rule: purity,
  says: 'the type Buffer',
};
cases['another thing with the name of a platform thing'] = {
  bad: { 'libs/domain/src/name.ts': 'export const at: unknown = performance;\n' },
  good: { 'libs/domain/src/name-2.ts': 'export const check = (performance: number): number => performance;\n' },
  rule: purity,
  says: 'performance',
};

const READ = "export const value = process.env['HOME'];\n";
const PLACES = ['apps/gateway/src/config.ts', 'apps/cli/src/up/configuration.ts', 'libs/runtime/src/env.ts'];
const TESTS = ['libs/runtime/test/env.ts', 'libs/testing/src/env.ts', 'tools/env.ts', 'test/env.ts', 'tool.config.ts'];
const FORBIDDEN: Readonly<Record<string, string>> = {
  'process.env': READ,
  'process.env by a computed name': "export const value = process['env'];\n",
  'process.env by taking process apart': 'const { env } = process;\nexport const value = env;\n',
  'process.env by an alias': 'const here = process;\nexport const value = here.env;\n',
  'process.env by globalThis': 'export const value = globalThis.process.env;\n',
  'process.env by an alias of globalThis': 'const all = globalThis;\nexport const value = all.process.env;\n',
  'process.env by an import': "import { env } from 'node:process';\nexport const value = env;\n",
  'process.env by an import at run time': "export const load = () => import('node:process');\n",
};
for (const [index, [title, bad]] of Object.entries(FORBIDDEN).entries()) {
  cases[title] = {
    bad: { [`apps/gateway/src/env-${index}.ts`]: bad, [`libs/adapters/system/src/env-${index}.ts`]: bad },
    good: {
      ...Object.fromEntries([...PLACES, ...TESTS].map((place) => [place, READ])),
      'apps/gateway/src/pid.ts': 'export const values = [process.pid, globalThis.Math];\n',
    },
    rule: environment,
    says: 'process.env is read in configuration only',
  };
}

describeCases('purity', cases, []);
