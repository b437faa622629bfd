import { notificationIdOf, ruleIdFrom, type Resource } from '@carillon/domain/configuration';
import { triggerIdOf } from '@carillon/domain/lookups';
import type { EventId, JobId } from '@carillon/kernel';
import { readAsking } from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';

/** A question to a partner: all triggers of a rule for an event. */
export type Question = {
  readonly ruleId: string;
  readonly eventId: EventId;
  /** The sending job that asked. Null: the live rule did. */
  readonly askedBy: JobId | null;
};

/** One trigger of a question to a partner, with the state of its answer. */
export type AskedPart = {
  readonly part: number;
  /** `open`: the partner may still answer. `given_up`: the engine asks again only if a person redrives the dead letter. */
  readonly state: 'open' | 'answered' | 'given_up';
  /** Position of the recorded answer. Null unless it is `answered`. */
  readonly position: string | null;
};

export type QuestionPorts = Pick<ControlPorts, 'claims' | 'ids' | 'tasks'>;

/** Returns the triggers of a question that the ask stage has read. Empty if nobody asked. */
export async function askedPartsOf(
  { ruleId, eventId, askedBy }: Question,
  { claims, ids, tasks }: QuestionPorts,
): Promise<readonly AskedPart[]> {
  const parts: AskedPart[] = [];
  for (let part = 0; ; part += 1) {
    const id = triggerIdOf(ids.derive, ruleId, eventId, { part, runId: askedBy });
    const claim = await claims.get(id);
    const task = claim ? null : await tasks.get(id);
    if (claim) parts.push({ part, state: 'answered', position: claim.position });
    else if (task) {
      const isGivenUp = task.done && readAsking(task).ended?.kind === 'parked';
      parts.push({ part, state: isGivenUp ? 'given_up' : 'open', position: null });
    } else return parts;
  }
}

/**
 * Returns the ids of all rules that asked a partner in any published version of a notification, by the notification's id. A renamed
 * notification keeps its id, and its rules may have had other ids under the former name.
 */
export function askingRulesOf(
  workspace: string,
  { history }: Pick<ControlPorts['configuration'], 'history'>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const published = history.publications().flatMap(({ refs }) => refs);
  const names = new Set(
    published.filter((ref) => ref.kind === 'notification' && ref.workspace === workspace).map(({ name }) => name),
  );
  const rules = new Map<string, Set<string>>();
  for (const name of names) {
    for (const { resource } of history.statesOf({ kind: 'notification', workspace, name })) {
      if (resource?.ref.kind !== 'notification') continue;
      const notification = resource as Resource<'notification'>;
      const id = notificationIdOf(notification);
      const asking = rules.get(id) ?? new Set();
      rules.set(id, asking);
      for (const [rule, body] of Object.entries(notification.body.rules)) {
        if (body.recipients.from === 'lookup') asking.add(ruleIdFrom(workspace, name, rule, body));
      }
    }
  }
  return rules;
}
