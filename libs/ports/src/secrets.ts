import type { Actor } from '@carillon/domain/people';
import type { SealedSecret } from './secret-store.ts';

/**
 * Where a value behind a name would come from. `hidden`: only the operator's environment has a variable of this name, and
 * it is not for this workspace.
 */
export type SecretPlace = 'environment' | 'stored' | 'hidden' | 'nowhere';

/**
 * Values behind `{ secret: NAME }`: what the operator's environment holds for the workspace first, then what was stored
 * sealed. A workspace (the deployment's own is '') never reads another's, nor another variable. Never logged, never answered.
 */
export type Secrets = {
  /** Null where neither knows it. Rejects with `wrong_key` where what is stored does not open. */
  resolve(workspace: string, name: string): Promise<string | null>;
};

/** Describes where a missing secret is expected. Reveals no value. */
export type SecretPlaces = {
  locate(workspace: string, name: string): Promise<SecretPlace>;
};

/** Store of encrypted values. Only `Secrets` can read the values. */
export type SecretVault = {
  /** Seals the value under the newest data key of the workspace, making one where there is none. */
  set(workspace: string, name: string, value: string, by: Actor): Promise<SealedSecret>;
  remove(workspace: string, name: string): Promise<boolean>;
  /** Lists secrets by workspace, then name. '' for the deployment's own. */
  list(workspace?: string): Promise<readonly SealedSecret[]>;
};

/** Where a process takes its master key from when it starts. */
export type MasterKeySource = 'environment' | 'command' | 'file';

/** A master key that counts. */
export type MasterKeyState = {
  /** Fingerprint. */
  readonly id: string;
  /** Whether this process holds it, and so opens what rests under it. */
  readonly held: boolean;
  /** Whether this process would start with it again. */
  readonly starts: boolean;
  /** Data keys that rest under it. */
  readonly dataKeys: number;
  /** Data keys that rest under no other: without it they are lost. */
  readonly alone: number;
};

/** State of the encryption, without any key or value. */
export type RotationState = {
  readonly source: MasterKeySource;
  /** The oldest first. One: no rotation is under way. */
  readonly masterKeys: readonly MasterKeyState[];
  readonly dataKeys: number;
  readonly values: number;
  /** Values that are not yet encrypted with the newest data key of their workspace, while a renewal is unfinished. */
  readonly valuesBehind: number;
  /** Values that an early version sealed in another way, by name: they have to be set again. */
  readonly unreadable: readonly { readonly workspace: string; readonly name: string }[];
};

/**
 * Exchange of the master key at run time. Each step writes one data key or one value, and an interrupted call can be
 * repeated to continue. Rejects with `conflict` and a remedy if a step would leave a data key that cannot be opened.
 */
export type KeyRotation = {
  state(): Promise<RotationState>;
  /**
   * Adds a second master key: encrypts each data key under it too. `null` takes a key that this process creates if keys
   * are files, or the key of a rotation that was begun.
   */
  begin(newKey: Uint8Array | null): Promise<RotationState>;
  /**
   * Creates new data keys and encrypts each value again. Returns the number of values. A value that cannot be opened
   * stays as it is and counts as unreadable.
   */
  renewValues(): Promise<{ readonly renewed: number; readonly state: RotationState }>;
  /** Lets the newest master key alone count. */
  finish(): Promise<RotationState>;
  /** Lets the oldest master key alone count, as if nothing had begun. */
  cancel(): Promise<RotationState>;
};
