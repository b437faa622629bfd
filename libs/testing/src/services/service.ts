/** What can be done to each real service that a test starts. */
export type Service = {
  /** Data and logs; gone after `stop`. */
  readonly dataDir: string;
  /** Ends it in good order and removes its data. It is also ended, by force, when this process ends in any way. */
  stop(): Promise<void>;
  /** Sends a signal to its processes, SIGKILL unless told. Where that is deadly, waits until they are gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again with the same address and data, and waits until it answers. */
  restart(): Promise<void>;
};

/** One process of a service that consists of several. */
export type ServicePart = {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  kill(signal?: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
};

/** Takes one line about how far something has come. */
export type Say = (line: string) => void;
