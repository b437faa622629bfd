import { planChangesCoroutine, readConfigurationFolder, type FileFault } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration, type Configuration } from '@carillon/domain/configuration';
import { runYielding } from '@carillon/stages';
import { compileTemplates } from '../mjml.ts';
import type { PlanningPorts } from '../ports.ts';

export type FolderPorts = Pick<PlanningPorts, 'expressions' | 'templates' | 'mjml' | 'ids' | 'slice'>;

/** Returns the configuration that a folder would be in an empty deployment, or all mistakes of its files. */
export async function configurationOfFolder(
  files: ReadonlyMap<string, string>,
  ports: FolderPorts,
): Promise<{ readonly configuration: Configuration; readonly faults: readonly FileFault[] }> {
  const { expressions: language, templates, ids } = ports;
  const current = EMPTY_CONFIGURATION;
  const reading = readConfigurationFolder(files, { language, templates, current });
  if (reading.faults.length > 0) return { configuration: current, faults: reading.faults };
  const compiled = await compileTemplates(reading.resources, current, false, ports);
  if (compiled.faults.length > 0) return { configuration: current, faults: compiled.faults.map(reading.faultAt) };
  const newId = (kind: 'notification' | 'rule', ...names: readonly string[]): string => ids.derive(kind, ...names);
  const planning = planChangesCoroutine(current, compiled.resources, { prune: false, newId, language, templates });
  const { faults, record } = await runYielding(planning, ports.slice);
  if (faults.length > 0) return { configuration: current, faults: faults.map(reading.faultAt) };
  return { configuration: foldConfiguration(current, { changes: record }, 1).configuration, faults: [] };
}
