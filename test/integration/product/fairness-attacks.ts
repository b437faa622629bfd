/** What somebody does who wants all of a gateway for himself; each is run in a process of its own, by `fairness-process.ts`. */
export const ATTACKS = [
  'slow bodies',
  'pipelining',
  'idle connections',
  'dear expressions',
  'dear templates',
  'huge batches',
  'forged tokens',
] as const;
export type Attack = (typeof ATTACKS)[number];
/** A stranger, or somebody with valid credentials of the workspace `shop`. */
export const ATTACKERS = ['stranger', 'credential of another workspace'] as const;
export type Attacker = (typeof ATTACKERS)[number];

export type AttackOrders = {
  readonly attack: Attack;
  readonly attacker: Attacker;
  /** `http://127.0.0.1:7400`. */
  readonly gateway: string;
  /** API key of `shop`, for its streams `dear` and `long`. */
  readonly key: string;
  /** Secret of the cohort integration `shop/feed`. */
  readonly secret: string;
  /** Tokens: forged ones, and ones that were signed by the provider of `shop` and have expired. */
  readonly forged: readonly string[];
  readonly expired: readonly string[];
};
