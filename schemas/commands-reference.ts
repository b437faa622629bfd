import type { Command, Option } from 'commander';

/** Options that most commands take; the page lists them once. */
const SHARED = ['--json', '--url', '--data-dir', '--workspace'];

const INTRODUCTION = `# Commands

For everybody who uses the shell: each command of \`npx carillon\`, as its \`--help\` prints it. This page is written from the program.

Commands that ask a running Carillon take these options too. Commands that need no server say so, and list theirs.
Times are in the time zone of the workspace, with their offset from UTC. Over several workspaces, and in JSON, they are in UTC.

| option | effect |
|---|---|
`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

const row = ({ flags, description, mandatory, defaultValue }: Option): string => {
  const facts = [mandatory ? 'required' : '', typeof defaultValue === 'string' ? `default: ${defaultValue}` : ''];
  const added = facts.filter((fact) => fact !== '').join(', ');
  return `| \`${flags}\` | ${cell(description)}${added === '' ? '' : ` (${added})`} |`;
};

const asks = (command: Command): boolean => SHARED.every((flag) => command.options.some(({ long }) => long === flag));

/** Commands that can be run. A group such as `deliveries`, which lists by itself, has options of its own. */
const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0
    ? [command]
    : [...(command.options.length > 0 ? [command] : []), ...command.commands.flatMap(leavesOf)];

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function section(command: Command): string {
  const heading = command.parent?.parent || command.commands.length > 0 ? `### ${nameOf(command)}\n\n` : '';
  const own = command.options.filter(({ long, hidden }) => !hidden && !(asks(command) && SHARED.includes(long ?? '')));
  const usage = `carillon ${nameOf(command)} ${command.usage()}`.trim();
  const options = own.length === 0 ? '' : `\n| option | effect |\n|---|---|\n${own.map(row).join('\n')}\n`;
  return `${heading}${sentence(cell(command.description()))}\n\n\`${usage}\`\n${options}`;
}

/** Returns the page docs/commands.md: one section per command, grouped by its first word. */
export function commandsReference(program: Command): string {
  const shared = program.commands.flatMap(leavesOf).find(asks)?.options.filter(({ long }) => SHARED.includes(long ?? ''));
  const groups = program.commands.map((group) => `## ${group.name()}\n\n${leavesOf(group).map(section).join('\n')}`);
  return `${INTRODUCTION}${(shared ?? []).map(row).join('\n')}\n\n${groups.join('\n')}`;
}
