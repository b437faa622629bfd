import type { Suppression } from '@carillon/ports';
import type { ControlPorts } from './ports.ts';

const boundTo = (workspace: string): readonly string[] => ['suppressions', workspace];

/**
 * What was taken back, sealed for whoever undoes it. They send it again and cannot write it themselves, so no entry that comes back
 * says what a provider or another person never said.
 */
export const sealTaken = (
  { undoSealer }: Pick<ControlPorts, 'undoSealer'>,
  workspace: string,
  entries: readonly Suppression[],
): string => undoSealer.seal(boundTo(workspace), JSON.stringify(entries));

/** Null for what this deployment did not seal, or of another workspace. */
export function openTaken(
  { undoSealer }: Pick<ControlPorts, 'undoSealer'>,
  workspace: string,
  sealed: string,
): readonly Suppression[] | null {
  const text = undoSealer.open(boundTo(workspace), sealed);
  return text === null ? null : (JSON.parse(text) as readonly Suppression[]);
}
