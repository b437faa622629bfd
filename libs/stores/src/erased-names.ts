import { formsOf } from '@carillon/domain/channels';
import { fold, type Consents } from '@carillon/domain/consent';
import { hashedName, isHashedName } from '@carillon/domain/erasures';
import type { ConsentStore, Ids, Suppression, SuppressionList } from '@carillon/ports';

type Keyed = Pick<Ids, 'keyed'>;

/**
 * Finds also what an erased person said, which is kept under a keyed hash, and adds that hash to each document it writes. What the person says now is written under the name, with what was
 * said before: a person who comes again is a new one, whose opt-outs still hold.
 */
export function withHashedPeople(store: ConsentStore, { keyed }: Keyed): ConsentStore {
  const nameOf = (person: string): string => hashedName(person, (...parts) => keyed(...parts));
  const together = (person: string, own: Consents | undefined, erased: Consents): Consents => {
    const { workspace } = erased;
    const before = own ?? { workspace, person, version: 0, words: [], unpublished: [], updatedAt: 0 };
    const words = erased.words.map((word) => ({ ...word, person }));
    const folded = fold(before, { workspace, person }, words, before.updatedAt);
    return folded ? { ...folded, version: before.version } : before;
  };
  return {
    ...store,
    async find(workspace, persons) {
      const names = new Map(persons.map((person) => [nameOf(person), person]));
      const found = await store.find(workspace, [...new Set([...persons, ...names.keys()])]);
      const own = new Map(found.map((consents) => [consents.person, consents]));
      for (const [name, person] of names) {
        const erased = own.get(name);
        if (!erased || persons.includes(name)) continue;
        own.delete(name);
        own.set(person, together(person, own.get(person), erased));
      }
      return [...own.values()];
    },
    replace: (next) => store.replace(isHashedName(next.person) ? next : { ...next, hash: nameOf(next.person) }),
  };
}

/** Finds also the suppressions of erased addresses, which are kept under keyed hashes, and removes them with the others. */
export function withErasedAddresses(list: SuppressionList, { keyed }: Keyed): SuppressionList {
  const nameOf = (channel: Suppression['channel'], address: string): string =>
    hashedName(formsOf(channel, address)[0] ?? address, (...parts) => keyed(...parts));
  const older = (one: Suppression | null, other: Suppression | null): Suppression | null =>
    one && other ? (other.at < one.at ? other : one) : (one ?? other);
  return {
    ...list,
    async find(workspace, channel, address) {
      const [own, erased] = await Promise.all([
        list.find(workspace, channel, address),
        list.find(workspace, channel, nameOf(channel, address)),
      ]);
      return older(own, erased && { ...erased, address });
    },
    async sources(workspace, channel, address) {
      const own = await list.sources(workspace, channel, address);
      const erased = await list.sources(workspace, channel, nameOf(channel, address));
      const sources = new Set(own.map(({ source }) => source));
      return [...own, ...erased.filter(({ source }) => !sources.has(source)).map((entry) => ({ ...entry, address }))];
    },
    async remove(workspace, channel, address, source, notAfter) {
      const own = await list.remove(workspace, channel, address, source, notAfter);
      const erased = await list.remove(workspace, channel, nameOf(channel, address), source, notAfter);
      return own || erased;
    },
  };
}
