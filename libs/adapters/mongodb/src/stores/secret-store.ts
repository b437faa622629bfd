import { OWNER_ACTOR } from '@carillon/domain';
import type { DataKey, SealedSecret, SecretStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertOnce, writeToken } from '../compare-and-set.ts';
import { keyOf, type DataKeyDocument, type SecretDocument } from '../documents.ts';
import { ComeAgain } from '../failures.ts';
import { equalities, filterOf } from '../pages.ts';

/** What early versions wrote names no data key. */
const secretOf = (document: SecretDocument): SealedSecret => ({
  workspace: document.workspace,
  name: document.name,
  version: document.version ?? 1,
  dataKey: document.dataKey ?? '',
  sealed: document.sealed,
  fingerprint: document.fingerprint,
  updatedAt: document.updatedAt,
  updatedBy: document.updatedBy ?? OWNER_ACTOR,
});

const dataKeyOf = ({ id, workspace, generation, version, wraps, madeAt }: DataKeyDocument): DataKey => ({
  id,
  workspace,
  generation,
  revision: version,
  wraps,
  madeAt,
});

export const createSecretStore = (
  { secrets, dataKeys }: Pick<Collections, 'secrets' | 'dataKeys'>,
  attempt: Attempt,
): SecretStore => ({
  async secret(workspace, name) {
    const found = await attempt(() => secrets.findOne({ _id: keyOf(workspace, name) }));
    return found ? secretOf(found) : null;
  },
  async secrets(workspace) {
    const wanted = filterOf<SecretDocument>(equalities({ workspace }));
    const found = await attempt(() => secrets.find(wanted, { sort: { workspace: 1, name: 1 } }).toArray());
    return found.map(secretOf);
  },
  putSecret({ workspace, name, version, dataKey, sealed, fingerprint, updatedAt, updatedBy }, replacing) {
    const _id = keyOf(workspace, name);
    const fields = { workspace, name, version, dataKey, sealed, fingerprint, updatedAt, updatedBy };
    return attempt(async () => {
      const written =
        replacing === null
          ? await insertOnce(secrets, { _id, ...fields })
          : (await secrets.updateOne({ _id, sealed: replacing }, { $set: fields })).matchedCount === 1;
      if (written) return 'done';
      // No two sealed texts are the same: ours was written by an earlier try, whose answer was lost.
      const found = await secrets.findOne({ _id }, { projection: { sealed: 1 } });
      if (found?.sealed === sealed) return 'done';
      if ((found?.sealed ?? null) === replacing) throw new ComeAgain('a write is not yet held by a majority');
      return 'stale';
    });
  },
  removeSecret: (workspace, name) =>
    attempt(async (again) => {
      const { deletedCount } = await secrets.deleteOne({ _id: keyOf(workspace, name) });
      // After a lost answer it may be us who removed it.
      return deletedCount === 1 || again;
    }),
  async dataKeys() {
    const found = await attempt(() => dataKeys.find({}, { sort: { workspace: 1, generation: 1 } }).toArray());
    return found.map(dataKeyOf);
  },
  insertDataKey({ id, workspace, generation, revision, wraps, madeAt }) {
    const _id = keyOf(workspace, generation);
    const document = { _id, id, workspace, generation, version: revision, written: writeToken(), wraps, madeAt };
    return attempt(async () => {
      if (await insertOnce(dataKeys, document)) return true;
      const found = await dataKeys.findOne({ _id }, { projection: { id: 1 } });
      if (!found) throw new ComeAgain('a write is not yet held by a majority');
      return found.id === id;
    });
  },
  async rewrapDataKey({ id, workspace, generation, revision, wraps }) {
    const _id = keyOf(workspace, generation);
    if ((await compareAndSet(dataKeys, attempt, _id, revision, { wraps })) === 'done') return 'done';
    const found = await attempt(() => dataKeys.findOne({ _id }));
    const isOurs = found?.id === id && found.version === revision;
    return isOurs && JSON.stringify(found.wraps) === JSON.stringify(wraps) ? 'done' : 'stale';
  },
  removeDataKey: ({ id, workspace, generation }) =>
    attempt(async (again) => {
      if (await secrets.findOne({ dataKey: id }, { projection: { _id: 1 } })) return false;
      const { deletedCount } = await dataKeys.deleteOne({ _id: keyOf(workspace, generation), id });
      return deletedCount === 1 || again;
    }),
});
