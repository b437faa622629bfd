import { resourceKey, type ResourceRef } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import type { ConfigurationHistory } from '@carillon/stages';
import { digestOf } from './facts.ts';

/** A request publishes at its end: what it published is among the newest. */
const NEWEST = 64;

export type Published = {
  readonly number: number;
  readonly target: string;
  readonly before: string | null;
  readonly after: string | null;
};

/** What a request put into the configuration; null: nothing that took effect. */
export function publishedBy(requestId: string, history: ConfigurationHistory): Published | null {
  const found = history
    .publications()
    .slice(-NEWEST)
    .findLast(({ by }) => by.requestId === requestId);
  return found ? publishedAs(found.number, found.refs, history) : null;
}

/** What the audit tells of a number: which resources, and digests of their bodies before it and since. */
export function publishedAs(number: number, refs: readonly ResourceRef[], history: ConfigurationHistory): Published {
  const [first] = refs;
  const bodies = refs.map((ref) => {
    const states = history.statesOf(ref);
    const at = states.findIndex(({ publication }) => publication.number === number);
    const bodyOf = (index: number): Json => states[index]?.resource?.body ?? null;
    return { key: resourceKey(ref), before: bodyOf(at - 1), after: bodyOf(at) };
  });
  const digest = (of: 'before' | 'after'): string | null =>
    bodies.every((one) => one[of] === null) ? null : digestOf(bodies.map((one) => [one.key, one[of]]));
  return {
    number,
    target: refs.length === 1 && first ? resourceKey(first) : `${refs.length} resources`,
    before: digest('before'),
    after: digest('after'),
  };
}
