import type { Configuration } from '@carillon/domain/configuration';
import type { Instant } from '@carillon/kernel';

/** The configuration as this process has read it from `carillon.config`. Every role follows it live. */
export type ConfigurationView = {
  /** Returns the newest configuration that was read. */
  current(): Configuration;
  /**
   * Returns the configuration with a number. Reads on first if the number is not known yet. Rejects if the log has no
   * configuration with this number.
   */
  at(number: number): Promise<Configuration>;
  /** Returns when the view last knew that it had read the configuration log to its end. */
  readToEndAt(): Instant;
  /** Reads the configuration log to its current end. */
  refresh(): Promise<Configuration>;
};
