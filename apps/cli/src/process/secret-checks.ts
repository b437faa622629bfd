import { checkStep, type Check } from '@carillon/control';
import type { KeyRotation, RotationState } from '@carillon/ports';

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Returns the checks of `doctor` for the encryption keys and the encrypted data. */
export const secretChecks = async (rotation: Pick<KeyRotation, 'state'>): Promise<readonly Check[]> => [
  await checkStep('master key', async () => {
    const state = await rotation.state();
    const fault = faultOf(state);
    if (fault !== null) throw new Error(fault);
    return wordsFor(state);
  }),
];

function faultOf({ masterKeys, valuesBehind, unreadable }: RotationState): string | null {
  const [oldest, ...newer] = masterKeys;
  if (oldest && newer.length > 0 && oldest.alone > 0) {
    return `two count, and ${plural(oldest.alone, 'data key')} need the old one: run npx carillon secret rotate again with the new one, from a control role that holds the old`;
  }
  const strange = masterKeys.find(({ held, alone }) => !held && alone > 0);
  if (strange) {
    return `${plural(strange.alone, 'data key')} rest under ${strange.id} alone, which the control role does not hold: restart it with that key`;
  }
  if (unreadable.length > 0) {
    const [first] = unreadable;
    const where = first?.workspace === '' ? '--deployment' : `--workspace ${first?.workspace}`;
    return `${plural(unreadable.length, 'stored secret')} of an early version cannot be decrypted any more: npx carillon secret set ${first?.name} ${where}`;
  }
  if (valuesBehind > 0) {
    return `${plural(valuesBehind, 'value')} were not encrypted again: continue with npx carillon secret rotate --values`;
  }
  return null;
}

function wordsFor({ masterKeys, dataKeys, values }: RotationState): string {
  const seals = `${plural(dataKeys, 'data key')}, ${plural(values, 'stored secret')}`;
  if (masterKeys.length < 2) return `one counts, for ${seals}`;
  const starts = masterKeys.at(-1)?.starts === true;
  const rest = starts
    ? 'restart the other roles with it too, then'
    : 'put the new one where roles take theirs from, restart them, then';
  return `two count, each for ${seals}; ${rest} npx carillon secret rotate --finish`;
}
