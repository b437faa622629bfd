import { CarillonError, type Duration } from '@carillon/kernel';
import type { Clock, ConfigurationView } from '@carillon/ports';

export type Freshness = {
  isFresh(): boolean;
  /** Resolves when the configuration was lately read to its end; rejects with `configuration_stale`. */
  ensure(): Promise<void>;
};

type Bounds = { readonly freshFor: Duration; readonly refreshDeadline: Duration };

/**
 * A gateway accepts events only while it has lately shown that it read the configuration to its end, so that a revoked
 * key ends within two seconds. What is stale is read once more, by one reading for all who wait.
 */
export function createFreshness(
  configuration: Pick<ConfigurationView, 'readToEndAt' | 'refresh'>,
  clock: Clock,
  { freshFor, refreshDeadline }: Bounds,
): Freshness {
  let reading: Promise<void> | undefined;
  // A reading from the future shows that the clock was set back: it says nothing about now.
  const isFresh = (): boolean => Math.abs(clock.now() - configuration.readToEndAt()) <= freshFor;

  async function readOnce(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, refreshDeadline);
    });
    await Promise.race([refreshQuietly(configuration), late]);
    clearTimeout(timer);
  }

  return {
    isFresh,
    async ensure() {
      if (isFresh()) return;
      reading ??= readOnce().finally(() => {
        reading = undefined;
      });
      await reading;
      if (isFresh()) return;
      const detail =
        'The gateway cannot read the configuration now, and accepts nothing it might have to refuse. Try again.';
      throw new CarillonError('configuration_stale', detail);
    },
  };
}

/** Whether it worked shows in `readToEndAt`. */
async function refreshQuietly(configuration: Pick<ConfigurationView, 'refresh'>): Promise<void> {
  await configuration.refresh().catch(() => undefined);
}
