import type { whyNotRequest } from '@carillon/contracts';
import { readRuleTitle, type ResourceRef } from '@carillon/domain/configuration';
import { isRunOf, type FindRun } from '@carillon/domain/runs';
import type { Drafts } from '@carillon/insight';
import { CarillonError } from '@carillon/kernel';
import { editOf } from '@carillon/stages';
import type { z } from 'zod';
import { STARTS_RUNS } from '../../access/permission.ts';
import type { Principal } from '../../access/principal.ts';
import { proposedConfiguration } from '../../drafts/proposed.ts';
import { textHashOf } from '../../jobs/kinds/find-text.ts';
import { namesOf, rulesOf } from '../../names.ts';
import type { ControlPorts, PlanningPorts } from '../../ports.ts';
import { findRun } from '../../runs/find-run.ts';
import { refuseUnfinished } from '../../runs/show-run.ts';
import { demandOneOf } from '../../rule-tests/tried-events.ts';
import type { StoryPorts } from './deliveries.ts';

export type WhyNotPorts = StoryPorts &
  PlanningPorts &
  Pick<ControlPorts, 'clock' | 'configuration' | 'drafts' | 'jobs' | 'readModels' | 'runs'>;

/** Fields of a question that a search takes the place of. */
const SPAN_FIELDS = ['event', 'from', 'last', 'to'] as const;

/**
 * Returns the search whose events a question is about. Rejects with CarillonError `forbidden` for a caller who may start no search, and
 * with `invalid_request` if it searched for another text.
 */
export async function askedSearch(
  { search = '', who, ...question }: z.infer<typeof whyNotRequest>,
  workspace: string,
  principal: Principal,
  ports: WhyNotPorts,
): Promise<FindRun> {
  demandOneOf(STARTS_RUNS, principal, workspace);
  const { run, job } = await findRun({ workspace, id: search }, ports);
  if (!isRunOf(run, 'find'))
    throw new CarillonError('wrong_state', `${search} is not a search; send the id of a run of kind find`);
  refuseUnfinished(run, job, ports.clock.now());
  const other = SPAN_FIELDS.find((field) => question[field] !== undefined);
  if (other !== undefined) throw wrongField(other, `leave it out, because ${search} has a time range of its own`);
  if (run.textHash === textHashOf({ workspace, text: who }, ports)) return run;
  throw wrongField('search', `${search} searched for another text; start a search for this one`);
}

const wrongField = (field: string, fix: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${fix}`, { pointer: `/${field}` });

export type AskedDrafts = {
  readonly drafts: Drafts;
  /** Notifications and rules of the workspace with the drafts, as people name them. */
  readonly names: readonly string[];
  readonly leftOut: readonly ResourceRef[];
};

/**
 * Returns the configuration that publishing the drafts of the workspace would make. Rejects with CarillonError `invalid_configuration` if a
 * draft of the caller, or the draft of the notification, has mistakes. Rejects with `wrong_state` if the workspace has no drafts.
 */
export async function askedDrafts(
  workspace: string,
  notification: string,
  { actor }: Principal,
  ports: WhyNotPorts,
): Promise<AskedDrafts> {
  const name = readRuleTitle(notification)?.notification ?? notification;
  const proposed = await proposedConfiguration(
    {
      kind: 'drafts',
      workspace,
      isOwn: ({ by, ref }) =>
        (by.kind === actor.kind && by.id === actor.id) || (ref.kind === 'notification' && ref.name === name),
    },
    ports,
  );
  const { current, configuration, leftOut, changes } = proposed;
  if (changes.length === 0 && leftOut.length === 0) {
    throw new CarillonError('wrong_state', `workspace ${workspace} has no drafts: save a draft, or ask without drafts`);
  }
  const { notifications } = editOf({ before: current, after: configuration }, workspace);
  return {
    drafts: { configuration, edited: new Set(notifications) },
    names: [...namesOf(configuration, 'notification')(workspace), ...rulesOf(configuration)(workspace)],
    leftOut,
  };
}
