import type { ConsentWord } from '@carillon/domain';
import type { Suppression } from '@carillon/ports';
import type { ControlPorts } from './ports.ts';

type SealerPort = Pick<ControlPorts, 'undoSealer'>;

/**
 * What was taken back, sealed for whoever undoes it. They send it again and cannot write it themselves, so no entry that comes back
 * says what a provider or another person never said.
 */
const seal = ({ undoSealer }: SealerPort, list: string, workspace: string, entries: readonly unknown[]): string =>
  undoSealer.seal([list, workspace], JSON.stringify(entries));

/** Null for what this deployment did not seal, or of another workspace or list. */
function open({ undoSealer }: SealerPort, list: string, workspace: string, sealed: string): unknown {
  const text = undoSealer.open([list, workspace], sealed);
  return text === null ? null : JSON.parse(text);
}

export const sealTaken = (ports: SealerPort, workspace: string, entries: readonly Suppression[]): string =>
  seal(ports, 'suppressions', workspace, entries);
export const openTaken = (ports: SealerPort, workspace: string, sealed: string): readonly Suppression[] | null =>
  open(ports, 'suppressions', workspace, sealed) as readonly Suppression[] | null;

/** A word that allowed something again: to undo it says it back, where it still stands. */
export type SaidBack = Pick<ConsentWord, 'person' | 'target' | 'channel' | 'at'>;
export const sealConsents = (ports: SealerPort, workspace: string, words: readonly SaidBack[]): string =>
  seal(ports, 'consents', workspace, words);
export const openConsents = (ports: SealerPort, workspace: string, sealed: string): readonly SaidBack[] | null =>
  open(ports, 'consents', workspace, sealed) as readonly SaidBack[] | null;
