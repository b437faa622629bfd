/**
 * Where a value behind a name would come from. `hidden`: only the operator's environment has a variable of this name, and
 * it is not for this workspace.
 */
export type SecretPlace = 'environment' | 'stored' | 'hidden' | 'nowhere';

/**
 * Values behind `{ secret: NAME }`: what the operator's environment holds for the workspace first, then what was stored
 * sealed. A workspace (the deployment's own is '') never reads another variable. Never logged, never answered.
 */
export type Secrets = {
  /** Null where neither knows it. */
  resolve(workspace: string, name: string): Promise<string | null>;
};

/** For words about what is missing; tells no value. */
export type SecretPlaces = {
  locate(workspace: string, name: string): Promise<SecretPlace>;
};
