import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../failure.ts';
import { whyNotCommands } from './why-not.ts';

function ask(...options: readonly string[]): Promise<unknown> {
  const program = new Command('carillon').exitOverride();
  whyNotCommands(program);
  return program.parseAsync(['why-not', 'ada@example.com', 'order-paid', ...options], { from: 'user' });
}

describe('why-not with a search that is done', () => {
  it.each([
    ['--from', '2h'],
    ['--to', '1h'],
    ['--last', '7d'],
  ])('refuses %s', async (name, value) => {
    const asked = ask('--search', 'run_1', name, value);
    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow('run_1 has a time range of its own: leave out --from, --to and --last');
  });

  it('refuses an event', async () => {
    await expect(ask('--search', 'run_1', '--event', 'evt_1')).rejects.toThrow('pass --event or --search, not both');
  });
});
