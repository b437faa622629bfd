import { planChanges, readConfigurationFolder, type FileWarning, type PlannedChange } from '@carillon/configuration';
import { type AppliedBody, type FaultBody, type PlanBody } from '@carillon/contracts';
import type { ResourceChange, ResourceRef } from '@carillon/domain';
import { publishConfiguration, repeatMarkers } from '@carillon/stages';
import type { PlanningPorts, PublishingPorts } from './ports.ts';
import { hiddenSecretWarnings } from './secret-places.ts';

export type FolderRequest = { readonly files: Readonly<Record<string, string>>; readonly prune: boolean };

type Planned = { readonly body: PlanBody; readonly changes: readonly ResourceChange[] };

/** What a folder would change: all its mistakes at once, or the changes with what they are based on. */
export async function planFolder({ files, prune }: FolderRequest, ports: PlanningPorts): Promise<Planned> {
  const current = await ports.configuration.refresh();
  const reading = readConfigurationFolder(new Map(Object.entries(files)), {
    language: ports.expressions,
    templates: ports.templates,
    current,
  });
  const hidden = await hiddenSecretWarnings(reading.resources, ports.secrets);
  const told = [...reading.warnings, ...hidden.map(reading.warningAt)];
  const shown = { number: current.number, warnings: told.map(warningBody), changes: [], unchanged: 0 };
  if (reading.faults.length > 0) return { body: { ...shown, faults: [...reading.faults] }, changes: [] };
  const plan = planChanges(current, reading.resources, {
    prune,
    newId: (kind) => ports.ids.random(kind),
    language: ports.expressions,
  });
  const body: PlanBody = {
    ...shown,
    warnings: [...told, ...plan.warnings.map(reading.warningAt)].map(warningBody),
    faults: plan.faults.map(reading.faultAt),
    changes: plan.changes.flatMap((change) =>
      change.action === 'unchanged' ? [] : [showChange(change, change.action)],
    ),
    unchanged: plan.changes.filter((change) => change.action === 'unchanged').length,
  };
  return { body, changes: plan.record };
}

const warningBody = (warning: FileWarning): FaultBody => ({ ...warning, expected: '' });

const showChange = (
  change: PlannedChange,
  action: PlanBody['changes'][number]['action'],
): PlanBody['changes'][number] => ({
  action,
  resource: resourceTitle(change.ref),
  note: change.notes.length === 0 ? null : change.notes.join('; '),
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

/**
 * Applies a folder: nothing where there is any mistake. Resolves when every role judges by the new configuration. One
 * that changes nothing repeats the markers, so that a publisher that died in between is made good.
 */
export async function applyFolder(
  request: FolderRequest,
  author: string,
  ports: PlanningPorts & PublishingPorts,
): Promise<AppliedBody> {
  const { body, changes } = await planFolder(request, ports);
  if (body.faults.length > 0) return { ...body, applied: false, new_number: null };
  if (changes.length === 0) {
    if (body.number >= 0) await repeatMarkers(ports.log, body.number);
    return { ...body, applied: false, new_number: null };
  }
  const number = await publishConfiguration(publishPorts(ports), changes, author);
  return { ...body, applied: true, new_number: number };
}

export const publishPorts = (ports: PublishingPorts) => ({
  log: ports.log,
  codec: ports.codecs.configuration,
  view: ports.configuration,
  ids: ports.ids,
  clock: ports.clock,
  readEverywhere: ports.readEverywhere,
});
