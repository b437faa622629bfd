import { formsOf, formsOnChannels, type ChannelName } from '@carillon/domain/channels';
import { SUPPRESSION_SOURCES, type SuppressionSource } from '@carillon/domain/deliveries';
import type { LeaseStore, LookupClaim, LookupClaims, Suppression, SuppressionList } from '@carillon/ports';
import type { Instant } from '@carillon/kernel';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

type Claimed = { readonly position: string; readonly superseded: readonly string[]; readonly at: Instant };

/** Which of a trigger's lookup records counts: the first that was claimed. */
export function createMemoryClaims() {
  const stored = new Map<string, Claimed>();

  function claimOne({ triggerId, position, at }: LookupClaim): string {
    const held = stored.get(triggerId) ?? { position, superseded: [], at };
    const late = held.position !== position && !held.superseded.includes(position);
    stored.set(triggerId, late ? { ...held, superseded: [...held.superseded, position] } : held);
    return held.position;
  }

  return {
    get: (triggerId: string): Claimed | null => stored.get(triggerId) ?? null,
    connect: (wire: Wire): LookupClaims => ({
      claim: (claims) =>
        wire.ask('claims.claim', () => claims.map(claimOne), {
          writes: true,
          about: () => claims.map(({ triggerId, position }) => `${triggerId} ${position}`).join(', '),
          // The earlier claim of a trigger wins, also where only a part of the triggers is claimed.
          partly: (chance) => {
            const firsts = new Map(claims.toReversed().map((claim) => [claim.triggerId, claim]));
            [...firsts.values()].filter(() => chance() < 0.5).forEach(claimOne);
          },
        }),
      get: (triggerId) =>
        wire.ask('claims.get', () => {
          const held = stored.get(triggerId);
          return held ? { position: held.position, superseded: held.superseded } : null;
        }),
      list: (beginning, limit, cursor = '') =>
        wire.ask('claims.list', () => {
          const found = [...stored]
            .filter(([triggerId]) => triggerId.startsWith(beginning) && triggerId > cursor)
            .toSorted(([one], [other]) => (one < other ? -1 : 1))
            .map(([triggerId, { position, at }]) => ({ triggerId, position, at }));
          const items = found.slice(0, limit);
          return { items, next: found.length > limit ? (items.at(-1)?.triggerId ?? null) : null };
        }),
    }),
  };
}
export type MemoryClaims = ReturnType<typeof createMemoryClaims>;

/** Leases: each held by one, until it ends or is given back. */
export function createMemoryLeases() {
  const stored = new Map<string, { readonly holder: string; readonly until: Instant }>();
  return {
    connect: (wire: Wire): LeaseStore => ({
      acquire: (name, holder, now, until) => {
        const acquire = (): boolean => {
          const held = stored.get(name);
          if (held && held.holder !== holder && held.until > now) return false;
          stored.set(name, { holder, until });
          return true;
        };
        return wire.ask('leases.acquire', acquire, { writes: true, about: () => `${name} for ${holder}` });
      },
      release: (name, holder) => {
        const release = (): void => {
          if (stored.get(name)?.holder === holder) stored.delete(name);
        };
        return wire.ask('leases.release', release, { writes: true, about: () => name });
      },
    }),
  };
}

/** Suppressed addresses with one entry per source. Of two entries of a source the older one stays. */
export function createMemorySuppressions() {
  const stored = new Map<string, Suppression>();
  const keyOf = (workspace: string, channel: ChannelName, address: string, source: SuppressionSource): string =>
    JSON.stringify([workspace, channel, formsOf(channel, address)[0], source]);
  const entries = (workspace: string, channel: ChannelName, address: string): Suppression[] =>
    SUPPRESSION_SOURCES.flatMap((source) => stored.get(keyOf(workspace, channel, address, source)) ?? []).toSorted(
      (a, b) => a.at - b.at,
    );
  const keyOfEntry = ({ workspace, channel, address, source }: Suppression): string =>
    keyOf(workspace, channel, address, source);
  function add(suppression: Suppression): boolean {
    const key = keyOfEntry(suppression);
    const held = stored.get(key);
    if (held && suppression.source === 'stop') stored.set(key, { ...held, at: Math.max(held.at, suppression.at) });
    if (held) return false;
    const [address = suppression.address] = formsOf(suppression.channel, suppression.address);
    stored.set(key, { ...suppression, address });
    return true;
  }
  return {
    /** Whether messages to it are held back, by this source or by any, for a test that looks. */
    has: (workspace: string, channel: ChannelName, address: string, source?: SuppressionSource): boolean =>
      entries(workspace, channel, address).some((one) => source === undefined || one.source === source),
    connect: (wire: Wire): SuppressionList => ({
      add: (suppression) =>
        wire.ask('suppressions.add', () => void add(suppression), {
          writes: true,
          about: () => keyOfEntry(suppression),
        }),
      addAll: (suppressions) =>
        wire.ask('suppressions.addAll', () => suppressions.filter(add).length, {
          writes: true,
          about: () => `${suppressions.length} addresses`,
          partly: (chance) => suppressions.forEach((one) => chance() < 0.5 && add(one)),
        }),
      remove: (workspace, channel, address, source, notAfter = Number.POSITIVE_INFINITY) => {
        const found = (): Suppression[] =>
          entries(workspace, channel, address).filter(
            (one) => (source === undefined || one.source === source) && one.at <= notAfter,
          );
        const remove = (): boolean => found().filter((one) => stored.delete(keyOfEntry(one))).length > 0;
        return wire.ask('suppressions.remove', remove, { writes: true });
      },
      find: (workspace, channel, address) =>
        wire.ask('suppressions.find', () => entries(workspace, channel, address)[0] ?? null),
      sources: (workspace, channel, address) =>
        wire.ask('suppressions.sources', () => entries(workspace, channel, address)),
      list: ({ workspace, channel, address, source }, limit, cursor) =>
        wire.ask('suppressions.list', () =>
          pageOf(
            [...stored.entries()].filter(
              ([, one]) =>
                (workspace === undefined || one.workspace === workspace) &&
                (channel === undefined || one.channel === channel) &&
                (address === undefined ||
                  formsOnChannels(address).some(
                    ([name, forms]) => name === one.channel && forms.includes(one.address),
                  )) &&
                (source === undefined || one.source === source),
            ),
            ([key, one]) => [one.at, key],
            ([, one]) => one,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
