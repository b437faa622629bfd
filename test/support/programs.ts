import { existsSync } from 'node:fs';
import { canStart, findProgram, lackingTools, TOOLS, type ServiceName } from '@carillon/testing/services/needs';

/** Where a command is: on the PATH, else where Debian puts it. */
const commandPath = (name: string): string => findProgram(name) ?? `/usr/bin/${name}`;

/** Where Debian puts a library of this machine's kind. */
const debianLibrary = (name: string): string =>
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/${name}`;

/** Programs that some tests need and npm cannot bring: where each is, and the Debian package it comes from. */
export const PROGRAMS = {
  // The engine without a window: a page of the portal costs half the processor's time in it (docs/decisions/0023).
  chromium: { path: '/usr/bin/chromium-headless-shell', debianPackage: 'chromium-headless-shell' },
  opensmtpd: { path: '/usr/sbin/smtpd', debianPackage: 'opensmtpd' },
  nginx: { path: '/usr/sbin/nginx', debianPackage: 'nginx' },
  curl: { path: commandPath('curl'), debianPackage: 'curl' },
  python: { path: commandPath('python3'), debianPackage: 'python3' },
  strace: { path: commandPath('strace'), debianPackage: 'strace' },
  prlimit: { path: commandPath('prlimit'), debianPackage: 'util-linux' },
  go: { path: commandPath('go'), debianPackage: 'golang-go' },
  pip: { path: commandPath('pip3'), debianPackage: 'python3-pip' },
  // The library, for programs with threads: what is preloaded sees another time of day.
  faketime: { path: debianLibrary('faketime/libfaketimeMT.so.1'), debianPackage: 'libfaketime' },
} as const;

/** Servers that `npm run services` fetches, and which of them each requirement means. */
export const SERVICES = {
  kafka: ['kafka', 'kafka39'],
  mongodb: ['mongodb'],
  postgres: ['postgres'],
  registry: ['registry'],
  debezium: ['debezium'],
} as const satisfies Readonly<Record<string, readonly ServiceName[]>>;

export type Program = keyof typeof PROGRAMS | keyof typeof SERVICES;

const isInstalled = (name: string): name is keyof typeof PROGRAMS => Object.hasOwn(PROGRAMS, name);
const isService = (name: string): name is keyof typeof SERVICES => Object.hasOwn(SERVICES, name);
const isProgram = (name: string): name is Program => isInstalled(name) || isService(name);

const isThere = (name: Program): boolean =>
  isInstalled(name) ? existsSync(PROGRAMS[name].path) : SERVICES[name].every(canStart);

/** The programs that this machine lacks. */
export const findMissing = (): readonly Program[] =>
  [...Object.keys(PROGRAMS), ...Object.keys(SERVICES)].filter(isProgram).filter((name) => !isThere(name));

/** The services that these requirements mean and that cannot be started yet. */
export const servicesToFetch = (programs: readonly Program[]): readonly ServiceName[] =>
  programs.filter(isService).flatMap((name) => SERVICES[name].filter((service) => !canStart(service)));

/** The Debian packages that bring these programs, or what fetching and running these services needs. */
export const debianPackagesFor = (programs: readonly Program[]): readonly string[] => [
  ...new Set([
    ...programs.filter(isInstalled).map((name) => PROGRAMS[name].debianPackage),
    ...servicesToFetch(programs).flatMap((name) => lackingTools(name).map((tool) => TOOLS[tool].debianPackage)),
  ]),
];

/** What `npm test` found, handed on in CARILLON_TEST_MISSING; where vitest is run directly, look for ourselves. */
export function missingPrograms(told = process.env['CARILLON_TEST_MISSING']): readonly Program[] {
  return told === undefined ? findMissing() : told.split(',').filter(isProgram);
}
