import { configurationFiles, ruleTestBody, type RuleTestBody } from '@carillon/contracts';
import {
  findRule,
  readRuleTitle,
  ruleIdOf,
  ruleTitle,
  type Configuration,
  type LookupIntegration,
  type PlacedRule,
} from '@carillon/domain/configuration';
import { givesSlotAway, type Intent } from '@carillon/domain/deliveries';
import { CHANGE_LIMITS, countJsonValues, readJson, type SourceEvent } from '@carillon/domain/events';
import {
  attribute,
  attributionOf,
  findRecipientsOf,
  findPartner,
  MAX_ANSWER_VALUES,
  triggerIdOf,
} from '@carillon/domain/lookups';
import {
  whoIsDropped,
  type CompiledRule,
  type Dropped,
  type LookupRule,
  type Recipient,
  type RuleOutcome,
} from '@carillon/domain/rules';
import { CarillonError, formatInstant, stringifyJson, type Instant, type Json, type TriggerId } from '@carillon/kernel';
import { hasFired, personName, rehearse, type RehearsedStep } from '@carillon/insight';
import { causeOfEvent, deliveryIdOf, runYielding, makeIntents, makeTriggers } from '@carillon/stages';
import { z } from 'zod';
import { sightOver } from '../../draft.ts';
import { proposedConfiguration } from '../../drafts/proposed.ts';
import { configurationWithDrafts } from '../../drafts/with-drafts.ts';
import type { PlanningPorts, RoutePorts } from '../../ports.ts';
import { previewIntent } from '../../preview.ts';
import { CHECKS, type Permission } from '../../access/permission.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { placeOf, rulesOf } from '../../names.ts';
import { answerWords, askPartner, readPartnerSecrets } from '../../partner-calls.ts';
import { notFound, withNameAcross, type ApiServer } from '../app.ts';
import { demandOneOf, eventToTry } from './event-to-try.ts';

const testRequest = z.strictObject({
  event: z
    .string()
    .max(CHANGE_LIMITS.bytes)
    .optional()
    .describe(
      'The event as JSON text, read as the intake would. On a stream that reads a database a change: `{"op": "update", "event": {…}, "previous": {…}}`',
    ),
  event_id: z.string().max(100).optional().describe('Instead of it: an event that is on the log'),
  files: configurationFiles
    .optional()
    .describe('Judges by what applying this folder would make; left out: by what is published'),
  drafts: z
    .boolean()
    .default(false)
    .describe('Judges by what is published with the drafts of the workspace; not with `files`'),
  answer: z
    .string()
    .max(1_048_576)
    .optional()
    .describe('Of a rule that asks a partner: its answer as JSON text, [{"to": …, "variables": …}]'),
  ask_partner: z
    .boolean()
    .default(false)
    .describe(
      'Of a rule that asks a partner: calls it in earnest, as the engine would, for whoever may check credentials, with `files` for whoever may publish them; not with `answer`',
    ),
});

/** `rule test`: evaluates without sending, with the newest configuration. Nothing is written anywhere. */
type RuleTestPorts = Pick<
  RoutePorts,
  'compileRule' | 'clock' | 'slice' | 'ids' | 'ledger' | 'templates' | 'links' | 'book' | 'partners' | 'secrets'
> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
};

/** A rule as people name it. Throws `not_found` with the nearest. */
export function ruleInSight(title: string, sight: VisibleScope, configuration: Configuration): PlacedRule {
  const names = rulesOf(configuration);
  const name = readRuleTitle(title);
  if (!name) {
    const [meant] = sight.names.flatMap(names).filter((rule) => rule.endsWith(`.${title}`));
    throw notFound(`rule ${title}`, `name it notification.rule${meant === undefined ? '' : `, such as ${meant}`}`);
  }
  const placed = findRule(configuration, placeOf('rule', title, sight, names), name);
  if (placed) return placed;
  throw notFound(`rule ${title}`);
}

/** A folder is larger than other bodies. */
const FOLDER_LIMIT = 16 * 1024 * 1024;

