import type { IdentityProviderBody } from '@carillon/domain/configuration';
import type { Membership } from '@carillon/domain/people';
import { CarillonError, type Json } from '@carillon/kernel';
import type { ProvenIdentity } from '@carillon/ports';

/** Account data from an identity provider. */
export type Admission = {
  readonly name: string;
  /** Verified, or null. */
  readonly email: string | null;
  readonly memberships: readonly Membership[];
  /** True if a group makes them an owner of the deployment. */
  readonly owner: boolean;
  /** True if an unknown person may sign in. */
  readonly mayCome: boolean;
};

const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const LONGEST = { email: 254, name: 100, groups: 10_000 } as const;

/**
 * Applies the deployment's rules for the provider to the claims. Ignores roles in unknown workspaces. Throws
 * `forbidden` if only some domains are allowed and the verified address has none of them.
 */
export function admit(
  provider: IdentityProviderBody,
  { claims }: Pick<ProvenIdentity, 'claims'>,
  workspaces: readonly string[],
): Admission {
  const email = verifiedEmail(provider, claims);
  const { allowed_domains: domains } = provider;
  if (domains !== undefined) {
    if (email === null) {
      throw new CarillonError(
        'forbidden',
        'the provider sent no verified address for you, and only some domains may sign in',
      );
    }
    const domain = email.slice(email.indexOf('@') + 1).toLowerCase();
    if (!domains.includes(domain)) {
      throw new CarillonError('forbidden', 'addresses of this domain may not sign in here; use another account');
    }
  }
  const groups = groupsIn(claims[provider.groups_claim ?? 'groups']);
  const granted = (provider.roles ?? []).filter(({ group }) => groups.has(group));
  const memberships = granted.flatMap(({ workspace, role }) =>
    workspace !== undefined && role !== undefined && workspaces.includes(workspace) ? [{ workspace, role }] : [],
  );
  const owner = granted.some(({ deployment_owner: owns }) => owns === true);
  const mayCome = domains !== undefined || owner || memberships.length > 0;
  return { name: nameIn(claims, email), email, memberships: eachOnce(memberships), owner, mayCome };
}

export const isSame = (a: Membership, b: Membership): boolean => a.workspace === b.workspace && a.role === b.role;

const eachOnce = (memberships: readonly Membership[]): readonly Membership[] =>
  memberships.filter((membership, at) => memberships.findIndex((other) => isSame(membership, other)) === at);

function verifiedEmail(
  provider: IdentityProviderBody,
  { email, email_verified: verified }: ProvenIdentity['claims'],
): string | null {
  const isVerified = verified === true || (verified === undefined && provider.email_is_verified === true);
  if (!isVerified || typeof email !== 'string' || email.length > LONGEST.email || !EMAIL.test(email)) return null;
  return email;
}

/** Returns the groups of a claim: a text or a list of texts. Other values name no group. */
function groupsIn(claim: Json | undefined): ReadonlySet<string> {
  const found = Array.isArray(claim) ? claim.slice(0, LONGEST.groups) : [claim];
  return new Set(found.filter((group) => typeof group === 'string'));
}

/** Removes control characters and limits the length, because names appear in lists, mails and logs. */
function nameIn({ name }: ProvenIdentity['claims'], email: string | null): string {
  const clean = typeof name === 'string' ? name.replaceAll(/\p{C}/gu, '').trim().slice(0, LONGEST.name).trim() : '';
  return clean || (email?.split('@')[0]?.replaceAll(/\p{C}/gu, '').slice(0, LONGEST.name) ?? '') || 'Somebody';
}
