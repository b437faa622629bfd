import { listResources, signInOf, type Configuration } from '@carillon/domain/configuration';
import { createHttpServer, type HealthSources, type HttpLog, type HttpServer } from '@carillon/runtime';
import { createRuleBook } from '@carillon/stages';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { createAccess, type Access } from './access/access.ts';
import { createPersonMail } from './access/people/person-mail.ts';
import { guard, SECURITY_HEADERS } from './access/guard.ts';
import { maskAnswers } from './access/masking/mask-answers.ts';
import { limitPrincipals } from './access/principal-rates.ts';
import { createProcessorBudget, type Stopwatches } from './access/processor-budget.ts';
import { auditRequests } from './audit/hook.ts';
import { createCursors, sealCursors } from './cursors.ts';
import { takeCsv } from './csv/csv-type.ts';
import { describeApi } from './openapi/describe-api.ts';
import type { ApiDocument } from './openapi/complete-document.ts';
import { referencePage } from './openapi/reference-page.ts';
import { mailRoute, servePages } from './pages/pages.ts';
import { previewPage } from './pages/preview-page.ts';
import { renderedMailRoute } from './pages/rendered-mail.ts';
import type { ControlConfig, ControlPorts, RoutePorts } from './ports.ts';
import { takeStrictJson } from './resources/body-json.ts';
import { apiKeyRoutes } from './routes/configuration/api-keys.ts';
import type { ApiServer } from './routes/app.ts';
import { auditRoutes } from './routes/operations/audit.ts';
import { cohortRoutes } from './routes/configuration/cohorts.ts';
import { configurationRoutes } from './routes/configuration/configuration.ts';
import { consentRoutes } from './routes/people/consents.ts';
import { deliveryRoutes } from './routes/deliveries/deliveries.ts';
import { draftRoutes } from './routes/configuration/drafts.ts';
import { droppedRoute } from './routes/deliveries/dropped.ts';
import { deadLetterRoutes, eventRoutes } from './routes/deliveries/events.ts';
import { expressionRoutes } from './routes/configuration/expressions.ts';
import { insightsRoute } from './routes/deliveries/insights.ts';
import { erasureListRoute, erasureRoutes } from './routes/people/erasures.ts';
import { invitationRoutes } from './routes/people/invitations.ts';
import { integrationRoutes } from './routes/configuration/integrations.ts';
import { liveRoute, type LiveRoute } from './routes/operations/live.ts';
import { workspaceRemovalRoutes } from './routes/configuration/workspace-removal.ts';
import { waitingRoutes } from './routes/deliveries/waiting.ts';
import { whyNotRoute } from './routes/deliveries/why-not.ts';
import { jwtProviderRoutes } from './routes/configuration/jwt-providers.ts';
import { contentRoutes } from './routes/deliveries/contents.ts';
import { masterKeyRoutes } from './routes/operations/master-key.ts';
import { answerRepeats, keepAnswers } from './idempotency/hook.ts';
import { jobCountRoutes } from './routes/operations/job-counts.ts';
import { jobRoutes } from './routes/operations/jobs.ts';
import { inboxRoutes } from './routes/deliveries/inbox.ts';
import { onboardingRoutes } from './routes/people/onboarding.ts';
import { operationRoutes } from './routes/operations/operations.ts';
import { meRoutes } from './routes/people/me.ts';
import { mailedLinkRoutes } from './routes/people/mailed-links.ts';
import { peopleRoutes } from './routes/people/people.ts';
import { tokenRoutes } from './routes/people/tokens.ts';
import { parkedReceiptRoutes } from './routes/deliveries/parked-receipts.ts';
import { promoteRoutes } from './routes/configuration/promote.ts';
import { ruleWaitingRoute } from './routes/configuration/rule-waiting.ts';
import { ruleSampleRoute } from './routes/configuration/rule-sample.ts';
import { ruleRoutes } from './routes/configuration/rules.ts';
import { templateRoutes } from './routes/configuration/templates.ts';
import { runRoutes } from './routes/operations/runs.ts';
import { resourceRoutes } from './routes/configuration/resources.ts';
import { publicationRoute } from './routes/configuration/versions.ts';
import { cadenceRoutes } from './routes/configuration/cadence.ts';
import { cadenceSimulationRoute } from './routes/configuration/cadence-simulation.ts';
import { testSendRoute } from './routes/configuration/test-send.ts';
import { secretRoutes } from './routes/configuration/secrets.ts';
import { identityRoutes } from './routes/people/identities.ts';
import { namesRoute } from './routes/people/names.ts';
import { overviewRoute } from './routes/operations/overview.ts';
import { sourceRoutes } from './routes/operations/sources.ts';
import { sourceTableRoutes } from './routes/configuration/source-tables.ts';
import { sendingRoute } from './routes/deliveries/sending.ts';
import { sessionRoutes } from './routes/people/sessions.ts';
import { providerPages, signInRoute } from './routes/people/sign-in.ts';
import { streamSendRoute } from './routes/configuration/stream-send.ts';
import { entityRoutes } from './routes/configuration/entities.ts';
import { streamRoutes } from './routes/configuration/streams.ts';
import { suppressionRoutes } from './routes/people/suppressions.ts';
import { compileValidator, refuseStrayParameters } from './validation.ts';

