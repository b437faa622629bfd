import { INTEGRATION_ROLES } from '../setup/kind-roles.generated.ts';

type Body = { readonly kind: string };

const roleOf = ({ kind }: Body): string | undefined => (INTEGRATION_ROLES as Readonly<Record<string, string>>)[kind];

/** Returns true if the integration is called to look people up. */
export const isPartner = (body: Body): boolean => roleOf(body) === 'partner';

/** Returns true if the integration has cohorts. */
export const hasCohorts = (body: Body): boolean => roleOf(body)?.startsWith('cohort_') === true;

/** Returns true if streams read tables of the integration. */
export const isDatabase = (body: Body): boolean => roleOf(body) === 'database';

/** Returns true if streams read topics of the integration. */
export const hasTopics = (body: Body): boolean => roleOf(body) === 'topics';
