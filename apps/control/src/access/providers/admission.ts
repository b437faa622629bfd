import type { IdentityProviderBody } from '@carillon/domain/configuration';
import type { Membership } from '@carillon/domain/people';
import { CarillonError, type Json } from '@carillon/kernel';
import type { ProvenIdentity } from '@carillon/ports';

/** What a provider's word makes of somebody here. */
export type Admission = {
  readonly name: string;
  /** Verified, or null. */
  readonly email: string | null;
  readonly memberships: readonly Membership[];
  /** Whether a group makes them an owner of the deployment. */
  readonly owner: boolean;
  /** Whether somebody who is not known here may come in. */
  readonly mayCome: boolean;
};

const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const LONGEST = { email: 254, name: 100, groups: 10_000 } as const;

/**
 * Holds the claims against what the deployment says of the provider. Roles in workspaces that are not there are left out. Throws
 * `forbidden` where only some domains are let in, and the verified address is of none of them.
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
  const held = (provider.roles ?? []).filter(({ group }) => groups.has(group));
  const memberships = held.flatMap(({ workspace, role }) =>
    workspace !== undefined && role !== undefined && workspaces.includes(workspace) ? [{ workspace, role }] : [],
  );
  const owner = held.some(({ deployment_owner: owns }) => owns === true);
  const mayCome = domains !== undefined || owner || memberships.length > 0;
  return { name: nameIn(claims, email), email, memberships: eachOnce(memberships), owner, mayCome };
}

export const isSame = (a: Membership, b: Membership): boolean => a.workspace === b.workspace && a.role === b.role;

const eachOnce = (memberships: readonly Membership[]): readonly Membership[] =>
  memberships.filter((one, at) => memberships.findIndex((other) => isSame(one, other)) === at);

function verifiedEmail(
  provider: IdentityProviderBody,
  { email, email_verified: verified }: ProvenIdentity['claims'],
): string | null {
  const isVerified = verified === true || (verified === undefined && provider.email_is_verified === true);
  if (!isVerified || typeof email !== 'string' || email.length > LONGEST.email || !EMAIL.test(email)) return null;
  return email;
}

/** A text or a list of texts; what else there is names no group. */
function groupsIn(claim: Json | undefined): ReadonlySet<string> {
  const found = Array.isArray(claim) ? claim.slice(0, LONGEST.groups) : [claim];
  return new Set(found.filter((one) => typeof one === 'string'));
}

/** No control characters, and not too long: a name stands in lists, mails and logs. */
function nameIn({ name }: ProvenIdentity['claims'], email: string | null): string {
  const clean = typeof name === 'string' ? name.replaceAll(/\p{C}/gu, '').trim().slice(0, LONGEST.name).trim() : '';
  return clean || (email?.split('@')[0]?.replaceAll(/\p{C}/gu, '').slice(0, LONGEST.name) ?? '') || 'Somebody';
}
