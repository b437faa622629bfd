import { OWNER_ACTOR, type Actor } from '@carillon/domain/people';
import {
  integer,
  json,
  text,
  type Collection,
  type DataKey,
  type Documents,
  type SealedSecret,
  type SecretStore,
  type WrappedKey,
} from '@carillon/ports';
import { readAll } from './documents.ts';
import type { Move } from './move.ts';

const SECRETS: Collection<SealedSecret> = {
  name: 'secrets',
  key: ['workspace', 'name'],
  version: { field: 'sealed', kind: 'token' },
  fields: {
    workspace: text(({ workspace }) => workspace),
    name: text(({ name }) => name),
    version: integer(({ version }) => version),
    dataKey: text(({ dataKey }) => dataKey),
    sealed: text(({ sealed }) => sealed),
    fingerprint: text(({ fingerprint }) => fingerprint),
    updatedAt: integer(({ updatedAt }) => updatedAt),
    updatedBy: json(({ updatedBy }) => updatedBy),
  },
  indexes: { workspace: { by: ['workspace', 'name'] } },
  body: null,
  // Early releases wrote neither version nor data key nor author.
  read: (fields) => ({
    workspace: fields['workspace'] as string,
    name: fields['name'] as string,
    version: (fields['version'] as number | undefined) ?? 1,
    dataKey: (fields['dataKey'] as string | undefined) ?? '',
    sealed: fields['sealed'] as string,
    fingerprint: fields['fingerprint'] as string,
    updatedAt: fields['updatedAt'] as number,
    updatedBy: (fields['updatedBy'] as Actor | undefined) ?? OWNER_ACTOR,
  }),
};

const DATA_KEYS: Collection<DataKey> = {
  name: 'data_keys',
  key: ['workspace', 'generation'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    workspace: text(({ workspace }) => workspace),
    generation: integer(({ generation }) => generation),
    id: text(({ id }) => id),
    version: integer(({ revision }) => revision, 'revision'),
    wraps: json(({ wraps }) => wraps),
    madeAt: integer(({ madeAt }) => madeAt),
  },
  indexes: { workspace: { by: ['workspace', 'generation'] } },
  body: null,
  read: (fields) => ({
    id: fields['id'] as string,
    workspace: fields['workspace'] as string,
    generation: fields['generation'] as number,
    revision: fields['version'] as number,
    wraps: fields['wraps'] as unknown as readonly WrappedKey[],
    madeAt: fields['madeAt'] as number,
  }),
};

const ASCENDING = { index: 'workspace', order: 'ascending' } as const;

function create(documents: Documents): SecretStore {
  const secrets = documents.collection(SECRETS);
  const keys = documents.collection(DATA_KEYS);
  return {
    secret: (workspace, name) => secrets.get([workspace, name]),
    secrets: (workspace) => readAll(secrets, { ...ASCENDING, where: { workspace } }),
    async putSecret(secret, replacing) {
      return (await secrets.write(secret, replacing)) === 'done' ? 'done' : 'stale';
    },
    async removeSecret(workspace, name) {
      return (await secrets.remove([workspace, name])) === 'done';
    },
    dataKeys: () => readAll(keys, ASCENDING),
    async insertDataKey(key) {
      if ((await keys.write(key, null)) === 'done') return true;
      return (await keys.get([key.workspace, key.generation]))?.id === key.id;
    },
    async rewrapDataKey(key) {
      const stored = await keys.get([key.workspace, key.generation]);
      if (stored?.id !== key.id) return 'stale';
      const isDone = stored.revision === key.revision && JSON.stringify(stored.wraps) === JSON.stringify(key.wraps);
      return isDone || (await keys.write(key, key.revision - 1)) === 'done' ? 'done' : 'stale';
    },
    // Not one step with the look at the secrets: the rotation removes a key only after nothing is sealed under it any more.
    async removeDataKey({ id, workspace, generation }) {
      if ((await secrets.select({ dataKey: id }, ['name'])).length > 0) return false;
      if ((await keys.get([workspace, generation]))?.id !== id) return false;
      return (await keys.remove([workspace, generation])) === 'done';
    },
  };
}

const moveDataKeys: Move<SecretStore, DataKey> = {
  async *read(store) {
    yield* await store.dataKeys();
  },
  // A start made a data key for the deployment. The moved key becomes the next generation of its workspace, and opens as before.
  async write(store, key) {
    for (;;) {
      const stored = await store.dataKeys();
      if (stored.some(({ id }) => id === key.id)) return false;
      const last = stored.findLast(({ workspace }) => workspace === key.workspace)?.generation ?? 0;
      if (await store.insertDataKey({ ...key, generation: last + 1, revision: 1 })) return true;
    }
  },
};

const moveSecrets: Move<SecretStore, SealedSecret> = {
  async *read(store) {
    yield* await store.secrets();
  },
  async write(store, secret) {
    if (await store.secret(secret.workspace, secret.name)) return false;
    return (await store.putSecret(secret, null)) === 'done';
  },
};

export const secretStore = {
  collections: [SECRETS, DATA_KEYS],
  create,
  moves: { dataKey: moveDataKeys, secret: moveSecrets },
};
