import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { deliveryCommands } from './deliveries.ts';
import { templateCommands } from './templates.ts';

function programOf(add: (program: Command) => void): Command {
  const program = new Command('carillon').exitOverride();
  add(program);
  return program;
}
const run = (program: Command, ...words: readonly string[]): Promise<unknown> =>
  program.parseAsync([...words], { from: 'user' });

describe('options that a command needs', () => {
  it('are all named by the usage line of deliveries dismiss, and by one error where both are missing', async () => {
    const program = programOf(deliveryCommands);
    const dismiss = program.commands
      .find((one) => one.name() === 'deliveries')
      ?.commands.find((one) => one.name() === 'dismiss');
    expect(dismiss?.helpInformation()).toMatch(
      /^Usage: .*dismiss \[ids\.\.\.\] --as <failed\|sent> --reason <text> \[options\]/,
    );
    await expect(run(program, 'deliveries', 'dismiss', 'dlv_1')).rejects.toThrow(
      'dismiss needs --as <failed|sent> and --reason <text>',
    );
    await expect(run(program, 'deliveries', 'dismiss', 'dlv_1', '--as', 'sent')).rejects.toThrow(
      /^dismiss needs --reason <text>; usage: \[ids\.\.\.\] --as/,
    );
  });

  it('are asked for at once by template test-send', async () => {
    await expect(run(programOf(templateCommands), 'template', 'test-send', 'order-paid')).rejects.toThrow(
      'test-send needs --event <file> and --channel <channel> and --to <address>',
    );
  });
});
