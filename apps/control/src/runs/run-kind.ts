import type { RunBody, runRequest } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain/configuration';
import type { RunBase, RunKindName, RunOf } from '@carillon/domain/runs';
import type { Duration, Instant } from '@carillon/kernel';
import type { z } from 'zod';
import type { Principal } from '../access/principal.ts';
import type { JobKindPorts } from '../jobs/kind.ts';
import type { PlanningPorts, RoutePorts } from '../ports.ts';
import type { Range } from './range.ts';

export type PrepareRunPorts = PlanningPorts &
  Pick<RoutePorts, 'book' | 'checkpoints' | 'clock' | 'drafts' | 'ids' | 'jobs' | 'log' | 'runSealer' | 'runs'>;

export type RunRequest = z.infer<typeof runRequest>;

/** A request that starts a run. */
export type AskedRun = {
  readonly workspace: string;
  readonly asked: RunRequest;
  readonly principal: Principal;
  readonly range: { readonly from: Instant; readonly to: Instant };
};

/** Values that a run fixes when it starts. */
export type PreparedRun<Name extends RunKindName> = {
  readonly range: Range;
  readonly published: number;
  /** Fields that only runs of this kind have. */
  readonly own: Omit<RunOf<Name>, keyof RunBase | 'kind'>;
  /** Bodies of an edit. Empty for a kind without an edit. */
  readonly edit: readonly ResourceChange[];
  /** A text that is kept until the run ends. Left out for a kind without a text. */
  readonly sealedText?: string;
};

/** Fields of a run's body that differ by kind. */
export type ShownRun = Partial<
  Pick<RunBody, 'before' | 'changes' | 'counts' | 'find' | 'not_compared' | 'notifications' | 'verified' | 'warning'>
> &
  Pick<RunBody, 'notes' | 'sentence'>;

/** A kind of run. Its job, its start, and its body in the API are derived from this value. */
export type RunKind<Name extends RunKindName = RunKindName> = {
  readonly kind: Name;
  /** Action of its job. */
  readonly action: string;
  /** Noun that sentences use for a run of this kind, such as `comparison`. */
  readonly noun: string;
  /** Length of the time range if the caller names none. Null: the whole log. */
  readonly defaultRange: Duration | null;
  /** Rejects with CarillonError if the request is wrong or the run would say nothing. */
  prepare(asked: AskedRun, ports: PrepareRunPorts): Promise<PreparedRun<Name>>;
  /** Executes a run in the child process and stores its result. A repeated run stores the same result. Rejects with the reason of `stop`. */
  execute(run: RunOf<Name>, ports: JobKindPorts, stop: AbortSignal): Promise<void>;
  /** Shows a run. A run that has not ended with a result has counts without their result. */
  show(run: RunOf<Name>, isDone: boolean): ShownRun;
};

/** Returns the kind unchanged. Infers its name, which its methods then see. */
export const runKind = <Name extends RunKindName>(kind: RunKind<Name>): RunKind<Name> => kind;
