import type { Problem } from '@carillon/contracts';

/** The command or the configuration is wrong (exit code 2). The message says what to do. */
export class UsageError extends Error {}

/** The command could not do its work: exit code 1. */
export class CommandError extends Error {
  readonly problem: Problem | undefined;
  constructor(message: string, problem?: Problem) {
    super(message);
    this.problem = problem;
  }
}
