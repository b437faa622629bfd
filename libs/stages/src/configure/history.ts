import {
  resourceKey,
  type ChangeOrigin,
  type Configuration,
  type ConfigurationRecord,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';

/** A record that took effect: who made it, and which resources it changed. */
export type Publication = {
  readonly number: number;
  /** RFC 3339, by the clock of whoever published. */
  readonly at: string;
  readonly by: ChangeOrigin;
  readonly refs: readonly ResourceRef[];
};

/** A state of one resource: the body that a publication gave it, or null where that took it away. */
export type ResourceState = { readonly publication: Publication; readonly resource: Resource | null };

/** What was published since the first record, without anything that was void. */
export type ConfigurationHistory = {
  /** Oldest first. */
  publications(): readonly Publication[];
  /** The publication of a number that took effect; undefined for any other. */
  publication(number: number): Publication | undefined;
  /** All states of a resource, oldest first; empty where it never was. Costs what it answers, not what the log holds. */
  statesOf(ref: ResourceRef): readonly ResourceState[];
};

export type KeptHistory = ConfigurationHistory & {
  /** Takes a record that took effect and left this configuration. */
  keep(record: ConfigurationRecord, configuration: Configuration): void;
};

/** Keeps the history in memory, beside the configurations of all numbers, with which it shares every body. */
export function createHistory(): KeptHistory {
  const publications: Publication[] = [];
  const byNumber = new Map<number, Publication>();
  const states = new Map<string, ResourceState[]>();
  return {
    publications: () => publications,
    publication: (number) => byNumber.get(number),
    statesOf: (ref) => states.get(resourceKey(ref)) ?? [],
    keep({ at, by, changes }, { number, resources }) {
      const publication: Publication = { number, at, by, refs: changes.map(({ ref }) => ref) };
      publications.push(publication);
      byNumber.set(number, publication);
      for (const key of new Set(publication.refs.map(resourceKey))) {
        const kept = states.get(key) ?? [];
        kept.push({ publication, resource: resources.get(key) ?? null });
        states.set(key, kept);
      }
    },
  };
}
