/** Values behind `{ secret: NAME }`: the environment first, then what was stored sealed. Never logged, never answered. */
export type Secrets = {
  /** Null where neither knows it. */
  resolve(workspace: string, name: string): Promise<string | null>;
};
