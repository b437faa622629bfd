import {
  integer,
  text,
  type Collection,
  type Documents,
  type IdempotencyStore,
  type IdempotentRequest,
} from '@carillon/ports';

const KEPT_ANSWERS: Collection<IdempotentRequest> = {
  name: 'kept_answers',
  key: ['id'],
  version: { field: 'token', kind: 'token' },
  fields: {
    id: text(({ id }) => id),
    fingerprint: text(({ fingerprint }) => fingerprint),
    token: text(({ token }) => token),
    begunAt: integer(({ begunAt }) => begunAt),
    endsAt: integer(({ endsAt }) => endsAt),
    answer: text(({ answer }) => answer),
  },
  indexes: { ends: { by: ['endsAt'] } },
  expiry: { field: 'endsAt' },
  body: null,
  read: (fields) => ({
    id: fields['id'] as string,
    fingerprint: fields['fingerprint'] as string,
    token: fields['token'] as string,
    begunAt: fields['begunAt'] as number,
    endsAt: fields['endsAt'] as number,
    answer: fields['answer'] as string | null,
  }),
};

function create(documents: Documents): IdempotencyStore {
  const requests = documents.collection(KEPT_ANSWERS);
  return {
    async begin(request, now) {
      for (let found: IdempotentRequest | null = null; ; found = await requests.get([request.id])) {
        if (found && found.endsAt > now) return found;
        if ((await requests.write(request, found?.token ?? null)) === 'done') return request;
      }
    },
    find: (id) => requests.get([id]),
    async finish(id, token, answer) {
      const found = await requests.get([id]);
      if (found?.token === token) await requests.write({ ...found, answer }, token);
    },
    async forget(id, token) {
      await requests.remove([id], token);
    },
    removeEnded: (before, limit) => requests.removeExpired(before, limit),
  };
}

export const idempotency = { collections: [KEPT_ANSWERS], create };