export function ruleRoutes(
  app: ApiServer,
  ports: RuleTestPorts & PlanningPorts & Pick<RoutePorts, 'log' | 'readModels' | 'drafts'>,
): void {
  app.post(
    '/v1/workspaces/:workspace/rules/:name/test',
    {
      config: {
        permission: 'read',
        audit: false,
        across: true,
        problems: ['not_found', 'invalid_configuration', 'conflict'],
      },
      bodyLimit: FOLDER_LIMIT,
      schema: {
        operationId: 'testRule',
        tags: ['Rules'],
        summary: 'Evaluates a rule without sending: values, recipients, rendered messages',
        params: withNameAcross,
        body: testRequest,
        response: { 200: ruleTestBody },
      },
    },
    async (request) => {
      const { params, body } = request;
      const sight = visibleScopeOf(request);
      const principal = principalOf(request);
      if (body.files && body.drafts) throw new CarillonError('invalid_request', 'give files, or drafts: not both');
      const draft =
        (body.files && (await configurationWithFolder(body.files, sight, ports))) ??
        (body.drafts ? await draftsFor(params, sight, ports) : undefined);
      const judgedBy = draft ?? ports.configuration.current();
      const placed = ruleInSight(params.name, draft ? sightOver(draft, sight) : sight, judgedBy);
      if (body.files) demandOneOf(DRAFTS, principal, placed.workspace);
      if (body.ask_partner && body.answer !== undefined) {
        throw new CarillonError('invalid_request', 'send ask_partner or answer, not both');
      }
      if (body.ask_partner) demandOneOf(body.files ? PUBLISHES : CHECKS, principal, placed.workspace);
      const event = await eventToTry(placed, body, request, { ...ports, configuration: judgedBy });
      const entry = ports.compileRule(placed);
      if (!entry.ok) throw new CarillonError('invalid_configuration', entry.error.map((one) => one.message).join('; '));
      const partner: PartnerSays = body.ask_partner ? { asked: true } : { asked: false, pasted: body.answer };
      return testRule(entry.value, event, partner, { ...ports, configuration: { current: () => judgedBy } });
    },
  );
}

/**
 * Returns the configuration as applying the files of the workspace in sight would make it. Mistakes name no resource of another
 * workspace. All files count for a caller who may read the whole deployment and names no workspace.
 */
async function configurationWithFolder(
  files: Readonly<Record<string, string>>,
  { sees, workspace }: VisibleScope,
  ports: PlanningPorts & Pick<RoutePorts, 'drafts'>,
): Promise<Configuration> {
  if (workspace === undefined && !sees(null)) {
    throw new CarillonError('invalid_request', 'files: name the workspace of the rule in the path');
  }
  const ofWorkspace = workspace !== undefined && { workspace };
  const edit = { kind: 'folder', files, prune: false, ...ofWorkspace } as const;
  return (await proposedConfiguration(edit, ports)).configuration;
}

/** What counts once the drafts of the workspace are published, for a rule that may only stand in one. */
export async function draftsFor(
  { workspace, name }: { readonly workspace: string; readonly name: string },
  sight: VisibleScope,
  ports: PlanningPorts & Pick<RoutePorts, 'drafts'>,
): Promise<Configuration> {
  const rule = readRuleTitle(name);
  if (sight.workspace === undefined || !rule) {
    throw new CarillonError('invalid_request', 'drafts: name the workspace, and the rule as notification.rule');
  }
  return configurationWithDrafts(workspace, { kind: 'notification', name: rule.notification }, ports);
}

/** A folder renders any template over any field: for whoever may publish one, or see all of it anyway. */
const DRAFTS = ['configure', 'bodies'] as const satisfies readonly Permission[];

/** A folder says where a partner is, and the workspace's own secret would go there: for whoever could publish that. */
const PUBLISHES = ['configure'] as const satisfies readonly Permission[];

/** Where the answer of a partner comes from: from itself, or from whoever tries the rule; undefined: from nowhere. */
type PartnerSays = { readonly asked: true } | { readonly asked: false; readonly pasted: string | undefined };

