import type { KeptAnswers, KeptRequest } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** Requests with their answers, by id. */
export function createMemoryKeptAnswers() {
  const stored = new Map<string, KeptRequest>();
  const ofToken = (id: string, token: string): KeptRequest | undefined => {
    const found = stored.get(id);
    return found?.token === token ? found : undefined;
  };
  return {
    connect: (wire: Wire): KeptAnswers => ({
      begin: (request, now) => {
        const begin = (): KeptRequest => {
          const found = stored.get(request.id);
          if (found && found.endsAt > now) return found;
          stored.set(request.id, request);
          return request;
        };
        return wire.ask('keptAnswers.begin', begin, { writes: true, about: () => request.id });
      },
      find: (id) => wire.ask('keptAnswers.find', () => stored.get(id) ?? null),
      finish: (id, token, answer) => {
        const finish = (): void => {
          const found = ofToken(id, token);
          if (found) stored.set(id, { ...found, answer });
        };
        return wire.ask('keptAnswers.finish', finish, { writes: true, about: () => id });
      },
      forget: (id, token) => {
        const forget = (): void => {
          if (ofToken(id, token)) stored.delete(id);
        };
        return wire.ask('keptAnswers.forget', forget, { writes: true, about: () => id });
      },
      removeEnded: (before, limit) => {
        const remove = (): number => {
          const gone = [...stored.values()].filter(({ endsAt }) => endsAt < before).slice(0, limit);
          for (const { id } of gone) stored.delete(id);
          return gone.length;
        };
        return wire.ask('keptAnswers.removeEnded', remove, { writes: true });
      },
    }),
  };
}
