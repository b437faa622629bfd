import type { ServerResponse } from 'node:http';
import type { ResourceFault } from '@carillon/configuration';
import { simulatedCadenceBody, type SimulatedCadenceBody } from '@carillon/contracts';
import { simulateCadence, type PastMessage } from '@carillon/domain/cadence';
import type { Configuration } from '@carillon/domain/configuration';
import { CarillonError, formatInstant, parseDuration, type Duration } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';
import { runYielding } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { proposedConfiguration } from '../../drafts/proposed.ts';
import { configurationWithDrafts } from '../../drafts/with-drafts.ts';
import { insteadOf, namesOf } from '../../names.ts';
import type { PlanningPorts, RoutePorts } from '../../ports.ts';
import { EXAMPLE_WORDS, exampleWeek } from '../../simulation/example-week.ts';
import { idOfNotification, MAX_SIMULATED } from '../../simulation/history.ts';
import { keepHistories } from '../../simulation/kept-histories.ts';
import { summaryOf } from '../../simulation/summary.ts';
import { inWorkspace, notFound, type ApiServer } from '../app.ts';

const DAY: Duration = 86_400_000;
/** A week in words, and the longest time that is looked back. */
const [WEEK, LONGEST] = ['7d', 31 * DAY] as const;

const simulationRequest = z.strictObject({
  notification: z.string().max(200).optional().describe('Defaults to all drafts of the workspace'),
  last: z.string().max(20).default(WEEK).describe('How far back, such as `7d`; at most `31d`'),
  put: z
    .array(
      z.strictObject({
        kind: z.enum(['notification', 'workspace']),
        name: z.string().max(200).default('').describe('Of a notification'),
        body: z.unknown().describe('As its file has it'),
      }),
    )
    .max(20)
    .default([])
    .describe('Bodies that would take the place of those that are published'),
  drafts: z.boolean().default(false).describe('Further drafts of the workspace to include, such as a template'),
});

type SimulationPorts = PlanningPorts & Pick<RoutePorts, 'drafts' | 'ledger' | 'clock' | 'slice'>;

/** The messages of the last days as another cadence would send them. Nothing is written, and nothing goes out. */
export function cadenceSimulationRoute(app: ApiServer, ports: SimulationPorts): void {
  const pastOf = keepHistories(ports);
  app.post(
    '/v1/workspaces/:workspace/cadence/simulate',
    {
      config: { permission: 'read', audit: false, problems: ['not_found'] },
      bodyLimit: 1024 * 1024,
      schema: {
        operationId: 'simulateCadence',
        tags: ['Notifications'],
        summary: 'The last days again under another cadence: what would go at once, wait, be digested or dropped',
        params: inWorkspace,
        body: simulationRequest,
        response: { 200: simulatedCadenceBody },
      },
    },
    async (request, reply): Promise<SimulatedCadenceBody> => {
      const { workspace } = request.params;
      const { notification, last, put, drafts } = request.body;
      const span = spanOf(last);
      const current = await ports.configuration.refresh();
      const given = put.map(({ kind, name, body }) => ({
        ref: { kind, workspace, name: kind === 'workspace' ? '' : name },
        body,
      }));
      const base = drafts ? await configurationWithDrafts(workspace, null, ports) : current;
      const proposal = await proposedConfiguration({ kind: 'bodies', put: given, over: base }, ports);
      const { faults, configuration: whole } = proposal;
      const proposed = faults.length > 0 || whole === current ? null : whole;
      const known = proposed ?? current;
      const asked = notification && idOfNotification(known, workspace, notification);
      if (notification !== undefined && asked === undefined) {
        const names = namesOf(known, 'notification')(workspace);
        throw notFound(`notification ${notification} in workspace ${workspace}`, insteadOf(notification, names));
      }
      // Limits of the workspace count all of its messages.
      const configurations = proposed ? ([current, proposed] as const) : ([current] as const);
      const mayBeOld = put.length > 0;
      const past = await pastOf({ workspace, notification, span, configurations, mayBeOld });
      const { from, to } = past;
      const isOwn = past.messages.some((message) => isOf(asked, message)) || notification === undefined;
      const messages = isOwn ? past.messages : exampleWeek(known, workspace, notification, from);
      const maySeePeople = principalOf(request).may('bodies', workspace) || !isOwn;
      const run = async (configuration: Configuration, slice: EventLoopSlice) =>
        summaryOf(
          messages,
          await runYielding(simulateCadence(messages, configuration, workspace), slice),
          (message) => isOf(asked, message),
          { from, to },
          maySeePeople,
        );
      // The same at each change. An example of a notification that is a draft changes with it.
      const now = isOwn
        ? past.once(JSON.stringify([current.number, asked ?? null, maySeePeople]), () => run(current, ports.slice))
        : run(current, ports.slice);
      return {
        from: formatInstant(from),
        to: formatInstant(to),
        history: isOwn ? 'own' : 'example',
        words: isOwn ? wordsOf(past.isSample) : EXAMPLE_WORDS,
        is_sample: isOwn && past.isSample,
        faults: faults.map(faultBody),
        now: await now,
        proposed: proposed && (await run(proposed, whileAskedFor(reply, ports.slice))),
      };
    },
  );
}

/** A slice that expires when the caller is gone: the next change in an editor aborts the previous request. */
const whileAskedFor = ({ raw }: { readonly raw: ServerResponse }, slice: EventLoopSlice): EventLoopSlice => ({
  isExpired: () => slice.isExpired(),
  async yield() {
    await slice.yield();
    if (raw.destroyed) throw new CarillonError('request_timeout', 'the client has closed the connection');
  },
});

const isOf = (asked: string | undefined, { notificationId }: PastMessage): boolean =>
  asked === undefined || notificationId === asked;

const wordsOf = (isSample: boolean): string =>
  isSample ? `the newest ${MAX_SIMULATED} messages of this time` : 'all messages of this time';

function spanOf(text: string): Duration {
  const span = parseDuration(text);
  if (span.ok && span.value > 0 && span.value <= LONGEST) return span.value;
  const found = `last: expected a duration up to 31d, such as 7d; found ${text}`;
  throw new CarillonError('invalid_request', found, { pointer: '/last' });
}

const faultBody = ({ ref, path, code, facts, message, fix }: ResourceFault) => ({
  resource: [ref.kind, ref.name].filter((part) => part !== '').join(' '),
  kind: ref.kind,
  name: ref.name,
  path,
  code,
  facts,
  message,
  fix,
});
