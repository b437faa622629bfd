import type { Suppression } from '@carillon/ports';
import type { ControlPorts } from './ports.ts';

type SealerPort = Pick<ControlPorts, 'undoSealer'>;

/**
 * Returns removed entries as sealed text for the caller to send back. The caller cannot write such a text, so nobody can add an entry
 * that a provider or another person never made.
 */
export const sealRemovedSuppressions = (
  { undoSealer }: SealerPort,
  workspace: string,
  entries: readonly Suppression[],
): string => undoSealer.seal(['suppressions', workspace], JSON.stringify(entries));

/** Returns the sealed entries, or null if this deployment did not seal the text for this workspace. */
export function openRemovedSuppressions(
  { undoSealer }: SealerPort,
  workspace: string,
  sealed: string,
): readonly Suppression[] | null {
  const text = undoSealer.open(['suppressions', workspace], sealed);
  return text === null ? null : (JSON.parse(text) as readonly Suppression[]);
}
