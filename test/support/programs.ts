import { existsSync } from 'node:fs';

/** Programs that some tests need and npm cannot bring: where Debian puts each, and the package it comes from. */
export const PROGRAMS = {
  chromium: { path: '/usr/bin/chromium', debianPackage: 'chromium' },
  opensmtpd: { path: '/usr/sbin/smtpd', debianPackage: 'opensmtpd' },
} as const;
export type Program = keyof typeof PROGRAMS;

const isProgram = (name: string): name is Program => Object.hasOwn(PROGRAMS, name);

/** The programs that this machine lacks. */
export const findMissing = (): readonly Program[] =>
  Object.keys(PROGRAMS).filter((name) => isProgram(name) && !existsSync(PROGRAMS[name].path)) as Program[];

/** What `npm test` found, handed on in CARILLON_TEST_MISSING; where vitest is run directly, look for ourselves. */
export function missingPrograms(told = process.env['CARILLON_TEST_MISSING']): readonly Program[] {
  return told === undefined ? findMissing() : told.split(',').filter(isProgram);
}