async function testRule(
  rule: CompiledRule,
  event: SourceEvent,
  partner: PartnerSays,
  ports: RuleTestPorts,
): Promise<RuleTestBody> {
  const { ids } = ports;
  const { placed } = rule;
  const triggerId = triggerIdOf(ids.derive, ruleIdOf(placed), event.id);
  const tried = await tryOut(rule, event, ports);
  const { outcome, deadline } = tried;
  const explained = tried.explained.map(({ source, depth, result }) => ({
    source,
    depth,
    value: result.ok ? stringifyJson(result.value) : `error: ${result.error}`,
  }));
  const shown = {
    rule: ruleTitle(placed),
    rule_version: placed.version,
    stream: placed.stream,
    explained,
    error: null,
    asks: null,
    answered: null,
    problems: [],
    recipients: [],
    dropped: [],
  };
  if (outcome.kind === 'failed') return { ...shown, fired: false, outcome: 'failed', error: outcome.error };
  if (outcome.kind === 'asks' && rule.from === 'lookup')
    return { ...shown, ...(await testLookup(rule, event, { ...outcome, deadline }, partner, ports)) };
  if (outcome.kind !== 'fired') {
    const because = outcome.kind === 'not_fired' ? outcome.because : undefined;
    return { ...shown, explained: because ? [] : explained, fired: false, outcome: because ?? outcome.kind };
  }
  const recipients = [];
  for (const recipient of outcome.recipients)
    recipients.push(await preview(placed, event, recipient, { triggerId, deadline }, ports));
  return {
    ...shown,
    fired: true,
    outcome: firedWords(placed, deadline),
    recipients,
    dropped: outcome.dropped.map((drop) => dropWords('recipient', drop)),
  };
}

/** How long a rule that waits is given after the event. No deadline is further ahead. */
const LONGEST_WAIT = 367 * 86_400_000;

/** Evaluates a rule for one event, also one that is switched off. Of a rule that waits, the outcome is that of its deadline. */
async function tryOut(
  rule: CompiledRule,
  event: SourceEvent,
  { ids, slice }: Pick<RuleTestPorts, 'ids' | 'slice'>,
): Promise<Pick<RehearsedStep, 'outcome' | 'deadline' | 'explained'>> {
  const entry = { ok: true, placed: rule.placed, rule } as const;
  // The rule looks at one entity, whatever its key is.
  const events = [{ ...event, key: event.key ?? '' }];
  const until = event.appendedAt + LONGEST_WAIT;
  const steps = await runYielding(rehearse({ entry, events, until }, ids.derive), slice);
  const [first] = steps;
  if (!first) throw new Error('a rehearsal of one event has a step');
  return { ...(steps.find(({ outcome }) => hasFired(outcome)) ?? first), explained: first.explained };
}

const firedWords = ({ enabled }: PlacedRule, deadline: Instant | null): string => {
  if (!enabled) return 'would fire, but it is switched off';
  return deadline === null ? 'fired' : `fired by its deadline ${formatInstant(deadline)}`;
};
const dropWords = (what: string, drop: Dropped): string =>
  `${whoIsDropped(what, drop)}: ${drop.reason} (${drop.detail})`;

/** As deep as the call itself would read. */
const ANSWER_LIMITS = { depth: 32, keys: MAX_ANSWER_VALUES };

/** Ids that a try asks a partner about at most: it is to show what comes of the rule, and is no way to read a partner's people. */
const MAX_ASKED = 100;

/** What a partner says of these ids, as it was pasted or as it answers now; null: nothing says. */
async function partnerItems(
  says: PartnerSays,
  userIds: readonly string[],
  { workspace, partner }: { readonly workspace: string; readonly partner: LookupIntegration | undefined },
  ports: Pick<RuleTestPorts, 'partners' | 'secrets' | 'ids'>,
): Promise<{ readonly items: readonly Json[] | null; readonly answered: string | null; readonly unread?: Unread }> {
  if (!says.asked) return { items: says.pasted === undefined ? null : readPasted(says.pasted), answered: null };
  if (!partner) throw new CarillonError('invalid_configuration', 'the integration of this rule does not exist');
  if (userIds.length > MAX_ASKED) {
    const most = `this event asks about ${userIds.length} user ids; a try asks about ${MAX_ASKED} at most`;
    throw new CarillonError('invalid_request', `ask_partner: ${most}; take an event with fewer`);
  }
  const { values, missing } = await readPartnerSecrets(workspace, partner, ports);
  if (missing.length > 0) throw new CarillonError('invalid_configuration', missing.join('; '));
  const answer = await askPartner(partner, userIds, values, ports);
  if (answer.kind !== 'answered') return { items: null, answered: answerWords(answer) };
  return { items: answer.items, answered: answerWords(answer), ...(answer.unread && { unread: answer.unread }) };
}
type Unread = ReadonlyMap<number, string>;

function readPasted(answer: string): readonly Json[] {
  const bytes = new TextEncoder().encode(answer);
  if (countJsonValues(bytes) > MAX_ANSWER_VALUES) {
    const most = `more than ${MAX_ANSWER_VALUES} fields and items of lists, which is what a call takes; paste fewer people`;
    throw new CarillonError('invalid_request', `answer: ${most}`);
  }
  const read = readJson(bytes, ANSWER_LIMITS);
  if (!read.ok) throw new CarillonError('invalid_request', `answer: ${read.error.detail}`, read.error);
  if (!Array.isArray(read.value)) {
    throw new CarillonError('invalid_request', 'answer: expected an array: [{"to": {…}, "variables": {…}}]');
  }
  return read.value as Json[];
}

