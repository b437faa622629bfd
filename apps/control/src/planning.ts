import {
  planChangesCoroutine,
  type Fault,
  type PlannedChange,
  type PlanOptions,
  type WantedResource,
  type Warning,
} from '@carillon/configuration';
import type { PlanBody } from '@carillon/contracts';
import {
  findResource,
  notificationIdOf,
  type Configuration,
  type ResourceChange,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { DeliveryState } from '@carillon/domain/deliveries';
import { runYielding } from '@carillon/stages';
import { retentionNotes } from './retention-notes.ts';
import { compileTemplates } from './mjml.ts';
import type { PlanningPorts } from './ports.ts';
import { waitNotes } from './wait-notes.ts';

/** Result of a plan, whether from a folder, a request or drafts. */
export type PlannedResources = {
  readonly faults: readonly Fault[];
  readonly warnings: readonly Warning[];
  /** Changes, including kept resources that were not named. */
  readonly changes: readonly PlannedChange[];
  /** The same for people. */
  readonly shown: PlanBody['changes'];
  readonly unchanged: number;
  /** The changes of the record to publish; empty where nothing changes or something is wrong. */
  readonly record: readonly ResourceChange[];
};

/** Compiles MJML and plans. The resources have been read and checked; what is wrong with them as a whole comes out as faults. */
export async function planWanted(
  wanted: readonly WantedResource[],
  current: Configuration,
  options: Pick<PlanOptions, 'prune' | 'remove' | 'workspace'>,
  ports: PlanningPorts,
): Promise<PlannedResources> {
  const compiled = await compileTemplates(wanted, withoutRemoved(current, options.remove), options.prune, ports);
  if (compiled.faults.length > 0) {
    return { faults: compiled.faults, warnings: [], changes: [], shown: [], unchanged: 0, record: [] };
  }
  const planning = planChangesCoroutine(current, compiled.resources, {
    ...options,
    newId: ports.newId ?? ((kind) => ports.ids.random(kind)),
    language: ports.expressions,
    templates: ports.templates,
  });
  const { changes, faults, warnings, record } = await runYielding(planning, ports.slice);
  const shown: PlanBody['changes'] = [];
  for (const change of changes) {
    if (change.action === 'unchanged') continue;
    const added = [...(await retentionNotes(change, current, ports)), ...(await waitNotes(change, current, ports))];
    const notes = [...change.notes, ...added];
    shown.push(showChange({ ...change, notes }, change.action, await peopleUnder(change, current, ports)));
  }
  const unchanged = changes.filter(({ action }) => action === 'unchanged').length;
  return { faults, warnings, changes, shown, unchanged, record };
}

function withoutRemoved(current: Configuration, remove: ReadonlySet<string> | undefined): Configuration {
  if (remove === undefined || remove.size === 0) return current;
  return { ...current, resources: new Map([...current.resources].filter(([key]) => !remove.has(key))) };
}

const TOLD = ['SENT', 'DELIVERED', 'COMPLAINED'] as const satisfies readonly DeliveryState[];
const UNSENT = ['WAITING', 'COLLECTED'] as const satisfies readonly DeliveryState[];

/**
 * People affected by a removal: those notified so far, whom a new notification of the name would notify again, and
 * those waiting.
 */
type PeopleUnder = { readonly told: number; readonly waiting: number };

/** Null for kinds that notify nobody. */
async function peopleUnder(
  { action, ref, notes }: PlannedChange,
  current: Configuration,
  { ledger }: PlanningPorts,
): Promise<PeopleUnder | null> {
  const { workspace } = ref;
  // A rename takes who was told along.
  if (action !== 'delete' || notes.length > 0) return null;
  const gone = ref.kind === 'notification' && findResource(current, 'notification', workspace, ref.name);
  if (ref.kind !== 'workspace' && !gone) return null;
  const of = { workspace, ...(gone && { notificationId: notificationIdOf(gone) }) };
  const [told, waiting] = await Promise.all([ledger.countAddresses(of, TOLD), ledger.countAddresses(of, UNSENT)]);
  return { told, waiting };
}

const showChange = (
  change: PlannedChange,
  action: PlanBody['changes'][number]['action'],
  people: PeopleUnder | null,
): PlanBody['changes'][number] => ({
  action,
  resource: resourceTitle(change.ref),
  note: change.notes.length === 0 ? null : change.notes.join('; '),
  formers: [...change.formers],
  told: people?.told ?? null,
  waiting: people?.waiting ?? null,
  fields: change.differences.map(({ path, before, after }) => ({
    path,
    before: valueText(before),
    after: valueText(after),
  })),
});

const valueText = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);

const resourceTitle = ({ kind, workspace, name }: ResourceRef): string =>
  [kind, [workspace, name].filter((part) => part !== '').join('/')].filter((part) => part !== '').join(' ');
