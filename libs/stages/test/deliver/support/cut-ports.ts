import type { SentToPerson } from '@carillon/domain/cadence';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DigestHead } from '@carillon/domain/digests';
import type { DeliveryLedger, DigestHeads, EventLog, LimitStore } from '@carillon/ports';

/** What happens to a process at one of its writes. */
export type CutFate =
  /** It dies, and nothing was written. */
  | 'killed before'
  /** It dies, and the write is done. */
  | 'killed after'
  /** It is held still until everybody else has done all that there is to do, and goes on with what it had in mind. */
  | 'held';

export type Cut = { readonly at: number; readonly fate: CutFate; readonly meanwhile: () => Promise<void> };

/** The stores of cadence, to which a process writes one step after the other. */
export type CutStores = {
  readonly ledger: DeliveryLedger;
  readonly digestHeads: DigestHeads;
  readonly limits: LimitStore;
  readonly log: EventLog;
};

export class Killed extends Error {}

/** The ports of one process: what it wrote, by name, and where it is cut off. Dead, it neither reads nor writes. */
export function cutPorts<Ports extends CutStores>(
  ports: Ports,
  cut: Cut | null,
): { readonly ports: Ports; readonly steps: readonly string[]; readonly dead: AbortSignal } {
  const steps: string[] = [];
  const dead = new AbortController();
  const tokens = new Set<string>();

  const mustLive = (): void => {
    if (dead.signal.aborted) throw new Killed('it is dead');
  };
  async function step(name: string, write: () => unknown): Promise<unknown> {
    const here = cut?.at === steps.length ? cut : null;
    steps.push(name);
    if (here?.fate === 'killed before') dead.abort();
    mustLive();
    if (here?.fate === 'held') await here.meanwhile();
    const answer = await write();
    if (here?.fate === 'killed after') dead.abort();
    mustLive();
    return answer;
  }
  /** Every method of the store; those with a name here are steps. */
  const over = <Store extends object>(store: Store, names: Partial<Record<keyof Store, (given: never) => string>>) =>
    new Proxy(store, {
      get(target, key) {
        const own: unknown = Reflect.get(target, key);
        if (typeof own !== 'function') return own;
        const name = names[key as keyof Store];
        return (...given: readonly unknown[]): unknown => {
          mustLive();
          const call = (): unknown => Reflect.apply(own, target, given);
          return name ? step(name(given[0] as never), call) : call();
        };
      },
    });

  const takesOrGivesBack = ({ entries }: SentToPerson): string => {
    const isNew = entries.some(({ token }) => !tokens.has(token));
    for (const { token } of entries) tokens.add(token);
    return isNew ? 'take' : 'give back';
  };
  return {
    ports: {
      ...ports,
      ledger: over(ports.ledger, { insert: () => 'insert the digest', replace: moveName }),
      digestHeads: over(ports.digestHeads, { replace: headStep }),
      limits: over(ports.limits, { replace: takesOrGivesBack }),
      log: over(ports.log, { append: () => 'tell' }),
    },
    steps,
    dead: dead.signal,
  };
}

function moveName({ state, nextAt, unpublished }: Delivery): string {
  if (state === 'COLLECTED') return nextAt === null ? 'know it listed' : 'collect';
  if (state === 'SENDING') return 'step into sending';
  if (state === 'WAITING') return 'fence';
  if (unpublished.length === 0) return 'know it told';
  return state === 'DIGESTED' ? 'move an item' : 'settle';
}

function headStep({ closing, items }: DigestHead): string {
  if (closing) return 'close';
  return items.length > 0 ? 'list' : 'empty the closing';
}