type Asking = Extract<RuleOutcome, { kind: 'asks' }> & { readonly deadline: Instant | null };

/** Whom it would ask about, and with an answer who would be told. */
async function testLookup(
  rule: LookupRule,
  event: SourceEvent,
  { userIds, dropped, deadline }: Asking,
  says: PartnerSays,
  ports: RuleTestPorts,
): Promise<Partial<RuleTestBody> & Pick<RuleTestBody, 'fired' | 'outcome'>> {
  const { placed, integration } = rule;
  const { book } = ports;
  const configuration = ports.configuration.current();
  const shown = {
    fired: true,
    outcome: firedWords(placed, deadline),
    asks: { integration, user_ids: [...userIds] },
    dropped: dropped.map((drop) => dropWords('user id', drop)),
  };
  const making = { configuration, book, derive: ports.ids.derive, runId: null };
  const [trigger] = makeTriggers(rule, event, userIds, making, deadline);
  if (!trigger) return shown;
  const { workspace } = placed;
  const partner = findPartner(configuration, { workspace, integration });
  const { items: said, answered, unread } = await partnerItems(says, userIds, { workspace, partner }, ports);
  if (said === null) return { ...shown, answered };
  const how = partner ? attributionOf(partner) : ({ kind: 'none' } as const);
  const own = attribute(said, [trigger.userIds], how, unread);
  if (!own.ok || !own.value[0]) return { ...shown, answered };
  const { items, problems } = own.value[0];
  const found = await runYielding(findRecipientsOf(rule, { trigger, items }), ports.slice);
  const recipients = [];
  for (const who of found.recipients)
    recipients.push(await preview(placed, event, who, { triggerId: trigger.id, deadline }, ports));
  return {
    ...shown,
    answered,
    recipients,
    problems: problems.map(({ kind, index, userId, detail }) =>
      [kind, index === null ? '' : `item ${index}`, userId === null ? '' : `user id ${userId}`, detail]
        .filter((part) => part !== '')
        .join(', '),
    ),
    dropped: [...shown.dropped, ...found.dropped.map((drop) => dropWords('recipient', drop))],
  };
}

/** One recipient's messages, rendered by the code that renders what is sent. */
async function preview(
  placed: PlacedRule,
  event: SourceEvent,
  recipient: Recipient,
  { triggerId, deadline }: { readonly triggerId: TriggerId; readonly deadline: Instant | null },
  ports: RuleTestPorts,
): Promise<RuleTestBody['recipients'][number]> {
  const configuration = ports.configuration.current();
  const intents = makeIntents(placed, causeOfEvent(event, placed, deadline), recipient, triggerId, {
    configuration,
    book: ports.book,
    derive: ports.ids.derive,
  });
  const messages = [];
  const holders = [];
  for (const intent of intents) {
    holders.push(await holderOf(intent, ports));
    messages.push(await previewIntent(intent, placed.notification, ports));
  }
  // A message without an address would not be sent anyway.
  const addressed = holders.filter((_, at) => intents[at]?.to !== null);
  const addresses = Object.values(recipient.to).filter((address) => address !== null);
  return {
    to: { ...recipient.to },
    unique_id: recipient.uniqueId,
    person: recipient.person,
    variables: stringifyJson(recipient.variables),
    messages,
    name: personName(event.body, recipient.variables, addresses),
    already_told: holders.find((holder) => holder !== null) ?? null,
    notified_already: addressed.length > 0 && addressed.every((holder) => holder !== null),
  };
}

/** The delivery that holds the slot of an intent and does not give it away. Null: the intent would be sent. */
async function holderOf(
  intent: Intent,
  { ids, ledger }: Pick<RuleTestPorts, 'ids' | 'ledger'>,
): Promise<string | null> {
  const holder = await ledger.get(deliveryIdOf(intent, ids));
  if (!holder) return null;
  const digest = holder.digestedIn === undefined ? null : ((await ledger.get(holder.digestedIn)) ?? null);
  // The intent itself holds it: the same event is never sent again.
  return holder.intent.id !== intent.id && givesSlotAway(holder, digest) ? null : holder.id;
}
