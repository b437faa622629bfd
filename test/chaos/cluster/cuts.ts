import type { Cut } from '../cuts.ts';
import type { Fault } from './supervisor.ts';

/** Where it stands what came of calls. A broker keeps nobody from writing that down. */
const STORES = 'FerretDB|PostgreSQL';

/** What producers and groups take to go on once a broker is back, or another one leads. */
const RECOVERS_IN = 15_000;

/** When brokers were away and a while after. */
export const outagesOf = (faults: readonly Fault[]): readonly Cut[] =>
  faults.flatMap(({ at, what }): readonly Cut[] => {
    const [, broker] = /^kill (Kafka .+)$/.exec(what) ?? [];
    if (broker === undefined) return [];
    const back = faults.find((one) => one.at >= at && one.what === `${broker} is back`)?.at ?? at;
    return [{ from: at, until: back + RECOVERS_IN }];
  });

/**
 * When the faults may have cut off what a role had under way: its processes killed, or the database away. Of a process
 * that is held still it is two moments: what it did at the first is taken over by others, and at the second it goes on
 * with what it had in mind.
 */
export function cutsOf(role: 'engine' | 'delivery', faults: readonly Fault[]): readonly Cut[] {
  const cutting = new RegExp(`^(kill|hold) (${role} \\d+|${STORES})`);
  return faults.flatMap(({ at, what }): readonly Cut[] => {
    const [, how, part] = cutting.exec(what) ?? [];
    if (part === undefined) return [];
    const endOf = (end: string): number =>
      faults.find((one) => one.at >= at && one.what === `${part} ${end}`)?.at ?? at;
    if (how === 'hold') return [at, endOf('goes on')].map((moment) => ({ from: moment, until: moment }));
    return [{ from: at, until: part.startsWith(role) ? at : endOf('is back') }];
  });
}
