import { ruleSampleBody, type RuleSampleBody } from '@carillon/contracts';
import { channelsOf } from '@carillon/domain/channels';
import { writeChange } from '@carillon/domain/changes';
import { ruleTitle, streamTable, type PlacedRule, type Security } from '@carillon/domain/configuration';
import { jsonTypeOf } from '@carillon/domain/events';
import type { CompiledRule } from '@carillon/domain/rules';
import { findTemplates } from '@carillon/domain/templates';
import { CarillonError, stringifyJson } from '@carillon/kernel';
import {
  codeSample,
  type CodeFacts,
  credentialOf,
  minimumFields,
  newestFiredEvent,
  sampleRuleCoroutine,
  type FiredEventPorts,
  type Minimum,
  type RuleSample,
  type TemplateNeeds,
} from '@carillon/insight';
import { runYielding, mergeFields } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { sightOver } from '../../draft.ts';
import type { ControlConfig, ControlPorts, PlanningPorts } from '../../ports.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { withNameAcross, type ApiServer } from '../app.ts';
import { draftsFor, ruleInSight } from './rules.ts';

/** `rule sample`: the smallest event of a rule, and code that sends it. Read only; nothing is sent. */
type SamplePorts = FiredEventPorts &
  Pick<ControlPorts, 'compileRule' | 'readModels' | 'templates' | 'clock' | 'slice' | 'log'> & {
    readonly configuration: Pick<ControlPorts['configuration'], 'current'>;
  };
type DraftSamplePorts = SamplePorts & PlanningPorts & Pick<ControlPorts, 'drafts'>;

const sampleQuery = z.strictObject({
  drafts: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: of the rule as it is once the drafts of the workspace are published'),
});

export function ruleSampleRoute(app: ApiServer, config: Pick<ControlConfig, 'eventsUrl'>, all: DraftSamplePorts): void {
  app.get(
    '/v1/workspaces/:workspace/rules/:name/sample',
    {
      config: { permission: 'read', audit: false, across: true, problems: ['not_found', 'invalid_configuration'] },
      schema: {
        operationId: 'sampleRule',
        tags: ['Rules'],
        summary: 'The smallest event of a rule, and code that sends it',
        params: withNameAcross,
        querystring: sampleQuery,
        response: { 200: ruleSampleBody },
      },
    },
    async (request) => {
      const { params } = request;
      const sight = visibleScopeOf(request);
      const draft = request.query.drafts === 'true' ? await draftsFor(params, sight, all) : undefined;
      const judgedBy = draft ?? all.configuration.current();
      const ports = { ...all, configuration: { current: () => judgedBy } };
      const placed = ruleInSight(params.name, draft ? sightOver(draft, sight) : sight, judgedBy);
      const maySeeBodies = principalOf(request).may('bodies', placed.workspace);
      if (placed.body.cohort) {
        const { integration } = placed.body.cohort;
        const { workspace } = placed;
        const hint = `no events are sent to it yet; for the settings to enter there, run npx carillon integration check ${integration} --workspace ${workspace}`;
        throw new CarillonError('invalid_request', `a cohort of ${integration} starts ${params.name}; ${hint}`);
      }
      const compiled = ports.compileRule(placed);
      if (!compiled.ok) {
        throw new CarillonError('invalid_configuration', compiled.error.map((one) => one.message).join('; '));
      }
      const rule = { ...compiled.value, placed };
      const fields = mergeFields(await ports.readModels.fields(placed.stream));
      const seen = new Map(fields.map(({ path, types }) => [path, types]));
      const minimum = minimumFields(rule, streamOf(placed, ports), templatesOf(placed, ports), seen);
      return showSample(rule, minimum, await takeSample(rule, minimum, maySeeBodies, ports), config, ports);
    },
  );
}

const streamOf = ({ stream }: PlacedRule, ports: SamplePorts) =>
  streamTable(ports.configuration.current()).streams.get(stream);

function templatesOf({ notification, workspace }: PlacedRule, ports: SamplePorts): readonly TemplateNeeds[] {
  return channelsOf(notification.body).flatMap(([channel, said]) => {
    const { variants = [] } = findTemplates(ports.configuration.current(), workspace, said.template, channel) ?? {};
    return variants.map(({ template }) => ({
      fields: ports.templates.fields(template),
      all: ports.templates.names(template).all,
    }));
  });
}