export type ControlSurroundings = HealthSources & {
  readonly log?: HttpLog;
  /** Authenticates requests. Defaults to the owner token and sessions made from it. */
  readonly access?: Access;
  /** Measures what requests are charged. Defaults to the machine's. */
  readonly stopwatches?: Stopwatches;
};

export type Control = HttpServer & {
  /** Description of the management API, as OpenAPI 3.1. */
  readonly description: () => ApiDocument;
  /** Authentication and sign-in links. */
  readonly access: Access;
};

/**
 * Builds the server of the control role with all routes, without listening; tests call it through `app.inject`. Rejects
 * if a route declares no permission.
 */
export async function buildControl(
  config: ControlConfig,
  given: ControlPorts,
  surroundings: ControlSurroundings = {},
): Promise<Control> {
  const localPasswords = (): boolean => signInOf(given.configuration.current()).passwords;
  const {
    access = createAccess(config, given, { localPasswords, mail: createPersonMail(given) }),
    stopwatches,
    ...watched
  } = surroundings;
  const processor = createProcessorBudget(given.clock, stopwatches);
  const ports: RoutePorts = {
    ...given,
    slice: processor.metered(given.slice),
    templates: processor.meteredTemplates(given.templates),
    book: createRuleBook(given.compileRule, given.templates),
  };
  const server = createHttpServer({
    host: config.host,
    port: config.port,
    portSetting: '--control-port or CARILLON_CONTROL_PORT',
    newRequestId: () => ports.ids.random('request'),
    headers: SECURITY_HEADERS,
    ...(config.trustedProxies && { trustedProxies: config.trustedProxies }),
    ...watched,
  });
  const { app } = server;
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(serializerCompiler);
  takeStrictJson(app);
  const workspaces = {
    known: () => workspacesOf(ports.configuration.current()),
    newest: async () => workspacesOf(await ports.configuration.refresh()),
  };
  guard(app, access, workspaces, { requests: limitPrincipals(ports.clock), processor });
  processor.chargeRequests(app);
  answerRepeats(app, ports);
  auditRequests(app, ports);
  keepAnswers(app, ports);
  const description = await describeApi(app, config.version);
  let live: LiveRoute | undefined;
  await app.register(async (scope) => {
    const api: ApiServer = scope.withTypeProvider();
    takeCsv(scope);
    refuseStrayParameters(scope);
    const cursors = createCursors(config, given);
    sealCursors(scope, cursors);
    // Registered after the cursors: sealed cursors reveal nothing, and masked ones would not work.
    maskAnswers(scope);
    apiRoutes(api, config, ports);
    whyNotRoute(api, cursors, ports);
    live = liveRoute(api, access, cursors, ports);
    await resourceRoutes(api, ports);
    publicationRoute(api, ports);
    sessionRoutes(api, access, ports);
    signInRoute(api, ports);
    meRoutes(api, access, ports);
    identityRoutes(api, access, ports);
    onboardingRoutes(api, ports);
    peopleRoutes(api, access, ports);
    mailedLinkRoutes(api, access, ports);
    tokenRoutes(api, ports);
    invitationRoutes(api, access, ports);
  });
  providerPages(app, access, ports);
  mailRoute(app, ports.inbox);
  renderedMailRoute(app, ports);
  previewPage(app, ports);
  servePages(app, config, access, () => referencePage(description(), config.eventsUrl));
  await app.ready();
  return {
    ...server,
    description,
    access,
    close(deadline) {
      // Live streams never end by themselves, so closing must not wait for them.
      live?.end();
      return server.close(deadline);
    },
  };
}

const workspacesOf = (configuration: Configuration): readonly string[] =>
  listResources(configuration, 'workspace').map(({ ref }) => ref.workspace);

function apiRoutes(api: ApiServer, config: ControlConfig, ports: RoutePorts): void {
  configurationRoutes(api, ports, config);
  draftRoutes(api, ports);
  promoteRoutes(api, ports);
  workspaceRemovalRoutes(api, ports);
  apiKeyRoutes(api, ports);
  jwtProviderRoutes(api, ports);
  secretRoutes(api, ports);
  masterKeyRoutes(api, ports);
  eventRoutes(api, ports);
  deliveryRoutes(api, ports);
  contentRoutes(api, ports);
  droppedRoute(api, ports);
  insightsRoute(api, ports);
  sendingRoute(api, ports);
  waitingRoutes(api, ports);
  namesRoute(api, ports);
  overviewRoute(api, ports);
  deadLetterRoutes(api, ports);
  parkedReceiptRoutes(api, ports);
  suppressionRoutes(api, ports);
  consentRoutes(api, ports);
  erasureRoutes(api, ports);
  erasureListRoute(api, ports);
  ruleRoutes(api, ports);
  templateRoutes(api, ports);
  testSendRoute(api, ports);
  cadenceRoutes(api, ports);
  cadenceSimulationRoute(api, ports);
  ruleSampleRoute(api, config, ports);
  ruleWaitingRoute(api, ports);
  streamRoutes(api, ports);
  entityRoutes(api, ports);
  streamSendRoute(api, ports);
  expressionRoutes(api, ports);
  inboxRoutes(api, ports);
  integrationRoutes(api, config, ports);
  sourceTableRoutes(api, ports);
  sourceRoutes(api, ports);
  cohortRoutes(api, ports);
  auditRoutes(api, ports);
  operationRoutes(api, config, ports);
  jobRoutes(api, ports);
  runRoutes(api, ports);
  jobCountRoutes(api, ports);
}
