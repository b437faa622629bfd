import type { Person } from '@carillon/domain/people';
import { CarillonError } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { matchingStep, recoveryDigest } from './codes.ts';
import type { Directory } from './directory.ts';

export const hasSecondFactor = ({ totp }: Pick<Person, 'totp'>): boolean => typeof totp?.confirmedAt === 'number';

/**
 * Returns true if the code is valid or none is required. Each authenticator interval and each recovery code works once,
 * also under concurrency. Throws `second_factor` if a code is required and missing.
 */
export async function secondFactor(
  personId: string,
  code: string | undefined,
  directory: Pick<Directory, 'changePerson'>,
  { factorSealer, clock }: Pick<ControlPorts, 'factorSealer' | 'clock'>,
): Promise<boolean> {
  let good = false;
  await directory.changePerson(personId, (person) => {
    good = false;
    const { totp, recoveryCodes } = person;
    if (totp === null || totp.confirmedAt === null) {
      good = true;
      return null;
    }
    if (code === undefined || code.trim() === '') {
      throw new CarillonError('second_factor', 'send the code of your authenticator, or a recovery code, as code');
    }
    const secret = factorSealer.open([personId], totp.sealed);
    // A secret that cannot be decrypted is unusable; recovery codes still work.
    const step = secret === null ? null : matchingStep(secret, code, clock.now(), totp.lastStep);
    if (step !== null) {
      good = true;
      return { ...person, totp: { ...totp, lastStep: step } };
    }
    const digest = recoveryDigest(code);
    if (!recoveryCodes.includes(digest)) return null;
    good = true;
    return { ...person, recoveryCodes: recoveryCodes.filter((known) => known !== digest) };
  });
  return good;
}
