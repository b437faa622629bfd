import { resourceKey, type ResourceRef } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import type { ConfigurationHistory } from '@carillon/stages';
import { digestOf } from './facts.ts';

/** Newest versions among which the publication of a request is found, because it happens at its end. */
const NEWEST = 64;

export type Published = {
  readonly number: number;
  readonly target: string;
  readonly before: string | null;
  readonly after: string | null;
};

/** Returns what a request published. Null if nothing took effect. */
export function publishedBy(requestId: string, history: ConfigurationHistory): Published | null {
  const found = history
    .publications()
    .slice(-NEWEST)
    .findLast(({ by }) => by.requestId === requestId);
  return found ? publishedAs(found.number, found.refs, history) : null;
}

/** Returns the audit facts of a configuration number: its resources with digests of their bodies before and after. */
export function publishedAs(number: number, refs: readonly ResourceRef[], history: ConfigurationHistory): Published {
  const [first] = refs;
  const bodies = refs.map((ref) => {
    const states = history.statesOf(ref);
    const at = states.findIndex(({ publication }) => publication.number === number);
    const bodyOf = (index: number): Json => states[index]?.resource?.body ?? null;
    return { key: resourceKey(ref), before: bodyOf(at - 1), after: bodyOf(at) };
  });
  const digest = (of: 'before' | 'after'): string | null =>
    bodies.every((change) => change[of] === null) ? null : digestOf(bodies.map((change) => [change.key, change[of]]));
  return {
    number,
    target: refs.length === 1 && first ? resourceKey(first) : `${refs.length} resources`,
    before: digest('before'),
    after: digest('after'),
  };
}
