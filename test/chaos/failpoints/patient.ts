import type { Patience, Rest } from '../settle.ts';
import type { Posts } from '../posts.ts';
import type { FailpointCase } from './cases.ts';
import type { Lives } from './lives.ts';

/** What a product is started with. */
export type PatientOptions = {
  /** An empty folder; data go to `data` in it. */
  readonly folder: string;
  /** Its environment, failpoints included. */
  readonly env: Readonly<Record<string, string>>;
};

/** The product that is made to fail, whatever it runs on. */
export type Patient = {
  readonly lives: Lives;
  /** Resolves when all of it takes requests. */
  ready(): Promise<void>;
  /** What each of its processes wrote so far, by name. */
  logs(): ReadonlyMap<string, string>;
  /** What is under way by itself in the running product, calls with a lease aside; rejects while nobody can say. */
  unsettled(): Promise<readonly string[]>;
  /** Whether another process takes over from this one. */
  hasTwin(name: string): boolean;
  /** Processes that ended though nobody told them to. */
  deaths(): readonly string[];
  /** Ends all of it in good order and starts it again. */
  restart(): Promise<void>;
  /** Kills all of it and starts it again. */
  killAll(): Promise<void>;
  /** Brings back what has failed in this way. */
  revive(action: FailpointCase['action']): Promise<void>;
  /** Lets it come to rest, stops it, and reads what it left behind. */
  rest(posts: Pick<Posts, 'acknowledged' | 'changes'>, patience: Patience): Promise<Rest>;
  close(): Promise<void>;
};

export type OpenPatient = (options: PatientOptions) => Promise<Patient>;
