import type { LogId } from '@carillon/kernel';
import type { ConfigurationStore, SealedSecret } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce, upsertGuarded } from '../compare-and-set.ts';
import { keyOf, type SecretDocument } from '../documents.ts';
import { ComeAgain } from '../failures.ts';
import { equalities, filterOf } from '../pages.ts';

const IDENTITY = 'deployment';

const secretOf = ({ _id, ...secret }: SecretDocument): SealedSecret => secret;

export const createConfigurationStore = ({ identity, secrets }: Collections, attempt: Attempt): ConfigurationStore => ({
  identity: ({ logId, keyFingerprint }) =>
    attempt(async () => {
      const stored = await identity.findOne({ _id: IDENTITY });
      if (stored) return { logId: stored.logId as LogId, keyFingerprint: stored.keyFingerprint };
      if (await insertOnce(identity, { _id: IDENTITY, logId, keyFingerprint })) return { logId, keyFingerprint };
      throw new ComeAgain('the identity is being written by another');
    }),
  async putSecret({ workspace, name, sealed, fingerprint, updatedAt }) {
    const fields = { workspace, name, sealed, fingerprint, updatedAt };
    await attempt(async () => {
      const refused = await upsertGuarded(secrets, [{ id: keyOf(workspace, name), guard: {}, fields }]);
      if (refused.size > 0) throw new ComeAgain('a secret is being written by another');
    });
  },
  removeSecret: (workspace, name) =>
    attempt(async (again) => {
      const { deletedCount } = await secrets.deleteOne({ _id: keyOf(workspace, name) });
      // After a lost answer it may be us who removed it.
      return deletedCount === 1 || again;
    }),
  async secret(workspace, name) {
    const found = await attempt(() => secrets.findOne({ _id: keyOf(workspace, name) }));
    return found ? secretOf(found) : null;
  },
  async secrets(workspace) {
    const wanted = filterOf<SecretDocument>(equalities({ workspace }));
    const found = await attempt(() => secrets.find(wanted, { sort: { workspace: 1, name: 1 } }).toArray());
    return found.map(secretOf);
  },
});
