import type { Configuration } from '@carillon/domain/configuration';
import type { Instant } from '@carillon/kernel';

/** The configuration as this process has read it from `carillon.config`; every role follows it live. */
export type ConfigurationView = {
  /** The newest one read. */
  current(): Configuration;
  /** That of a number, reading on first if it is not known yet. Rejects if the log holds no such number. */
  at(number: number): Promise<Configuration>;
  /** When it was last shown that everything on the log up to its end had been read. */
  readToEndAt(): Instant;
  /** Reads to the end now; resolves when done. */
  refresh(): Promise<Configuration>;
};