/**
 * Past events are only read if the condition alone does not determine what fires, and only for callers who may see
 * their content.
 */
async function takeSample(
  rule: CompiledRule,
  minimum: Minimum,
  maySeeBodies: boolean,
  ports: SamplePorts,
): Promise<RuleSample> {
  const now = ports.clock.now();
  const sample = await runYielding(sampleRuleCoroutine(rule, minimum, null, now), ports.slice);
  if (sample.fires || !maySeeBodies) return sample;
  const fired = await newestFiredEvent(rule, ports);
  return runYielding(sampleRuleCoroutine(rule, minimum, fired, now), ports.slice);
}

function showSample(
  rule: CompiledRule,
  minimum: Minimum,
  sample: RuleSample,
  { eventsUrl }: Pick<ControlConfig, 'eventsUrl'>,
  ports: SamplePorts,
): RuleSampleBody {
  const { placed } = rule;
  const url = `${eventsUrl}/${placed.stream}`;
  const security = streamOf(placed, ports)?.security ?? {};
  const credential = credentialOf(security);
  const notes = [...notesOf(placed, sample), ...claimNotes(security)];
  const facts = { url, event: sample.event, credential, notes };
  const written = sample.change && new TextDecoder().decode(writeChange(sample.change));
  const code = written === null ? codesOf(facts) : codesOfChange(ruleTitle(placed), written);
  return {
    rule: ruleTitle(placed),
    rule_version: placed.version,
    stream: placed.stream,
    url: written === null ? url : '',
    credential,
    event: stringifyJson(sample.event),
    change: written,
    earlier: sample.earlier.map(({ event, times }) => ({ event: stringifyJson(event), times })),
    sentence: sample.sentence,
    fires: sample.fires,
    recipients: sample.recipients,
    asks: rule.from === 'lookup' ? rule.integration : null,
    answered: [...minimum.answered],
    fields: sample.fields.map(({ path, type, usedBy, value, origin }) => ({
      path,
      type: type ?? (origin === 'condition' || origin === 'fired_event' ? jsonTypeOf(value) : null),
      used_by: [...usedBy],
      value: stringifyJson(value),
      origin,
    })),
    whole_event: [...minimum.whole],
    code,
  };
}

const codesOf = (facts: CodeFacts): RuleSampleBody['code'] => ({
  curl: codeSample('curl', facts),
  javascript: codeSample('javascript', facts),
  python: codeSample('python', facts),
  go: codeSample('go', facts),
});

/** Nobody sends a change. The code tries it out. */
function codesOfChange(rule: string, change: string): RuleSampleBody['code'] {
  const quoted = `'${change.replaceAll("'", String.raw`'\''`)}'`;
  const code = `# Carillon reads these changes from the database. This tries the rule without one.\nprintf '%s' ${quoted} | npx carillon rule test ${rule} --event -\n`;
  return { curl: code, javascript: code, python: code, go: code };
}

const timesWord = (times: number): string => (times === 1 ? 'once' : `${times} times`);

/** Returns notes for a person who pastes the code. */
function notesOf(placed: PlacedRule, { fires, fields, sentence, earlier }: RuleSample): readonly string[] {
  const title = ruleTitle(placed);
  const first = fires
    ? `Sends an event for which the rule ${title} fires${sentence === null ? '' : `, ${sentence}`}.`
    : `Sends an event to the rule ${title}. No values are known that make it fire: put in your own.`;
  const invented = fields.some(({ origin }) => origin === 'placeholder');
  const before = earlier.map(
    ({ event, times }) => `Send this event of the same entity first, ${timesWord(times)}: ${stringifyJson(event)}`,
  );
  return [
    first,
    ...before,
    ...(invented ? ['Replace example values, and placeholders in <angle brackets>, with your own.'] : []),
  ];
}

const claimNotes = ({ claims = {} }: Security): readonly string[] =>
  Object.entries(claims).map(([claim, path]) => `${path} must equal the claim ${claim} of the token.`);
