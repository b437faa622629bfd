import { chosenItems } from '@carillon/contracts';
import {
  operatorCancel,
  operatorDismiss,
  operatorResend,
  wasDecided,
  type Delivery,
  type Moment,
  type OperatorDecision,
} from '@carillon/domain/deliveries';
import { CarillonError, type DeliveryId, type Result } from '@carillon/kernel';
import { decideOnDelivery } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { expiresOf } from '../../deliveries.ts';
import {
  deliveryFilters,
  readFilter,
  refuseUnknown,
  type DeliveryFilters,
} from '../../routes/deliveries/deliveries.ts';
import { chooseDeliveries, readChoice, requireExpected, type ChosenDeliveries } from '../choose.ts';
import { eachItem, jobKind, type JobKindPorts, type JobRun, type JobStart, type JobWorker } from '../kind.ts';

const body = z.strictObject(chosenItems(z.strictObject(deliveryFilters)));
const NO_PARAMETERS = z.object({});
const DONE = { resend: 'sent again', cancel: 'cancelled', dismiss: 'dismissed' } as const;
const COMMON = { permission: 'operate' } as const;
const START = { tags: ['Deliveries'], problems: ['wrong_state', 'conflict'] } as const;

/** Returns the deliveries that match a filter and that a decision fits. Throws if the filter names something unknown. */
export async function matchDeliveries(
  request: FastifyRequest,
  filters: DeliveryFilters,
  decision: OperatorDecision,
  ports: JobKindPorts,
): Promise<ChosenDeliveries> {
  const found = await chooseDeliveries(readFilter(request, filters, ports.clock.now()), decision, ports);
  if (found.ids.length === 0) await refuseUnknown(visibleScopeOf(request), filters, ports);
  return found;
}

async function chosenIds(
  { request, body: chosen }: JobStart<z.infer<typeof body>>,
  decision: OperatorDecision,
  ports: JobKindPorts,
): Promise<readonly string[]> {
  const choice = readChoice(chosen, 'ids');
  if ('named' in choice) return choice.named;
  const found = await matchDeliveries(request, choice.filter, decision, ports);
  requireExpected(found, choice.expected, DONE[decision]);
  return found.ids;
}

/** Returns a worker that makes a decision about each delivery. A delivery that this job decided on before is done. */
function decideEach(
  { job: { workspace }, by }: JobRun<unknown>,
  decision: OperatorDecision,
  ports: JobKindPorts,
  decide: (delivery: Delivery, moment: Moment) => Result<Delivery, string>,
): JobWorker {
  const find = async (id: string): Promise<Delivery> => {
    const delivery = await ports.ledger.get(id as DeliveryId);
    if (delivery && delivery.slot.workspace === workspace) return delivery;
    throw new CarillonError('not_found', `there is no delivery ${id} in workspace ${workspace ?? ''}`);
  };
  const decided = { ok: true, value: null } as const;
  return eachItem(ports, async (id) => {
    await decideOnDelivery(
      () => find(id),
      (delivery) =>
        wasDecided(delivery, decision, by)
          ? decided
          : decide(delivery, { now: ports.clock.now(), derive: ports.ids.derive }),
      { ...ports, untold: (error) => ports.watch.trouble('publish', error) },
    );
  });
}

export const resendDeliveries = jobKind({
  ...COMMON,
  action: 'resend_deliveries',
  audit: 'delivery.resend',
  parameters: NO_PARAMETERS,
  start: {
    ...START,
    path: '/v1/workspaces/:workspace/deliveries/resend',
    operationId: 'resendDeliveries',
    summary: 'Sends many deliveries once more, as a job: those named, or all that match',
    body,
  },
  choose: async (start, ports) => ({
    workspace: start.workspace,
    items: await chosenIds(start, 'resend', ports),
    parameters: {},
  }),
  do: (run, ports) =>
    decideEach(run, 'resend', ports, (delivery, moment) =>
      operatorResend(delivery, expiresOf(ports.configuration.current(), delivery), run.by, moment),
    ),
});

export const cancelDeliveries = jobKind({
  ...COMMON,
  action: 'cancel_deliveries',
  audit: 'delivery.cancel',
  parameters: NO_PARAMETERS,
  start: {
    ...START,
    path: '/v1/workspaces/:workspace/deliveries/cancel',
    operationId: 'cancelDeliveries',
    summary: 'Ends many deliveries that have not been sent, as a job: those named, or all that match',
    body,
  },
  choose: async (start, ports) => ({
    workspace: start.workspace,
    items: await chosenIds(start, 'cancel', ports),
    parameters: {},
  }),
  do: (run, ports) => decideEach(run, 'cancel', ports, (delivery, moment) => operatorCancel(delivery, run.by, moment)),
});

const evidence = z.object({ as: z.enum(['failed', 'sent']), reason: z.string() });

export const dismissDeliveries = jobKind({
  ...COMMON,
  action: 'dismiss_deliveries',
  audit: 'delivery.dismiss',
  parameters: evidence,
  start: {
    ...START,
    path: '/v1/workspaces/:workspace/deliveries/dismiss',
    operationId: 'dismissDeliveries',
    summary: 'Settles deliveries in doubt as a job: the named ones or all that match',
    body: body.extend({ ...evidence.shape, reason: z.string().min(1).max(500) }),
  },
  async choose({ body: { as, reason, ...chosen }, ...start }, ports) {
    const items = await chosenIds({ ...start, body: chosen }, 'dismiss', ports);
    return { workspace: start.workspace, items, parameters: { as, reason } };
  },
  do: (run, ports) =>
    decideEach(run, 'dismiss', ports, (delivery, moment) =>
      operatorDismiss(delivery, run.parameters.as, run.parameters.reason, run.by, moment),
    ),
});
