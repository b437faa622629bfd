import { isCarillonError, messageOf, type Duration } from '@carillon/kernel';
import type { Check } from './ports.ts';

/** How long one step of the doctor looks. At most two follow one another, so that it has answered before its caller gives up. */
const LOOKS_FOR: Duration = 4_000;

/** Runs one step of the doctor. Never rejects: an error or a timeout becomes the detail of the check. */
export async function checkStep(step: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { step, ok: true, detail: await inTime(look()) };
  } catch (error) {
    return { step, ok: false, detail: isCarillonError(error) ? error.detail : messageOf(error) };
  }
}

/** Steps that are looked at together. Where that fails as a whole, it is one step of this name. */
export async function checkSteps(step: string, look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  let steps: readonly Check[] = [];
  const whole = await checkStep(step, async () => {
    steps = await look();
    return '';
  });
  return whole.ok ? steps : [whole];
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LOOKS_FOR} ms`)), LOOKS_FOR);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
