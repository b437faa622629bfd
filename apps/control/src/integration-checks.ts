import {
  findResource,
  integrationRoleOf,
  type BodyOfRole,
  type Configuration,
  type IntegrationRole,
} from '@carillon/domain/configuration';
import { checkPartner, type PartnerCheckPorts } from './partner-check.ts';
import type { Check, ControlConfig, ControlPorts } from './ports.ts';
import { notFound } from './routes/app.ts';
import { checkPlatform, type PlatformCheckPorts } from './routes/configuration/cohorts.ts';
import { checkDatabase, type SourceRef } from './source-checks.ts';
import { checkTopics } from './topic-checks.ts';

export type IntegrationCheckPorts = PlatformCheckPorts &
  PartnerCheckPorts &
  Pick<ControlPorts, 'sources' | 'changeSources' | 'topicSources'>;

type Asked = SourceRef &
  Pick<ControlConfig, 'eventsUrl'> & {
    readonly configuration: Configuration;
    /** Ids that a partner is asked about. */
    readonly userIds: readonly string[];
  };
type CheckOf<Body> = (body: Body, asked: Asked, ports: IntegrationCheckPorts) => Promise<Check[]>;

/** The check of each role. A new kind of integration shares the check of its role; the compiler reports a role without one. */
const CHECKS: { readonly [Role in IntegrationRole]: CheckOf<BodyOfRole[Role]> } = {
  partner: checkPartner,
  cohort_webhook: checkPlatform,
  cohort_api: checkPlatform,
  database: checkDatabase,
  topics: checkTopics,
};

/** Calls an integration as the engine would, and explains the answer. Throws `not_found` if there is no such integration. */
export async function checkIntegration(asked: Asked, ports: IntegrationCheckPorts): Promise<Check[]> {
  const { configuration, workspace, integration } = asked;
  const found = findResource(configuration, 'integration', workspace, integration);
  if (!found) throw notFound(`integration ${integration} in workspace ${workspace}`);
  // The role of a body chooses the check that takes it, which a type cannot say.
  const check = CHECKS[integrationRoleOf(found.body)] as CheckOf<typeof found.body>;
  return check(found.body, asked, ports);
}
