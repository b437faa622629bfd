import { Command } from 'commander';
import { auditCommands } from './commands/audit.ts';
import { cadenceCommands } from './commands/cadence.ts';
import { configurationCommands } from './commands/configuration.ts';
import { consentCommands } from './commands/consents.ts';
import { deadLetterCommands, deliveryCommands, eventCommands } from './commands/deliveries.ts';
import { draftCommands } from './commands/drafts.ts';
import { erasureCommands } from './commands/erasures.ts';
import { jobCommands } from './commands/jobs.ts';
import { jwtProviderCommands } from './commands/jwt-providers.ts';
import { keyCommands } from './commands/keys.ts';
import { moveCommands } from './commands/moving.ts';
import { operationCommands } from './commands/operations.ts';
import { ownerLinkCommand } from './commands/owner-link.ts';
import { memberCommands, peopleCommands, tokenCommands } from './commands/people.ts';
import { promoteCommand } from './commands/promote.ts';
import { receiptCommands } from './commands/receipts.ts';
import { replayCommands } from './commands/replay.ts';
import { ruleCommands, sendCommand } from './commands/rules.ts';
import { templateCommands } from './commands/templates.ts';
import { sourceCommands } from './commands/sources.ts';
import { stateCommands } from './commands/state.ts';
import { storyCommands } from './commands/stories.ts';
import { whyNotCommands } from './commands/why-not.ts';
import { testCommand } from './commands/test.ts';
import { suppressionCommands } from './commands/suppressions.ts';
import { secretCommands } from './commands/secrets.ts';
import { runCommand } from './run/command.ts';
import { upCommand } from './up/command.ts';
import { VERSION } from './version.ts';

/** Every command of `carillon`. A wrong call throws; `main` gives the exit code. */
export function buildProgram(): Command {
  const program = new Command('carillon')
    .description('Carillon: notifications from events, by rules')
    .version(VERSION)
    .exitOverride()
    // Options come after the command that they belong to.
    .enablePositionalOptions()
    .showHelpAfterError('(run with --help to see the options)')
    .configureHelp({ showGlobalOptions: true });
  upCommand(program);
  runCommand(program);
  configurationCommands(program);
  keyCommands(program);
  draftCommands(program);
  promoteCommand(program);
  jwtProviderCommands(program);
  secretCommands(program);
  sendCommand(program);
  eventCommands(program);
  storyCommands(program);
  stateCommands(program);
  whyNotCommands(program);
  deliveryCommands(program);
  deadLetterCommands(program);
  jobCommands(program);
  replayCommands(program);
  receiptCommands(program);
  suppressionCommands(program);
  consentCommands(program);
  erasureCommands(program);
  ruleCommands(program);
  testCommand(program);
  templateCommands(program);
  cadenceCommands(program);
  auditCommands(program);
  sourceCommands(program);
  operationCommands(program);
  ownerLinkCommand(program);
  peopleCommands(program);
  memberCommands(program);
  tokenCommands(program);
  moveCommands(program);
  for (const one of everyCommand(program)) one.exitOverride();
  return program;
}

const everyCommand = (parent: Command): Command[] => parent.commands.flatMap((one) => [one, ...everyCommand(one)]);
