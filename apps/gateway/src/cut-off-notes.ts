import { cutOffName, minuteOf, type IntakeCutOff } from '@carillon/domain/intake';
import type { Clock } from '@carillon/ports';
import type { KeyUses } from './key-uses.ts';

/**
 * Notes in which minutes this gateway refused or cut off a request, for the `doctor` of another process. Under a flood
 * each refusal costs a comparison, and each minute one entry.
 */
export function createCutOffNotes(clock: Clock, uses: Pick<KeyUses, 'note'>): (why: IntakeCutOff) => void {
  const noted = new Map<IntakeCutOff, number>();
  return (why) => {
    const now = clock.now();
    const minute = minuteOf(now);
    if (noted.get(why) === minute) return;
    noted.set(why, minute);
    uses.note(cutOffName(why, minute), now);
  };
}
