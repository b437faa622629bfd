import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type CohortIntegration, integrationSecrets } from '@carillon/domain/configuration';
import type { CohortProof } from '@carillon/ports';
import type { FreshSecrets } from './fresh-secrets.ts';

export type CohortSecrets = {
  /**
   * Verifies that the request has a secret of the integration, in constant time. `not_set`: the integration has no
   * secret; this is a server error, because a platform that gets 401 stops sending.
   */
  verify(workspace: string, integration: CohortIntegration, proof: CohortProof | null): Promise<ProofVerdict>;
};
export type ProofVerdict = 'proven' | 'wrong' | 'not_set';

export function createCohortSecrets(resolve: FreshSecrets): CohortSecrets {
  return {
    async verify(workspace, integration, proof) {
      const names = integrationSecrets(integration);
      const values = (await Promise.all(names.map((name) => resolve(workspace, name)))).filter((one) => one !== null);
      if (values.length === 0) return 'not_set';
      return values.map((value) => isProof(proof, value)).includes(true) ? 'proven' : 'wrong';
    },
  };
}

/** No secret at all: comparing with it costs what comparing with a real one costs. */
const NOTHING: CohortProof = { kind: 'secret', candidates: [''] };

function isProof(proof: CohortProof | null, secret: string): boolean {
  const { kind, ...shown } = proof ?? NOTHING;
  const matches =
    kind === 'hmac_sha1' && 'over' in shown
      ? sameBytes(createHmac('sha1', secret).update(shown.over).digest('hex'), shown.signature)
      : 'candidates' in shown && shown.candidates.map((one) => sameBytes(one, secret)).includes(true);
  return matches && proof !== null && secret !== '';
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Compares digests, so that timing does not reveal lengths. */
const sameBytes = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
