import { afterEach, beforeEach } from 'vitest';

/** Breaks what is behind a port, in a way in which it breaks in the world, and mends it again. */
export type Faults = {
  breakWrites(): Promise<void>;
  mendWrites(): Promise<void>;
  /** Loses this share of the responses to successful writes from now on. */
  loseAnswers?(share: number): void;
};

/** An adapter made for one test. What others left in it does no harm: suites use names of their own. */
export type UnderTest<Port> = { readonly port: Port; readonly faults?: Faults; close(): Promise<void> };

/** Makes one before each test of the block and closes it after. */
export function freshFor<Port>(make: () => Promise<UnderTest<Port>>): {
  readonly port: () => Port;
  readonly faults: () => Faults | undefined;
} {
  let under: UnderTest<Port> | undefined;
  beforeEach(async () => {
    under = await make();
  });
  afterEach(async () => {
    await under?.close();
    under = undefined;
  });
  const current = (): UnderTest<Port> => {
    if (!under) throw new Error('only within a test');
    return under;
  };
  return { port: () => current().port, faults: () => current().faults };
}

let counter = 0;
/** A name that no other test uses, so that suites can share a broker or a database. */
export const freshName = (stem: string): string => {
  counter += 1;
  return `${stem}-${process.pid}-${Date.now().toString(36)}-${counter}`;
};
